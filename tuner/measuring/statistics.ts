/**
 * What a handful of samples says: the median, the spread, an interval for the true median, and Student's distribution.
 *
 * @module
 */
import { max, mean, median as medianOf, min, sampleStandardDeviation } from "npm:simple-statistics@7.12.1";

/** Samples from which on order statistics give a 95% interval: 1 − 2 · ½⁶ = 0.969. */
const MIN_ORDER_STATISTICS = 6;

/** The middle sample, or the mean of the two in the middle; of samples (times or rates): at least one, all finite and >= 0. */
export function median(samples: readonly number[]): number {
  checkSamples(samples);
  return medianOf([...samples]);
}

/** (largest − smallest) / median; 0 where the median is 0. */
export function relativeSpread(samples: readonly number[]): number {
  const middle = median(samples);
  return middle === 0 ? 0 : (max([...samples]) - min([...samples])) / middle;
}

/**
 * An interval that contains the true median in at least 95 of 100 repetitions of the whole measurement.
 *
 * **Six or more samples:** from the k-th smallest to the k-th largest, with the largest k for which
 * 1 − 2 P(B < k) >= 0.95, B binomial with n trials of ½ (David, Nagaraja, "Order Statistics", 3rd ed., §7.1). It
 * assumes nothing about the distribution.
 *
 * **Two to five:** smallest to largest would contain it in only 50 to 94 of 100 cases, so it is widened to Student's
 * interval of the mean, x̄ ± t s/√n, which assumes that samples are normally distributed. Not below 0.
 *
 * **One:** says nothing about the spread; the interval is from 0 to twice the sample.
 */
export function medianInterval95(samples: readonly number[]): [low: number, high: number] {
  checkSamples(samples);
  const n = samples.length;
  if (n === 1) return [0, 2 * samples[0]!];
  const sorted = samples.toSorted((a, b) => a - b);
  if (n >= MIN_ORDER_STATISTICS) {
    const k = orderStatistic(n);
    return [sorted[k - 1]!, sorted[n - k]!];
  }
  const [low, high] = meanInterval95(sorted);
  return [Math.max(0, Math.min(sorted[0]!, low)), Math.max(sorted[n - 1]!, high)];
}

/** The farthest that an end of an interval may lie from its rate, as a part of it, for others to be compared with it. */
export const WIDEST = 0.2;

/** Whether a rate has an interval so narrow that others can be compared with it. */
export function isComparable({ cellsPerSecond, confidence95 }: {
  readonly cellsPerSecond: number;
  readonly confidence95: readonly [low: number, high: number] | null;
}): boolean {
  return confidence95?.every((end) => Math.abs(end - cellsPerSecond) <= WIDEST * cellsPerSecond) ?? false;
}

/** Student's 95% interval of the mean of at least two values: x̄ ± t s/√n. */
export function meanInterval95(values: readonly number[]): [low: number, high: number] {
  const n = values.length, centre = mean([...values]);
  const half = studentQuantile(0.975, n - 1) * sampleStandardDeviation([...values]) / Math.sqrt(n);
  return [centre - half, centre + half];
}

/** Largest k with 2 P(B < k) <= 0.05, B binomial(n, ½). */
function orderStatistic(n: number): number {
  let k = 0, below = 0;
  // in logarithms, since ½ⁿ underflows beyond n = 1074
  let logProbability = -n * Math.LN2;
  while (true) {
    below += Math.exp(logProbability);
    if (2 * below > 0.05) return k;
    logProbability += Math.log((n - k) / (k + 1));
    k++;
  }
}

function checkSamples(samples: readonly number[]): void {
  if (samples.length === 0) throw new RangeError("Cannot sum up samples: wanted at least one: found none");
  const wrong = samples.find((sample) => !(Number.isFinite(sample) && sample >= 0));
  if (wrong !== undefined) {
    throw new RangeError(`Cannot sum up samples: each must be finite and >= 0: one is ${wrong}`);
  }
}

/** Halvings of the search for a quantile: the angle is then known to the last bit. */
const HALVINGS = 60;

/**
 * The probability that a t of ν degrees of freedom lies between −t and t: the finite sums of Abramowitz and
 * Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4, with θ = atan(t/√ν).
 */
function centralProbability(angle: number, degrees: number): number {
  const cosine = Math.cos(angle), sine = Math.sin(angle);
  const isOdd = degrees % 2 === 1;
  let sum = 0, term = isOdd ? cosine : 1;
  for (let k = isOdd ? 1 : 0; k < degrees - 1; k += 2) {
    sum += term;
    term *= cosine * cosine * (k + 1) / (k + 2);
  }
  return isOdd ? 2 / Math.PI * (angle + sine * sum) : sine * sum;
}

/** The t below which a part of Student's distribution lies, from 0.5 to below 1; whole degrees of freedom from 1. */
export function studentQuantile(probability: number, degrees: number): number {
  const central = 2 * probability - 1;
  let low = 0, high = Math.PI / 2;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (centralProbability(middle, degrees) < central) low = middle;
    else high = middle;
  }
  return Math.sqrt(degrees) * Math.tan((low + high) / 2);
}
