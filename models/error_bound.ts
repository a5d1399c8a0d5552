/**
 * How far two correct kernels of one stencil may lie apart: what rounding explains. A larger difference is a
 * wrong result.
 *
 * **One step.** Each operation rounds with a relative error of at most u, 2⁻²⁴ in f32 and 2⁻⁵³ in f64 (a quotient's is 5 u, a root's 9 u: see
 * `responses.ts`) a value that is at most the sum of its terms' largest sizes, with every field as large as it ever
 * became. Rounding errors behave as independent random variables of mean zero (Higham, Mary, "A New Approach to
 * Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 2019, 41(5), Theorem 2.4): with probability at least
 * 1 − 2 exp(−λ²/2) their sum stays below λ times the root of the sum of their squares. Constants are rounded alike by
 * all kernels, and count for nothing.
 *
 * **Many steps.** The error made in one step travels on as the scheme carries any field. Errors of different
 * steps and cells are independent, so variances add: `varianceAfter` in `error_growth.ts`. Where all values are whole
 * numbers, and no partial result exceeds what the precision holds of these, there are none.
 *
 * **All cells.** λ = 8 leaves 2 exp(−32) = 2.5 · 10⁻¹⁴ for one cell, and 2.5 · 10⁻⁵ for any of 10⁹ cells.
 *
 * **Two kernels** each round in their own order; the variance of their difference is twice that of one.
 *
 * **Grids without zeros around them** hold the uniform mode, which no neighbour restores: the wave equation lets it
 * drift at constant speed, so a unit error becomes j + 1 after j steps. Of N cells it has the share 1/N, which is
 * nothing on large grids and most of the error on small ones after many steps.
 *
 * **Insulated ends** mirror errors: the outermost cells answer to those of their neighbours twice, once from the grid
 * and once from its image. Along each insulated axis that doubles the variance there.
 *
 * **Settled fields.** Where an equation with sources and sinks has come to rest, every step rounds alike, and errors are no
 * longer independent: those of two kernels add up to twice what one step's become in the limit (`biasAfter`).
 *
 * **No bound** is larger than twice the largest value: an equation that doubles its errors every few steps has forgotten
 * after a long run what it started from, and any two fields of its size are as good.
 *
 * @module
 */
import { precisionOf } from "../kernels/precision.ts";
import { amplitudeOf } from "../kernels/initial_field.ts";
import { alongAxes, cellsOf, type Problem, type Stencil } from "../kernels/stencils/stencil.ts";
import { remembered } from "../kernels/remembered.ts";
import { biasAfter, varianceAfter } from "./error_growth.ts";
import { responsesOf } from "./responses.ts";

/** Standard deviations that the bound allows. */
const LAMBDA = 8;

/**
 * The largest |difference| of two kernels' results, in the problem's precision, that rounding explains.
 *
 * @param problem its steps are those since both kernels held the same field
 * @param maxField largest |value| that the field took; initial values count as well
 */
export function errorBound({ stencil, grid, boundary, steps }: Problem, maxField: number): number {
  if (steps === 0) return 0;
  const initial = amplitudeOf(stencil);
  const largest = Math.max(initial, maxField);
  const scale = Number((largest / initial).toPrecision(2));
  const made = responsesOf(stencil, scale).map(({ variance }) => variance), most = Math.max(...made);
  if (most === 0) return 0;
  // relative to the worst: of a linear update the same however large the fields became
  const relative = made.map((variance) => Number((variance / most).toPrecision(2)));
  const along = alongAxes(boundary), cells = along.includes("zero") ? undefined : cellsOf(grid);
  const mirrored = along.filter((kind, axis) => kind === "insulated" && grid[axis]! > 1).length;
  const { variance, bias } = growthOf(stencil, relative, steps, cells);
  const random = LAMBDA * Math.sqrt(2 ** (1 + mirrored) * most * variance);
  const bound = precisionOf(stencil.update).unit * (random + 2 * Math.sqrt(most) * bias);
  return bound < 2 * largest ? bound : 2 * largest;
}

const growthOf = remembered((
  stencil: Stencil,
  made: readonly number[],
  steps: number,
  cells: number | undefined,
) => ({
  variance: varianceAfter(stencil, { steps, made, cells }),
  bias: biasAfter(stencil, { steps, made }),
}));
