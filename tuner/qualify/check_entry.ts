import { formatPlural } from "../format.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { traversalNamed, TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits } from "../../kernels/traversals/traversal.ts";
import { type DeviceDescription, type GpuDescription, whyNoPrecision } from "../devices/device.ts";
import { partOf, refuseCpuPart, whyNoShare } from "../devices/shared/shares.ts";
import { type Configuration, MAX_WORKERS, type Share } from "../configuration.ts";
import { misfitOf } from "../problem/resolve_problem.ts";
import { whyNot } from "../devices/refuse_parameters.ts";
import { ANY_DEVICE, oddValue } from "../profile/prediction.ts";
import { reasonOf } from "../profile/profile_error.ts";
import type { ProfileDevice } from "../profile/schema.ts";
import { uses } from "../shares.ts";

/** Why no device could run a configuration, so that its profile is wrong; undefined if nothing is wrong with it. */
export function whyInvalid(
  problem: Problem,
  configuration: Configuration,
  recorded: Pick<ProfileDevice, "gpu">,
): string | undefined {
  const { traversal, share } = configuration;
  const cpuNames = !uses(share, "gpu") ? CPU_TRAVERSALS.map(({ name }) => name) : [];
  const names = [...new Set([...cpuNames, ...TRAVERSALS.map(({ name }) => name)])];
  if (!names.includes(traversal)) {
    return `wanted one of ${names.join(", ")}: found traversal ${JSON.stringify(traversal)}`;
  }
  const reason = whyNoShare(problem, share) ?? whyNoWorkers(share) ??
    (uses(share, "cpu") ? refuseCpuPart(problem, configuration) : undefined);
  if (reason !== undefined || !uses(share, "gpu")) return reason;
  if (recorded.gpu === null) {
    return `${formatPlural(share.gpuSlices, "slice")} on a GPU, but the profile's device has none`;
  }
  const { limits } = recorded.gpu;
  // of an imported device nothing but the name is known: its limits are 0
  return oddValue(traversalNamed(traversal), problem, configuration.parameters) ??
    whyInfeasible(problem, configuration, limits.maxBufferSize === 0 ? ANY_DEVICE : limits);
}

/** Why a configuration cannot run on a GPU of these limits and features, or without one, though it may elsewhere. */
export function whyNotHere(
  problem: Problem,
  configuration: Configuration,
  gpu: Pick<GpuDescription, "limits" | "features"> | null,
): string | undefined {
  const { share } = configuration;
  if (uses(share, "gpu")) {
    if (gpu === null) return "there is no WebGPU adapter here";
    const { limits } = gpu, lacking = whyNoPrecision(gpu, problem.stencil.update);
    if (lacking !== undefined) return `this GPU cannot: ${lacking}`;
    const misfit = misfitOf(problem, limits);
    if (misfit !== undefined) return `it does not fit: ${misfit}`;
    const reason = whyInfeasible(problem, configuration, limits);
    if (reason !== undefined) return `this GPU cannot: ${reason}`;
  }
  const misfit = uses(share, "cpu") ? misfitOf(problem, undefined) : undefined;
  return misfit && `it does not fit: ${misfit}`;
}

function whyNoWorkers(share: Share): string | undefined {
  const { cpuWorkers } = share;
  if (cpuWorkers > MAX_WORKERS) return `${cpuWorkers} CPU workers, more than ${MAX_WORKERS}`;
  return uses(share, "cpu") && cpuWorkers === 0
    ? `${formatPlural(share.cpuSlices, "slice")} on the CPU without a worker`
    : undefined;
}

function whyInfeasible(
  problem: Problem,
  configuration: Configuration,
  limits: DeviceLimits,
): string | undefined {
  const traversal = traversalNamed(configuration.traversal), { parameters } = configuration;
  const part = partOf(problem, configuration.share, "gpu");
  try {
    return whyNot(traversal, part, parameters, limits)?.message;
  } catch (error) {
    return reasonOf(error);
  }
}

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
  if (other === undefined && uses(share, "cpu") && share.cpuWorkers > here.cpu.cores) {
    return `${share.cpuWorkers} CPU workers, but a worker a core makes ${here.cpu.cores}`;
  }
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
    // earlier versions did not ask how many threads a SIMD group has
    ...Object.entries(gpu.limits).filter(([name]) => name !== "subgroupSize")
      .map(([name, value]): Fact => [`driver, by its ${name}`, value]),
    // what is not listed was asked for by some runs alone
    [
      "driver, by its features",
      gpu.features.filter((name) => !name.startsWith("wgpu-")).toSorted().join(", "),
    ],
  ];
  const processor: Fact[] = parts.cpu ? [["CPU", cpu.model], ["number of cores", cpu.cores]] : [];
  return [...adapter, ...driver, ...processor, ["system", os]];
}
