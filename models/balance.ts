/**
 * How many slices the CPU and the GPU each compute: the heterogeneous balance of Liu and Perumalla (B2R), §3.5. From
 * the times T that N slices took on each device, Eq. 8 finds the shares x that will take equally long:
 *
 *     (T_C / N_C) x_C = (T_G / N_G) x_G,    x_C + x_G = N
 *
 * Eq. 8 assumes times proportional to the slices. A real device also has constant costs (a dispatch, a barrier), and
 * then Eq. 8 approaches the balance in small steps. So once a device has been timed with two shares, a straight line
 * through both replaces the proportion. And since more slices always take longer, each measurement bounds the
 * balance from one side.
 *
 * @module
 */
import { evenSlices, type Line } from "./decomposition.ts";

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

export interface ShareLimits {
  readonly slices: number;
  /** Slices of a ghost zone, R times the reach of a step: a share is 0 or at least this wide. */
  readonly ghost: number;
  /** Fraction of the slices that the CPU computes at first. @default {0.1} */
  readonly startShare?: number;
  /** Measurements at most. @default {5} */
  readonly maxIterations?: number;
}

/** What follows from the measurements so far. */
export interface NextShare {
  /** The share to measure next, or at the end the share to use. */
  readonly cpuSlices: number;
  /** Why the iteration has ended, in one line; undefined while it goes on. */
  readonly end?: string;
  /** Whether it ended at a balance, or because no better share exists. */
  readonly isSettled: boolean;
}

/** Times agree when they differ by at most this fraction of the longer one. */
const TOLERANCE = 0.05;

/** A slope below this part of Eq. 8's is noise. */
const LEAST_SLOPE = 0.05;

/** The share to measure next after these iterations, until both devices take equally long. */
export function nextShare(iterations: readonly BalanceIteration[], options: ShareLimits): NextShare {
  const { slices, ghost, startShare = 0.1, maxIterations = 5 } = options;
  const thinnest = Math.max(1, ghost);
  const last = iterations.at(-1);
  if (last === undefined) {
    return { cpuSlices: startingSlices(startShare, slices, thinnest), isSettled: false };
  }
  const end = (message: string, cpuSlices = last.cpuSlices): NextShare => {
    return { cpuSlices, end: message, isSettled: true };
  };
  const endAtBest = (message: string): NextShare => {
    const best = fastest(iterations);
    return end(`${message}; computing took least with ${describe(best)}`, best.cpuSlices);
  };
  if (last.cpuSlices === 0 || last.gpuSlices === 0) {
    if (slices < 2 * thinnest) return end(`${slices} slices cannot hold two shares of at least ${thinnest}`);
    if (fastest(iterations) !== last) return endAtBest("one device alone is slower");
    const idle = last.cpuSlices === 0 ? "CPU" : "GPU";
    return iterations.length === 1
      ? end(`the ${idle} was given no slices to start with`)
      : end(`the ${idle} is too slow for ${thinnest} of ${slices} slices`);
  }
  const difference = Math.abs(last.cpuTimeNs - last.gpuTimeNs) / longer(last);
  if (difference <= TOLERANCE) return end(`times agree within ${(100 * difference).toFixed(1)}%`);
  if (iterations.length >= maxIterations) {
    const percent = (100 * difference).toFixed(0);
    const message = `times still differ by ${percent}% after ${maxIterations} iterations`;
    return { ...endAtBest(message), isSettled: false };
  }
  const next = propose(iterations, slices, thinnest);
  if (next === undefined || iterations.some(({ cpuSlices }) => cpuSlices === next)) {
    return endAtBest("no other share is better");
  }
  return { cpuSlices: next, isSettled: false };
}

/** The shared iteration whose slower device is done first, of equals the latest; undefined if there is none. */
export function fastestShare(iterations: readonly BalanceIteration[]): BalanceIteration | undefined {
  const shared = iterations.filter(({ cpuSlices, gpuSlices }) => cpuSlices > 0 && gpuSlices > 0);
  return shared.length === 0 ? undefined : fastest(shared);
}

/** CPU slices to try next; undefined if the measured bounds leave none. */
function propose(
  iterations: readonly BalanceIteration[],
  slices: number,
  thinnest: number,
): number | undefined {
  const cpu = lineThrough(iterations.map((run) => ({ slices: run.cpuSlices, timeNs: run.cpuTimeNs })));
  const gpu = lineThrough(iterations.map((run) => ({ slices: run.gpuSlices, timeNs: run.gpuTimeNs })));
  const exact = (gpu.offsetNs + gpu.nsPerSlice * slices - cpu.offsetNs) / (cpu.nsPerSlice + gpu.nsPerSlice);
  if (!(exact >= thinnest)) return 0;
  if (exact > slices - thinnest) return slices;
  const rounded = evenSlices(slices, [cpu, gpu], thinnest)[0]!;
  // the balance lies above the shares at which the CPU was done first, and below the others
  const isAbove = ({ cpuTimeNs, gpuTimeNs }: BalanceIteration): boolean => cpuTimeNs > gpuTimeNs;
  const low = Math.max(0, ...iterations.filter((run) => !isAbove(run)).map(({ cpuSlices }) => cpuSlices));
  const high = Math.min(slices, ...iterations.filter(isAbove).map(({ cpuSlices }) => cpuSlices));
  const inside = Math.min(Math.max(rounded, low + 1), high - 1);
  const possible = Math.min(Math.max(inside, thinnest), slices - thinnest);
  return possible > low && possible < high ? possible : undefined;
}

/** The line through the last two timings; Eq. 8's proportion where there is one, or the offset would be negative. */
function lineThrough(timings: readonly { readonly slices: number; readonly timeNs: number }[]): Line {
  const [last, before] = [timings.at(-1)!, timings.at(-2)];
  const average = last.timeNs / last.slices;
  if (before === undefined || before.slices === last.slices || before.slices === 0) {
    return { offsetNs: 0, nsPerSlice: average };
  }
  const slope = (last.timeNs - before.timeNs) / (last.slices - before.slices);
  const nsPerSlice = Math.min(Math.max(slope, LEAST_SLOPE * average), average);
  return { offsetNs: last.timeNs - nsPerSlice * last.slices, nsPerSlice };
}

function startingSlices(startShare: number, slices: number, thinnest: number): number {
  if (slices < 2 * thinnest) return startShare < 1 ? 0 : slices;
  if (startShare === 0 || startShare === 1) return startShare * slices;
  return Math.min(Math.max(Math.round(startShare * slices), thinnest), slices - thinnest);
}

function longer({ cpuTimeNs, gpuTimeNs }: BalanceIteration): number {
  return Math.max(cpuTimeNs, gpuTimeNs);
}

function fastest(iterations: readonly BalanceIteration[]): BalanceIteration {
  return iterations.reduce((best, iteration) => longer(iteration) <= longer(best) ? iteration : best);
}

function describe({ cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs }: BalanceIteration): string {
  const ms = (ns: number): string => (ns / 1e6).toPrecision(3);
  return `${cpuSlices} + ${gpuSlices} slices in ${ms(cpuTimeNs)} and ${ms(gpuTimeNs)} ms`;
}
