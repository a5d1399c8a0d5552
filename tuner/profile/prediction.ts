import { refusalOf } from "../../kernels/capability.ts";
import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { remembered } from "../../kernels/remembered.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { predict, type Prediction } from "../../models/cost_model.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { everyLimit } from "../devices/device.ts";
import { oddIn } from "../devices/refuse_parameters.ts";
import { cpuCandidate } from "../search/cpu_space.ts";
import { listsOf } from "../search/enumeration.ts";
import type { ProfilePoint } from "./profile_types.ts";

/**
 * What today's models predict of a configuration that a file names; or why it cannot be predicted, since the file may be
 * of another version, or was edited.
 *
 * @param device the GPU; the CPU is known by its workers
 * @param isTrusted whether the values come with Facet
 */
export function predictionOf(
  { traversal: name, parameters, cpuWorkers }: Omit<ProfilePoint, "cellsPerSecond">,
  problem: Problem,
  device: DeviceModel,
  isTrusted = false,
): Prediction | { readonly reason: string } {
  if (cpuWorkers !== undefined) {
    const known = cpuTraversalNamed(name);
    const why = known && (refusalOf(known, problem) ?? known.infeasible(problem, parameters));
    if (why !== undefined) return { reason: `${name}: ${why.message}` };
    return cpuCandidate(problem, { traversal: name, parameters, cpuWorkers }) ??
      { reason: `the CPU has no traversal ${name} any more` };
  }
  const traversal = TRAVERSALS.find((traversal) => traversal.name === name);
  if (traversal === undefined) return { reason: `there is no traversal ${name} any more` };
  const odd = refusedBy(problem, name) ?? (isTrusted ? undefined : oddValue(traversal, problem, parameters));
  if (odd !== undefined) return { reason: `${name}: ${odd}` };
  const { demand, predicted } = predict(traversal, parameters, problem, device);
  if (predicted > 0 && Number.isFinite(predicted)) return { traversal, parameters, demand, predicted };
  const values = Object.entries(parameters).map((entry) => entry.join("=")).join(" ");
  return { reason: `wanted parameters of ${name} whose rate can be predicted, found ${values}` };
}

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
  const boundsOf = (list: readonly number[]) =>
    [Math.min(1, ...list), FAR_BEYOND * Math.max(1, ...list)] as const;
  return oddIn(traversal, listsOf(problem, traversal.name, ANY_DEVICE), parameters, boundsOf);
}

/** Why a traversal refuses a problem, found once for each. */
const refusedBy = remembered((problem: Problem, traversal: string) =>
  refusalOf(TRAVERSALS.find(({ name }) => name === traversal)!, problem)?.message
);
