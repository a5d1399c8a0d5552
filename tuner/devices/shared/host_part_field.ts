import { type FloatArray, zeros } from "../../../kernels/precision.ts";
import type { FieldStart, PartStart } from "../../../kernels/initial_field.ts";
import type { Point } from "../../../kernels/points.ts";
import { type Box, firstOf, type PartPlace } from "../../../models/rank_part.ts";
import {
  type Comparison,
  type FieldSlices,
  joinComparisons,
  type RunOptions,
  type SliceCells,
  type SliceOf,
} from "../comparison.ts";
import type { DeviceField } from "../device_field.ts";
import { sampleSlices } from "../points.ts";
import { type Reference, stateLevels } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { copyPiece, piecesOf } from "./boxes.ts";
import { type Arrival, ownSlices, type PartField, type Round, type RoundOptions } from "./part_field.ts";

/** A field whose cells the host reaches: what workers compute, or what passes through a window of a GPU's memory. */
interface HostField extends DeviceField {
  initialise(start: PartStart): Promise<void>;
  clear(): void;
  /** Advances it; returns nanoseconds. */
  run(options: RunOptions): Promise<number>;
  /** Both levels, as they lie now. */
  slices(): SliceOf;
  compare(expected: SliceCells, which: FieldSlices): Comparison | Promise<Comparison>;
}

/** A part whose cells the host reaches: it copies boxes row by row, when they are asked for. */
export class HostPartField<Field extends HostField = HostField> implements PartField {
  #running: Promise<number> | undefined;

  constructor(readonly field: Field, readonly place: PartPlace) {}

  async initialise(start: FieldStart): Promise<void> {
    await this.field.initialise({ ...start, first: firstOf(this.place), whole: this.place.whole });
  }

  clear(): Promise<void> {
    this.field.clear();
    return Promise.resolve();
  }

  sample(points: readonly Point[]): Promise<FloatArray> {
    return Promise.resolve(sampleSlices(this.field.slices(), points));
  }

  begin(steps: number, { pack = [], repetitions = 1 }: RoundOptions = {}): Promise<Round> {
    const { part: { before: [low], after: [high] } } = this.place, ghost = { low: low > 0, high: high > 0 };
    const running = steps === 0 ? Promise.resolve(0) : this.field.run({ steps, repetitions, ghost });
    running.catch(() => {}); // thrown by `finish`
    this.#running = running;
    const packed = (boxes: readonly Box[]) =>
      piecesOf(boxes).map((piece) => {
        const cells = zeros(this.field.profiles.update, piece.cells);
        copyPiece(piece, this.field.slices(), cells, "pack");
        return cells;
      });
    return Promise.resolve({ finish: () => running, pieces: () => pack.map(packed), release() {} });
  }

  unpack(arrived: readonly Arrival[]): Promise<void> {
    for (const { boxes, pieces } of arrived) {
      piecesOf(boxes).forEach((piece, i) => copyPiece(piece, this.field.slices(), pieces[i]!, "unpack"));
    }
    return Promise.resolve();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  look(): Promise<() => Promise<boolean>> {
    const running = this.#running, { slice, slices } = ownSlices(this.place);
    return Promise.resolve(async () => {
      await running?.catch(() => {}); // thrown where it is awaited
      const sliceOf = this.field.slices(), end = slice + slices, { cells } = sliceOf(0, slice);
      // a window's slices lie each in an array of its own
      const count = cells === sliceOf(0, end - 1).cells ? slices : 1;
      for (let x = slice; x < end; x += count) {
        const { notFinite } = await this.field.compare(sliceOf(0, x), { ago: 0, slice: x, slices: count });
        if (notFinite > 0) return false;
      }
      return true;
    });
  }

  async compare(reference: Reference): Promise<Comparison> {
    if (this.field.facts.device === "gpu" && reference.onGpu !== undefined) {
      throw new RunFailure("limits", "the reference lies on the GPU as a whole");
    }
    const parts: Comparison[] = [], { slice, slices, referenceSlice } = ownSlices(this.place);
    for (const ago of stateLevels(reference.problem)) {
      for await (const { x, slices: count, ...expected } of reference.slices(ago, referenceSlice, slices)) {
        const which = { ago, slice: slice + x - referenceSlice, slices: count };
        parts.push(await this.field.compare(expected, which));
      }
    }
    return joinComparisons(parts);
  }

  [Symbol.dispose](): void {
    this.field[Symbol.dispose]();
  }
}
