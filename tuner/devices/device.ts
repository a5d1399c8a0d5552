import { type Precise, precisionOf } from "../../kernels/precision.ts";
import { remembered } from "../../kernels/remembered.ts";
import { type DeviceLimits, USUAL_BUFFERS } from "../../kernels/device_limits.ts";
import { countCores, cpuName, describeSystem, findWebGpu } from "../platform.ts";

/** The GPU as WebGPU describes it. A software adapter counts: it runs the same kernels, on the CPU. */
export interface GpuDescription {
  /** Vendor; where the driver gives no name, its PCI or Khronos number in decimal, as `4318` (NVIDIA). */
  readonly vendor: string;
  /** Family of the hardware; often empty. */
  readonly architecture: string;
  /** The vendor's number of the model, in decimal. */
  readonly device: string;
  /** Name for people, as `NVIDIA H100 80GB HBM3`. */
  readonly description: string;
  /** Whether the adapter computes in software, on the CPU. */
  readonly isFallback: boolean;
  /** The largest limits that can be asked for. */
  readonly limits: DeviceLimits;
  /** WebGPU's optional features that the adapter has, sorted. */
  readonly features: readonly string[];
  /** Whether kernels can be timed by the device's own clock. */
  readonly timestampQuery: boolean;
}

/** The CPU as the system describes it. */
export interface CpuDescription {
  /** Name for people, as `AMD EPYC`. */
  readonly model: string;
  /** Logical cores that this process may use. */
  readonly cores: number;
}

/** The `device` of a profile, but for what is measured. */
export interface DeviceDescription {
  /** The GPU; null where there is no WebGPU adapter. */
  readonly gpu: GpuDescription | null;
  /** The CPU. */
  readonly cpu: CpuDescription;
  /** System and architecture, as `linux x86_64`. */
  readonly os: string;
  /** Version of Deno; empty elsewhere. */
  readonly deno: string;
}

/** The part of a WebGPU adapter that {@linkcode gpuDescriptionOf} reads. */
export interface AdapterFacts {
  readonly info:
    & Pick<
      GPUAdapterInfo,
      "vendor" | "architecture" | "device" | "description" | "isFallbackAdapter"
    >
    & GroupSizes;
  readonly limits: DeviceLimits;
  readonly features: Iterable<string>;
}

/** The fewest and the most threads that a SIMD group has. */
type GroupSizes = Partial<Pick<GPUAdapterInfo, "subgroupMinSize" | "subgroupMaxSize">>;

/** The adapter that everything here runs on, the fastest that WebGPU offers; null where there is none. */
export async function requestAdapter(): Promise<GPUAdapter | null> {
  return await (await findWebGpu())?.requestAdapter({ powerPreference: "high-performance" }) ?? null;
}

/** Shaders may shuffle values within SIMD groups. */
const SUBGROUPS = "subgroups";

/**
 * The size of SIMD groups where all have the same and shaders may shuffle: Deno 2.9.6 grants by name what it does not list.
 * Where it is listed, as in browsers, shaders begin with a line that Deno refuses, so there are no shuffles there.
 */
function subgroupsOf(
  { subgroupMinSize: least = 0, subgroupMaxSize: most = 0 }: GroupSizes,
): Pick<DeviceLimits, "subgroupSize"> {
  return describeSystem().deno !== "" && least > 0 && least === most ? { subgroupSize: least } : {};
}

/**
 * A device with all of the adapter's limits that kernels need, its clock where it has one, shuffles where it grants them, and
 * what a precision needs; null where the adapter does not grant that.
 */
export async function requestFullDevice(adapter: GPUAdapter, of: Precise = {}): Promise<GPUDevice | null> {
  const { features } = precisionOf(of), clock = "timestamp-query";
  const wanted = [...adapter.features.has(clock) ? [clock] : [], ...features];
  const request = (others: readonly string[]): Promise<GPUDevice> =>
    adapter.requestDevice({
      requiredLimits: { ...limitsOf(adapter.limits) },
      requiredFeatures: [...wanted, ...others] as GPUFeatureName[],
    });
  const { limits: { subgroupSize } } = gpuDescriptionOf(adapter);
  const plain = () => request([]);
  const asked = subgroupSize === undefined ? plain() : request([SUBGROUPS]).catch(plain);
  const device = await asked.catch((error) => {
    if (features.length === 0) throw error;
    return null;
  });
  if (device === null) return null;
  adapterInfoOf(device);
  if (features.length === 0 || await compilesF64(device)) return device;
  device.destroy();
  return null;
}

/** A value and its bits in f64. */
const F64_SHADER = `@group(0) @binding(0) var<storage, read_write> u: array<f64>;
@compute @workgroup_size(1) fn main() { u[0] = 0.1lf * u[0] + f64(u32(bitcast<u64>(u[1]) >> 32u)); }`;

/** Whether a device compiles shaders in f64: Deno 2.9.6 grants features by names that say nothing of the driver, too. */
async function compilesF64(device: GPUDevice): Promise<boolean> {
  device.pushErrorScope("validation");
  const compute = { module: device.createShaderModule({ code: F64_SHADER }) };
  device.createComputePipeline({ layout: "auto", compute });
  return await device.popErrorScope() === null;
}

/** Why a device cannot compute in a precision, as far as its features say; undefined where it can. */
export function whyNoPrecision(
  { features }: { readonly features: Iterable<string> },
  of: Precise,
): string | undefined {
  const { name, features: wanted } = precisionOf(of), has = new Set(features);
  const missing = wanted.filter((feature) => !has.has(feature));
  return missing.length === 0
    ? undefined
    : `${name} needs ${wanted.join(" and ")}: found ${
      missing.length === wanted.length ? "neither" : `no ${missing}`
    }`;
}

type AdapterInfo = AdapterFacts["info"];

const readAdapterInfo = remembered((device: { readonly adapterInfo?: Partial<AdapterInfo> }) => {
  try {
    const { vendor, architecture, device: model, description, isFallbackAdapter } = device.adapterInfo!;
    const { subgroupMinSize, subgroupMaxSize } = device.adapterInfo!;
    return {
      ...{ vendor, architecture, device: model, description, isFallbackAdapter },
      ...{ subgroupMinSize, subgroupMaxSize },
    };
  } catch {
    return undefined; // it does not say, or no longer
  }
});

/**
 * A device's `adapterInfo`, read once and kept: Deno 2.9.6 aborts when it is read after the adapter was collected.
 * Undefined where the device does not say.
 */
export function adapterInfoOf<Info extends Partial<AdapterInfo>>(
  device: { readonly adapterInfo?: Info },
): Info | undefined {
  return readAdapterInfo(device) as Info | undefined;
}

/** A value for each limit that kernels need. */
export function everyLimit<T>(of: (name: LimitName) => T): Readonly<Record<LimitName, T>> {
  return {
    maxStorageBufferBindingSize: of("maxStorageBufferBindingSize"),
    maxBufferSize: of("maxBufferSize"),
    maxStorageBuffersPerShaderStage: of("maxStorageBuffersPerShaderStage"),
    maxComputeWorkgroupStorageSize: of("maxComputeWorkgroupStorageSize"),
    maxComputeInvocationsPerWorkgroup: of("maxComputeInvocationsPerWorkgroup"),
    maxComputeWorkgroupSizeX: of("maxComputeWorkgroupSizeX"),
    maxComputeWorkgroupSizeY: of("maxComputeWorkgroupSizeY"),
    maxComputeWorkgroupSizeZ: of("maxComputeWorkgroupSizeZ"),
    maxComputeWorkgroupsPerDimension: of("maxComputeWorkgroupsPerDimension"),
  };
}

type LimitName = Exclude<keyof DeviceLimits, "windowBytes" | "subgroupSize">;

/** The limits that kernels need, of whatever has them; profiles of earlier versions do not say how many arrays shaders have. */
export function limitsOf(limits: DeviceLimits): DeviceLimits {
  const { subgroupSize } = limits;
  return { ...everyLimit((name) => limits[name] ?? USUAL_BUFFERS), ...(subgroupSize && { subgroupSize }) };
}

/** The same of a device, which may have been granted shuffles. */
export function deviceLimitsOf(
  device: {
    readonly limits: DeviceLimits;
    readonly features?: { has(name: string): boolean };
    readonly adapterInfo?: Partial<AdapterInfo>;
  },
): DeviceLimits {
  const granted = device.features?.has(SUBGROUPS) ? subgroupsOf(adapterInfoOf(device) ?? {}) : {};
  return { ...limitsOf(device.limits), ...granted };
}

/**
 * Describes the GPU, the CPU and the system; a GPU's features are what WebGPU lists of it, and what a precision needs if the
 * GPU grants it.
 *
 * @returns plain records, ready for a profile
 *
 * @example
 * ```ts
 * import { detectDevice } from "./device.ts";
 * import { assert } from "@std/assert";
 *
 * const { cpu } = await detectDevice();
 * assert(cpu.cores >= 1);
 * ```
 */
export async function detectDevice(of: Precise = {}): Promise<DeviceDescription> {
  const adapter = await requestAdapter(), gpu = adapter && gpuDescriptionOf(adapter);
  const { features } = precisionOf(of), others = { cpu: cpuDescriptionOf(), ...describeSystem() };
  const device = adapter && features.length > 0 ? await requestFullDevice(adapter, of) : null;
  device?.destroy();
  return {
    gpu: gpu && device ? { ...gpu, features: [...gpu.features, ...features].sort() } : gpu,
    ...others,
  };
}

/** The CPU; where the system does not tell its name, that of its architecture. */
export function cpuDescriptionOf(): CpuDescription {
  const model = cpuName() || `${describeSystem().os.split(" ")[1] ?? "a"} CPU`;
  return { model, cores: countCores() };
}

/** Reduces an adapter to a plain record. */
export function gpuDescriptionOf({ info, limits, features }: AdapterFacts): GpuDescription {
  const sorted = [...features].sort();
  return {
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    isFallback: info.isFallbackAdapter,
    limits: { ...limitsOf(limits), ...(sorted.includes(SUBGROUPS) ? {} : subgroupsOf(info)) },
    features: sorted,
    timestampQuery: sorted.includes("timestamp-query"),
  };
}

/** The same device, on which levels take no more than `windowBytes`; undefined: all there is. */
export function withWindow(device: DeviceDescription, windowBytes: number | undefined): DeviceDescription {
  const { gpu } = device;
  if (gpu === null || windowBytes === undefined) return device;
  return { ...device, gpu: { ...gpu, limits: { ...gpu.limits, windowBytes } } };
}
