import type { Failure, FailureReason } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";

/** A device that cannot do what a solver needs; the message is one line that says what, and why. */
export class SolverError extends Error implements Failure {
  /** The name of the class. */
  override readonly name = "SolverError";
  /** Makes an error of a kind of failure, with a message in one line. */
  constructor(readonly reason: FailureReason, message: string) {
    super(message);
  }
}

/** Turns a device's failure into a sentence. */
export async function failingAs<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!isFailure(error)) throw error;
    throw new SolverError(error.reason, `Cannot ${what}: ${error.message}`);
  }
}
