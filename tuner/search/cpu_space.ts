import { CPU_TRAVERSALS, cpuTraversalNamed, workerCounts } from "../../kernels/cpu/cpu_traversals.ts";
import { cellsOf, fieldBytes, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Prediction } from "../../models/cost_model.ts";
import { predictCpuRate, usualCpuBandwidth } from "../../models/cpu_roofline.ts";
import { roofOf } from "../../models/roofline.ts";
import type { Configuration } from "../configuration.ts";
import { detectWasmFeatures } from "../devices/cpu/wasm_features.ts";
import { rankCandidates } from "./space.ts";
import { configurationOf } from "../shares.ts";

/** A configuration of the CPU that could be measured. */
export interface CpuCandidate extends Prediction {
  readonly cpuWorkers: number;
  readonly configuration: Configuration;
  /** Cells per second that bandwidth allows for its traffic; undefined where there is none, as on a line. */
  readonly roof: number | undefined;
}

/**
 * The configurations of the CPU alone in the order to try them.
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
  const ways = CPU_TRAVERSALS.flatMap((traversal) =>
    workerCounts(workers).flatMap((cpuWorkers) =>
      traversal.candidates(problem, cpuWorkers, engine)
        .map((parameters): CpuWay => ({ traversal: traversal.name, parameters, cpuWorkers }))
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
  const { grid, grid: [slices] } = problem;
  const demand = cpuTraversalNamed(name)?.demand(problem, parameters, cpuWorkers);
  if (demand === undefined) return undefined;
  const roof = roofOf(demand, copyBytesPerSecond);
  return {
    traversal: { name },
    parameters,
    cpuWorkers,
    configuration: configurationOf([
      { device: "cpu", slices, traversal: name, parameters, workers: cpuWorkers },
    ]),
    predicted: predictCpuRate(demand, { copyBytesPerSecond, workers: cpuWorkers }, { cells: cellsOf(grid) }),
    roof: roof < Infinity ? roof : undefined,
  };
}
