import type { Precise } from "../../kernels/precision.ts";
import { requestAdapter, requestFullDevice } from "./device.ts";

/**
 * Opens the system's fastest GPU with all the limits that kernels can use, its clock, and shuffles within SIMD groups where
 * Deno grants them. A program that has a device already needs none of this.
 *
 * @param of what is computed there, as `{ precision: "f64" }` @default {f32}
 * @returns the device, which is the caller's to destroy; null where there is no WebGPU adapter, or it cannot compute that
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
export async function openDevice(of: Precise = {}): Promise<GPUDevice | null> {
  const adapter = await requestAdapter();
  return adapter === null ? null : await requestFullDevice(adapter, of);
}
