/**
 * The acoustic wave equation ∂²F/∂t² = c²ΔF in three dimensions: second order in time, order 2, 4, … 14 in
 * space, a cross-shaped stencil (Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29, §3):
 *
 *     F(t+1) = 2F(t) − F(t−1) + C² Σ_d (c_0 F + Σ_k c_k (F_{+k} + F_{−k})),    C = cΔt/h
 *
 * @module
 */
import { add, constant, type Expression, multiply, type Offset, subtract, tap } from "../expression.ts";
import type { ExactSolution, Grid, Stencil } from "./stencil.ts";

/** The orders of approximation in space. */
export const WAVE_ORDERS = [2, 4, 6, 8, 10, 12, 14] as const;

/**
 * Coefficients c_0, c_1, … c_p of the central second derivative of order 2p:
 * c_k = 2(−1)^(k+1) (p!)² / (k² (p−k)! (p+k)!), c_0 = −2 Σ c_k. The paper's Table 1 prints c_0/2.
 *
 * @param order 2p, one of {@linkcode WAVE_ORDERS}
 */
export function secondDerivative(order: number): number[] {
  const p = order / 2;
  const coefficients = [0];
  for (let k = 1; k <= p; k++) {
    // (p!)² / ((p−k)! (p+k)!) as a product of k factors, to stay exact for longer
    let ratio = 1;
    for (let i = 1; i <= k; i++) ratio *= (p - k + i) / (p + i);
    coefficients.push((k % 2 === 1 ? 2 : -2) * ratio / (k * k));
  }
  coefficients[0] = -2 * coefficients.slice(1).reduce((sum, c) => sum + c, 0);
  return coefficients;
}

/** Largest stable Courant number C = cΔt/h in three dimensions: 2/√(3S), S = |c_0| + 2Σ|c_k|. */
export function stabilityLimit(order: number): number {
  const [centre, ...sides] = secondDerivative(order);
  const spread = Math.abs(centre) + 2 * sides.reduce((sum, c) => sum + Math.abs(c), 0);
  return 2 / Math.sqrt(3 * spread);
}

/** Weights of a cross-shaped update with the level before: `centre`·F − F(t−1) + Σ_k `sides[k−1]`·(six cells). */
export interface CrossWeights {
  readonly centre: number;
  /** Weight of the six cells at distance 1, 2, … */
  readonly sides: readonly number[];
}

/** The update of the wave equation as an expression; whole-number weights make it exact on whole numbers. */
export function waveUpdate({ centre, sides }: CrossWeights): Expression {
  const arms = sides.map((weight, i) => {
    const k = i + 1;
    // pairs first: the shorter the chain of additions, the less a thread waits for each
    const six = add(
      add(tap(0, 0, -k), tap(0, 0, k)),
      add(tap(0, -k, 0), tap(0, k, 0)),
      add(tap(-k, 0, 0), tap(k, 0, 0)),
    );
    return multiply(constant(weight), six);
  });
  return add(subtract(multiply(constant(centre), tap(0, 0, 0)), tap(0, 0, 0, 1)), ...arms);
}

/** Options of {@linkcode wave}. */
export interface WaveOptions {
  /**
   * C = cΔt/h, above 0 and at most {@linkcode stabilityLimit}.
   * @default {0.9 · stabilityLimit(order)}
   */
  courant?: number;
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
  if (!(WAVE_ORDERS as readonly number[]).includes(order)) {
    throw new RangeError(
      `Cannot build the wave stencil: order must be ${WAVE_ORDERS.join(", ")}: current value is ${order}`,
    );
  }
  const limit = stabilityLimit(order);
  const courant = options.courant ?? 0.9 * limit;
  if (!(courant > 0 && courant <= limit)) {
    throw new RangeError(
      `Cannot build the wave stencil: the Courant number cΔt/h must be above 0 and at most ${
        limit.toFixed(6)
      }, ` +
        `the stability limit of order ${order}: current value is ${courant}`,
    );
  }
  const [c0, ...sides] = secondDerivative(order);
  const square = courant * courant;
  const weights = { centre: 2 + 3 * square * c0, sides: sides.map((c) => square * c) };
  /** cos ωΔt of the plane wave with phases θ = kh along the axes. */
  const cosine = (phases: readonly number[]): number =>
    phases.reduce(
      (sum, theta) =>
        sum + 0.5 * square * sides.reduce((g, c, i) => g + 2 * c * Math.cos((i + 1) * theta), c0),
      1,
    );
  return {
    name: "wave",
    variant: { order },
    title: `acoustic wave equation, order ${order}`,
    update: waveUpdate(weights),
    errorGrowth: (steps) => Math.sqrt(growthPerStep(cosine) * steps),
    planeWave: (grid, modes) => planeWave(grid, modes, cosine),
  };
}

/** cos(k·r − ωt), which the scheme carries without error when cos ωΔt = 1 − ½C² Σ_d G(k_d h). */
function planeWave(grid: Grid, modes: Offset, cosine: (phases: readonly number[]) => number): ExactSolution {
  const phases = modes.map((mode, axis) => 2 * Math.PI * mode / grid[axis]);
  const omega = Math.acos(cosine(phases));
  return {
    at: ([x, y, z], step) => Math.cos(phases[0] * x + phases[1] * y + phases[2] * z - omega * step),
  };
}

/**
 * Growth of the variance of rounding errors a step. A unit error in mode θ becomes U_j = sin((j+1)ω)/sin ω
 * after j steps; over many steps sin² averages to ½, so Σ_j ‖G_j‖² ≈ n · ⟨1/(2 sin² ω)⟩ over all modes. The
 * mean is finite in three dimensions (ω ~ |k|); it is taken here on 16³ midpoints.
 */
function growthPerStep(cosine: (phases: readonly number[]) => number): number {
  const points = 16;
  const thetas = Array.from({ length: points }, (_, i) => Math.PI * (i + 0.5) / points);
  let sum = 0;
  for (const x of thetas) {
    for (const y of thetas) {
      for (const z of thetas) sum += 0.5 / (1 - cosine([x, y, z]) ** 2);
    }
  }
  return Math.max(1, sum / points ** 3);
}
