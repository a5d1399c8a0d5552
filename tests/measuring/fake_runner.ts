import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Configuration, Measurement, Runner, Verification } from "../../tuner/configuration.ts";
import type { FieldRunner } from "../../tuner/devices/runners.ts";
import type { SharedTimes } from "../../tuner/devices/shared/shared_field.ts";
import type { Workbench } from "../../tuner/measuring/evaluate.ts";

/** A problem of 1e6 cell updates: a run of 1 ms is 1 Gcell/s. */
export const PROBLEM: Problem = { stencil: wave(2), grid: [100, 100, 10], boundary: "zero", steps: 10 };

const VERIFIED: Verification = { maxError: 1e-7, bound: 1e-6, against: "gpu stepwise 64x4x1" };

/** Where fakes are prepared, on a clock of theirs. */
export function workbench(
  time: { readonly nowNs: number },
  prepare: (configuration: Configuration) => Runner | Promise<Runner>,
): Workbench {
  return { prepare: (_, configuration) => Promise.resolve(prepare(configuration)), now: () => time.nowNs };
}

/** A configuration that differs from others by its name. */
export function configurationNamed(traversal: string): Configuration {
  const share = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 10, cpuWorkers: 0 };
  return { traversal, parameters: {}, share };
}

/** A measurement of a configuration of that name. */
export function measurementNamed(
  traversal: string,
  cellsPerSecond: number,
  confidence95: readonly [number, number] = [cellsPerSecond, cellsPerSecond],
): Measurement {
  return {
    configuration: configurationNamed(traversal),
    cellsPerSecond,
    confidence95,
    samples: [cellsPerSecond],
    spread: 0,
    verification: VERIFIED,
    compileNs: 1e6,
  };
}

/** What a {@linkcode FakeRunner} does. */
export interface Behaviour {
  /** Time of a batch of so many runs; throws to fail. @default {1 ms a run} */
  batchNs?: (repetitions: number, call: number) => number;
  /** @default {1 ms} */
  compileNs?: number;
  /** Time to initialise it, and again to verify it. @default {0} */
  setupNs?: number;
  /** Time that the host waits after a batch, which the batch's own leaves out. @default {0} */
  waitNs?: number;
  /** Times of any number of steps; without them only whole runs are possible. */
  steps?: (steps: number, repetitions: number) => SharedTimes;
  /** @default {"device"} */
  clock?: FieldRunner["clock"];
  isWarm?: boolean;
  /** @default {a right result} */
  verification?: Partial<Verification>;
  /** Where it throws, and what. */
  fails?: { at: "initialise" | "run" | "verify"; with: Error };
}

/** A runner without a device: its time is what the test says, and moves a clock. */
export class FakeRunner implements FieldRunner {
  readonly compileNs: number;
  readonly clock: FieldRunner["clock"];
  readonly isWarm: boolean;
  readonly calls: string[] = [];
  /** Repetitions of every batch. */
  readonly batches: number[] = [];
  disposals = 0;
  readonly #behaviour: Behaviour;

  constructor(
    readonly configuration: Configuration,
    behaviour: Behaviour = {},
    readonly time: { nowNs: number } = { nowNs: 0 },
  ) {
    this.#behaviour = behaviour;
    this.compileNs = behaviour.compileNs ?? 1e6;
    this.clock = behaviour.clock ?? "device";
    this.isWarm = behaviour.isWarm ?? false;
  }

  async initialise(): Promise<void> {
    await this.#call("initialise");
  }

  async run(repetitions = 1): Promise<number> {
    await this.#call("run");
    const { batchNs = (count) => 1e6 * count } = this.#behaviour;
    const timeNs = batchNs(repetitions, this.batches.push(repetitions) - 1);
    this.time.nowNs += timeNs + (this.#behaviour.waitNs ?? 0);
    return timeNs;
  }

  async runSteps(steps: number, repetitions = 1): Promise<SharedTimes> {
    await this.#call("run");
    const times = this.#behaviour.steps!(steps, repetitions);
    this.time.nowNs += times.wallNs;
    return times;
  }

  async verify(): Promise<Verification> {
    await this.#call("verify");
    return { ...VERIFIED, ...this.#behaviour.verification };
  }

  dispose(): void {
    this.disposals++;
  }

  #call(at: "initialise" | "run" | "verify"): Promise<void> {
    this.calls.push(at);
    if (at !== "run") this.time.nowNs += this.#behaviour.setupNs ?? 0;
    const { fails } = this.#behaviour;
    return fails?.at === at ? Promise.reject(fails.with) : Promise.resolve();
  }
}
