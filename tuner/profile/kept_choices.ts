import { remembered } from "../../kernels/remembered.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Constants } from "../../models/gpu_record.ts";
import { adapterInfoOf, deviceLimitsOf } from "../devices/device.ts";
import type { TargetDevice } from "./match_device.ts";
import { describeProblem, problemKey } from "./profile_problem.ts";
import type { Profile, ProfileProblem } from "./profile_types.ts";

/** All that a choice depends on, but for this program and machine. */
export interface Asked {
  readonly profiles: readonly Profile[];
  readonly problem: Problem;
  /** Whether it named no steps. */
  readonly isOpen: boolean;
  readonly device: TargetDevice | null;
  readonly cpuWorkers: number;
  readonly copyBytesPerSecond?: number;
  readonly constants?: Constants;
  readonly shipped?: (problem: ProfileProblem) => boolean;
}

/** Owner of what comes from no profile, for no GPU. */
const NOBODY = {};

const keptFor = remembered((_: object) => new Map<string, unknown>());

/** What is kept with a profile: what measurements teach takes a megabyte. */
const MOST_KEPT = 64;

let numbered = 0;

/** A number that is the object's own, so that a text can tell objects apart. */
export const numberOf: (of: object) => number = remembered((_: object) => numbered++);

/** What `find` found for this key before, else what it finds; kept as long as the first profile or the device is. */
export function keep<Found>({ profiles, device }: Asked, key: string, find: () => Found): Found {
  const known = keptFor(profiles[0] ?? device ?? NOBODY);
  if (known.size >= MOST_KEPT && !known.has(key)) known.clear();
  if (!known.has(key)) known.set(key, find());
  return known.get(key) as Found;
}

/** A text that two questions share exactly if the answer is the same. */
export function keyOf(
  { profiles, problem, isOpen, device, cpuWorkers, copyBytesPerSecond, constants, shipped }: Asked,
): string {
  const limits = device && [...Object.values(deviceLimitsOf(device)), device.limits.windowBytes];
  return JSON.stringify([
    profiles.map((profile) => numberOf(profile)),
    problemKey(describeProblem(problem)),
    isOpen,
    problem.stencil.dimensions,
    limits?.map(String),
    device && adapterInfoOf(device),
    `${cpuWorkers}`,
    `${copyBytesPerSecond}`,
    constants,
    shipped && numberOf(shipped),
  ]);
}
