import { addRow, dot, type Factor, solve, solveLower } from "./cholesky.ts";

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
  /** Of the covariance matrix. */
  readonly #factor: Factor = [];
  readonly #weights: Float64Array;

  constructor(observations: readonly Observation[], covariance: Covariance) {
    this.#points = observations.map(({ point }) => point);
    this.#covariance = covariance;
    observations.forEach(({ point, noise }, i) => {
      const row = new Float64Array(i + 1);
      for (let j = 0; j <= i; j++) row[j] = covariance(point, this.#points[j]!);
      row[i]! += noise * noise;
      addRow(this.#factor, row, Number.EPSILON);
    });
    this.#weights = solve(this.#factor, Float64Array.from(observations, ({ value }) => value));
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
    const known = new Float64Array(this.#points.length);
    for (let i = 0; i < known.length; i++) known[i] = this.#covariance(point, this.#points[i]!);
    solveLower(this.#factor, known);
    return Math.sqrt(Math.max(0, this.#covariance(point, point) - dot(known, known, known.length)));
  }
}
