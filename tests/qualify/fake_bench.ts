import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../../tuner/configuration.ts";
import type { DeviceDescription } from "../../tuner/devices/device.ts";
import type { Profile, ProfileEntry } from "../../tuner/profile/schema.ts";
import type { Bench } from "../../tuner/qualify/device_bench.ts";
import { type Behaviour, FakeRunner } from "../measuring/fake_runner.ts";
import { DEVICE, ENTRY, PROFILE } from "../profile/sample_profile.ts";

/** The machine of the sample profile. */
export const { measured: _, ...HERE } = DEVICE;

/** An entry of 1e6 updates on the GPU alone: a run of 1 ms is the recorded 1 Gcell/s. */
export function entryOf(changes: {
  readonly rate?: number;
  readonly problem?: Partial<ProfileEntry["problem"]>;
  readonly parameters?: Readonly<Record<string, number>>;
  readonly share?: Partial<Configuration["share"]>;
  readonly traversal?: string;
  /** Threads along z of the tie set's stepwise configurations. @default {none} */
  readonly ties?: readonly number[];
} = {}): ProfileEntry {
  const { rate = 1e9 } = changes;
  const { costModel: _, ...entry } = ENTRY;
  return {
    ...entry,
    problem: { ...ENTRY.problem, grid: [100, 100, 10], steps: 10, ...changes.problem },
    configuration: {
      traversal: changes.traversal ?? "stepwise",
      parameters: changes.parameters ?? { threadsZ: 64, threadsY: 4, threadsX: 1 },
      share: { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 10, cpuWorkers: 0, ...changes.share },
    },
    result: {
      ...ENTRY.result,
      cellsPerSecond: rate,
      confidence95: [0.98 * rate, 1.02 * rate],
      samples: [rate],
      speedupOverStepwise: 1,
    },
    tieSet: (changes.ties ?? []).map((threadsZ) => ({
      configuration: {
        traversal: "stepwise",
        parameters: { threadsZ, threadsY: 4, threadsX: 1 },
        share: { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 10, cpuWorkers: 0 },
      },
      cellsPerSecond: rate,
      confidence95: [rate, rate],
    })),
    balance: [],
  };
}

/** A profile of these entries, of the machine at hand unless told otherwise. */
export function profileOf(entries: readonly ProfileEntry[], device: Profile["device"] = DEVICE): Profile {
  return { ...PROFILE, device, entries };
}

/** Devices that do what the test says: one behaviour for each preparation, the last one from then on. */
export class FakeBench implements Bench {
  readonly device: DeviceDescription;
  readonly time = { nowNs: 0 };
  readonly prepared: Configuration[] = [];
  readonly pausesNs: number[] = [];
  recoveries = 0;
  copies = 0;
  readonly #behaviours: readonly Behaviour[];

  constructor(behaviours: readonly Behaviour[] = [{}], device: DeviceDescription = HERE) {
    this.#behaviours = behaviours;
    this.device = device;
  }

  now(): number {
    return this.time.nowNs;
  }

  pause(timeNs: number): Promise<void> {
    this.pausesNs.push(timeNs);
    this.time.nowNs += timeNs;
    return Promise.resolve();
  }

  prepare(_problem: Problem, configuration: Configuration): Promise<Runner> {
    const behaviour = this.#behaviours[Math.min(this.prepared.length, this.#behaviours.length - 1)];
    this.prepared.push(configuration);
    return Promise.resolve(new FakeRunner(configuration, behaviour, this.time));
  }

  copyBytesPerSecond(): Promise<number | undefined> {
    this.copies++;
    return Promise.resolve(DEVICE.measured.copyBytesPerSecond! / 10);
  }

  recover(): void {
    this.recoveries++;
  }

  [Symbol.dispose](): void {}
}

/** Runs that take so many times the recorded 1 ms. */
export function slowedBy(factor: number): Behaviour {
  return { batchNs: (repetitions) => factor * 1e6 * repetitions };
}
