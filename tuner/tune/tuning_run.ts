/**
 * The state that the stages of a run share: what was asked, the devices, the space, and what was found so far.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { chooseFinalists, LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { evaluate, type EvaluateOptions, type Evaluation } from "../measuring/evaluate.ts";
import { DEVICE_BATCH_NS, HOST_BATCH_NS } from "../measuring/sampling.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { type Candidate, enumerateSpace, type Space } from "../search/space.ts";
import type { TuneEnvironment, TuneRequest, TuneStart } from "./tune_request.ts";
import { expectTurn, type TurnTime } from "../measuring/turn_time.ts";
import { isFarBehind, type ProbedRates, whySharingIsFutile } from "./cpu_worth.ts";
import { Findings } from "./findings.ts";
import { RunDevices } from "./run_devices.ts";
import { planTime, type RunTime, type TimePlan } from "./time_plan.ts";

/** Finalists beside the best stepwise that time is kept for. */
const LIKELY_FINALISTS = 3;
/** What a turn takes while nothing has been measured, as a multiple of the reference. */
const UNKNOWN_TURN = 2;

/** One run of `tune`. */
export class TuningRun implements Disposable {
  readonly devices: RunDevices;
  readonly findings = new Findings();
  /** What the CPU alone is expected to take, in nanoseconds; undefined where it takes no part. */
  cpuNs: number | undefined;
  /** The CPU's rate as it was probed; undefined where it was not. */
  cpuCellsPerSecond: number | undefined;
  readonly #time: RunTime;
  #referenceNs = 0;
  #space!: Space;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    const { budget, cpuWorkers } = request;
    this.devices = new RunDevices(environment.gpu);
    const timeNs = "timeNs" in budget ? budget.timeNs : Infinity;
    this.#time = { startedNs: environment.now(), timeNs };
    this.cpuNs = cpuWorkers > 0 ? 0 : undefined;
  }

  /** When the stages end, by what is known now. */
  get plan(): TimePlan {
    const { cpuNs, findings: { measured, bestOfEach } } = this;
    const finalists = new Set(chooseFinalists(measured, { order: (all) => all, most: LIKELY_FINALISTS }));
    const baseline = bestOfEach.get("stepwise");
    if (baseline !== undefined) finalists.add(baseline);
    const turns = [...finalists].map((one) => this.turnOf(one));
    // nothing is measured yet: one is a run of stepwise, as the reference was, and more runs of it
    const unknown = { firstNs: UNKNOWN_TURN * this.#referenceNs, againNs: UNKNOWN_TURN * this.#referenceNs };
    return planTime(this.#time, {
      turns: turns.length === 0 ? Array(LEAST_FINALISTS).fill(unknown) : turns,
      referenceNs: this.environment.evaluators === undefined ? 0 : this.#referenceNs,
      // one that is far behind is measured only where time is left
      cpuNs: cpuNs !== undefined && this.isCpuFarBehind ? 0 : cpuNs,
      isShared: cpuNs !== undefined && this.sharingIsFutile === undefined,
    });
  }

  /** Why sharing the grid is not worth a limited time; undefined where it may be, or time is not limited. */
  get sharingIsFutile(): string | undefined {
    if (!("timeNs" in this.request.budget)) return undefined;
    return whySharingIsFutile(this.#rates, { isFallback: this.environment.device.gpu?.isFallback ?? false });
  }

  /** Whether the CPU alone will not win. */
  get isCpuFarBehind(): boolean {
    return isFarBehind(this.#rates);
  }

  get #rates(): ProbedRates {
    return { cpu: this.cpuCellsPerSecond, gpu: this.findings.best?.cellsPerSecond };
  }

  /** What a turn of the final round is expected to take. */
  turnOf(measurement: Measurement): TurnTime {
    const { devices: { gpu }, problem: { grid, steps }, findings } = this;
    return expectTurn(measurement, {
      updates: cellsOf(grid) * steps,
      minBatchNs: gpu?.hasTimestamps ? DEVICE_BATCH_NS : HOST_BATCH_NS,
      evaluationNs: findings.evaluationNs.get(configurationKey(measurement.configuration)),
    });
  }

  /** What is computed. */
  get problem(): Problem {
    return this.devices.problem;
  }

  /** The GPU's candidates. */
  get space(): Space {
    return this.#space;
  }

  /** Measures the device, fixes the problem, computes the reference, enumerates the space. */
  async start(): Promise<TuneStart> {
    const { request, devices, environment: { device } } = this;
    const kind = { isFallback: device.gpu?.isFallback ?? false };
    const copyBytesPerSecond = await devices.start(request, kind);
    const beganNs = this.environment.now();
    const problem = await devices.fixProblem(request, kind);
    this.#referenceNs = this.environment.now() - beganNs;
    this.#space = devices.gpu === undefined
      ? { candidates: [], refused: [], combinations: 0, infeasible: [] }
      : enumerateSpace(problem, {
        traversals: request.traversals,
        limits: devices.gpu.limits,
        device: deviceModelOf(device, copyBytesPerSecond!),
      });
    return { problem, copyBytesPerSecond, space: this.#space };
  }

  /** A candidate as what the GPU runs alone. */
  configurationOf({ traversal, parameters }: Candidate): Configuration {
    const { grid: [slices], steps } = this.problem;
    const share = { cpuSlices: 0, gpuSlices: slices, exchangeEvery: steps, cpuWorkers: 0 };
    return { traversal: traversal.name, parameters, share };
  }

  /** The candidate that a configuration was made of. */
  candidateOf({ traversal, parameters }: Configuration): Candidate | undefined {
    const share = { cpuSlices: 0, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 0 };
    const key = configurationKey({ traversal, parameters, share });
    return this.#space.candidates.find((candidate) =>
      configurationKey({ traversal: candidate.traversal.name, parameters: candidate.parameters, share }) ===
        key
    );
  }

  /** Evaluates in this process. */
  measure(
    configuration: Configuration,
    options: Pick<EvaluateOptions, "best" | "samplingNs"> = {},
  ): Promise<Evaluation> {
    const { devices, problem, environment: { now } } = this;
    return evaluate(configuration, () => devices.prepare(configuration), { problem, ...options, now });
  }

  /** Records an evaluation; what it did to this process's device is made good. */
  async keep(evaluation: Evaluation, { isAgain = false } = {}): Promise<void> {
    this.findings.take(evaluation, { isAgain });
    await this.environment.onEvaluation(evaluation);
    const isElsewhere = this.environment.evaluators !== undefined &&
      evaluation.configuration.share.gpuSlices > 0;
    if ("failure" in evaluation && !isElsewhere) await this.devices.afterFailure(evaluation.failure);
  }

  [Symbol.dispose](): void {
    this.devices[Symbol.dispose]();
  }
}
