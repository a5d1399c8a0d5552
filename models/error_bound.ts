/**
 * How far two correct kernels of one stencil may lie apart: what rounding explains. A larger difference is a
 * wrong result.
 *
 * **One step.** A value passes through at most d roundings (`depth`), each with a relative error of at most
 * u = 2⁻²⁴, on partial results of at most m·F, with m = Σ|weight| (`magnitude`) and F the largest |value| of
 * the field. In the worst case that is d·u·m·F a step. Rounding errors behave as independent random variables
 * of mean zero (Higham, Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput.
 * 2019, 41(5), Theorem 2.4): with probability at least 1 − 2 exp(−λ²/2) their sum stays below λ √d u m F.
 *
 * **Many steps.** The error made in one step travels on as the scheme carries any field. Errors of different
 * steps and cells are independent, so variances add: the standard deviation after n steps is that of one step
 * times `errorGrowth(n)` = √(Σ_j ‖G_j‖²), with G_j the response j steps later to a unit error; every sub-step makes
 * errors of its own. Updates of whole numbers make none.
 *
 * **All cells.** λ = 8 leaves 2 exp(−32) = 2.5 · 10⁻¹⁴ for one cell, and 2.5 · 10⁻⁵ for any of 10⁹ cells.
 *
 * **Two kernels** each round in their own order; the variance of their difference is twice that of one.
 *
 * **Grids without zeros around them** hold the uniform mode, which no neighbour restores: the wave equation lets it drift at
 * constant speed, so a unit error becomes U_j = j + 1. Of N cells it has the share 1/N, which is nothing on
 * large grids and most of the error on small ones after many steps. U follows from the update itself, as the
 * answer to a field that is the same everywhere; it adds Σ_j U_j² / N to the growth of the variance.
 *
 * **Insulated ends** mirror errors: the outermost cells answer to those of their neighbours twice, once from the grid
 * and once from its image. Along each insulated axis that doubles the variance there.
 *
 * **Against exact arithmetic** (`kernels: 1`) one more error counts, which two kernels share: the weights
 * themselves are rounded to f32, the same way in every step. At worst the field is F everywhere and all the
 * changes of weights add up: Σ|Δweight| · F · Σ_j |U_j|.
 *
 * @module
 */
import { type Expression, fold, isSame, NUMBERS, type Tap } from "../kernels/expression.ts";
import { arithmeticOf, onlyExpression, tapsOf, type Update } from "../kernels/update.ts";
import { alongAxes, cellsOf, type Problem, type Stencil } from "../kernels/stencils/stencil.ts";

/** Largest relative error of one f32 rounding to nearest. */
const UNIT_ROUNDOFF = 2 ** -24;

/** Standard deviations that the bound allows. */
const LAMBDA = 8;

/** Input of {@linkcode errorBound}. */
export interface ErrorBoundInput {
  readonly stencil: Stencil;
  /** Steps since both kernels held the same field. */
  readonly steps: number;
  /** Largest |value| that the field took. */
  readonly maxField: number;
  /** 2: both results come from f32 kernels. 1: the other comes from arithmetic without rounding (f64). */
  readonly kernels: 1 | 2;
  /** Cells of the grid, unless zeros lie beyond any of its ends. @default {undefined} there is no uniform mode */
  readonly periodicCells?: number | undefined;
  /** Axes along which the grid is mirrored. @default {0} */
  readonly insulatedAxes?: number;
}

/** What the boundary of a problem means for its errors. */
export function boundaryErrors(
  { boundary, grid }: Pick<Problem, "boundary" | "grid">,
): Pick<ErrorBoundInput, "periodicCells" | "insulatedAxes"> {
  const along = alongAxes(boundary);
  return {
    periodicCells: along.includes("zero") ? undefined : cellsOf(grid),
    insulatedAxes: along.filter((one, axis) => one === "insulated" && grid[axis]! > 1).length,
  };
}

/**
 * The largest |difference| of two results that rounding explains: λ √(kernels) u √depth · magnitude · maxField ·
 * growth(steps), and against f64 the rounding of the weights as well.
 */
export function errorBound(
  { stencil, steps, maxField, kernels, periodicCells, insulatedAxes = 0 }: ErrorBoundInput,
): number {
  if (!(Number.isSafeInteger(steps) && steps >= 0 && maxField >= 0 && Number.isFinite(maxField))) {
    throw new RangeError(
      "Cannot bound the error: steps must be a whole number >= 0, maxField finite and >= 0: " +
        `they are ${steps} and ${maxField}`,
    );
  }
  if (steps === 0) return 0;
  const uniform = uniformGrowth(stencil.update, steps);
  const ownGrowth = stencil.errorGrowth?.(steps) ?? Math.sqrt(uniform.squares);
  if (ownGrowth === 0) return 0;
  const { depth, magnitude } = arithmeticOf(stencil.update);
  const drift = periodicCells === undefined ? 0 : uniform.squares / periodicCells;
  const growth = Math.sqrt(2 ** insulatedAxes * stencil.update.substeps.length * ownGrowth ** 2 + drift);
  const random = LAMBDA * Math.sqrt(kernels * depth) * UNIT_ROUNDOFF * magnitude * maxField * growth;
  return kernels === 2 ? random : random + weightError(stencil.update) * maxField * uniform.sum;
}

/**
 * Σ|U_j| and ΣU_j² over the steps: how a unit error in every cell goes on, U_{j+1} = a U_j + b U_{j−1}. Updates of
 * several fields here are first-order systems, whose differences do not see a uniform field: U stays 1.
 */
function uniformGrowth(update: Update, steps: number): { sum: number; squares: number } {
  const expression = onlyExpression(update);
  if (expression === undefined) return { sum: steps, squares: steps };
  const a = onTaps(expression, (tap) => tap.ago === 0 ? 1 : 0);
  const b = onTaps(expression, (tap) => tap.ago === 1 ? 1 : 0);
  let response = 1, before = 0, sum = 0, squares = 0;
  for (let step = 0; step < steps; step++) {
    sum += Math.abs(response);
    squares += response * response;
    [response, before] = [a * response + b * before, response];
  }
  return { sum, squares };
}

/**
 * Σ over the taps of how much rounding the constants to f32 changes the tap's weight; of several fields no more than
 * half a unit of rounding of all weights together.
 */
function weightError(update: Update): number {
  const expression = onlyExpression(update);
  if (expression === undefined) {
    return UNIT_ROUNDOFF * arithmeticOf(update).magnitude * update.substeps.length;
  }
  return tapsOf(update).reduce((sum, wanted) => {
    const weight = (tap: Tap): number => isSame(tap, wanted) ? 1 : 0;
    return sum + Math.abs(onTaps(expression, weight, Math.fround) - onTaps(expression, weight));
  }, 0);
}

/** The update's value for given taps. */
function onTaps(expression: Expression, tap: (tap: Tap) => number, constant = NUMBERS.constant): number {
  return fold<number>(expression, { ...NUMBERS, tap, constant });
}
