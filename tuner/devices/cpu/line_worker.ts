import { pieceOf } from "../../../kernels/cpu/cpu_order.ts";
import { type LineWork, partsOf } from "../../../kernels/cpu/line_order.ts";
import { type FloatArray, precisionOf } from "../../../kernels/precision.ts";
import { rowImages } from "../../../kernels/wasm/rows.ts";
import type { LoadedField, RunCommand } from "./cpu_commands.ts";
import { LaneSweep } from "./lane_sweep.ts";

/**
 * Advances a line: a worker's pieces of the rows, and the images of the line's ends in the pads. Classic works in place;
 * the swept rule copies the points to lanes, sweeps there, and copies them back. See `kernels/cpu/line_order.ts`.
 */
export function runLine(field: LoadedField, run: RunCommand, line: LineWork): void {
  if (run.steps === 0) return;
  if (line.swept === undefined) runClassic(field, run, line);
  else runSwept(field, run, line, line.swept);
}

function runSwept(
  field: LoadedField,
  { steps, arrays }: RunCommand,
  line: LineWork,
  { lanes, nodes: { even, odd, rows } }: Required<LineWork>["swept"],
): void {
  const { barrier, part, parts } = field, { reach, fields } = line, { length } = lanes;
  const lastField = fields.at(-1)!, lastRow = steps * fields.length;
  const swept = new LaneSweep({ ...field, ...field.load, ...line, lanes });
  const [begin, end] = pieceOf(length, { part, parts });
  swept.toLanes(arrays[0], 0, lastField, begin, end);
  barrier.wait();
  if (part === 0) swept.renew(0, lastField, 0, length);
  barrier.wait();
  const [first, last] = pieceOf(even.length, { part, parts });
  for (let phase = 0; (phase - 1) * rows < lastRow; phase++) {
    if (phase > 0) barrier.wait();
    for (const node of (phase % 2 === 0 ? even : odd).slice(first, last)) {
      for (const part of partsOf(node, { rows, phase, lastRow, reach })) swept.sweep(part);
    }
  }
  barrier.wait();
  // both time levels; after a single step one of them is the start, already there
  for (const step of steps === 1 ? [steps] : [steps - 1, steps]) {
    for (const field of fields) swept.fromLanes(arrays[step % 2]!, step, field, begin, end);
  }
}

function runClassic(
  { load: { layout }, exports, memory, barrier, part, parts }: LoadedField,
  { steps, arrays }: RunCommand,
  { pad, fields, ends }: LineWork,
): void {
  const { grid: [, , points], origin, plane, length } = layout, { Values } = precisionOf(layout);
  // a view for each row would cost as much as a short row
  const levels = arrays.map((array) => ({ array, cells: new Values(memory.buffer, array, length) }));
  const rows = fields.map((field, substep) => {
    return { first: origin + field * plane, make: exports[`row${substep}`]! };
  });
  const images = rowImages(points, pad, ends);
  /** Renews those pads of a row whose sources lie in begin ≤ z < end: another worker may be writing the others. */
  const renew = (cells: FloatArray, first: number, begin: number, end: number): void => {
    for (const { to, from } of images) {
      if (from >= begin && from < end) cells[first + to] = cells[first + from]!;
    }
  };
  if (part === 0) {
    // the pads may be stale: whoever wrote into the field need not know of them
    for (const { cells } of levels) for (const { first } of rows) renew(cells, first, 0, points);
  }
  barrier.wait();
  // a worker with fewer points than the pads would need its neighbour's for them
  const used = Math.max(1, Math.min(parts, Math.floor(points / (pad + 1))));
  const [begin, end] = pieceOf(points, { part, parts: used });
  // point `pad` is the furthest that a pad is an image of
  const isAtEnd = begin <= pad || end >= points - pad;
  for (let step = 1; step <= steps; step++) {
    const current = levels[(step - 1) % 2]!, next = levels[step % 2]!;
    for (let substep = 0; substep < rows.length; substep++) {
      const { first, make } = rows[substep]!;
      if (part < used) {
        make(current.array, next.array, begin, end);
        if (isAtEnd) renew(next.cells, first, begin, end);
      }
      if (step < steps || substep < rows.length - 1) barrier.wait();
    }
  }
}
