import type { Runner } from "../configuration.ts";
import { isLongEnough, repetitionsFor } from "./sampling.ts";

/** A clock this near the fastest, and one this near the batch before, counts as the same. */
const NEAR = 0.02;
/** A clock that has not risen for this long while the device was busy will not rise any more. */
const PATIENCE_NS = 300e6;

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
 * Takes samples of a device that lowers its clock while it waits. The next batch is always handed over before the answer
 * to the one before is waited for, so that the device never waits; and a batch counts only if the clock was up from its
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
  /** At the end of the batch before; the highest since the clock last rose, and when that was. */
  #before = 0;
  #highest = 0;
  #risenNs = 0;
  /** Of the samples that counted. */
  #lowest = 1;

  constructor(begin: NonNullable<Runner["begin"]>, options: SteadyOptions) {
    this.#begin = begin;
    this.#options = options;
    this.#repetitions = repetitionsFor(options.firstNs, options);
  }

  /** The lowest clock at which a sample was taken, as a part of the fastest that the device was seen at. */
  get clock(): number {
    return this.#lowest;
  }

  /** Takes the next sample that counts: nanoseconds of one run. */
  async sample(): Promise<number> {
    const { minBatchNs } = this.#options;
    while (true) {
      const { timeNs, clock, runs } = await this.#next();
      const from = this.#before;
      this.#before = clock;
      if (!isLongEnough(timeNs, minBatchNs) && this.#grow(timeNs / runs)) continue;
      if (!this.#isSteady(from, clock)) continue;
      this.#lowest = Math.min(this.#lowest, from, clock);
      return timeNs / runs;
    }
  }

  /** Waits for what was handed over. */
  async end(): Promise<void> {
    const handed = this.#handed;
    this.#handed = undefined;
    await handed?.batch.finish();
  }

  async #next() {
    const { batch, runs } = this.#handed ?? await this.#hand();
    const ended = batch.finish();
    ended.catch(() => {}); // awaited below
    this.#handed = undefined;
    this.#handed = await this.#hand();
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

  #isSteady(from: number, to: number): boolean {
    if (Math.min(from, to) >= 1 - NEAR) return true;
    const nowNs = this.#options.now();
    if (to > (1 + NEAR) * this.#highest) {
      this.#highest = to;
      this.#risenNs = nowNs;
    }
    return Math.abs(to - from) <= NEAR * to && nowNs - this.#risenNs >= PATIENCE_NS;
  }
}
