/**
 * R, the number of steps between two exchanges: few exchanges cost ghost cells, many cost waiting. After B2R,
 * Eq. 2, 3 and 7, for two devices that share the slices of one axis: the CPU computes on average (R−1)/2·S ghost
 * slices a step and side, the GPU all R·S, and every exchange costs a fixed time.
 *
 * @module
 */

/** What {@linkcode exchangePeriods} goes by. */
export interface ExchangeInput {
  /** Slices of the grid. */
  readonly slices: number;
  /** S: slices that one step makes invalid at an interface. */
  readonly reach: number;
  /** Interfaces of the shares: 1, on a periodic grid 2. */
  readonly interfaces: 1 | 2;
  /** Steps of a run: no round is longer. */
  readonly steps: number;
  /** Time that each device takes for one slice and step. */
  readonly cpuSliceNs: number;
  readonly gpuSliceNs: number;
  /** Fixed time of an exchange. */
  readonly exchangeNs: number;
}

/**
 * Predicted time of one step when both shares are as long as balance and ghost zones allow; infinite where two
 * shares do not fit.
 */
export function sharedStepNs(exchangeEvery: number, input: ExchangeInput): number {
  const { slices, reach, interfaces, cpuSliceNs, gpuSliceNs, exchangeNs } = input;
  const ghost = exchangeEvery * reach;
  if (2 * ghost > slices) return Infinity;
  const cpuGhosts = interfaces * reach * (exchangeEvery - 1) / 2, gpuGhosts = interfaces * ghost;
  const cpuNs = (own: number): number => cpuSliceNs * (own + cpuGhosts);
  const gpuNs = (own: number): number => gpuSliceNs * (own + gpuGhosts);
  // where both take equally long, or as near to it as the ghost zones' width lets the shares come
  const balanced = (gpuNs(slices) - cpuNs(0)) / (cpuSliceNs + gpuSliceNs);
  const cpuSlices = Math.min(Math.max(balanced, ghost), slices - ghost);
  return Math.max(cpuNs(cpuSlices), gpuNs(slices - cpuSlices)) + exchangeNs / exchangeEvery;
}

/**
 * The powers of two worth trying for R, the best predicted first; those predicted to take over half as long again
 * are left out.
 *
 * @param input the grid and the devices
 * @param most how many at most
 * @returns none where two shares do not fit even with R = 1
 *
 * @example
 * ```ts
 * import { exchangePeriods } from "./exchange_period.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const devices = { cpuSliceNs: 100e3, gpuSliceNs: 10e3, exchangeNs: 10e6 };
 * const input = { slices: 400, reach: 1, interfaces: 1, steps: 96, ...devices } as const;
 * assertEquals(exchangePeriods(input, 2), [16, 8]);
 * ```
 */
export function exchangePeriods(input: ExchangeInput, most: number): number[] {
  const periods: { period: number; timeNs: number }[] = [];
  for (let period = 1; period <= input.steps; period *= 2) {
    const timeNs = sharedStepNs(period, input);
    if (Number.isFinite(timeNs)) periods.push({ period, timeNs });
  }
  periods.sort((a, b) => a.timeNs - b.timeNs);
  return periods.filter(({ timeNs }) => timeNs <= 1.5 * periods[0].timeNs).slice(0, most)
    .map(({ period }) => period);
}
