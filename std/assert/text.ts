import { AssertionError, withReason } from "./assertion_error.ts";

/**
 * Asserts that a text matches a regular expression.
 *
 * @param actual the text
 * @param expected the expression
 * @param msg said where it does not
 */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) return;
  throw new AssertionError(withReason(`Expected actual: "${actual}" to match: "${expected}"`, msg));
}

/**
 * Asserts that a text contains another.
 *
 * @param actual the text
 * @param expected the part of it
 * @param msg said where it does not
 */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(withReason(`Expected actual: "${actual}" to contain: "${expected}"`, msg));
}
