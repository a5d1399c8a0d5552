import type { Failure, FailureReason } from "../configuration.ts";

/** What a device could not do, on its way to the record: `reason` and `message` are what a search keeps. */
export class RunFailure extends Error implements Failure {
  override readonly name = "RunFailure";

  constructor(readonly reason: FailureReason, message: string) {
    super(message.replace(/\s*\n\s*/g, " ").trim());
  }
}

/** Whether something thrown is a device's failure, to be recorded; anything else ends the run. */
export function isFailure(error: unknown): error is RunFailure {
  return error instanceof RunFailure;
}
