/**
 * An entry on this device: whether it can be run and compared, and one attempt at it.
 *
 * @module
 */
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, FailureReason } from "../configuration.ts";
import { evaluate, type Evaluation } from "../measuring/evaluate.ts";
import { formatDuration } from "../format.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { Profile, ProfileEntry } from "../profile/schema.ts";
import type { Session } from "../devices/session.ts";
import { whyInvalid, whyNotHere } from "./check_entry.ts";
import { whyNotComparable } from "./comparability.ts";
import { expectedNs } from "./expected_time.ts";
import type { EntryResult } from "./qualification.ts";
import { judgeRate, leastRate } from "./verdict.ts";

/** Longest time that one entry may be expected to take until its first sample, where there is no hurry. */
const ENTRY_NS = 600e9;
/** Time for the samples of a measurement, at most and at least. */
const SAMPLING_NS = 3e9, LEAST_SAMPLING_NS = 0.2e9;
/** Samples of which the interval assumes no distribution. */
const SAMPLES = 6;

/** An entry as it is to be run. */
export interface Trial {
  readonly entry: ProfileEntry;
  /** Undefined where this Facet knows no such problem. */
  readonly problem: Problem | undefined;
  /** Why it is not run; undefined where it is. */
  readonly obstacle: string | undefined;
  /** Why its rate says nothing here. */
  readonly notComparable: string | undefined;
  /** Whether other programs' work slows it down. */
  readonly isNoisy: boolean;
}

/** What an attempt depends on. */
export interface Run {
  readonly session: Session;
  readonly tolerance: number;
  readonly numericsOnly: boolean;
  readonly deadlineNs: number;
  readonly slowdown: number;
}

/**
 * Checks every entry before any is run.
 *
 * @throws {ProfileError} in one line, if there is none, or one that no device can run
 */
export function trialsOf(profile: Profile, { device }: Session): Trial[] {
  if (profile.entries.length === 0) {
    throw new ProfileError("Cannot qualify: wanted a profile with entries: found none");
  }
  return profile.entries.map((entry, i) => {
    const { configuration } = entry;
    const problem = problemOf(entry.problem);
    for (const one of [configuration, ...entry.tieSet.map((tie) => tie.configuration)]) {
      const invalid = problem && whyInvalid(problem, one, profile.device);
      if (invalid !== undefined) throw cannotBe(i + 1, entry, one, invalid);
    }
    return {
      entry,
      problem,
      obstacle: problem === undefined
        ? whyUnknown(entry)
        : whyNotHere(problem, configuration, device.gpu?.limits),
      notComparable: whyNotComparable(profile.device, device, configuration.share),
      isNoisy: configuration.share.cpuSlices > 0 || (device.gpu?.isFallback ?? false),
    };
  });
}

function cannotBe(
  number: number,
  { problem }: ProfileEntry,
  configuration: Configuration,
  invalid: string,
): ProfileError {
  const named = `${describeProfileProblem(problem)}; ${describeConfiguration(configuration)}`;
  return new ProfileError(
    `Cannot qualify entry ${number} (${named}): the configuration cannot be: ${invalid}`,
  );
}

function whyUnknown({ problem }: ProfileEntry): string {
  return EQUATIONS.some(({ name }) => name === problem.stencil)
    ? `this Facet does not know such a problem: ${describeProfileProblem(problem)}`
    : `this Facet has no stencil ${JSON.stringify(problem.stencil)}`;
}

/**
 * Verifies and measures an entry once.
 *
 * @param trial the entry
 * @param run what it depends on; the time that is left is shared with `entriesLeft`, this one included
 */
export async function attempt(
  trial: Trial,
  run: Run & { readonly entriesLeft: number },
): Promise<EntryResult> {
  const { entry, problem, obstacle, notComparable } = trial;
  if (problem === undefined || obstacle !== undefined) return notRun(trial, obstacle ?? whyUnknown(entry));
  const { session, deadlineNs, numericsOnly, slowdown, entriesLeft } = run;
  const startedNs = session.now();
  const expected = expectedNs(entry, notComparable === undefined ? 1 : slowdown);
  const leftNs = Math.min(ENTRY_NS, deadlineNs - startedNs);
  if (expected > leftNs) {
    const left = leftNs > 0 ? `${formatDuration(leftNs)} are left` : "none is left";
    return notRun(trial, `no time: it takes ${formatDuration(expected)} and more, ${left}`);
  }
  const isCompared = !numericsOnly && notComparable === undefined;
  const shareNs = (deadlineNs - startedNs) / entriesLeft - expected;
  const evaluation = await evaluate(
    entry.configuration,
    () => session.prepare(problem, entry.configuration),
    {
      problem,
      samplingNs: numericsOnly ? 0 : Math.min(SAMPLING_NS, Math.max(LEAST_SAMPLING_NS, shareNs / 2)),
      minSamples: isCompared ? SAMPLES : undefined,
      now: () => session.now(),
    },
  );
  if ("failure" in evaluation) session.recover(evaluation.failure);
  return resultOf(trial, evaluation, { ...run, elapsedNs: session.now() - startedNs });
}

/** What an evaluation says of an entry. */
function resultOf(
  trial: Trial,
  evaluation: Evaluation,
  { tolerance, numericsOnly, elapsedNs }: Run & { readonly elapsedNs: number },
): EntryResult {
  const { entry, notComparable } = trial;
  const none = { ...notRun(trial, ""), attempts: 1, elapsedNs };
  if ("failure" in evaluation) {
    const { reason: failure, message } = evaluation.failure;
    const verdict = verdictOf(failure);
    return { ...none, verdict, failure, reason: `${failure}: ${message}` };
  }
  const { cellsPerSecond, confidence95, samples, verification } = evaluation.measurement;
  const verified = { ...none, verification, reason: null };
  if (numericsOnly) return { ...verified, verdict: "right" };
  const measured = { cellsPerSecond, confidence95, samples };
  if (notComparable !== undefined) {
    return { ...verified, measured, verdict: "not comparable", reason: notComparable };
  }
  return {
    ...verified,
    measured,
    verdict: judgeRate(entry.result, measured, tolerance),
    leastCellsPerSecond: leastRate(entry.result, tolerance),
    ratio: cellsPerSecond / entry.result.cellsPerSecond,
  };
}

/** What a failure says of a configuration. */
export function verdictOf(failure: FailureReason): "wrong" | "not run" | "failed" {
  if (failure === "incorrect") return "wrong";
  return failure === "limits" || failure === "out-of-memory" ? "not run" : "failed";
}

/** An entry that was not run, and why. */
export function notRun({ entry }: Trial, reason: string): EntryResult {
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
    tiesVerified: 0,
    elapsedNs: 0,
  };
}
