import type { GpuDescription } from "../devices/device.ts";
import { gpuName, vendorName } from "../devices/vendors.ts";
import { formatBandwidth, formatBytes, formatPlural } from "../format.ts";
import type { Profile, ProfileDevice, ProfileEntry } from "../profile/schema.ts";
import { type Hole, type Html, markup } from "./html.ts";
import { uses } from "../shares.ts";

/** What computes these entries, in a few words: the GPU, the CPU, or both. */
export function deviceTitle({ gpu, cpu }: ProfileDevice, entries: readonly ProfileEntry[]): string {
  const computes = (device: "gpu" | "cpu"): boolean =>
    entries.some(({ configuration: { share } }) => uses(share, device));
  const isOnCpu = gpu === null || computes("cpu"), isOnGpu = gpu !== null && (computes("gpu") || !isOnCpu);
  return [...(isOnGpu ? [gpuName(gpu)] : []), ...(isOnCpu ? [cpu.model] : [])].join(" and ");
}

export function deviceCard({ device, tool, createdAt }: Profile): Html {
  const { gpu, cpu, os, deno, measured: { copyBytesPerSecond, ...others } } = device;
  const time = createdAt.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC");
  const rows: (readonly [string, Hole])[] = [
    ["GPU", gpu === null ? "none" : gpuName(gpu)],
    ...(gpu === null ? [] : gpuFacts(gpu)),
    ["copy bandwidth", copyBytesPerSecond === null ? "not measured" : formatBandwidth(copyBytesPerSecond)],
    ...Object.entries(others).map(([name, value]): [string, Hole] => [name, value ?? "not measured"]),
    ["CPU", `${cpu.model}, ${formatPlural(cpu.cores, "core")}`],
    ["system", `${os}, Deno ${deno}`],
    ["measured by", `${tool.name} ${tool.version}, ${time}`],
  ];
  const terms = rows.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`);
  return markup`<dl class="card">${terms}</dl>`;
}

/** A GPU's kind and limits, as pairs of words; an import knows no limits. */
export function gpuFacts(gpu: GpuDescription): (readonly [what: string, value: string])[] {
  const { limits } = gpu, binding = limits.maxStorageBufferBindingSize;
  const { maxComputeWorkgroupSizeX: x, maxComputeWorkgroupSizeY: y, maxComputeWorkgroupSizeZ: z } = limits;
  const clock = gpu.timestampQuery ? "yes: the device itself" : "no: the host's clock";
  const storage = formatBytes(limits.maxComputeWorkgroupStorageSize);
  const threads = limits.maxComputeInvocationsPerWorkgroup;
  const groups = limits.maxComputeWorkgroupsPerDimension.toLocaleString("en");
  const cells = Math.floor(binding / Float32Array.BYTES_PER_ELEMENT).toLocaleString("en");
  const sizes = [
    [
      "largest binding",
      `${formatBytes(binding)}: a time level of more than ${cells} cells is cut into sections`,
    ],
    ["largest buffer", formatBytes(limits.maxBufferSize)],
    ["workgroup memory", `${storage}: bounds tiles and exchange slots`],
    ["workgroup", `at most ${threads} threads, ${x} × ${y} × ${z} along the axes`],
    ["dispatch", `at most ${groups} workgroups along an axis`],
  ] as const;
  return [
    ["kind", gpu.isFallback ? "software: it computes on the CPU" : "hardware"],
    ["vendor", vendorName(gpu.vendor) || "not reported by the driver"],
    ["architecture", gpu.architecture || "not reported by the driver"],
    ["timestamp queries", `${clock} times the kernels`],
    ...(limits.maxBufferSize === 0 ? [] : sizes),
  ];
}
