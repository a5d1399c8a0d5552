import { arithmeticDemand, bytesOfSteps, type CpuDemand } from "../../kernels/cpu/cpu_demand.ts";
import { CPU_TRAVERSALS, cpuTraversalNamed, workerCounts } from "../../kernels/cpu/cpu_traversals.ts";
import { cellsOf, fieldBytes, type Problem } from "../../kernels/stencils/stencil.ts";
import { refuseSweep } from "../../kernels/traversals/line.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { reachOf } from "../../kernels/update.ts";
import { predictCpuRate, usualCpuBandwidth } from "../../models/cpu_roofline.ts";
import { roofOf } from "../../models/roofline.ts";
import type { Configuration } from "../configuration.ts";
import { detectWasmFeatures } from "../devices/cpu/wasm_features.ts";
import { rankCandidates } from "./space.ts";

/** A configuration of the CPU that could be measured. */
export interface CpuCandidate {
  readonly traversal: { readonly name: string };
  readonly parameters: Parameters;
  readonly configuration: Configuration;
  /** Predicted cells per second. */
  readonly predicted: number;
  /** Cells per second that bandwidth allows for its traffic; undefined on a line, which fits the caches. */
  readonly roof: number | undefined;
}

/** Points of a node: both time levels fit a core's first-level cache, and a diamond outweighs its barrier. */
const NODE_POINTS = [1024, 2048, 4096];

/**
 * The configurations of the CPU alone in the order to try them: on the whole grid stepwise and in diamonds; on a line
 * classic, and swept with nodes of several sizes up to one node per worker.
 *
 * @param workers all there are; fewer may be tried as well
 * @param copyBytesPerSecond what they move together in a plain copy of the field's size
 */
export function cpuCandidates(
  problem: Problem,
  workers: number,
  copyBytesPerSecond?: number,
): CpuCandidate[] {
  const engine = { fuses: detectWasmFeatures().relaxedSimd };
  const ways: CpuWay[] = isLine(problem)
    ? lineWays(problem, workers)
    : CPU_TRAVERSALS.flatMap((traversal) =>
      workerCounts(workers).flatMap((cpuWorkers) =>
        traversal.candidates(problem, cpuWorkers, engine)
          .map((parameters) => ({ traversal: traversal.name, parameters, cpuWorkers }))
      )
    );
  const candidates = ways.map((way) => cpuCandidate(problem, way, copyBytesPerSecond)!);
  // the traversal that promises most comes first
  return rankCandidates(candidates.toSorted((a, b) => b.predicted - a.predicted));
}

/** A way for the CPU's workers to compute a grid alone. */
export interface CpuWay extends Pick<Configuration, "traversal" | "parameters"> {
  readonly cpuWorkers: number;
}

/** A way as a candidate; undefined where the CPU has no such traversal. */
export function cpuCandidate(
  problem: Problem,
  { traversal: name, parameters, cpuWorkers }: CpuWay,
  copyBytesPerSecond = usualCpuBandwidth(fieldBytes(problem), cpuWorkers),
): CpuCandidate | undefined {
  const { grid, grid: [cpuSlices] } = problem;
  const demand = isLine(problem)
    ? lineDemand(problem, parameters.points, cpuWorkers)
    : cpuTraversalNamed(name)?.demand(problem, parameters, cpuWorkers);
  if (demand === undefined) return undefined;
  const share = { cpuSlices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers };
  return {
    traversal: { name },
    parameters,
    configuration: { traversal: name, parameters, share },
    predicted: predictCpuRate(demand, { copyBytesPerSecond, workers: cpuWorkers }, { cells: cellsOf(grid) }),
    roof: isLine(problem) ? undefined : roofOf(demand, copyBytesPerSecond),
  };
}

function isLine(problem: Problem): boolean {
  return refuseSweep(problem) === undefined;
}

/** How workers compute a line. */
function lineWays({ grid: [, , points] }: Problem, cpuWorkers: number): CpuWay[] {
  const perWorker = Math.floor(points / cpuWorkers);
  const nodes = [...NODE_POINTS.filter((node) => node < perWorker), perWorker].filter((node) => node >= 8);
  return [
    { traversal: "classic", parameters: {}, cpuWorkers },
    ...nodes.map((points) => ({ traversal: "swept", parameters: { points }, cpuWorkers })),
  ];
}

/** What a line asks for: workers meet after every step, or swept after half of a node's diamond. */
function lineDemand(
  { grid: [, , points], stencil: { update } }: Problem,
  nodePoints: number | undefined,
  workers: number,
): CpuDemand {
  const steps = nodePoints === undefined ? 1 : Math.max(1, nodePoints / 4 / Math.max(1, reachOf(update).z));
  const tasks = nodePoints === undefined ? workers : points / nodePoints;
  return {
    ...arithmeticDemand(update, false),
    ...bytesOfSteps(update),
    reusedBytes: 0,
    reusedBytesPerUpdate: 0,
    meetingsPerStep: 1 / steps,
    callsPerStep: tasks / steps,
    imbalance: Math.ceil(tasks / workers) * workers / tasks,
  };
}
