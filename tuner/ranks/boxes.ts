import { indexOf, type Layout } from "../../kernels/layout.ts";
import { type Box, cellsIn } from "../../models/rank_part.ts";

/** Cells of a box that lie together in a piece; counted plane by plane, then x, y, z. */
export interface Run {
  readonly box: Box;
  /** First cell in the box. */
  readonly first: number;
  readonly count: number;
  /** Where they lie in the piece. */
  readonly at: number;
}

/** What is copied and sent at once. */
export interface Piece {
  readonly runs: readonly Run[];
  readonly cells: number;
}

/** Cells of a piece at most, 16 MiB: larger mapped buffers are read at a third of the speed (H100, 2026-11-22). */
const PIECE_CELLS = 2 ** 22;

/** Boxes one after another, in pieces. */
export function piecesOf(boxes: readonly Box[]): Piece[] {
  const pieces: Piece[] = [];
  let runs: Run[] = [], at = 0;
  const close = (): void => {
    if (at > 0) pieces.push({ runs, cells: at });
    [runs, at] = [[], 0];
  };
  for (const box of boxes) {
    for (let first = 0; first < cellsIn(box);) {
      const count = Math.min(cellsIn(box) - first, PIECE_CELLS - at);
      runs.push({ box, first, count, at });
      first += count;
      at += count;
      if (at === PIECE_CELLS) close();
    }
  }
  close();
  return pieces;
}

/** Calls `copy` with each row of a piece: where its cells lie in the level and in the piece, and how many. */
export function eachRow(
  { runs }: Piece,
  layout: Layout,
  copy: (run: Run, inLevel: number, inPiece: number, count: number) => void,
): void {
  for (const run of runs) {
    const { box: { low: [x, y, z], size: [nx, ny, nz], plane }, first, count, at } = run;
    for (let done = 0; done < count;) {
      const cell = first + done, row = Math.floor(cell / nz);
      const from = indexOf(
        layout,
        [x + Math.floor(row / ny) % nx, y + row % ny, z + cell % nz],
        plane + Math.floor(row / ny / nx),
      );
      const length = Math.min(nz - cell % nz, count - done);
      copy(run, from, at + done, length);
      done += length;
    }
  }
}
