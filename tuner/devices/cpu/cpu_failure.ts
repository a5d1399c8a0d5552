import type { Failure, FailureReason } from "../../configuration.ts";

/** A failure of the CPU's workers or memory; `reason` and `message` are the record that a search keeps. */
export class CpuFailure extends Error implements Failure {
  override readonly name = "CpuFailure";
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
