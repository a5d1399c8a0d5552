/**
 * Heat conduction in a rod with insulated ends (Magee, Niemeyer, "Accelerating solutions of one-dimensional unsteady
 * PDEs with GPU-based swept time-space decomposition", Eqs. 2 and 8), first order in time, second in space:
 *
 *     T(t+1) = Fo (T_{−1} + T_{+1}) + (1 − 2Fo) T,    Fo = αΔt/Δx²
 *
 * Insulated ends: T_{−1} = T_1 and T_n = T_{n−2}. The trapezoid sum ½T_0 + T_1 + … + ½T_{n−1} is conserved.
 *
 * @module
 */
import { add, constant, multiply, tap } from "../expression.ts";
import { type Update, updateOf } from "../update.ts";
import type { Stencil } from "./stencil.ts";

/** Largest stable Fourier number Fo = αΔt/Δx². */
export const FOURIER_LIMIT_1D = 0.5;

/** The weights of the update. */
export interface RodWeights {
  /** Of the point itself. */
  readonly centre: number;
  /** Of each neighbour. */
  readonly side: number;
}

/** The update of a rod; whole-number weights make it exact on whole numbers. */
export function rodUpdate({ centre, side }: RodWeights): Update {
  const sides = add(tap(0, 0, -1), tap(0, 0, 1));
  return updateOf(add(multiply(constant(side), sides), multiply(constant(centre), tap(0, 0, 0))), "T");
}

/** Options of {@linkcode heat1d}. */
export interface Heat1dOptions {
  /**
   * Fo = αΔt/Δx², above 0 and at most {@linkcode FOURIER_LIMIT_1D}.
   * @default {0.45}
   */
  fourier?: number | undefined;
}

/**
 * The heat equation in one dimension, on grids of 1×1×N points.
 *
 * @throws {RangeError} for a Fourier number beyond the stability limit
 *
 * @example
 * ```ts
 * import { heat1d } from "./heat_1d.ts";
 * import { reachOf } from "../update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(reachOf(heat1d().update).z, 1);
 * ```
 */
export function heat1d({ fourier = 0.9 * FOURIER_LIMIT_1D }: Heat1dOptions = {}): Stencil {
  if (!(fourier > 0 && fourier <= FOURIER_LIMIT_1D)) {
    throw new RangeError(
      `Cannot build the heat-1d stencil: the Fourier number αΔt/Δx² must be above 0 and at most ` +
        `${FOURIER_LIMIT_1D}, the stability limit: current value is ${fourier}`,
    );
  }
  return {
    name: "heat-1d",
    variant: {},
    title: "heat conduction in a rod",
    dimensions: 1,
    boundaries: ["insulated", "periodic"],
    update: rodUpdate({ centre: 1 - 2 * fourier, side: fourier }),
    errorGrowth: (steps) => Math.sqrt(varianceGrowth(fourier, steps)),
  };
}

/** What a step multiplies the cosine of phase θ a point by: 1 − 4Fo sin²(θ/2). */
function decay(fourier: number, theta: number): number {
  return 1 - 4 * fourier * Math.sin(theta / 2) ** 2;
}

/** Waves over which growth is averaged. */
const WAVES = 256;

/** Σ_j ⟨λ^2j⟩ over the steps: a unit error in a wave is λ^j of it j steps later. */
function varianceGrowth(fourier: number, steps: number): number {
  let sum = 0;
  for (let i = 0; i < WAVES; i++) {
    const square = decay(fourier, Math.PI * (i + 0.5) / WAVES) ** 2;
    sum += square === 1 ? steps : (1 - square ** steps) / (1 - square);
  }
  return Math.max(1, sum / WAVES);
}
