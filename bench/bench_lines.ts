/**
 * `bench --stencil heat-1d|ks`: the swept rule against classic, on the GPU and on the CPU's workers.
 *
 * @module
 */
import { EQUATIONS } from "../kernels/stencils/all.ts";
import type { Stencil } from "../kernels/stencils/stencil.ts";
import type { DeviceLimits } from "../kernels/traversals/traversal.ts";
import { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { detectDevice, type DeviceDescription } from "../tuner/devices/device.ts";
import { compareSwept, type SweptComparison } from "./compare_swept.ts";
import { compareSweptOnCpu, type CpuSweptComparison } from "./compare_swept_cpu.ts";
import type { LineRate } from "./line_rate.ts";
import { formatCount, formatDuration, formatFactor, formatTable } from "../tuner/format.ts";
import { VERSION } from "../tuner/version.ts";

/** Rows of a run on the GPU: so many that what a run's first and last phases cost more than the others is little. */
const RUN_ROWS = 16_384;

/** A software device compiles at the first dispatch, for a minute where the kernel is large. */
const TIMEOUT_MS = 600_000;

/** Lengths of the published figures, and where none are given. */
export const DEFAULT_LENGTHS: readonly number[] = Array.from({ length: 10 }, (_, i) => 2 ** (11 + i));

/** Of these, what the CPU is measured on: beyond, its share of the table says nothing new. */
export const DEFAULT_CPU_LENGTHS: readonly number[] = DEFAULT_LENGTHS.filter((points) => points <= 2 ** 14);

/** What to compare. */
export interface LineBenchRequest {
  /** Names of equations in one dimension. */
  readonly stencils: readonly string[];
  readonly lengths: readonly number[];
  /** Those that the CPU's workers are measured on. @default {lengths} */
  readonly cpuLengths?: readonly number[];
  /** Workers on the CPU; 0 leaves it out. */
  readonly workers: number;
  readonly gpu: boolean;
  /** For each equation and length, on the GPU and on the CPU. */
  readonly timeNs: number;
  /** Points of a sub-step, of equations that have several forms. @default {the equation's} */
  readonly points?: number;
  /** Time steps of a run on the GPU. @default {16,384 rows} */
  readonly steps?: number;
  /** Kernels to try stay within these limits. @default {the device's} */
  readonly limits?: Partial<DeviceLimits>;
  /** Updates of a sample on the CPU. @default {6e7} */
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

/** Names of the equations in one dimension. */
export function lineEquations(): string[] {
  return EQUATIONS.filter(({ variant, create }) => create(variant?.default ?? 0).dimensions === 1)
    .map(({ name }) => name);
}

/** Measures all lengths of all equations, the GPU first. */
export async function benchLines(
  { stencils, lengths, cpuLengths = lengths, workers, gpu: wantsGpu, timeNs, points: form, steps, ...rest }:
    LineBenchRequest,
): Promise<LineBench> {
  const device = await detectDevice();
  const all = stencils.map((name): Stencil => {
    const { variant, create } = EQUATIONS.find((equation) => equation.name === name)!;
    return create(variant === undefined ? 0 : form ?? variant.default);
  });
  const gpu: SweptComparison[] = [], cpu: CpuSweptComparison[] = [];
  using opened = wantsGpu ? await GpuDevice.open({ timeoutMs: TIMEOUT_MS }) : undefined;
  for (const stencil of all) {
    for (const points of opened === undefined ? [] : lengths) {
      const rows = stencil.update.substeps.length;
      const options = {
        stencil,
        points,
        timeNs,
        steps: steps ?? Math.ceil(RUN_ROWS / rows),
        now,
        limits: rest.limits,
      };
      gpu.push(await compareSwept(opened!, options));
    }
  }
  const pool = workers > 0 ? await CpuPool.create({ workers }) : undefined;
  try {
    for (const stencil of all) {
      for (const points of pool === undefined ? [] : cpuLengths) {
        cpu.push(
          await compareSweptOnCpu(pool!, { stencil, points, timeNs, now, updates: rest.sampleUpdates }),
        );
      }
    }
  } finally {
    pool?.dispose();
  }
  const tool = { name: "facet", version: VERSION } as const;
  return { tool, createdAt: new Date().toISOString(), device, gpu, cpu };
}

/** The results as text; `isMarkdown`: with tables for BENCHMARKS.md. */
export function renderLines({ device, gpu, cpu }: LineBench, isMarkdown = false): string {
  const table = (rows: string[][]): string =>
    isMarkdown ? markdownTable(rows) : formatTable(rows, { right: rows[0].map((_, i) => i) });
  const sections: string[] = [];
  for (const name of new Set(gpu.map(({ stencil }) => stencil))) {
    const own = gpu.filter(({ stencil }) => stencil === name);
    const header = [
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
    sections.push(
      `${nameOf(own[0])} on ${device.gpu?.description ?? "no GPU"}, time a step, f32`,
      table([header, ...own.map(gpuRow)]),
    );
    const failed = own.flatMap(({ points, failed }) => failed.map((one) => `${points} points: ${one}`));
    if (failed.length > 0) sections.push(`FAILED: ${failed.join("; ")}`);
  }
  for (const name of new Set(cpu.map(({ stencil }) => stencil))) {
    const own = cpu.filter(({ stencil }) => stencil === name);
    const header = ["points", "classic", "swept", "over classic", "points a node"];
    sections.push(
      `${nameOf(own[0])} on ${device.cpu.model}, ${own[0].workers} workers, time a step, f32`,
      table([header, ...own.map(cpuRow)]),
      own.every(({ sameBits }) => sameBits)
        ? "All ways gave the same line, bit for bit."
        : `DIFFERENT LINES: ${
          own.filter(({ sameBits }) => !sameBits).map(({ points }) => points).join(", ")
        }`,
    );
  }
  return sections.join("\n\n");
}

/** As `ks, points 5`. */
function nameOf({ stencil, variant }: Pick<SweptComparison, "stencil" | "variant">): string {
  return [stencil, ...Object.entries(variant).map(([name, value]) => `${name} ${value}`)].join(", ");
}

function gpuRow({ points, launchNs, rates }: SweptComparison): string[] {
  const best = (name: string): SweptComparison["rates"][number] | undefined =>
    rates.filter(({ traversal }) => traversal === name).sort((a, b) => a.stepNs - b.stepNs)[0];
  const shape = (rate: LineRate | undefined): string =>
    rate === undefined ? "–" : ["threads", "points", "steps"].map((name) => rate.parameters[name])
      .filter((value) => value !== undefined).join(" × ");
  const time = (rate: LineRate | undefined): string => rate === undefined ? "–" : formatDuration(rate.stepNs);
  const factor = (rate: LineRate | undefined): string =>
    rate === undefined ? "–" : formatFactor(rate.overClassic);
  const [classic, memory, register] = ["classic", "swept", "swept-register"].map(best);
  return [
    formatCount(points),
    formatDuration(launchNs),
    time(classic),
    shape(classic),
    time(memory),
    factor(memory),
    shape(memory),
    time(register),
    factor(register),
    register === undefined ? "–" : register.confidence95.map(formatDuration).join(" to "),
    shape(register),
  ];
}

function cpuRow({ points, rates }: CpuSweptComparison): string[] {
  const [classic, ...swept] = rates;
  const best = [...swept].sort((a, b) => a.stepNs - b.stepNs)[0];
  return [
    formatCount(points),
    formatDuration(classic.stepNs),
    formatDuration(best.stepNs),
    formatFactor(best.overClassic),
    formatCount(best.parameters.points),
  ];
}

function markdownTable([header, ...rows]: string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "--:")), ...rows.map(line)].join("\n");
}

function now(): number {
  return performance.now() * 1e6;
}
