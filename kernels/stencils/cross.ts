/**
 * What cross-shaped stencils have in common: the coefficients of the central second derivative, its largest value,
 * what they make of a wave, and the sums of taps that they weigh.
 *
 * @module
 */
import type { FieldTap } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, multiply } from "../operations.ts";
import type { Dimensions, Stencil } from "./stencil.ts";

/**
 * Coefficients c_0, c_1, … c_p of the central second derivative of order 2p:
 * c_k = 2(−1)^(k+1) (p!)² / (k² (p−k)! (p+k)!), c_0 = −2 Σ c_k. The paper's Table 1 prints c_0/2.
 *
 * @param order 2p, even, at least 2
 */
export function secondDerivative(order: number): CrossWeights {
  const p = order / 2;
  const sides: number[] = [];
  for (let k = 1; k <= p; k++) {
    // (p!)² / ((p−k)! (p+k)!) as a product of k factors, to stay exact for longer
    let ratio = 1;
    for (let i = 1; i <= k; i++) ratio *= (p - k + i) / (p + i);
    sides.push((k % 2 === 1 ? 2 : -2) * ratio / (k * k));
  }
  return { centre: -2 * sides.reduce((sum, c) => sum + c, 0), sides };
}

/** S = |c_0| + 2Σ|c_k|: what the second derivative multiplies the shortest wave by, at most. */
export function spreadOf({ centre, sides }: CrossWeights): number {
  return Math.abs(centre) + 2 * sides.reduce((sum, c) => sum + Math.abs(c), 0);
}

/**
 * c_0 + 2 Σ_θ Σ_k c_k cos kθ: what a wave of phase θ = kh a cell along each axis is multiplied by. Of the second
 * derivative along one axis it is −G(θ).
 */
export function symbolAt({ centre, sides }: CrossWeights, ...phases: readonly number[]): number {
  return phases.reduce(
    (before, theta) => sides.reduce((sum, c, i) => sum + 2 * c * Math.cos((i + 1) * theta), before),
    centre,
  );
}

/** Weights of a cross-shaped update, the same along every axis. */
export interface CrossWeights {
  readonly centre: number;
  /** Weight of the cells along the axes at distance 1, 2, … */
  readonly sides: readonly number[];
}

/**
 * Weights rounded to f32, so that centre + count · Σ sides is `total` exactly: a constant stays what it is, and sums are
 * conserved. Rounded one by one they miss it by some 10⁻⁸, which every step adds: a wave of ones had grown to 4.5 after
 * 10,000 steps. The sums of the sides from each on are rounded to what the one before can hold, and differ from the
 * given ones by no more than that; the centre follows.
 *
 * @param count cells that each side weighs
 */
export function conservingWeights(total: number, sides: readonly number[], count: number): CrossWeights {
  const sumFrom = (k: number): number => sides.slice(k).reduce((sum, side) => sum + side, 0);
  const round = (value: number, unit: number): number => Math.round(value / unit) * unit;
  const tails = sides.map((side, k) => {
    const before = k === 0 ? (total - count * sumFrom(0)) / 2 : sides[k - 1]!;
    return round(sumFrom(k), Math.max(unitOf(before), unitOf(side)));
  });
  return { centre: total - count * tails[0]!, sides: tails.map((tail, k) => tail - (tails[k + 1] ?? 0)) };
}

/** The distance between numbers of f32 that are as large, or a little larger. */
function unitOf(value: number): number {
  return 2 ** (Math.floor(Math.log2(Math.abs(value) * (1 + 2 ** -20))) - 23);
}

/**
 * The plane waves that a scheme carries without error: where F(t+1) = Σ, the weighted sum, λⁿ cos k·r with λ of
 * {@linkcode symbolAt}; where F(t+1) = Σ − F(t−1), cos(k·r − ωt) with cos ωΔt = λ/2.
 */
export function planeWavesOf(
  weights: CrossWeights,
  { readsPrevious }: { readsPrevious: boolean },
): NonNullable<Stencil["planeWave"]> {
  return (grid, modes) => {
    const phases = modes.map((periods, axis) => 2 * Math.PI * periods / grid[axis]!);
    const lambda = symbolAt(weights, ...phases), omega = Math.acos(lambda / 2);
    return {
      at(cell, step) {
        const phase = phases.reduce((sum, theta, axis) => sum + theta * cell[axis]!, 0);
        return readsPrevious ? Math.cos(phase - omega * step) : lambda ** step * Math.cos(phase);
      },
    };
  };
}

/** For every distance 1, 2, … its weight times the sum of the cells that far away along the axes. */
export function armsOf(field: FieldTap, sides: readonly number[], dimensions: Dimensions): Expression[] {
  return sides.map((weight, i) => multiply(weight, armAt(field, i + 1, dimensions)));
}

/** Pairs first: a short chain of additions is what a thread waits for. */
function armAt({ at }: FieldTap, k: number, dimensions: Dimensions): Expression {
  const pairs = [add(at(0, -k), at(0, k)), add(at(-k), at(k))] as const;
  return dimensions === 2 ? add(...pairs) : add(add(at(0, 0, -k), at(0, 0, k)), ...pairs);
}
