/**
 * The acoustic wave equation ∂²F/∂t² = c²ΔF in three dimensions: second order in time, order 2, 4, … 14 in
 * space, a cross-shaped stencil (Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29, §3):
 *
 *     F(t+1) = 2F(t) − F(t−1) + C² Σ_d (c_0 F + Σ_k c_k (F_{+k} + F_{−k})),    C = cΔt/h
 *
 * @module
 */
import { equation } from "../equation.ts";
import type { Offset } from "../expression.ts";
import { add, multiply, subtract } from "../operations.ts";
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

/** The orders of approximation in space. */
export const WAVE_ORDERS = [2, 4, 6, 8, 10, 12, 14] as const;

/** Largest stable Courant number C = cΔt/h in three dimensions: 2/√(3S), S = |c_0| + 2Σ|c_k|. */
export function stabilityLimit(order: number): number {
  return 2 / Math.sqrt(3 * spreadOf(secondDerivative(order)));
}

/** The update of the wave equation; whole-number weights make it exact on whole numbers. */
export function waveUpdate(weights: CrossWeights): Update {
  return waveOf(weights).update;
}

function waveOf({ centre, sides }: CrossWeights): Stencil {
  return equation({
    name: "wave",
    fields: { F: [-1, 1] },
    step: ({ F }) => ({ F: add(subtract(multiply(centre, F), F.before()), ...armsOf(F, sides)) }),
  });
}

/** Options of {@linkcode wave}. */
export interface WaveOptions {
  /**
   * C = cΔt/h, above 0 and at most {@linkcode stabilityLimit}.
   * @default {0.9 · stabilityLimit(order)}
   */
  courant?: number | undefined;
}

/**
 * The wave equation of one order.
 *
 * @param order order of approximation in space, 2, 4, … 14
 * @param options the Courant number
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
export function wave(order: number, options: WaveOptions = {}): Stencil {
  const orders: readonly number[] = WAVE_ORDERS;
  requireValue(orders.includes(order), "wave", `order must be ${orders.join(", ")}`, order);
  const limit = stabilityLimit(order);
  const courant = options.courant ?? 0.9 * limit;
  requireStable("wave", "the Courant number cΔt/h", courant, limit, ` of order ${order}`);
  const square = courant * courant;
  const weights = conservingWeights(2, secondDerivative(order).sides.map((c) => square * c), 6);
  const alongAxis = { ...weights, centre: (weights.centre - 2) / 3 };
  /** cos ωΔt of the plane wave with phases θ = kh along the axes. */
  const cosine = (phases: Phases): number =>
    phases.reduce((sum, theta) => sum + 0.5 * symbolAt(alongAxis, theta), 1);
  return {
    ...waveOf(weights),
    variant: { order },
    title: `acoustic wave equation, order ${order}`,
    planeWave: (grid, modes) => planeWave(grid, modes, cosine),
  };
}

/** cos(k·r − ωt), which the scheme carries without error when cos ωΔt = 1 − ½C² Σ_d G(k_d h). */
function planeWave(grid: Grid, modes: Offset, cosine: (phases: Phases) => number): ExactSolution {
  const phases = phasesOf(grid, modes), [kx, ky, kz] = phases;
  const omega = Math.acos(cosine(phases));
  return { at: ([x, y, z], step) => Math.cos(kx * x + ky * y + kz * z - omega * step) };
}

/** The wave equation as the command line offers it. */
export const WAVE: Equation = {
  name: "wave",
  title: "acoustic wave equation",
  variant: { name: "order", placeholder: "N", title: "order in space", default: 2, ...oneOf(WAVE_ORDERS) },
  timeStep: { name: "courant", formula: "cΔt/h", limit: (order) => stabilityLimit(Number(order)) },
  create: (order, courant) => wave(Number(order), { courant }),
};
