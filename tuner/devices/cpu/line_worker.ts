/**
 * What a CPU worker does on a line: its pieces of the rows, and the images of the line's ends in the pads. Classic works
 * in place; the swept rule copies the points to lanes, sweeps there, and copies them back. See `line_schedule.ts`.
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
  const lastField = fields.at(-1)!, lastRow = steps * fields.length;
  const begin = Math.floor(length * part / parts), end = Math.floor(length * (part + 1) / parts);
  exports.toLanes(arrays[0], even, lastField, begin, end);
  worker.meet();
  if (part === 0) exports.renew(even, lastField, 0, length);
  worker.meet();
  const sweep = ({ row, begin, end, move, count }: NodePart): void => {
    for (let done = 0; done < count;) {
      // both last rows one by one: two rows made in one pass leave the first unstored
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
  // both time levels; after a single step one of them is the start, already there
  for (const step of steps === 1 ? [steps] : [steps - 1, steps]) {
    for (const field of fields) {
      exports.fromLanes(arrays[step % 2]!, laneArrays[step % 2]!, field, begin, end);
    }
  }
}

function runClassic(worker: WorkerLine, { steps, arrays }: LineRun): void {
  const { memory, layout: { grid: [, , points], length }, line: { pad, fields }, exports, part, parts } =
    worker;
  // a view for each row would cost as much as a short row
  const levels = arrays.map((array) => ({ array, cells: new Float32Array(memory.buffer, array, length) }));
  const rows = fields.map((field, substep) => ({ field, make: exports[`row${substep}`]! }));
  if (part === 0) {
    // the pads may be stale: whoever wrote into the field need not know of them
    for (const { cells } of levels) for (const field of fields) renewPads(worker, field, cells, 0, points);
  }
  worker.meet();
  // a worker with fewer points than the pads would need its neighbour's for them
  const used = Math.max(1, Math.min(parts, Math.floor(points / (pad + 1))));
  const begin = Math.floor(points * part / used), end = Math.floor(points * (part + 1) / used);
  // point `pad` is the furthest that a pad is an image of
  const isAtEnd = begin <= pad || end >= points - pad;
  for (let step = 1; step <= steps; step++) {
    const current = levels[(step - 1) % 2]!, next = levels[step % 2]!;
    for (let substep = 0; substep < rows.length; substep++) {
      const { field, make } = rows[substep]!;
      if (part < used) {
        make(current.array, next.array, begin, end);
        if (isAtEnd) renewPads(worker, field, next.cells, begin, end);
      }
      if (step < steps || substep < rows.length - 1) worker.meet();
    }
  }
}

/** Renews those pads of a field whose sources lie in begin ≤ z < end: another worker may be writing the others. */
function renewPads(
  { layout: { grid: [, , points], origin, plane }, line: { pad, ends } }: WorkerLine,
  field: number,
  cells: Float32Array,
  begin: number,
  end: number,
): void {
  const low = origin + field * plane;
  for (const side of [-1, 1]) {
    const outermost = side < 0 ? 0 : points - 1;
    for (let k = 1; k <= pad; k++) {
      const to = outermost + side * k;
      const source = ends === "insulated" ? outermost - side * k : to - side * points;
      if (source >= begin && source < end) cells[low + to] = cells[low + source]!;
    }
  }
}
