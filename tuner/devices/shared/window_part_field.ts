import type { Box } from "../../../models/rank_part.ts";
import type { Comparison, SliceCells } from "../comparison.ts";
import type { WindowedField } from "../gpu/windowed_field.ts";
import { type Reference, stateLevels } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { copyPiece, piecesOf } from "./boxes.ts";
import {
  type FieldStart,
  hostRound,
  type PartField,
  type Place,
  type Round,
  type RoundOptions,
} from "./part_field.ts";

/** A whole grid that the host holds and that passes through a window of the GPU's memory. */
export class WindowPartField implements PartField {
  readonly device = "gpu";
  /** The host moves slices while the GPU computes. */
  readonly clock = "host";

  constructor(
    readonly field: WindowedField,
    readonly place: Place,
    /** Whether the GPU is one in software. */
    readonly isWarm: boolean,
  ) {}

  get compileNs(): number {
    return this.field.compileNs;
  }

  async initialise(start: FieldStart): Promise<void> {
    await this.field.initialise(start);
  }

  begin(steps: number, { pack = [], repetitions = 1 }: RoundOptions = {}): Promise<Round> {
    return Promise.resolve(hostRound(this.#run(steps, repetitions), pack, () => this.#sliceOf));
  }

  unpack(boxes: readonly Box[], pieces: readonly Float32Array<ArrayBuffer>[]): Promise<void> {
    piecesOf(boxes).forEach((piece, i) => copyPiece(piece, this.#sliceOf, pieces[i]!, "unpack"));
    return Promise.resolve();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  compare({ window, problem }: Reference): Promise<Comparison> {
    return window === undefined
      ? Promise.reject(new RunFailure("limits", "the reference lies on the GPU as a whole"))
      : Promise.resolve(this.field.compare(window, stateLevels(problem)));
  }

  [Symbol.dispose](): void {
    this.field[Symbol.dispose]();
  }

  #sliceOf = (ago: 0 | 1, x: number): SliceCells => {
    return { cells: this.field.slice(ago, x), layout: this.field.sliceLayout, slice: 0 };
  };

  async #run(steps: number, repetitions: number): Promise<number> {
    let timeNs = 0;
    for (let i = 0; i < repetitions; i++) timeNs += await this.field.run(steps);
    return timeNs;
  }
}
