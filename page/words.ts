/**
 * What an equation on the page is written with: of the library the words of its equations alone, as `pack/bundle.ts` makes of it.
 *
 * @module
 */
export * from "../mod.ts";
