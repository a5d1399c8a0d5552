/**
 * What cross-shaped schemes make of plane waves.
 *
 * @module
 */
import { type CrossWeights, symbolAt } from "../weights.ts";
import type { Stencil } from "./stencil.ts";

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
