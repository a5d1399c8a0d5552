import { DeviceError } from "../devices/device_error.ts";

/** The ranks cannot go on together: one of them failed, or they were not asked for the same. */
export class RankError extends DeviceError {
  override name = "RankError";
}
