import { type Refusal, refusalOf, wrongParameters } from "../../kernels/capability.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import {
  type DeviceLimits,
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
  const refused = refusalOf(traversal, problem);
  if (refused !== undefined) return refused;
  const lists = traversal.parameterLists(problem, limits), known = Object.keys(lists);
  const odd = oddIn(lists, parameters, (list) => [Math.min(1, ...list), LARGEST_VALUE]);
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

/** Which value is neither in its parameter's list nor a whole number within bounds, in words; undefined if none is. */
export function oddIn(
  lists: Readonly<Record<string, readonly number[]>>,
  parameters: Parameters,
  boundsOf: (list: readonly number[]) => readonly [least: number, most: number],
): string | undefined {
  for (const [name, list] of Object.entries(lists)) {
    const value = parameters[name], [least, most] = boundsOf(list);
    if (value === undefined || list.includes(value)) continue;
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    const others = list.filter((other) => !Number.isInteger(other)).map((other) => `, ${other}`).join("");
    const wanted = `a whole number from ${least} to ${most}${others.replace(/, ([^,]*)$/, " or $1")}`;
    return `${name} must be ${wanted}: found ${value}`;
  }
}
