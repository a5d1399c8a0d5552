/**
 * What a CPU worker does on a line: its pieces of the rows, and the images of the line's ends in the pads. See
 * `line_schedule.ts`.
 *
 * @module
 */
import type { LineExports } from "../../kernels/wasm/write_line.ts";
import type { Layout } from "../../kernels/layout.ts";
import { cutLine, type NodePart, partsOf } from "./line_schedule.ts";

/** How a line is computed; part of what loads a field. */
export interface LineLoad {
  /** Nodes that the swept rule cuts it into; 0: classic. */
  readonly nodes: number;
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** Index of the field that each sub-step makes. */
  readonly fields: readonly number[];
  readonly ends: "insulated" | "periodic";
}

/** A line as a worker sees it. */
export interface WorkerLine {
  readonly layout: Layout;
  readonly line: LineLoad;
  readonly exports: LineExports;
  readonly memory: WebAssembly.Memory;
  readonly part: number;
  readonly parts: number;
  /** Waits for all workers. */
  meet(): void;
}

/** Advances a line by `steps`; arrays as in `RunCommand`. */
export function runLine(
  worker: WorkerLine,
  { steps, arrays }: { readonly steps: number; readonly arrays: readonly [number, number] },
): void {
  const rows = new RowMaker(worker, arrays);
  // whoever wrote into the field need not have known of the pads
  if (worker.part === 0) rows.renewAll();
  worker.meet();
  const { layout: { grid: [, , points] }, line: { nodes, reach, fields }, part, parts } = worker;
  const lastRow = steps * fields.length;
  const cut = nodes > 0 ? cutLine(points, { nodes, reach }) : undefined;
  if (cut === undefined || cut.rows < 1) {
    // a worker whose points are fewer than the pads would need its neighbour's for them
    const used = Math.max(1, Math.min(parts, Math.floor(points / (reach + 1))));
    const first = Math.floor(points * part / used), end = Math.floor(points * (part + 1) / used);
    for (let row = 1; row <= lastRow; row++) {
      if (part < used) rows.make(row, first, end);
      if (row < lastRow) worker.meet();
    }
    return;
  }
  const first = Math.floor(nodes * part / parts), end = Math.floor(nodes * (part + 1) / parts);
  for (let phase = 0; (phase - 1) * cut.rows < lastRow; phase++) {
    if (phase > 0) worker.meet();
    for (const node of (phase % 2 === 0 ? cut.even : cut.odd).slice(first, end)) {
      for (const part of partsOf(node, { rows: cut.rows, phase, lastRow, reach })) rows.makePart(part);
    }
  }
}

/** Points of a row, `begin` ≤ z < `end`; those below 0 lie at the line's other end. */
interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Points of the second row of a pair that are worth a pass of their own. */
const LEAST_PASS = 32;

/** Makes pieces of rows, and keeps the pads what the line's ends say. */
class RowMaker {
  readonly #worker: WorkerLine;
  readonly #arrays: readonly [number, number];
  readonly #cells: readonly Float32Array[];
  readonly #substeps: LineExports[`row${number}`][];

  constructor(worker: WorkerLine, arrays: readonly [number, number]) {
    this.#worker = worker;
    this.#arrays = arrays;
    const { memory, layout, exports, line } = worker;
    this.#cells = arrays.map((array) => new Float32Array(memory.buffer, array, layout.length));
    this.#substeps = line.fields.map((_, index) => exports[`row${index}`]);
  }

  /** Makes points `first` ≤ z < `end` of row 1, 2, …; those below 0 lie at the line's other end. */
  make(row: number, first: number, end: number): void {
    if (first >= end) return;
    const { layout: { grid: [, , points] }, line: { fields } } = this.#worker;
    const substep = (row - 1) % fields.length, next = Math.floor((row - 1) / fields.length + 1) % 2;
    const current = this.#arrays[1 - next], made = this.#arrays[next], write = this.#substeps[substep];
    if (first < 0) {
      write(current, made, points + first, points + Math.min(0, end));
      if (end > 0) write(current, made, 0, end);
    } else {
      write(current, made, first, end);
    }
    this.#renewAt(row, first, end);
  }

  /** Renews the pads that points `first` ≤ z < `end` of a row are images in. */
  #renewAt(row: number, first: number, end: number): void {
    const { layout: { grid: [, , points] }, line: { ends, reach, fields } } = this.#worker;
    const field = fields[(row - 1) % fields.length], array = Math.floor((row - 1) / fields.length + 1) % 2;
    // only the ends that were made: another worker may be at the other one, cell `reach` is the furthest in the pads
    const atLow = first <= reach && end > 0, atHigh = first < 0 || end >= points - reach;
    if (ends === "insulated" ? atLow : atHigh) this.#renew(array, field, { side: -1, first, end });
    if (ends === "insulated" ? atHigh : atLow) this.#renew(array, field, { side: 1, first, end });
  }

  /** Makes a valley or a triangle, two rows at a time as far as that is possible. */
  makePart({ row, begin, end, move, count }: NodePart): void {
    const { exports: { pairs, pairsAcross }, layout: { grid: [, , points] } } = this.#worker;
    // rows of even steps lie in the first array, and a pair's first row has an odd number
    const [current, next] = this.#arrays;
    for (let i = 0; i < count;) {
      const first = { begin: begin + i * move, end: end - i * move };
      const most = pairs === undefined || (row + i) % 2 === 0 ? 0 : Math.floor((count - i) / 2);
      const clear = this.#pairsWithin(first, { move, most, isAcross: false });
      const across = clear > 0 ? 0 : this.#pairsWithin(first, { move, most, isAcross: true });
      if (clear > 0) {
        const low = first.begin < 0 ? first.begin + points : first.begin;
        pairs!(current, next, low, low + first.end - first.begin, move, clear);
      } else if (across > 0) {
        pairsAcross!(current, next, points + first.begin, first.end, move, across);
      } else {
        this.make(row + i, first.begin, first.end);
      }
      i += Math.max(1, 2 * (clear + across));
    }
  }

  /** How many pairs, from this first row on, are wide enough and lie clear of the line's ends, or well across them. */
  #pairsWithin(
    { begin, end }: Range,
    { move, most, isAcross }: { readonly move: number; readonly most: number; readonly isAcross: boolean },
  ): number {
    const { layout: { grid: [, , points] }, line: { reach } } = this.#worker;
    const margin = reach + 1, least = LEAST_PASS + 4 * reach;
    const isRight = (pairs: number): boolean =>
      [2 * pairs - 2, 2 * pairs - 1].every((row) => {
        const from = begin + row * move, to = end - row * move;
        if (isAcross) return from <= -least && to >= least;
        const isInside = (from >= margin && to <= points - margin) ||
          (from >= margin - points && to <= -margin);
        return isInside && to - from >= least;
      });
    // rows move one way: where the first and the last pair are right, so are those between
    if (most < 1 || !isRight(1)) return 0;
    let low = 1, high = most;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isRight(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Renews the pads of all fields in both arrays. */
  renewAll(): void {
    const { layout } = this.#worker;
    for (const array of [0, 1]) {
      for (const field of this.#worker.line.fields) {
        for (const side of [-1, 1]) this.#renew(array, field, { side, first: 0, end: layout.grid[2] });
      }
    }
  }

  /**
   * Renews the pad below (side −1) or above (side 1) the line from those cells that it is an image of and that
   * `first` ≤ z < `end` holds: another worker may be at the others just now.
   */
  #renew(
    array: number,
    field: number,
    { side, first, end: last }: { readonly side: number; readonly first: number; readonly end: number },
  ): void {
    const { layout: { grid: [, , points], origin, plane }, line: { reach, ends } } = this.#worker;
    const cells = this.#cells[array];
    const low = origin + field * plane, end = side < 0 ? low : low + points - 1;
    for (let k = 1; k <= reach; k++) {
      const to = end + side * k;
      const source = ends === "insulated" ? end - side * k : to - side * points, z = source - low;
      const isMade = (z >= first && z < last) || (z - points >= first && z - points < last);
      if (isMade) cells[to] = cells[source];
    }
  }
}
