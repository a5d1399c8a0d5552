import type { LineWork, NodePart } from "../../../kernels/cpu/line_order.ts";
import { type FloatArray, type Precision, precisionOf } from "../../../kernels/precision.ts";
import { laneImages, laneOffset, type Lanes } from "../../../kernels/wasm/lanes.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import type { LoadCommand, LoadedField } from "./cpu_commands.ts";

/** What a {@linkcode LaneSweep} works on. */
interface LaneSource
  extends
    Pick<LineWork, "ends" | "fields">,
    Pick<LoadedField, "memory">,
    Pick<LoadCommand, "layout" | "laneArrays"> {
  readonly exports: LineExports;
  readonly lanes: Lanes;
}

/** A line in lanes: its points come and go, and rows of it are made by one worker among others. */
export class LaneSweep {
  readonly #cells: FloatArray;
  readonly #precision: Precision;
  /** Makes a piece of each sub-step's row. */
  readonly #rows: readonly LineExports[`lanes${number}`][];
  /** For each image its place in a plane, its source's place, and the source's position. */
  readonly #images: Int32Array;

  constructor(private readonly source: LaneSource) {
    const { memory, exports, layout, lanes, ends, fields } = source;
    this.#precision = precisionOf(lanes);
    const { bytes, Values } = this.#precision;
    this.#cells = new Values(memory.buffer);
    this.#rows = fields.map((_, index) => exports[`lanes${index}`]!);
    this.#images = Int32Array.from(
      laneImages(lanes, layout.grid[2], ends).flatMap(({ to, from }) => {
        return [laneOffset(lanes, to) / bytes, laneOffset(lanes, from) / bytes, from.position];
      }),
    );
  }

  /** Copies vectors begin ≤ i < end of a plane from the line at `array`, a byte offset, to the lanes of a step. */
  toLanes(array: number, step: number, plane: number, begin: number, end: number): void {
    const cells = this.#cells, { lanes } = this.#precision;
    for (const { line, packed } of this.#lanesOf(array, step, plane)) {
      for (let i = begin; i < end; i++) cells[packed + lanes * i] = cells[line + i]!;
    }
  }

  /** And back. */
  fromLanes(array: number, step: number, plane: number, begin: number, end: number): void {
    const cells = this.#cells, { lanes } = this.#precision;
    for (const { line, packed } of this.#lanesOf(array, step, plane)) {
      for (let i = begin; i < end; i++) cells[line + i] = cells[packed + lanes * i]!;
    }
  }

  /** Where each lane's first point lies in the line and in the lanes. */
  #lanesOf(array: number, step: number, plane: number): { line: number; packed: number }[] {
    const { lanes, layout } = this.source, { bytes } = this.#precision;
    const first = array / bytes + layout.origin + plane * layout.plane;
    return lanes.starts.map((start, lane) => {
      const packed = this.#planeOf(step, plane) + laneOffset(lanes, { position: 0, lane }) / bytes;
      return { line: first + start, packed };
    });
  }

  /** Where a plane of a step's lanes begins. */
  #planeOf(step: number, plane: number): number {
    const { laneArrays: arrays, lanes } = this.source;
    return (arrays[step % 2]! + plane * lanes.plane) / this.#precision.bytes;
  }

  /** Renews those pads of a plane whose sources lie in begin ≤ i < end: another worker may be writing the others. */
  renew(step: number, plane: number, begin: number, end: number): void {
    const { lanes: { length } } = this.source, first = this.#planeOf(step, plane);
    const cells = this.#cells, images = this.#images;
    for (let i = 0; i < images.length; i += 3) {
      const position = images[i + 2]!, beyond = position - length;
      if ((position >= begin && position < end) || (beyond >= begin && beyond < end)) {
        cells[first + images[i]!] = cells[first + images[i + 1]!]!;
      }
    }
  }

  /** Makes the rows of a node's part: vectors below 0 lie at the lanes' other end. */
  sweep({ row, begin, end, move, count }: NodePart): void {
    const { fields, laneArrays: arrays, lanes: { length, pad } } = this.source;
    for (const last = row + count; row < last; row++, begin += move, end -= move) {
      const step = Math.ceil(row / fields.length), substep = (row - 1) % fields.length;
      const from = arrays[(step - 1) % 2]!, to = arrays[step % 2]!, make = this.#rows[substep]!;
      if (begin < 0) {
        make(from, to, begin + length, end < 0 ? end + length : length);
        make(from, to, 0, end);
      } else make(from, to, begin, end);
      if (begin <= pad || end >= length - pad) this.renew(step, fields[substep]!, begin, end);
    }
  }
}
