/**
 * How the CPU alone can compute a problem.
 *
 * @module
 */
import { CPU_TRAVERSALS, workerCounts } from "../../kernels/cpu/cpu_traversals.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { refuseSweep } from "../../kernels/traversals/line.ts";
import { predictCpuRate } from "../../models/cpu_roofline.ts";
import type { Configuration } from "../configuration.ts";
import { detectWasmFeatures } from "../devices/cpu/wasm_features.ts";

/** Bytes per second that workers move together, where it was not measured: the order hardly depends on it. */
const USUAL_BANDWIDTH = 3e10;

/** Points of a node: both time levels fit a core's first-level cache, and a diamond outweighs its barrier. */
const NODE_POINTS = [1024, 2048, 4096];

/**
 * The configurations of the CPU on the whole grid: stepwise and in diamonds; on a line classic, then swept with nodes
 * of several sizes up to one node per worker. The most promising come last.
 */
export function cpuConfigurations(problem: Problem, workers: number): Configuration[] {
  const [slices, , points] = problem.grid;
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers };
  if (refuseSweep(problem) !== undefined) {
    const engine = { fuses: detectWasmFeatures().relaxedSimd }, cells = cellsOf(problem.grid);
    const ways = CPU_TRAVERSALS.map((traversal) =>
      workerCounts(workers).flatMap((cpuWorkers) =>
        traversal.candidates(problem, cpuWorkers, engine).map((parameters) => {
          const demand = traversal.demand(problem, parameters, cpuWorkers);
          const device = { copyBytesPerSecond: USUAL_BANDWIDTH, workers: cpuWorkers };
          const configuration = { traversal: traversal.name, parameters, share: { ...share, cpuWorkers } };
          return { configuration, predicted: predictCpuRate(demand, device, { cells }) };
        })
      ).sort((a, b) => a.predicted - b.predicted).map(({ configuration }) => configuration)
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
