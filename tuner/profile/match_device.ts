import type { DeviceLimits } from "../../kernels/traversals/traversal.ts";
import type { GpuDescription } from "../devices/device.ts";

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
}

/** How alike two devices are, the most alike first. */
export const DEVICE_GRADES = ["same-device", "same-architecture", "same-vendor"] as const;

/** One of {@linkcode DEVICE_GRADES}. */
export type DeviceGrade = typeof DEVICE_GRADES[number];

/** The names by which browsers report vendors, for the PCI and Khronos numbers that wgpu reports. */
const VENDORS: Readonly<Record<string, string>> = {
  0x1002: "amd",
  0x1010: "img-tec",
  0x106b: "apple",
  0x10de: "nvidia",
  0x1414: "microsoft",
  0x13b5: "arm",
  0x5143: "qualcomm",
  0x8086: "intel",
  0x10005: "mesa",
};

/** How alike a device and a profile's GPU are, as far as WebGPU reports; undefined if they have nothing in common. */
export function gradeDevice(
  target: AdapterIdentity | undefined,
  profiled: Omit<GpuDescription, "limits" | "features" | "timestampQuery"> | null,
): DeviceGrade | undefined {
  if (target === undefined || profiled === null) return undefined;
  const { architecture, device, description, isFallbackAdapter: isFallback = false } = target;
  const vendor = vendorOf(target.vendor);
  if (vendor === "" || vendor !== vendorOf(profiled.vendor) || isFallback !== profiled.isFallback) {
    return undefined;
  }
  const isNamed = device !== "" || description !== "";
  const isSameModel = device === profiled.device && description === profiled.description;
  const isSameArchitecture = architecture === profiled.architecture;
  if (isNamed && isSameModel && isSameArchitecture) return "same-device";
  return isSameArchitecture && architecture !== "" ? "same-architecture" : "same-vendor";
}

function vendorOf(vendor: string): string {
  return VENDORS[vendor] ?? vendor.toLowerCase();
}
