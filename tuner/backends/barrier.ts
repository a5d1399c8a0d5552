/**
 * A barrier for threads over shared memory, sense-reversing (Hensgen, Finkel, Manber, "Two algorithms for
 * barrier synchronization", 1988): the last thread to arrive flips a shared word that the others watch.
 *
 * @module
 */

/** Words of the control block: threads that have arrived, the shared sense, and whether someone gave up. */
const ARRIVED = 0, SENSE = 1, ABORTED = 2;

/** Bytes of the shared block that the threads of one barrier use. */
export const BARRIER_BYTES = 12;

/**
 * Looks at the shared word before the thread goes to sleep: about 10 µs, longer than the threads' spread at
 * the end of a well balanced step, shorter than it takes to be put to sleep and woken.
 */
const SPINS = 2000;

/** How long a thread sleeps before it looks again whether another gave up. */
const SLEEP_MS = 50;

/** Another thread gave up; the reason is its own to tell. */
export class BarrierAborted extends Error {}

/** One thread's side of a barrier. Every thread makes its own over the same words, all zero at first. */
export class Barrier {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #threads: number;
  #sense = 0;

  /**
   * @param shared block of {@linkcode BARRIER_BYTES}
   * @param threads how many must arrive
   */
  constructor(shared: SharedArrayBuffer, threads: number) {
    this.#words = new Int32Array(shared);
    this.#threads = threads;
  }

  /**
   * Returns when every thread has called it as often as this one.
   *
   * @throws {BarrierAborted} when another thread gave up, which then never arrives
   */
  wait(): void {
    const words = this.#words, sense = 1 - this.#sense;
    this.#sense = sense;
    if (Atomics.add(words, ARRIVED, 1) === this.#threads - 1) {
      Atomics.store(words, ARRIVED, 0);
      Atomics.store(words, SENSE, sense);
      Atomics.notify(words, SENSE);
      return;
    }
    for (let spin = 0; Atomics.load(words, SENSE) !== sense; spin++) {
      if (spin < SPINS) continue;
      if (Atomics.load(words, ABORTED) !== 0) {
        throw new BarrierAborted("Cannot pass the barrier: another thread gave up");
      }
      Atomics.wait(words, SENSE, 1 - sense, SLEEP_MS);
    }
  }

  /** Lets the threads that wait for this one fail instead. The barrier cannot be used again. */
  abort(): void {
    Atomics.store(this.#words, ABORTED, 1);
    Atomics.notify(this.#words, SENSE);
  }
}
