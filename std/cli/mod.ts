/**
 * Stands in for `jsr:@std/cli` where JSR cannot be reached: `parseArgs` with the published signature. A scope
 * in deno.json puts it in place; without those lines the published package serves.
 *
 * @module
 */
export { type Args, parseArgs, type ParseOptions } from "./parse_args.ts";
