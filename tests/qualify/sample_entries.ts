import type { Configuration } from "../../tuner/configuration.ts";
import type { Profile, ProfileEntry, ProfileRated } from "../../tuner/profile/schema.ts";
import type { Behaviour } from "../measuring/fake_runner.ts";
import { DEVICE, ENTRY, PROFILE } from "../profile/sample_profile.ts";

/** An entry of 1e6 updates on the GPU alone: a run of 1 ms is the recorded 1 Gcell/s. */
export function entryOf(changes: {
  readonly rate?: number;
  readonly problem?: Partial<ProfileEntry["problem"]>;
  readonly parameters?: Configuration["parameters"];
  readonly share?: Partial<Configuration["share"]>;
  readonly traversal?: string;
  /** Threads along z of the tie set's stepwise configurations. @default {none} */
  readonly ties?: readonly number[];
  /** The best of each traversal. @default {not listed} */
  readonly best?: readonly Configuration[];
} = {}): ProfileEntry {
  const { rate = 1e9, ties = [], best } = changes;
  const rated = (configuration: Configuration): ProfileRated => ({
    configuration,
    cellsPerSecond: rate,
    confidence95: [rate, rate],
  });
  const { costModel: _, ...entry } = ENTRY;
  return {
    ...entry,
    problem: { ...ENTRY.problem, grid: [100, 100, 10], steps: 10, ...changes.problem },
    configuration: {
      traversal: changes.traversal ?? "stepwise",
      parameters: changes.parameters ??
        (changes.share?.gpuSlices === 0 ? {} : { threadsZ: 64, threadsY: 4, threadsX: 1 }),
      share: { ...GPU_ALONE, ...changes.share },
    },
    result: {
      ...ENTRY.result,
      cellsPerSecond: rate,
      confidence95: [0.98 * rate, 1.02 * rate],
      samples: [rate],
      speedupOverStepwise: 1,
    },
    tieSet: ties.map((threadsZ) =>
      rated({ traversal: "stepwise", parameters: { threadsZ, threadsY: 4, threadsX: 1 }, share: GPU_ALONE })
    ),
    ...(best && { bestOfEach: best.map(rated) }),
    balance: [],
  };
}

const GPU_ALONE = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 10, cpuWorkers: 0 };

/** The shares of a CPU alone. */
export const CPU_ALONE = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };

/** The best of three ways to compute the entry's problem: two on the GPU, one on the CPU. */
export const BEST_OF_EACH: readonly Configuration[] = [
  {
    traversal: "marching",
    parameters: { zPerThread: 1, threadsZ: 16, threadsY: 4, pieces: 2, tile: 1, ahead: 0 },
    share: GPU_ALONE,
  },
  { traversal: "stepwise", parameters: { threadsZ: 64, threadsY: 4, threadsX: 1 }, share: GPU_ALONE },
  { traversal: "stepwise", parameters: { strip: 8 }, share: CPU_ALONE },
];

/** A profile of these entries, of the machine at hand unless told otherwise. */
export function profileOf(entries: readonly ProfileEntry[], device: Profile["device"] = DEVICE): Profile {
  return { ...PROFILE, device, entries };
}

/** Runs that take so many times the recorded 1 ms. */
export function slowedBy(factor: number): Behaviour {
  return { batchNs: (repetitions) => factor * 1e6 * repetitions };
}
