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
import { equation } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, multiply, subtract } from "../operations.ts";
import { conservingWeights } from "./cross.ts";
import { type Equation, oneOf, requireOneOf, requireStable, requireValue, type Stencil } from "./stencil.ts";

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
  requireOneOf("ks", "points", KS_POINTS, points);
  requireValue(spacing > 0 && spacing <= 1, "ks", "Δx must be above 0 and at most 1", spacing);
  const limit = ksTimeStepLimit(spacing);
  const step = timeStep ?? 0.9 * limit;
  requireStable("ks", "Δt", step, limit, ` of Δx = ${spacing}`);
  return {
    ...(points === 5 ? fivePoints : threePoints)(step, spacing),
    variant: { points },
    title: `Kuramoto-Sivashinsky equation, ${points} points`,
  };
}

/** What both forms have in common. */
const LINE = { name: "ks", dimensions: 1, boundaries: ["periodic"] } as const;

/** A field so many points away, at any time level. */
type At = (points: number) => Expression;

function fivePoints(step: number, spacing: number): Stencil {
  const r2 = 1 / spacing ** 2, r4 = r2 * r2;
  /** base + τ f(the field), the base weighing the point itself. */
  const advance = (tau: number, at: At, base: number): Expression => {
    const { centre, sides: [near = 0, far = 0] } = conservingWeights(
      base,
      [tau * (4 * r4 - r2), -tau * r4],
      2,
    );
    const sum = add(at(1), at(-1)), difference = subtract(at(1), at(-1));
    const inner = add(near, multiply(-tau / (4 * spacing), difference));
    return add(multiply(centre, at(0)), multiply(sum, inner), multiply(far, add(at(2), at(-2))));
  };
  return equation({
    ...LINE,
    fields: { u: [-1, 1], p: [-1, 1] },
    step: ({ u, p }) => [{ p: advance(step / 2, u.at, 1) }, { u: add(u, advance(step, p.next, 0)) }],
  });
}

function threePoints(step: number, spacing: number): Stencil {
  const r2 = 1 / spacing ** 2;
  /** a + a_xx */
  const withCurvature = (at: At): Expression => {
    const { centre, sides: [side = 0] } = conservingWeights(1, [r2], 2);
    return add(multiply(side, add(at(1), at(-1))), multiply(centre, at(0)));
  };
  /** −τ(½(a²)_x + b_xx), b = a + a_xx: its two parts */
  const change = (tau: number, a: At, b: At): [flux: Expression, curvature: Expression] => [
    multiply(-tau / (4 * spacing), multiply(add(a(1), a(-1)), subtract(a(1), a(-1)))),
    add(multiply(-tau * r2, add(b(1), b(-1))), multiply(2 * tau * r2, b(0))),
  ];
  return equation({
    ...LINE,
    fields: { u: [-1, 1], v: [-1, 1], p: [-1, 1], w: [-1, 1] },
    step: ({ u, v, p, w }) => [
      { v: withCurvature(u.at) },
      { p: add(u, ...change(step / 2, u.at, v.next)) },
      { w: withCurvature(p.next) },
      { u: add(u, ...change(step, p.next, w.next)) },
    ],
  });
}

/** The equation as the command line offers it. */
export const KS: Equation = {
  name: "ks",
  title: "Kuramoto-Sivashinsky equation",
  variant: {
    name: "points",
    placeholder: "N",
    title: "points of a sub-step",
    default: 5,
    ...oneOf(KS_POINTS),
  },
  timeStep: { name: "dt", formula: "Δt for Δx = 0.5", limit: () => ksTimeStepLimit() },
  create: (points, timeStep) => ks(Number(points), { timeStep }),
};
