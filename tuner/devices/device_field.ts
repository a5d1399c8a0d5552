import type { DeviceKind } from "../shares.ts";
import type { HeldProfiles } from "./held_profiles.ts";
import type { WatchedPoints } from "./points.ts";

/** What computes a field, and how. */
export interface FieldFacts {
  readonly device: DeviceKind;
  /** Host time to write and compile its code. */
  readonly compileNs: number;
  /** Whose clock measures its steps. */
  readonly clock: "device" | "host";
  /** Whether its first steps are as fast as any others. */
  readonly isWarm: boolean;
  /** Runs that it makes at once, of a device that takes work of any length and lowers its clock while it waits. */
  readonly longRun?: number;
}

/** A field on a device. */
export interface DeviceField extends Disposable {
  readonly facts: FieldFacts;
  /** Time steps since the initial state. */
  readonly step: number;
  /** The update's axis profiles. */
  readonly profiles: HeldProfiles;
  /** From now on adds to these points and records them, of a problem that has points; undefined: to none. */
  watch(points: WatchedPoints | undefined): Promise<void>;
}
