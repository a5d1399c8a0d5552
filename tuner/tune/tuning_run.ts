/**
 * The state that the stages of a run share: what was asked, the devices, the space, and what was found so far.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { chooseFinalists, LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { evaluate, type EvaluateOptions, type Evaluation } from "../measuring/evaluate.ts";
import { DEVICE_BATCH_NS, HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { DeviceError } from "../devices/device_error.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { Devices } from "../devices/runners.ts";
import type { Session } from "../devices/session.ts";
import { defaultGrid, defaultSteps } from "../problem/default_problem.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { type Candidate, enumerateSpace, type Space } from "../search/space.ts";
import type { TuneEnvironment, TuneRequest, TuneStart } from "./tune_request.ts";
import { expectTurn, type TurnTime } from "../measuring/turn_time.ts";
import { isFarBehind, type ProbedRates, whySharingIsFutile } from "./cpu_worth.ts";
import { Findings } from "./findings.ts";
import { planTime, type RunTime, type TimePlan } from "./time_plan.ts";

/** Finalists beside the best stepwise that time is kept for. */
const LIKELY_FINALISTS = 3;
/** What a turn takes while nothing has been measured, as a multiple of the reference. */
const UNKNOWN_TURN = 2;

/** One run of `tune`. */
export class TuningRun {
  readonly findings = new Findings();
  /** What the CPU alone is expected to take, in nanoseconds; undefined where it takes no part. */
  cpuNs: number | undefined;
  /** The CPU's rate as it was probed; undefined where it was not. */
  cpuCellsPerSecond: number | undefined;
  readonly #time: RunTime;
  #referenceNs = 0;
  #problem!: Problem;
  #space!: Space;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    const { budget, cpuWorkers } = request;
    const timeNs = "timeNs" in budget ? budget.timeNs : Infinity;
    this.#time = { startedNs: this.session.now(), timeNs };
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
    return whySharingIsFutile(this.#rates, { isFallback: this.session.device.gpu?.isFallback ?? false });
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
    const { session: { device }, problem: { grid, steps }, findings } = this;
    return expectTurn(measurement, {
      updates: cellsOf(grid) * steps,
      minBatchNs: device.gpu?.timestampQuery ? DEVICE_BATCH_NS : HOST_BATCH_NS,
      evaluationNs: findings.evaluationNs.get(configurationKey(measurement.configuration)),
    });
  }

  /** What is computed. */
  get problem(): Problem {
    return this.#problem;
  }

  /** The GPU's candidates. */
  get space(): Space {
    return this.#space;
  }

  /** What computes. */
  get session(): Session {
    return this.environment.session;
  }

  /** Measures the device, fixes the problem, computes the reference, enumerates the space. */
  async start(): Promise<TuneStart> {
    const { request, session } = this;
    const { device } = session;
    const copyBytesPerSecond = session.hasGpu
      ? await session.copyBytesPerSecond().catch(deviceFailed("The GPU failed"))
      : null;
    await this.#fixProblem();
    this.#space = device.gpu === null || copyBytesPerSecond === null
      ? { candidates: [], refused: [], combinations: 0, infeasible: [] }
      : enumerateSpace(this.#problem, {
        traversals: request.traversals,
        limits: device.gpu.limits,
        device: deviceModelOf(device, copyBytesPerSecond),
      });
    return { problem: this.#problem, copyBytesPerSecond, space: this.#space };
  }

  /** A default grid shrinks until the reference fits into the memory. */
  async #fixProblem(): Promise<void> {
    const { request: { stencil, boundary, steps = defaultSteps(stencil), grid: wanted }, session } = this;
    const { isFallback = false, limits } = session.device.gpu ?? {};
    for (let halvings = 0;; halvings++) {
      const grid = wanted ?? defaultGrid(stencil, { limits, isFallback, halvings });
      this.#problem = { stencil, grid, boundary, steps };
      const beganNs = session.now();
      try {
        await session.open(this.#problem);
        this.#referenceNs = session.now() - beganNs;
        return;
      } catch (error) {
        const canShrink = wanted === undefined && grid[0] > 16;
        if (!(isFailure(error) && error.reason === "out-of-memory" && canShrink)) {
          deviceFailed("Cannot compute the reference")(error);
        }
      }
    }
  }

  /** The workers and the reference of the CPU, the GPU and the reference otherwise. */
  open(): Promise<Devices> {
    return this.session.open(this.problem, this.request.cpuWorkers);
  }

  /** After a failure that lost a device: opened anew, with its reference. A GPU that fails again is left out. */
  async recover(failure: Failure): Promise<void> {
    if (this.session.recover(failure)) await this.renewReference();
  }

  /** Computes the reference again where it is missing; a GPU that cannot is left out from now on. */
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
    const { session, problem } = this;
    return evaluate(configuration, () => session.prepare(problem, configuration), {
      problem,
      ...options,
      now: () => session.now(),
    });
  }

  /** Records an evaluation; what it did to this process's device is made good. */
  async keep(evaluation: Evaluation, { isAgain = false } = {}): Promise<void> {
    this.findings.take(evaluation, { isAgain });
    await this.environment.onEvaluation(evaluation);
    const isElsewhere = this.environment.evaluators !== undefined &&
      evaluation.configuration.share.gpuSlices > 0;
    if ("failure" in evaluation && !isElsewhere) await this.recover(evaluation.failure);
  }
}

/** Ends the run where the device failed at what everything else needs. */
function deviceFailed(what: string): (error: unknown) => never {
  return (error) => {
    throw isFailure(error) ? new DeviceError(`${what}: ${error.reason}: ${error.message}`) : error;
  };
}
