import type { Covariance, ResidualPrior } from "../../models/gaussian_process.ts";

/** What is left of rates before anything is known, where models predict them and where not. */
const PREDICTED: ResidualPrior = { deviation: 0.25, weight: 4 },
  UNPREDICTED: ResidualPrior = { deviation: 0.6, weight: 4 };

/**
 * How much of the predictions' error is common to kernels that ask the same of the device; the rest is common to
 * neighbours in the lattice. Recorded runs of `tune` come within 1% after 12 evaluations (H100, median of 24; H200: 23 of 12), by the lattice
 * alone after 18 and 37, by the models alone after 10 and 21; but where errors fall together with values of parameters, as
 * in the synthetic spaces of the tests, the models alone are 3% off after 50.
 */
const PREDICTED_PART = 0.5;

/** The residual of candidates before anything is known. */
export function residualOf({ likeness }: ProcessInputs): ResidualPrior {
  return likeness === undefined ? UNPREDICTED : PREDICTED;
}

/** What the process knows of the candidates. */
export interface ProcessInputs {
  /** Traversal of each candidate, as a number. */
  readonly groups: readonly number[];
  /** Place of each candidate along the parameters of its traversal. */
  readonly places: readonly (readonly number[])[];
  readonly prior: readonly number[];
  /** Where models predict: how alike the errors of two predictions are. @default {nothing is known of them} */
  readonly likeness?: ((a: number, b: number) => number) | undefined;
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
 * How candidates vary together. Two of one traversal are correlated by Π exp(−steps_i / length_i), over the steps between
 * their places along each parameter: rates have kinks, where registers or workgroup memory run out, so the process is as
 * rough as it gets. Where models predict them, half of that is how alike the errors of their predictions are
 * (`models/cost_model.ts`). Candidates of different traversals share only the level and the trend of the prior.
 */
export class LatticeCovariance {
  readonly #groups: readonly number[];
  readonly #places: readonly (readonly number[])[];
  readonly #members = new Map<number, Members>();
  /** Prior about its mean. */
  readonly #centred: Float64Array<ArrayBuffer>;
  readonly #mostSteps: number;
  readonly #likeness: ProcessInputs["likeness"];

  constructor({ groups, places, prior, likeness }: ProcessInputs) {
    [this.#groups, this.#places, this.#likeness] = [groups, places, likeness];
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
        const alike = new Float64Array(indices.length).fill(1), likeness = this.#likeness;
        columns.forEach((at, k) => {
          const fall = falls[own]![k]!, here = place[k]!;
          for (let i = 0; i < at.length; i++) alike[i]! *= fall[Math.abs(at[i]! - here)]!;
        });
        if (likeness !== undefined) {
          for (let i = 0; i < indices.length; i++) {
            alike[i] = PREDICTED_PART * likeness(candidate, indices[i]!) + (1 - PREDICTED_PART) * alike[i]!;
          }
        }
        for (let i = 0; i < indices.length; i++) row[indices[i]!]! += group + alike[i]!;
        return row;
      },
    };
  }
}
