import type { Runner } from "../configuration.ts";
import { isLongEnough, repetitionsFor } from "./sampling.ts";

/** Clocks this near count as the same, and times of a run. */
const NEAR = 0.02;
/** A clock or run time that has not changed for PATIENCE will not rise further; give up after LONGEST. */
const PATIENCE_NS = 300e6, LONGEST_NS = 1e9;

/** Whether a clock is the fastest that the device was seen at. */
export function isFull(clock: number): boolean {
  return clock >= 1 - NEAR;
}

/** Takes samples that count: batches long enough to time, at a clock that is up. */
export interface SteadySampler {
  /**
   * Takes the next sample that counts: nanoseconds of one run.
   *
   * @param isFollowed whether another will follow, which the device can begin; else what it began would be in vain
   */
  sample(isFollowed: boolean): Promise<number>;
  /** Waits for what the device has begun. */
  end(): Promise<void>;
  /** The lowest clock at which a sample was taken, as a part of the fastest that the device was seen at. */
  clock(): number;
}

/**
 * Keeps a device busy that lowers its clock while it waits: the next batch is handed over before the answer to the one
 * before is waited for. A batch counts only if the clock was up before and after it. Where the clock stays lower than it
 * was once, because the work is heavy or the device hot, it counts once the clock or the rate has not changed for a while.
 *
 * The first run alone cannot say how many runs make a batch: it may have compiled, and the host's clock adds its own
 * 10 ms. A batch that turns out too short is not a sample, but gives a better estimate.
 *
 * @param options the time of a first run and the device's clock in it, the shortest batch (which the host's wait must not
 *   outlast), of how many runs a batch is a multiple, whether the device is kept busy, and the clock
 */
export function steadySampler(
  begin: NonNullable<Runner["begin"]>,
  { firstNs, firstClock, minBatchNs, unit = 1, isKeptBusy = true, now }: {
    firstNs: number;
    firstClock?: number | undefined;
    minBatchNs: number;
    unit?: number;
    isKeptBusy?: boolean;
    now: () => number;
  },
): SteadySampler {
  const runsFor = (runNs: number): number => unit * Math.ceil(repetitionsFor(runNs, { minBatchNs }) / unit);
  let runs = runsFor(firstNs);
  const hand = async () => ({ count: runs, batch: await begin(runs) });
  let handed: Awaited<ReturnType<typeof hand>> | undefined;
  let lowest = 1, level = 0, levelNs = 0, sameNs = 0;
  let downNs: number | undefined;

  const isSteady = (clock: number, runNs: number): boolean => {
    const nowNs = now();
    if (isFull(clock)) {
      downNs = undefined;
      level = levelNs = 0;
      return true;
    }
    downNs ??= nowNs;
    if (Math.abs(clock / level - 1) > NEAR && Math.abs(runNs / levelNs - 1) > NEAR) {
      level = clock;
      levelNs = runNs;
      sameNs = nowNs;
    }
    return nowNs - sameNs >= PATIENCE_NS || nowNs - downNs >= LONGEST_NS;
  };

  let isUp = firstClock !== undefined && isSteady(firstClock, firstNs);

  return {
    async sample(isFollowed) {
      while (true) {
        const { count, batch } = handed ?? await hand();
        handed = undefined;
        const ended = batch.finish();
        ended.catch(() => {}); // awaited below
        if (isKeptBusy && (isFollowed || !isUp)) handed = await hand();
        const { timeNs, clock } = await ended;
        isUp = isSteady(clock, timeNs / count);
        const wanted = isLongEnough(timeNs, minBatchNs) ? 0 : runsFor(timeNs / count);
        runs = Math.max(runs, wanted);
        if (wanted > count || !isUp) continue;
        lowest = Math.min(lowest, clock);
        return timeNs / count;
      }
    },
    async end() {
      await handed?.batch.finish();
    },
    clock: () => lowest,
  };
}
