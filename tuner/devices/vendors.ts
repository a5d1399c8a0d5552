import type { GpuDescription } from "./device.ts";

/** Vendors as browsers call them and as people do, by the PCI or Khronos number that wgpu reports. */
const VENDORS: Readonly<Record<string, readonly [browser: string, name: string]>> = {
  0x1002: ["amd", "AMD"],
  0x1010: ["img-tec", "Imagination"],
  0x106b: ["apple", "Apple"],
  0x10de: ["nvidia", "NVIDIA"],
  0x13b5: ["arm", "Arm"],
  0x1414: ["microsoft", "Microsoft"],
  0x14e4: ["broadcom", "Broadcom"],
  0x5143: ["qualcomm", "Qualcomm"],
  0x8086: ["intel", "Intel"],
  0x10005: ["mesa", "Mesa"],
};

/** A vendor as browsers report it, of a name or a number. */
export function browserVendor(vendor: string): string {
  return VENDORS[vendor]?.[0] ?? vendor.toLowerCase();
}

/** A vendor for people, of a name or a number: `NVIDIA`; of an unknown number `vendor 0x1234`. */
export function vendorName(vendor: string): string {
  const known = VENDORS[vendor] ??
    Object.values(VENDORS).find(([browser]) => browser === vendor.toLowerCase());
  const isNumber = vendor !== "" && !Number.isNaN(Number(vendor));
  return known?.[1] ?? (isNumber ? `vendor 0x${Number(vendor).toString(16)}` : vendor);
}

/** A GPU's name for people: what the driver says, or its vendor and model. */
export function gpuName(
  { description, vendor, device }: Pick<GpuDescription, "description" | "vendor" | "device">,
): string {
  return description || `${vendorName(vendor)} ${device}`.trim() || "unnamed GPU";
}
