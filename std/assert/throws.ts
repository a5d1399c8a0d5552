import { AssertionError, withReason } from "./assertion_error.ts";

// deno-lint-ignore no-explicit-any -- a constructor of anything, as published
type ErrorConstructor<E extends Error> = abstract new (...args: any[]) => E;

/**
 * Asserts that a function throws.
 *
 * @param fn the function
 * @param msg said where it does not
 * @returns what was thrown
 */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/**
 * Asserts that a function throws an error of a class, and with a text in its message.
 *
 * @param fn the function
 * @param ErrorClass the class of the error
 * @param msgIncludes a part of its message
 * @param msg said where it does not
 * @returns the error
 */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorConstructor<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: ErrorConstructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expected = readExpectation(classOrMsg, msgIncludes, msg);
  let thrown: unknown;
  try {
    fn();
  } catch (error) {
    thrown = error;
    return examine(thrown, expected);
  }
  throw new AssertionError(withReason("Expected function to throw", expected.msg));
}

/**
 * Asserts that a promise is rejected.
 *
 * @param fn returns the promise
 * @param msg said where it is not
 * @returns what it was rejected with
 */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/**
 * Asserts that a promise is rejected with an error of a class, and with a text in its message.
 *
 * @param fn returns the promise
 * @param ErrorClass the class of the error
 * @param msgIncludes a part of its message
 * @param msg said where it is not
 * @returns the error
 */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorConstructor<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorConstructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expected = readExpectation(classOrMsg, msgIncludes, msg);
  let promise: PromiseLike<unknown> | undefined;
  try {
    promise = fn();
    await promise;
  } catch (error) {
    if (promise === undefined) {
      throw new AssertionError(withReason("Function throws when expected to reject", expected.msg), {
        cause: error,
      });
    }
    return examine(error, expected);
  }
  throw new AssertionError(withReason("Expected function to reject", expected.msg));
}

interface Expectation {
  ErrorClass?: ErrorConstructor<Error> | undefined;
  msgIncludes?: string | undefined;
  msg?: string | undefined;
}

function readExpectation(
  classOrMsg: ErrorConstructor<Error> | string | undefined,
  msgIncludes: string | undefined,
  msg: string | undefined,
): Expectation {
  return typeof classOrMsg === "string" ? { msg: classOrMsg } : { ErrorClass: classOrMsg, msgIncludes, msg };
}

function examine(thrown: unknown, { ErrorClass, msgIncludes, msg }: Expectation): unknown {
  if (ErrorClass === undefined) return thrown;
  if (!(thrown instanceof ErrorClass)) {
    const found = thrown instanceof Error ? `${thrown.constructor.name}: ${thrown.message}` : String(thrown);
    const text = `Expected error to be instance of "${ErrorClass.name}", but was "${found}"`;
    throw new AssertionError(withReason(text, msg), { cause: thrown });
  }
  if (msgIncludes !== undefined && !thrown.message.includes(msgIncludes)) {
    const text = `Expected error message to include "${msgIncludes}", but got "${thrown.message}"`;
    throw new AssertionError(withReason(text, msg), { cause: thrown });
  }
  return thrown;
}
