import type { Problem } from "../../kernels/stencils/stencil.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { EMPTY_SPACE, enumerateSpace, type Space } from "../search/space.ts";
import { withSuitedSteps } from "./default_problem.ts";
import { leftOut } from "./left_out.ts";
import { RequestError } from "./request_error.ts";
import type { ResolvedProblem } from "./resolve_problem.ts";

/** The problem with the steps that suit the GPU, and its space; without a GPU that is empty. */
export function suitedSpace(
  resolved: ResolvedProblem,
  copyBytesPerSecond: number,
): { readonly problem: Problem; readonly space: Space } {
  const { traversals, device } = resolved, problem = withSuitedSteps(resolved, copyBytesPerSecond);
  if (device.gpu === null) return { problem, space: EMPTY_SPACE };
  const model = deviceModelOf(device, copyBytesPerSecond);
  return {
    problem,
    space: enumerateSpace(problem, { traversals, limits: device.gpu.limits, device: model }),
  };
}

/** The same; `Cannot ${action}`, and why, where a GPU's space is empty. */
export function usableSpace(action: string, resolved: ResolvedProblem, copyBytesPerSecond: number) {
  const { problem, space } = suitedSpace(resolved, copyBytesPerSecond);
  if (space.candidates.length > 0) return { problem, space };
  const reasons = leftOut(problem, space, resolved.device.gpu!.limits);
  const words = reasons.map(({ traversal, reason }) => `${traversal}: ${reason}`).join("; ");
  throw new RequestError(`Cannot ${action}: ${words}`);
}
