/**
 * `doctor`: says in plain words what was found on this machine, and what would help.
 *
 * @module
 */
import { wrapText } from "../format.ts";
import { detectDevice, type GpuDescription } from "../devices/device.ts";
import { VERSION } from "../version.ts";
import { detectWasmFeatures } from "../devices/cpu/wasm_features.ts";
import { type Advice, advise, type Findings, type Memory } from "./advice.ts";
import { fileExists, findDriverPackage } from "./driver_package.ts";
import { COMMON } from "./options.ts";
import { command } from "./parse_options.ts";
import { EXIT } from "./report_error.ts";

/** Names of the vendors that drivers report as numbers. */
const VENDORS: Readonly<Record<string, string>> = {
  0x1002: "AMD",
  0x1010: "Imagination",
  0x106b: "Apple",
  0x10de: "NVIDIA",
  0x13b5: "Arm",
  0x1414: "Microsoft",
  0x14e4: "Broadcom",
  0x5143: "Qualcomm",
  0x8086: "Intel",
  0x10005: "Mesa",
};

/** How a report begins. */
export interface Heading {
  /** Version of Facet. */
  readonly version: string;
  /** The system's own name, as `Debian GNU/Linux 12 (bookworm)`; empty if unknown. */
  readonly system: string;
}

/** Runs the command. */
export const run = command({
  usage: "deno task doctor [OPTIONS]",
  about: "Says what was found on this machine, and what would help.",
  options: { json: COMMON.json },
}, async ({ json }) => {
  const findings = { device: await detectDevice(), webAssembly: detectWasmFeatures(), memory: readMemory() };
  const advice = advise(findings, { driverPackage: findDriverPackage(fileExists), isRoot: Deno.uid() === 0 });
  const heading = { version: VERSION, system: readSystemName() };
  console.log(
    json ? JSON.stringify({ ...heading, ...findings, advice }, null, 2) : render(heading, findings, advice),
  );
  return EXIT.done;
});

function readMemory(): Memory | null {
  const { total, available } = Deno.systemMemoryInfo();
  return total > 0 ? { totalBytes: total, availableBytes: available } : null;
}

function readSystemName(): string {
  if (Deno.build.os !== "linux" || !fileExists("/etc/os-release")) return "";
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(Deno.readTextFileSync("/etc/os-release"))?.[1] ?? "";
}

/**
 * The report for people.
 *
 * @param heading how it begins
 * @param findings what was found
 * @param advice what would help
 * @returns text of whole lines, without the last line end
 */
export function render(heading: Heading, findings: Findings, advice: readonly Advice[]): string {
  const { device: { gpu, cpu, os, deno }, webAssembly, memory } = findings;
  const system = heading.system ? `${heading.system}, ${os}` : os;
  const cores = cpu.cores === 1 ? "1 core" : `${cpu.cores} cores`;
  return [
    `Facet ${heading.version} on Deno ${deno}, ${system}`,
    "",
    ...(gpu === null ? ["GPU  none: WebGPU finds no adapter"] : renderGpu(gpu)),
    "",
    `CPU  ${cpu.model}, ${cores}`,
    ...renderRows([
      ["WebAssembly SIMD", webAssembly.simd ? "yes: four f32 at a time" : "no: the CPU cannot take part"],
      ["relaxed SIMD", webAssembly.relaxedSimd ? "yes" : "no"],
      [
        "shared memory",
        webAssembly.threads ? "yes: workers share one grid" : "no: workers cannot share a grid",
      ],
      ["memory", memory === null ? "unknown" : renderMemory(memory)],
    ]),
    "",
    ...(advice.length === 0 ? ["Nothing is missing."] : ["What would help"]),
    ...advice.flatMap(renderAdvice),
  ].join("\n");
}

function renderGpu(gpu: GpuDescription): string[] {
  const { limits } = gpu;
  const binding = limits.maxStorageBufferBindingSize;
  const cells = Math.floor(binding / Float32Array.BYTES_PER_ELEMENT).toLocaleString("en");
  return [
    `GPU  ${gpu.description || "unnamed adapter"}`,
    ...renderRows([
      ["kind", gpu.isFallback ? "software: it computes on the CPU" : "hardware"],
      ["vendor", renderVendor(gpu.vendor)],
      ["architecture", gpu.architecture || "not reported by the driver"],
      [
        "timestamp queries",
        gpu.timestampQuery
          ? "yes: the device itself times the kernels"
          : "no: the host's clock times the kernels",
      ],
      ["largest binding", `${renderBytes(binding)}: a time level of a field has at most ${cells} cells`],
      ["largest buffer", renderBytes(limits.maxBufferSize)],
      [
        "workgroup memory",
        `${renderBytes(limits.maxComputeWorkgroupStorageSize)}: bounds tiles and exchange slots`,
      ],
      ["workgroup", renderWorkgroup(gpu)],
      [
        "dispatch",
        `at most ${limits.maxComputeWorkgroupsPerDimension.toLocaleString("en")} workgroups along an axis`,
      ],
    ]),
  ];
}

function renderWorkgroup({ limits }: GpuDescription): string {
  const sizes = [
    limits.maxComputeWorkgroupSizeX,
    limits.maxComputeWorkgroupSizeY,
    limits.maxComputeWorkgroupSizeZ,
  ];
  return `at most ${limits.maxComputeInvocationsPerWorkgroup} threads, ${sizes.join(" × ")} along the axes`;
}

function renderVendor(vendor: string): string {
  const number = Number(vendor);
  if (vendor === "" || Number.isNaN(number)) return vendor || "not reported by the driver";
  return `${VENDORS[number] ?? "unknown"} (0x${number.toString(16)})`;
}

function renderMemory({ totalBytes, availableBytes }: Memory): string {
  return `${renderBytes(totalBytes)}, ${renderBytes(availableBytes)} available`;
}

function renderBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10)));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

function renderRows(rows: ReadonlyArray<readonly [name: string, value: string]>): string[] {
  return rows.map(([name, value]) => `     ${name.padEnd(18)} ${value}`);
}

/** The command, if any, keeps a line of its own: it is there to be copied. */
function renderAdvice({ text, command }: Advice): string[] {
  const lines = wrapText(command ? `${text}:` : `${text}.`, 100);
  return [...lines, ...(command ? [command] : [])].map((line, i) => (i === 0 ? "  - " : "    ") + line);
}
