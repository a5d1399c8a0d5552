/**
 * Qualification: whether this device still computes what a profile says, as fast as it says. Every configuration
 * is verified again and measured again, and its rate compared with the recorded interval.
 *
 * What comes out slower is measured again later, several times, before it is said: other programs slow a device
 * down for a while, and nothing speeds it up. So the best of the measurements counts; of results, the worst: one
 * that is wrong only now and then is wrong.
 *
 * @module
 */
import { EQUATIONS } from "../kernels/stencils/all.ts";
import type { Problem } from "../kernels/stencils/stencil.ts";
import type { FailureReason, Verification } from "./configuration.ts";
import { detectDevice, type DeviceDescription } from "./device.ts";
import { evaluate, type Evaluation } from "./evaluate.ts";
import { formatDuration } from "./format.ts";
import { describeConfiguration, describeProfileProblem } from "./profile/describe.ts";
import { problemOf } from "./profile/problem_of.ts";
import { ProfileError } from "./profile/profile_error.ts";
import type { Profile, ProfileDevice, ProfileEntry } from "./profile/schema.ts";
import { type Bench, DeviceBench } from "./qualify/bench.ts";
import { whyInvalid, whyNotHere } from "./qualify/check_entry.ts";
import { noteOf, whyNotComparable } from "./qualify/comparability.ts";
import { expectedNs } from "./qualify/expected_time.ts";
import { checkTolerance, judgeRate, leastRate, type Rate, type RateVerdict } from "./qualify/verdict.ts";

/**
 * What became of an entry. `right`: verified, where no rates were to be compared. `not comparable`: verified, on
 * another device. `not run`: it cannot be on this device or with this Facet, or there was no time. `failed`: the
 * device failed, or its compiler did.
 */
export type Verdict = RateVerdict | "right" | "wrong" | "not comparable" | "not run" | "failed";

/**
 * What all entries say together. `yes`: every one passes. `no`: at least one is slower, wrong, or does not compile.
 * `device failed`: none of these, but the device was lost or hung. `unanswered`: neither, but at least one could
 * not be run or compared.
 */
export type Answer = "yes" | "no" | "device failed" | "unanswered";

/** An entry, and what became of it here. */
export interface EntryResult {
  /** The profile's entry. */
  readonly entry: ProfileEntry;
  readonly verdict: Verdict;
  /** Why, in one line, where the rates don't say it; else null. */
  readonly reason: string | null;
  /** What kind of failure it was; null where it was none. */
  readonly failure: FailureReason | null;
  /** How far the result lies from the reference; null where it was not computed to its end. */
  readonly verification: Verification | null;
  /** The rate here with its samples; null where it was not measured. */
  readonly measured: (Rate & { readonly samples: readonly number[] }) | null;
  /** Cells per second below which the measured interval must not lie as a whole; null where nothing is compared. */
  readonly leastCellsPerSecond: number | null;
  /** Measured over recorded rate, medians; null where either is missing or they are not comparable. */
  readonly ratio: number | null;
  /** How many times it was measured. */
  readonly attempts: number;
  readonly elapsedNs: number;
}

/** What a qualification found. */
export interface Qualification {
  readonly answer: Answer;
  /** This machine. */
  readonly device: DeviceDescription;
  /** The profile's. */
  readonly recorded: ProfileDevice;
  readonly tolerance: number;
  /** What may explain differences, in one line; null where nothing is known. */
  readonly note: string | null;
  /** One for each entry, in the profile's order. */
  readonly results: readonly EntryResult[];
  readonly interrupted: boolean;
  readonly elapsedNs: number;
}

/** How far a qualification has come. */
export interface QualifyProgress {
  /** `again`: what came out slower is measured again. */
  readonly stage: "measure" | "again";
  readonly done: number;
  readonly total: number;
}

/** Options of {@linkcode qualify}. */
export interface QualifyOptions {
  /**
   * Fraction that a rate may fall below the recorded interval, from 0 to below 1.
   * @default {0.1}
   */
  readonly tolerance?: number;
  /**
   * Ends within a minute: fewer samples, and entries that there is no time for are not run.
   * @default {false}
   */
  readonly quick?: boolean;
  /**
   * Verifies results and compares no rates, as for a profile of another device.
   * @default {false}
   */
  readonly numericsOnly?: boolean;
  /** Called before every measurement, and at the end of a stage. */
  readonly onProgress?: (progress: QualifyProgress) => void;
  /** Stops after the measurement under way; what is known is returned. */
  readonly signal?: AbortSignal;
}

/** Time of a quick qualification; the program's start and the end of what is under way fit the rest of a minute. */
const QUICK_NS = 45e9;
/** Longest time that one entry may be expected to take until its first sample, where there is no hurry. */
const ENTRY_NS = 600e9;
/** Time for the samples of a measurement, at most and at least. */
const SAMPLING_NS = 3e9, LEAST_SAMPLING_NS = 0.2e9;
/** Samples of which the interval assumes no distribution. */
const SAMPLES = 6;
/** Measurements of what is slower: of hardware by its own clock, and of what other programs share the CPU with. */
const HARDWARE_ATTEMPTS = 3, SOFTWARE_ATTEMPTS = 8;
/** Pauses before measuring again grow by this, up to the most. */
const PAUSE_NS = 0.5e9, LONGEST_PAUSE_NS = 3e9;
/** Work on the GPU that takes longer than this hangs. */
const TIMEOUT_MS = 20_000, QUICK_TIMEOUT_MS = 10_000;

/**
 * Verifies and measures every configuration of a profile on this machine, and compares the rates with the
 * profile's.
 *
 * @param profile what was recorded
 * @param options the tolerance, the time to spend, whom to tell
 * @returns what became of every entry; also where it was interrupted
 * @throws {ProfileError} in one line, if the profile has no entries, or a configuration that no device can run
 * @throws {RangeError} if the tolerance is none
 *
 * @example
 * ```ts
 * import { qualify } from "./qualify.ts";
 * import { parseProfile } from "./profile/schema.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const path = new URL("../fixtures/h100/heat.json", import.meta.url);
 * const profile = parseProfile(await Deno.readTextFile(path), "heat.json");
 * const stop = AbortSignal.abort(); // nothing is run: it would take a while
 * const { answer, results } = await qualify(profile, { signal: stop });
 * assertEquals([answer, results.length], ["unanswered", profile.entries.length]);
 * ```
 */
export async function qualify(profile: Profile, options: QualifyOptions = {}): Promise<Qualification> {
  using bench = new DeviceBench({
    device: await detectDevice(),
    needsGpu: profile.entries.some(({ configuration: { share } }) => share.gpuSlices > 0),
    timeoutMs: options.quick ? QUICK_TIMEOUT_MS : TIMEOUT_MS,
  });
  return await qualifyOn(bench, profile, options);
}

/** The same on a bench that is given, as a fake. */
export async function qualifyOn(
  bench: Bench,
  profile: Profile,
  options: QualifyOptions = {},
): Promise<Qualification> {
  const { tolerance = 0.1, quick = false, numericsOnly = false, onProgress, signal } = options;
  checkTolerance(tolerance);
  const trials = trialsOf(profile, bench);
  const startedNs = bench.now();
  const run = {
    bench,
    tolerance,
    numericsOnly,
    deadlineNs: quick ? startedNs + QUICK_NS : Infinity,
    slowdown: await slowdownOf(bench, trials, profile),
  };
  const results: EntryResult[] = [];
  for (const [done, trial] of trials.entries()) {
    onProgress?.({ stage: "measure", done, total: trials.length });
    const result = signal?.aborted
      ? notRun(trial, "interrupted")
      : await attempt(trial, { ...run, entriesLeft: trials.length - done });
    results.push(result);
  }
  await measureAgain(results, trials, { ...run, onProgress, signal });
  return {
    answer: answerOf(results),
    device: bench.device,
    recorded: profile.device,
    tolerance,
    note: noteOf(profile.device, bench.device) ?? null,
    results,
    interrupted: signal?.aborted ?? false,
    elapsedNs: bench.now() - startedNs,
  };
}

/** What the entries' verdicts say together. */
export function answerOf(results: readonly Pick<EntryResult, "verdict" | "failure">[]): Answer {
  const isNo = ({ verdict, failure }: Pick<EntryResult, "verdict" | "failure">): boolean =>
    verdict === "slower" || verdict === "wrong" || (verdict === "failed" && failure === "compile");
  if (results.some(isNo)) return "no";
  if (results.some(({ verdict }) => verdict === "failed")) return "device failed";
  const isOpen = ({ verdict }: Pick<EntryResult, "verdict">): boolean =>
    verdict === "not comparable" || verdict === "not run";
  return results.some(isOpen) ? "unanswered" : "yes";
}

/** An entry as it is to be run. */
interface Trial {
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
interface Run {
  readonly bench: Bench;
  readonly tolerance: number;
  readonly numericsOnly: boolean;
  readonly deadlineNs: number;
  readonly slowdown: number;
}

/** Checks every entry before any is run. */
function trialsOf(profile: Profile, { device }: Bench): Trial[] {
  if (profile.entries.length === 0) {
    throw new ProfileError("Cannot qualify: wanted a profile with entries: found none");
  }
  return profile.entries.map((entry, i) => {
    const { configuration } = entry;
    const problem = problemOf(entry.problem);
    const invalid = problem && whyInvalid(problem, configuration, profile.device);
    if (invalid !== undefined) {
      const named = `entry ${i + 1} (${describeProfileProblem(entry.problem)}; ${
        describeConfiguration(configuration)
      })`;
      throw new ProfileError(`Cannot qualify ${named}: the configuration cannot be: ${invalid}`);
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

function whyUnknown({ problem }: ProfileEntry): string {
  return EQUATIONS.some(({ name }) => name === problem.stencil)
    ? `this Facet does not know such a problem: ${describeProfileProblem(problem)}`
    : `this Facet has no stencil ${JSON.stringify(problem.stencil)}`;
}

/** How many times slower this device is than a foreign one, by their copies; 1 where nothing tells. */
async function slowdownOf(bench: Bench, trials: readonly Trial[], { device }: Profile): Promise<number> {
  const recorded = device.measured.copyBytesPerSecond;
  const isForeign = trials.some(({ entry, obstacle, notComparable }) =>
    obstacle === undefined && notComparable !== undefined && entry.configuration.share.gpuSlices > 0
  );
  if (!isForeign || recorded === null) return 1;
  const here = await bench.copyBytesPerSecond();
  return here === undefined ? 1 : Math.max(1, recorded / here);
}

/** Verifies and measures an entry once. */
async function attempt(
  trial: Trial,
  run: Run & { readonly entriesLeft: number },
): Promise<EntryResult> {
  const { entry, problem, obstacle, notComparable } = trial;
  if (problem === undefined || obstacle !== undefined) return notRun(trial, obstacle ?? whyUnknown(entry));
  const { bench, deadlineNs, numericsOnly, slowdown, entriesLeft } = run;
  const startedNs = bench.now();
  const expected = expectedNs(entry, notComparable === undefined ? 1 : slowdown);
  const leftNs = Math.min(ENTRY_NS, deadlineNs - startedNs);
  if (expected > leftNs) {
    const left = leftNs > 0 ? `there are ${formatDuration(leftNs)}` : "none is left";
    return notRun(trial, `no time: it takes ${formatDuration(expected)} and more, ${left}`);
  }
  const isCompared = !numericsOnly && notComparable === undefined;
  const shareNs = (deadlineNs - startedNs) / entriesLeft - expected;
  const evaluation = await evaluate(
    entry.configuration,
    () => bench.prepare(problem, entry.configuration),
    {
      problem,
      samplingNs: numericsOnly ? 0 : Math.min(SAMPLING_NS, Math.max(LEAST_SAMPLING_NS, shareNs / 2)),
      minSamples: isCompared ? SAMPLES : undefined,
      now: () => bench.now(),
    },
  );
  const isLost = "failure" in evaluation && ["device-lost", "timeout"].includes(evaluation.failure.reason);
  if (isLost) bench.recover();
  return resultOf(trial, evaluation, { ...run, elapsedNs: bench.now() - startedNs });
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
    const verdict = failure === "incorrect"
      ? "wrong"
      : failure === "limits" || failure === "out-of-memory"
      ? "not run"
      : "failed";
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

function notRun({ entry }: Trial, reason: string): EntryResult {
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
    elapsedNs: 0,
  };
}

/** Measures again what came out slower, in turns with pauses, and puts what comes of it into the results. */
async function measureAgain(
  results: EntryResult[],
  trials: readonly Trial[],
  run: Run & Pick<QualifyOptions, "onProgress" | "signal">,
): Promise<void> {
  const { bench, deadlineNs, onProgress, signal } = run;
  for (let round = 1; round < SOFTWARE_ATTEMPTS; round++) {
    const again = results.flatMap(({ verdict, entry }, i) => {
      const most = trials[i].isNoisy ? SOFTWARE_ATTEMPTS : HARDWARE_ATTEMPTS;
      const isInTime = bench.now() + expectedNs(entry, 1) < deadlineNs;
      return verdict === "slower" && round < most && isInTime ? [i] : [];
    });
    if (again.length === 0 || signal?.aborted) return;
    await bench.pause(Math.min(PAUSE_NS * round, LONGEST_PAUSE_NS), signal);
    for (const [done, i] of again.entries()) {
      if (signal?.aborted) return;
      onProgress?.({ stage: "again", done, total: again.length });
      const result = await attempt(trials[i], { ...run, entriesLeft: again.length - done });
      results[i] = worseOrFaster(results[i], result);
    }
  }
}

/** Of two measurements of an entry the one that counts: what fails, else the faster. */
function worseOrFaster(earlier: EntryResult, later: EntryResult): EntryResult {
  const attempts = earlier.attempts + later.attempts, elapsedNs = earlier.elapsedNs + later.elapsedNs;
  if (later.verdict === "not run") return earlier; // no time was left for it
  const isFaster = later.measured === null ||
    later.verdict !== "slower" || later.measured.cellsPerSecond >= earlier.measured!.cellsPerSecond;
  return { ...(isFaster ? later : earlier), attempts, elapsedNs };
}
