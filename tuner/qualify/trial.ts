import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { FORMER_TRAVERSALS } from "../profile/former_files.ts";
import type { Configuration, FailureReason } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import type { Session } from "../devices/session.ts";
import { describeLowClock, formatDuration } from "../format.ts";
import { evaluateOn, type Evaluation, verifyOn } from "../measuring/evaluate.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { problemOf } from "../profile/profile_problem.ts";
import type { Profile, ProfileEntry, ProfileProblem, ProfileRated } from "../profile/schema.ts";
import { whyInvalid, whyNotHere } from "./check_entry.ts";
import { whyNotComparable } from "./comparability.ts";
import { type EntryResult, isPassing } from "./qualification.ts";
import { judgeRate, leastRate, type Rate } from "./verdict.ts";
import { uses } from "../shares.ts";

/** An entry that would take longer until its first sample is not run. */
const ENTRY_NS = 600e9;
/** Time for the samples of a measurement, at most and at least. */
const SAMPLING_NS = 3e9, LEAST_SAMPLING_NS = 0.2e9;
/** Samples of which the interval assumes no distribution. */
const SAMPLES = 6;
/** A step takes at least this, however small the grid: its dispatch is recorded and launched. */
const STEP_NS = 10e3;
/** Runs before the first sample: one to verify, one to time. */
const RUNS = 2;

export interface Trial {
  readonly entry: ProfileEntry;
  /** Undefined if this Facet knows no such problem. */
  readonly problem: Problem | undefined;
  /** Why it is not run; undefined if it is. */
  readonly obstacle: string | undefined;
  /** Why its rate says nothing here. */
  readonly notComparable: string | undefined;
  /** Whether other programs' work slows it down. */
  readonly isNoisy: boolean;
  /** What is verified besides: the rest of its tie set, and the best of each traversal. */
  readonly others: readonly ProfileRated[];
}

/** Every configuration of an entry, the chosen one first. */
export function configurationsOf(entry: ProfileEntry): Configuration[] {
  return [entry.configuration, ...othersOf(entry).map(({ configuration }) => configuration)];
}

/** The configurations of an entry that are not the chosen one, each once. */
function othersOf({ configuration, tieSet, bestOfEach = [] }: ProfileEntry): ProfileRated[] {
  const known = [...tieSet, ...bestOfEach]
    .filter(({ configuration }) => !FORMER_TRAVERSALS.includes(configuration.traversal));
  const others = new Map(known.map((one) => [configurationKey(one.configuration), one]));
  others.delete(configurationKey(configuration));
  return [...others.values()];
}

/** What an attempt depends on. */
export interface AttemptOptions {
  readonly session: Session;
  readonly tolerance: number;
  readonly numericsOnly: boolean;
  readonly deadlineNs: number;
  /** How many times slower this device is than a foreign one. */
  readonly slowdown: number;
  readonly signal: AbortSignal | undefined;
}

/** Checks every entry before any is run: a {@linkcode ProfileError} if there is none, or one that no device can run. */
export function trialsOf(profile: Profile, { device }: Session): Trial[] {
  if (profile.entries.length === 0) {
    throw new ProfileError("Cannot qualify: wanted a profile with entries: found none");
  }
  return profile.entries.map((entry, i) => {
    const { configuration } = entry;
    const problem = problemOf(entry.problem);
    for (const one of configurationsOf(entry)) {
      const invalid = problem && whyInvalid(problem, one, profile.device);
      if (invalid === undefined) continue;
      const name = `${describeProfileProblem(entry.problem)}; ${describeConfiguration(one)}`;
      throw new ProfileError(`Cannot qualify entry ${i + 1} (${name}): no device can run it: ${invalid}`);
    }
    return {
      entry,
      problem,
      obstacle: problem === undefined
        ? whyUnknown(entry)
        : whyNotHere(problem, configuration, device.gpu?.limits),
      notComparable: whyNotComparable(profile.device, device, configuration.share),
      isNoisy: uses(configuration.share, "cpu") || (device.gpu?.isFallback ?? false),
      others: othersOf(entry),
    };
  });
}

function whyUnknown({ problem }: ProfileEntry): string {
  return EQUATIONS.some(({ name }) => name === problem.stencil)
    ? `this Facet does not know such a problem: ${describeProfileProblem(problem)}`
    : `this Facet has no stencil ${JSON.stringify(problem.stencil)}`;
}

/**
 * Nanoseconds until an entry has its first sample, by its recorded rate: the reference, a run to verify, one to time.
 * `slowdown` is how many times slower this device is than the recorded one.
 */
export function expectedNs({ problem, result }: ProfileEntry, slowdown: number): number {
  return slowdown * runNs(problem, result) * (RUNS + Math.max(1, result.speedupOverStepwise ?? 1));
}

/** Nanoseconds of a run at a recorded rate. */
function runNs({ grid, steps }: ProfileProblem, { cellsPerSecond }: Rate): number {
  return Math.max(cellsOf(grid) * steps / cellsPerSecond * 1e9, steps * STEP_NS);
}

/** Verifies and measures an entry once; `entriesLeft` entries share the time that is left, this one included. */
export async function attempt(trial: Trial, run: AttemptOptions, entriesLeft: number): Promise<EntryResult> {
  const { entry, problem, obstacle, notComparable } = trial;
  if (problem === undefined || obstacle !== undefined) return notRun(trial, obstacle ?? whyUnknown(entry));
  const { session, deadlineNs, numericsOnly, slowdown } = run;
  const startedNs = session.now();
  const expected = expectedNs(entry, notComparable === undefined ? 1 : slowdown);
  const leftNs = Math.min(ENTRY_NS, deadlineNs - startedNs);
  if (expected > leftNs) {
    const left = leftNs > 0 ? `${formatDuration(leftNs)} are left` : "none is left";
    return notRun(trial, `no time: it takes ${formatDuration(expected)} and more, ${left}`);
  }
  const isCompared = !numericsOnly && notComparable === undefined;
  const othersNs = slowdown * trial.others.reduce((sum, other) => sum + runNs(entry.problem, other), 0);
  const shareNs = (deadlineNs - startedNs) / entriesLeft - expected - othersNs;
  const evaluation = numericsOnly
    ? await verifyOn(session, entry.configuration, problem)
    : await evaluateOn(session, entry.configuration, {
      problem,
      isReported: true,
      samplingNs: Math.min(SAMPLING_NS, Math.max(LEAST_SAMPLING_NS, shareNs / 2)),
      ...(isCompared && { minSamples: SAMPLES }),
    });
  if ("failure" in evaluation) session.recover(evaluation.failure);
  return { ...resultOf(trial, evaluation, run), attempts: 1, elapsedNs: session.now() - startedNs };
}

/** What an evaluation says of an entry; one without a measurement only whether it is right. */
function resultOf(
  trial: Trial,
  evaluation: Evaluation | Awaited<ReturnType<typeof verifyOn>>,
  { tolerance }: AttemptOptions,
): EntryResult {
  const { entry, notComparable } = trial;
  if ("failure" in evaluation) {
    const { reason: failure, message } = evaluation.failure;
    return { ...notRun(trial, `${failure}: ${message}`), verdict: verdictOf(failure), failure };
  }
  if ("verification" in evaluation) {
    return { ...notRun(trial, null), verification: evaluation.verification, verdict: "right" };
  }
  const { cellsPerSecond, confidence95, samples, verification, clock } = evaluation.measurement;
  const verified = { ...notRun(trial, null), verification };
  const measured = { cellsPerSecond, confidence95, samples };
  if (notComparable !== undefined) {
    return { ...verified, measured, verdict: "not comparable", reason: notComparable };
  }
  return {
    ...verified,
    measured,
    reason: describeLowClock(clock) ?? null,
    verdict: judgeRate(entry.result, measured, tolerance),
    leastCellsPerSecond: leastRate(entry.result, tolerance),
    ratio: cellsPerSecond / entry.result.cellsPerSecond,
  };
}

/** What a failure says of a configuration. */
function verdictOf(failure: FailureReason): "wrong" | "not run" | "failed" {
  if (failure === "incorrect") return "wrong";
  return failure === "limits" || failure === "out-of-memory" ? "not run" : "failed";
}

export function notRun({ entry }: Trial, reason: string | null): EntryResult {
  return {
    entry,
    verdict: "not run",
    reason,
    failure: null,
    verification: null,
    measured: null,
    leastCellsPerSecond: null,
    ratio: null,
    attempts: 0,
    othersVerified: 0,
    elapsedNs: 0,
  };
}

/** What became of one that is not right. */
type Fault = Pick<EntryResult, "verdict" | "failure" | "reason">;

export interface Others {
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
export async function verifyOthers(trial: Trial, run: AttemptOptions): Promise<Others> {
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
  { session, deadlineNs, slowdown, signal }: AttemptOptions,
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
