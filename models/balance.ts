/**
 * How many slices the CPU and the GPU each compute: the heterogeneous balance of Zheng et al. (B2R), §3.5.
 * Given the times T that N slices took on either device, Eq. 8 asks for shares x that will take equally long:
 *
 *     (T_C / N_C) x_C = (T_G / N_G) x_G,    x_C + x_G = N
 *
 * Eq. 8 takes the time to be proportional to the slices. A real device also has costs that no slice explains
 * (a dispatch, a poll tick, a barrier), and then Eq. 8 approaches the balance in small steps. So once a device
 * was timed with two different shares, the driver puts a straight line through both and intersects the lines;
 * and as the CPU's lead shrinks with every slice it gets, each measurement bounds the balance from one side.
 *
 * @module
 */
import {
  checkSlices,
  type DeviceTiming,
  intersect,
  type Line,
  proportional,
  shareOf,
  type SliceShare,
  unusable,
} from "./slice_share.ts";

/** One measured share. */
export interface BalanceIteration extends SliceShare {
  readonly cpuTimeNs: number;
  readonly gpuTimeNs: number;
}

/** Why a balance ended. */
export type BalanceReason =
  | "times agree"
  | "no slice moves"
  | "share is zero"
  | "too thin to share"
  | "iterations used up"
  | "unusable times";

/** Result of {@linkcode balance}. */
export interface Balance extends SliceShare {
  /** Every measurement, in order. */
  readonly iterations: readonly BalanceIteration[];
  /** False if the iterations ran out, or times could not be used. */
  readonly settled: boolean;
  readonly reason: BalanceReason;
  /** The reason in one line, with figures. */
  readonly message: string;
}

/** Options of {@linkcode balance}. */
export interface BalanceOptions {
  /** Slices of the grid. */
  slices: number;
  /** Slices of a ghost zone: R times the reach of a step. */
  ghost: number;
  /**
   * Fraction of the slices that the CPU computes at first.
   * @default {0.1}
   */
  startShare?: number;
  /**
   * Times agree when they differ by at most this fraction of the longer one.
   * @default {0.05}
   */
  tolerance?: number;
  /**
   * Measurements at most.
   * @default {5}
   */
  maxIterations?: number;
}

/** Runs both devices at once, each with its slices, and says how long each took. */
export type MeasureShare = (
  cpuSlices: number,
  gpuSlices: number,
) => Promise<{ cpuTimeNs: number; gpuTimeNs: number }>;

/**
 * Measures shares, starting from a given one, until both devices take equally long.
 *
 * @param options the grid's slices and what to settle for
 * @param measure called once an iteration, also for the share 0 if the search ends there
 * @returns the share to use, every iteration, and why it ended
 *
 * @example
 * ```ts
 * import { balance } from "./balance.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { cpuSlices, reason } = await balance(
 *   { slices: 100, ghost: 2 },
 *   (cpu, gpu) => Promise.resolve({ cpuTimeNs: 4000 * cpu, gpuTimeNs: 1000 * gpu }),
 * );
 * assertEquals([cpuSlices, reason], [20, "times agree"]);
 * ```
 */
export async function balance(options: BalanceOptions, measure: MeasureShare): Promise<Balance> {
  const { slices, ghost, startShare = 0.1, tolerance = 0.05, maxIterations = 5 } = options;
  checkSlices(slices, ghost);
  if (!(startShare >= 0 && startShare <= 1)) {
    throw new RangeError(`Cannot balance: startShare must be 0 to 1: current value is ${startShare}`);
  }
  const iterations: BalanceIteration[] = [];
  const end = (reason: BalanceReason, cpuSlices: number, message: string): Balance => ({
    ...shareOf(cpuSlices, slices),
    iterations,
    settled: reason !== "iterations used up" && reason !== "unusable times",
    reason,
    message,
  });
  const endAtBest = (reason: BalanceReason, message: string): Balance => {
    const best = fastest(iterations);
    return end(reason, best.cpuSlices, `${message}: best ${describe(best)}`);
  };

  const thinnest = Math.max(1, ghost);
  const tooThin = slices < 2 * thinnest;
  let cpuSlices = startingSlices(startShare, slices, thinnest);
  // the balance lies above `low` CPU slices, where the CPU was done first, and below `high`
  let low = 0, high = slices;
  while (iterations.length < maxIterations) {
    const times = await measure(cpuSlices, slices - cpuSlices);
    const current = { ...shareOf(cpuSlices, slices), ...times };
    const failure = unusable("CPU", cpuTiming(current)) ?? unusable("GPU", gpuTiming(current));
    if (failure !== undefined) {
      const fallback = iterations.length === 0 ? 0 : fastest(iterations).cpuSlices;
      return end("unusable times", fallback, failure);
    }
    iterations.push(zeroIdle(current));
    if (current.cpuSlices === 0 || current.gpuSlices === 0) {
      if (tooThin && startShare > 0 && startShare < 1) {
        return end(
          "too thin to share",
          cpuSlices,
          `${slices} slices can't hold two shares of at least ${thinnest}`,
        );
      }
      // measured beside a real share, an idle device must have been worth it
      if (fastest(iterations) !== iterations.at(-1)) {
        return endAtBest("no slice moves", "a share of zero is slower");
      }
      const idle = current.cpuSlices === 0 ? "CPU" : "GPU";
      if (iterations.length === 1) {
        return end("share is zero", cpuSlices, `the ${idle} was given no slices to start with`);
      }
      return end("share is zero", cpuSlices, `the ${idle} is too slow for ${thinnest} of ${slices} slices`);
    }
    const longer = Math.max(current.cpuTimeNs, current.gpuTimeNs);
    const difference = Math.abs(current.cpuTimeNs - current.gpuTimeNs) / longer;
    if (difference <= tolerance) {
      return end("times agree", cpuSlices, `times agree within ${(100 * difference).toFixed(1)}%`);
    }
    if (current.cpuTimeNs > current.gpuTimeNs) high = Math.min(high, cpuSlices);
    else low = Math.max(low, cpuSlices);
    const next = propose(iterations, { slices, thinnest, low, high });
    if (iterations.some((iteration) => iteration.cpuSlices === next)) {
      return endAtBest("no slice moves", "no other share is better");
    }
    cpuSlices = next;
  }
  return endAtBest("iterations used up", `times still differ after ${maxIterations} iterations`);
}

/** CPU slices to try next; those of an earlier iteration if there is nothing left to try. */
function propose(
  iterations: readonly BalanceIteration[],
  { slices, thinnest, low, high }: { slices: number; thinnest: number; low: number; high: number },
): number {
  const last = iterations[iterations.length - 1];
  const before = iterations.at(-2);
  const { cpuSlices } = intersect(
    lineThrough(cpuTiming(last), before && cpuTiming(before)),
    lineThrough(gpuTiming(last), before && gpuTiming(before)),
    { slices, ghost: thinnest },
  );
  if (cpuSlices === 0 || cpuSlices === slices) return cpuSlices;
  const widest = slices - thinnest;
  const inside = Math.min(Math.max(cpuSlices, low + 1), high - 1);
  const possible = Math.min(Math.max(inside, thinnest), widest);
  // the bounds have met, or noise has crossed them
  return possible > low && possible < high ? possible : last.cpuSlices;
}

/**
 * The line through two timings. A negative offset (a device slowed down by more slices, or noise) is left to
 * Eq. 8, and a slope under a twentieth of it is taken for noise.
 */
function lineThrough(last: DeviceTiming, before: DeviceTiming | undefined): Line {
  const average = last.timeNs / last.slices;
  if (before === undefined || before.slices === last.slices || before.slices === 0) return proportional(last);
  const slope = (last.timeNs - before.timeNs) / (last.slices - before.slices);
  const nsPerSlice = Math.min(Math.max(slope, 0.05 * average), average);
  return { offsetNs: last.timeNs - nsPerSlice * last.slices, nsPerSlice };
}

function startingSlices(startShare: number, slices: number, thinnest: number): number {
  if (slices < 2 * thinnest) return startShare < 1 ? 0 : slices;
  if (startShare === 0 || startShare === 1) return startShare * slices;
  return Math.min(Math.max(Math.round(startShare * slices), thinnest), slices - thinnest);
}

function cpuTiming({ cpuSlices, cpuTimeNs }: BalanceIteration): DeviceTiming {
  return { slices: cpuSlices, timeNs: cpuTimeNs };
}

function gpuTiming({ gpuSlices, gpuTimeNs }: BalanceIteration): DeviceTiming {
  return { slices: gpuSlices, timeNs: gpuTimeNs };
}

/** An idle device took no time, whatever the callback said. */
function zeroIdle(iteration: BalanceIteration): BalanceIteration {
  return {
    ...iteration,
    cpuTimeNs: iteration.cpuSlices === 0 ? 0 : iteration.cpuTimeNs,
    gpuTimeNs: iteration.gpuSlices === 0 ? 0 : iteration.gpuTimeNs,
  };
}

/** The iteration with the shortest time; of equals the latest. */
function fastest(iterations: readonly BalanceIteration[]): BalanceIteration {
  const time = (iteration: BalanceIteration): number => Math.max(iteration.cpuTimeNs, iteration.gpuTimeNs);
  return iterations.reduce((best, iteration) => time(iteration) <= time(best) ? iteration : best);
}

function describe({ cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs }: BalanceIteration): string {
  const ms = (ns: number): string => (ns / 1e6).toPrecision(3);
  return `${cpuSlices} + ${gpuSlices} slices in ${ms(cpuTimeNs)} and ${ms(gpuTimeNs)} ms`;
}
