import { median } from "npm:simple-statistics@7.12.1";
import type { Problem } from "../kernels/stencils/stencil.ts";
import { type CostFit, fitCosts } from "./least_squares.ts";
import { roundTimes, type RoundWork, roundWork, type SharedCosts, type SharePoint } from "./shared_step.ts";

/** What one R and share took, both devices computing. Times of a round of R steps in nanoseconds, above 0. */
export interface SharedSample extends SharePoint {
  /** The CPU's workers. */
  readonly computeNs: number;
  /** The GPU's part, its copies included. */
  readonly gpuNs: number;
  /** The host's copies: the GPU's slices to the CPU's memory, and back. */
  readonly unpackNs: number;
  readonly packNs: number;
  /** The whole round, by the host's clock. */
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
 * Fits all coefficients of `shared_step.ts` to the points that a search over R measured: Eq. 1's and Eq. 4's a and b of
 * each part by least squares, then the host's wait, which only whole rounds show.
 *
 * @param samples at least one
 * @throws {RangeError} if there is none, or a time is not above 0
 */
export function fitShared(problem: Problem, samples: readonly SharedSample[]): SharedFit {
  const fit = (kinds: (work: RoundWork) => number[], timeNs: (sample: SharedSample) => number): CostFit =>
    fitCosts(samples.map((sample) => ({ work: kinds(roundWork(problem, sample)), time: timeNs(sample) })));
  const cpu = fit(({ cpuUpdates, steps }) => [cpuUpdates, steps], ({ computeNs }) => computeNs);
  const gpu = fit(
    ({ gpuUpdates, steps, gpuCells, bytes }) => [gpuUpdates, steps, gpuCells, 2 * bytes],
    ({ gpuNs }) => gpuNs,
  );
  const unpack = fit(({ bytes }) => [bytes, 1], ({ unpackNs }) => unpackNs);
  const pack = fit(({ bytes }) => [bytes, 1], ({ packNs }) => packNs);
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
  const rounds = samples.map((sample) => {
    return { ...roundTimes(roundWork(problem, sample), parts), measuredNs: sample.roundNs };
  });
  const { waitNs, starvation, residuals: together } = fitWait(rounds);
  return {
    costs: { ...parts, schedule: { waitNs, starvation } },
    residuals: {
      cpu: cpu.residuals,
      gpu: gpu.residuals,
      unpack: unpack.residuals,
      pack: pack.residuals,
      together,
    },
  };
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
