/**
 * Heat diffusion in three dimensions, first order in time and order 2δ in space: a cross-shaped stencil of 6δ + 1
 * points (Liu, Perumalla, "Efficient Large-scale Parallel Stencil Computation on Multi-Core and Multi-GPU
 * Accelerated Clusters", Eq. 9; δ is their computing-dependency order):
 *
 *     μ(t+1) = μ + Fo Σ_d (c_0 μ + Σ_k c_k (μ_{+k} + μ_{−k})),    Fo = αΔt/h²
 *
 * @module
 */
import { equation } from "../equation.ts";
import type { Offset } from "../expression.ts";
import { add, multiply } from "../operations.ts";
import type { Update } from "../update.ts";
import {
  armsOf,
  conservingWeights,
  type CrossWeights,
  type Phases,
  phasesOf,
  secondDerivative,
  spreadOf,
  symbolAt,
} from "./cross.ts";
import {
  type Equation,
  type ExactSolution,
  type Grid,
  oneOf,
  requireStable,
  requireValue,
  type Stencil,
} from "./stencil.ts";

/** The reaches δ, in cells, for which the scheme is offered: 7, 13, 19 and 25 points. */
export const HEAT_DELTAS = [1, 2, 3, 4] as const;

/** Largest stable Fourier number Fo = αΔt/h² in three dimensions: 2/(3S), S = |c_0| + 2Σ|c_k|. */
export function fourierLimit(delta: number): number {
  return 2 / (3 * spreadOf(secondDerivative(2 * delta)));
}

/** The update of heat diffusion; whole-number weights make it exact on whole numbers. */
export function heatUpdate(weights: CrossWeights): Update {
  return heatOf(weights).update;
}

function heatOf({ centre, sides }: CrossWeights): Stencil {
  return equation({
    name: "heat",
    fields: { F: [-1, 1] },
    step: ({ F }) => ({ F: add(multiply(centre, F), ...armsOf(F, sides)) }),
  });
}

/** Options of {@linkcode heat}. */
export interface HeatOptions {
  /**
   * Fo = αΔt/h², above 0 and at most {@linkcode fourierLimit}.
   * @default {0.9 · fourierLimit(delta)}
   */
  fourier?: number | undefined;
}

/**
 * Heat diffusion of one reach.
 *
 * @param delta δ, one of {@linkcode HEAT_DELTAS}
 * @param options the Fourier number
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
export function heat(delta: number, options: HeatOptions = {}): Stencil {
  const deltas: readonly number[] = HEAT_DELTAS;
  requireValue(deltas.includes(delta), "heat", `delta must be ${deltas.join(", ")}`, delta);
  const limit = fourierLimit(delta);
  const fourier = options.fourier ?? 0.9 * limit;
  requireStable("heat", "the Fourier number αΔt/h²", fourier, limit, ` of delta ${delta}`);
  const weights = conservingWeights(1, secondDerivative(2 * delta).sides.map((c) => fourier * c), 6);
  const alongAxis = { ...weights, centre: (weights.centre - 1) / 3 };
  /** What a step multiplies the wave with phases θ = kh along the axes by. */
  const factor = (phases: Phases): number =>
    phases.reduce((sum, theta) => sum + symbolAt(alongAxis, theta), 1);
  return {
    ...heatOf(weights),
    variant: { delta },
    title: `heat diffusion, delta ${delta}`,
    planeWave: (grid, modes) => decayingWave(grid, modes, factor),
  };
}

/** λⁿ cos(k·r), which the scheme carries without error when λ = 1 − Fo Σ_d G(k_d h). */
function decayingWave(grid: Grid, modes: Offset, factor: (phases: Phases) => number): ExactSolution {
  const phases = phasesOf(grid, modes), [kx, ky, kz] = phases;
  const lambda = factor(phases);
  return { at: ([x, y, z], step) => lambda ** step * Math.cos(kx * x + ky * y + kz * z) };
}

/** Heat diffusion as the command line offers it. */
export const HEAT: Equation = {
  name: "heat",
  title: "heat diffusion",
  variant: { name: "delta", placeholder: "N", title: "reach in space", default: 1, ...oneOf(HEAT_DELTAS) },
  timeStep: { name: "fourier", formula: "αΔt/h²", limit: (delta) => fourierLimit(Number(delta)) },
  create: (delta, fourier) => heat(Number(delta), { fourier }),
};
