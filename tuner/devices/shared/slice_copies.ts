/**
 * Boxes of whole slices on a GPU in software: slices are copied as they lie, with the pads of y and z, and the host packs.
 * A kernel would take ten times as long (llvmpipe, 2 cores, 2026-11-23: 29 ns of a core for a cell).
 *
 * @module
 */
import type { Layout } from "../../../kernels/layout.ts";
import { type FloatArray, precisionOf } from "../../../kernels/precision.ts";
import type { Box } from "../../../models/rank_part.ts";
import type { GpuField, Recorded } from "../gpu/gpu_field.ts";
import { copyPiece, type Piece } from "./boxes.ts";

/** Whether a field's device copies these boxes instead of packing them by a kernel. */
export function copiesSlices(
  { device, plan: { storage: { sections, layout } } }: GpuField,
  boxes: readonly Box[],
): boolean {
  const [, ny, nz] = layout.grid;
  return device.isSoftware && sections === undefined && layout.layered === undefined &&
    boxes.every(({ size: [, y, z] }) => y === ny && z === nz);
}

/** Cells that a box's slices take, pads included. */
export function staged({ plan: { storage: { layout } } }: GpuField, { planes, size: [slices] }: Box): number {
  return slices * planes * layout.plane;
}

/** What copies the slices of boxes, each box in its buffer, after `steps` steps. */
export function recordSlices(
  field: GpuField,
  boxes: readonly Box[],
  buffers: readonly GPUBuffer[],
  direction: "pack" | "unpack",
  steps = 0,
): Recorded {
  const { layout, layout: { pad: [padX], slice, plane: perPlane } } = field.plan.storage;
  const { bytes: each } = precisionOf(layout);
  const arrays = boxes.map(({ ago }) => field.level((ago + steps) % 2 as 0 | 1)[0]!.array.buffer);
  return (encoder) =>
    boxes.forEach(({ plane, planes, low: [x], size: [slices] }, i) => {
      const array = arrays[i]!, buffer = buffers[i]!, bytes = each * planes * perPlane;
      for (let done = 0; done < slices; done++) {
        const at = each * ((padX + x + done) * slice + plane * perPlane);
        if (direction === "pack") encoder.copyBufferToBuffer(array, at, buffer, done * bytes, bytes);
        else encoder.copyBufferToBuffer(buffer, done * bytes, array, at, bytes);
      }
    });
}

/** Copies a piece's cells from or to the slices of its boxes. */
export function copyStaged(
  { runs }: Piece,
  slicesOf: (box: Box) => FloatArray,
  { plan: { storage: { layout } } }: GpuField,
  cells: FloatArray,
  direction: "pack" | "unpack",
): void {
  const { origin, pad: [padX], slice, plane } = layout;
  for (const run of runs) {
    const { box } = run, slices = slicesOf(box);
    const own: Layout = { ...layout, origin: origin - padX * slice, slice: box.planes * plane };
    const moved = { ...run, box: { ...box, low: [0, 0, 0] as const, plane: 0 } };
    const sliceOf = (_: 0 | 1, slice: number) => ({ cells: slices, layout: own, slice });
    copyPiece({ runs: [moved], cells: run.count }, sliceOf, cells, direction);
  }
}
