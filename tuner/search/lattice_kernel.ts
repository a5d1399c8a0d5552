/**
 * How alike candidates are expected to be. Two candidates of one traversal are correlated by
 * Π exp(−steps_i / length_i), over the steps between their places along each parameter: rates have kinks, where
 * registers or workgroup memory run out, so the process is as rough as it gets. Candidates of different traversals
 * share only the level and the trend of the prior.
 *
 * @module
 */

/** What the process knows of the candidates. */
export interface ProcessInputs {
  /** Traversal of each candidate, as a number. */
  readonly groups: readonly number[];
  /** Place of each candidate along the parameters of its traversal. */
  readonly places: readonly (readonly number[])[];
  /** Prior mean of each candidate. */
  readonly prior: readonly number[];
}

/** How candidates are correlated. */
export interface Kernel {
  /** Steps over which correlation falls to 1/e, of each parameter of each traversal. */
  readonly lengths: readonly (readonly number[])[];
  /** Variance of a repeated measurement, over that of the residual. */
  readonly noise: number;
  /** Variance of the level that all candidates share, over that of the residual. */
  readonly level: number;
  /** Variance of the factor by which the prior is stretched about its mean, over that of the residual. */
  readonly trend: number;
  /** Variance of a traversal's own level, over that of the residual. */
  readonly group: number;
}

/** The candidates of one traversal, as the loops below want them. */
interface Members {
  readonly indices: Int32Array<ArrayBuffer>;
  /** Places along each parameter, and how many there are. */
  readonly columns: readonly { readonly at: Int32Array<ArrayBuffer>; readonly size: number }[];
}

/** The covariance of candidates, a row at a time: covariances of one with all. */
export class LatticeCovariance {
  readonly #groups: readonly number[];
  readonly #places: readonly (readonly number[])[];
  readonly #members = new Map<number, Members>();
  /** Prior about its mean. */
  readonly #centred: Float64Array<ArrayBuffer>;

  constructor({ groups, places, prior }: ProcessInputs) {
    [this.#groups, this.#places] = [groups, places];
    const centre = prior.reduce((a, b) => a + b, 0) / prior.length;
    this.#centred = Float64Array.from(prior, (mean) => mean - centre);
    for (const [group, indices] of Map.groupBy(groups.keys(), (i) => groups[i])) {
      const columns = places[indices[0]].map((_, k) => ({
        at: Int32Array.from(indices, (i) => places[i][k]),
        size: indices.reduce((size, i) => Math.max(size, places[i][k] + 1), 0),
      }));
      this.#members.set(group, { indices: Int32Array.from(indices), columns });
    }
  }

  /** Variance of every candidate, before anything is known. */
  variances({ level, trend, group }: Kernel): Float64Array<ArrayBuffer> {
    return this.#centred.map((prior) => level + trend * prior * prior + group + 1);
  }

  /** Covariances of a candidate with every candidate: O(candidates × parameters). */
  row(candidate: number, { lengths, level, trend, group }: Kernel): Float64Array<ArrayBuffer> {
    const centred = this.#centred, slope = trend * centred[candidate];
    const row = new Float64Array(centred.length);
    for (let i = 0; i < row.length; i++) row[i] = level + slope * centred[i];
    const own = this.#groups[candidate], place = this.#places[candidate];
    const { indices, columns } = this.#members.get(own)!;
    const products = new Float64Array(indices.length).fill(1);
    columns.forEach(({ at, size }, k) => {
      const falls = new Float64Array(size);
      for (let step = 0; step < size; step++) {
        falls[step] = Math.exp(-Math.abs(step - place[k]) / lengths[own][k]);
      }
      for (let i = 0; i < at.length; i++) products[i] *= falls[at[i]];
    });
    for (let i = 0; i < indices.length; i++) row[indices[i]] += group + products[i];
    return row;
  }
}
