/**
 * How the CPU alone can compute a problem.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { refuseSweep } from "../../kernels/traversals/line.ts";
import type { Configuration } from "../configuration.ts";

/** Points whose two time levels stay in a core's first-level cache, and are worth a barrier a diamond. */
const NODE_POINTS = [1024, 2048, 4096];

/**
 * The configurations of all workers on the whole grid: boxes of rows, stepwise; or a line, classic and swept in nodes
 * of some sizes, the largest of them one node a worker.
 *
 * @returns the slowest by expectation first
 */
export function cpuConfigurations(problem: Problem, workers: number): Configuration[] {
  const [slices, , points] = problem.grid;
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers };
  if (refuseSweep(problem) !== undefined) return [{ traversal: "stepwise", parameters: {}, share }];
  const perWorker = Math.floor(points / workers);
  const nodes = [...NODE_POINTS.filter((node) => node < perWorker), perWorker].filter((node) => node >= 8);
  return [
    { traversal: "classic", parameters: {}, share },
    ...nodes.map((node) => ({ traversal: "swept", parameters: { points: node }, share })),
  ];
}
