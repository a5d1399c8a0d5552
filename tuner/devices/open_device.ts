import { requestAdapter, requestFullDevice } from "./device.ts";

/**
 * Opens the system's fastest GPU with all the limits that kernels can use, and its clock. A program that has a device
 * already needs none of this.
 *
 * @returns the device, which is the caller's to destroy; null where there is no WebGPU adapter
 *
 * @example
 * ```ts
 * import { openDevice } from "./open_device.ts";
 * import { assert } from "@std/assert";
 *
 * const device = await openDevice();
 * assert(device === null || device.limits.maxComputeInvocationsPerWorkgroup >= 256);
 * device?.destroy();
 * ```
 */
export async function openDevice(): Promise<GPUDevice | null> {
  const adapter = await requestAdapter();
  return adapter === null ? null : await requestFullDevice(adapter);
}
