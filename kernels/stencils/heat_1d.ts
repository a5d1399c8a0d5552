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
import { checkOptions } from "../check_options.ts";
import { equation } from "../equation.ts";
import { add, multiply } from "../operations.ts";
import { weightNodes } from "../weighted_sums.ts";
import { type Equation, requireStable, type Stencil } from "./stencil.ts";

/** Largest stable Fourier number Fo = αΔt/Δx². */
export const FOURIER_LIMIT_1D = 0.5;

/**
 * The heat equation in one dimension, on grids of 1×1×N points.
 *
 * @param options the Fourier number Fo, 0.45 unless given
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
export function heat1d(options: { fourier?: number | undefined } = {}): Stencil {
  checkOptions("build the heat-1d stencil", options, ["fourier"]);
  const { fourier = 0.9 * FOURIER_LIMIT_1D } = options;
  requireStable("heat-1d", "the Fourier number αΔt/Δx²", fourier, FOURIER_LIMIT_1D);
  const { centre, sides: [side = 0] } = weightNodes(1, [fourier], 2);
  return equation({
    name: "heat-1d",
    title: "heat conduction in a rod",
    dimensions: 1,
    boundaries: ["insulated", "periodic"],
    fields: { T: [-1, 1] },
    step: ({ T }) => ({ T: add(multiply(side, add(T.at(-1), T.at(1))), multiply(centre, T)) }),
  });
}

export const HEAT_1D: Equation = {
  name: "heat-1d",
  title: "heat conduction in a rod",
  dimensions: [1],
  timeStep: { name: "fourier", formula: "αΔt/Δx²", limit: () => FOURIER_LIMIT_1D },
  create: (_, fourier) => heat1d({ fourier }),
};
