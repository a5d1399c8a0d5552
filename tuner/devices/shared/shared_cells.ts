import { indexOf, type Layout } from "../../../kernels/layout.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";
import type { SharedField } from "./shared_field.ts";
import { isCyclic } from "./shares.ts";
import { levelOf, partsOf } from "./slice_exchange.ts";

/** Bytes that are staged at once: a large field is never on the host as a whole. */
const PIECE_BYTES = 2 ** 26;

/** Slices of one plane of a level; x is that of the whole grid. */
export interface GridSlices {
  readonly ago: 0 | 1;
  /** Field, or after the last field material. */
  readonly plane: number;
  readonly x: number;
  readonly slices: number;
}

/** Gives the cells of a slice, dense: y, z. */
export type SliceSource = (slice: number) => Float32Array;

/** Slices of one plane in a share's padded array. */
interface PlaneSlices {
  readonly layout: Layout;
  readonly plane: number;
  readonly slice: number;
  readonly slices: number;
}

/** Reads cells of the whole grid, wherever they lie, into an array that is just as long: x, y, z. */
export async function readShared(
  { problem: { grid: [, ny, nz] }, cpuShare: cpu, gpuShare: gpu }: SharedField,
  { ago, plane, x, slices }: GridSlices,
  target: Float32Array,
): Promise<void> {
  const cpuSlices = cpu?.slices ?? 0;
  const fromCpu = Math.max(0, Math.min(x + slices, cpuSlices) - x);
  if (cpu !== undefined) {
    const { cells, layout } = levelOf(cpu.field, ago);
    for (let row = 0; row < fromCpu * ny; row++) {
      const from = indexOf(layout, [cpu.first + x + Math.floor(row / ny), row % ny, 0], plane);
      target.set(cells.subarray(from, from + nz), row * nz);
    }
  }
  if (gpu !== undefined && fromCpu < slices) {
    const first = gpu.first + x + fromCpu - cpuSlices;
    for (
      const { array, layout, x: start, from, to } of partsOf(gpu.field.level(ago), first, slices - fromCpu)
    ) {
      const range = { layout, plane, slice: from - start, slices: to - from };
      await readGpu(gpu.field.device, array, range, target.subarray((fromCpu + from - first) * ny * nz));
    }
  }
}

/** Writes cells, on both devices and in ghost zones; the GPU's pads of images are to be renewed then. */
export async function writeShared(field: SharedField, range: GridSlices, source: SliceSource): Promise<void> {
  const { problem: { grid: [nx, ny, nz] }, cpuShare: cpu, gpuShare: gpu } = field;
  const { ago, plane } = range;
  const isPeriodic = isCyclic(field.problem);
  const inGrid = (x: number): number => isPeriodic ? (x % nx + nx) % nx : x;
  if (cpu !== undefined) {
    const { cells, layout } = levelOf(cpu.field, ago);
    const gridX = (slice: number): number => inGrid(slice - cpu.first);
    for (const { slice, slices } of runsOf(layout, gridX, range)) {
      for (let x = slice; x < slice + slices; x++) {
        const dense = source(gridX(x));
        for (let y = 0; y < ny; y++) {
          cells.set(dense.subarray(y * nz, (y + 1) * nz), indexOf(layout, [x, y, 0], plane));
        }
      }
    }
  }
  if (gpu !== undefined) {
    const { layout } = gpu.field.plan;
    const gridX = (slice: number): number => inGrid((cpu?.slices ?? 0) + slice - gpu.first);
    for (const run of runsOf(layout, gridX, range)) {
      for (const { array, layout, x, from, to } of partsOf(gpu.field.level(ago), run.slice, run.slices)) {
        const target = { layout, plane, slice: from - x, slices: to - from };
        await writeGpu(gpu.field.device, array, target, (slice) => source(gridX(x + slice)));
      }
    }
  }
}

/** Sets all fields of both levels to zero; materials stay. */
export async function clearFields({ problem, cpuShare: cpu, gpuShare: gpu }: SharedField): Promise<void> {
  const { fields } = problem.stencil.update;
  const eachSlice = ({ length, slice, plane }: Layout, clear: (start: number, count: number) => void) => {
    for (let start = 0; start + slice <= length; start += slice) clear(start, fields.length * plane);
  };
  for (const ago of [0, 1] as const) {
    if (gpu !== undefined) {
      const { field } = gpu;
      await field.device.enqueue((encoder) =>
        field.level(ago).forEach(({ array, layout }) =>
          eachSlice(layout, (start, count) => encoder.clearBuffer(array, 4 * start, 4 * count))
        )
      );
    }
    if (cpu !== undefined) {
      const { cells, layout } = levelOf(cpu.field, ago);
      eachSlice(layout, (start, count) => cells.fill(0, start, start + count));
    }
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

/** Byte offset of a plane of a slice, pads included. */
function offsetOf({ pad: [padX], slice: perSlice, plane: perPlane }: Layout, slice: number, plane: number) {
  return 4 * ((padX + slice) * perSlice + plane * perPlane);
}

/** Writes slices of a plane of a GPU's array, zeros into the pads around their rows. */
async function writeGpu(
  gpu: GpuDevice,
  array: GPUBuffer,
  { layout, plane, slice, slices }: PlaneSlices,
  source: SliceSource,
): Promise<void> {
  const [, ny, nz] = layout.grid;
  const [, padY, padZ] = layout.pad;
  // planes of one slice after another are one piece only where there is one plane
  const together = layout.planes === 1 ? Math.max(1, Math.floor(PIECE_BYTES / (4 * layout.plane))) : 1;
  let staged = 0;
  for (let done = 0; done < slices; done += together) {
    const count = Math.min(together, slices - done);
    const cells = new Float32Array(count * layout.plane);
    for (let x = 0; x < count; x++) {
      const dense = source(slice + done + x);
      for (let y = 0; y < ny; y++) {
        const to = x * layout.plane + (padY + y) * layout.pitch + padZ;
        cells.set(dense.subarray(y * nz, (y + 1) * nz), to);
      }
    }
    staged += cells.byteLength;
    const { queue } = gpu.device;
    await gpu.checked("incorrect", () => {
      queue.writeBuffer(array, offsetOf(layout, slice + done, plane), cells);
      if (staged >= PIECE_BYTES) queue.submit([]);
    });
    if (staged < PIECE_BYTES) continue;
    // what the device has not yet taken is kept on the host
    await gpu.within(() => queue.onSubmittedWorkDone(), "writing cells");
    staged = 0;
  }
}

/** Reads slices of a plane of a GPU's array into a dense one: x, y, z. */
async function readGpu(
  gpu: GpuDevice,
  array: GPUBuffer,
  { layout, plane, slice, slices }: PlaneSlices,
  target: Float32Array,
): Promise<void> {
  const [, ny, nz] = layout.grid;
  const [, padY, padZ] = layout.pad;
  const bytes = 4 * layout.plane;
  const together = Math.max(1, Math.floor(PIECE_BYTES / bytes));
  for (let done = 0; done < slices; done += together) {
    const count = Math.min(together, slices - done);
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    const readable = await gpu.buffer(count * bytes, usage, "read back");
    try {
      await gpu.enqueue((encoder) => {
        for (let x = 0; x < count; x++) {
          const from = offsetOf(layout, slice + done + x, plane);
          encoder.copyBufferToBuffer(array, from, readable, x * bytes, bytes);
        }
      });
      await gpu.within(() => readable.mapAsync(GPUMapMode.READ), "reading back");
      const cells = new Float32Array(gpu.mapped(readable));
      for (let row = 0; row < count * ny; row++) {
        const x = Math.floor(row / ny), y = row % ny;
        const from = x * layout.plane + (padY + y) * layout.pitch + padZ;
        target.set(cells.subarray(from, from + nz), (done * ny + row) * nz);
      }
    } finally {
      readable.destroy();
    }
  }
}
