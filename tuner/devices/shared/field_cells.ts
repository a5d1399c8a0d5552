/**
 * Moves cells between dense arrays and the padded levels of a share, some slices of one plane at a time, so that a
 * large field never is on the host as a whole.
 *
 * @module
 */
import { indexOf, type Layout } from "../../../kernels/layout.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";

/** Bytes that are staged at once. */
const PIECE_BYTES = 2 ** 26;

/** Slices of one plane in a padded array. */
export interface PlaneSlices {
  readonly layout: Layout;
  /** Field, or after the last field material. */
  readonly plane: number;
  /** First slice. */
  readonly slice: number;
  readonly slices: number;
}

/** Gives the cells of a slice, dense: y, z. */
export type SliceSource = (slice: number) => Float32Array;

/** Index of the first cell of a plane of a slice, pads included. */
function startOf({ pad: [padX], slice: perSlice, plane: perPlane }: Layout, slice: number, plane: number) {
  return (padX + slice) * perSlice + plane * perPlane;
}

/** Writes slices of a plane of a GPU's array, zeros into the pads around their rows. */
export async function writeGpuPlane(
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
      queue.writeBuffer(array, 4 * startOf(layout, slice + done, plane), cells);
      if (staged >= PIECE_BYTES) queue.submit([]);
    });
    if (staged < PIECE_BYTES) continue;
    // what the device has not yet taken is kept on the host
    await gpu.within(() => queue.onSubmittedWorkDone(), "writing cells");
    staged = 0;
  }
}

/** Reads slices of a plane of a GPU's array into a dense one: x, y, z. */
export async function readGpuPlane(
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
          const from = 4 * startOf(layout, slice + done + x, plane);
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

/** Sets the first planes of every slice to zero. */
export async function clearGpuPlanes(
  gpu: GpuDevice,
  array: GPUBuffer,
  layout: Layout,
  planes: number,
): Promise<void> {
  await gpu.enqueue((encoder) => {
    if (planes === layout.planes) encoder.clearBuffer(array, 0, 4 * layout.length);
    else {
      for (let slice = -layout.pad[0]; slice < layout.grid[0] + layout.pad[0]; slice++) {
        encoder.clearBuffer(array, 4 * startOf(layout, slice, 0), 4 * planes * layout.plane);
      }
    }
  });
}

/** Writes slices of a plane of the CPU's array; pads stay. */
export function writeCpuPlane(
  array: Float32Array,
  { layout, plane, slice, slices }: PlaneSlices,
  source: SliceSource,
): void {
  const [, ny, nz] = layout.grid;
  for (let x = slice; x < slice + slices; x++) {
    const dense = source(x);
    for (let y = 0; y < ny; y++) {
      array.set(dense.subarray(y * nz, (y + 1) * nz), indexOf(layout, [x, y, 0], plane));
    }
  }
}

/** Reads slices of a plane of the CPU's array into a dense one: x, y, z. */
export function readCpuPlane(
  array: Float32Array,
  { layout, plane, slice, slices }: PlaneSlices,
  target: Float32Array,
): void {
  const [, ny, nz] = layout.grid;
  for (let row = 0; row < slices * ny; row++) {
    const from = indexOf(layout, [slice + Math.floor(row / ny), row % ny, 0], plane);
    target.set(array.subarray(from, from + nz), row * nz);
  }
}

/** Sets the first planes of every slice to zero. */
export function clearCpuPlanes(array: Float32Array, layout: Layout, planes: number): void {
  for (let slice = -layout.pad[0]; slice < layout.grid[0] + layout.pad[0]; slice++) {
    const start = startOf(layout, slice, 0);
    array.fill(0, start, start + planes * layout.plane);
  }
}
