import configuration from "../deno.json" with { type: "json" };

/** This version of Facet, as deno.json has it. */
export const VERSION: string = configuration.version;

/** Who wrote a profile or a journal. */
export const TOOL: { readonly name: string; readonly version: string } = { name: "facet", version: VERSION };
