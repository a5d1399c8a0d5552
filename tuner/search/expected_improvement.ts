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

/** Φ(z), within 1.5e-7 (Abramowitz, Stegun, "Handbook of Mathematical Functions", 7.1.26). */
export function normalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2, t = 1 / (1 + 0.3275911 * x);
  const tail = t * Math.exp(-x * x) *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return z > 0 ? 1 - tail / 2 : tail / 2;
}
