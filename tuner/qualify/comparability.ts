import type { Share } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import type { ProfileDevice } from "../profile/schema.ts";
import { uses } from "../shares.ts";

/** What has to be the same, in words, and what it is on a device. */
type Fact = readonly [what: string, value: string | number];

/**
 * Why rates on this machine and the recorded ones cannot be compared; undefined if they can: the devices that take part
 * in this share have to be the same. WebGPU does not report the driver's version; a new driver is noticed only through
 * the adapter's name, limits and features.
 */
export function whyNotComparable(
  recorded: ProfileDevice,
  here: DeviceDescription,
  share: Share,
): string | undefined {
  if (uses(share, "gpu") && recorded.gpu === null) return "the profile's device has no GPU";
  if (uses(share, "gpu") && here.gpu === null) return "there is no WebGPU adapter here";
  const parts = {
    gpu: uses(share, "gpu"),
    // another Deno may show more of the same driver
    driver: recorded.deno === here.deno,
    // a software adapter computes on the CPU
    cpu: uses(share, "cpu") || (here.gpu?.isFallback ?? false),
  };
  const was = new Map(factsOf(recorded, parts)), is = factsOf(here, parts);
  const other = is.find(([what, value]) => was.get(what) !== value);
  return other &&
    `another ${other[0]}: was ${was.get(other[0]) || "not reported"}, is ${other[1] || "not reported"}`;
}

/** What may explain a difference but does not forbid a comparison. */
export function noteOf(recorded: ProfileDevice, here: DeviceDescription): string | undefined {
  if (recorded.deno === here.deno) return undefined;
  return `recorded with Deno ${recorded.deno}, this is ${here.deno}`;
}

/** What of a device has to be the same, the most telling first. */
function factsOf(
  { gpu, cpu, os }: ProfileDevice | DeviceDescription,
  parts: Readonly<Record<"gpu" | "driver" | "cpu", boolean>>,
): Fact[] {
  const adapter: Fact[] = gpu === null || !parts.gpu ? [] : [
    ["GPU", gpu.description],
    ["GPU's vendor", gpu.vendor],
    ["GPU's architecture", gpu.architecture],
    ["GPU's model number", gpu.device],
    ["kind of adapter", gpu.isFallback ? "software" : "hardware"],
  ];
  const driver: Fact[] = gpu === null || !parts.gpu || !parts.driver ? [] : [
    ...Object.entries(gpu.limits).map(([name, value]): Fact => [`driver, by its ${name}`, value]),
    ["driver, by its features", gpu.features.toSorted().join(", ")],
  ];
  const processor: Fact[] = parts.cpu ? [["CPU", cpu.model], ["number of cores", cpu.cores]] : [];
  return [...adapter, ...driver, ...processor, ["system", os]];
}
