import type { Problem } from "../../kernels/stencils/stencil.ts";
import { firstIssue } from "./check_record.ts";
import { describeProblem } from "./profile_problem.ts";
import { problemSchema } from "./schema.ts";

/** Why a profile cannot store results of this problem, reported before a search begins; undefined if it can. */
export function whyNotStorable(problem: Problem): string | undefined {
  const record = describeProblem(problem);
  const { error } = problemSchema.safeParse(record);
  return error && `a profile cannot store the problem: ${firstIssue(error, record)}`;
}
