import type { Problem } from "../../kernels/stencils/stencil.ts";
import { adapterInfoOf, limitsOf } from "../devices/device.ts";
import type { TargetDevice } from "./match_device.ts";
import { describeProblem, problemKey } from "./profile_problem.ts";
import type { Profile } from "./profile_types.ts";

/** All that a choice depends on, but for this program and machine. */
export interface Asked {
  readonly profiles: readonly Profile[];
  readonly problem: Problem;
  readonly device: TargetDevice | null;
  readonly cpuWorkers: number;
  readonly copyBytesPerSecond: number | undefined;
}

/** Owner of what comes from no profile, for no GPU. */
const NOBODY = {};

const kept = new WeakMap<object, Map<string, unknown>>();

/** Numbers of profiles, so that a text can tell them apart. */
const numbers = new WeakMap<Profile, number>();
let numbered = 0;

/** What `find` found when the same was asked before, else what it finds; kept as long as the first profile is. */
export function keep<Found>(asked: Asked, find: () => Found): Found {
  const owner = asked.profiles[0] ?? asked.device ?? NOBODY, key = keyOf(asked);
  const known = kept.get(owner) ?? new Map<string, unknown>();
  kept.set(owner, known);
  if (!known.has(key)) known.set(key, find());
  return known.get(key) as Found;
}

/** A text that two questions share exactly if the answer is the same. */
function keyOf({ profiles, problem, device, cpuWorkers, copyBytesPerSecond }: Asked): string {
  const limits = device && [...Object.values(limitsOf(device.limits)), device.limits.windowBytes];
  return JSON.stringify([
    profiles.map(numberOf),
    problemKey(describeProblem(problem)),
    problem.stencil.dimensions,
    limits?.map(String),
    device && adapterInfoOf(device),
    `${cpuWorkers}`,
    `${copyBytesPerSecond}`,
  ]);
}

function numberOf(profile: Profile): number {
  const number = numbers.get(profile) ?? numbered++;
  numbers.set(profile, number);
  return number;
}
