/**
 * A Gaussian process over the candidates of a space (Rasmussen, Williams, "Gaussian Processes for Machine
 * Learning", 2006): what is known of a few tells the mean and the deviation of all others.
 *
 * Two candidates of one traversal are correlated by Π exp(−steps_i / length_i), over the steps between their
 * places along each parameter: rates have kinks, where registers or workgroup memory run out, so the process is
 * as rough as it gets. Candidates of different traversals share only the level and the trend of the prior.
 *
 * The candidates are finitely many and known beforehand, so that conditioning on one more value (a row of the
 * Cholesky factor) updates the mean and the variance of all of them at once: O(candidates × values known).
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

/** Standard deviation of the residual that is expected before anything is known, and how many values that is worth. */
const PRIOR_DEVIATION = 0.6, PRIOR_WEIGHT = 4;

/** A process that is conditioned on values one by one. */
export class LatticeProcess {
  /** Posterior mean of each candidate. */
  readonly mean: Float64Array;
  /** Posterior variance of each candidate, over that of the residual. */
  readonly #variance: Float64Array;
  /** Rows of the Cholesky factor, of all candidates. */
  readonly #factors: Float64Array[] = [];
  readonly #centre: number;
  #squares = 0;
  #logDeterminant = 0;

  constructor(readonly inputs: ProcessInputs, readonly kernel: Kernel) {
    const { prior } = inputs;
    this.mean = Float64Array.from(prior);
    this.#centre = prior.reduce((a, b) => a + b, 0) / prior.length;
    this.#variance = Float64Array.from(prior, (_, i) => this.#covariance(i, i));
  }

  /** Takes in a value. */
  observe(candidate: number, value: number): void {
    const count = this.mean.length;
    const pivot = Math.sqrt(Math.max(this.#variance[candidate], 0) + this.kernel.noise);
    const factor = new Float64Array(count);
    for (let i = 0; i < count; i++) factor[i] = this.#covariance(i, candidate);
    for (const earlier of this.#factors) {
      const weight = earlier[candidate];
      if (weight === 0) continue;
      for (let i = 0; i < count; i++) factor[i] -= weight * earlier[i];
    }
    const surprise = (value - this.mean[candidate]) / pivot;
    for (let i = 0; i < count; i++) {
      factor[i] /= pivot;
      this.mean[i] += factor[i] * surprise;
      this.#variance[i] -= factor[i] * factor[i];
    }
    this.#factors.push(factor);
    this.#squares += surprise * surprise;
    this.#logDeterminant += Math.log(pivot);
  }

  /** Values that were taken in. */
  get known(): number {
    return this.#factors.length;
  }

  /** Variance of the residual: estimated from the values, with what was expected before as some of them. */
  get scale(): number {
    return (this.#squares + PRIOR_WEIGHT * PRIOR_DEVIATION ** 2) / (this.known + PRIOR_WEIGHT);
  }

  /** Posterior standard deviation of a candidate's true value. */
  deviation(candidate: number): number {
    return Math.sqrt(Math.max(this.#variance[candidate], 0) * this.scale);
  }

  /** Logarithm of how likely the values are under this kernel, but for a constant. */
  get logLikelihood(): number {
    return -this.#logDeterminant - (this.known + PRIOR_WEIGHT) / 2 * Math.log(this.scale);
  }

  #covariance(i: number, j: number): number {
    const { inputs: { groups, places, prior }, kernel: { lengths, level, trend, group } } = this;
    let sum = level + trend * (prior[i] - this.#centre) * (prior[j] - this.#centre);
    if (groups[i] !== groups[j]) return sum;
    sum += group;
    const one = places[i], other = places[j], scales = lengths[groups[i]];
    let distance = 0;
    for (let k = 0; k < one.length; k++) distance += Math.abs(one[k] - other[k]) / scales[k];
    return sum + Math.exp(-distance);
  }
}

/** Lengths that are tried, in steps: from "tells nothing of the next value" to "does not matter". */
const LENGTHS = [0.5, 1, 2, 4, 8, 16, 64];

/** Logarithms of lengths are expected about this one, with this deviation; few values must not say otherwise. */
const EXPECTED_LENGTH = 5, LENGTH_DEVIATION = 1.2;

/** Noises that are tried. */
const NOISES = [1e-4, 1e-3, 1e-2, 1e-1];

/**
 * The kernel that explains values best, found one length after the other from an earlier kernel.
 *
 * @param inputs the candidates whose values are known, and no others
 * @param values their values
 * @param start the kernel to start from
 */
export function fitKernel(inputs: ProcessInputs, values: readonly number[], start: Kernel): Kernel {
  const judge = (kernel: Kernel): number => {
    const process = new LatticeProcess(inputs, kernel);
    values.forEach((value, i) => process.observe(i, value));
    const deviations = kernel.lengths.flat().map((length) =>
      Math.log(length / EXPECTED_LENGTH) / LENGTH_DEVIATION
    );
    return process.logLikelihood - deviations.reduce((sum, deviation) => sum + deviation ** 2, 0) / 2;
  };
  let best = start, most = judge(start);
  const consider = (kernel: Kernel): void => {
    const likelihood = judge(kernel);
    if (likelihood > most) [best, most] = [kernel, likelihood];
  };
  for (const noise of NOISES) if (noise !== best.noise) consider({ ...best, noise });
  start.lengths.forEach((list, group) => {
    // of a traversal that was tried once nothing is learnt
    if (inputs.groups.filter((one) => one === group).length < 3) return;
    list.forEach((_, i) => {
      for (const length of LENGTHS) {
        if (length === best.lengths[group][i]) continue;
        consider({ ...best, lengths: best.lengths.with(group, best.lengths[group].with(i, length)) });
      }
    });
  });
  return best;
}

/** The kernel before anything is known. */
export function expectedKernel(sizes: readonly (readonly number[])[]): Kernel {
  return {
    lengths: sizes.map((list) => list.map(() => EXPECTED_LENGTH)),
    noise: 1e-3,
    level: 1,
    trend: 0.1,
    group: 0.5,
  };
}
