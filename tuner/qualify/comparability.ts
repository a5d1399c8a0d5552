import type { Share } from "../configuration.ts";
import type { DeviceDescription, GpuDescription } from "../devices/device.ts";
import type { ProfileDevice } from "../profile/schema.ts";

/** Fields of a GPU that tell one from another, in words. */
const NAMES = {
  description: "GPU",
  vendor: "GPU's vendor",
  architecture: "GPU's architecture",
  device: "GPU's model number",
} as const;

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
  // a software adapter computes on the CPU
  const usesCpu = share.cpuSlices > 0 || here.gpu?.isFallback;
  return (share.gpuSlices > 0 ? whyOtherGpu(recorded, here) : undefined) ??
    (usesCpu ? whyOtherCpu(recorded.cpu, here.cpu) : undefined) ??
    (recorded.os === here.os ? undefined : `another system: was ${recorded.os}, is ${here.os}`);
}

/** What may explain a difference but does not forbid a comparison. */
export function noteOf(recorded: ProfileDevice, here: DeviceDescription): string | undefined {
  if (recorded.deno === here.deno) return undefined;
  return `recorded with Deno ${recorded.deno}, this is ${here.deno}`;
}

function whyOtherGpu(recorded: ProfileDevice, here: DeviceDescription): string | undefined {
  const { gpu: was } = recorded, { gpu: is } = here;
  if (was === null) return "the profile's device has no GPU";
  if (is === null) return "there is no WebGPU adapter here";
  for (const [field, title] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    if (was[field] !== is[field]) {
      return `another ${title}: was ${was[field] || "not reported"}, is ${is[field] || "not reported"}`;
    }
  }
  if (was.isFallback !== is.isFallback) {
    const kind = (isFallback: boolean): string => isFallback ? "software" : "hardware";
    return `another kind of adapter: was ${kind(was.isFallback)}, is ${kind(is.isFallback)}`;
  }
  // another Deno may show more of the same driver
  return recorded.deno === here.deno ? whyOtherDriver(was, is) : undefined;
}

function whyOtherDriver(was: NonNullable<ProfileDevice["gpu"]>, is: GpuDescription): string | undefined {
  for (const name of Object.keys(is.limits) as (keyof GpuDescription["limits"])[]) {
    if (was.limits[name] !== is.limits[name]) {
      return `another driver: ${name} was ${was.limits[name]}, is ${is.limits[name]}`;
    }
  }
  const gone = was.features.filter((name) => !is.features.includes(name));
  const come = is.features.filter((name) => !was.features.includes(name));
  const changes = [
    ...(gone.length > 0 ? [`lacks ${gone.join(", ")}`] : []),
    ...(come.length > 0 ? [`has ${come.join(", ")}`] : []),
  ];
  return changes.length === 0 ? undefined : `another driver: it now ${changes.join(" and ")}`;
}

function whyOtherCpu(was: ProfileDevice["cpu"], is: DeviceDescription["cpu"]): string | undefined {
  if (was.model !== is.model) return `another CPU: was ${was.model}, is ${is.model}`;
  return was.cores === is.cores ? undefined : `other cores: were ${was.cores}, are ${is.cores}`;
}
