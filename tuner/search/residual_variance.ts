/** Standard deviation of the residual that is expected before anything is known, and how many values that is worth. */
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
