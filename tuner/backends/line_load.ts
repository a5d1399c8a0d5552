/**
 * Which of the CPU's fields are lines, and how their workers share them.
 *
 * @module
 */
import type { Layout } from "../../kernels/layout.ts";
import type { Boundary } from "../../kernels/stencils/stencil.ts";
import { lineShape, refuseSweep } from "../../kernels/traversals/line.ts";
import { planesOf, reachOf, type Update } from "../../kernels/update.ts";
import { layLanes } from "../../kernels/wasm/lanes.ts";
import { cutLine } from "./line_schedule.ts";
import type { LineLoad } from "./line_worker.ts";

/**
 * How a field is computed as a line.
 *
 * @param field what is loaded; `nodePoints` 0: classic
 * @param workers threads: every one has as many nodes
 * @returns undefined where it is none: then it is computed as boxes of rows
 * @throws {RangeError} where it should be one and cannot
 */
export function lineLoad(
  { update, layout: { grid }, boundary, nodePoints }: {
    readonly update: Update;
    readonly layout: Layout;
    readonly boundary: Boundary;
    readonly nodePoints: number;
  },
  workers: number,
): LineLoad | undefined {
  const reason = refuseSweep({ update, grid, boundary });
  if (reason !== undefined) {
    if (boundary !== "insulated" && nodePoints === 0) return undefined;
    throw new RangeError(`Cannot compute the field as a line: ${reason}`);
  }
  const { reach } = lineShape(update);
  const line = {
    reach,
    fields: update.substeps.map(([{ field }]) => field),
    ends: boundary === "insulated" ? "insulated" : "periodic",
  } as const;
  if (nodePoints === 0) return line;
  const lanes = layLanes(grid[2], { reach: reachOf(update).z, planes: planesOf(update) });
  const nodes = Math.ceil(Math.max(1, Math.round(grid[2] / nodePoints)) / workers) * workers;
  const cut = cutLine(lanes.length, { nodes, reach, overlap: lanes.overlap });
  // a line too short for nodes that have rows is computed like classic
  return cut.rows < 1 ? line : { ...line, swept: { lanes, nodes } };
}
