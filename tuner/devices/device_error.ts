/** The device failed in a way that ends the command: none of the work asked for can be done on it. */
export class DeviceError extends Error {
  /** The name of the class. */
  override name = "DeviceError";
}
