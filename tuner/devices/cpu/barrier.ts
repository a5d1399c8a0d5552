/** Words of the shared block, threads that have arrived and the shared sense; and its bytes. */
const ARRIVED = 0, SENSE = 1;
export const BARRIER_BYTES = 8;

/**
 * Most and fewest looks at the shared word before a thread goes to sleep, about 1 ms and 5 µs. Threads that
 * sleep at every step look idle to Linux, which then runs them on one core: on two free cores, steps of 0.1 to
 * 0.5 ms, two workers were no faster than one with 2,000 looks and 1.8 to 1.9 times faster with 200,000. Where
 * something else has the other core, those looks only delay the worker that is waited for: 14 times slower than
 * one worker. So looks that were in vain halve the next ones, and all are tried again from time to time
 * (2026-11-21).
 */
const MOST_LOOKS = 200_000, FEWEST_LOOKS = 1000;

/** Waits after which a thread tries the most looks again. */
const RETRY_EVERY = 256;

/**
 * One thread's side of a barrier over shared memory, sense-reversing (Hensgen, Finkel, Manber, "Two algorithms for
 * barrier synchronization", 1988): the last thread to arrive flips a shared word that the others watch. Every thread
 * makes its own over the same words, all zero at first.
 */
export class Barrier {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #threads: number;
  #sense = 0;
  #looks = MOST_LOOKS;
  #waits = 0;

  /** @param shared block of {@linkcode BARRIER_BYTES}, for `threads` threads */
  constructor(shared: SharedArrayBuffer, threads: number) {
    this.#words = new Int32Array(shared);
    this.#threads = threads;
  }

  /** Returns when every thread has called it as often as this one. A thread that never does hangs the others. */
  wait(): void {
    const words = this.#words, sense = 1 - this.#sense;
    this.#sense = sense;
    if (Atomics.add(words, ARRIVED, 1) === this.#threads - 1) {
      Atomics.store(words, ARRIVED, 0);
      Atomics.store(words, SENSE, sense);
      Atomics.notify(words, SENSE);
      return;
    }
    if (++this.#waits % RETRY_EVERY === 0) this.#looks = MOST_LOOKS;
    for (let look = 0; look < this.#looks; look++) {
      if (Atomics.load(words, SENSE) === sense) {
        this.#looks = Math.min(MOST_LOOKS, 2 * this.#looks);
        return;
      }
    }
    this.#looks = Math.max(FEWEST_LOOKS, this.#looks / 2);
    while (Atomics.load(words, SENSE) !== sense) Atomics.wait(words, SENSE, 1 - sense);
  }
}
