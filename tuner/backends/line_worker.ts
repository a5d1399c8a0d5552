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
  /** E: outermost points of a row that a neighbour needs. */
  readonly edge: number;
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
    if (ends === "insulated" ? atLow : atHigh) this.#renew(array, field, -1);
    if (ends === "insulated" ? atHigh : atLow) this.#renew(array, field, 1);
  }

  /** Makes a valley or a triangle, two rows at a time as far as that is possible. */
  makePart({ row, begin, end, move, count }: NodePart): void {
    const { exports: { pair, pairs }, layout: { grid: [, , points] } } = this.#worker;
    for (let i = 0; i < count;) {
      const first = { begin: begin + i * move, end: end - i * move };
      if (pair === undefined || i + 1 >= count || (row + i) % 2 === 0) {
        this.make(row + i, first.begin, first.end);
        i++;
        continue;
      }
      const many = this.#pairsWithin(first, move, Math.floor((count - i) / 2));
      if (many > 0) {
        // rows of even steps lie in the first array, and a pair's first row has an odd number
        const [current, next] = this.#arrays;
        const low = first.begin < 0 ? first.begin + points : first.begin;
        pairs!(current, next, low, low + first.end - first.begin, move, many);
        i += 2 * many;
        continue;
      }
      this.makePair(row + i + 1, first, { begin: first.begin + move, end: first.end - move });
      i += 2;
    }
  }

  /** How many pairs, from this first row on, lie clear of the line's ends and are wide enough. */
  #pairsWithin({ begin, end }: Range, move: number, most: number): number {
    const { layout: { grid: [, , points] }, line: { reach } } = this.#worker;
    const margin = reach + 1;
    const isClear = (pairs: number): boolean =>
      [2 * pairs - 2, 2 * pairs - 1].every((row) => {
        const from = begin + row * move, to = end - row * move;
        const isInside = (from >= margin && to <= points - margin) ||
          (from >= margin - points && to <= -margin);
        return isInside && to - from >= LEAST_PASS + 4 * reach;
      });
    // rows move one way: where the first and the last pair are clear, so are those between
    if (most < 1 || !isClear(1)) return 0;
    let low = 1, high = most;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isClear(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * Makes two rows, the second of which is `row`. Of the first only what is needed later is stored: the ends, for the
   * neighbours, and what the second one's ends read.
   */
  makePair(row: number, first: Range, second: Range): void {
    const { layout: { grid: [, , points] } } = this.#worker;
    if (first.begin < 0 && first.end <= 0) {
      return this.#makePiece(row, shift(first, points), shift(second, points));
    }
    if (Math.min(first.begin, second.begin) >= 0 && Math.max(first.end, second.end) <= points) {
      return this.#makePiece(row, first, second);
    }
    // across the line's ends: both sides' first rows before any second one, which reads the pads
    const { reach, edge } = this.#worker.line;
    const width = Math.max(edge, 2 * reach);
    const inner = {
      begin: Math.max(first.begin + reach, second.begin),
      end: Math.min(first.end - reach, second.end),
    };
    const low = { begin: reach, end: inner.end }, high = { begin: points + inner.begin, end: points - reach };
    if (low.end - low.begin < LEAST_PASS || high.end - high.begin < LEAST_PASS) {
      this.make(row - 1, first.begin, first.end);
      return this.make(row, second.begin, second.end);
    }
    this.make(row - 1, first.begin, first.begin + width);
    this.make(row - 1, first.end - width, first.end);
    this.make(row - 1, -width, width);
    this.#pass(row, low);
    this.#pass(row, high);
    this.make(row, second.begin, inner.begin);
    this.make(row, inner.end, second.end);
    this.make(row, -reach, reach);
  }

  #makePiece(row: number, first: Range, second: Range): void {
    const { reach, edge } = this.#worker.line;
    const width = Math.max(edge, 2 * reach);
    const begin = Math.max(first.begin + reach, second.begin), end = Math.min(first.end - reach, second.end);
    if (end - begin < LEAST_PASS) {
      this.make(row - 1, first.begin, first.end);
      return this.make(row, second.begin, second.end);
    }
    this.make(row - 1, first.begin, first.begin + width);
    this.make(row - 1, first.end - width, first.end);
    this.#pass(row, { begin, end });
    this.make(row, second.begin, begin);
    this.make(row, end, second.end);
    this.#renewAt(row, begin, end);
  }

  #pass(row: number, { begin, end }: Range): void {
    const { exports, line: { fields } } = this.#worker;
    // the step from whose row the pair is made
    const current = Math.floor((row - 2) / fields.length) % 2;
    exports.pair!(this.#arrays[current], this.#arrays[1 - current], begin, end);
  }

  /** Renews the pads of all fields in both arrays. */
  renewAll(): void {
    for (const array of [0, 1]) {
      for (const field of this.#worker.line.fields) {
        for (const side of [-1, 1]) this.#renew(array, field, side);
      }
    }
  }

  /** Renews the pad below (side −1) or above (side 1) the line from the cells that it is an image of. */
  #renew(array: number, field: number, side: number): void {
    const { layout: { grid: [, , points], origin, plane }, line: { reach, ends } } = this.#worker;
    const cells = this.#cells[array];
    const low = origin + field * plane, end = side < 0 ? low : low + points - 1;
    for (let k = 1; k <= reach; k++) {
      const to = end + side * k;
      cells[to] = cells[ends === "insulated" ? end - side * k : to - side * points];
    }
  }
}

function shift({ begin, end }: Range, points: number): Range {
  return { begin: begin + points, end: end + points };
}
