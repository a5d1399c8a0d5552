/**
 * The second part of `bench`: the swept rule against classic, in one dimension, on the GPU and on the CPU's workers.
 *
 * @module
 */
import type { Stencil } from "../kernels/stencils/stencil.ts";
import type { DeviceLimits } from "../kernels/traversals/traversal.ts";
import { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { detectDevice, type DeviceDescription } from "../tuner/devices/device.ts";
import { compareSwept, type SweptComparison } from "./compare_swept.ts";
import { compareSweptOnCpu, type CpuSweptComparison } from "./compare_swept_cpu.ts";
import type { LineRate } from "./take_turns.ts";
import { formatCount, formatDuration, formatFactor, formatTable } from "../tuner/format.ts";
import { VERSION } from "../tuner/version.ts";

/** Rows of a run on the GPU: enough for the extra cost of its first and last phases to be small. */
const RUN_ROWS = 16_384;

/** A software device compiles at the first dispatch, for a minute where the kernel is large. */
const TIMEOUT_MS = 600_000;

/** Lengths of the published figures, and where none are given. */
export const DEFAULT_LENGTHS: readonly number[] = Array.from({ length: 10 }, (_, i) => 2 ** (11 + i));

/** The lengths among them that the CPU is measured on: longer ones show nothing new. */
export const DEFAULT_CPU_LENGTHS: readonly number[] = DEFAULT_LENGTHS.filter((points) => points <= 2 ** 14);

/** What to compare. */
export interface LineBenchRequest {
  /** Equations in one dimension. */
  readonly stencils: readonly Stencil[];
  readonly lengths: readonly number[];
  /** Those that the CPU's workers are measured on. @default {lengths} */
  readonly cpuLengths?: readonly number[];
  /** Workers on the CPU; 0 leaves it out. */
  readonly workers: number;
  readonly gpu: boolean;
  /** For each equation and length, on the GPU and on the CPU. */
  readonly timeMs: number;
  /** Time steps of a run on the GPU. @default {16,384 rows} */
  readonly steps?: number | undefined;
  /** Only kernels within these limits are tried. @default {the device's} */
  readonly limits?: Partial<DeviceLimits>;
  /** Cell updates of a sample on the CPU. @default {6e7} */
  readonly sampleUpdates?: number;
}

/** What was found. */
export interface LineBench {
  readonly tool: { readonly name: "facet"; readonly version: string };
  readonly createdAt: string;
  readonly device: DeviceDescription;
  readonly gpu: readonly SweptComparison[];
  readonly cpu: readonly CpuSweptComparison[];
}

/** Measures all lengths of all equations, the GPU first. */
export async function benchLines(request: LineBenchRequest): Promise<LineBench> {
  const { stencils, lengths, cpuLengths = lengths, timeMs, limits } = request;
  const gpu: SweptComparison[] = [], cpu: CpuSweptComparison[] = [];
  using device = request.gpu ? await GpuDevice.open({ timeoutMs: TIMEOUT_MS }) : undefined;
  for (const stencil of device === undefined ? [] : stencils) {
    const steps = request.steps ?? Math.ceil(RUN_ROWS / stencil.update.substeps.length);
    for (const points of lengths) {
      gpu.push(await compareSwept(device!, { stencil, points, timeMs, steps, limits }));
    }
  }
  const pool = request.workers > 0 ? await CpuPool.create({ workers: request.workers }) : undefined;
  try {
    for (const stencil of pool === undefined ? [] : stencils) {
      for (const points of cpuLengths) {
        const updates = request.sampleUpdates;
        cpu.push(await compareSweptOnCpu(pool!, { stencil, points, timeMs, updates }));
      }
    }
  } finally {
    pool?.dispose();
  }
  return {
    tool: { name: "facet", version: VERSION },
    createdAt: new Date().toISOString(),
    device: await detectDevice(),
    gpu,
    cpu,
  };
}

const GPU_HEADER = [
  "points",
  "empty dispatch",
  "classic",
  "threads × points",
  "swept",
  "over classic",
  "threads × points × steps",
  "swept-register",
  "over classic",
  "95%",
  "threads × points × steps",
];

const CPU_HEADER = ["points", "classic", "swept", "over classic", "points a node"];

/** The results as text; `isMarkdown`: with tables in Markdown. */
export function renderLines({ device, gpu, cpu }: LineBench, isMarkdown = false): string {
  const table = (rows: string[][]): string =>
    isMarkdown ? markdownTable(rows) : formatTable(rows, { right: GPU_HEADER.map((_, i) => i) });
  const sections: string[] = [];
  for (const [name, found] of byStencil(gpu)) {
    sections.push(
      `${name} on ${device.gpu?.description ?? "no GPU"}, time a step, f32`,
      table([GPU_HEADER, ...found.map(gpuRow)]),
    );
    const failed = found.flatMap(({ points, failed }) => failed.map((one) => `${points} points: ${one}`));
    if (failed.length > 0) sections.push(`FAILED: ${failed.join("; ")}`);
  }
  for (const [name, found] of byStencil(cpu)) {
    const different = found.filter(({ sameBits }) => !sameBits).map(({ points }) => points);
    sections.push(
      `${name} on ${device.cpu.model}, ${found[0]!.workers} workers, time a step, f32`,
      table([CPU_HEADER, ...found.map(cpuRow)]),
      different.length === 0
        ? "All ways gave the same line, bit for bit."
        : `DIFFERENT LINES: ${different.join(", ")}`,
    );
  }
  return sections.join("\n\n");
}

/** Comparisons by their stencil, as `ks, points 5`. */
function byStencil<T extends Pick<SweptComparison, "stencil" | "variant">>(
  found: readonly T[],
): Map<string, T[]> {
  return Map.groupBy(
    found,
    ({ stencil, variant }) =>
      [stencil, ...Object.entries(variant).map(([name, value]) => `${name} ${value}`)].join(", "),
  );
}

function gpuRow({ points, launchNs, rates }: SweptComparison): string[] {
  const best = (name: string): LineRate | undefined => fastest(rates.filter((one) => one.traversal === name));
  const show = (rate: LineRate | undefined, text: (rate: LineRate) => string): string =>
    rate === undefined ? "–" : text(rate);
  const time = ({ stepNs }: LineRate): string => formatDuration(stepNs);
  const factor = ({ overClassic }: LineRate): string => formatFactor(overClassic);
  const interval = ({ confidence95 }: LineRate): string => confidence95.map(formatDuration).join(" to ");
  const shape = ({ parameters }: LineRate): string =>
    ["threads", "points", "steps"].map((name) => parameters[name]).filter((value) => value !== undefined)
      .join(" × ");
  const classic = best("classic"), memory = best("swept"), register = best("swept-register");
  return [
    formatCount(points),
    formatDuration(launchNs),
    ...[time, shape].map((text) => show(classic, text)),
    ...[time, factor, shape].map((text) => show(memory, text)),
    ...[time, factor, interval, shape].map((text) => show(register, text)),
  ];
}

function cpuRow({ points, rates: [classic, ...swept] }: CpuSweptComparison): string[] {
  const best = fastest(swept)!;
  return [
    formatCount(points),
    formatDuration(classic!.stepNs),
    formatDuration(best.stepNs),
    formatFactor(best.overClassic),
    formatCount(Number(best.parameters.points)),
  ];
}

function fastest(rates: readonly LineRate[]): LineRate | undefined {
  return [...rates].sort((a, b) => a.stepNs - b.stepNs)[0];
}

function markdownTable(rows: string[][]): string {
  const [header = [], ...others] = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const [first = []] = rows;
  return [header, `|${first.map(() => " --: |").join("")}`, ...others].join("\n");
}
