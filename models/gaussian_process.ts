/** A covariance between two points. */
export type Covariance = (a: Float64Array, b: Float64Array) => number;

/** What a process is conditioned on. */
export interface Observation {
  readonly point: Float64Array;
  readonly value: number;
  /** Standard deviation of the value's noise. */
  readonly noise: number;
}

/**
 * A Gaussian process with mean 0, conditioned on observations (Rasmussen, Williams, "Gaussian Processes for Machine
 * Learning", 2006, algorithm 2.1). Time grows with the cube of the observations, and of a mean with their number.
 */
export class GaussianProcess {
  readonly #points: readonly Float64Array[];
  readonly #covariance: Covariance;
  /** Rows of the Cholesky factor of the covariance matrix. */
  readonly #factor: Float64Array[] = [];
  readonly #weights: Float64Array;

  constructor(observations: readonly Observation[], covariance: Covariance) {
    this.#points = observations.map(({ point }) => point);
    this.#covariance = covariance;
    observations.forEach(({ point, noise }, i) => {
      const row = new Float64Array(i + 1);
      for (let j = 0; j <= i; j++) row[j] = covariance(point, this.#points[j]!);
      row[i]! += noise * noise;
      for (let j = 0; j < i; j++) row[j] = (row[j]! - dot(row, this.#factor[j]!, j)) / this.#factor[j]![j]!;
      row[i] = Math.sqrt(Math.max(row[i]! - dot(row, row, i), Number.EPSILON));
      this.#factor.push(row);
    });
    const weights = this.#solve(Float64Array.from(observations, ({ value }) => value));
    for (let i = weights.length - 1; i >= 0; i--) {
      weights[i]! /= this.#factor[i]![i]!;
      for (let j = 0; j < i; j++) weights[j]! -= this.#factor[i]![j]! * weights[i]!;
    }
    this.#weights = weights;
  }

  /** What is expected at a point. */
  mean(point: Float64Array): number {
    let sum = 0;
    for (let i = 0; i < this.#points.length; i++) {
      sum += this.#weights[i]! * this.#covariance(point, this.#points[i]!);
    }
    return sum;
  }

  /** Standard deviation of the value at a point, without noise. */
  deviation(point: Float64Array): number {
    const known = this.#solve(Float64Array.from(this.#points, (other) => this.#covariance(point, other)));
    return Math.sqrt(Math.max(0, this.#covariance(point, point) - dot(known, known, known.length)));
  }

  /** Solves with the Cholesky factor, in place. */
  #solve(values: Float64Array): Float64Array {
    this.#factor.forEach((row, i) => values[i] = (values[i]! - dot(row, values, i)) / row[i]!);
    return values;
  }
}

/** The product of the first few elements. */
function dot(a: Float64Array, b: Float64Array, count: number): number {
  let even = 0, odd = 0, i = 0;
  // two sums, since an addition waits for the one before
  for (; i + 1 < count; i += 2) {
    even += a[i]! * b[i]!;
    odd += a[i + 1]! * b[i + 1]!;
  }
  return i < count ? even + odd + a[i]! * b[i]! : even + odd;
}
