/**
 * The coefficients of `shared_step.ts` from a handful of measurements of one pair of devices: each device's part of a
 * round alone, the host's copies, and whole runs of both together. The parts give Eq. 1's and Eq. 4's a and b by
 * least squares; what only shows when both compute (the host's time a round, how much they slow each other down) is
 * then chosen so that the predicted runs come closest to the measured ones.
 *
 * @module
 */
import { median } from "simple-statistics";
import { type CostFit, type CostSample, fitCosts } from "./least_squares.ts";
import { type RoundCosts, type ScheduleCosts, scheduleRounds } from "./shared_schedule.ts";
import {
  type CpuCosts,
  missedPart,
  roundCosts,
  roundWork,
  type SharedCosts,
  type SharedGrid,
  type SharePoint,
} from "./shared_step.ts";

/** What was measured with one R and share. Times in nanoseconds. */
export interface SharedSample extends SharePoint {
  /** A round of R steps of the CPU's workers while the GPU is idle. */
  readonly cpuNs: number;
  /** A round of the GPU, copies included, by its own clock, while the CPU is idle. */
  readonly gpuNs: number;
  /** Both together; left out where only the devices' own times were wanted. */
  readonly together?: TogetherSample;
}

/** A batch of rounds of both devices, R steps each. */
export interface TogetherSample {
  /** Rounds in the batch. */
  readonly rounds: number;
  readonly wallNs: number;
  /** The host's copies of a round of R steps. */
  readonly unpackNs: number;
  readonly packNs: number;
}

/** Result of {@linkcode fitShared}. */
export interface SharedFit {
  readonly costs: SharedCosts;
  /** (predicted − measured) / measured of each part, one a sample that has it. */
  readonly residuals: SharedResiduals;
}

/** Residuals by what was fitted. */
export interface SharedResiduals {
  readonly cpu: readonly number[];
  readonly gpu: readonly number[];
  readonly unpack: readonly number[];
  readonly pack: readonly number[];
  /** Of the time of whole runs. */
  readonly together: readonly number[];
}

/** A cache is believed in where it divides the squared error by at least this. */
const WORTH_A_CACHE = 4;

/**
 * Fits all coefficients.
 *
 * @param shared the grid that was measured
 * @param samples at least one, and one of them of both devices together
 * @param waits what was measured of the host: the wait for a mapping, and a timer
 * @throws {RangeError} if there are too few samples, or a time is not above 0
 */
export function fitShared(
  shared: SharedGrid,
  samples: readonly SharedSample[],
  waits: Pick<ScheduleCosts, "waitNs" | "timerNs">,
): SharedFit {
  const together = samples.filter((sample): sample is Together => sample.together !== undefined);
  if (together.length === 0) {
    throw new RangeError("Cannot fit the shared step: wanted a run of both devices: found none");
  }
  const work = (sample: SharePoint) => roundWork(shared, sample);
  const cpu = fitCpu(samples.map((sample) => ({ ...work(sample), timeNs: sample.cpuNs })));
  const gpu = fitCosts(samples.map((sample) => {
    const { gpuUpdates, steps, gpuCells, bytes } = work(sample);
    return { work: [gpuUpdates, steps, gpuCells, 2 * bytes], time: sample.gpuNs };
  }));
  const copies = (part: "unpackNs" | "packNs"): CostFit =>
    fitCosts(together.map((sample) => ({
      work: [work(sample).bytes, 1],
      time: sample.together[part],
    })));
  const unpack = copies("unpackNs"), pack = copies("packNs");
  const [updateNs, stepNs, passNs, byteNs] = gpu.coefficients;
  const line = ({ coefficients: [a, b] }: CostFit) => ({ a, b });
  const parts = {
    cpu: cpu.costs,
    gpu: { updateNs, stepNs, passNs, byteNs },
    unpack: line(unpack),
    pack: line(pack),
  };
  const batches = together.map((sample) => batchOf(shared, sample, parts));
  const schedule = fitSchedule(batches, waits);
  return {
    costs: { ...parts, schedule },
    residuals: {
      cpu: cpu.residuals,
      gpu: gpu.residuals,
      unpack: unpack.residuals,
      pack: pack.residuals,
      together: wallResiduals(batches, schedule),
    },
  };
}

/** The median of the absolute values; 0 of none. */
export function medianError(residuals: readonly number[]): number {
  return residuals.length === 0 ? 0 : median(residuals.map(Math.abs));
}

type Together = SharedSample & { readonly together: TogetherSample };

/** A round of the CPU: its work and its time. */
interface CpuRound {
  readonly steps: number;
  readonly cpuUpdates: number;
  readonly cpuCells: number;
  readonly timeNs: number;
}

/**
 * Eq. 2's line, and a cache that keeps some of the cells where the samples show one: a larger share then takes longer
 * a cell, which no line with b >= 0 can say. Its size is one of the measured ones.
 */
function fitCpu(rounds: readonly CpuRound[]): { costs: CpuCosts; residuals: readonly number[] } {
  const fitWith = (cachedCells: number) => {
    const fit = fitCosts(rounds.map(({ cpuUpdates, steps, cpuCells, timeNs }): CostSample => ({
      work: [cpuUpdates, steps, cachedCells === 0 ? 0 : cpuUpdates * missedPart(cpuCells, cachedCells)],
      time: timeNs,
    })));
    const [updateNs, stepNs, missNs] = fit.coefficients;
    const squares = fit.residuals.reduce((sum, residual) => sum + residual ** 2, 0);
    return { costs: { updateNs, stepNs, missNs, cachedCells }, residuals: fit.residuals, squares };
  };
  const plain = fitWith(0);
  if (rounds.length < 4) return plain; // as many coefficients as samples would explain anything
  const cached = rounds.map(({ cpuCells }) => fitWith(cpuCells)).filter(({ costs }) => costs.missNs > 0)
    .reduce((best, one) => one.squares < best.squares ? one : best, plain);
  return WORTH_A_CACHE * cached.squares < plain.squares ? cached : plain;
}

/** A measured batch, and what its rounds cost by the parts' fits. */
interface Batch {
  readonly rounds: readonly RoundCosts[];
  readonly wallNs: number;
}

function batchOf(
  shared: SharedGrid,
  sample: Together,
  parts: Omit<SharedCosts, "schedule">,
): Batch {
  const { rounds, wallNs } = sample.together;
  const round = roundCosts(roundWork(shared, sample), parts);
  return { rounds: new Array<RoundCosts>(rounds).fill(round), wallNs };
}

/** What is fitted to whole runs: the most that each can be, and where the search starts. */
const SEARCH = {
  submitNs: { most: 20e6 },
  contention: { most: 4, starts: [0, 1] },
  starvation: { most: 1, starts: [0, 1] },
} as const;
/** Rounds of the search, one coefficient after another. */
const ROUNDS = 6;

/**
 * What only whole runs tell: the triple with the smallest sum of squared relative residuals, from several starts,
 * one coefficient after another. Fewer runs tell fewer of them; the others stay 0.
 */
function fitSchedule(
  batches: readonly Batch[],
  waits: Pick<ScheduleCosts, "waitNs" | "timerNs">,
): ScheduleCosts {
  const error = (schedule: ScheduleCosts): number =>
    wallResiduals(batches, schedule).reduce((sum, residual) => sum + residual ** 2, 0);
  const names = (["submitNs", "contention", "starvation"] as const).slice(0, batches.length);
  const nothing: ScheduleCosts = { ...waits, submitNs: 0, contention: 0, starvation: 0 };
  let best = nothing;
  for (const contention of SEARCH.contention.starts) {
    for (const starvation of SEARCH.starvation.starts) {
      let schedule: ScheduleCosts = { ...nothing };
      if (names.includes("contention")) schedule = { ...schedule, contention };
      if (names.includes("starvation")) schedule = { ...schedule, starvation };
      for (let round = 0; round < ROUNDS; round++) {
        for (const name of names) {
          const value = minimise((value) => error({ ...schedule, [name]: value }), SEARCH[name].most);
          schedule = { ...schedule, [name]: value };
        }
      }
      if (error(schedule) < error(best)) best = schedule;
    }
  }
  return best;
}

function wallResiduals(batches: readonly Batch[], schedule: ScheduleCosts): number[] {
  return batches.map(({ rounds, wallNs }) => scheduleRounds(rounds, schedule).wallNs / wallNs - 1);
}

/** Where a function of 0…most is smallest: the best of a grid, then thirds around it. */
function minimise(f: (x: number) => number, most: number): number {
  const GRID = 24, THIRDS = 24;
  let best = 0, least = Infinity;
  for (let i = 0; i <= GRID; i++) {
    const x = most * (i / GRID) ** 2; // finer near 0
    const value = f(x);
    if (value < least) [best, least] = [x, value];
  }
  const at = Math.round(GRID * Math.sqrt(best / most));
  let low = most * (Math.max(0, at - 1) / GRID) ** 2, high = most * (Math.min(GRID, at + 1) / GRID) ** 2;
  for (let i = 0; i < THIRDS; i++) {
    const a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (f(a) <= f(b)) high = b;
    else low = a;
  }
  const refined = (low + high) / 2;
  return f(refined) <= least ? refined : best;
}
