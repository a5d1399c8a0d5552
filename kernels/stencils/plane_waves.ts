/**
 * What linear schemes of one field make of plane waves.
 *
 * @module
 */
import { symbolOf } from "../stability.ts";
import { readsPrevious } from "../update.ts";
import { axesOf, type Stencil } from "./stencil.ts";

/**
 * The stencil with the plane waves that it carries without error: where a step makes F(t+1) = λF(t) of one, λⁿ cos k·r; where it
 * makes λF(t) − F(t−1), cos(k·r − ωt) with cos ωΔt = λ/2.
 */
export function withPlaneWaves(stencil: Stencil): Stencil {
  const planeWave: Stencil["planeWave"] = (grid, modes) => {
    const phases = modes.map((periods, axis) => 2 * Math.PI * periods / grid[axis]!);
    const along = axesOf(stencil).reduce((all, axis, i) => all.with(axis, phases[i]!), [0, 0, 0]);
    const lambda = symbolOf(stencil, along, [])[0]![0]!, omega = Math.acos(lambda / 2);
    return {
      at(cell, step) {
        const phase = phases.reduce((sum, theta, axis) => sum + theta * cell[axis]!, 0);
        return readsPrevious(stencil.update)
          ? Math.cos(phase - omega * step)
          : lambda ** step * Math.cos(phase);
      },
    };
  };
  return { ...stencil, planeWave };
}
