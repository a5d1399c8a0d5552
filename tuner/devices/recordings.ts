import { type FloatArray, type Precise, zeros } from "../../kernels/precision.ts";

/** What becomes of the samples of receivers. */
export interface Recording {
  /** Takes samples from number `first` on, each with a value for each receiver; they come in order, each once. */
  take(first: number, samples: FloatArray<ArrayBuffer>): void;
  /** Forgets them. */
  restart?(): void;
}

/** Samples that are kept. */
export class Traces implements Recording {
  #pieces: { readonly first: number; readonly samples: FloatArray }[] = [];

  constructor(private readonly receivers: number, readonly precise: Precise) {}

  take(first: number, samples: FloatArray): void {
    this.#pieces.push({ first, samples });
  }

  restart(): void {
    this.#pieces = [];
  }

  /** All samples from the first on, each with a value for each receiver. */
  all(): { readonly first: number; readonly samples: readonly FloatArray[] } {
    return { first: this.#pieces[0]?.first ?? 0, samples: this.#pieces.map(({ samples }) => samples) };
  }

  /** The trace of each receiver, of `count` samples; those before its first one are 0. */
  upTo(count: number): FloatArray<ArrayBuffer>[] {
    const receivers = this.receivers;
    return Array.from({ length: receivers }, (_, receiver) => {
      const trace = zeros(this.precise, count);
      for (const { first, samples } of this.#pieces) {
        for (let i = receiver, to = first; i < samples.length; i += receivers) trace[to++] = samples[i]!;
      }
      return trace;
    });
  }
}

/** Sums Σ p(t) e^(−2πift) of samples, in f64. */
export class Spectra implements Recording {
  /** For each frequency, in cycles per step, the real and the imaginary part of each receiver's sum. */
  readonly #sums: readonly { readonly frequency: number; readonly parts: Float64Array }[];

  constructor(
    private readonly receivers: number,
    private readonly every: number,
    readonly frequencies: readonly number[],
  ) {
    this.#sums = frequencies.map((frequency) => ({ frequency, parts: new Float64Array(2 * receivers) }));
  }

  take(first: number, samples: FloatArray): void {
    const receivers = this.receivers;
    for (let at = 0, t = first * this.every; at < samples.length; at += receivers, t += this.every) {
      for (const { frequency, parts } of this.#sums) {
        const angle = -2 * Math.PI * (frequency * t % 1), real = Math.cos(angle), imaginary = Math.sin(angle);
        for (let i = 0; i < receivers; i++) {
          parts[2 * i]! += real * samples[at + i]!;
          parts[2 * i + 1]! += imaginary * samples[at + i]!;
        }
      }
    }
  }

  restart(): void {
    for (const { parts } of this.#sums) parts.fill(0);
  }

  /** Goes on from sums as {@linkcode sums} gives them. */
  restore(sums: readonly (readonly number[])[]): void {
    this.#sums.forEach(({ parts }, f) =>
      sums.forEach((of, i) => parts.set(of.slice(2 * f, 2 * f + 2), 2 * i))
    );
  }

  /** Those of each receiver, by frequency. */
  sums(): Float64Array<ArrayBuffer>[] {
    return Array.from({ length: this.receivers }, (_, i) => {
      return Float64Array.from(this.#sums.flatMap(({ parts }) => [parts[2 * i]!, parts[2 * i + 1]!]));
    });
  }
}
