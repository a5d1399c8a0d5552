/**
 * How often to repeat a measurement, and how long one repetition must be. The first repetition can be 40% off either
 * way (measured 2026-11-21), so one sample is never enough, and a steady kernel should not pay for twenty.
 *
 * @module
 */
import { DEVICE_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { median, medianInterval95 } from "./statistics.ts";

/** Options of {@linkcode sampleUntilStable}. */
export interface SamplingOptions {
  /** Samples at least, budget permitting. @default {3} */
  minSamples?: number | undefined;
  /** Samples at most. @default {30} */
  maxSamples?: number;
  /**
   * Stable: the last sample moved the median by less than this fraction, and the 95% interval reaches no
   * further than this fraction to either side of it on average.
   * @default {0.03}
   */
  tolerance?: number;
  /**
   * Time for all samples, in nanoseconds. The first is always taken; one that would probably end too late is not.
   * @default {Infinity}
   */
  budgetNs?: number;
  /**
   * A time that is significantly longer than this (its 95% interval lies above) is not worth more samples.
   * @default {Infinity}
   */
  hopelessNs?: number;
  /** The clock, in nanoseconds. */
  now: () => number;
}

/** What {@linkcode sampleUntilStable} returns. */
export interface Sampling {
  /** Nanoseconds of each repetition, in order. */
  readonly samplesNs: readonly number[];
  /** Whether the median settled; if not, samples or time ran out, or it was too slow. */
  readonly stable: boolean;
}

/**
 * Repeats a measurement until its median is stable or clearly too long, or samples or time run out.
 *
 * @param sample runs once and says how long it took, in nanoseconds; what it throws is passed on
 * @param options when to stop
 * @throws {RangeError} if a sample is no finite time above 0
 */
export async function sampleUntilStable(
  sample: () => Promise<number>,
  options: SamplingOptions,
): Promise<Sampling> {
  const {
    minSamples = 3,
    maxSamples = 30,
    tolerance = 0.03,
    budgetNs = Infinity,
    hopelessNs = Infinity,
    now,
  } = options;
  const start = now();
  const samplesNs: number[] = [];
  while (true) {
    const timeNs = await sample();
    if (!(timeNs > 0 && Number.isFinite(timeNs))) {
      throw new RangeError(`Cannot use a sample: wanted a time above 0 ns: current value is ${timeNs}`);
    }
    samplesNs.push(timeNs);
    if (samplesNs.length >= Math.max(2, minSamples) && isStable(samplesNs, tolerance)) {
      return { samplesNs, stable: true };
    }
    if (samplesNs.length >= Math.max(2, minSamples) && medianInterval95(samplesNs)[0] > hopelessNs) {
      return { samplesNs, stable: false };
    }
    const spentNs = now() - start;
    const nextEndsNs = spentNs * (samplesNs.length + 1) / samplesNs.length;
    if (samplesNs.length >= maxSamples || nextEndsNs > budgetNs) return { samplesNs, stable: false };
  }
}

function isStable(samplesNs: readonly number[], tolerance: number): boolean {
  const now = median(samplesNs);
  const before = median(samplesNs.slice(0, -1));
  const [low, high] = medianInterval95(samplesNs);
  return Math.abs(now - before) < tolerance * now && high - low <= 2 * tolerance * now;
}

/** Options of {@linkcode repetitionsFor}. */
export interface RepetitionOptions {
  /** Shortest batch that the clock can time. @default {DEVICE_BATCH_NS} */
  minBatchNs?: number;
  /** Repetitions at most. @default {10000} */
  maxRepetitions?: number;
}

/**
 * How many runs make a batch long enough to time.
 *
 * @param timeNs estimated time of one run; 0 or NaN if unknown
 * @param options the shortest batch
 * @returns a whole number from 1 to the most
 */
export function repetitionsFor(timeNs: number, options: RepetitionOptions = {}): number {
  const { minBatchNs = DEVICE_BATCH_NS, maxRepetitions = 10_000 } = options;
  if (!(timeNs > 0)) return maxRepetitions;
  return Math.min(Math.max(Math.ceil(minBatchNs / timeNs), 1), maxRepetitions);
}

/** A batch this part of the shortest one is long enough: runs vary by more than that. */
const LONG_ENOUGH = 0.9;

/** Options of {@linkcode batchSampler}. */
export interface BatchOptions {
  /** Time of a first run. */
  firstNs: number;
  /** Shortest batch that the clock can time. */
  minBatchNs: number;
}

/**
 * Samples whole batches, each long enough to time. The first run alone cannot say how many runs that takes: it may
 * have compiled, and the host's clock adds its own 10 ms. A batch that turns out too short is not a sample, but gives a
 * better estimate.
 *
 * @param run runs so many times and returns the time of all, in nanoseconds
 * @param options the first guess and the shortest batch
 * @returns a function that takes one sample: nanoseconds of one run
 */
export function batchSampler(
  run: (repetitions: number) => Promise<number>,
  { firstNs, minBatchNs }: BatchOptions,
): () => Promise<number> {
  let repetitions = repetitionsFor(firstNs, { minBatchNs });
  return async () => {
    while (true) {
      const batchNs = await run(repetitions);
      const wanted = batchNs < LONG_ENOUGH * minBatchNs
        ? repetitionsFor(batchNs / repetitions, { minBatchNs })
        : repetitions;
      if (wanted <= repetitions) return batchNs / repetitions;
      repetitions = wanted;
    }
  };
}
