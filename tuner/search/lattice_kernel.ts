import type { Covariance, ResidualPrior } from "../../models/gaussian_process.ts";

/** The residual before anything is known. */
export const RESIDUAL: ResidualPrior = { deviation: 0.6, weight: 4 };

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

/**
 * How candidates vary together. Two of one traversal are correlated by
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

  /** The covariance by a kernel; a row takes O(candidates × parameters). */
  of({ lengths, noise, level, trend, group }: Kernel): Covariance {
    const centred = this.#centred;
    /** Correlation by traversal, parameter and steps. */
    const falls = lengths.map((list) =>
      list.map((length) =>
        Float64Array.from({ length: this.#mostSteps + 1 }, (_, steps) => Math.exp(-steps / length))
      )
    );
    return {
      variances: centred.map((prior) => level + trend * prior * prior + group + 1),
      noise: () => noise,
      row: (candidate) => {
        const slope = trend * centred[candidate]!, row = new Float64Array(centred.length);
        for (let i = 0; i < row.length; i++) row[i] = level + slope * centred[i]!;
        const own = this.#groups[candidate]!, place = this.#places[candidate]!;
        const { indices, columns } = this.#members.get(own)!;
        const products = new Float64Array(indices.length).fill(1);
        columns.forEach((at, k) => {
          const fall = falls[own]![k]!, here = place[k]!;
          for (let i = 0; i < at.length; i++) products[i]! *= fall[Math.abs(at[i]! - here)]!;
        });
        for (let i = 0; i < indices.length; i++) row[indices[i]!]! += group + products[i]!;
        return row;
      },
    };
  }
}
