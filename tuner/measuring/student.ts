/**
 * Student's t distribution, for the handful of samples that measuring allows.
 *
 * @module
 */

/** Halvings of the search for a quantile: the angle is then known to the last bit. */
const HALVINGS = 60;

/**
 * The probability that a t of so many degrees of freedom lies between −t and t: the finite sums of Abramowitz and
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

/**
 * The t below which the given part of Student's distribution lies.
 *
 * @throws {RangeError} unless the probability is from 0.5 to below 1, and the degrees of freedom a whole number from 1
 */
export function studentQuantile(probability: number, degrees: number): number {
  if (!(probability >= 0.5 && probability < 1)) {
    throw new RangeError(
      `Cannot find a quantile: wanted a probability from 0.5 to below 1: it is ${probability}`,
    );
  }
  if (!(Number.isSafeInteger(degrees) && degrees >= 1)) {
    throw new RangeError(`Cannot find a quantile: wanted whole degrees of freedom from 1: it is ${degrees}`);
  }
  const central = 2 * probability - 1;
  let low = 0, high = Math.PI / 2;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (centralProbability(middle, degrees) < central) low = middle;
    else high = middle;
  }
  return Math.sqrt(degrees) * Math.tan((low + high) / 2);
}
