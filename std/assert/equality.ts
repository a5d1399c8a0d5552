import { deepStrictEqual } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import { AssertionError, withReason } from "./assertion_error.ts";

/** Texts longer than this are cut, not compared line by line. */
const LONGEST_DIFF = 4000;

/**
 * Asserts that two values are equal, deeply and without conversion. −0 equals 0, NaN equals NaN.
 *
 * @param actual what was found
 * @param expected what was wanted
 * @param msg said where they differ
 */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    withReason("Values are not equal", msg) + "\n" + describeDifference(actual, expected),
  );
}

/**
 * Asserts that two values differ: the opposite of {@linkcode assertEquals}.
 *
 * @param actual what was found
 * @param expected what it must not be
 * @param msg said where they are equal
 */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(withReason(`Expected actual: ${show(actual)} not to be: ${show(expected)}`, msg));
}

/**
 * Asserts that two values are the same, as `Object.is` has it.
 *
 * @param actual what was found
 * @param expected what was wanted
 * @param msg said where they differ
 */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const text = `Values are not strictly equal: actual ${show(actual)}, expected ${show(expected)}`;
  throw new AssertionError(withReason(text, msg));
}

function equal(actual: unknown, expected: unknown): boolean {
  return isDeepStrictEqual(actual, expected) ||
    isDeepStrictEqual(withoutNegativeZero(actual), withoutNegativeZero(expected));
}

/** A copy with 0 for −0: node tells them apart, `@std/assert` does not. */
function withoutNegativeZero(value: unknown): unknown {
  if (typeof value === "number") return value + 0;
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return value.map((number) => number + 0);
  }
  if (Array.isArray(value)) return value.map(withoutNegativeZero);
  if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutNegativeZero(inner)]));
  }
  return value;
}

function describeDifference(actual: unknown, expected: unknown): string {
  const texts = [show(actual), show(expected)];
  const index = firstDifference(actual, expected);
  if (index === undefined && texts.every((text) => text.length < LONGEST_DIFF)) {
    try {
      deepStrictEqual(actual, expected);
    } catch (error) {
      return (error as Error).message;
    }
  }
  const where = index === undefined ? "" : `first difference at index ${index}\n`;
  return `${where}actual:   ${texts[0]!.slice(0, LONGEST_DIFF)}\nexpected: ${
    texts[1]!.slice(0, LONGEST_DIFF)
  }`;
}

/** Index where two lists begin to differ; undefined where they are no lists. */
function firstDifference(actual: unknown, expected: unknown): number | undefined {
  const isList = (value: unknown): value is ArrayLike<unknown> =>
    Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList(actual) || !isList(expected)) return undefined;
  let index = 0;
  while (index < Math.min(actual.length, expected.length) && equal(actual[index], expected[index])) index++;
  return index;
}

function show(value: unknown): string {
  return inspect(value, { depth: 8, maxArrayLength: 100, maxStringLength: LONGEST_DIFF });
}
