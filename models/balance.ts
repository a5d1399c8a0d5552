import type { Problem } from "../kernels/stencils/stencil.ts";
import { thinnestPart } from "./rank_part.ts";
import { fitShared, predictCurve, type SharedIteration } from "./shared_fit.ts";

/** What follows from the measurements with an R. */
export interface NextShare {
  /** The CPU's slices to measure next; undefined at the end. */
  readonly cpuSlices?: number;
  /** Why there is none, in one line. */
  readonly end?: string;
  /** Whether it ended at a balance, or because no better share exists. */
  readonly isSettled: boolean;
}

/** Measurements with an R at most. */
export const ITERATIONS = 5;

/** Times agree when they differ by at most this fraction of the longer one. */
const TOLERANCE = 0.05;

/**
 * How many slices the CPU computes next, until both devices take equally long: the heterogeneous balance of Liu and
 * Perumalla (B2R), §3.5. From the times T that N slices took on each device, Eq. 8 finds the shares x that will take
 * equally long:
 *
 *     (T_C / N_C) x_C = (T_G / N_G) x_G,    x_C + x_G = N
 *
 * Eq. 8 assumes times proportional to the slices. A real device also has constant costs (a dispatch, a barrier), and
 * then Eq. 8 approaches the balance in small steps. So the cost model takes its place: with one measurement it is the
 * same, ghost zones included; with two it is a straight line through both. And since more slices always take longer, each
 * measurement bounds the balance from one side.
 *
 * @param iterations at least one, all with the same R; both devices had slices
 */
export function nextShare(problem: Problem, iterations: readonly SharedIteration[]): NextShare {
  const { exchangeEvery, cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs } = iterations.at(-1)!;
  const difference = Math.abs(cpuTimeNs - gpuTimeNs) / Math.max(cpuTimeNs, gpuTimeNs);
  const settled = (end: string): NextShare => ({ end, isSettled: true });
  if (difference <= TOLERANCE) return settled(`times agree within ${(100 * difference).toFixed(1)}%`);
  const { costs } = fitShared(problem, iterations.slice(-2)),
    [even] = predictCurve(problem, costs, [exchangeEvery]);
  const isAbove = (one: SharedIteration): boolean => one.cpuTimeNs > one.gpuTimeNs;
  const slicesOf = (which: boolean) =>
    iterations.filter((one) => isAbove(one) === which).map((one) => one.cpuSlices);
  const low = Math.max(0, ...slicesOf(false)), high = Math.min(cpuSlices + gpuSlices, ...slicesOf(true));
  const next = Math.min(Math.max(even!.cpuSlices, low + 1), high - 1),
    thinnest = thinnestPart(problem, exchangeEvery);
  if (next <= low || Math.min(next, cpuSlices + gpuSlices - next) < thinnest) {
    const [slower, slices] = isAbove(iterations.at(-1)!) ? ["CPU", cpuSlices] : ["GPU", gpuSlices];
    const tooSlow = `the ${slower} is too slow for ${slices} of ${cpuSlices + gpuSlices} slices`;
    return settled(slices === thinnest ? tooSlow : "no other share is better");
  }
  if (iterations.length < ITERATIONS) return { cpuSlices: next, isSettled: false };
  const percent = (100 * difference).toFixed(0);
  return { end: `times still differ by ${percent}% after ${ITERATIONS} iterations`, isSettled: false };
}
