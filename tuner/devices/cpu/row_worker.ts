import {
  type CpuRun,
  forEachImage,
  type Rows,
  shareRows,
  stepwiseOrder,
} from "../../../kernels/cpu/cpu_order.ts";
import { diamondOrder } from "../../../kernels/cpu/diamond_order.ts";
import type { LineWork } from "../../../kernels/cpu/line_order.ts";
import { precisionOf } from "../../../kernels/precision.ts";
import { isAllZero } from "../../../kernels/stencils/stencil.ts";
import { reachOf } from "../../../kernels/update.ts";
import type { CpuWork, LoadedField, RunCommand } from "./cpu_commands.ts";

/** Advances a worker's share of a grid's rows, in strips or diamonds, and the images of its ends in the pads. */
export function runRows(field: LoadedField, command: RunCommand, work: Exclude<CpuWork, LineWork>): void {
  const { load, exports, barrier, part, parts } = field;
  const { layout: { grid: [nx, ny], length }, boundaries, update, update: { materials } } = load;
  const { Values } = precisionOf(update);
  const { steps, arrays, shrink: [low, high], signals, points } = command;
  const [alongX, alongY] = boundaries;
  const { x, y } = reachOf(update);
  const around = { grid: [nx, ny], boundaries: [alongX, alongY], reach: [x, y] } as const;
  const fillImages = (array: number, rows: Rows): void => {
    if (alongX === "zero" && alongY === "zero") return;
    forEachImage(rows, around, ({ x0, x1, y0, y1 }) => exports.copyRows(array, x0, x1, y0, y1));
  };
  if (!isAllZero(boundaries)) {
    // whoever wrote into the field since the last run need not have known of the pads
    for (const rows of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], field)) {
      // materials lie in both levels, and no step fills their pads
      for (const array of arrays.slice(0, materials.length > 0 ? 2 : 1)) {
        exports.wrapRows(array, rows.x0, rows.x1, rows.y0, rows.y1);
        fillImages(array, rows);
      }
    }
    barrier.wait();
  }
  const substepReach = update.substeps.map((substep) => reachOf(substep).x), substeps = substepReach.length;
  const lostIn = (count: number): number =>
    substepReach.slice(0, count).reduce((sum, slices) => sum + slices, 0);
  /** Slices at each ghosted end that are no longer known once the level is reached. */
  const lostAt = (level: number): number =>
    Math.floor(level / substeps) * lostIn(substeps) + lostIn(level % substeps + 1);
  const slicesAt: CpuRun["slicesAt"] = low || high
    ? (level) => [low ? lostAt(level) : 0, nx - (high ? lostAt(level) : 0)]
    : () => [0, nx];
  const run = { ...around, part, parts, levels: steps * substeps, slicesAt };
  const levels = points === undefined
    ? []
    : arrays.map((array) => new Values(field.memory.buffer, array, length));
  const kernels = substepReach.map((_, index) => exports[`step${index}`]!);
  const order = "strip" in work ? stepwiseOrder(run, work) : diamondOrder(run, work);
  for (let round = 0; round < order.rounds; round++) {
    if (round > 0) barrier.wait();
    order.visitRound(round, (level, rows) => {
      const step = Math.floor(level / substeps);
      const current = arrays[step % 2]!, next = arrays[1 - step % 2]!;
      kernels[level % substeps]!(current, next, signals[step] ?? 0, rows.x0, rows.x1, rows.y0, rows.y1);
      if (points !== undefined) {
        const made = { substep: level % substeps, step, level: levels[1 - step % 2]!, rows };
        field.points!.visit(made, points, (x, y) => exports.wrapRows(next, x, x + 1, y, y + 1));
      }
      fillImages(next, rows);
    });
  }
}
