import type { Problem } from "../stencils/stencil.ts";
import type { DeviceLimits, ParameterLists, Parameters, Traversal } from "./traversal.ts";

/** Every combination of the lists' values, the last list's changing first. */
export function* combine(lists: ParameterLists): Generator<Parameters> {
  const names = Object.keys(lists), places = names.map(() => 0);
  if (Object.values(lists).some(({ length }) => length === 0)) return;
  const chosen = Object.fromEntries(names.map((name) => [name, lists[name]![0]!]));
  for (let last = names.length; last >= 0;) {
    yield { ...chosen };
    for (last = names.length - 1; last >= 0; last--) {
      const name = names[last]!, list = lists[name]!;
      places[last] = (places[last]! + 1) % list.length;
      chosen[name] = list[places[last]!]!;
      if (places[last] !== 0) break;
    }
  }
}

/** The combinations that can run a problem, of all of a traversal's values or of some, where it does not refuse the problem. */
export function* feasible(
  traversal: Pick<Traversal, "parameterLists" | "infeasible">,
  problem: Problem,
  limits: DeviceLimits,
  lists: ParameterLists = traversal.parameterLists(problem, limits),
): Generator<Parameters> {
  for (const parameters of combine(lists)) {
    if (traversal.infeasible(problem, parameters, limits) === undefined) yield parameters;
  }
}
