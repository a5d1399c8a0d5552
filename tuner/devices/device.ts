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
  readonly info: Pick<
    GPUAdapterInfo,
    "vendor" | "architecture" | "device" | "description" | "isFallbackAdapter"
  >;
  readonly limits: DeviceLimits;
  readonly features: Iterable<string>;
}

/** The adapter that everything here runs on, the fastest that WebGPU offers; null where there is none. */
export async function requestAdapter(): Promise<GPUAdapter | null> {
  return await (await findWebGpu())?.requestAdapter({ powerPreference: "high-performance" }) ?? null;
}

/** A device with all of the adapter's limits that kernels need, and its clock where it has one. */
export async function requestFullDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const device = await adapter.requestDevice({
    requiredLimits: { ...limitsOf(adapter.limits) },
    requiredFeatures: adapter.features.has("timestamp-query") ? ["timestamp-query"] : [],
  });
  adapterInfoOf(device);
  return device;
}

type AdapterInfo = AdapterFacts["info"];

const readAdapterInfo = remembered((device: { readonly adapterInfo?: Partial<AdapterInfo> }) => {
  try {
    const { vendor, architecture, device: model, description, isFallbackAdapter } = device.adapterInfo!;
    return { vendor, architecture, device: model, description, isFallbackAdapter };
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

type LimitName = Exclude<keyof DeviceLimits, "windowBytes">;

/** The limits that kernels need, of whatever has them; profiles of earlier versions do not say how many arrays shaders have. */
export function limitsOf(limits: DeviceLimits): DeviceLimits {
  return everyLimit((name) => limits[name] ?? USUAL_BUFFERS);
}

/**
 * Describes the GPU, the CPU and the system.
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
export async function detectDevice(): Promise<DeviceDescription> {
  const adapter = await requestAdapter();
  return { gpu: adapter && gpuDescriptionOf(adapter), cpu: cpuDescriptionOf(), ...describeSystem() };
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
    limits: limitsOf(limits),
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
