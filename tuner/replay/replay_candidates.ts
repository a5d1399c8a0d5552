/**
 * Recorded configurations as strategies see candidates: with the demand and the prediction that today's models
 * make of them, best prediction first as in `enumerateSpace`.
 *
 * @module
 */
import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
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
 * The candidates of a recorded space.
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
  /** A configuration's place among the combinations of its traversal's lists, which orders what is predicted alike. */
  const places = new Map<Traversal, (parameters: Parameters) => number>();
  const placeIn = (traversal: Traversal): (parameters: Parameters) => number => {
    const lists = Object.entries(traversal.parameterLists(problem, limits));
    return (parameters) =>
      lists.reduce(
        (place, [name, list]) =>
          place * (list.length + 1) + (list.indexOf(parameters[name] ?? NaN) + 1 || list.length + 1) - 1,
        0,
      );
  };
  const known = configurations.map((recorded) => {
    const traversal = TRAVERSALS.find(({ name }) => name === recorded.traversal);
    if (traversal === undefined) {
      throw new ProfileError(`Cannot replay ${title}: there is no traversal ${recorded.traversal} any more`);
    }
    const odd = traversal.refuse(problem) ?? oddValue(traversal, problem, recorded.parameters);
    if (odd !== undefined) throw new ProfileError(`Cannot replay ${title}: ${traversal.name}: ${odd}`);
    if (!places.has(traversal)) places.set(traversal, placeIn(traversal));
    const order = TRAVERSALS.indexOf(traversal), place = places.get(traversal)!(recorded.parameters);
    return { recorded, traversal, order, place };
  });
  known.sort((a, b) => a.order - b.order || a.place - b.place);
  return rankCandidates(known.map(({ recorded, traversal }) => {
    const { parameters } = recorded;
    const demand = traversal.demand(problem, parameters);
    const predicted = predictRate(demand, device, { cells });
    if (!(predicted > 0 && Number.isFinite(predicted))) {
      const found = Object.entries(parameters).map((entry) => entry.join("=")).join(" ");
      throw new ProfileError(
        `Cannot replay ${title}: wanted parameters of ${traversal.name} whose rate can be predicted, found ${found}`,
      );
    }
    return { traversal, parameters, demand, predicted, recorded };
  }));
}

/** A configuration of the CPU alone. */
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
