/**
 * The tie set of an entry: configurations as good as the chosen one, which other programs take where that cannot
 * run. Their results are verified as well; their rates were recorded to tell them apart, not to be relied on.
 *
 * @module
 */
import type { Configuration } from "../configuration.ts";
import { evaluate } from "../measuring/evaluate.ts";
import { describeConfiguration } from "../profile/describe.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import { expectedNs } from "./expected_time.ts";
import type { EntryResult } from "./qualification.ts";
import { type Run, type Trial, verdictOf } from "./trial.ts";

/** The configurations of an entry's tie set but for the chosen one. */
function otherTies({ configuration, tieSet }: ProfileEntry): Configuration[] {
  const chosen = describeConfiguration(configuration);
  return tieSet.map((tie) => tie.configuration).filter((one) => describeConfiguration(one) !== chosen);
}

/**
 * Verifies an entry's ties, as far as there is time.
 *
 * @param trial the entry
 * @param result what became of its chosen configuration
 * @param run what it depends on; `signal` stops after the tie under way
 * @returns the same result, with the number of ties that are right; where one is wrong or fails, its verdict instead
 */
export async function verifyTies(
  { entry, problem }: Trial,
  result: EntryResult,
  { session, deadlineNs, slowdown, signal }: Run & { readonly signal?: AbortSignal },
): Promise<EntryResult> {
  if (problem === undefined || result.verification === null) return result;
  const startedNs = session.now();
  let tiesVerified = 0;
  for (const configuration of otherTies(entry)) {
    if (signal?.aborted || session.now() + expectedNs(entry, slowdown) > deadlineNs) break;
    const evaluation = await evaluate(configuration, () => session.prepare(problem, configuration), {
      problem,
      samplingNs: 0,
      now: () => session.now(),
    });
    if ("measurement" in evaluation) {
      tiesVerified++;
      continue;
    }
    const { reason: failure, message } = evaluation.failure;
    session.recover(evaluation.failure);
    const verdict = verdictOf(failure);
    if (verdict === "not run") continue; // whoever chooses it checks that it fits
    const reason = `of the tie set, ${describeConfiguration(configuration)}: ${failure}: ${message}`;
    result = { ...result, verdict, failure, reason };
    break;
  }
  return { ...result, tiesVerified, elapsedNs: result.elapsedNs + session.now() - startedNs };
}
