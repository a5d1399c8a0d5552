/**
 * Coefficients of a cost from a handful of measurements (B2R, Eq. 1 and 4: y = a·x + b): least squares of the
 * *relative* residuals, that is with weights 1/y². Times of a device span orders of magnitude and their noise is
 * proportional to them; by absolute residuals the longest alone would decide, and the small ones, on which b
 * depends, would not matter.
 *
 * No coefficient is negative: work never gives time back. A negative one is noise, or a curve that is no line, and
 * would predict negative times outside of what was measured. What would become negative is 0, and the others are
 * fitted again without it (Lawson, Hanson, "Solving Least Squares Problems", ch. 23; of the few columns here all
 * subsets are tried instead of searched).
 *
 * @module
 */
import { median } from "simple-statistics";
import type { LinearCost } from "./ghost_zone_cost.ts";

/** One measurement: how much of each kind of work took how long. */
export interface CostSample {
  /** Units of each kind of work; 1 for what every measurement has once. */
  readonly work: readonly number[];
  /** Time, above 0. */
  readonly time: number;
}

/** Result of {@linkcode fitCosts}. */
export interface CostFit {
  /** Time of one unit of each kind of work, none negative. */
  readonly coefficients: readonly number[];
  /** (predicted − measured) / measured, one a sample. */
  readonly residuals: readonly number[];
  /** Median of the residuals' absolute values. */
  readonly medianError: number;
}

/** Result of {@linkcode fitLine}. */
export interface LineFit extends LinearCost, Pick<CostFit, "residuals" | "medianError"> {}

/** More kinds of work than a handful of measurements could tell apart. */
const MAX_COLUMNS = 6;

/**
 * Fits times as a sum of kinds of work, each with its own time per unit, by least squares of relative residuals
 * with no coefficient below 0.
 *
 * @param samples at least one; kinds of work that the samples cannot tell apart share no blame: the later one is 0
 * @throws {RangeError} if there is no sample, a sample's work is of another length, negative or not finite, a time
 * is not above 0, or no kind of work explains anything
 *
 * @example
 * ```ts
 * import { fitCosts } from "./least_squares.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const samples = [[1, 1], [2, 1], [10, 1]].map(([x, one]) => ({ work: [x, one], time: 3 * x + 4 * one }));
 * const { coefficients: [a, b] } = fitCosts(samples);
 * assertAlmostEquals(a, 3, 1e-9);
 * assertAlmostEquals(b, 4, 1e-9);
 * ```
 */
export function fitCosts(samples: readonly CostSample[]): CostFit {
  const columns = checkSamples(samples);
  // weights 1/y: every row is divided by its time, and should come to 1
  const rows = samples.map(({ work, time }) => work.map((units) => units / time));
  const scales = Array.from({ length: columns }, (_, k) => Math.max(...rows.map((row) => row[k])));
  const scaled = rows.map((row) => row.map((value, k) => scales[k] === 0 ? 0 : value / scales[k]));
  let best: { solution: number[]; error: number } | undefined;
  for (let subset = 1; subset < 2 ** columns; subset++) {
    const used = Array.from({ length: columns }, (_, k) => k).filter((k) => (subset >> k) & 1);
    const solution = solveNormal(scaled, used);
    if (solution === undefined || solution.some((value) => value < 0)) continue;
    const full = new Array<number>(columns).fill(0);
    used.forEach((k, i) => full[k] = solution[i]);
    const error = scaled.reduce((sum, row) => sum + (dot(row, full) - 1) ** 2, 0);
    // a column that does not help is left out: smaller subsets come first among those of equal error
    if (best === undefined || error < best.error * (1 - 1e-9) - 1e-24) best = { solution: full, error };
  }
  if (best === undefined) throw new RangeError("Cannot fit costs: no kind of work is above 0 in any sample");
  const { solution } = best;
  const residuals = scaled.map((row) => dot(row, solution) - 1);
  return {
    coefficients: solution.map((value, k) => scales[k] === 0 ? 0 : value / scales[k]),
    residuals,
    medianError: median(residuals.map(Math.abs)),
  };
}

/**
 * Fits Eq. 1, y = a·x + b, by least squares of relative residuals with a, b >= 0.
 *
 * @param samples work x >= 0 and time y > 0, at least two different x
 * @throws {RangeError} if the samples cannot be used
 *
 * @example
 * ```ts
 * import { fitLine } from "./least_squares.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const { a, b } = fitLine([{ x: 10, y: 25 }, { x: 1000, y: 2005 }]);
 * assertAlmostEquals(a, 2, 1e-9);
 * assertAlmostEquals(b, 5, 1e-9);
 * ```
 */
export function fitLine(samples: readonly { readonly x: number; readonly y: number }[]): LineFit {
  if (new Set(samples.map(({ x }) => x)).size < 2) {
    throw new RangeError(
      `Cannot fit a line: wanted times of at least 2 different amounts of work: found ${
        samples.length === 0 ? "none" : `only ${samples[0].x}`
      }`,
    );
  }
  const { coefficients: [a, b], residuals, medianError } = fitCosts(
    samples.map(({ x, y }) => ({ work: [x, 1], time: y })),
  );
  return { a, b, residuals, medianError };
}

/** Refuses samples that no fit can use; returns the number of columns. */
function checkSamples(samples: readonly CostSample[]): number {
  if (samples.length === 0) throw new RangeError("Cannot fit costs: there is no measurement");
  const columns = samples[0].work.length;
  if (columns < 1 || columns > MAX_COLUMNS) {
    throw new RangeError(`Cannot fit costs: wanted 1 to ${MAX_COLUMNS} kinds of work: found ${columns}`);
  }
  for (const { work, time } of samples) {
    if (!(time > 0 && Number.isFinite(time))) {
      throw new RangeError(`Cannot fit costs: wanted times above 0: found ${time}`);
    }
    const wrong = work.find((units) => !(units >= 0 && Number.isFinite(units)));
    if (wrong !== undefined) throw new RangeError(`Cannot fit costs: wanted work >= 0: found ${wrong}`);
    if (work.length !== columns) {
      throw new RangeError(`Cannot fit costs: wanted ${columns} kinds of work: found ${work.length}`);
    }
  }
  return columns;
}

/** Solves (AᵀA) x = Aᵀ1 for the columns that are used; undefined where they cannot be told apart. */
function solveNormal(rows: readonly (readonly number[])[], used: readonly number[]): number[] | undefined {
  const n = used.length;
  const matrix = used.map((i) => [
    ...used.map((j) => rows.reduce((sum, row) => sum + row[i] * row[j], 0)),
    rows.reduce((sum, row) => sum + row[i], 0),
  ]);
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(matrix[row][column]) > Math.abs(matrix[pivot][column])) pivot = row;
    }
    [matrix[column], matrix[pivot]] = [matrix[pivot], matrix[column]];
    // columns are scaled to 1: what is left of one that others explain is rounding
    if (Math.abs(matrix[column][column]) < 1e-12) return undefined;
    for (let row = 0; row < n; row++) {
      if (row === column) continue;
      const factor = matrix[row][column] / matrix[column][column];
      for (let k = column; k <= n; k++) matrix[row][k] -= factor * matrix[column][k];
    }
  }
  return matrix.map((row, i) => row[n] / row[i]);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}
