import type { Kernel, ProcessInputs } from "./lattice_kernel.ts";
import { residualVariance } from "./residual_variance.ts";

/** Two candidates of one traversal. */
interface Pairs {
  /** Where they stand in the covariance matrix, the rows of whose lower triangle follow each other. */
  readonly entries: Int32Array<ArrayBuffer>;
  /** Steps between them along each parameter. */
  readonly steps: readonly Float64Array<ArrayBuffer>[];
}

/**
 * How likely values are under one kernel and another (Rasmussen, Williams, "Gaussian Processes for Machine
 * Learning", 2006, equation 2.30, with the variance of the residual at its estimate). The same as a `LatticeProcess`
 * of these candidates alone, but many kernels are tried: what does not depend on them is computed once.
 */
export class KernelLikelihood {
  readonly #pairs = new Map<number, Pairs>();
  readonly #groups: readonly number[];
  /** Prior about its mean. */
  readonly #centred: Float64Array<ArrayBuffer>;
  /** Values about the prior. */
  readonly #residuals: Float64Array<ArrayBuffer>;
  /** The covariance matrix, then its Cholesky factor. */
  readonly #matrix: Float64Array<ArrayBuffer>;

  /**
   * @param inputs the candidates whose values are known, and no others
   * @param values their values
   */
  constructor({ groups, places, prior }: ProcessInputs, values: readonly number[]) {
    const count = values.length;
    const centre = prior.reduce((a, b) => a + b, 0) / count;
    this.#groups = groups;
    this.#centred = Float64Array.from(prior, (mean) => mean - centre);
    this.#residuals = Float64Array.from(values, (value, i) => value - prior[i]);
    this.#matrix = new Float64Array(count * (count + 1) / 2);
    for (const [group, members] of Map.groupBy(groups.keys(), (i) => groups[i])) {
      const pairs = members.flatMap((i) => members.filter((j) => j < i).map((j) => [i, j] as const));
      this.#pairs.set(group, {
        entries: Int32Array.from(pairs, ([i, j]) => i * (i + 1) / 2 + j),
        steps: places[members[0]].map((_, k) =>
          Float64Array.from(pairs, ([i, j]) => Math.abs(places[i][k] - places[j][k]))
        ),
      });
    }
  }

  /** Logarithm of the likelihood, but for a constant. */
  of(kernel: Kernel): number {
    this.#fill(kernel);
    const matrix = this.#matrix, count = this.#centred.length;
    /** The values, each less what those before it explain, in deviations. */
    const surprises = this.#residuals.slice();
    let logDeterminant = 0, squares = 0;
    for (let i = 0, row = 0; i < count; row += ++i) {
      for (let j = 0, other = 0; j < i; other += ++j) {
        let sum = matrix[row + j];
        for (let k = 0; k < j; k++) sum -= matrix[row + k] * matrix[other + k];
        matrix[row + j] = sum / matrix[other + j];
        surprises[i] -= matrix[row + j] * surprises[j];
      }
      let pivot = matrix[row + i];
      for (let k = 0; k < i; k++) pivot -= matrix[row + k] ** 2;
      // what is explained to the last digit may come out below
      pivot = Math.sqrt(Math.max(pivot, kernel.noise));
      matrix[row + i] = pivot;
      surprises[i] /= pivot;
      squares += surprises[i] ** 2;
      logDeterminant += Math.log(pivot);
    }
    const { scale, weight } = residualVariance(squares, count);
    return -logDeterminant - weight / 2 * Math.log(scale);
  }

  /** The covariance matrix of the values. */
  #fill({ lengths, noise, level, trend, group }: Kernel): void {
    const matrix = this.#matrix, centred = this.#centred;
    for (let i = 0, at = 0; i < centred.length; i++) {
      const slope = trend * centred[i];
      for (let j = 0; j <= i; j++) matrix[at++] = level + slope * centred[j];
      matrix[at - 1] += group + 1 + noise;
    }
    for (const [which, { entries, steps }] of this.#pairs) {
      const distances = new Float64Array(entries.length);
      steps.forEach((column, k) => {
        const scale = 1 / lengths[which][k];
        for (let pair = 0; pair < distances.length; pair++) distances[pair] += scale * column[pair];
      });
      for (let pair = 0; pair < distances.length; pair++) {
        matrix[entries[pair]] += group + Math.exp(-distances[pair]);
      }
    }
  }

  /** Traversals of which enough is known to learn their lengths. */
  get learnable(): readonly number[] {
    return [...Map.groupBy(this.#groups, (group) => group)]
      .filter(([, members]) => members.length >= 3).map(([group]) => group);
  }
}
