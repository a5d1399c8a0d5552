import { type Kernel, LatticeCovariance, type ProcessInputs } from "./lattice_kernel.ts";

/** Standard deviation of the residual before anything is known, and how many values that is worth. */
const PRIOR_DEVIATION = 0.6, PRIOR_WEIGHT = 4;

/**
 * Variance of the residual: estimated from the values, with what was expected before as some of them.
 *
 * @param squares sum of the squares of the values' surprises, each in deviations of a residual of variance 1
 * @param known how many values there are
 * @returns the variance, and the values that it rests on, those expected before included
 */
export function residualVariance(squares: number, known: number): { scale: number; weight: number } {
  const weight = known + PRIOR_WEIGHT;
  return { scale: (squares + PRIOR_WEIGHT * PRIOR_DEVIATION ** 2) / weight, weight };
}

/** A row of the Cholesky factor, of all candidates. */
interface Row {
  readonly candidate: number;
  readonly factor: Float64Array<ArrayBuffer>;
  /** Deviation of its value, noise included, given the rows before. */
  readonly pivot: number;
}

/**
 * A Gaussian process over the candidates of a space (Rasmussen, Williams, "Gaussian Processes for Machine
 * Learning", 2006, ch. 2), whose prior mean is what the models predict: a measured rate moves the mean and the
 * deviation of all others.
 *
 * The candidates are finitely many and known beforehand, so that conditioning on one more value (a row of the
 * Cholesky factor) updates the mean and the variance of all of them at once: O(candidates × values known).
 *
 * What is being measured is **expected**: variances shrink as if its value were known, since they do not depend on
 * the value; means stay as they are, as if the value were what is believed (the kriging believer of Ginsbourger,
 * Le Riche, Carraro, "Kriging is well-suited to parallelize optimization", 2010). Rows of expected values follow the
 * rows of known ones; a row changes places with the one before it by a rotation of the two, so that values may come,
 * or be given up, in any order: O(candidates × values expected).
 */
export class LatticeProcess {
  /** Posterior mean of each candidate. */
  readonly mean: Float64Array<ArrayBuffer>;
  /** Posterior variance of each candidate, over that of the residual. */
  readonly #variance: Float64Array<ArrayBuffer>;
  readonly #covariance: LatticeCovariance;
  readonly #known: Row[] = [];
  readonly #expected: Row[] = [];
  #squares = 0;

  constructor(
    readonly inputs: ProcessInputs,
    readonly kernel: Kernel,
    covariance = new LatticeCovariance(inputs),
  ) {
    this.mean = Float64Array.from(inputs.prior);
    this.#covariance = covariance;
    this.#variance = covariance.variances(kernel);
  }

  /** A candidate is being measured. */
  expect(candidate: number): void {
    const factor = this.#covariance.row(candidate, this.kernel);
    for (const earlier of this.#known) subtract(factor, earlier.factor[candidate]!, earlier.factor);
    for (const earlier of this.#expected) subtract(factor, earlier.factor[candidate]!, earlier.factor);
    const pivot = Math.sqrt(Math.max(this.#variance[candidate]!, 0) + this.kernel.noise);
    for (let i = 0; i < factor.length; i++) {
      factor[i]! /= pivot;
      this.#variance[i]! -= factor[i]! * factor[i]!;
    }
    this.#expected.push({ candidate, factor, pivot });
  }

  /** Takes in a value, expected or not. */
  observe(candidate: number, value: number): void {
    let at = this.#expected.findIndex((row) => row.candidate === candidate);
    if (at < 0) {
      this.expect(candidate);
      at = this.#expected.length - 1;
    }
    for (; at > 0; at--) this.#swap(at - 1);
    const row = this.#expected.shift()!;
    const surprise = (value - this.mean[candidate]!) / row.pivot;
    subtract(this.mean, -surprise, row.factor);
    this.#known.push(row);
    this.#squares += surprise * surprise;
  }

  /** A value that was expected does not come. */
  giveUp(candidate: number): void {
    const found = this.#expected.findIndex((row) => row.candidate === candidate);
    if (found < 0) return;
    for (let at = found; at < this.#expected.length - 1; at++) this.#swap(at);
    const { factor } = this.#expected.pop()!;
    for (let i = 0; i < factor.length; i++) this.#variance[i]! += factor[i]! * factor[i]!;
  }

  /** Posterior standard deviation of a candidate's true value. */
  deviation(candidate: number): number {
    const { scale } = residualVariance(this.#squares, this.#known.length);
    return Math.sqrt(Math.max(this.#variance[candidate]!, 0) * scale);
  }

  /**
   * Exchanges two expected rows, the one at a place and the next. With a, b, d the entries of
   * the Cholesky factor [a 0; b d] of the two, that of their values in the other order is [r 0; ab/r ad/r],
   * r² = b² + d².
   */
  #swap(at: number): void {
    const { candidate: one, factor: f, pivot: a } = this.#expected[at]!;
    const { candidate: other, factor: g, pivot: d } = this.#expected[at + 1]!;
    const r = Math.hypot(f[other]!, d), cos = f[other]! / r, sin = d / r;
    for (let i = 0; i < f.length; i++) {
      const first = cos * f[i]! + sin * g[i]!;
      g[i] = sin * f[i]! - cos * g[i]!;
      f[i] = first;
    }
    this.#expected[at] = { candidate: other, factor: f, pivot: r };
    this.#expected[at + 1] = { candidate: one, factor: g, pivot: a * sin };
  }
}

function subtract(from: Float64Array, weight: number, row: Float64Array): void {
  if (weight === 0) return;
  for (let i = 0; i < from.length; i++) from[i]! -= weight * row[i]!;
}
