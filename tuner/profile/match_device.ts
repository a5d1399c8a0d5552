import type { DeviceLimits } from "../../kernels/traversals/traversal.ts";
import type { GpuDescription } from "../devices/device.ts";
import { browserVendor } from "../devices/vendors.ts";

/** What WebGPU reports about a GPU; a text is empty if it does not report it. */
export interface AdapterIdentity {
  /** For example `nvidia`, or the PCI number in decimal. */
  readonly vendor: string;
  /** For example `hopper`. */
  readonly architecture: string;
  /** The vendor's number or name for the model. */
  readonly device: string;
  /** A name for people. */
  readonly description: string;
  /** Whether it computes in software. */
  readonly isFallbackAdapter?: boolean;
}

/** The device at hand; a `GPUDevice` is one. */
export interface TargetDevice {
  /** The device's own limits, not those of its adapter. */
  readonly limits: DeviceLimits;
  /** What it is. @default {undefined} unknown, so no profile matches it */
  readonly adapterInfo?: AdapterIdentity;
  /** What it was granted. @default {undefined} nothing beyond WebGPU */
  readonly features?: { has(name: string): boolean };
}

/** How alike two devices are, the most alike first. */
export const DEVICE_GRADES = ["same-device", "same-architecture", "same-vendor"] as const;

export type DeviceGrade = typeof DEVICE_GRADES[number];

/**
 * How alike a device and a profile's GPU are, as far as WebGPU reports; undefined if they have nothing in common. A CPU
 * that computes alone is as good as any other, whatever GPU is beside it: which model it is, programs cannot ask.
 *
 * @param target undefined where nothing is known of it, null for the CPU alone
 */
export function gradeDevice(
  target: AdapterIdentity | undefined | null,
  profiled: Omit<GpuDescription, "limits" | "features" | "timestampQuery"> | null,
): DeviceGrade | undefined {
  if (target === null) return "same-architecture";
  if (!target || profiled === null) return undefined;
  const { architecture, device, description, isFallbackAdapter: isFallback = false } = target;
  const vendor = browserVendor(target.vendor);
  if (vendor === "" || vendor !== browserVendor(profiled.vendor) || isFallback !== profiled.isFallback) {
    return undefined;
  }
  const isNamed = device !== "" || description !== "";
  const isSameModel = device === profiled.device && description === profiled.description;
  const isSameArchitecture = architecture === profiled.architecture;
  if (isNamed && isSameModel && isSameArchitecture) return "same-device";
  return isSameArchitecture && architecture !== "" ? "same-architecture" : "same-vendor";
}
