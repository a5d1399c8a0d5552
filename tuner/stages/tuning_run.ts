/**
 * The state that the stages of a run share: what was asked, the devices, the space, and what was found so far.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { evaluate, type Evaluation } from "../evaluate.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { type Candidate, enumerateSpace, type Space } from "../search/space.ts";
import type { TuneEnvironment, TuneRequest, TuneStart } from "../tune_request.ts";
import { Findings } from "./findings.ts";
import { RunDevices } from "./run_devices.ts";

/** One run of `tune`. */
export class TuningRun implements Disposable {
  readonly devices: RunDevices;
  readonly findings = new Findings();
  #space!: Space;

  constructor(readonly request: TuneRequest, readonly environment: TuneEnvironment) {
    this.devices = new RunDevices(environment.gpu);
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
    const problem = await devices.fixProblem(request, kind);
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
  measure(configuration: Configuration, best: number): Promise<Evaluation> {
    const { devices, problem, environment: { now } } = this;
    return evaluate(configuration, () => devices.prepare(configuration), { problem, best, now });
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
