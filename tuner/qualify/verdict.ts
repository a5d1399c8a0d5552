/** A rate with its 95% interval, in cells per second. */
export interface Rate {
  /** The median. */
  readonly cellsPerSecond: number;
  /** 95% interval of the median; null where too few samples were taken for one. */
  readonly confidence95: readonly [low: number, high: number] | null;
}

/** What became of a rate. */
export type RateVerdict = "pass" | "slower" | "faster";

/**
 * The farthest that an end of an interval counts from its median, as a factor. An interval of very few samples says
 * nothing (of two, Student's reaches some nine standard deviations far), and against it no device could ever be too
 * slow. With this and a tolerance of 10%, a device at less than 40% of the recorded rate is always slower.
 */
export const WIDEST = 1.5;

/**
 * Compares intervals, not points: a run is **slower** only where all of its 95% interval lies below the recorded one's
 * lower end less the tolerance, and **faster** only where all of it lies above the upper end plus the tolerance. Between
 * them the difference is no larger than what is tolerated, or than what the noise explains.
 *
 * @param tolerance fraction that a rate may differ from the recorded interval, from 0 to below 1
 * @throws {RangeError} for another tolerance
 */
export function judgeRate(recorded: Rate, measured: Rate, tolerance: number): RateVerdict {
  checkTolerance(tolerance);
  const [low, high] = judgedInterval(measured);
  if (high < leastRate(recorded, tolerance)) return "slower";
  return low > judgedInterval(recorded)[1] * (1 + tolerance) ? "faster" : "pass";
}

/** The lowest rate that still passes. */
export function leastRate(recorded: Rate, tolerance: number): number {
  return judgedInterval(recorded)[0] * (1 - tolerance);
}

/** A rate's interval as far as it counts. */
export function judgedInterval({ cellsPerSecond, confidence95 }: Rate): [number, number] {
  const [low, high] = confidence95 ?? [0, Infinity];
  return [Math.max(low, cellsPerSecond / WIDEST), Math.min(high, cellsPerSecond * WIDEST)];
}

export function checkTolerance(tolerance: number): void {
  if (tolerance >= 0 && tolerance < 1) return;
  throw new RangeError(`Cannot qualify: tolerance must be from 0 to below 1: current value is ${tolerance}`);
}
