import { DEVICE_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { median, medianInterval95 } from "./statistics.ts";

/** By how much of its median samples may still vary when they count as stable. */
const TOLERANCE = 0.03;

/** When to end; all times are in nanoseconds. */
export interface SamplingLimits {
  /** Samples that there are already. @default {[]} */
  readonly taken?: readonly number[];
  /** Samples at least, budget permitting, and at most. */
  readonly minSamples: number;
  readonly maxSamples: number;
  /** Time for all but those. There is always one; another that would probably end too late is not. */
  readonly budgetNs: number;
  /** A time that is significantly longer than this (its 95% interval lies above) is not worth more samples. */
  readonly hopelessNs: number;
  /** The clock. */
  readonly now: () => number;
}

/**
 * Repeats a measurement until its median is stable or clearly too long, or samples or time run out. The first one can be
 * 40% off either way (measured 2026-11-21), so one is never enough, and a steady kernel should not pay for twenty.
 *
 * @param sample runs once and says how long it took, in nanoseconds; what it throws is passed on. It learns whether
 *   another will follow for certain
 * @returns nanoseconds of each repetition, in order
 * @throws {RangeError} if a sample is no finite time above 0
 */
export async function sampleUntilStable(
  sample: (isFollowed: boolean) => Promise<number>,
  { minSamples, maxSamples, budgetNs, hopelessNs, taken = [], now }: SamplingLimits,
): Promise<readonly number[]> {
  const start = now();
  const samplesNs = [...taken];
  const least = Math.min(Math.max(2, minSamples), maxSamples);
  for (let count = 0; samplesNs.length < maxSamples; count++) {
    const isEnough = samplesNs.length >= least;
    if (isEnough && (isStable(samplesNs) || medianInterval95(samplesNs)[0] > hopelessNs)) break;
    const spentNs = now() - start, nextNs = count > 0 ? spentNs / count : taken[0] ?? 0;
    if (samplesNs.length > 0 && spentNs + nextNs > budgetNs) break;
    const isLast = samplesNs.length + 1 >= least || spentNs + 2 * nextNs > budgetNs;
    const timeNs = await sample(!isLast);
    if (!(timeNs > 0 && Number.isFinite(timeNs))) {
      throw new RangeError(`Cannot use a sample: wanted a time above 0 ns: current value is ${timeNs}`);
    }
    samplesNs.push(timeNs);
  }
  return samplesNs;
}

/**
 * Whether the last sample moved the median by less than the tolerance, and the 95% interval reaches no further than the
 * tolerance to either side of it on average.
 */
function isStable(samplesNs: readonly number[]): boolean {
  const now = median(samplesNs);
  const before = median(samplesNs.slice(0, -1));
  const [low, high] = medianInterval95(samplesNs);
  return Math.abs(now - before) < TOLERANCE * now && high - low <= 2 * TOLERANCE * now;
}

/** Runs of a batch at most. */
const MAX_REPETITIONS = 10_000;

/** How many runs make a batch long enough to time, given the estimated time of one; 0 or NaN if it is unknown. */
export function repetitionsFor(timeNs: number, { minBatchNs = DEVICE_BATCH_NS } = {}): number {
  if (!(timeNs > 0)) return MAX_REPETITIONS;
  return Math.min(Math.max(Math.ceil(minBatchNs / timeNs), 1), MAX_REPETITIONS);
}

/** Whether a batch is long enough: the shortest one but for a tenth, by which runs vary. */
export function isLongEnough(batchNs: number, minBatchNs: number): boolean {
  return batchNs >= 0.9 * minBatchNs;
}
