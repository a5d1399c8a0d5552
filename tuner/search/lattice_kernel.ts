/** What the process knows of the candidates. */
export interface ProcessInputs {
  /** Traversal of each candidate, as a number. */
  readonly groups: readonly number[];
  /** Place of each candidate along the parameters of its traversal. */
  readonly places: readonly (readonly number[])[];
  readonly prior: readonly number[];
}

/** How candidates are correlated; variances are relative to that of the residual. */
export interface Kernel {
  /** Steps over which correlation falls to 1/e, of each parameter of each traversal. */
  readonly lengths: readonly (readonly number[])[];
  /** Variance of a repeated measurement. */
  readonly noise: number;
  /** Variance of the level that all candidates share. */
  readonly level: number;
  /** Variance of the factor by which the prior is stretched about its mean. */
  readonly trend: number;
  /** Variance of a traversal's own level. */
  readonly group: number;
}

/** The candidates of one traversal, and their places along each parameter. */
interface Members {
  readonly indices: Int32Array<ArrayBuffer>;
  readonly columns: readonly Int32Array<ArrayBuffer>[];
}

/** Correlation by traversal, parameter and steps. */
type Falls = readonly (readonly Float64Array<ArrayBuffer>[])[];

/**
 * The covariance of candidates, a row at a time: of one with all. Two of one traversal are correlated by
 * Π exp(−steps_i / length_i), over the steps between their places along each parameter: rates have kinks, where
 * registers or workgroup memory run out, so the process is as rough as it gets. Candidates of different traversals
 * share only the level and the trend of the prior.
 */
export class LatticeCovariance {
  readonly #groups: readonly number[];
  readonly #places: readonly (readonly number[])[];
  readonly #members = new Map<number, Members>();
  /** Prior about its mean. */
  readonly #centred: Float64Array<ArrayBuffer>;
  readonly #mostSteps: number;
  #falls: { readonly kernel: Kernel; readonly falls: Falls } | undefined;

  constructor({ groups, places, prior }: ProcessInputs) {
    [this.#groups, this.#places] = [groups, places];
    const centre = prior.reduce((a, b) => a + b, 0) / prior.length;
    this.#centred = Float64Array.from(prior, (mean) => mean - centre);
    for (const [group, indices] of Map.groupBy(groups.keys(), (i) => groups[i]!)) {
      const columns = places[indices[0]!]!.map((_, k) => Int32Array.from(indices, (i) => places[i]![k]!));
      this.#members.set(group, { indices: Int32Array.from(indices), columns });
    }
    this.#mostSteps = places.reduce((most, place) => Math.max(most, ...place), 0);
  }

  /** Variance of every candidate, before anything is known. */
  variances({ level, trend, group }: Kernel): Float64Array<ArrayBuffer> {
    return this.#centred.map((prior) => level + trend * prior * prior + group + 1);
  }

  /** Covariances of a candidate with every candidate: O(candidates × parameters). */
  row(candidate: number, kernel: Kernel): Float64Array<ArrayBuffer> {
    const { level, trend, group } = kernel;
    const centred = this.#centred, slope = trend * centred[candidate]!;
    const row = new Float64Array(centred.length);
    for (let i = 0; i < row.length; i++) row[i] = level + slope * centred[i]!;
    const own = this.#groups[candidate]!, place = this.#places[candidate]!;
    const { indices, columns } = this.#members.get(own)!;
    const products = new Float64Array(indices.length).fill(1);
    const falls = this.#fallsOf(kernel)[own]!;
    columns.forEach((at, k) => {
      const fall = falls[k]!, here = place[k]!;
      for (let i = 0; i < at.length; i++) products[i]! *= fall[Math.abs(at[i]! - here)]!;
    });
    for (let i = 0; i < indices.length; i++) row[indices[i]!]! += group + products[i]!;
    return row;
  }

  /** Correlation over every number of steps along every parameter; kept, since rows of one kernel follow each other. */
  #fallsOf(kernel: Kernel): Falls {
    if (this.#falls?.kernel !== kernel) {
      const falls = kernel.lengths.map((list) =>
        list.map((length) =>
          Float64Array.from({ length: this.#mostSteps + 1 }, (_, d) => Math.exp(-d / length))
        )
      );
      this.#falls = { kernel, falls };
    }
    return this.#falls.falls;
  }
}
