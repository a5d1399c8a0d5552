import { AssertionError, withReason } from "./assertion_error.ts";

/**
 * Asserts that a value is truthy.
 *
 * @param expr the value
 * @param msg said where it is not
 */
export function assert(expr: unknown, msg: string = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/**
 * Asserts that a value is neither null nor undefined.
 *
 * @param actual the value
 * @param msg said where it is
 */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(withReason(`Expected actual: "${actual}" to not be null or undefined`, msg));
}

/**
 * Fails always.
 *
 * @param msg why
 */
export function fail(msg?: string): never {
  throw new AssertionError(withReason("Failed assertion", msg));
}
