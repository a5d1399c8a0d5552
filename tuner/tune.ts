/**
 * A run of `tune`: device → space → search → final round → balance → the entry of a profile. Every
 * configuration that was timed was verified first. What fails is recorded and the run goes on.
 *
 * @module
 */
import {
  type Boundary,
  cellsOf,
  type Grid,
  type Problem,
  type Stencil,
} from "../kernels/stencils/stencil.ts";
import type { Traversal } from "../kernels/traversals/traversal.ts";
import { balanceOnDevices, type SharedCostModel } from "./balance_run.ts";
import { GpuDevice } from "./backends/gpu_device.ts";
import { makeReference, type Reference } from "./backends/reference.ts";
import { prepare } from "./backends/runners.ts";
import { CpuPool } from "./backends/wasm_workers.ts";
import type { Configuration, Failure, Measurement } from "./configuration.ts";
import { cpuConfigurations } from "./cpu_configurations.ts";
import { defaultGrid, defaultSteps } from "./default_problem.ts";
import type { DeviceDescription } from "./device.ts";
import { DeviceError } from "./device_error.ts";
import { evaluate, type Evaluation, isFailure } from "./evaluate.ts";
import { evaluateSideBySide, type Evaluator, type Turn } from "./evaluator.ts";
import { finalRound, tieSetOf } from "./final_round.ts";
import { probeCpu } from "./measure/cpu_probe.ts";
import { measureCopyBandwidth } from "./measure/copy_bandwidth.ts";
import { Sentinel } from "./measure/sentinel.ts";
import { configurationKey } from "./configuration_key.ts";
import type { ProfileEntry } from "./profile/schema.ts";
import { describeCostModel, describeProblem } from "./profile/schema.ts";
import { deviceModelOf } from "./search/device_model.ts";
import { beginRecalling } from "./search/recalled_search.ts";
import { type Candidate, enumerateSpace, type Space } from "./search/space.ts";
import type { Outcome, Strategy } from "./search/strategy.ts";
import { orderTies } from "./tie_order.ts";

/** What to tune, and how. */
export interface TuneRequest {
  readonly stencil: Stencil;
  /** @default {undefined} one that fits the device */
  readonly grid?: Grid;
  readonly boundary: Boundary;
  /** @default {defaultSteps(stencil)} */
  readonly steps?: number;
  /** The GPU's traversals to try; what fits only the CPU is tried wherever the CPU takes part. */
  readonly traversals: readonly Traversal[];
  readonly strategy: Strategy;
  /** When to stop searching: time for the whole run, or evaluations. */
  readonly budget: { readonly timeNs: number } | { readonly evaluations: number };
  /** Workers on the CPU; 0: the GPU alone. */
  readonly cpuWorkers: number;
  readonly seed: number;
  /** The CPU's share of the slices when balancing begins. */
  readonly startShare: number;
}

/** How far a run has come. */
export interface TuneProgress {
  /** What is being done. */
  readonly stage: "device" | "search" | "final round" | "cpu" | "balance";
  /** How much of it is done. */
  readonly done: number;
  /** How much there is of it; 0 where unknown. */
  readonly total: number;
  /** Best verified rate so far. */
  readonly bestCellsPerSecond?: number;
  /** Time left of the stage's budget. */
  readonly leftNs?: number;
}

/** What a run tells while it runs, and what it runs on. */
export interface TuneEnvironment {
  /** The GPU, opened; undefined: the CPU alone. Closed by the run. */
  readonly gpu: GpuDevice | undefined;
  readonly device: DeviceDescription;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Stops the run after the evaluation under way; what is known is returned. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TuneProgress) => void;
  /** Called when the problem is fixed and the device is known, before anything is evaluated. */
  readonly onStart: (start: TuneStart) => void | Promise<void>;
  /**
   * What earlier runs evaluated that still holds, by {@linkcode configurationKey}; asked before `onStart`. It is not
   * evaluated again in the search, and counts as evaluations of its budget; finalists are.
   * @default {undefined} nothing
   */
  readonly recall?: (start: TuneStart) => Promise<ReadonlyMap<string, Evaluation>>;
  /**
   * Who evaluates in the search, as processes that may crash or hang without harm.
   * @default {undefined} this process
   */
  readonly evaluators?: Evaluators;
  /** Called with every evaluation as it is made. */
  readonly onEvaluation: (evaluation: Evaluation) => void | Promise<void>;
}

/** Evaluators outside of this process. */
export interface Evaluators {
  /** How many, at least 1: while one measures, others compile. */
  readonly workers: number;
  /**
   * Starts one.
   * @throws {RunFailure} if it cannot
   */
  start(problem: Problem, turn: Turn): Promise<Evaluator>;
}

/** What is known before the search. */
export interface TuneStart {
  readonly problem: Problem;
  /** Bytes per second of a plain copy; null where there is no GPU. */
  readonly copyBytesPerSecond: number | null;
  readonly space: Space;
}

/** What a run found. */
export interface TuneOutcome extends TuneStart {
  /** The entry of the profile; undefined where no configuration verified. */
  readonly entry: ProfileEntry | undefined;
  /** Fastest verified measurement of the GPU alone, the CPU alone, and both together. */
  readonly gpuAlone: Measurement | undefined;
  readonly cpuAlone: Measurement | undefined;
  readonly together: Measurement | undefined;
  /** Why the CPU alone was not measured; undefined where it was. */
  readonly cpuMessage: string | undefined;
  /** How the balance ended, in one line; why there was none, where there was none. */
  readonly balanceMessage: string;
  /** What the steps between exchanges were chosen by; undefined where nothing was shared or measured. */
  readonly costModel: SharedCostModel | undefined;
  /** Fastest verified measurement of each traversal on the GPU. */
  readonly bestOfEach: ReadonlyMap<string, Measurement>;
  readonly evaluated: number;
  /** Evaluations, of those, that earlier runs made. */
  readonly recalled: number;
  /** Why the strategy ended the search before its budget did; undefined where it did not. */
  readonly searchVerdict?: string;
  /** How often the device was found to run at another rate than before; what that affected was measured again. */
  readonly drifts: number;
  readonly failed: Readonly<Record<string, number>>;
  readonly interrupted: boolean;
  readonly elapsedNs: number;
}

/** Parts of the time budget at whose end each stage stops. */
const SEARCH_UNTIL = 0.72, FINALS_UNTIL = 0.84;
/** Part of the time budget that the CPU and the balance get at least. */
const LEAST_BALANCE = 0.2;
/** Time for the final round, and for CPU and balance, at most. */
const UNTIMED_STAGE_NS = 15e9;
/** Finalists, the best of all and the best stepwise. */
const FINALISTS = 4;
/** How often an evaluator is started before it is given up, and the time between. */
const START_TRIES = 3, START_PAUSE_MS = 1000;
/** Evaluations that a strategy's first candidates get at least, however small the budget. */
const LEAST_EVALUATIONS = 3;

/**
 * Tunes one problem on this device.
 *
 * @param request what to tune
 * @param environment the device, the clock, whom to tell
 * @returns what was found, also where it was interrupted
 * @throws {DeviceError} where the device cannot run anything at all
 */
export async function tune(request: TuneRequest, environment: TuneEnvironment): Promise<TuneOutcome> {
  const { now, signal, onProgress } = environment;
  const startedNs = now();
  using run = new TuningRun(request, environment);
  onProgress({ stage: "device", done: 0, total: 0 });
  const start = await run.start();
  run.recall(await environment.recall?.(start) ?? new Map());
  await environment.onStart(start);
  const timeNs = "timeNs" in request.budget ? request.budget.timeNs : Infinity;
  const until = (part: number): number => startedNs + part * timeNs;

  await run.search(until(SEARCH_UNTIL));
  await run.finals(Math.min(until(FINALS_UNTIL), now() + UNTIMED_STAGE_NS));
  const gpuAlone = run.best;
  const left = Math.max(until(1) - now(), LEAST_BALANCE * timeNs); // on slow devices the stages before run over
  const end = now() + Math.min(left, UNTIMED_STAGE_NS);
  const cpu = await run.measureCpu(end);
  const shared = await run.balance(cpu.cellsPerSecond, end);

  const entry = run.entryOf(
    [gpuAlone, cpu.measurement, shared.measurement].filter((measurement) => measurement !== undefined),
    { balance: shared.iterations, costModel: shared.costModel, elapsedNs: now() - startedNs },
  );
  return {
    ...start,
    entry,
    gpuAlone,
    cpuAlone: cpu.measurement,
    cpuMessage: cpu.message,
    together: shared.measurement,
    balanceMessage: shared.message,
    costModel: shared.costModel,
    bestOfEach: run.bestOfEach,
    evaluated: run.evaluated,
    recalled: run.recalled,
    searchVerdict: run.searchVerdict,
    drifts: run.drifts,
    failed: run.failed,
    interrupted: signal.aborted,
    elapsedNs: now() - startedNs,
  };
}

/** What an evaluator is asked for in the search. */
type Asked =
  & { readonly configuration: Configuration }
  & (
    | { readonly candidate: Candidate; readonly why?: undefined }
    // the sentinel, or what a drift has affected
    | { readonly candidate?: undefined; readonly why: "look" | "again" }
  );

/** What the CPU alone came to. */
interface CpuResult {
  readonly measurement?: Measurement;
  /** Its rate, measured or probed; undefined where it failed. */
  readonly cellsPerSecond?: number;
  /** Why there is no measurement. */
  readonly message?: string;
}

/** A run's state: the devices it holds and what it found so far. */
class TuningRun implements Disposable {
  readonly bestOfEach = new Map<string, Measurement>();
  readonly failed: Record<string, number> = {};
  evaluated = 0;
  /** Evaluations, of those, that earlier runs made. */
  recalled = 0;
  searchVerdict: string | undefined;
  /** How often the device was found to run at another rate than before. */
  drifts = 0;
  /** Verified measurements of the GPU alone, each configuration once; after the final round the finalists lead. */
  #measured: Measurement[] = [];
  #tieSet: readonly Measurement[] = [];
  #gpu: GpuDevice | undefined;
  #pool: CpuPool | undefined;
  #reference: Reference | undefined;
  /** Evaluations of earlier runs, by configuration. */
  #known: ReadonlyMap<string, Evaluation> = new Map();
  #problem!: Problem;
  #space!: Space;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    this.#gpu = environment.gpu;
  }

  /** Fastest verified configuration of the GPU alone. */
  get best(): Measurement | undefined {
    return this.#tieSet[0] ?? fastest(this.#measured);
  }

  /** Fixes the problem, measures the device, computes the reference, enumerates the space. */
  async start(): Promise<TuneStart> {
    const { request, environment: { device } } = this;
    const isFallback = device.gpu?.isFallback ?? false;
    const copyBytesPerSecond = this.#gpu === undefined
      ? null
      : await measureCopyBandwidth(this.#gpu, { isFallback }).catch(deviceFailed);
    if (request.cpuWorkers > 0) this.#pool = await CpuPool.create({ workers: request.cpuWorkers });
    for (let halvings = 0;; halvings++) {
      const grid = request.grid ??
        defaultGrid(request.stencil, { limits: this.#gpu?.limits, isFallback, halvings });
      const { stencil, boundary, steps = defaultSteps(stencil) } = request;
      this.#problem = { stencil, grid, boundary, steps };
      try {
        this.#reference = await makeReference({
          gpu: this.#gpu,
          problem: this.#problem,
        });
        break;
      } catch (error) {
        if (!isFailure(error)) throw error;
        const canShrink = request.grid === undefined && error.reason === "out-of-memory" && grid[0] > 16;
        if (!canShrink) {
          throw new DeviceError(`Cannot compute the reference: ${error.reason}: ${error.message}`);
        }
      }
    }
    this.#space = this.#gpu === undefined
      ? { candidates: [], refused: [], combinations: 0, infeasible: [] }
      : enumerateSpace(this.#problem, {
        traversals: request.traversals,
        limits: this.#gpu.limits,
        device: deviceModelOf(device, copyBytesPerSecond!),
      });
    return { problem: this.#problem, copyBytesPerSecond, space: this.#space };
  }

  /** Takes in what earlier runs evaluated. */
  recall(known: ReadonlyMap<string, Evaluation>): void {
    this.#known = known;
  }

  /** Asks the strategy, evaluates, tells it, until the budget is spent. */
  async search(deadlineNs: number): Promise<void> {
    const { request: { strategy, budget, seed }, environment: { now, signal, onProgress } } = this;
    const beganNs = now();
    const search = beginRecalling(strategy, this.#space.candidates, {
      seed,
      budget: "evaluations" in budget ? budget : { timeNs: Math.max(0, deadlineNs - beganNs) },
      recall: (candidate) => this.#recall(candidate),
    });
    const evaluations = "evaluations" in budget ? budget.evaluations : Infinity;
    const total = Math.min(this.#space.candidates.length, evaluations);
    const { recalled } = this;
    let asked = recalled, done = recalled;
    const sentinel = new Sentinel({ now });
    const next = (): Asked | undefined => {
      if (this.#gpu === undefined) return undefined;
      const isLate = now() >= deadlineNs;
      const looked = isLate ? undefined : sentinel.look();
      if (looked !== undefined) return { configuration: looked, why: "look" };
      const affected = isLate ? undefined : sentinel.again();
      if (affected !== undefined) return { configuration: affected, why: "again" };
      if (asked >= evaluations || (isLate && asked >= LEAST_EVALUATIONS)) return undefined;
      const candidate = search.next();
      if (candidate === undefined) return undefined;
      asked++;
      const eachNs = done === recalled ? Infinity : (now() - beganNs) / (done - recalled);
      onProgress({
        stage: "search",
        done,
        total,
        bestCellsPerSecond: this.best?.cellsPerSecond,
        leftNs: Math.min(deadlineNs - now(), eachNs * (total - done)),
      });
      return { configuration: this.#configurationOf(candidate), candidate };
    };
    const { evaluators } = this.environment;
    // what others measure with is theirs alone: this process gives back the memory
    if (evaluators !== undefined) this.#reference?.dispose();
    let verdict: string | undefined;
    try {
      await evaluateSideBySide<Asked>({
        workers: evaluators?.workers ?? 1,
        start: (turn) =>
          evaluators === undefined
            ? this.#inProcess()
            : startPatiently(evaluators, { problem: this.#problem, turn, signal }),
        next,
        configurationOf: ({ configuration }) => configuration,
        best: () => this.best?.cellsPerSecond ?? 0,
        signal,
        onEvaluated: async ({ why, candidate }, { evaluation, evaluationNs }) => {
          const measurement = "measurement" in evaluation ? evaluation.measurement : undefined;
          if (candidate === undefined) {
            if (why === "look") sentinel.seen(measurement, evaluationNs);
            else if (measurement !== undefined) sentinel.note(measurement);
            await this.#keep(evaluation, { isAgain: true });
            return;
          }
          done++;
          await this.#keep(evaluation);
          if (measurement !== undefined) sentinel.note(measurement);
          search.tell(candidate, { rate: measurement?.cellsPerSecond, spentNs: evaluationNs });
        },
      });
    } catch (error) {
      if (!isFailure(error)) throw error;
      verdict = `the process that measures cannot start: ${error.reason}: ${error.message}`;
    }
    if (evaluators !== undefined) await this.#renewReference();
    this.searchVerdict = verdict ?? search.verdict;
    this.drifts = sentinel.drifts;
  }

  /** This process as an evaluator. */
  #inProcess(): Promise<Evaluator> {
    const { now } = this.environment;
    return Promise.resolve({
      alive: true,
      evaluate: async (configuration, { best }) => {
        const beganNs = now();
        const evaluation = await this.#measure(configuration, best);
        return { evaluation, evaluationNs: now() - beganNs };
      },
      close: () => {},
    });
  }

  /** Measures the best few and the best stepwise again, in turns. */
  async finals(deadlineNs: number): Promise<void> {
    const { environment: { now, signal, onProgress, onEvaluation }, request: { seed } } = this;
    const ordered = [...this.#measured].sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    const finalists = new Set(ordered.slice(0, FINALISTS));
    const baseline = this.bestOfEach.get("stepwise");
    if (baseline !== undefined) finalists.add(baseline);
    if (ordered.length === 0 || this.#gpu === undefined) return;
    const results = await finalRound([...finalists], {
      problem: this.#problem,
      prepare: (configuration) => this.#prepare(configuration),
      seed,
      deadlineNs,
      now,
      signal,
      onEvaluation: async (evaluation, done, total) => {
        onProgress({ stage: "final round", done, total, bestCellsPerSecond: this.best?.cellsPerSecond });
        await onEvaluation(evaluation);
        if (!("failure" in evaluation)) return;
        this.#countFailure(evaluation.failure);
        // without a GPU nothing is learnt about the configuration
        if (this.#gpu !== undefined) this.#forget(evaluation.configuration);
        await this.#afterFailure(evaluation.failure);
      },
    });
    // the fastest of each comes last
    for (const result of results.toReversed()) this.bestOfEach.set(result.configuration.traversal, result);
    const ties = tieSetOf(results);
    // an interrupted round says too little to prefer one that was slower
    this.#tieSet = signal.aborted
      ? ties
      : orderTies(ties, (configuration) => this.#candidateOf(configuration)?.demand);
  }

  /**
   * The CPU alone: all workers, the whole grid. Where a probe says that it is far behind the GPU and would take
   * more than the time left, it is not measured.
   */
  async measureCpu(deadlineNs: number): Promise<CpuResult> {
    const { request: { cpuWorkers }, environment: { now, signal, onProgress } } = this;
    if (this.#pool === undefined) return { message: "no CPU workers were asked for" };
    if (this.#reference === undefined) {
      return { message: "not measured: there is no reference to verify it with" };
    }
    const known = cpuConfigurations(this.#problem, cpuWorkers)
      .map((configuration) => this.#known.get(configurationKey(configuration)))
      .filter((evaluation) => evaluation !== undefined);
    if (known.length > 0) {
      for (const evaluation of known) this.#take(evaluation);
      this.recalled += known.length;
      return fastestResult(known.map(cpuResultOf));
    }
    if (signal.aborted) return { message: "interrupted before the CPU was measured" };
    onProgress({ stage: "cpu", done: 0, total: 1, bestCellsPerSecond: this.best?.cellsPerSecond });
    try {
      const probed = await probeCpu(this.#pool, this.#problem);
      const runNs = updatesOf(this.#problem) / probed * 1e9;
      const isFarBehind = this.best !== undefined && probed < 0.5 * this.best.cellsPerSecond;
      // a run to verify, and one to time; half of what is left is the balance's
      if (isFarBehind && 2 * runNs > (deadlineNs - now()) / 2) {
        const factor = Math.round(this.best!.cellsPerSecond / probed);
        return {
          cellsPerSecond: probed,
          message: `not measured: a probe ran at ${
            (probed / 1e9).toPrecision(2)
          } Gcells/s, the GPU is ${factor} times as fast`,
        };
      }
    } catch (error) {
      if (!isFailure(error)) throw error;
      return { message: `not measured: ${error.reason}: ${error.message}` };
    }
    const results: CpuResult[] = [];
    for (const configuration of cpuConfigurations(this.#problem, cpuWorkers)) {
      // one is measured whatever the time
      if (results.length > 0 && (signal.aborted || now() >= deadlineNs)) break;
      const evaluation = await this.#measure(configuration, 0);
      await this.#keep(evaluation);
      results.push(cpuResultOf(evaluation));
    }
    return fastestResult(results);
  }

  /** Shares the grid between the best configuration of the GPU and the CPU. */
  async balance(cpuCellsPerSecond: number | undefined, deadlineNs: number) {
    const { request: { startShare }, environment: { now, signal, onProgress, onEvaluation } } = this;
    const none = (message: string) => ({
      measurement: undefined,
      iterations: [],
      message,
      costModel: undefined,
    });
    if (this.#pool === undefined) return none("the GPU computes alone: no CPU workers were asked for");
    if (this.#gpu === undefined) return none("the CPU computes alone: there is no GPU");
    if (this.#problem.grid[0] < 2) return none("none: a grid of one slice cannot be shared");
    if (this.best === undefined) return none("no configuration of the GPU verified");
    if (signal.aborted) return none("interrupted before the balance");
    const result = await balanceOnDevices({
      gpu: this.#gpu,
      cpuPool: this.#pool,
      problem: this.#problem,
      configuration: this.best.configuration,
      reference: this.#reference!,
      startShare,
      alone: { cpu: cpuCellsPerSecond, gpu: this.best.cellsPerSecond },
      deadlineNs,
      now,
      signal,
      onProgress: (done, total) => onProgress({ stage: "balance", done, total }),
    });
    for (const evaluation of result.evaluations) {
      this.#count(evaluation);
      await onEvaluation(evaluation);
    }
    const { best, iterations, message, costModel } = result;
    return { measurement: best, iterations, message, costModel };
  }

  /** The profile's entry for the fastest of the winners. */
  entryOf(
    winners: readonly Measurement[],
    { balance, costModel, elapsedNs }: {
      balance: ProfileEntry["balance"];
      costModel: SharedCostModel | undefined;
      elapsedNs: number;
    },
  ): ProfileEntry | undefined {
    const winner = fastest(winners);
    if (winner === undefined) return undefined;
    const { strategy, seed } = this.request;
    const stepwise = this.bestOfEach.get("stepwise");
    const roof = this.#roofOf(winner.configuration);
    const ties = this.#tieSet.includes(winner) ? this.#tieSet : [winner];
    return {
      problem: describeProblem(this.#problem),
      configuration: winner.configuration,
      result: {
        cellsPerSecond: winner.cellsPerSecond,
        confidence95: winner.confidence95,
        samples: winner.samples,
        roofFraction: roof === undefined ? null : winner.cellsPerSecond / roof,
        speedupOverStepwise: stepwise === undefined ? null : winner.cellsPerSecond / stepwise.cellsPerSecond,
      },
      tieSet: ties.map(({ configuration, cellsPerSecond, confidence95 }) => ({
        configuration,
        cellsPerSecond,
        confidence95,
      })),
      balance,
      ...(costModel === undefined ? {} : { costModel: describeCostModel(costModel) }),
      verification: winner.verification,
      search: {
        strategy: strategy.name,
        seed,
        spaceSize: this.#space.candidates.length,
        evaluated: this.evaluated,
        failed: this.failed,
        elapsedMs: elapsedNs / 1e6,
      },
    };
  }

  [Symbol.dispose](): void {
    this.#reference?.dispose();
    this.#pool?.dispose();
    this.#gpu?.[Symbol.dispose]();
  }

  #configurationOf({ traversal, parameters }: Candidate): Configuration {
    const share = {
      cpuSlices: 0,
      gpuSlices: this.#problem.grid[0],
      exchangeEvery: this.#problem.steps,
      cpuWorkers: 0,
    };
    return { traversal: traversal.name, parameters, share };
  }

  /** The roof of a configuration of the GPU alone: bandwidth over its traversal's traffic. */
  #roofOf(configuration: Configuration): number | undefined {
    return configuration.share.gpuSlices === 0 ? undefined : this.#candidateOf(configuration)?.roof;
  }

  #candidateOf({ traversal, parameters }: Configuration): Candidate | undefined {
    const share = { cpuSlices: 0, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 0 };
    const key = configurationKey({ traversal, parameters, share });
    return this.#space.candidates.find((candidate) =>
      configurationKey({ traversal: candidate.traversal.name, parameters: candidate.parameters, share }) ===
        key
    );
  }

  #prepare(configuration: Configuration) {
    const devices = { gpu: this.#gpu, cpuPool: this.#pool, reference: this.#reference! };
    return prepare(devices, this.#problem, configuration);
  }

  /** Evaluates in this process. */
  #measure(configuration: Configuration, best: number): Promise<Evaluation> {
    const { now } = this.environment;
    const prepare = () => this.#prepare(configuration);
    return evaluate(configuration, prepare, { problem: this.#problem, best, now });
  }

  /** Records an evaluation; what it did to this process's device is made good. */
  async #keep(evaluation: Evaluation, { isAgain = false } = {}): Promise<void> {
    this.#take(evaluation, { isAgain });
    await this.environment.onEvaluation(evaluation);
    const isElsewhere = this.environment.evaluators !== undefined &&
      evaluation.configuration.share.gpuSlices > 0;
    if ("failure" in evaluation && !isElsewhere) await this.#afterFailure(evaluation.failure);
  }

  /** Computes the reference again; where the device has been lost since, on one that is opened anew. */
  async #renewReference(): Promise<void> {
    try {
      if (this.#gpu === undefined) return;
      this.#reference = await makeReference({ gpu: this.#gpu, problem: this.#problem });
    } catch (error) {
      if (!isFailure(error)) throw error;
      await this.#reopen();
    }
  }

  /** What earlier runs found out about a candidate; it counts as if it had been evaluated now. */
  #recall(candidate: Candidate): Outcome | undefined {
    const known = this.#known.get(configurationKey(this.#configurationOf(candidate)));
    if (known === undefined) return undefined;
    this.#take(known);
    this.recalled++;
    return { rate: "measurement" in known ? known.measurement.cellsPerSecond : undefined, spentNs: 0 };
  }

  /** Counts an evaluation, and remembers a rate of the GPU alone. */
  #take(evaluation: Evaluation, { isAgain = false } = {}): void {
    if (!isAgain) this.#count(evaluation);
    else if ("failure" in evaluation) this.#countFailure(evaluation.failure);
    if (evaluation.configuration.share.gpuSlices === 0) return;
    if (isAgain) this.#forget(evaluation.configuration);
    if ("measurement" in evaluation) this.#remember(evaluation.measurement);
  }

  #remember(measurement: Measurement): void {
    const { configuration: { traversal }, cellsPerSecond } = measurement;
    this.#measured.push(measurement);
    const before = this.bestOfEach.get(traversal);
    if (before === undefined || before.cellsPerSecond < cellsPerSecond) {
      this.bestOfEach.set(traversal, measurement);
    }
  }

  /** What was right once and fails now must not win by its earlier rate. */
  #forget(configuration: Configuration): void {
    const key = configurationKey(configuration);
    const kept = this.#measured.filter((measurement) => configurationKey(measurement.configuration) !== key);
    this.#measured = [];
    this.bestOfEach.clear();
    for (const measurement of kept) this.#remember(measurement);
  }

  #count(evaluation: Evaluation): void {
    this.evaluated++;
    if ("failure" in evaluation) this.#countFailure(evaluation.failure);
  }

  #countFailure({ reason }: Failure): void {
    this.failed[reason] = (this.failed[reason] ?? 0) + 1;
  }

  /** A lost device is opened anew, and its reference computed again; what cannot be is left out from now on. */
  async #afterFailure({ reason }: Failure): Promise<void> {
    if (this.#gpu === undefined || (this.#gpu.lost === undefined && reason !== "device-lost")) return;
    this.#reference?.dispose();
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    if (this.#gpu === undefined) return;
    this.#gpu[Symbol.dispose]();
    try {
      this.#gpu = await GpuDevice.open({ timeoutMs: this.#gpu.timeoutMs });
      this.#reference = await makeReference({ gpu: this.#gpu, problem: this.#problem });
    } catch (error) {
      if (!isFailure(error)) throw error;
      this.#gpu = undefined;
    }
    // without a GPU the CPU goes on alone, with a reference of its own
    if (this.#gpu !== undefined || this.#pool === undefined) return;
    this.#reference = undefined;
    this.#reference = await makeReference({ problem: this.#problem }).catch((error) => {
      if (!isFailure(error)) throw error;
      return undefined;
    });
  }
}

function cpuResultOf(evaluation: Evaluation): CpuResult {
  if ("failure" in evaluation) {
    return { message: `not measured: ${evaluation.failure.reason}: ${evaluation.failure.message}` };
  }
  const { measurement } = evaluation;
  return { measurement, cellsPerSecond: measurement.cellsPerSecond };
}

/** The fastest of what the CPU came to; where nothing was measured, why the first was not. */
function fastestResult(results: readonly CpuResult[]): CpuResult {
  const rate = ({ measurement }: CpuResult): number => measurement?.cellsPerSecond ?? 0;
  return results.reduce((best, one) => rate(one) > rate(best) ? one : best);
}

/** Starts an evaluator; a driver that has just crashed may need a moment. */
async function startPatiently(
  evaluators: Evaluators,
  { problem, turn, signal }: { problem: Problem; turn: Turn; signal: AbortSignal },
): Promise<Evaluator> {
  for (let tries = 1;; tries++) {
    try {
      return await evaluators.start(problem, turn);
    } catch (error) {
      if (!isFailure(error) || error.reason !== "device-lost" || tries === START_TRIES || signal.aborted) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
    }
  }
}

function fastest(measurements: readonly Measurement[]): Measurement | undefined {
  return measurements.reduce<Measurement | undefined>(
    (best, one) => best === undefined || one.cellsPerSecond > best.cellsPerSecond ? one : best,
    undefined,
  );
}

function deviceFailed(error: unknown): never {
  if (isFailure(error)) throw new DeviceError(`The GPU failed: ${error.reason}: ${error.message}`);
  throw error;
}

/** Cell updates of one run. */
function updatesOf({ grid, steps }: Problem): number {
  return cellsOf(grid) * steps;
}
