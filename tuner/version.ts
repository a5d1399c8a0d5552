import configuration from "../deno.json" with { type: "json" };

/** This version of Facet, as deno.json has it. */
export const VERSION: string = configuration.version;
