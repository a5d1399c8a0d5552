/**
 * The state that the stages of a run share: the request, the session, the space, and what was found so far.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { deviceFailed } from "../devices/device_error.ts";
import { DEVICE_BATCH_NS, HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { Devices } from "../devices/runners.ts";
import type { Session } from "../devices/session.ts";
import { chooseFinalists, LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import { evaluateOn, type EvaluateOptions, type Evaluation } from "../measuring/evaluate.ts";
import { defaultGrid } from "../problem/default_problem.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { cpuConfigurations } from "../search/cpu_configurations.ts";
import { type Candidate, enumerateSpace, onGpuAlone, type Space } from "../search/space.ts";
import { Findings } from "./findings.ts";
import {
  expectTurn,
  isFarBehind,
  planTime,
  type ProbedRates,
  type RunTime,
  type TimePlan,
  type TurnTime,
  whySharingIsFutile,
} from "./time_plan.ts";
import type { TuneEnvironment, TuneRequest, TuneStart } from "./tune_request.ts";

/** Finalists beside the best stepwise for which time is kept. */
const LIKELY_FINALISTS = 3;

/** One run of `tune`. */
export class TuningRun {
  readonly findings = new Findings();
  /** What is computed, and the GPU's candidates; known once the run has started. */
  problem!: Problem;
  space: Space = { candidates: [], refused: [], combinations: 0, infeasible: [] };
  /** What it takes to measure the CPU alone, in nanoseconds, as far as it was probed. */
  cpuNs = 0;
  /** The CPU's rate as it was probed; undefined if it was not. */
  cpuCellsPerSecond: number | undefined;
  readonly #time: RunTime;
  #referenceNs = 0;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    const { budget } = request;
    this.#time = { startedNs: this.session.now(), timeNs: "timeNs" in budget ? budget.timeNs : Infinity };
  }

  /** What computes. */
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

  /** When the stages end, by what is known now. */
  get plan(): TimePlan {
    const { request, findings: { measured } } = this;
    const likely = chooseFinalists(measured, { order: (all) => all, most: LIKELY_FINALISTS });
    const turns = this.withStepwise(likely).map((one) => this.turnOf(one));
    // while nothing is measured: a run as the reference's to verify, and one to time
    const unknown = { firstNs: 2 * this.#referenceNs, againNs: 2 * this.#referenceNs };
    return planTime(this.#time, {
      turns: turns.length === 0 ? Array(LEAST_FINALISTS).fill(unknown) : turns,
      referenceNs: this.environment.evaluators === undefined ? 0 : this.#referenceNs,
      cpuNs: this.isCpuFarBehind ? 0 : this.cpuNs,
      isShared: request.cpuWorkers > 0 && this.sharingIsFutile === undefined,
    });
  }

  /** Why sharing the grid is not worth a limited time; undefined if it may be, or time is not limited. */
  get sharingIsFutile(): string | undefined {
    if (!("timeNs" in this.request.budget)) return undefined;
    return whySharingIsFutile(this.#rates, this.session.device.gpu?.isFallback ?? false);
  }

  /** Whether the CPU alone will not win. */
  get isCpuFarBehind(): boolean {
    return isFarBehind(this.#rates);
  }

  get #rates(): ProbedRates {
    return { cpu: this.cpuCellsPerSecond, gpu: this.findings.best?.cellsPerSecond };
  }

  /** Measurements and the best of stepwise, the baseline of the speedup. */
  withStepwise(measurements: readonly Measurement[]): readonly Measurement[] {
    const baseline = this.findings.bestOfEach.get("stepwise");
    return baseline === undefined || measurements.includes(baseline)
      ? measurements
      : [...measurements, baseline];
  }

  /** What a turn of the final round is expected to take. */
  turnOf(measurement: Measurement): TurnTime {
    return expectTurn(measurement, {
      updates: this.updates,
      minBatchNs: this.session.device.gpu?.timestampQuery ? DEVICE_BATCH_NS : HOST_BATCH_NS,
      evaluationNs: this.findings.evaluationNs.get(configurationKey(measurement.configuration)),
    });
  }

  /** The CPU's configurations, the most promising last. */
  get cpuConfigurations(): Configuration[] {
    const { cpuWorkers } = this.request;
    return cpuWorkers === 0 ? [] : cpuConfigurations(this.problem, cpuWorkers);
  }

  /** Measures the device, fixes the problem, computes the reference, enumerates the space. */
  async start(): Promise<TuneStart> {
    const { request, session } = this;
    const { device } = session;
    const copyBytesPerSecond = session.hasGpu
      ? await session.copyBytesPerSecond().catch(deviceFailed("The GPU failed"))
      : null;
    await this.#fixProblem();
    const { problem } = this;
    if (device.gpu !== null && copyBytesPerSecond !== null) {
      this.space = enumerateSpace(problem, {
        traversals: request.traversals,
        limits: device.gpu.limits,
        device: deviceModelOf(device, copyBytesPerSecond),
      });
    }
    return { problem, copyBytesPerSecond, space: this.space };
  }

  /** A default grid shrinks until the reference fits into the memory. */
  async #fixProblem(): Promise<void> {
    const { request: { stencil, boundary, steps, grid: wanted, isDefaultGrid = false }, session } = this;
    const { isFallback = false, limits } = session.device.gpu ?? {};
    for (let halvings = 0;; halvings++) {
      const grid = halvings === 0 ? wanted : defaultGrid(stencil, { limits, isFallback, halvings });
      this.problem = { stencil, grid, boundary, steps };
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

  /** The devices with the CPU's workers, and the reference. */
  open(): Promise<Devices> {
    return this.session.open(this.problem, this.request.cpuWorkers);
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

  /** A candidate as a configuration of the GPU alone. */
  configurationOf(candidate: Candidate): Configuration {
    return onGpuAlone(candidate, this.problem);
  }

  /** The candidate that a configuration was made of, whatever its shares. */
  candidateOf(configuration: Configuration): Candidate | undefined {
    const { share } = configuration, key = configurationKey(configuration);
    return this.space.candidates.find((one) =>
      configurationKey({ ...this.configurationOf(one), share }) === key
    );
  }

  /** Evaluates in this process. */
  measure(
    configuration: Configuration,
    options: Pick<EvaluateOptions, "best" | "samplingNs"> = {},
  ): Promise<Evaluation> {
    return evaluateOn(this.session, configuration, { problem: this.problem, ...options });
  }

  /** Records an evaluation; a device that it lost in this process is opened anew. */
  async keep(evaluation: Evaluation, { isAgain = false } = {}): Promise<void> {
    this.findings.take(evaluation, { isAgain });
    await this.environment.onEvaluation(evaluation);
    const isElsewhere = this.environment.evaluators !== undefined &&
      evaluation.configuration.share.gpuSlices > 0;
    if ("failure" in evaluation && !isElsewhere) await this.recover(evaluation.failure);
  }
}
