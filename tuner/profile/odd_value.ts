import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { everyLimit } from "../devices/device.ts";

/** Limits that no device reaches: what cannot run with them cannot run anywhere. */
export const ANY_DEVICE: DeviceLimits = everyLimit(() => 2 ** 40);

/** A parameter further than this factor beyond all that a search would try was not found by one. */
const FAR_BEYOND = 4;

/**
 * Which parameter has a value that no search finds; some sizes would keep the models and the writers of kernels busy
 * forever. Undefined if none has; `refuseOthers` finds parameters that the
 * traversal does not have.
 *
 * @param problem one that the traversal does not refuse
 */
export function oddValue(traversal: Traversal, problem: Problem, parameters: Parameters): string | undefined {
  const lists = Object.entries(traversal.parameterLists(problem, ANY_DEVICE));
  for (const [name, list] of lists) {
    const value = parameters[name];
    const least = Math.min(1, ...list), most = FAR_BEYOND * Math.max(1, ...list);
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    return `${name} must be a whole number from ${least} to ${most}: found ${value}`;
  }
  return undefined;
}
