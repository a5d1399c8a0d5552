import { formatDuration } from "../format.ts";
import { verifyOn } from "../measuring/evaluate.ts";
import { describeConfiguration } from "../profile/describe.ts";
import type { ProfileRated } from "../profile/schema.ts";
import { whyNotHere } from "./check_entry.ts";
import { type EntryResult, isPassing } from "./qualification.ts";
import { ENTRY_NS, type Run, runNs, type Trial, verdictOf } from "./trial.ts";

/** What became of one that is not right. */
type Fault = Pick<EntryResult, "verdict" | "failure" | "reason">;

/** What became of the configurations of an entry besides the chosen one. */
export interface Others {
  /** How many are right. */
  readonly verified: number;
  /** The one that is wrong or failed, else the first that could not be run; undefined where all are right. */
  readonly fault: Fault | undefined;
  readonly elapsedNs: number;
}

/**
 * Verifies an entry's ties, which other programs take if the chosen one cannot run, and the best of each traversal on the
 * GPU and the CPU, so that a broken kernel is noticed whichever one won. Each runs once and is compared, until one is
 * wrong or fails; no rate is.
 */
export async function verifyOthers(trial: Trial, run: Run): Promise<Others> {
  const { session } = run;
  const startedNs = session.now();
  let verified = 0, fault: Fault | undefined;
  for (const other of trial.others) {
    const found = await verifyOther(trial, other, run);
    if (found === undefined) verified++;
    else if (found.verdict === "not run") fault ??= found;
    else return { verified, fault: found, elapsedNs: session.now() - startedNs };
  }
  return { verified, fault, elapsedNs: session.now() - startedNs };
}

/** Why one cannot be called right; undefined if it can. */
async function verifyOther(
  { entry, problem }: Trial,
  other: ProfileRated,
  { session, deadlineNs, slowdown, signal }: Run,
): Promise<Fault | undefined> {
  const { configuration } = other;
  const name = `not the chosen one, but ${describeConfiguration(configuration)}`;
  const expected = slowdown * runNs(entry.problem, other);
  const isLate = expected > Math.min(ENTRY_NS, deadlineNs - session.now());
  const obstacle = whyNotHere(problem!, configuration, session.device.gpu?.limits) ??
    (signal?.aborted ? "interrupted" : isLate ? `no time: it takes ${formatDuration(expected)}` : undefined);
  if (obstacle !== undefined) return { verdict: "not run", failure: null, reason: `${name}: ${obstacle}` };
  const found = await verifyOn(session, configuration, problem!);
  if ("verification" in found) return undefined;
  const { reason: failure, message } = found.failure;
  session.recover(found.failure);
  return { verdict: verdictOf(failure), failure, reason: `${name}: ${failure}: ${message}` };
}

/** An entry's result together with that of its other configurations: the worse verdict counts. */
export function withOthers(result: EntryResult, { verified, fault, elapsedNs }: Others): EntryResult {
  const isWorse = fault !== undefined && (fault.verdict !== "not run" || isPassing(result.verdict));
  return {
    ...result,
    ...(isWorse ? fault : {}),
    othersVerified: verified,
    elapsedNs: result.elapsedNs + elapsedNs,
  };
}
