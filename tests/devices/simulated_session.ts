/**
 * A session without devices: its clock moves only by simulated work, and what a configuration does is the test's.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { SharedCosts } from "../../models/shared_fit.ts";
import type { Configuration, Failure } from "../../tuner/configuration.ts";
import type { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import type { DeviceDescription } from "../../tuner/devices/device.ts";
import type { Reference } from "../../tuner/devices/reference.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import type { Devices, FieldRunner } from "../../tuner/devices/runners.ts";
import type { Session } from "../../tuner/devices/session.ts";
import { type Behaviour, FakeRunner } from "../measuring/fake_runner.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { COSTS, simulatedTimes } from "./simulated_times.ts";

/** The machine of the sample profile, an H100. */
export const { measured: _, ...SIMULATED_DEVICE } = DEVICE;

/** What a simulated session does. */
export interface Simulation {
  /** @default {SIMULATED_DEVICE} */
  readonly device?: DeviceDescription;
  /** What a configuration does that is prepared now, after so many others. @default {1 ms a run, right results} */
  readonly behave?: (prepared: number, configuration: Configuration, problem: Problem) => Behaviour;
  /** Time to compute a reference. @default {0} */
  readonly referenceNs?: number;
  /** Why a reference cannot be computed, after so many others; undefined where it can. */
  readonly whyNoReference?: (computed: number) => RunFailure | undefined;
  /** @default {a tenth of the sample profile's} */
  readonly copyBytesPerSecond?: number;
  /** @default {none: a record describes the device} */
  readonly constants?: Record<string, number>;
  /** That of the CPU. @default {3e10} */
  readonly cpuCopyBytesPerSecond?: number;
  /** The CPU's rate when it is probed. @default {1e9} */
  readonly cpuCellsPerSecond?: number;
  /** What the times of shared configurations follow, whatever `behave` says of their rate. @default {COSTS} */
  readonly costs?: SharedCosts;
}

/** Behaviours one after the other, the last one from then on. */
export function inTurn(...behaviours: readonly Behaviour[]): NonNullable<Simulation["behave"]> {
  return (prepared) => behaviours[Math.min(prepared, behaviours.length - 1)] ?? {};
}

/** A configuration that runs at a rate, in cells per second. */
export function atRate(cellsPerSecond: number, { grid, steps }: Problem): Behaviour {
  const runNs = cellsOf(grid) * steps / cellsPerSecond * 1e9;
  return { batchNs: (repetitions) => repetitions * runNs };
}

/** A configuration that fails when it is run. */
export function failing(reason: Failure["reason"], message = "injected"): Behaviour {
  return { fails: { at: "run", with: new RunFailure(reason, message) } };
}

/** A configuration whose result is wrong. */
export const WRONG: Behaviour = { verification: { maxError: 1 } };

/** Devices that do what the test says. */
export class SimulatedSession implements Session {
  readonly device: DeviceDescription;
  readonly time = { nowNs: 0 };
  /** What was prepared, in order. */
  readonly prepared: Configuration[] = [];
  readonly pausesNs: number[] = [];
  readonly chainNs = undefined;
  /** How often a reference was computed, a device opened anew, the copy measured. */
  references = 0;
  recoveries = 0;
  copies = 0;
  hasGpu: boolean;
  #hasReference = false;
  readonly #simulation: Simulation;

  constructor(simulation: Simulation = {}) {
    this.#simulation = simulation;
    this.device = simulation.device ?? SIMULATED_DEVICE;
    this.hasGpu = this.device.gpu !== null;
  }

  now(): number {
    return this.time.nowNs;
  }

  pause(timeNs: number): Promise<void> {
    this.pausesNs.push(timeNs);
    this.time.nowNs += timeNs;
    return Promise.resolve();
  }

  copyBytesPerSecond(): Promise<number> {
    this.copies++;
    return Promise.resolve(this.#simulation.copyBytesPerSecond ?? DEVICE.measured.copyBytesPerSecond! / 10);
  }

  constants(): Promise<Record<string, number>> {
    return Promise.resolve(this.#simulation.constants ?? {});
  }

  cpuCopyBytesPerSecond(): Promise<number> {
    return Promise.resolve(this.#simulation.cpuCopyBytesPerSecond ?? 3e10);
  }

  open(problem: Problem, cpuWorkers = 0): Promise<Devices> {
    if (!this.#hasReference) {
      const { referenceNs = 0, whyNoReference } = this.#simulation;
      this.time.nowNs += referenceNs;
      const failure = whyNoReference?.(this.references);
      this.references++;
      if (failure !== undefined) return Promise.reject(failure);
      this.#hasReference = true;
    }
    const reference = { problem, against: "simulated" } as Reference;
    return Promise.resolve({ reference, cpuPool: cpuWorkers > 0 ? this.#pool(cpuWorkers) : undefined });
  }

  async prepare(
    problem: Problem,
    configuration: Configuration,
    onCompiled?: () => Promise<void>,
  ): Promise<FieldRunner> {
    await this.open(problem);
    if (!this.hasGpu && configuration.share.gpuSlices > 0) {
      throw new RunFailure("limits", "there is no GPU for its slices");
    }
    const behaviour = this.#simulation.behave?.(this.prepared.length, configuration, problem) ?? {};
    this.prepared.push(configuration);
    const { share } = configuration;
    const steps = simulatedTimes(problem, share, this.#simulation.costs ?? COSTS);
    const shared: Behaviour = share.cpuSlices === 0 || share.gpuSlices === 0 ? {} : {
      clock: "host",
      batchNs: (repetitions) => steps(problem.steps, repetitions).wallNs,
    };
    const runner = new FakeRunner(configuration, { ...behaviour, ...shared, steps }, this.time);
    this.time.nowNs += runner.compileNs;
    await onCompiled?.();
    return runner;
  }

  releaseReference(): void {
    this.#hasReference = false;
  }

  recover({ reason }: Failure): boolean {
    if (reason !== "device-lost" && reason !== "timeout") return false;
    this.recoveries++;
    this.releaseReference();
    return true;
  }

  leaveOutGpu(): void {
    this.releaseReference();
    this.hasGpu = false;
  }

  [Symbol.dispose](): void {}

  /** Workers that can be probed. */
  #pool(workers: number): CpuPool {
    const { time } = this;
    const { cpuCellsPerSecond = 1e9 } = this.#simulation;
    const load: (source: { layout: { grid: Problem["grid"] } }) => unknown = ({ layout: { grid } }) => ({
      initialise: () => Promise.resolve(),
      run({ steps }: { steps: number }) {
        const timeNs = cellsOf(grid) * steps / cpuCellsPerSecond * 1e9;
        time.nowNs += timeNs;
        return Promise.resolve(timeNs);
      },
      dispose: () => Promise.resolve(),
    });
    return { workers, load: (source: never) => Promise.resolve(load(source)) } as unknown as CpuPool;
  }
}
