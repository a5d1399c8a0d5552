/**
 * Cells of the whole grid, wherever they lie: on the CPU, on the GPU, and in the ghost zones of both.
 *
 * @module
 */
import type { Layout } from "../../../kernels/layout.ts";
import {
  clearCpuPlanes,
  clearGpuPlanes,
  type PlaneSlices,
  readCpuPlane,
  readGpuPlane,
  type SliceSource,
  writeCpuPlane,
  writeGpuPlane,
} from "./field_cells.ts";
import type { SharedField } from "./shared_field.ts";
import { levelOf } from "./slice_exchange.ts";

/** Slices of one plane of a level; x is that of the whole grid. */
export interface GridSlices {
  readonly ago: 0 | 1;
  /** Field, or after the last field material. */
  readonly plane: number;
  /** First slice. */
  readonly x: number;
  readonly slices: number;
}

/** Reads cells into an array that is just as long: x, y, z. */
export async function readShared(
  { problem: { grid: [, ny, nz] }, cpuShare: cpu, gpuShare: gpu }: SharedField,
  { ago, plane, x, slices }: GridSlices,
  target: Float32Array,
): Promise<void> {
  const cpuSlices = cpu?.slices ?? 0;
  const fromCpu = Math.max(0, Math.min(x + slices, cpuSlices) - x);
  if (cpu !== undefined && fromCpu > 0) {
    const { cells, layout } = levelOf(cpu.field, ago);
    readCpuPlane(cells, { layout, plane, slice: cpu.first + x, slices: fromCpu }, target);
  }
  if (gpu !== undefined && fromCpu < slices) {
    const { layout } = gpu.field.plan;
    const slice = gpu.first + x + fromCpu - cpuSlices;
    const range = { layout, plane, slice, slices: slices - fromCpu };
    await readGpuPlane(gpu.device, gpu.field.level(ago), range, target.subarray(fromCpu * ny * nz));
  }
}

/** Writes cells, as own slices and in ghost zones; on a periodic grid the GPU's pads are to be renewed then. */
export async function writeShared(field: SharedField, range: GridSlices, source: SliceSource): Promise<void> {
  const { problem: { grid: [nx], boundary }, cpuShare: cpu, gpuShare: gpu } = field;
  const { ago, plane } = range;
  const inGrid = (x: number): number => boundary === "periodic" ? (x % nx + nx) % nx : x;
  if (cpu !== undefined) {
    const { cells, layout } = levelOf(cpu.field, ago);
    const gridX = (slice: number): number => inGrid(slice - cpu.first);
    for (const run of runsOf(layout, gridX, range)) {
      writeCpuPlane(cells, { ...run, layout, plane }, (slice) => source(gridX(slice)));
    }
  }
  if (gpu !== undefined) {
    const { layout } = gpu.field.plan;
    const gridX = (slice: number): number => inGrid((cpu?.slices ?? 0) + slice - gpu.first);
    for (const run of runsOf(layout, gridX, range)) {
      const target = { ...run, layout, plane };
      await writeGpuPlane(gpu.device, gpu.field.level(ago), target, (slice) => source(gridX(slice)));
    }
  }
}

/** Sets all fields of both levels to zero; materials stay. */
export async function clearFields({ problem, cpuShare: cpu, gpuShare: gpu }: SharedField): Promise<void> {
  const { fields: { length: planes } } = problem.stencil.update;
  for (const ago of [0, 1] as const) {
    if (gpu !== undefined) {
      await clearGpuPlanes(gpu.device, gpu.field.level(ago), gpu.field.plan.layout, planes);
    }
    if (cpu !== undefined) clearCpuPlanes(levelOf(cpu.field, ago).cells, cpu.field.layout, planes);
  }
}

/** Which slices of a share are among those of the range, as runs of neighbours. */
function runsOf(
  { grid: [length] }: Layout,
  gridX: (slice: number) => number,
  { x: first, slices }: GridSlices,
): Pick<PlaneSlices, "slice" | "slices">[] {
  const runs: { slice: number; slices: number }[] = [];
  for (let slice = 0; slice < length; slice++) {
    const x = gridX(slice);
    if (x < first || x >= first + slices) continue;
    const last = runs.at(-1);
    if (last !== undefined && last.slice + last.slices === slice) last.slices++;
    else runs.push({ slice, slices: 1 });
  }
  return runs;
}
