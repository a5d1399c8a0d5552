import type { Problem } from "../../kernels/stencils/stencil.ts";
import { coordinatesOf } from "../../kernels/traversals/all.ts";
import type { Sample } from "../../models/cost_model.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { partOf } from "../devices/shared/shares.ts";
import { isShared, uses } from "../shares.ts";
import { formerPoints } from "./former_files.ts";
import { predictionOf } from "./prediction.ts";
import type { ProfileEntry, ProfilePoint, ProfileRated } from "./profile_types.ts";
import { recorded } from "./shipped.ts";

/** Measurements of an entry that a profile keeps to predict from. */
const MOST_POINTS = 60;

/**
 * The measurements that say most about other grids: for each traversal the fastest with each value along each axis, then
 * the fastest of all.
 *
 * @param measured the fastest first
 */
export function pointsOf<P extends Pick<ProfilePoint, "traversal" | "parameters" | "cpuWorkers">>(
  measured: readonly P[],
): P[] {
  const seen = new Set<string>();
  const each = [...Map.groupBy(measured, pointKey).values()].map(([fastest]) => fastest!);
  const first = each.filter(({ traversal, parameters, cpuWorkers = 0 }) => {
    const before = seen.size;
    for (
      const value of [["cpuWorkers", cpuWorkers], ...Object.entries(coordinatesOf(traversal, parameters))]
    ) {
      seen.add([traversal, cpuWorkers > 0, ...value].join());
    }
    return seen.size > before;
  });
  return [...new Set([...first, ...each])].slice(0, MOST_POINTS);
}

/** A text that two points of one grid share exactly if they are the same configuration. */
function pointKey(
  { cpuWorkers = 0, traversal, parameters }: Pick<ProfilePoint, "traversal" | "parameters" | "cpuWorkers">,
): string {
  const values = Object.keys(parameters).sort().map((name) => `${name}=${parameters[name]}`);
  return `${cpuWorkers} ${traversal} ${values}`;
}

/** What was measured of one device alone, in short. */
export function pointOf(
  { configuration: { traversal, parameters, share }, cellsPerSecond }: Pick<
    ProfileRated,
    "configuration" | "cellsPerSecond"
  >,
): ProfilePoint {
  const workers = uses(share, "gpu") ? {} : { cpuWorkers: share.cpuWorkers };
  return { traversal, parameters, ...workers, cellsPerSecond };
}

/** What an entry's measurements teach of its problem, predicted with a model of the entry's own device. */
export function samplesOf(entry: ProfileEntry, problem: Problem, device: DeviceModel): Sample[] {
  const { configuration, result: { cellsPerSecond }, tieSet, bestOfEach = [], calibration = [] } = entry;
  const found = new Map<string, Sample>(), isTrusted = recorded.has(entry.problem);
  const add = (point: ProfilePoint, on: Problem): void => {
    const key = `${on.grid} ${pointKey(point)}`;
    if (found.has(key)) return;
    const { cellsPerSecond, ...way } = point, prediction = predictionOf(way, on, device, isTrusted);
    if (!("reason" in prediction)) found.set(key, { ...prediction, problem: on, cellsPerSecond });
  };
  const all = [{ configuration, cellsPerSecond }, ...tieSet, ...bestOfEach];
  // the rate through a window is not that of the GPU's kernels
  const isWindowed = all.some(({ configuration: { share } }) => share.deviceMemory !== undefined);
  for (const rated of all) {
    const { share } = rated.configuration, point = pointOf(rated);
    if (isWindowed && uses(share, "gpu")) continue;
    if (!isShared(share)) add(point, problem);
    // of a shared grid the GPU computes its part at that part of the rate
    else {
      const cellsPerSecond = share.gpuSlices / problem.grid[0] * rated.cellsPerSecond;
      add({ ...point, cellsPerSecond }, partOf(problem, share, "gpu"));
    }
  }
  for (const point of calibration) if (!isWindowed || point.cpuWorkers !== undefined) add(point, problem);
  for (const point of formerPoints(entry)) add(point, problem);
  return [...found.values()];
}
