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
import { checkOptions } from "../check_options.ts";
import { equation } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, multiply, subtract } from "../operations.ts";
import { weightNodes } from "../weighted_sums.ts";
import { type Equation, oneOf, requireOneOf, requireStable, type Stencil } from "./stencil.ts";

/** Points that a sub-step reads: the flattened form, and the one that takes four sub-steps. */
export const KS_POINTS = [5, 3] as const;

/** Δx: about 18 points to the wavelength that grows fastest, 2π√2. */
const SPACING = 0.5;

/** 1/Δx² and 1/Δx⁴. */
const R2 = 1 / SPACING ** 2, R4 = R2 * R2;

/** Largest Δt for which the linear part is stable. */
export function ksTimeStepLimit(): number {
  return 2 / (16 * R4 - 4 * R2);
}

/**
 * The Kuramoto–Sivashinsky equation, on periodic grids of 1×1×N points.
 *
 * @param points 5: two sub-steps a step; 3: four
 * @param options the time step Δt, 0.9 times {@linkcode ksTimeStepLimit} unless given
 * @throws {RangeError} for other numbers of points, and time steps beyond the stability limit
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
export function ks(points: number, options: { timeStep?: number | undefined } = {}): Stencil {
  checkOptions("build the ks stencil", options, ["timeStep"]);
  requireOneOf("ks", "points", KS_POINTS, points);
  const limit = ksTimeStepLimit(), { timeStep = 0.9 * limit } = options;
  requireStable("ks", "Δt", timeStep, limit, ` of Δx = ${SPACING}`);
  const line = {
    name: "ks",
    variant: { points },
    title: `Kuramoto-Sivashinsky equation, ${points} points`,
    dimensions: 1,
    boundaries: ["periodic"],
  } as const;
  return points === 5
    ? equation({
      ...line,
      fields: { u: [-1, 1], p: [-1, 1] },
      step: ({ u, p }) => [
        { p: advance(timeStep / 2, u.at, 1) },
        { u: add(u, advance(timeStep, p.next, 0)) },
      ],
    })
    : equation({
      ...line,
      fields: { u: [-1, 1], v: [-1, 1], p: [-1, 1], w: [-1, 1] },
      step: ({ u, v, p, w }) => [
        { v: withCurvature(u.at) },
        { p: add(u, ...change(timeStep / 2, u.at, v.next)) },
        { w: withCurvature(p.next) },
        { u: add(u, ...change(timeStep, p.next, w.next)) },
      ],
    });
}

/** A field `points` points away, at any time level. */
type At = (points: number) => Expression;

/** Five points: base + τ f(the field), the base weighing the point itself. */
function advance(tau: number, at: At, base: number): Expression {
  const { centre, sides: [near = 0, far = 0] } = weightNodes(base, [tau * (4 * R4 - R2), -tau * R4], 2);
  const sum = add(at(1), at(-1)), difference = subtract(at(1), at(-1));
  const inner = add(near, multiply(-tau / (4 * SPACING), difference));
  return add(multiply(centre, at(0)), multiply(sum, inner), multiply(far, add(at(2), at(-2))));
}

/** Three points: a + a_xx */
function withCurvature(at: At): Expression {
  const { centre, sides: [side = 0] } = weightNodes(1, [R2], 2);
  return add(multiply(side, add(at(1), at(-1))), multiply(centre, at(0)));
}

/** Three points: −τ(½(a²)_x + b_xx), b = a + a_xx: its two parts. */
function change(tau: number, a: At, b: At): [flux: Expression, curvature: Expression] {
  return [
    multiply(-tau / (4 * SPACING), multiply(add(a(1), a(-1)), subtract(a(1), a(-1)))),
    add(multiply(-tau * R2, add(b(1), b(-1))), multiply(2 * tau * R2, b(0))),
  ];
}

export const KS: Equation = {
  name: "ks",
  title: "Kuramoto-Sivashinsky equation",
  dimensions: [1],
  variant: oneOf("points", "points of a sub-step", KS_POINTS),
  timeStep: { name: "dt", formula: "Δt for Δx = 0.5", limit: () => ksTimeStepLimit() },
  create: (points, timeStep) => ks(Number(points), { timeStep }),
};
