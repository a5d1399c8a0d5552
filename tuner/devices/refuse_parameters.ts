import { type Refusal, refusalOf, wrongParameters } from "../../kernels/capability.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import {
  type DeviceLimits,
  type ParameterLists,
  type Parameters,
  refuseOthers,
  type Traversal,
} from "../../kernels/traversals/traversal.ts";

/** No parameter of any traversal is larger. */
const LARGEST_VALUE = 65_536;

/** Why a traversal cannot run the problem with these parameters on a device with these limits; undefined where it can. */
export function whyNot(
  traversal: Traversal,
  problem: Problem,
  parameters: Parameters,
  limits: DeviceLimits,
): Refusal | undefined {
  const refused = refusalOf(traversal, problem, limits);
  if (refused !== undefined) return refused;
  // what a device must grant is offered where it does, and known everywhere
  const granted = Object.entries(traversal.parameters).flatMap(([name, [, , facts]]) =>
    facts?.features ? [[name, [0]]] : []
  );
  const lists: ParameterLists = {
    ...Object.fromEntries(granted),
    ...traversal.parameterLists(problem, limits),
  };
  const known = Object.keys(lists);
  const odd = oddIn(traversal, lists, parameters, (list) => [Math.min(1, ...list), LARGEST_VALUE]);
  const reason = refuseOthers(known, parameters) ?? (odd === undefined ? odd : wrongParameters(odd)) ??
    traversal.infeasible(problem, parameters, limits);
  if (reason !== undefined) return reason;
  const missing = known.filter((name) =>
    parameters[name] === undefined && !traversal.parameters[name]?.[2]?.isLater
  );
  if (missing.length === 0) return undefined;
  return wrongParameters(
    `the profile has no value of ${missing.join(", ")}, and ${traversal.name} has no default`,
  );
}

/**
 * Which value is neither in its parameter's list nor one that has words, and of a number that counts no whole number within
 * bounds, in words; undefined if none is.
 */
export function oddIn(
  traversal: Pick<Traversal, "parameters">,
  lists: ParameterLists,
  parameters: Parameters,
  boundsOf: (list: readonly number[]) => readonly [least: number, most: number],
): string | undefined {
  for (const [name, all] of Object.entries(lists)) {
    const value = parameters[name], { unit, values } = traversal.parameters[name]?.[2] ?? {};
    if (value === undefined || all.includes(value)) continue;
    const list = all.filter((other) => typeof other === "number"), choices = Object.keys(values ?? {});
    if (choices.length > 0 && unit === undefined) {
      if (typeof value === typeof all[0] && choices.includes(`${value}`)) continue;
      return `${name} must be one of ${choices.join(", ")}: found ${value}`;
    }
    const [least, most] = boundsOf(list);
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) continue;
    const others = list.filter((other) => !Number.isInteger(other)).map((other) => `, ${other}`).join("");
    const wanted = `a whole number from ${least} to ${most}${others.replace(/, ([^,]*)$/, " or $1")}`;
    return `${name} must be ${wanted}: found ${value}`;
  }
}
