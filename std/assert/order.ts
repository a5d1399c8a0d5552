import { inspect } from "node:util";
import { AssertionError, withReason } from "./assertion_error.ts";

/**
 * Asserts that `actual` < `expected`.
 *
 * @param actual what was found
 * @param expected what it must stay below
 * @param msg said where it does not
 */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  check(actual < expected, `Expect ${inspect(actual)} < ${inspect(expected)}`, msg);
}

/**
 * Asserts that `actual` <= `expected`.
 *
 * @param actual what was found
 * @param expected what it must not exceed
 * @param msg said where it does
 */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  check(actual <= expected, `Expect ${inspect(actual)} <= ${inspect(expected)}`, msg);
}

/**
 * Asserts that `actual` > `expected`.
 *
 * @param actual what was found
 * @param expected what it must exceed
 * @param msg said where it does not
 */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  check(actual > expected, `Expect ${inspect(actual)} > ${inspect(expected)}`, msg);
}

/**
 * Asserts that `actual` >= `expected`.
 *
 * @param actual what was found
 * @param expected what it must reach
 * @param msg said where it does not
 */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  check(actual >= expected, `Expect ${inspect(actual)} >= ${inspect(expected)}`, msg);
}

/**
 * Asserts that two numbers are equal within a tolerance.
 *
 * @param actual what was found
 * @param expected what was wanted
 * @param tolerance largest difference allowed; 10⁻⁷ of the expected value by default
 * @param msg said where they lie further apart
 */
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ?? (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  const difference = Math.abs(actual - expected);
  check(
    difference <= allowed,
    `Expected actual: ${actual} to be close to: ${expected}: difference ${difference} exceeds ${allowed}`,
    msg,
  );
}

function check(holds: boolean, text: string, msg?: string): void {
  if (!holds) throw new AssertionError(withReason(text, msg));
}
