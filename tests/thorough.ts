/**
 * Whether tests that are too slow for every run take part: `deno task test --thorough`.
 *
 * @module
 */
export const THOROUGH: boolean = Deno.env.get("FACET_THOROUGH") === "1";

/** Seconds that random tests take then: `deno task test --thorough --seconds 3600`. */
export const THOROUGH_SECONDS: number = Number(Deno.env.get("FACET_SECONDS") ?? 120);
