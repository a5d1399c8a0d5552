/**
 * Problems and configurations in one line.
 *
 * @module
 */
import type { Configuration } from "../configuration.ts";
import type { ProfileProblem } from "./schema.ts";

/** A profile's problem in one line: `wave, order 4, grid 64x32x16, zero boundary, 96 steps`. */
export function describeProfileProblem(
  { stencil, order, delta, grid, boundary, steps }: ProfileProblem,
): string {
  const variant = order !== undefined ? `, order ${order}` : delta !== undefined ? `, δ ${delta}` : "";
  return `${stencil}${variant}, grid ${grid.join("x")}, ${boundary} boundary, ${steps} ${
    steps === 1 ? "step" : "steps"
  }`;
}

/** A configuration in one line. */
export function describeConfiguration({ traversal, parameters, share }: Configuration): string {
  const values = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = share;
  const cpu = `CPU, ${cpuWorkers} ${cpuWorkers === 1 ? "worker" : "workers"}`;
  if (gpuSlices === 0) return cpu;
  const gpu = `${traversal} ${values}`.trim();
  if (cpuSlices === 0) return gpu;
  return `${gpu}, ${gpuSlices} slices; ${cpu}, ${cpuSlices} slices; exchange every ${exchangeEvery} steps`;
}
