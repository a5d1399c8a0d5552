import type { Constants } from "../../models/gpu_record.ts";
import { pointsOf } from "./samples.ts";
import { describeProfileProblem } from "./describe.ts";
import { isOfOtherFormula, problemKey } from "./profile_problem.ts";
import type { DeviceEntries, Profile, ProfileDevice, ProfileEntry } from "./profile_types.ts";

/** Whether a date is one that no right clock has shown. */
export function isFuture(date: string): boolean {
  return Date.parse(date) > Date.now();
}

/** What distinguishes one device from another. */
export type DeviceIdentity = Pick<ProfileDevice, "gpu" | "cpu">;

/** Whether both describe the same hardware. Systems, drivers' limits and versions may differ. */
export function isSameDevice(a: DeviceIdentity, b: DeviceIdentity): boolean {
  const identify = ({ gpu, cpu }: DeviceIdentity): string => {
    const ofGpu = gpu && [gpu.vendor, gpu.architecture, gpu.device, gpu.description, gpu.isFallback];
    return JSON.stringify([ofGpu, cpu.model, cpu.cores]);
  };
  return identify(a) === identify(b);
}

/** All devices of a profile, each as a profile of its own. */
export function devicesOf({ others = [], ...first }: Profile): Profile[] {
  return [first, ...others.map((other) => ({ ...first, ...other }))];
}

/** What a profile has of a device: its entries, and the constants, if they were measured. */
export function knownOf(profile: Profile, wanted: DeviceIdentity): {
  readonly earlier: readonly ProfileEntry[];
  readonly constants?: Constants;
} {
  const known = devicesOf(profile).find(({ device }) => isSameDevice(device, wanted));
  const { copyBytesPerSecond: _, ...constants } = known?.device.measured ?? { copyBytesPerSecond: null };
  return { earlier: known?.entries ?? [], ...(constants.barrierNs && { constants: constants as Constants }) };
}

/** Two entries of one problem on one device whose intervals have nothing in common. */
export interface Conflict {
  readonly device: ProfileDevice;
  readonly kept: ProfileEntry;
  readonly replaced: ProfileEntry;
}

/**
 * One profile of several. The first device stays the first. Of two entries for the same problem on the same device the
 * one of the newer profile counts, with what both measured to predict from; all else of a device is the newer, too. A
 * date in the future, which a wrong clock has shown, counts as older than any other.
 *
 * @param onConflict called where the two disagree
 */
export function mergeProfiles(
  first: Profile,
  second: Profile,
  onConflict?: (conflict: Conflict) => void,
): Profile {
  const devices: DeviceEntries[] = [];
  const timeOf = ({ createdAt }: DeviceEntries): number =>
    isFuture(createdAt) ? -Infinity : Date.parse(createdAt);
  for (const { tool, createdAt, device, entries } of [first, second].flatMap(devicesOf)) {
    const profile = { tool, createdAt, device, entries };
    const at = devices.findIndex((other) => isSameDevice(other.device, device));
    // what was written at the same time: the second counts
    const known = devices[at], isLater = known !== undefined && timeOf(profile) >= timeOf(known);
    if (known === undefined) devices.push(profile);
    else devices[at] = isLater ? joined(known, profile, onConflict) : joined(profile, known, onConflict);
  }
  const [main, ...others] = devices;
  const { $schema, schemaVersion } = second;
  return { $schema, schemaVersion, ...main!, ...(others.length > 0 && { others }) };
}

function joined(
  earlier: DeviceEntries,
  newer: DeviceEntries,
  onConflict?: (conflict: Conflict) => void,
): DeviceEntries {
  const byProblem = new Map(earlier.entries.map((entry) => [problemKey(entry.problem), entry]));
  const entries = newer.entries.map((kept): ProfileEntry => {
    const key = problemKey(kept.problem), replaced = byProblem.get(key);
    if (replaced === undefined) return kept;
    byProblem.delete(key);
    const [low, high] = kept.result.confidence95 ?? [0, Infinity];
    const [least, most] = replaced.result.confidence95 ?? [0, Infinity];
    if (low > most || high < least) onConflict?.({ device: newer.device, kept, replaced });
    const points = [...kept.calibration ?? [], ...replaced.calibration ?? []];
    if (points.length === 0) return kept;
    return { ...kept, calibration: pointsOf(points.sort((a, b) => b.cellsPerSecond - a.cellsPerSecond)) };
  });
  // what was measured of a former formula gives way to today's
  const named = new Set(newer.entries.map(({ problem }) => describeProfileProblem(problem)));
  const others = [...byProblem.values()].filter(({ problem }) =>
    !isOfOtherFormula(problem) || !named.has(describeProfileProblem(problem))
  );
  return { ...newer, entries: [...others, ...entries] };
}
