/** The device failed in a way that ends the command: none of the work asked for can be done on it. */
export class DeviceError extends Error {
  override name = "DeviceError";
}
