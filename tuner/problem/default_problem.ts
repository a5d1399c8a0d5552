import { precisionOf } from "../../kernels/precision.ts";
import { cellsOf, type Grid, type Problem, type Stencil } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { predict } from "../../models/cost_model.ts";
import type { DeviceDescription, GpuDescription } from "../devices/device.ts";
import { referenceShape } from "../devices/reference.ts";
import { deviceModelOf } from "../devices/device_model.ts";

/** Time steps of a run: torres of up to 96 tiers, and long enough to time. On a GPU in software fewer are. */
export const DEFAULT_STEPS = 96, SOFTWARE_STEPS = 24;
/** On a line: several diamonds of the largest nodes, whose last must be clipped. */
const LINE_STEPS = 2048;

/** Time of a run by stepwise up to which it is made longer, and how many times as long it gets at most. */
const LONG_RUN_NS = 0.6e9, LONGER = 16;
/** The same from which it is made shorter, and which part of its steps is left at least. */
const LONGEST_RUN_NS = 1e9, SHORTER = 1 / 4;

/** Time steps of a run where none are given, before anything is known of the device. */
export function defaultSteps(
  { dimensions }: Stencil,
  gpu: Pick<GpuDescription, "isFallback"> | null = null,
): number {
  return dimensions === 1 ? LINE_STEPS : gpu?.isFallback ? SOFTWARE_STEPS : DEFAULT_STEPS;
}

/** Time of a run by stepwise, in nanoseconds, by a GPU's bandwidth. */
export function predictRunNs(
  problem: Problem,
  device: Pick<DeviceDescription, "gpu" | "cpu">,
  copyBytesPerSecond: number,
): number {
  const model = deviceModelOf(device, copyBytesPerSecond);
  const { predicted } = predict(stepwise, referenceShape(problem), problem, model);
  return cellsOf(problem.grid) * problem.steps / predicted * 1e9;
}

/**
 * The problem with steps that suit its grid and the GPU, where they were left open. The first and the last steps of a run
 * are slower where a traversal computes several steps at once, and fewer bands can be under way: on 256³ torres reach 569
 * Gcells/s in runs of 768 steps, 600 in runs of 1536; on 512³ 603 in 384 and 624 in 768 (H100, 2026-11-22). So where runs
 * are short they get longer. Where a run takes seconds it gets shorter, so that a minute has room for a search. Where the
 * host holds the grid, only software gets shorter runs: it copies as fast as it computes. By factors of two, so that the
 * same device always has the same.
 */
export function withSuitedSteps(
  { problem, isDefaultSteps, device }: {
    readonly problem: Problem;
    readonly isDefaultSteps: boolean;
    readonly device: Pick<DeviceDescription, "gpu" | "cpu">;
  },
  copyBytesPerSecond: number,
): Problem {
  const { gpu } = device, isResident = gpu?.limits.windowBytes === undefined;
  if (!isDefaultSteps || gpu === null || problem.stencil.dimensions === 1) return problem;
  if (gpu.isFallback === isResident) return problem;
  // half of a section is computed again in the next
  const runNs = (isResident ? 1 : 2) * predictRunNs(problem, device, copyBytesPerSecond);
  let factor = 1;
  while (isResident && factor < LONGER && 2 * factor * runNs <= LONG_RUN_NS) factor *= 2;
  while (factor > SHORTER && factor * runNs > LONGEST_RUN_NS) factor /= 2;
  return { ...problem, steps: factor * problem.steps };
}

/**
 * The default grid: too large for the caches and small enough for the memory. On a GPU it is a cube of 512, as people have
 * them, with as many slices as a buffer binding holds, pads included. A line has 2²⁰ points, the largest in the paper on the
 * swept rule; on a CPU 2¹⁴. A GPU in software is given little work, so that dozens of configurations are tried in a minute.
 *
 * @param gpu null where the CPU computes alone
 * @param halvings of x, where the memory turned out too small
 */
export function defaultGrid(
  stencil: Stencil,
  gpu: Pick<GpuDescription, "limits" | "isFallback"> | null,
  halvings = 0,
): Grid {
  const isLarge = gpu !== null && !gpu.isFallback;
  if (stencil.dimensions === 1) return [1, 1, isLarge ? 2 ** (20 - halvings) : 2 ** 14];
  const planes = planesOf(stencil.update);
  const most = isLarge ? gpu.limits.maxStorageBufferBindingSize / precisionOf(stencil.update).bytes : 0;
  if (stencil.dimensions === 2) {
    const cells = isLarge ? most - 1 : 2 ** (gpu === null ? 22 : 18);
    const side = 2 ** Math.min(14, Math.floor(Math.log2(cells / planes) / 2));
    return [side / 2 ** halvings, 1, side];
  }
  /** As many slices as keep the memory of several fields within bounds. */
  const fewer = (slices: number): number => Math.max(16, Math.ceil(slices * 2 / (planes + 1) / 8) * 8);
  if (!isLarge) return gpu === null ? [fewer(192), 192, 256] : [fewer(64), 64, 64];
  const side = 512, pad = 16;
  const slices = most / planes / (side + pad) ** 2 - pad;
  const x = Math.floor(Math.min(side, slices) / 2 ** halvings / 8) * 8;
  return x >= 32 ? [x, side, side] : [64, side / 4, side / 2];
}

/** Cubes, a slab, short rows and long ones; of these a GPU in software or a CPU gets a quarter along each axis. */
const TYPICAL: readonly Grid[] = [
  [256, 256, 256],
  [512, 512, 512],
  [128, 128, 128],
  [128, 2000, 200],
  [900, 900, 100],
  [400, 3000, 128],
];

/** Grids that span what people run. */
export function typicalGrids(
  { dimensions }: Stencil,
  gpu: Pick<GpuDescription, "isFallback"> | null,
): readonly Grid[] {
  if (dimensions === 1) return [2 ** 12, 2 ** 16, 2 ** 20].map((points): Grid => [1, 1, points]);
  const grids = dimensions === 2 ? TYPICAL.map(([x, y]): Grid => [8 * x, 1, 8 * y]) : TYPICAL;
  if (gpu !== null && !gpu.isFallback) return grids;
  return grids.map(([x, y, z]): Grid => [Math.ceil(x / 4), Math.ceil(y / 4), Math.ceil(z / 4)]);
}

/** Workers: one a core; beside a GPU, the process that feeds it keeps a core of more than two to itself (B2R, §4.1). */
export function defaultWorkers({ gpu, cpu: { cores } }: Pick<DeviceDescription, "gpu" | "cpu">): number {
  return gpu !== null && cores > 2 ? cores - 1 : cores;
}
