import { formatPlural } from "../format.ts";
import { describeGrid, ownBoundary, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Failure, FailureReason } from "../configuration.ts";

/** What a device could not do, on its way to the record: `reason` and `message` are what a search keeps. */
export class RunFailure extends Error implements Failure {
  override readonly name = "RunFailure";

  constructor(readonly reason: FailureReason, message: string) {
    super(message.replace(/\s*\n\s*/g, " ").trim());
  }
}

/** What a problem computes does not stay finite: no device is to blame. */
export class UnstableProblem extends RunFailure {
  constructor(problem: Problem) {
    const { stencil: { title }, steps } = problem, after = formatPlural(steps, "step");
    const where = `on ${describeGrid(problem)}, ${ownBoundary(problem)} boundary`;
    super(
      "incorrect",
      `Cannot compute ${title}: after ${after} ${where}, values are infinite or no numbers: ` +
        "another boundary, other coefficients or ranges of initial values may help",
    );
  }
}

/** Whether something thrown is a device's failure, to be recorded; anything else ends the run. */
export function isFailure(error: unknown): error is RunFailure {
  return error instanceof RunFailure;
}
