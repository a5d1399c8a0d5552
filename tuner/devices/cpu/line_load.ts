/**
 * Which of the CPU's fields are lines, and how their workers share them.
 *
 * @module
 */
import type { Layout } from "../../../kernels/layout.ts";
import type { Boundary } from "../../../kernels/stencils/stencil.ts";
import { lineShape, refuseSweep } from "../../../kernels/traversals/line.ts";
import { planesOf, reachOf, type Update } from "../../../kernels/update.ts";
import { layLanes } from "../../../kernels/wasm/lanes.ts";
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
  const reason = refuseSweep({ stencil: { update }, grid, boundary });
  if (reason !== undefined) {
    if (boundary !== "insulated" && nodePoints === 0) return undefined;
    throw new RangeError(`Cannot compute the field as a line: ${reason}`);
  }
  const { reach } = lineShape(update);
  const line = {
    reach,
    pad: reachOf(update).z,
    fields: update.substeps.map(([{ field }]) => field),
    ends: boundary === "insulated" ? "insulated" : "periodic",
  } as const;
  if (nodePoints === 0) return line;
  const lanes = layLanes(grid[2], { reach: line.pad, planes: planesOf(update) });
  const count = Math.ceil(Math.max(1, Math.round(grid[2] / nodePoints)) / workers) * workers;
  const nodes = cutLine(lanes.length, { nodes: count, reach, overlap: lanes.overlap });
  // lanes too short for nodes that have rows, or for what the pads show of them: like classic
  return nodes.rows < 1 || lanes.length <= line.pad ? line : { ...line, swept: { lanes, nodes } };
}
