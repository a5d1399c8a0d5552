/**
 * The Kuramoto–Sivashinsky equation u_t = −(½(u²)_x + u_xx + u_xxxx), periodic, by the midpoint rule (Magee,
 * Niemeyer, "Accelerating solutions of one-dimensional unsteady PDEs with GPU-based swept time-space decomposition",
 * Eqs. 3, 4 and 11 to 16; their u_xx is misprinted with +2u_i):
 *
 *     p = u + ½Δt f(u),    u ← u + Δt f(p)
 *     f(u) = −((u_{+1}² − u_{−1}²)/4Δx + (u_{+1} + u_{−1} − 2u)/Δx² + (u_{+2} − 4u_{+1} + 6u − 4u_{−1} + u_{−2})/Δx⁴)
 *
 * Two forms of the same scheme. **Five points**, flattened: two sub-steps, the predictor p and the final value.
 * **Three points**: four sub-steps, each followed by one that makes v = u + u_xx, whose second derivative is
 * u_xx + u_xxxx. All quotients are weights computed beforehand; Σu is conserved.
 *
 * @module
 */
import { add, type Ago, constant, type Expression, multiply, subtract, tap } from "../expression.ts";
import type { Update } from "../update.ts";
import { conservingWeights } from "./cross.ts";
import { requireStable, requireValue, type Stencil } from "./stencil.ts";

/** Points that a sub-step reads: the flattened form, and the one that takes four sub-steps. */
export const KS_POINTS = [5, 3] as const;

/** Δx where none is given: about 18 points to the wavelength that grows fastest, 2π√2. */
const SPACING = 0.5;

/** Largest Δt for which the linear part is stable: 2 / (16/Δx⁴ − 4/Δx²). */
export function ksTimeStepLimit(spacing: number = SPACING): number {
  return 2 / (16 / spacing ** 4 - 4 / spacing ** 2);
}

/** Options of {@linkcode ks}. */
export interface KsOptions {
  /**
   * Δt, above 0 and at most {@linkcode ksTimeStepLimit}.
   * @default {0.9 · ksTimeStepLimit(spacing)}
   */
  timeStep?: number | undefined;
  /**
   * Δx, at most 1: with larger ones nothing damps the shortest waves.
   * @default {0.5}
   */
  spacing?: number;
}

/**
 * The Kuramoto–Sivashinsky equation, on periodic grids of 1×1×N points.
 *
 * @param points 5: two sub-steps a step; 3: four
 * @throws {RangeError} for other numbers of points, and time steps or spacings beyond the stability limit
 *
 * @example
 * ```ts
 * import { ks } from "./ks.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ks(5).update.substeps.length, 2);
 * assertEquals(ks(3).update.fields, ["u", "v", "p", "w"]);
 * ```
 */
export function ks(points: number, { timeStep, spacing = SPACING }: KsOptions = {}): Stencil {
  const allowed: readonly number[] = KS_POINTS;
  requireValue(allowed.includes(points), "ks", `points must be ${allowed.join(" or ")}`, points);
  requireValue(spacing > 0 && spacing <= 1, "ks", "Δx must be above 0 and at most 1", spacing);
  const limit = ksTimeStepLimit(spacing);
  const step = timeStep ?? 0.9 * limit;
  requireStable("ks", "Δt", step, limit, ` of Δx = ${spacing}`);
  return {
    name: "ks",
    variant: { points },
    title: `Kuramoto-Sivashinsky equation, ${points} points`,
    dimensions: 1,
    boundaries: ["periodic"],
    update: points === 5 ? fivePoints(step, spacing) : threePoints(step, spacing),
  };
}

/** The field's planes. */
const U = 0;

function fivePoints(step: number, spacing: number): Update {
  const r2 = 1 / spacing ** 2, r4 = r2 * r2;
  /** base + τ f(the field), the base weighing the point itself. */
  const advance = (tau: number, plane: number, ago: Ago, base: number): Expression => {
    const { centre, sides: [near = 0, far = 0] } = conservingWeights(
      base,
      [tau * (4 * r4 - r2), -tau * r4],
      2,
    );
    const at = (offset: number): Expression => tap(0, 0, offset, ago, plane);
    const sum = add(at(1), at(-1)), difference = subtract(at(1), at(-1));
    const inner = add(constant(near), multiply(constant(-tau / (4 * spacing)), difference));
    return add(
      multiply(constant(centre), at(0)),
      multiply(sum, inner),
      multiply(constant(far), add(at(2), at(-2))),
    );
  };
  return {
    fields: ["u", "p"],
    materials: [],
    substeps: [
      [{ field: 1, value: advance(step / 2, U, 0, 1) }],
      [{ field: U, value: add(tap(0, 0, 0, 0, U), advance(step, 1, -1, 0)) }],
    ],
  };
}

function threePoints(step: number, spacing: number): Update {
  const r2 = 1 / spacing ** 2;
  /** a + a_xx */
  const withCurvature = (plane: number, ago: Ago): Expression => {
    const { centre, sides: [side = 0] } = conservingWeights(1, [r2], 2);
    const sides = add(tap(0, 0, 1, ago, plane), tap(0, 0, -1, ago, plane));
    return add(multiply(constant(side), sides), multiply(constant(centre), tap(0, 0, 0, ago, plane)));
  };
  /** u − τ(½(a²)_x + b_xx), b = a + a_xx */
  const advance = (tau: number, [a, ago]: readonly [number, Ago], b: number): Expression => {
    const right = tap(0, 0, 1, ago, a), left = tap(0, 0, -1, ago, a);
    const flux = multiply(constant(-tau / (4 * spacing)), multiply(add(right, left), subtract(right, left)));
    const sides = add(tap(0, 0, 1, -1, b), tap(0, 0, -1, -1, b));
    const curvature = add(
      multiply(constant(-tau * r2), sides),
      multiply(constant(2 * tau * r2), tap(0, 0, 0, -1, b)),
    );
    return add(tap(0, 0, 0, 0, U), flux, curvature);
  };
  return {
    fields: ["u", "v", "p", "w"],
    materials: [],
    substeps: [
      [{ field: 1, value: withCurvature(U, 0) }],
      [{ field: 2, value: advance(step / 2, [U, 0], 1) }],
      [{ field: 3, value: withCurvature(2, -1) }],
      [{ field: U, value: advance(step, [2, -1], 3) }],
    ],
  };
}
