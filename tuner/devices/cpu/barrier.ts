/** Words of the shared block, threads that have arrived and the shared sense; and its bytes. */
const ARRIVED = 0, SENSE = 1;
export const BARRIER_BYTES = 8;

/** The sense of a barrier at which nobody meets any more. */
const ENDED = 2;

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
  #sense = 0;
  #looks = MOST_LOOKS;
  #waits = 0;

  /** @param shared block of {@linkcode BARRIER_BYTES}, for `threads` threads */
  constructor(shared: SharedArrayBuffer, private readonly threads: number) {
    this.#words = new Int32Array(shared);
  }

  /**
   * Returns when every thread has called it as often as this one. A thread that never does hangs the others, until
   * {@linkcode endBarrier}.
   *
   * @throws {Error} once the barrier was ended
   */
  wait(): void {
    const words = this.#words, before = this.#sense, sense = 1 - before;
    this.#sense = sense;
    if (Atomics.add(words, ARRIVED, 1) === this.threads - 1) {
      Atomics.store(words, ARRIVED, 0);
      if (Atomics.compareExchange(words, SENSE, before, sense) === ENDED) {
        throw new Error("the barrier was ended");
      }
      Atomics.notify(words, SENSE);
      return;
    }
    if (++this.#waits % RETRY_EVERY === 0) this.#looks = MOST_LOOKS;
    let now = before;
    for (let look = 0; look < this.#looks && now === before; look++) now = Atomics.load(words, SENSE);
    this.#looks = now === before
      ? Math.max(FEWEST_LOOKS, this.#looks / 2)
      : Math.min(MOST_LOOKS, 2 * this.#looks);
    while ((now = Atomics.load(words, SENSE)) === before) Atomics.wait(words, SENSE, before);
    if (now === ENDED) throw new Error("the barrier was ended");
  }
}

/** Lets every thread that waits at a barrier, or comes to it, throw: it can be used no more. */
export function endBarrier(shared: SharedArrayBuffer): void {
  const words = new Int32Array(shared);
  Atomics.store(words, SENSE, ENDED);
  Atomics.notify(words, SENSE);
}
