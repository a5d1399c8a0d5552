/**
 * The acoustic wave equation ∂²F/∂t² = c²ΔF in two or three dimensions: second order in time, order 2, 4, … 14 in
 * space, a cross-shaped stencil (Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29, §3):
 *
 *     F(t+1) = 2F(t) − F(t−1) + C² Σ_d (c_0 F + Σ_k c_k (F_{+k} + F_{−k})),    C = cΔt/h
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { equation } from "../equation.ts";
import { add, multiply, subtract } from "../operations.ts";
import { laplacian } from "../operators.ts";
import { secondDerivative, spreadOf } from "../weights.ts";
import { withPlaneWaves } from "./plane_waves.ts";
import { type Equation, type InSpace, oneOf, requireOneOf, requireStable, type Stencil } from "./stencil.ts";

/** The orders of approximation in space. */
export const WAVE_ORDERS = [2, 4, 6, 8, 10, 12, 14] as const;

/** Largest stable Courant number C = cΔt/h in d dimensions: 2/√(dS), S = |c_0| + 2Σ|c_k|. */
export function stabilityLimit(order: number, dimensions: 2 | 3 = 3): number {
  return 2 / Math.sqrt(dimensions * spreadOf(secondDerivative(order)));
}

/**
 * The wave equation of one order.
 *
 * @param order order of approximation in space, 2, 4, … 14
 * @param options the Courant number C, 0.9 times {@linkcode stabilityLimit} unless given, and 2 for two dimensions
 * @returns the stencil, reach order/2 along each axis, two time levels
 * @throws {RangeError} for another order, or a Courant number beyond the stability limit
 *
 * @example
 * ```ts
 * import { wave } from "./wave.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(wave(4).variant, { order: 4 });
 * ```
 */
export function wave(order: number, options: { courant?: number | undefined } & InSpace = {}): Stencil {
  checkOptions("build the wave stencil", options, ["courant", "dimensions"]);
  requireOneOf("wave", "order", WAVE_ORDERS, order);
  const { dimensions = 3 } = options, limit = stabilityLimit(order, dimensions);
  const { courant = 0.9 * limit } = options;
  requireStable("wave", "the Courant number cΔt/h", courant, limit, ` of order ${order}`);
  return withPlaneWaves(equation({
    name: "wave",
    variant: { order },
    title: `acoustic wave equation, order ${order}`,
    dimensions,
    fields: { F: [-1, 1] },
    step: ({ F }) => ({
      F: add(subtract(multiply(2, F), F.before()), multiply(courant * courant, laplacian(F, { order }))),
    }),
  }));
}

export const WAVE: Equation = {
  name: "wave",
  title: "acoustic wave equation",
  dimensions: [3, 2],
  variant: oneOf("order", "order in space", WAVE_ORDERS),
  timeStep: { name: "courant", formula: "cΔt/h", limit: (order, of) => stabilityLimit(Number(order), of) },
  create: (order, courant, dimensions) => wave(Number(order), { courant, dimensions }),
};
