/**
 * Whether tests that are too slow for every run take part: `deno task test --thorough`.
 *
 * @module
 */
export const THOROUGH: boolean = Deno.env.get("FACET_THOROUGH") === "1";
