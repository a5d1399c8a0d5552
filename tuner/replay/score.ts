/**
 * How good a strategy is on a space, as the auto-tuning community counts it: Willemsen, Schoonhoven, Filipovič,
 * Tørring, van Nieuwpoort, van Werkhoven, "A Methodology for Comparing Auto-Tuning Optimization Algorithms",
 * Future Generation Computer Systems 159 (2024). Costs are times of one run, 1 / rate. With S(n) the cost that
 * random search is expected to have reached after n evaluations, F(n) the mean cost over the strategy's runs, and
 * S* the optimum,
 *
 *     P(n) = (S(n) − F(n)) / (S(n) − S*)
 *
 * is 0 for random search, 1 at the optimum, negative for what is worse than random search. The **score** is the
 * mean of P over budgets n that lie evenly between 1 and the cutoff: the first n with which random search has come
 * 95% of the way from the median cost of the space to the optimum.
 *
 * Two things are more exact than there: S(n) is the expectation itself rather than the cost at the expected
 * rank, and failed evaluations count, for both. A search that has no rate yet has the cost of the slowest
 * configuration. Budgets are evaluations; the paper's are times.
 *
 * @module
 */

/** Part of the way from the median to the optimum at which the score stops looking. */
const CUTOFF = 0.95;

/** The most budgets that count. */
const BUDGETS = 50;

/** Random search on a space. */
export interface Baseline {
  /** Expected cost after n evaluations, at index n − 1. */
  readonly expected: readonly number[];
  /** The smallest cost there is. */
  readonly optimum: number;
  /** The cost before any evaluation succeeded: the largest there is. */
  readonly worst: number;
  /** Evaluations at which random search has come 95% of the way. */
  readonly cutoff: number;
  /** Budgets that count, growing. */
  readonly budgets: readonly number[];
}

/**
 * Random search without repetition, from the recorded rates: of N configurations the cost of rank i (1 the best) is
 * the best of n drawn with the probability C(N−i, n−1) / C(N, n).
 *
 * @param rates of all configurations, larger is better; undefined where it failed; at least one is a rate
 * @param most evaluations that a search may make: larger budgets do not count, as no search uses them
 */
export function randomBaseline(rates: readonly (number | undefined)[], most = Infinity): Baseline {
  const valid = rates.flatMap((rate) => rate === undefined ? [] : 1 / rate).sort((a, b) => a - b);
  if (valid.length === 0) throw new RangeError("Cannot compute a baseline: no configuration has a rate");
  const total = rates.length, optimum = valid[0]!, worst = valid.at(-1)!;
  const expected: number[] = [];
  for (let n = 1; n <= total; n++) {
    // the probability that all better ones are missing, and this one is drawn
    let missing = 1, cost = 0;
    for (let i = 0; i < valid.length && missing > 1e-15; i++) {
      const drawn = missing * n / (total - i);
      cost += drawn * valid[i]!;
      missing -= drawn;
      if (n > total - i - 1) missing = 0; // those that are left are fewer than are drawn
    }
    expected.push(cost + missing * worst);
  }
  const median = valid[Math.floor((valid.length - 1) / 2)]!;
  const enough = optimum + (1 - CUTOFF) * (median - optimum);
  const reached = expected.findIndex((cost) => cost <= enough);
  const cutoff = reached < 0 ? total : reached + 1, last = Math.min(cutoff, most);
  const count = Math.min(BUDGETS, last);
  const budgets = Array.from(
    { length: count },
    (_, i) => count === 1 ? last : Math.round(1 + i * (last - 1) / (count - 1)),
  );
  return { expected, optimum, worst, cutoff, budgets };
}

/**
 * The score of a strategy.
 *
 * @param baseline random search on the space
 * @param runs of each run the best rate after each evaluation, undefined before the first success; a run that ended
 * keeps its last
 * @returns 1 for the optimum at once, 0 for random search; 1 where all configurations cost the same
 */
export function scoreOf(baseline: Baseline, runs: readonly (readonly (number | undefined)[])[]): number {
  const { expected, optimum, worst, budgets } = baseline;
  const parts = budgets.flatMap((n) => {
    const gap = expected[n - 1]! - optimum;
    if (!(gap > 1e-12 * optimum)) return [];
    const cost = runs.reduce((sum, best) => {
      const rate = best[Math.min(n, best.length) - 1];
      return sum + (rate === undefined ? worst : 1 / rate);
    }, 0) / runs.length;
    return (expected[n - 1]! - cost) / gap;
  });
  return parts.length === 0 ? 1 : parts.reduce((a, b) => a + b) / parts.length;
}
