import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { FORMER_TRAVERSALS } from "../profile/former_files.ts";
import { type Configuration, configurationKey, type FailureReason } from "../configuration.ts";
import type { Session } from "../devices/session.ts";
import { describeLowClock, formatDuration, formatPercent } from "../format.ts";
import { evaluateOn, type Evaluation, verifyOn } from "../measuring/evaluate.ts";
import { isComparable, WIDEST } from "../measuring/statistics.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { isOfOtherFormula, problemOf } from "../profile/profile_problem.ts";
import type {
  Profile,
  ProfileDevice,
  ProfileEntry,
  ProfileProblem,
  ProfileRated,
} from "../profile/schema.ts";
import { whyInvalid, whyNotComparable, whyNotHere } from "./check_entry.ts";
import { type EntryResult, isPassing, judgeRate, leastRate, type Rate } from "./verdict.ts";
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

/** Every configuration of an entry, the chosen one first. */
export function configurationsOf(entry: ProfileEntry): Configuration[] {
  return [entry.configuration, ...othersOf(entry).map(({ configuration }) => configuration)];
}

/** The configurations of an entry that are not the chosen one, each once. */
function othersOf({ configuration, tieSet, bestOfEach = [] }: ProfileEntry): ProfileRated[] {
  const known = [...tieSet, ...bestOfEach]
    .filter(({ configuration }) => !FORMER_TRAVERSALS.includes(configuration.traversal));
  const others = new Map(known.map((rated) => [configurationKey(rated.configuration), rated]));
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

/** What became of one that is not right. */
type Fault = Pick<EntryResult, "verdict" | "failure" | "reason">;

/** An entry on this device, and what is known of it so far. */
export class Trial {
  /** Why it is not run; undefined if it is. */
  readonly obstacle: string | undefined;
  /** Why its rate says nothing here. */
  readonly notComparable: string | undefined;
  /** Whether other programs' work slows it down. */
  readonly isNoisy: boolean;
  /** What became of the chosen configuration. */
  result: EntryResult;
  readonly #others: readonly ProfileRated[];
  /** The other that is wrong or failed, else the first that could not be run; undefined where all are right. */
  #fault: Fault | undefined;
  #verified = 0;
  #othersNs = 0;

  /** @param problem undefined if this Facet knows no such problem */
  constructor(
    readonly entry: ProfileEntry,
    readonly problem: Problem | undefined,
    recorded: ProfileDevice,
    { device }: Session,
  ) {
    const { configuration, configuration: { share } } = entry;
    this.#others = othersOf(entry);
    this.result = this.#notRun(null);
    this.obstacle = problem === undefined
      ? whyUnknown(entry)
      : whyNotHere(problem, configuration, device.gpu);
    this.notComparable = whyNotComparable(recorded, device, share) ??
      (isComparable(entry.result)
        ? undefined
        : `the recorded rate has no 95% interval within ±${
          formatPercent(WIDEST)
        }: measure it again with tune`);
    this.isNoisy = uses(share, "cpu") || (device.gpu?.isFallback ?? false);
  }

  /** The result together with that of the other configurations: the worse verdict counts. */
  get outcome(): EntryResult {
    const { result } = this, fault = this.#fault;
    const isWorse = fault !== undefined && (fault.verdict !== "not run" || isPassing(result.verdict));
    return {
      ...result,
      ...(isWorse ? fault : {}),
      othersVerified: this.#verified,
      elapsedNs: result.elapsedNs + this.#othersNs,
    };
  }

  /** Nanoseconds until there is a first sample, by the recorded rate: the reference, a run to verify, one to time. */
  expectedNs({ slowdown }: AttemptOptions): number {
    const { problem, result } = this.entry;
    const runs = RUNS + Math.max(1, result.speedupOverStepwise ?? 1);
    return (this.notComparable === undefined ? 1 : slowdown) * runNs(problem, result) * runs;
  }

  /** Verifies and measures it once; `entriesLeft` entries share the time that is left, this one included. */
  async attempt(run: AttemptOptions, entriesLeft: number): Promise<EntryResult> {
    const { entry, problem, obstacle, notComparable } = this;
    const { session, deadlineNs, numericsOnly, slowdown, signal } = run;
    if (signal?.aborted) return this.#notRun("interrupted");
    if (problem === undefined || obstacle !== undefined) return this.#notRun(obstacle!);
    const startedNs = session.now();
    const expected = this.expectedNs(run);
    const leftNs = Math.min(ENTRY_NS, deadlineNs - startedNs);
    if (expected > leftNs) {
      const left = leftNs > 0 ? `${formatDuration(leftNs)} are left` : "none is left";
      return this.#notRun(`no time: it takes ${formatDuration(expected)} and more, ${left}`);
    }
    const isCompared = !numericsOnly && notComparable === undefined;
    const othersNs = slowdown * this.#others.reduce((sum, other) => sum + runNs(entry.problem, other), 0);
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
    return { ...this.#resultOf(evaluation, run), attempts: 1, elapsedNs: session.now() - startedNs };
  }

  /** What an evaluation says of it; one without a measurement only whether it is right. */
  #resultOf(
    evaluation: Evaluation | Awaited<ReturnType<typeof verifyOn>>,
    { tolerance }: AttemptOptions,
  ): EntryResult {
    const { entry, notComparable } = this, nothing = this.#notRun(null);
    if ("failure" in evaluation) {
      const { reason: failure, message } = evaluation.failure;
      return { ...nothing, reason: `${failure}: ${message}`, verdict: verdictOf(failure), failure };
    }
    if ("verification" in evaluation) {
      return { ...nothing, verification: evaluation.verification, verdict: "right" };
    }
    const { cellsPerSecond, confidence95, samples, verification, clock } = evaluation.measurement;
    const measured = { ...nothing, verification, measured: { cellsPerSecond, confidence95, samples } };
    if (notComparable !== undefined) return { ...measured, verdict: "not comparable", reason: notComparable };
    return {
      ...measured,
      reason: describeLowClock(clock) ?? null,
      verdict: judgeRate(entry.result, measured.measured, tolerance),
      leastCellsPerSecond: leastRate(entry.result, tolerance),
      ratio: cellsPerSecond / entry.result.cellsPerSecond,
    };
  }

  #notRun(reason: string | null): EntryResult {
    return {
      entry: this.entry,
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

  /**
   * Verifies its ties, which other programs take if the chosen one cannot run, and the best of each traversal on the GPU
   * and the CPU, so that a broken kernel is noticed whichever one won. Each runs once and is compared, until one is wrong
   * or fails; no rate is.
   */
  async verifyOthers(run: AttemptOptions): Promise<void> {
    const { session } = run, startedNs = session.now();
    for (const other of this.#others) {
      const found = await this.#verifyOther(other, run);
      if (found === undefined) this.#verified++;
      else if (found.verdict === "not run") this.#fault ??= found;
      else {
        this.#fault = found;
        break;
      }
    }
    this.#othersNs = session.now() - startedNs;
  }

  /** Why one cannot be called right; undefined if it can. */
  async #verifyOther(
    other: ProfileRated,
    { session, deadlineNs, slowdown, signal }: AttemptOptions,
  ): Promise<Fault | undefined> {
    const { configuration } = other, problem = this.problem!;
    const name = `not the chosen one, but ${describeConfiguration(configuration)}`;
    const expected = slowdown * runNs(this.entry.problem, other);
    const isLate = expected > Math.min(ENTRY_NS, deadlineNs - session.now());
    const obstacle = whyNotHere(problem, configuration, session.device.gpu) ??
      (signal?.aborted
        ? "interrupted"
        : isLate
        ? `no time: it takes ${formatDuration(expected)}`
        : undefined);
    if (obstacle !== undefined) return { verdict: "not run", failure: null, reason: `${name}: ${obstacle}` };
    const found = await verifyOn(session, configuration, problem);
    if ("verification" in found) return undefined;
    const { reason: failure, message } = found.failure;
    session.recover(found.failure);
    return { verdict: verdictOf(failure), failure, reason: `${name}: ${failure}: ${message}` };
  }
}

/** Checks every entry before any is run: a {@linkcode ProfileError} if there is none, or one that no device can run. */
export function trialsOf({ entries, device }: Profile, session: Session): Trial[] {
  if (entries.length === 0) {
    throw new ProfileError("Cannot qualify: wanted a profile with entries: found none");
  }
  return entries.map((entry, i) => {
    const problem = problemOf(entry.problem);
    for (const configuration of configurationsOf(entry)) {
      const invalid = problem && whyInvalid(problem, configuration, device);
      if (invalid === undefined) continue;
      const name = `${describeProfileProblem(entry.problem)}; ${describeConfiguration(configuration)}`;
      throw new ProfileError(`Cannot qualify entry ${i + 1} (${name}): no device can run it: ${invalid}`);
    }
    return new Trial(entry, problem, device, session);
  });
}

function whyUnknown({ problem }: ProfileEntry): string {
  return isOfOtherFormula(problem)
    ? `this Facet has another formula of ${problem.stencil}: ${describeProfileProblem(problem)}`
    : EQUATIONS.some(({ name }) => name === problem.stencil)
    ? `this Facet does not know such a problem: ${describeProfileProblem(problem)}`
    : `this Facet has no stencil ${JSON.stringify(problem.stencil)}`;
}

/** Nanoseconds of a run at a recorded rate. */
function runNs({ grid, steps }: ProfileProblem, { cellsPerSecond }: Rate): number {
  return Math.max(cellsOf(grid) * steps / cellsPerSecond * 1e9, steps * STEP_NS);
}

/** What a failure says of a configuration. */
function verdictOf(failure: FailureReason): "wrong" | "not run" | "failed" {
  if (failure === "incorrect") return "wrong";
  return failure === "limits" || failure === "out-of-memory" ? "not run" : "failed";
}
