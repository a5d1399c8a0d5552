/**
 * Heat diffusion in two or three dimensions, first order in time and order 2δ in space: a cross-shaped stencil of
 * 2dδ + 1 points (Liu, Perumalla, "Efficient Large-scale Parallel Stencil Computation on Multi-Core and Multi-GPU
 * Accelerated Clusters", Eq. 9; δ is their computing-dependency order):
 *
 *     μ(t+1) = μ + Fo Σ_d (c_0 μ + Σ_k c_k (μ_{+k} + μ_{−k})),    Fo = αΔt/h²
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { equation } from "../equation.ts";
import { add, multiply } from "../operations.ts";
import { laplacian } from "../operators.ts";
import { secondDerivative, spreadOf } from "../weights.ts";
import { withPlaneWaves } from "./plane_waves.ts";
import { type Equation, type InSpace, oneOf, requireOneOf, requireStable, type Stencil } from "./stencil.ts";

/** The reaches δ, in cells, for which the scheme is offered: 7, 13, 19 and 25 points. */
export const HEAT_DELTAS = [1, 2, 3, 4] as const;

/** Largest stable Fourier number Fo = αΔt/h² in d dimensions: 2/(dS), S = |c_0| + 2Σ|c_k|. */
export function fourierLimit(delta: number, dimensions: 2 | 3 = 3): number {
  return 2 / (dimensions * spreadOf(secondDerivative(2 * delta)));
}

/**
 * Heat diffusion of one reach.
 *
 * @param delta δ, one of {@linkcode HEAT_DELTAS}
 * @param options the Fourier number Fo, 0.9 times {@linkcode fourierLimit} unless given, and 2 for two dimensions
 * @returns the stencil, reach δ along each axis, one time level
 * @throws {RangeError} for another δ, or a Fourier number beyond the stability limit
 *
 * @example
 * ```ts
 * import { heat } from "./heat.ts";
 * import { tapsOf } from "../update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(tapsOf(heat(2).update).length, 13);
 * ```
 */
export function heat(delta: number, options: { fourier?: number | undefined } & InSpace = {}): Stencil {
  checkOptions("build the heat stencil", options, ["fourier", "dimensions"]);
  requireOneOf("heat", "delta", HEAT_DELTAS, delta);
  const { dimensions = 3 } = options, limit = fourierLimit(delta, dimensions);
  const { fourier = 0.9 * limit } = options;
  requireStable("heat", "the Fourier number αΔt/h²", fourier, limit, ` of delta ${delta}`);
  return withPlaneWaves(equation({
    name: "heat",
    variant: { delta },
    title: `heat diffusion, delta ${delta}`,
    dimensions,
    fields: { F: [-1, 1] },
    step: ({ F }) => ({ F: add(F, multiply(fourier, laplacian(F, { order: 2 * delta }))) }),
  }));
}

export const HEAT: Equation = {
  name: "heat",
  title: "heat diffusion",
  dimensions: [3, 2],
  variant: oneOf("delta", "reach in space", HEAT_DELTAS),
  timeStep: { name: "fourier", formula: "αΔt/h²", limit: (delta, of) => fourierLimit(Number(delta), of) },
  create: (delta, fourier, dimensions) => heat(Number(delta), { fourier, dimensions }),
};
