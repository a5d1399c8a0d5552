import { gpuName, vendorName } from "../devices/vendors.ts";
import { formatBandwidth, formatCount } from "../format.ts";
import type { Profile } from "../profile/schema.ts";
import { type Hole, type Html, markup } from "./html.ts";

/** The device in a few words: its GPU, or its CPU. */
export function deviceTitle({ gpu, cpu }: Profile["device"]): string {
  return gpu === null ? cpu.model : gpuName(gpu);
}

/** The device as a list of terms. */
export function deviceCard({ device, tool, createdAt }: Profile): Html {
  const { gpu, cpu, os, deno, measured } = device;
  const { copyBytesPerSecond, ...others } = measured;
  const software = gpu?.isFallback ? " (software: it computes on the CPU)" : "";
  const date = createdAt.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC");
  const rows: [string, Hole][] = [
    ["GPU", gpu === null ? "none" : `${deviceTitle(device)}${software}`],
    ...gpuRows(gpu),
    ["Copy bandwidth", copyBytesPerSecond === null ? "not measured" : formatBandwidth(copyBytesPerSecond)],
    ...Object.entries(others).map(([name, value]): [string, Hole] => [name, value ?? "not measured"]),
    ["CPU", `${cpu.model}, ${formatCount(cpu.cores)} ${cpu.cores === 1 ? "core" : "cores"}`],
    ["System", `${os}, Deno ${deno}`],
    ["Measured by", `${tool.name} ${tool.version}, ${date}`],
  ];
  return markup`<dl class="card">${
    rows.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)
  }</dl>`;
}

function gpuRows(gpu: Profile["device"]["gpu"]): [string, Hole][] {
  if (gpu === null) return [];
  const { limits, vendor, architecture } = gpu;
  return [
    [
      "Vendor, architecture",
      [vendorName(vendor), architecture].filter((text) => text !== "").join(", ") || "not reported",
    ],
    ["Workgroup memory", formatBytes(limits.maxComputeWorkgroupStorageSize)],
    ["Workgroup", `at most ${formatCount(limits.maxComputeInvocationsPerWorkgroup)} threads`],
    ["Largest binding", formatBytes(limits.maxStorageBufferBindingSize)],
    ["Clock", gpu.timestampQuery ? "the device's own (timestamp queries)" : "the host's"],
  ];
}

/** A size as `48 KiB`, `2.00 GiB`; drivers may say 2⁶⁴ − 1 for no limit, an import 0 for an unknown one. */
function formatBytes(bytes: number): string {
  if (bytes === 0) return "not known";
  const [unit, size] = ([["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const)
    .find(([, size]) => bytes >= size) ?? ["B", 1];
  const value = bytes / size;
  return `${value >= 100 || Number.isInteger(value) ? formatCount(value) : value.toFixed(2)} ${unit}`;
}
