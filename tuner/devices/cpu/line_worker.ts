/**
 * What a CPU worker does on a line: its pieces of the rows, and the images of the line's ends in the pads. Classic works
 * where the points lie; the swept rule carries them to lanes, sweeps there, and carries them back. See
 * `line_schedule.ts`.
 *
 * @module
 */
import type { Layout } from "../../../kernels/layout.ts";
import type { LaneExports } from "../../../kernels/wasm/write_lanes.ts";
import type { Lanes } from "../../../kernels/wasm/lanes.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import { type LineNodes, type NodePart, partsOf } from "./line_schedule.ts";

/** How a line is computed; part of what loads a field. */
export interface LineLoad {
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** Points beyond the line's ends that taps read: more, where they do so several rows back. */
  readonly pad: number;
  /** Index of the field that each sub-step makes. */
  readonly fields: readonly number[];
  readonly ends: "insulated" | "periodic";
  /** The lanes, and the nodes of each; undefined: classic. */
  readonly swept?: { readonly lanes: Lanes; readonly nodes: LineNodes };
}

/** A line as a worker sees it. */
export interface WorkerLine {
  readonly layout: Layout;
  readonly line: LineLoad;
  /** Byte offsets of the lanes at even and odd steps of a run. */
  readonly laneArrays: readonly [number, number];
  readonly exports: LineExports;
  readonly memory: WebAssembly.Memory;
  readonly part: number;
  readonly parts: number;
  /** Waits for all workers. */
  meet(): void;
}

/** A run of some steps: byte offsets of the arrays of F(t), and of F(t−1), to be overwritten. */
export interface LineRun {
  readonly steps: number;
  readonly arrays: readonly [number, number];
}

/** Advances a line. */
export function runLine(worker: WorkerLine, run: LineRun): void {
  const { swept } = worker.line;
  if (run.steps === 0) return;
  if (swept === undefined) runClassic(worker, run);
  else runSwept({ ...worker, exports: worker.exports as Required<LaneExports> }, run, swept);
}

function runSwept(
  worker: Omit<WorkerLine, "exports"> & { readonly exports: LaneExports },
  { steps, arrays }: LineRun,
  { lanes: { length }, nodes: { even: evenNodes, odd: oddNodes, rows } }: Required<LineLoad>["swept"],
): void {
  const { line: { reach, fields }, laneArrays, exports, part, parts } = worker;
  const [even, odd] = laneArrays;
  const lastField = fields[fields.length - 1], lastRow = steps * fields.length;
  const begin = Math.floor(length * part / parts), end = Math.floor(length * (part + 1) / parts);
  exports.toLanes(arrays[0], even, lastField, begin, end);
  worker.meet();
  if (part === 0) exports.renew(even, lastField, 0, length);
  worker.meet();
  const sweep = ({ row, begin, end, move, count }: NodePart): void => {
    for (let done = 0; done < count;) {
      // the last but one by itself: the first of two rows made in one pass would not be stored
      const most = Math.max(1, Math.min(count - done, lastRow - 1 - row - done));
      exports.sweep(even, odd, row + done, begin + done * move, end - done * move, move, most);
      done += most;
    }
  };
  const first = Math.floor(evenNodes.length * part / parts),
    last = Math.floor(evenNodes.length * (part + 1) / parts);
  for (let phase = 0; (phase - 1) * rows < lastRow; phase++) {
    if (phase > 0) worker.meet();
    for (const node of (phase % 2 === 0 ? evenNodes : oddNodes).slice(first, last)) {
      for (const part of partsOf(node, { rows, phase, lastRow, reach })) sweep(part);
    }
  }
  worker.meet();
  // both time levels, of which one is what the run began with after a single step
  for (const step of steps === 1 ? [steps] : [steps - 1, steps]) {
    for (const field of fields) {
      exports.fromLanes(arrays[step % 2], laneArrays[step % 2], field, begin, end);
    }
  }
}

function runClassic(worker: WorkerLine, { steps, arrays }: LineRun): void {
  const { layout: { grid: [, , points] }, line: { pad, fields }, part, parts } = worker;
  const rows = new RowMaker(worker, arrays);
  // whoever wrote into the field need not have known of the pads
  if (part === 0) rows.renewAll();
  worker.meet();
  // a worker whose points are fewer than the pads would need its neighbour's for them
  const used = Math.max(1, Math.min(parts, Math.floor(points / (pad + 1))));
  const begin = Math.floor(points * part / used), end = Math.floor(points * (part + 1) / used);
  const lastRow = steps * fields.length;
  for (let row = 1; row <= lastRow; row++) {
    if (part < used) rows.make(row, { begin, end });
    if (row < lastRow) worker.meet();
  }
}

/** Points of a row, `begin` ≤ z < `end`. */
interface Range {
  readonly begin: number;
  readonly end: number;
}

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

  /** Makes points of row 1, 2, … */
  make(row: number, made: Range): void {
    const { layout: { grid: [, , points] }, line: { fields, pad } } = this.#worker;
    const substep = (row - 1) % fields.length, next = Math.floor((row - 1) / fields.length + 1) % 2;
    this.#substeps[substep](this.#arrays[1 - next], this.#arrays[next], made.begin, made.end);
    // cell `pad` is the furthest in the pads
    if (made.begin <= pad || made.end >= points - pad) this.#renew(next, fields[substep], made);
  }

  /** Renews the pads of all fields in both arrays. */
  renewAll(): void {
    const { layout: { grid }, line: { fields } } = this.#worker;
    for (const array of [0, 1]) {
      for (const field of fields) this.#renew(array, field, { begin: 0, end: grid[2] });
    }
  }

  /**
   * Renews the pads from those of their sources that were made: another worker may be at the others just now.
   */
  #renew(array: number, field: number, { begin, end }: Range): void {
    const { layout: { grid: [, , points], origin, plane }, line: { pad, ends } } = this.#worker;
    const cells = this.#cells[array], low = origin + field * plane;
    for (const side of [-1, 1]) {
      const outermost = side < 0 ? 0 : points - 1;
      for (let k = 1; k <= pad; k++) {
        const to = outermost + side * k;
        const source = ends === "insulated" ? outermost - side * k : to - side * points;
        if (source >= begin && source < end) cells[low + to] = cells[low + source];
      }
    }
  }
}
