import type { FloatArray } from "../../../kernels/precision.ts";
import { indexOf } from "../../../kernels/layout.ts";
import { type Box, valuesIn } from "../../../models/rank_part.ts";
import type { SliceOf } from "../comparison.ts";

/** Cells of a box that lie together in a piece; counted plane by plane, then x, y, z. */
export interface Run {
  readonly box: Box;
  /** First cell in the box. */
  readonly first: number;
  readonly count: number;
  readonly at: number;
}

/** What is copied and sent at once. */
export interface Piece {
  readonly runs: readonly Run[];
  readonly cells: number;
}

/**
 * Cells of a piece at most, 4 MiB: a message leaves a cache that it was read into. Mapped buffers of more than 16 MiB are
 * read at a third of the speed (H100, 2026-11-22). The same on all ranks; tests have smaller ones.
 */
export const PIECE: { cells: number } = { cells: 2 ** 20 };

/** Boxes one after another, in pieces. */
export function piecesOf(boxes: readonly Box[]): Piece[] {
  const pieces: Piece[] = [];
  let runs: Run[] = [], at = 0;
  const close = (): void => {
    if (at > 0) pieces.push({ runs, cells: at });
    [runs, at] = [[], 0];
  };
  for (const box of boxes) {
    for (let first = 0; first < valuesIn(box);) {
      const count = Math.min(valuesIn(box) - first, PIECE.cells - at);
      runs.push({ box, first, count, at });
      first += count;
      at += count;
      if (at === PIECE.cells) close();
    }
  }
  close();
  return pieces;
}

/** Shorter rows are copied cell by cell: a call takes as long as some thirty cells. */
const SHORT_ROW = 32;

/**
 * Copies the cells of a piece between levels and the piece's own memory.
 *
 * @param sliceOf where a slice of a level lies in the host's memory
 */
export function copyPiece(
  { runs }: Piece,
  sliceOf: SliceOf,
  cells: FloatArray,
  direction: "pack" | "unpack",
): void {
  for (const { box: { ago, low: [x, y, z], size: [nx, ny, nz], plane }, first, count, at } of runs) {
    for (let done = 0; done < count;) {
      const cell = first + done, row = Math.floor(cell / nz), length = Math.min(nz - cell % nz, count - done);
      const { cells: level, layout, slice } = sliceOf(ago, x + Math.floor(row / ny) % nx);
      const inSlice = [slice, y + row % ny, z + cell % nz] as const;
      const from = indexOf(layout, inSlice, plane + Math.floor(row / ny / nx));
      const [source, target, read, write] = direction === "pack"
        ? [level, cells, from, at + done]
        : [cells, level, at + done, from];
      if (length >= SHORT_ROW) target.set(source.subarray(read, read + length), write);
      else for (let i = 0; i < length; i++) target[write + i] = source[read + i]!;
      done += length;
    }
  }
}
