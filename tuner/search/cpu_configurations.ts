/**
 * How the CPU alone can compute a problem.
 *
 * @module
 */
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { refuseSweep } from "../../kernels/traversals/line.ts";
import type { Configuration } from "../configuration.ts";

/** Points of a node: both time levels fit a core's first-level cache, and a diamond outweighs its barrier. */
const NODE_POINTS = [1024, 2048, 4096];

/**
 * The configurations of all workers on the whole grid: stepwise and in diamonds; on a line classic, then swept with nodes
 * of several sizes up to one node per worker. The most promising come last.
 */
export function cpuConfigurations(problem: Problem, workers: number): Configuration[] {
  const [slices, , points] = problem.grid;
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers };
  if (refuseSweep(problem) !== undefined) {
    const ways = CPU_TRAVERSALS.map((traversal) =>
      traversal.candidates(problem, workers).map((parameters) => ({
        traversal: traversal.name,
        parameters,
        share,
      }))
    );
    // the best of each way comes before the rest
    return [...ways.flatMap((way) => way.slice(0, -1)), ...ways.flatMap((way) => way.slice(-1))];
  }
  const perWorker = Math.floor(points / workers);
  const nodes = [...NODE_POINTS.filter((node) => node < perWorker), perWorker].filter((node) => node >= 8);
  return [
    { traversal: "classic", parameters: {}, share },
    ...nodes.map((node) => ({ traversal: "swept", parameters: { points: node }, share })),
  ];
}
