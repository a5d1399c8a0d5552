/** What becomes of the samples of receivers. */
export interface Recording {
  /** Takes samples from number `first` on, each with a value for each receiver; they come in order, each once. */
  take(first: number, samples: Float32Array<ArrayBuffer>): void;
  /** Forgets them. */
  restart?(): void;
}

/** Samples that are kept. */
export class Traces implements Recording {
  readonly #receivers: number;
  #pieces: { readonly first: number; readonly samples: Float32Array }[] = [];

  constructor(receivers: number) {
    this.#receivers = receivers;
  }

  take(first: number, samples: Float32Array): void {
    this.#pieces.push({ first, samples });
  }

  restart(): void {
    this.#pieces = [];
  }

  /** The trace of each receiver, of `count` samples; those before its first one are 0. */
  upTo(count: number): Float32Array<ArrayBuffer>[] {
    const receivers = this.#receivers;
    return Array.from({ length: receivers }, (_, receiver) => {
      const trace = new Float32Array(count);
      for (const { first, samples } of this.#pieces) {
        for (let i = receiver, to = first; i < samples.length; i += receivers) trace[to++] = samples[i]!;
      }
      return trace;
    });
  }
}
