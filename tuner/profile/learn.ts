import { remembered } from "../../kernels/remembered.ts";
import { plannedProblem, usersProblem } from "../../kernels/planned_problem.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { rankCandidates, type Space } from "../search/space.ts";
import {
  Calibration,
  correctSpace,
  MOST_SAMPLES,
  mostElsewhere,
  type Sample,
  samplesOf,
} from "./calibration.ts";
import { numberOf } from "./kept_choices.ts";
import { gradeDevice } from "./match_device.ts";
import { type NearEntry, nearestEntries } from "./profile_index.ts";
import { describeProblem, problemOf } from "./profile_problem.ts";
import type { ProfileDevice, ProfileEntry } from "./profile_types.ts";
import { shippedEntries } from "./shipped.ts";

/** Copy bandwidth assumed where it is unknown; it hardly changes the order of predictions. */
export const USUAL_BANDWIDTH = 200e9;

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
  let left = isHere ? MOST_SAMPLES : mostElsewhere(already);
  for (const { entry, device, isAlike } of nears) {
    if (left <= 0) break;
    const measured = problemOf(entry.problem);
    if (measured === undefined) continue;
    const model = deviceModelOf(device, device.measured.copyBytesPerSecond ?? USUAL_BANDWIDTH);
    const fits = ({ cpuWorkers = 0 }: Sample): boolean => cpuWorkers > 0 ? isAlike : !isCpu;
    const its = isAlike ? plannedProblem({ ...usersProblem(measured), stencil }) : measured;
    const known = sampled(its.stencil);
    if (!known.has(entry)) known.set(entry, samplesOf(entry, its, model));
    const some = known.get(entry)!.filter(fits).slice(0, left), of = isHere ? 0 : 1 + numberOf(device);
    samples.set(entry, some.map((one) => ({ ...one, device: of, isForeign: !isAlike })));
    left -= some.length;
  }
  return samples;
}

/** A GPU's space, in any order, in that of what comes with Facet and what a run has learnt before. */
export function expectedSpace(
  space: Space,
  problem: Problem,
  [{ gpu }, model]: readonly [device: Pick<ProfileDevice, "gpu">, model: DeviceModel],
  learned: readonly Sample[] = [],
): Space {
  const { stencil } = usersProblem(problem);
  const shipped = gpu === null || gpu.isFallback ? [] : shippedEntries().flatMap((known) => {
    const nears = nearestEntries([known], describeProblem(problem), stencil, MOST_SAMPLES);
    const isHere = gradeDevice(gpu, known.device.gpu) === "same-device";
    return [...learn(nears, stencil, { isHere }).values()].flat();
  });
  const samples = [...learned, ...shipped];
  if (samples.length === 0) return { ...space, candidates: rankCandidates(space.candidates) };
  return correctSpace(space, problem, new Calibration(samples, model));
}
