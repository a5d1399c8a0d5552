import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits } from "../../kernels/traversals/traversal.ts";
import { predictionOf } from "../profile/prediction.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { rankCandidates } from "../search/space.ts";
import type { Point } from "../search/strategy.ts";
import type { RecordedConfiguration, ReplaySpace } from "./replay_space.ts";

/** A recorded configuration to search for. */
export interface ReplayCandidate extends Point {
  readonly recorded: RecordedConfiguration;
}

/**
 * Recorded configurations as strategies see candidates: with the demand and the prediction that today's models make of
 * them, best prediction first as in `enumerateSpace`.
 *
 * @throws {ProfileError} if the space is one of Facet's and its problem or a traversal is unknown here
 */
export function replayCandidates(space: ReplaySpace): ReplayCandidate[] {
  const { configurations, facet, title } = space;
  if (facet === undefined) {
    const traversal = { name: configurations[0]?.traversal ?? "kernel" };
    return configurations.map((recorded) => ({ traversal, parameters: recorded.parameters, recorded }));
  }
  const problem = problemOf(facet.problem);
  if (problem === undefined) {
    throw new ProfileError(`Cannot replay ${title}: there is no stencil ${facet.problem.stencil}`);
  }
  const { gpu } = facet.device;
  const device = deviceModelOf(facet.device, facet.device.measured.copyBytesPerSecond ?? 1e12);
  const candidates = configurations.map((recorded) => {
    const { traversal, parameters: { cpuWorkers = gpu === null ? 1 : undefined, ...parameters } } = recorded;
    const prediction = predictionOf({ traversal, parameters, cpuWorkers }, problem, device);
    if ("reason" in prediction) throw new ProfileError(`Cannot replay ${title}: ${prediction.reason}`);
    return { ...prediction, parameters: recorded.parameters, recorded };
  });
  return rankCandidates(gpu === null ? candidates : inOrderOfLists(candidates, problem, gpu.limits));
}

/** By traversal, then by their places among the combinations of its lists: that orders what is predicted alike. */
function inOrderOfLists<C extends ReplayCandidate>(
  candidates: readonly C[],
  problem: Problem,
  limits: DeviceLimits,
): C[] {
  return TRAVERSALS.flatMap((traversal) => {
    const found = candidates.filter(({ recorded }) => recorded.traversal === traversal.name);
    if (found.length === 0) return [];
    const lists = Object.entries(traversal.parameterLists(problem, limits));
    const placeOf = ({ parameters }: C): number =>
      lists.reduce((place, [name, list]) => {
        const index = list.indexOf(parameters[name] ?? NaN);
        return place * (list.length + 1) + (index < 0 ? list.length : index);
      }, 0);
    const places = new Map(found.map((one) => [one, placeOf(one)]));
    return found.sort((a, b) => places.get(a)! - places.get(b)!);
  });
}
