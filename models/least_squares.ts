/** One measurement: how much of each kind of work took how long. */
interface CostSample {
  /** Units of each kind of work, >= 0; 1 for what every measurement has once. */
  readonly work: readonly number[];
  /** Time, above 0. */
  readonly time: number;
}

export interface CostFit {
  /** Time of one unit of each kind of work, none negative. */
  readonly coefficients: readonly number[];
  /** (predicted − measured) / measured, one a sample. */
  readonly residuals: readonly number[];
}

/**
 * Fits times as a sum of kinds of work, each with its own time per unit, from a handful of measurements (B2R, Eq. 1 and
 * 4): least squares of the *relative* residuals, that is with weights 1/y². Times of a device span orders of magnitude
 * and their noise is proportional to them. By absolute residuals the longest alone would decide, and the short ones, on
 * which b depends, would not matter.
 *
 * No coefficient is negative, because work never gives time back: a negative one would predict negative times beyond
 * what was measured. It becomes 0, and the others are fitted without it (Lawson, Hanson, "Solving Least Squares
 * Problems", ch. 23; with so few columns all subsets are tried).
 *
 * @param samples at least one; of kinds of work that they do not distinguish, the later one is 0
 * @throws {RangeError} if there is no sample, or a time is not above 0
 */
export function fitCosts(samples: readonly CostSample[]): CostFit {
  const [first] = samples;
  if (first === undefined) throw new RangeError("Cannot fit costs: there is no measurement");
  for (const { time } of samples) {
    if (!(time > 0 && Number.isFinite(time))) {
      throw new RangeError(`Cannot fit costs: times must be above 0: current value is ${time}`);
    }
  }
  const columns = first.work.length;
  // weights 1/y: every row is divided by its time, and should come to 1
  const rows = samples.map(({ work, time }) => work.map((units) => units / time));
  const scales = Array.from({ length: columns }, (_, k) => Math.max(...rows.map((row) => row[k]!)));
  const scaled = rows.map((row) => row.map((value, k) => scales[k] === 0 ? 0 : value / scales[k]!));
  let best: { solution: number[]; error: number } | undefined;
  for (let subset = 1; subset < 2 ** columns; subset++) {
    const used = Array.from({ length: columns }, (_, k) => k).filter((k) => (subset >> k) & 1);
    const solution = solveNormal(scaled, used);
    if (solution === undefined || solution.some((value) => value < 0)) continue;
    const full = new Array<number>(columns).fill(0);
    used.forEach((k, i) => full[k] = solution[i]!);
    const error = scaled.reduce((sum, row) => sum + (dot(row, full) - 1) ** 2, 0);
    // of equal errors the smaller subset, which comes first, leaves out the column that does not help
    if (best === undefined || error < best.error * (1 - 1e-9) - 1e-24) best = { solution: full, error };
  }
  if (best === undefined) throw new RangeError("Cannot fit costs: no kind of work is above 0 in any sample");
  const { solution } = best;
  return {
    coefficients: solution.map((value, k) => scales[k] === 0 ? 0 : value / scales[k]!),
    residuals: scaled.map((row) => dot(row, solution) - 1),
  };
}

/** Solves (AᵀA) x = Aᵀ1 for the columns that are used, by elimination; undefined where the rows do not distinguish them. */
function solveNormal(rows: readonly (readonly number[])[], used: readonly number[]): number[] | undefined {
  const equations = used.map((i) => [
    ...used.map((j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
    rows.reduce((sum, row) => sum + row[i]!, 0),
  ]);
  for (const [k, pivots] of equations.entries()) {
    // columns are scaled to 1: what is left of one that others explain is rounding
    if (pivots[k]! < 1e-12) return undefined;
    for (const [i, equation] of equations.entries()) {
      const factor = i === k ? 0 : equation[k]! / pivots[k]!;
      equation.forEach((value, j) => equation[j] = value - factor * pivots[j]!);
    }
  }
  return equations.map((equation, k) => equation.at(-1)! / equation[k]!);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
