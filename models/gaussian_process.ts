/** How the points of a process vary together. */
export interface Covariance {
  /** Variance of each point's value before anything is known. */
  readonly variances: Float64Array<ArrayBuffer>;
  /** Variance of the noise of a point's measurement. */
  noise(point: number): number;
  /** Covariances of a point with every point; of those before `first` they are not read. */
  row(point: number, first: number): Float64Array<ArrayBuffer>;
}

/** What is expected of the variance that covariances are relative to, and how many values that is worth. */
export interface ResidualPrior {
  readonly deviation: number;
  readonly weight: number;
}

/** A row of the Cholesky factor, of all points. */
interface Row {
  readonly point: number;
  readonly factor: Float64Array<ArrayBuffer>;
  /** Deviation of its value, noise included, given the rows before. */
  readonly pivot: number;
  /** How far its value, where it is known, was from what was expected, in these deviations. */
  readonly surprise: number;
  /** The point from which on the factor is known. */
  readonly first: number;
}

/**
 * A Gaussian process (Rasmussen, Williams, "Gaussian Processes for Machine Learning", 2006, ch. 2): a measured value moves
 * the mean and the deviation of all others.
 *
 * Its points are known beforehand, so that conditioning on one more value (a row of the Cholesky factor) updates the mean and
 * the variance of all of them at once: O(points × values known). What it says of another point follows from that one's
 * covariances with them.
 *
 * What is being measured is **expected**: variances shrink as if its value were known, since they do not depend on
 * the value; means stay as they are, as if the value were what is believed (the kriging believer of Ginsbourger,
 * Le Riche, Carraro, "Kriging is well-suited to parallelize optimization", 2010). Rows of expected values follow the
 * rows of known ones: where one comes before those that were expected earlier, or never, the others' rows are made anew.
 */
export class GaussianProcess {
  /** Posterior mean of each point. */
  readonly mean: Float64Array<ArrayBuffer>;
  /** Posterior variance of each point. */
  readonly #variances: Float64Array<ArrayBuffer>;
  readonly #known: Row[] = [];
  readonly #expected: Row[] = [];
  #squares = 0;
  /** Nothing is asked of the points before this one any more. */
  #first = 0;
  #weights: Float64Array | undefined;

  /**
   * @param mean of each point, before anything is known
   * @param residual where the values themselves tell how large all variances are
   */
  constructor(
    mean: ArrayLike<number>,
    private readonly covariance: Covariance,
    private readonly residual?: ResidualPrior,
  ) {
    this.mean = Float64Array.from(mean);
    this.#variances = covariance.variances.slice();
  }

  /** A process that knows a value of every point: it is asked for its likelihood, and for other points. */
  static of(
    values: ArrayLike<number>,
    ...process: ConstructorParameters<typeof GaussianProcess>
  ): GaussianProcess {
    const known = new GaussianProcess(...process);
    for (let i = 0; i < values.length; i++) {
      known.#first = i;
      known.observe(i, values[i]!);
    }
    return known;
  }

  /** A point is being measured. */
  expect(point: number): void {
    const first = this.#first, variances = this.#variances, factor = this.covariance.row(point, first);
    for (const earlier of this.#known) subtract(factor, earlier.factor[point]!, earlier.factor, first);
    for (const earlier of this.#expected) subtract(factor, earlier.factor[point]!, earlier.factor, first);
    const pivot = Math.sqrt(Math.max(variances[point]!, 0) + this.covariance.noise(point));
    for (let i = first; i < factor.length; i++) {
      factor[i]! /= pivot;
      variances[i]! -= factor[i]! * factor[i]!;
    }
    this.#expected.push({ point, factor, pivot, surprise: 0, first });
  }

  /** Takes in a value, expected or not. */
  observe(point: number, value: number): void {
    const rest = this.#expected[0]?.point === point ? [] : this.#withdraw(point, 0);
    if (this.#expected.length === 0) this.expect(point);
    const row = this.#expected.shift()!, surprise = (value - this.mean[point]!) / row.pivot;
    subtract(this.mean, -surprise, row.factor, row.first);
    this.#known.push({ ...row, surprise });
    this.#squares += surprise * surprise;
    this.#weights = undefined;
    for (const other of rest) this.expect(other);
  }

  /** A value that was expected does not come. */
  giveUp(point: number): void {
    const at = this.#expected.findIndex((row) => row.point === point);
    if (at >= 0) { for (const other of this.#withdraw(point, at)) this.expect(other); }
  }

  /** Takes back what expected rows from one on explain; returns their points, but for this one. */
  #withdraw(point: number, from: number): number[] {
    const rows = this.#expected.splice(from);
    for (const { factor } of rows) {
      for (let i = 0; i < factor.length; i++) this.#variances[i]! += factor[i]! * factor[i]!;
    }
    return rows.flatMap((row) => row.point === point ? [] : [row.point]);
  }

  /** Posterior standard deviation of a point's true value. */
  deviation(point: number): number {
    return Math.sqrt(Math.max(this.#variances[point]!, 0) * this.#scale);
  }

  /** The mean of a point that is none of the process's, over its own before anything is known; by its covariances with those. */
  meanBeside(covariances: Float64Array): number {
    this.#weights ??= this.#solve();
    let sum = 0;
    for (let i = 0; i < this.#known.length; i++) {
      sum += this.#weights[i]! * covariances[this.#known[i]!.point]!;
    }
    return sum;
  }

  /** Its standard deviation. @param variance before anything is known */
  deviationBeside(covariances: Float64Array, variance: number): number {
    const left = covariances.slice();
    let rest = variance;
    for (const row of this.#known) {
      const explained = left[row.point]! / row.pivot;
      subtract(left, explained, row.factor, row.first);
      rest -= explained * explained;
    }
    return Math.sqrt(Math.max(rest, 0) * this.#scale);
  }

  /** Logarithm of the likelihood of the known values, but for a constant (equation 2.30, with the residual's variance estimated). */
  get logLikelihood(): number {
    const { weight = 0 } = this.residual ?? {};
    return this.#known.reduce(
      (sum, { pivot }) => sum - Math.log(pivot),
      -(this.#known.length + weight) / 2 * Math.log(this.#scale),
    );
  }

  /** Variance of the residual: estimated from the surprises, with what was expected before as some of them. */
  get #scale(): number {
    if (this.residual === undefined) return 1;
    const { deviation, weight } = this.residual;
    return (this.#squares + weight * deviation ** 2) / (this.#known.length + weight);
  }

  /** The weights of the known points' covariances in a mean: of the Cholesky factor L, L⁻ᵀ times the surprises. */
  #solve(): Float64Array {
    const known = this.#known, weights = Float64Array.from(known, ({ surprise }) => surprise);
    for (let i = known.length - 1; i >= 0; i--) {
      for (let j = i + 1; j < known.length; j++) {
        weights[i]! -= known[i]!.factor[known[j]!.point]! * weights[j]!;
      }
      weights[i]! /= known[i]!.pivot;
    }
    return weights;
  }
}

/** Subtracts a multiple of a row, from an element on. */
function subtract(from: Float64Array, weight: number, row: Float64Array, first: number): void {
  if (weight === 0) return;
  for (let i = first; i < from.length; i++) from[i]! -= weight * row[i]!;
}
