import { isFailure, UnstableProblem } from "./run_failure.ts";

/** The device failed in a way that ends the command: none of the work asked for can be done on it. */
export class DeviceError extends Error {
  /** The name of the class. */
  override name = "DeviceError";
}

/** Turns a device's failure at what everything else needs into the end of the command. */
export function deviceFailed(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof UnstableProblem) throw error;
    throw isFailure(error) ? new DeviceError(`${what}: ${error.reason}: ${error.message}`) : error;
  };
}
