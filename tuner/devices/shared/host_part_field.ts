import type { Box } from "../../../models/rank_part.ts";
import type { SliceCells } from "../comparison.ts";
import { copyPiece, piecesOf } from "./boxes.ts";
import type { PartField, Round, RoundOptions } from "./part_field.ts";

/** What parts have in common whose cells the host reaches: it copies boxes row by row, when they are asked for. */
export abstract class HostPartField implements Pick<PartField, "begin" | "unpack" | "settle"> {
  /** Advances the field; returns nanoseconds. */
  protected abstract run(steps: number, repetitions: number): Promise<number>;

  /** Says where a slice of a level lies now. */
  protected abstract slices(): (ago: 0 | 1, x: number) => SliceCells;

  begin(steps: number, { pack = [], repetitions = 1 }: RoundOptions = {}): Promise<Round> {
    const running = this.run(steps, repetitions);
    running.catch(() => {}); // thrown by `finish`
    const packed = (boxes: readonly Box[]) =>
      piecesOf(boxes).map((piece) => {
        const cells = new Float32Array(piece.cells);
        copyPiece(piece, this.slices(), cells, "pack");
        return cells;
      });
    return Promise.resolve({ finish: () => running, pieces: () => pack.map(packed), release() {} });
  }

  unpack(boxes: readonly Box[], pieces: readonly Float32Array<ArrayBuffer>[]): Promise<void> {
    piecesOf(boxes).forEach((piece, i) => copyPiece(piece, this.slices(), pieces[i]!, "unpack"));
    return Promise.resolve();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }
}
