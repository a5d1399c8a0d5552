import { readBox, writeSlices } from "./part_field.ts";
import type { SharedField } from "./shared_field.ts";

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

/** Reads cells of the whole grid, wherever they lie, into an array that is just as long: x, y, z. */
export async function readShared(
  field: SharedField,
  { x, slices, ...level }: GridSlices,
  target: Float32Array,
): Promise<void> {
  const [, ny, nz] = field.problem.grid;
  for (const part of field.parts) {
    const { place: { part: { own: { low: [low], size: [size] }, before: [before] } } } = part;
    const from = Math.max(x, low), end = Math.min(x + slices, low + size);
    if (from >= end) continue;
    const box = { low: [before + from - low, 0, 0], size: [end - from, ny, nz] } as const;
    await readBox(part, { ...level, ...box, planes: 1 }, target.subarray((from - x) * ny * nz));
  }
}

/** Writes cells, on both devices and in ghost zones. */
export async function writeShared(
  field: SharedField,
  { x, slices, ...level }: GridSlices,
  source: SliceSource,
): Promise<void> {
  const [nx] = field.problem.grid;
  for (const part of field.parts) {
    const { place: { part: { own: { low: [low] }, before: [before] } } } = part;
    await writeSlices(part, level, (slice) => {
      // round the ring, where it is one
      const inGrid = (low - before + slice + nx) % nx;
      return inGrid >= x && inGrid < x + slices ? source(inGrid) : undefined;
    });
  }
}
