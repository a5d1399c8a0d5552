import type { Runner } from "../configuration.ts";
import { isLongEnough, repetitionsFor } from "./sampling.ts";

/** Clocks this near count as the same. */
const NEAR = 0.02;
/** A clock that is the same for this long while the device is busy will not rise any more; it is waited for this long. */
const PATIENCE_NS = 300e6, LONGEST_NS = 1e9;

/** What {@linkcode SteadySampler} needs. */
interface SteadyOptions {
  /** The estimated time of one run, in nanoseconds. */
  readonly firstNs: number;
  /** The shortest batch: the device must not be done before the host has the answer to the one before. */
  readonly minBatchNs: number;
  /** The clock of the host, in nanoseconds. */
  readonly now: () => number;
}

/**
 * Takes samples of a device that lowers its clock while it waits. The next batch is handed over before the answer to the
 * one before is waited for, so that the device never waits; and a batch counts only if the clock was up from its
 * beginning to its end. Where the clock stays lower than it was once, because the work is heavy or the device hot, it
 * counts once the clock has not risen for a while.
 */
export class SteadySampler {
  readonly #begin: NonNullable<Runner["begin"]>;
  readonly #options: SteadyOptions;
  #repetitions: number;
  /** What the device works on. */
  #handed:
    | { readonly batch: Awaited<ReturnType<NonNullable<Runner["begin"]>>>; readonly runs: number }
    | undefined;
  /** The clock while it is not up, since when it is the same, and since when it is not up. */
  #level = 0;
  #sameNs = 0;
  #downNs: number | undefined;
  /** Of the samples that counted. */
  #lowest = 1;
  /** Whether the last batch counted. */
  #isUp = false;

  constructor(begin: NonNullable<Runner["begin"]>, options: SteadyOptions) {
    this.#begin = begin;
    this.#options = options;
    this.#repetitions = repetitionsFor(options.firstNs, options);
  }

  /** The lowest clock at which a sample was taken, as a part of the fastest that the device was seen at. */
  get clock(): number {
    return this.#lowest;
  }

  /**
   * Takes the next sample that counts: nanoseconds of one run.
   *
   * @param isFollowed whether another will follow, which the device can begin; else what it began would be in vain
   */
  async sample(isFollowed: boolean): Promise<number> {
    const { minBatchNs } = this.#options;
    while (true) {
      const { timeNs, clock, runs } = await this.#next(isFollowed || !this.#isUp);
      this.#isUp = this.#isSteady(clock);
      if (!isLongEnough(timeNs, minBatchNs) && this.#grow(timeNs / runs)) continue;
      if (!this.#isUp) continue;
      this.#lowest = Math.min(this.#lowest, clock);
      return timeNs / runs;
    }
  }

  /** Waits for what was handed over. */
  async end(): Promise<void> {
    const handed = this.#handed;
    this.#handed = undefined;
    await handed?.batch.finish();
  }

  async #next(isFollowed: boolean) {
    const { batch, runs } = this.#handed ?? await this.#hand();
    const ended = batch.finish();
    ended.catch(() => {}); // awaited below
    this.#handed = undefined;
    if (isFollowed) this.#handed = await this.#hand();
    return { runs, ...await ended };
  }

  async #hand() {
    const runs = this.#repetitions;
    return { batch: await this.#begin(runs), runs };
  }

  /** Makes later batches longer; whether they can be. */
  #grow(runNs: number): boolean {
    const wanted = repetitionsFor(runNs, this.#options), before = this.#repetitions;
    this.#repetitions = Math.max(before, wanted);
    return wanted > before;
  }

  #isSteady(clock: number): boolean {
    const nowNs = this.#options.now();
    if (clock >= 1 - NEAR) {
      this.#downNs = undefined;
      return true;
    }
    this.#downNs ??= nowNs;
    if (Math.abs(clock / this.#level - 1) > NEAR) {
      this.#level = clock;
      this.#sameNs = nowNs;
    }
    return nowNs - this.#sameNs >= PATIENCE_NS || nowNs - this.#downNs >= LONGEST_NS;
  }
}
