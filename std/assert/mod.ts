/**
 * Stands in for `jsr:@std/assert` where JSR cannot be reached: the functions this project uses, with the
 * published signatures. A scope in deno.json puts it in place; without that line the published package serves.
 *
 * @module
 */
export { assert, assertExists, fail } from "./assert.ts";
export { AssertionError } from "./assertion_error.ts";
export { assertEquals, assertNotEquals, assertStrictEquals } from "./equality.ts";
export {
  assertAlmostEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
} from "./order.ts";
export { assertMatch, assertStringIncludes } from "./text.ts";
export { assertRejects, assertThrows } from "./throws.ts";
