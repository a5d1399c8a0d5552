import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { type Configuration, configurationKey, type Failure, type Measurement } from "../configuration.ts";
import { deviceFailed } from "../devices/device_error.ts";
import { shortestBatchNs } from "../devices/gpu/gpu_clock.ts";
import { referenceShape } from "../devices/reference.ts";
import { isFailure } from "../devices/run_failure.ts";
import { formatDuration } from "../format.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Session } from "../devices/session.ts";
import { chooseFinalists, LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import { evaluateOn, type EvaluateOptions } from "../measuring/evaluate.ts";
import { partsOfTurn } from "../measuring/final_round.ts";
import { type Evaluator, FIRST_EVALUATORS, takeTurns, type TimedEvaluation } from "../measuring/evaluator.ts";
import { defaultGrid, predictRunNs, withSuitedSteps } from "../problem/default_problem.ts";
import { costModelOf } from "../profile/learn.ts";
import { describeProblem, isSameProblem } from "../profile/profile_problem.ts";
import { deviceModelOf } from "../devices/device_model.ts";
import type { CpuCandidate } from "../search/cpu_space.ts";
import type { Candidate } from "../search/enumeration.ts";
import { EMPTY_SPACE, enumerateSpace, type Space } from "../search/space.ts";
import { EarlierEntry } from "./earlier_entry.ts";
import { type Alone, Findings } from "./findings.ts";
import {
  expectTurn,
  planTime,
  type RunTime,
  timeAfterSearch,
  type TimeNeeds,
  type TimePlan,
  type TurnTime,
} from "./time_plan.ts";
import {
  type Evaluators,
  SPENT_NS,
  type TuneEnvironment,
  type TuneProgress,
  type TuneRequest,
  type TuneStart,
} from "./tune_request.ts";
import { uses } from "../shares.ts";

/** Finalists beside the best stepwise for which time is kept. */
const LIKELY_FINALISTS = 3;

/** A configuration may take this part of the budget, or this multiple of what the reference took. */
const LIMIT_PART = 0.1, LIMIT_REFERENCES = 4, MOST_LIMIT_MS = 30_000;
/** A configuration's samples may take this part of the budget. */
const SAMPLING_PART = 0.02, MOST_SAMPLING_NS = 1e9;
/** The slower device's part of a number of evaluations; of the CPU's the best of each of its ways. */
const FEW_EVALUATIONS = 2;
/** Time to start a process that evaluates, how often that is tried, and the time between. */
const PROCESS_START_NS = 1e9, START_TRIES = 3, START_PAUSE_NS = 1e9;
/** Where time is short, what should be slower than this part of the best is not tried, stepwise neither. */
const WORTH_TRYING = 0.75;
/** A CPU slower than this part of the GPU will not win. */
const FAR_BEHIND = 0.5;

/** What a probe says of the CPU. */
interface ProbedCpu {
  readonly cellsPerSecond: number;
  /** Time of a configuration's evaluation. */
  readonly evaluationNs: number;
  /** What its workers' copies move together. */
  readonly copyBytesPerSecond: number;
}

/** One run of `tune`: what its stages share, the request, the session, the space, and what was found so far. */
export class TuningRun {
  readonly findings = new Findings();
  /** What is computed, what the profile has for it, and the GPU's candidates; known once the run has started. */
  problem!: Problem;
  earlier: EarlierEntry | undefined;
  space: Space = EMPTY_SPACE;
  /** The CPU's candidates; known once it was probed. */
  cpuSpace: readonly CpuCandidate[] = [];
  /** What a probe says of the CPU alone; undefined if there was none. */
  cpu: ProbedCpu | undefined;
  /** The GPU's candidates that are searched: all, unless there is only time for one. */
  searched: Space["candidates"] = [];
  /** Who evaluates in the search; undefined: this process. */
  evaluators: Evaluators | undefined;
  /** The device is for one evaluator at a time. */
  readonly turn = takeTurns();
  /** Evaluators that start while the space is enumerated. */
  #ahead: Promise<Evaluator>[] = [];
  #time: RunTime;
  #referenceNs = 0;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    const { budget } = request;
    this.#time = { startedNs: this.session.now(), timeNs: "timeNs" in budget ? budget.timeNs : Infinity };
  }

  get session(): Session {
    return this.environment.session;
  }

  get elapsedNs(): number {
    return this.session.now() - this.#time.startedNs;
  }

  /** Cell updates of one run of the problem. */
  get updates(): number {
    return cellsOf(this.problem.grid) * this.problem.steps;
  }

  /** Says how far a stage has come; `leftNs`: time left of its budget, in nanoseconds. */
  report(stage: TuneProgress["stage"], done: number, total: number, leftNs?: number): void {
    const bestCellsPerSecond = this.findings.best?.cellsPerSecond;
    this.environment.onProgress({ stage, done, total, bestCellsPerSecond, leftNs });
  }

  /**
   * How many evaluations each device may have. Where both share N of them, two go to the CPU, or to a GPU in software;
   * half of them if N is below 4.
   */
  get evaluations(): Readonly<Record<Alone, number>> {
    const { request: { budget }, session, cpuSpace } = this;
    const all = "evaluations" in budget ? budget.evaluations : Infinity;
    if (all === Infinity || !session.hasGpu) return { gpu: all, cpu: all };
    const few = Math.min(FEW_EVALUATIONS, Math.floor(all / 2));
    const cpu = Math.min(cpuSpace.length, this.isCpuFirst ? all - few : few);
    return { gpu: all - cpu, cpu };
  }

  /** When the stages end, by what is known now. */
  get plan(): TimePlan {
    return planTime(this.#time, this.#needs);
  }

  /** After the searches: from now on there is a budget of time, also where evaluations were counted. */
  endSearch(): void {
    const { startedNs, timeNs } = this.#time;
    if (timeNs === Infinity) this.#time = { startedNs, timeNs: timeAfterSearch(this.elapsedNs, this.#needs) };
  }

  get #needs(): TimeNeeds {
    const { request, session, findings: { measured } } = this;
    const likely = chooseFinalists(measured, { order: (all) => all, most: LIKELY_FINALISTS });
    const left = this.cpuSpace.filter(({ configuration }) => !this.findings.isMeasured(configuration)).length;
    const turns = this.withStepwise(this.withEarlier(likely)).map((measurement) => this.turnOf(measurement));
    // while nothing is measured: a run as the reference's to verify, and to time one where that does not
    const unknownNs = this.#runsOfTurn * this.#referenceNs;
    const unknown = { firstNs: unknownNs, againNs: unknownNs };
    return {
      turns: turns.length === 0 ? Array(LEAST_FINALISTS).fill(unknown) : turns,
      referenceNs: this.keepsReference ? 0 : this.#referenceNs,
      cpuNs: this.isCpuFirst || this.isCpuFarBehind ? 0 : left * (this.cpu?.evaluationNs ?? 0),
      hasGpu: session.hasGpu,
      balanceNs: session.hasGpu && request.cpuWorkers > 0 ? this.#leastBalanceNs : 0,
    };
  }

  /** Whether this process keeps its reference during the search. Where it is short, a GPU's memory is for those that evaluate. */
  get keepsReference(): boolean {
    const { evaluators, session, problem } = this;
    if (evaluators === undefined || session.device.gpu?.isFallback) return true;
    return evaluators.workersFor(problem) > FIRST_EVALUATORS;
  }

  /** A balance compiles and fills a configuration of the GPU at least, as its turn in a final round does. */
  get #leastBalanceNs(): number {
    const best = this.findings.bestOn("gpu");
    return best === undefined ? this.#referenceNs : this.turnOf(best).firstNs;
  }

  /**
   * What one configuration may take in another process. A kernel as slow as the reference's has time enough, whatever
   * the budget.
   */
  get evaluationLimits() {
    const { timeNs } = this.#time;
    const limitNs = Math.max(LIMIT_PART * timeNs, LIMIT_REFERENCES * this.#referenceNs);
    return {
      limitMs: Math.min(limitNs / 1e6, MOST_LIMIT_MS),
      samplingNs: Math.min(SAMPLING_PART * timeNs, MOST_SAMPLING_NS),
      chainNs: this.session.chainNs,
    };
  }

  /** Long runs that verify and time a configuration. */
  get #runsOfTurn(): number {
    const { gpu } = this.session.device;
    return gpu?.timestampQuery && !gpu.isFallback ? 1 : 2;
  }

  /** Whether not even one configuration of the GPU, as fast as the reference's, could be verified and timed. */
  get isGpuTooSlow(): boolean {
    const { session, plan, findings } = this, needNs = this.#runsOfTurn * this.#referenceNs;
    const untilNs = findings.best === undefined ? plan.latestNs : plan.searchUntilNs;
    return session.hasGpu && session.now() + needNs > untilNs;
  }

  /** Whether the CPU, which was probed, is searched before the GPU: one in software is slower than the cores it runs on. */
  get isCpuFirst(): boolean {
    return this.cpu !== undefined && this.session.device.gpu?.isFallback === true;
  }

  /** Whether the CPU alone will not win. */
  get isCpuFarBehind(): boolean {
    const gpu = this.findings.bestOn("gpu");
    return gpu !== undefined && this.cpu !== undefined &&
      this.cpu.cellsPerSecond < FAR_BEHIND * gpu.cellsPerSecond;
  }

  /** Measurements and the best of stepwise, the baseline of the speedup. */
  withStepwise(measurements: readonly Measurement[]): readonly Measurement[] {
    const { baseline } = this.findings;
    if (baseline === undefined || measurements.includes(baseline)) return measurements;
    return [...measurements, baseline];
  }

  /** Measurements and the profile's configuration, if it can be measured; it compiles no longer than others did. */
  withEarlier(measurements: readonly Measurement[]): readonly Measurement[] {
    const { earlier, findings: { measured } } = this;
    if (earlier === undefined || (earlier.fault ?? earlier.obstacle) !== undefined) return measurements;
    if (measurements.some((measurement) => earlier.is(measurement))) return measurements;
    const compileNs = Math.max(0, ...measured.map((measurement) => measurement.compileNs));
    return [...measurements, measured.find((best) => earlier.is(best)) ?? { ...earlier.recorded, compileNs }];
  }

  /** What a turn of the final round is expected to take. */
  turnOf(measurement: Measurement): TurnTime {
    const { configuration } = measurement, { gpu } = this.session.device;
    const evaluationNs = this.findings.evaluationNs.get(configurationKey(configuration));
    const isOptimised = !uses(configuration.share, "gpu") && evaluationNs !== undefined;
    return expectTurn(measurement, {
      updates: this.updates,
      minBatchNs: shortestBatchNs(gpu),
      evaluationNs,
      isWarm: isOptimised || gpu?.isFallback === true,
      searchRuns: isOptimised ? 1 : 0,
      parts: partsOfTurn(measurement, this.problem),
    });
  }

  /** Measures the device, fixes the problem, computes the reference, enumerates the space. */
  async start(): Promise<TuneStart> {
    const { request, session } = this;
    const { device } = session;
    const copyBytesPerSecond = session.hasGpu
      ? await session.copyBytesPerSecond().catch(deviceFailed("The GPU failed"))
      : null;
    // a profile of f32 does not say what f64 takes
    const isKnown = request.precision !== "f64" || request.constants?.doubleNs;
    const constants = session.hasGpu
      ? (isKnown && request.constants) || await session.constants().catch(deviceFailed("The GPU failed"))
      : {};
    const { isDefaultSteps = false } = request;
    const suited = copyBytesPerSecond === null
      ? request
      : withSuitedSteps({ problem: request, isDefaultSteps, device }, copyBytesPerSecond);
    const isSaid = copyBytesPerSecond !== null &&
      this.#warnOf(predictRunNs(suited, device, copyBytesPerSecond));
    await this.#fixProblem(suited.steps);
    if (!isSaid) this.#warnOf(this.#referenceNs);
    const { problem } = this;
    const known = request.earlier?.find((entry) => isSameProblem(entry.problem, describeProblem(problem)));
    this.earlier = known && new EarlierEntry(known, problem, device);
    this.evaluators = this.environment.evaluators;
    if (this.evaluators !== undefined && device.gpu?.isFallback === false) {
      const length = Math.min(this.firstWorkers, this.workers);
      this.#ahead = Array.from({ length }, () => this.#start());
      for (const starting of this.#ahead) starting.catch(() => {}); // awaited when it is needed
      await new Promise((resolve) => setTimeout(resolve)); // what they compute is sent before this thread is busy
    }
    if (device.gpu !== null && copyBytesPerSecond !== null) {
      const { traversals, learned } = request;
      const measured = deviceModelOf({ ...device, measured: constants }, copyBytesPerSecond);
      const model = costModelOf(problem, device, measured, learned);
      await new Promise((resolve) => setTimeout(resolve)); // evaluators may wait for their turn
      this.space = enumerateSpace(problem, { traversals, limits: device.gpu.limits, model });
    }
    this.searched = this.#isShort ? worthTrying(this.space.candidates) : this.space.candidates;
    this.leaveOutProcesses();
    return { problem, copyBytesPerSecond, constants, space: this.space };
  }

  /** Another process needs the reference again; where there is no time for that, this one measures the same kernel. */
  leaveOutProcesses(): void {
    const [startedNs, references] = this.#ahead.length > 0
      ? [0, this.#ahead.length]
      : [PROCESS_START_NS, LIMIT_REFERENCES];
    const startNs = startedNs + references * this.#referenceNs;
    const isTight = this.session.now() + startNs > this.plan.searchUntilNs;
    const ways = this.space.candidates.filter(({ traversal: { name } }) => name === stepwise.name);
    const isSame = ({ parameters }: Candidate): boolean =>
      Object.entries(referenceShape(this.problem)).every(([key, value]) => parameters[key] === value);
    const same = ways.find(isSame) ?? ways[0];
    if (isTight && same !== undefined && this.evaluators !== undefined) {
      this.searched = [same];
      this.closeAhead();
      this.evaluators = undefined;
    }
  }

  /** Evaluators side by side at most: a reference that this process keeps takes the memory of one. */
  get workers(): number {
    const all = this.evaluators?.workersFor(this.problem) ?? 1;
    return this.keepsReference && this.evaluators !== undefined ? Math.max(1, all - 1) : all;
  }

  /** Evaluators to begin with: one alone where time is short. */
  get firstWorkers(): number {
    return this.#isShort ? 1 : FIRST_EVALUATORS;
  }

  /** Whether references of a real GPU take much of the time, so that there is some for a few evaluations. */
  get #isShort(): boolean {
    const isReal = this.session.device.gpu?.isFallback === false;
    return isReal && FIRST_EVALUATORS * this.#referenceNs > LIMIT_PART * this.#time.timeNs;
  }

  /** Starts an evaluator, or takes one that was started ahead. Without evaluators this process is one. */
  startEvaluator(): Promise<Evaluator> {
    return this.#ahead.shift() ?? this.#start();
  }

  /** A driver that has just crashed may need a moment. */
  async #start(): Promise<Evaluator> {
    const { environment: { signal }, evaluators, session, problem, turn } = this;
    if (evaluators === undefined) {
      const { samplingNs } = this.evaluationLimits;
      const evaluate: Evaluator["evaluate"] = (configuration, { best }) =>
        this.measure(configuration, { best, samplingNs });
      return { alive: true, evaluate, close: () => {} };
    }
    for (let tries = 1;; tries++) {
      try {
        return await evaluators.start(problem, { turn, ...this.evaluationLimits });
      } catch (error) {
        const isHopeless = !isFailure(error) || error.reason !== "device-lost";
        if (isHopeless || tries === START_TRIES || signal.aborted) throw error;
        await session.pause(START_PAUSE_NS, signal);
      }
    }
  }

  /** Ends evaluators that were started ahead and not needed. */
  closeAhead(): void {
    for (const starting of this.#ahead.splice(0)) starting.then((evaluator) => evaluator.close(), () => {});
  }

  /** Says that the budget cannot be kept, where a single run of the problem would exceed it; returns whether it did. */
  #warnOf(runNs: number): boolean {
    const { timeNs } = this.#time;
    if (runNs <= timeNs) return false;
    this.environment.onWarning?.(
      timeNs <= SPENT_NS
        ? "the budget is spent: only the minimum is measured"
        : `one run of this problem takes this device about ${formatDuration(runNs)}: ` +
          `the budget of ${formatDuration(timeNs)} will be exceeded`,
    );
    return true;
  }

  /** A default grid shrinks until the reference fits into the memory. */
  async #fixProblem(steps: number): Promise<void> {
    const { request, session } = this;
    const { stencil, boundary, survey, grid: wanted, isDefaultGrid = false } = request;
    const { device } = session;
    for (let halvings = 0;; halvings++) {
      const grid = halvings === 0 ? wanted : defaultGrid(stencil, device.gpu, halvings);
      this.problem = { stencil, grid, boundary, steps, ...(survey && { survey }) };
      const beganNs = session.now();
      try {
        await session.open(this.problem);
        this.#referenceNs = session.now() - beganNs;
        return;
      } catch (error) {
        const canShrink = isDefaultGrid && grid[0] > 16;
        if (!(isFailure(error) && error.reason === "out-of-memory" && canShrink)) {
          deviceFailed("Cannot compute the reference")(error);
        }
      }
    }
  }

  /** After a failure that lost a device, opens it anew. */
  async recover(failure: Failure): Promise<void> {
    if (this.session.recover(failure)) await this.renewReference();
  }

  /** Computes the reference again if it is missing; a GPU that cannot, even opened anew, is left out from now on. */
  async renewReference(): Promise<void> {
    const { session, problem } = this;
    for (let tries = 1; session.hasGpu; tries++) {
      try {
        await session.open(problem);
        return;
      } catch (error) {
        if (!isFailure(error)) throw error;
        if (tries > 1) session.leaveOutGpu();
        else session.recover({ reason: "device-lost", message: error.message });
      }
    }
  }

  /** The roof of a configuration, in cells per second; undefined where none is known. */
  roofOf(configuration: Configuration): number | undefined {
    if (uses(configuration.share, "gpu")) return this.candidateOf(configuration)?.roof;
    const key = configurationKey(configuration);
    return this.cpuSpace.find((candidate) => configurationKey(candidate.configuration) === key)?.roof;
  }

  /** The GPU's candidate that a configuration was made of, whatever its shares. */
  candidateOf(configuration: Configuration): Candidate | undefined {
    if (!uses(configuration.share, "gpu")) return undefined;
    const { share } = configuration, key = configurationKey(configuration);
    return this.space.candidates.find((way) => configurationKey({ ...way.configuration, share }) === key);
  }

  /** Evaluates in this process. */
  async measure(
    configuration: Configuration,
    options: Pick<EvaluateOptions, "best" | "samplingNs">,
  ): Promise<TimedEvaluation> {
    const { session, problem } = this, beganNs = session.now();
    const evaluation = await evaluateOn(session, configuration, { problem, ...options });
    return { evaluation, evaluationNs: session.now() - beganNs };
  }

  /** Records an evaluation of a search; a device that it lost in this process is opened anew. */
  async keep({ evaluation, evaluationNs }: TimedEvaluation): Promise<void> {
    this.findings.evaluationNs.set(configurationKey(evaluation.configuration), evaluationNs);
    this.findings.take(evaluation);
    await this.environment.onEvaluation(evaluation, this.roofOf(evaluation.configuration));
    const isElsewhere = this.evaluators !== undefined && uses(evaluation.configuration.share, "gpu");
    if ("failure" in evaluation && !isElsewhere) await this.recover(evaluation.failure);
  }
}

/** Candidates that should reach {@linkcode WORTH_TRYING} of the best one's rate. */
function worthTrying(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = candidates.reduce((most, { predicted }) => Math.max(most, predicted), 0);
  return candidates.filter(({ predicted }) => predicted >= WORTH_TRYING * best);
}
