import { remembered } from "../../kernels/remembered.ts";
import { plannedProblem, usersProblem } from "../../kernels/planned_problem.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import { CostModel, type Sample } from "../../models/cost_model.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { deviceModelOf } from "../devices/device_model.ts";
import { leftOut } from "../problem/left_out.ts";
import { RequestError } from "../problem/request_error.ts";
import { withSuitedSteps } from "../problem/default_problem.ts";
import { EMPTY_SPACE, enumerateSpace, type Space } from "../search/space.ts";
import { numberOf } from "./kept_choices.ts";
import { gradeDevice } from "./match_device.ts";
import { type NearEntry, nearestEntries } from "./profile_index.ts";
import { describeProblem, problemOf } from "./profile_problem.ts";
import type { ProfileDevice, ProfileEntry } from "./profile_types.ts";
import { samplesOf } from "./samples.ts";
import { shippedEntries } from "./shipped.ts";

/** Most measurements of one device to learn from, the nearest problems first: time grows with the cube of a traversal's. */
export const MOST_LEARNT = 200;

/** Measurements of other devices to learn from, even if MOST_SAMPLES of the device at hand are known. */
const LEAST_ELSEWHERE = 50;

/** Most measurements of other devices to learn from. @param known measurements of the device at hand */
export function mostElsewhere(known: number): number {
  return Math.max(LEAST_ELSEWHERE, MOST_LEARNT - known);
}

/** What entries taught of a stencil before. */
const sampled = remembered((_: Stencil) => new WeakMap<ProfileEntry, readonly Sample[]>());

/**
 * What entries, the nearest first, teach of a user's stencil on the device at hand or on others; those of other equations
 * nothing of the CPU.
 */
export function learn(
  nears: readonly NearEntry[],
  stencil: Stencil,
  { isHere = false, isCpu = false, known: already = 0 }: {
    readonly isHere?: boolean;
    readonly isCpu?: boolean;
    /** Measurements of the device at hand that are known. @default {0} */
    readonly known?: number;
  },
): Map<ProfileEntry, readonly Sample[]> {
  const samples = new Map<ProfileEntry, readonly Sample[]>();
  let left = isHere ? MOST_LEARNT : mostElsewhere(already);
  for (const { entry, device, isAlike } of nears) {
    if (left <= 0) break;
    const measured = problemOf(entry.problem);
    if (measured === undefined) continue;
    const model = deviceModelOf(device);
    const fits = ({ cpuWorkers = 0 }: Sample): boolean => cpuWorkers > 0 ? isAlike : !isCpu;
    const problem = isAlike ? plannedProblem({ ...usersProblem(measured), stencil }) : measured;
    const known = sampled(problem.stencil);
    if (!known.has(entry)) known.set(entry, samplesOf(entry, problem, model));
    const fitting = known.get(entry)!.filter(fits).slice(0, left), number = isHere ? 0 : 1 + numberOf(device);
    samples.set(entry, fitting.map((sample) => ({ ...sample, device: number, isForeign: !isAlike })));
    left -= fitting.length;
  }
  return samples;
}

/** What runs of a problem cost a GPU, by what comes with Facet and what a run has learnt before. */
export function costModelOf(
  problem: Problem,
  { gpu }: Pick<ProfileDevice, "gpu">,
  model: DeviceModel,
  learned: readonly Sample[] = [],
): CostModel {
  const { stencil } = usersProblem(problem);
  const shipped = gpu === null || gpu.isFallback ? [] : shippedEntries().flatMap((known) => {
    const nears = nearestEntries([known], describeProblem(problem), stencil, MOST_LEARNT);
    const isHere = gradeDevice(gpu, known.device.gpu) === "same-device";
    return [...learn(nears, stencil, { isHere }).values()].flat();
  });
  return new CostModel(model, [...learned, ...shipped]);
}

/** What a space is made of. */
type Resolved = Parameters<typeof withSuitedSteps>[0] & { readonly traversals: readonly Traversal[] };

/** The problem with the steps that suit the GPU, and its space; without a GPU that is empty. */
export function suitedSpace(
  resolved: Resolved,
  copyBytesPerSecond: number,
): { readonly problem: Problem; readonly space: Space } {
  const { traversals, device } = resolved, problem = withSuitedSteps(resolved, copyBytesPerSecond);
  if (device.gpu === null) return { problem, space: EMPTY_SPACE };
  const model = costModelOf(problem, device, deviceModelOf(device, copyBytesPerSecond));
  return { problem, space: enumerateSpace(problem, { traversals, limits: device.gpu.limits, model }) };
}

/** The same; `Cannot ${action}`, and why, where a GPU's space is empty. */
export function usableSpace(action: string, resolved: Resolved, copyBytesPerSecond: number) {
  const { problem, space } = suitedSpace(resolved, copyBytesPerSecond);
  if (space.candidates.length > 0) return { problem, space };
  const reasons = leftOut(problem, space, resolved.device.gpu!.limits);
  const words = reasons.map(({ traversal, reason }) => `${traversal}: ${reason}`).join("; ");
  throw new RequestError(`Cannot ${action}: ${words}`);
}
