/**
 * The search for R and the shares: for R = 1, 2, 4, … 32 Eq. 8 moves slices until both devices take equally long. By
 * Eq. 7 the time of a step first falls and then rises with R, so the search ends where it clearly rises. The cost
 * model is fitted to what it measures.
 *
 * @module
 */
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { type BalanceIteration, fastestShare, type NextShare, nextShare } from "../../models/balance.ts";
import type { SharedSample } from "../../models/shared_fit.ts";
import {
  fits,
  LONGEST_PERIOD,
  sharedGridOf,
  type SharePoint,
  thinnestShare,
} from "../../models/shared_step.ts";
import type { Configuration, Failure } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import { isOver, ROUNDS, shareConfiguration, type SharingOptions, timeShare } from "./shared_run.ts";

/** R that are tried. */
const PERIODS: readonly number[] = [1, 2, 4, 8, 16, LONGEST_PERIOD];
/** Measurements at most: with the first and the best R, and with the others, which start from a balanced share. */
const ITERATIONS = 5, FEW_ITERATIONS = 2;
/** The search ends where a step takes so many times as long as the fastest, or after so many R without a share. */
const RISEN = 1.2, ZEROS = 2;
/** Part of the time left that the search may take; the rest is for verified measurements. */
const SEARCH_PART = 0.5;

/** One step of the Eq. 8 iteration; times are those of a round of R steps. */
export interface SharedIteration extends BalanceIteration {
  readonly exchangeEvery: number;
}

/** What Eq. 8 came to with one R. */
export interface BalancedPeriod extends SharePoint {
  readonly iterations: readonly SharedIteration[];
  /** Times of the iterations in which both devices had slices. */
  readonly samples: readonly SharedSample[];
  readonly isSettled: boolean;
  readonly message: string;
  /** Time of one step with the balanced share; infinite where one device has no slices. */
  readonly stepNs: number;
  /** The share that failed, and why. */
  readonly failed?: { readonly configuration: Configuration; readonly failure: Failure };
}

/** R to try; those whose ghost zones do not fit are left out. */
export function periodsFor({ problem }: SharingOptions, given?: readonly number[]): readonly number[] {
  const shared = sharedGridOf(problem);
  return given === undefined
    ? PERIODS.filter((period) => fits(shared, period))
    : given.filter((period) => 2 * thinnestShare(shared, period) <= problem.grid[0]);
}

/** Measurements that a search over these R takes at most. */
export function mostIterations(periods: readonly number[]): number {
  return 2 * ITERATIONS + FEW_ITERATIONS * (periods.length - 1);
}

/** Balances one R after another, then the fastest to the end. */
export async function searchPeriods(
  options: SharingOptions,
  periods: readonly number[],
  { onIteration = () => {}, isComplete = false }: {
    /** Called before each measurement. */
    readonly onIteration?: () => void;
    /** Whether to measure every R, also those that cannot be the fastest. */
    readonly isComplete?: boolean;
  } = {},
): Promise<BalancedPeriod[]> {
  const { problem: { grid: [slices] }, now, deadlineNs = Infinity } = options;
  const untilNs = now() + SEARCH_PART * (deadlineNs - now());
  const isFixed = options.startShare === 0 || options.startShare === 1;
  const tried: BalancedPeriod[] = [];
  for (const exchangeEvery of periods) {
    const last = tried.at(-1);
    if (last !== undefined && (last.failed !== undefined || isOver(options) || isFixed)) break;
    if (last !== undefined && !isComplete && endsBefore(exchangeEvery, options, tried, untilNs)) break;
    // a device that got no slices starts with the fewest
    const startShare = last === undefined
      ? options.startShare
      : Math.min(Math.max(last.cpuSlices, 0.5), slices - 0.5) / slices;
    const maxIterations = last === undefined ? ITERATIONS : FEW_ITERATIONS;
    const before = { exchangeEvery, iterations: [], samples: [] };
    tried.push(await balancePeriod(options, before, { startShare, maxIterations, onIteration }));
  }
  const best = fastestPeriod(tried);
  if (best === undefined || best.isSettled || best.failed !== undefined || isOver(options)) return tried;
  const settled = await balancePeriod(options, best, { maxIterations: ITERATIONS, onIteration });
  return tried.map((one) => one === best ? settled : one);
}

/** The R with the fastest step; undefined if none has shares for both devices. */
export function fastestPeriod(tried: readonly BalancedPeriod[]): BalancedPeriod | undefined {
  const [best] = tried.filter(({ stepNs }) => stepNs < Infinity).toSorted((a, b) => a.stepNs - b.stepNs);
  return best;
}

/** Whether the search ends before this R. */
function endsBefore(
  exchangeEvery: number,
  options: SharingOptions,
  tried: readonly BalancedPeriod[],
  untilNs: number,
): boolean {
  const { now } = options;
  const last = tried.at(-1)!;
  const roundNs = Math.max(0, ...last.samples.map((sample) => sample.roundNs));
  // two batches, of rounds that may be longer in proportion to R
  if (now() + 2 * ROUNDS * roundNs * exchangeEvery / last.exchangeEvery >= untilNs) return true;
  if (tried.length >= ZEROS && tried.slice(-ZEROS).every(({ stepNs }) => stepNs === Infinity)) return true;
  return last.stepNs > RISEN * (fastestPeriod(tried)?.stepNs ?? Infinity) || cannotWin(options, tried);
}

/** Whether the host's wait alone makes a step slower than on the faster device alone, even with the largest R. */
function cannotWin({ problem, alone }: SharingOptions, tried: readonly BalancedPeriod[]): boolean {
  if (alone === undefined) return false;
  const waitsNs = tried.flatMap(({ samples }) => samples).map((
    { roundNs, computeNs, unpackNs, packNs, gpuNs },
  ) => roundNs - Math.max(computeNs + unpackNs + packNs, gpuNs));
  return waitsNs.length > 0 && Math.min(...waitsNs) / LONGEST_PERIOD > cellsOf(problem.grid) / alone * 1e9;
}

/** Time is up, or the run was interrupted. */
const OVER = "no time left to balance";

/** Iterates Eq. 8 with one R, from what was measured before; a failure ends it with the fastest share so far. */
async function balancePeriod(
  options: SharingOptions,
  before: Pick<BalancedPeriod, "exchangeEvery" | "iterations" | "samples">,
  { startShare, maxIterations, onIteration }: {
    startShare?: number | undefined;
    maxIterations: number;
    onIteration: () => void;
  },
): Promise<BalancedPeriod> {
  const { problem } = options;
  const { exchangeEvery } = before;
  const shared = sharedGridOf(problem);
  const [slices] = problem.grid;
  const iterations = [...before.iterations], samples = [...before.samples];
  const end = (cpuSlices: number, message: string, isSettled = false): BalancedPeriod => {
    const sample = samples.findLast((one) => one.cpuSlices === cpuSlices);
    const stepNs = sample === undefined ? Infinity : stepOf(sample, problem.steps);
    return { exchangeEvery, cpuSlices, iterations, samples, isSettled, message, stepNs };
  };
  const limits = {
    slices,
    ghost: exchangeEvery * shared.reach,
    maxIterations,
    ...(startShare === undefined ? {} : { startShare }),
  };
  let next: NextShare = nextShare(iterations, limits);
  while (next.end === undefined) {
    const fallback = fastestShare(iterations)?.cpuSlices ?? 0;
    if (isOver(options)) return end(fallback, OVER);
    onIteration();
    const { cpuSlices } = next;
    const configuration = shareConfiguration(options, { exchangeEvery, cpuSlices });
    try {
      const times = await timeShare(options, configuration);
      const { cpuNs: cpuTimeNs, gpuNs: gpuTimeNs, ...sample } = times;
      const gpuSlices = slices - cpuSlices;
      iterations.push({ exchangeEvery, cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs });
      if (cpuSlices > 0 && gpuSlices > 0) {
        samples.push({ exchangeEvery, cpuSlices, ...sample, gpuNs: gpuTimeNs });
      }
    } catch (error) {
      if (!isFailure(error)) throw error;
      const { reason, message } = error;
      const failed = { configuration, failure: { reason, message } };
      return { ...end(fallback, `the balance failed: ${reason}: ${message}`), failed };
    }
    next = nextShare(iterations, limits);
  }
  return end(next.cpuSlices, next.end, next.isSettled);
}

/** Time of one step of a run; its last round, where it is shorter, counts as a whole one. */
function stepOf({ exchangeEvery, roundNs }: SharedSample, steps: number): number {
  return roundNs * Math.ceil(steps / exchangeEvery) / steps;
}
