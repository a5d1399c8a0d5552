import { gpuName, vendorName } from "../devices/vendors.ts";
import { formatBandwidth, formatBytes, formatPlural } from "../format.ts";
import type { Profile } from "../profile/schema.ts";
import { type Hole, type Html, markup } from "./html.ts";

/** The device in a few words: its GPU, or its CPU. */
export function deviceTitle({ gpu, cpu }: Profile["device"]): string {
  return gpu === null ? cpu.model : gpuName(gpu);
}

/** The device as a list of terms. */
export function deviceCard({ device, tool, createdAt }: Profile): Html {
  const { gpu, cpu, os, deno, measured: { copyBytesPerSecond, ...others } } = device;
  const time = createdAt.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC");
  const rows: [string, Hole][] = [
    ...(gpu === null ? [["GPU", "none"] satisfies [string, Hole]] : gpuRows(gpu)),
    ["Copy bandwidth", copyBytesPerSecond === null ? "not measured" : formatBandwidth(copyBytesPerSecond)],
    ...Object.entries(others).map(([name, value]): [string, Hole] => [name, value ?? "not measured"]),
    ["CPU", `${cpu.model}, ${formatPlural(cpu.cores, "core")}`],
    ["System", `${os}, Deno ${deno}`],
    ["Measured by", `${tool.name} ${tool.version}, ${time}`],
  ];
  const terms = rows.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`);
  return markup`<dl class="card">${terms}</dl>`;
}

function gpuRows(gpu: NonNullable<Profile["device"]["gpu"]>): [string, Hole][] {
  const { limits, vendor, architecture, isFallback, timestampQuery } = gpu;
  // an import knows no limits
  const size = (bytes: number): string => bytes === 0 ? "not known" : formatBytes(bytes);
  return [
    ["GPU", `${gpuName(gpu)}${isFallback ? " (software: it computes on the CPU)" : ""}`],
    ["Vendor, architecture", [vendorName(vendor), architecture].filter(Boolean).join(", ") || "not reported"],
    ["Memory of a workgroup", size(limits.maxComputeWorkgroupStorageSize)],
    ["Largest workgroup", formatPlural(limits.maxComputeInvocationsPerWorkgroup, "thread")],
    ["Largest binding", size(limits.maxStorageBufferBindingSize)],
    ["Clock", timestampQuery ? "the device's own (timestamp queries)" : "the host's"],
  ];
}
