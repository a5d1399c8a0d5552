/**
 * The cost model of a grid that the CPU and the GPU share: the coefficients of `round.ts` for these two parts, fitted to
 * what a search over R measured.
 *
 * @module
 */
import { median } from "npm:simple-statistics@7.12.1";
import type { Problem } from "../kernels/stencils/stencil.ts";
import { type CostFit, fitCosts } from "./least_squares.ts";
import { planAlongX, type RankPlan } from "./rank_part.ts";
import { bestPlan, LONGEST_PERIOD, type PartCosts, type PartWork, predictRound, workOf } from "./round.ts";

/** Time as a straight line over the work: y = a·x + b (Eq. 1; for messages and copies Eq. 4). */
export interface LinearCost {
  /** Time of one unit of work; of a message, the inverse of the bandwidth. */
  readonly a: number;
  /** Time besides; of a message, the latency. */
  readonly b: number;
}

/** One step of the Eq. 8 balance: slices, and the time that each device took for them; 0 for a device without slices. */
export interface BalanceIteration {
  /** Slices of the CPU. */
  readonly cpuSlices: number;
  /** Slices of the GPU. */
  readonly gpuSlices: number;
  /** Nanoseconds that the CPU took. */
  readonly cpuTimeNs: number;
  /** Nanoseconds that the GPU took for the same steps. */
  readonly gpuTimeNs: number;
}

/** R and the CPU's slices. */
export interface SharePoint {
  readonly exchangeEvery: number;
  readonly cpuSlices: number;
}

/** Fitted coefficients, as they are recorded. */
export interface SharedCosts {
  /** Eq. 2: time of a cell update, and of a step (the workers' barrier). */
  readonly cpu: Readonly<Record<"updateNs" | "stepNs", number>>;
  /** Eq. 3: time of a cell update, of a step (its dispatches), of a pass over a cell a round, of a copied byte. */
  readonly gpu: Readonly<Record<"updateNs" | "stepNs" | "passNs" | "byteNs", number>>;
  /** Eq. 4: the host's copies of the GPU's slices; work in bytes. */
  readonly unpack: LinearCost;
  /** The same of the CPU's slices. */
  readonly pack: LinearCost;
  /** The host's wait in every round, and the part of the CPU's round that does not hide behind it. */
  readonly schedule: Readonly<Record<"waitNs" | "starvation", number>>;
}

/** The grid in two parts along x: the CPU's and the GPU's. */
export function planOfPair(problem: Problem, { exchangeEvery, cpuSlices }: SharePoint): RankPlan {
  return planAlongX(problem, [cpuSlices, problem.grid[0] - cpuSlices], exchangeEvery);
}

/** The costs of these two parts; the host's copies are the CPU's. */
export function partCosts(
  { cpu, gpu, unpack, pack, schedule }: SharedCosts,
): readonly [PartCosts, PartCosts] {
  const of = (ns: number) => ({ updates: [{ steps: 1, ns }], shapes: {} });
  const copies = [unpack.b + pack.b, unpack.a + pack.a, 0] as const;
  return [
    { ...of(cpu.updateNs), shrinks: true, stepNs: cpu.stepNs, exchange: copies, wait: schedule },
    // to the host and back
    {
      ...of(gpu.updateNs),
      shrinks: false,
      stepNs: gpu.stepNs,
      passNs: gpu.passNs,
      exchange: [0, 2 * gpu.byteNs, 0],
    },
  ];
}

export interface PredictedPoint extends SharePoint {
  readonly predictedNs: number;
}

/** The predicted time of a step over R at balanced shares; R whose ghost zones do not fit, or no run has, are left out. */
export function predictCurve(
  problem: Problem,
  costs: SharedCosts,
  periods: readonly number[] = Array.from({ length: LONGEST_PERIOD }, (_, i) => i + 1),
): PredictedPoint[] {
  return periods.filter((period) => period <= problem.steps).flatMap((exchangeEvery) => {
    const best = bestPlan(problem, 2, partCosts(costs), { parts: [2, 1, 1], exchangeEvery, alike: 0 });
    return best === undefined
      ? []
      : { exchangeEvery, cpuSlices: best.plan.extents[0]!.size[0], predictedNs: best.stepNs };
  });
}

/** What one R and share took, as a step of the Eq. 8 iteration; all times are of a round of R steps. */
export interface SharedIteration extends BalanceIteration {
  readonly exchangeEvery: number;
  /** The host's copies, which are in the CPU's time: the GPU's slices to the CPU's memory, and back. */
  readonly unpackNs: number;
  readonly packNs: number;
  /** Until both were done, the exchange and the host's waits included. */
  readonly roundNs: number;
}

export interface SharedFit {
  readonly costs: SharedCosts;
  /** (predicted − measured) / measured of each part, and `together` of whole rounds, one a sample. */
  readonly residuals: Readonly<Record<"cpu" | "gpu" | "unpack" | "pack" | "together", readonly number[]>>;
}

/** Starvation is a multiple of 1 / GRID, from 0 to 1. */
const GRID = 20;

/**
 * Fits all coefficients to the points that a search over R measured: Eq. 1's and Eq. 4's a and b of
 * each part by least squares, then the host's wait, which only whole rounds show.
 *
 * @param samples at least one; both devices had slices
 * @throws {RangeError} if there is none, or a time is not above 0
 */
export function fitShared(problem: Problem, samples: readonly SharedIteration[]): SharedFit {
  const plans = samples.map((sample) => planOfPair(problem, sample));
  const fit = (
    number: 0 | 1,
    kinds: (work: PartWork) => number[],
    timeNs: (sample: SharedIteration) => number,
  ): CostFit =>
    fitCosts(samples.map((sample, i) => {
      const work = workOf(problem, plans[i]!, { number, shrinks: number === 0 });
      return { work: kinds(work), time: timeNs(sample) };
    }));
  const cpu = fit(
    0,
    ({ updates, steps }) => [updates, steps],
    (times) => times.cpuTimeNs - times.unpackNs - times.packNs,
  );
  const kindsOnGpu = (
    { updates, steps, cells, exchange: [, bytes] }: PartWork,
  ) => [updates, steps, cells, 2 * bytes];
  const gpu = fit(1, kindsOnGpu, ({ gpuTimeNs }) => gpuTimeNs);
  const unpack = fit(1, ({ exchange: [, bytes] }) => [bytes, 1], ({ unpackNs }) => unpackNs);
  const pack = fit(0, ({ exchange: [, bytes] }) => [bytes, 1], ({ packNs }) => packNs);
  const [cpuUpdateNs = 0, cpuStepNs = 0] = cpu.coefficients;
  const [updateNs = 0, stepNs = 0, passNs = 0, byteNs = 0] = gpu.coefficients;
  const line = ({ coefficients: [a = 0, b = 0] }: CostFit) => ({ a, b });
  const parts: SharedCosts = {
    cpu: { updateNs: cpuUpdateNs, stepNs: cpuStepNs },
    gpu: { updateNs, stepNs, passNs, byteNs },
    unpack: line(unpack),
    pack: line(pack),
    schedule: { waitNs: 0, starvation: 0 },
  };
  const rounds = samples.map((sample, i) => {
    const [cpuNs, gpuNs] = predictRound(problem, plans[i]!, partCosts(parts)).map((part) => part.roundNs);
    return { cpuNs: cpuNs!, gpuNs: gpuNs!, measuredNs: sample.roundNs };
  });
  const { waitNs, starvation, residuals: together } = fitWait(rounds);
  const residuals = {
    cpu: cpu.residuals,
    gpu: gpu.residuals,
    unpack: unpack.residuals,
    pack: pack.residuals,
  };
  return { costs: { ...parts, schedule: { waitNs, starvation } }, residuals: { ...residuals, together } };
}

/** The median of the absolute values; 0 of none. */
export function medianError(residuals: readonly number[]): number {
  return residuals.length === 0 ? 0 : median(residuals.map(Math.abs));
}

/**
 * The wait and the starvation with the smallest squared relative residuals. Each wait that is tried explains one of
 * the rounds exactly.
 */
function fitWait(
  rounds: readonly { readonly cpuNs: number; readonly gpuNs: number; readonly measuredNs: number }[],
): { waitNs: number; starvation: number; residuals: readonly number[] } {
  const tries = Array.from({ length: GRID + 1 }, (_, i) => i / GRID).flatMap((starvation) =>
    rounds.map(({ cpuNs, measuredNs }) => {
      const waitNs = Math.max(0, measuredNs - starvation * cpuNs);
      const residuals = rounds.map((round) =>
        Math.max(round.cpuNs, round.gpuNs, waitNs + starvation * round.cpuNs) / round.measuredNs - 1
      );
      return { waitNs, starvation, residuals, error: residuals.reduce((sum, r) => sum + r ** 2, 0) };
    })
  );
  return tries.reduce((best, fit) => fit.error < best.error ? fit : best);
}
