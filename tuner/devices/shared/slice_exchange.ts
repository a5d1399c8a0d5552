import { indexOf, type Layout } from "../../../kernels/layout.ts";
import type { CpuField } from "../cpu/cpu_field.ts";
import type { LevelPart } from "../gpu/gpu_field.ts";

/** Where a share's own slices lie in its field; the slices before and after them are ghost zones. */
export interface OwnSlices {
  readonly first: number;
  readonly slices: number;
}

/** Slices of one level that go from one share to the other. */
export interface Transfer {
  /** 0: F(t), 1: F(t−1). */
  readonly ago: 0 | 1;
  /** First slice in the CPU's field, and in the GPU's. */
  readonly cpuSlice: number;
  readonly gpuSlice: number;
  readonly slices: number;
}

/** The slices that fill both ghost zones. */
export function transfersBetween(
  cpu: OwnSlices,
  gpu: OwnSlices,
  { widths, isPeriodic }: {
    /** Slices of a ghost zone: of F(t), and of F(t−1) where it is read. */
    readonly widths: readonly number[];
    /** Whether the shares meet at the ends of the grid too. */
    readonly isPeriodic: boolean;
  },
): { toCpu: Transfer[]; toGpu: Transfer[] } {
  const cpuEnd = cpu.first + cpu.slices, gpuEnd = gpu.first + gpu.slices;
  const toCpu: Transfer[] = [], toGpu: Transfer[] = [];
  for (const ago of [0, 1] as const) {
    const slices = widths[ago] ?? 0;
    if (slices === 0) continue;
    toCpu.push({ ago, cpuSlice: cpuEnd, gpuSlice: gpu.first, slices });
    toGpu.push({ ago, cpuSlice: cpuEnd - slices, gpuSlice: gpu.first - slices, slices });
    if (!isPeriodic) continue;
    toCpu.push({ ago, cpuSlice: cpu.first - slices, gpuSlice: gpuEnd - slices, slices });
    toGpu.push({ ago, cpuSlice: cpu.first, gpuSlice: gpuEnd, slices });
  }
  return { toCpu, toGpu };
}

/** Slices that lie one transfer after another in a buffer, each slice as in the plan's layout. */
export interface SliceBuffer {
  readonly buffer: GPUBuffer;
  readonly transfers: readonly Transfer[];
}

/** Where F(t) and F(t−1) lie on the GPU. */
export type Levels = readonly [now: readonly LevelPart[], before: readonly LevelPart[]];

/** Copies slices between the arrays of F(t) and F(t−1) on the GPU and a buffer, `isOut` to the buffer. */
export function copyStaged(
  encoder: GPUCommandEncoder,
  { buffer, transfers }: SliceBuffer,
  levels: Levels,
  isOut: boolean,
): void {
  let offset = 0;
  for (const { ago, gpuSlice, slices } of transfers) {
    const perSlice = 4 * levels[ago][0]!.layout.slice;
    for (const { array, layout, x, from, to } of partsOf(levels[ago], gpuSlice, slices)) {
      const at = (layout.pad[0] + from - x) * perSlice, bytes = (to - from) * perSlice;
      const staged = offset + (from - gpuSlice) * perSlice;
      if (isOut) encoder.copyBufferToBuffer(array, at, buffer, staged, bytes);
      else encoder.copyBufferToBuffer(buffer, staged, array, at, bytes);
    }
    offset += slices * perSlice;
  }
}

/** What each part of a level holds of some slices of the grid; what two hold is alike. */
export function partsOf(
  level: readonly LevelPart[],
  first: number,
  slices: number,
): (LevelPart & { readonly from: number; readonly to: number })[] {
  return level.map((part) => ({
    ...part,
    from: Math.max(first, part.x),
    to: Math.min(first + slices, part.x + part.layout.grid[0]),
  })).filter(({ from, to }) => from < to);
}

export interface SliceCells {
  readonly cells: Float32Array;
  readonly layout: Layout;
  readonly slice: number;
}

/** The array of a CPU's field that holds F(t) (`ago` = 0) or F(t−1); stale once the pool's memory grows. */
export function levelOf({ layout, current, previous }: CpuField, ago: 0 | 1): Omit<SliceCells, "slice"> {
  return { cells: ago === 0 ? current : previous, layout };
}

/** Copies slices between arrays of any layout: all at once where they lie alike, else row by row without the pads. */
export function copySlices(from: SliceCells, to: SliceCells, slices: number): void {
  const { layout: a } = from, { layout: b } = to, [, ny, nz] = a.grid;
  const areAlike = a.pitch === b.pitch && a.plane === b.plane && a.slice === b.slice;
  if (areAlike && a.pad[1] === b.pad[1] && a.pad[2] === b.pad[2]) {
    const start = (a.pad[0] + from.slice) * a.slice;
    to.cells.set(from.cells.subarray(start, start + slices * a.slice), (b.pad[0] + to.slice) * b.slice);
    return;
  }
  for (let x = 0; x < slices; x++) {
    for (let plane = 0; plane < a.planes; plane++) {
      for (let y = 0; y < ny; y++) {
        const start = indexOf(a, [from.slice + x, y, 0], plane);
        to.cells.set(from.cells.subarray(start, start + nz), indexOf(b, [to.slice + x, y, 0], plane));
      }
    }
  }
}

/** The layout of a buffer that holds slices of `layout` and nothing before the first. */
export function withoutPadX(layout: Layout): Layout {
  const [padX, padY, padZ] = layout.pad;
  return { ...layout, pad: [0, padY, padZ], origin: layout.origin - padX * layout.slice };
}
