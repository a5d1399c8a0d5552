import { errorFunction } from "npm:simple-statistics@7.12.1";

/**
 * By how much a normal variable is expected to exceed a bound, counting what falls short as nothing (Jones,
 * Schonlau, Welch, "Efficient Global Optimization of Expensive Black-Box Functions", J. Global Optimization 13,
 * 1998, equation 15).
 *
 * @param mean of the variable
 * @param deviation its standard deviation, >= 0
 * @param best the bound
 */
export function expectedImprovement(mean: number, deviation: number, best: number): number {
  const gain = mean - best;
  if (!(deviation > 0)) return Math.max(0, gain);
  const z = gain / deviation;
  return Math.max(0, gain * normalCdf(z) + deviation * Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI));
}

/** Φ(z), within 1e-6. */
export function normalCdf(z: number): number {
  return (1 + errorFunction(z / Math.SQRT2)) / 2;
}
