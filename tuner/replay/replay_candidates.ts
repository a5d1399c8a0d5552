import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { predictRate } from "../../models/roofline.ts";
import { oddValue } from "../profile/odd_value.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { cpuCandidate } from "../search/cpu_space.ts";
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
  if (facet.device.gpu === null) {
    return rankCandidates(configurations.map((recorded) => cpuReplayCandidate(problem, recorded, title)));
  }
  const cells = cellsOf(problem.grid);
  const device = deviceModelOf(facet.device, facet.device.measured.copyBytesPerSecond ?? 1e12);
  const { limits } = facet.device.gpu;
  const byName = Map.groupBy(configurations, ({ traversal }) => traversal);
  const unknown = [...byName.keys()].find((name) => TRAVERSALS.every((traversal) => traversal.name !== name));
  if (unknown !== undefined) {
    throw new ProfileError(`Cannot replay ${title}: there is no traversal ${unknown} any more`);
  }
  return rankCandidates(TRAVERSALS.flatMap((traversal) => {
    const found = byName.get(traversal.name);
    if (found === undefined) return [];
    for (const { parameters } of found) {
      const odd = traversal.refuse(problem) ?? oddValue(traversal, problem, parameters);
      if (odd !== undefined) throw new ProfileError(`Cannot replay ${title}: ${traversal.name}: ${odd}`);
    }
    const lists = Object.entries(traversal.parameterLists(problem, limits));
    /** A configuration's place among the combinations of the lists, which orders what is predicted alike. */
    const placeOf = ({ parameters }: RecordedConfiguration): number =>
      lists.reduce((place, [name, list]) => {
        const index = list.indexOf(parameters[name] ?? NaN);
        return place * (list.length + 1) + (index < 0 ? list.length : index);
      }, 0);
    const places = new Map(found.map((recorded) => [recorded, placeOf(recorded)]));
    return found.toSorted((a, b) => places.get(a)! - places.get(b)!).map((recorded) => {
      const { parameters } = recorded;
      const demand = traversal.demand(problem, parameters);
      const predicted = predictRate(demand, device, { cells });
      if (predicted > 0 && Number.isFinite(predicted)) {
        return { traversal, parameters, demand, predicted, recorded };
      }
      const values = Object.entries(parameters).map((entry) => entry.join("=")).join(" ");
      throw new ProfileError(
        `Cannot replay ${title}: wanted parameters of ${traversal.name} whose rate can be predicted, found ${values}`,
      );
    });
  }));
}

function cpuReplayCandidate(
  problem: Problem,
  recorded: RecordedConfiguration,
  title: string,
): ReplayCandidate & { readonly predicted: number } {
  const { traversal: name, parameters: { cpuWorkers = 1, ...parameters } } = recorded;
  const why = cpuTraversalNamed(name)?.infeasible(problem, parameters);
  if (why !== undefined) throw new ProfileError(`Cannot replay ${title}: ${name}: ${why}`);
  const candidate = cpuCandidate(problem, { traversal: name, parameters, cpuWorkers });
  if (candidate === undefined) {
    throw new ProfileError(`Cannot replay ${title}: the CPU has no traversal ${name} any more`);
  }
  const { traversal, predicted } = candidate;
  return { traversal, parameters: recorded.parameters, predicted, recorded };
}
