import { existsSync } from "node:fs";
import { listGpus, type PciGpu, takeWantedGpu } from "../devices/gpu_choice.ts";
import { formatBytes, formatPlural } from "../format.ts";
import { PRECISIONS } from "../../kernels/precision.ts";
import { detectDevice, type DeviceDescription, requestAdapter, whyNoPrecision } from "../devices/device.ts";
import { gpuName } from "../devices/vendors.ts";
import { gpuFacts } from "../report/device_card.ts";
import { VERSION } from "../version.ts";
import { detectWasmFeatures, type WasmFeatures } from "../devices/cpu/wasm_features.ts";
import { commandToType, type DriverPackage, findDriverPackage } from "./setup.ts";
import { COMMON } from "./options.ts";
import { command } from "./parse_options.ts";
import { type Line, print, type Table } from "./terminal.ts";

type Memory = { readonly totalBytes: number; readonly availableBytes: number };

export interface Machine {
  readonly device: DeviceDescription;
  /** On the PCI bus: what --gpu and FACET_GPU choose from. */
  readonly gpus: readonly PciGpu[];
  /** Features that the GPU grants, though WebGPU does not list them. */
  readonly granted: readonly string[];
  readonly webAssembly: WasmFeatures;
  /** Null where the system does not report it. */
  readonly memory: Memory | null;
}

/** One thing that would help. */
interface Advice {
  readonly text: string;
  /** What to type for it, where one command does. */
  readonly command?: string;
}

export const run = command({
  usage: "deno task doctor [OPTIONS]",
  about: "Says what was found on this machine, and what would help.",
  options: { json: COMMON.json },
}, async ({ json }) => {
  await takeWantedGpu(undefined);
  const gpus = await listGpus();
  const machine = {
    device: await detectDevice({ precision: "f64" }),
    gpus,
    granted: await findGranted(),
    webAssembly: detectWasmFeatures(),
    memory: readMemory(),
  };
  const advice = advise(machine, { driverPackage: findDriverPackage(existsSync), isRoot: Deno.uid() === 0 });
  const heading = { version: VERSION, system: readSystemName() };
  print(json ? { ...heading, ...machine, advice } : render(heading, machine, advice));
});

/** Features of wgpu by which kernels could gain: Deno 2.9.6 lists none of them, and grants by name those that the driver has. */
const UNLISTED = [
  ...PRECISIONS.f64.features,
  "subgroups",
  "wgpu-subgroup-barrier",
  "wgpu-shader-float32-atomic",
  "wgpu-memory-decoration-coherent",
  "wgpu-mappable-primary-buffers",
  "wgpu-timestamp-query-inside-passes",
] as GPUFeatureName[];

/** Those that the GPU grants, each asked for alone. */
async function findGranted(): Promise<string[]> {
  const granted: string[] = [];
  for (const name of UNLISTED) {
    const adapter = await requestAdapter();
    const device = await adapter?.requestDevice({ requiredFeatures: [name] }).catch(() => undefined);
    if (device?.features.has(name) && !adapter!.features.has(name)) granted.push(name);
    device?.destroy();
  }
  return granted;
}

function readMemory(): Memory | null {
  const { total, available } = Deno.systemMemoryInfo();
  return total > 0 ? { totalBytes: total, availableBytes: available } : null;
}

function readSystemName(): string {
  if (Deno.build.os !== "linux" || !existsSync("/etc/os-release")) return "";
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(Deno.readTextFileSync("/etc/os-release"))?.[1] ?? "";
}

const GIB = 2 ** 30;

/** What would make tuning faster or more trustworthy on this machine, the most useful first. */
export function advise(
  { device: { gpu, cpu }, webAssembly, memory }: Machine,
  { driverPackage, isRoot }: { readonly driverPackage: DriverPackage | undefined; readonly isRoot: boolean },
): Advice[] {
  const cores = cpu.cores === 1 ? "1 core is available" : `${cpu.cores} cores are available`;
  const advice: (Advice | false)[] = [
    gpu === null && {
      text:
        "There is no WebGPU adapter: only the CPU computes. A GPU needs its vendor's driver with Vulkan; " +
        "without a GPU, Mesa's software driver runs the same kernels, slowly",
      ...(driverPackage && { command: commandToType(driverPackage, isRoot) }),
    },
    gpu !== null && gpu.isFallback && {
      text: "The adapter is software: its rates are those of the CPU and say nothing about a GPU. If this " +
        "machine has a GPU, install its vendor's driver with Vulkan",
    },
    gpu !== null && !gpu.timestampQuery && {
      text:
        "Timestamp queries are missing: kernels are timed by the host's clock, in batches long enough to " +
        "hide its 10 ms tick, so that each measurement takes longer. A newer driver may have them",
    },
    !webAssembly.simd && {
      text: "WebAssembly has no SIMD here: the CPU cannot take part. A newer CPU or Deno has it",
    },
    webAssembly.simd && !webAssembly.threads && {
      text: "WebAssembly has no shared memory here: the CPU's workers cannot share a grid",
    },
    cpu.cores < 4 && {
      text:
        `Only ${cores}: the CPU's workers and the process that feeds the GPU share them. More cores would help`,
    },
    memory !== null && memory.availableBytes < GIB && {
      text:
        `Only ${(memory.availableBytes / GIB).toFixed(1)} GiB of memory are available: grids far larger ` +
        "than the caches may not fit. Close what else is running",
    },
  ];
  return advice.filter((line) => line !== false);
}

/** The report for people; the system's own name as `Debian GNU/Linux 12 (bookworm)`, empty if unknown. */
export function render(
  heading: { readonly version: string; readonly system: string },
  { device: { gpu, cpu, os, deno }, gpus, granted, webAssembly, memory }: Machine,
  advice: readonly Advice[],
): Line[] {
  const shared = webAssembly.threads ? "yes: workers share one grid" : "no: workers cannot share a grid";
  const bytes = memory && [memory.totalBytes, memory.availableBytes].map(formatBytes);
  const system = heading.system ? `${heading.system}, ${os}` : os;
  return [
    `Facet ${heading.version} on Deno ${deno}, ${system}`,
    "",
    ...(gpu === null ? ["GPU  none: WebGPU finds no adapter"] : [
      `GPU  ${gpuName(gpu)}`,
      renderRows([
        ...gpuFacts(gpu),
        ["double precision", whyNoPrecision(gpu, { precision: "f64" }) ? "no: the CPU computes it" : "yes"],
        ["granted unlisted", granted.join(", ") || "nothing"],
      ]),
    ]),
    ...(gpus.length < 2 ? [] : renderGpus(gpus)),
    "",
    `CPU  ${cpu.model}, ${formatPlural(cpu.cores, "core")}`,
    renderRows([
      ["WebAssembly SIMD", webAssembly.simd ? "yes: four f32 at a time" : "no: the CPU cannot take part"],
      ["relaxed SIMD", webAssembly.relaxedSimd ? "yes" : "no"],
      ["shared memory", shared],
      ["memory", bytes === null ? "unknown" : `${bytes[0]}, ${bytes[1]} available`],
    ]),
    "",
    ...(advice.length === 0 ? ["Nothing is missing."] : ["What would help"]),
    ...advice.flatMap(renderAdvice),
  ];
}

/** Several GPUs, each with what it is chosen by. */
function renderGpus(gpus: readonly PciGpu[]): Line[] {
  const rows = gpus.map(({ pci, name }, i) => [`${i}`, pci, name]);
  return ["", "GPUs to choose from with --gpu or FACET_GPU, by index, address or name", renderRows(rows)];
}

function renderRows(rows: Table["rows"]): Table {
  return { rows, indent: "     " };
}

/** The command, if any, keeps a line of its own: it is there to be copied. */
function renderAdvice({ text, command }: Advice): Line[] {
  return command ? [`  - ${text}:`, { rows: [[command]], indent: "    " }] : [`  - ${text}.`];
}
