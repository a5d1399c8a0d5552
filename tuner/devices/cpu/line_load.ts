import type { Layout } from "../../../kernels/layout.ts";
import type { Boundaries } from "../../../kernels/stencils/stencil.ts";
import { hasInsulatedEnds, lineShape, madeBy, refuseSweep } from "../../../kernels/traversals/line.ts";
import { planesOf, reachOf, type Update } from "../../../kernels/update.ts";
import { layLanes } from "../../../kernels/wasm/lanes.ts";
import { cutLine } from "./line_schedule.ts";
import type { LineLoad } from "./line_worker.ts";

/**
 * How a field is computed as a line.
 *
 * @param field what is loaded; `nodePoints` 0 means classic
 * @param workers threads, which all have the same number of nodes
 * @returns undefined if it is not a line but boxes of rows
 * @throws {RangeError} if it must be a line and cannot
 */
export function lineLoad(
  { update, layout: { grid }, boundary, nodePoints }: {
    readonly update: Update;
    readonly layout: Layout;
    readonly boundary: Boundaries;
    readonly nodePoints: number;
  },
  workers: number,
): LineLoad | undefined {
  const reason = refuseSweep({ stencil: { update }, grid, boundary });
  if (reason !== undefined) {
    if (nodePoints === 0) return undefined;
    throw new RangeError(`Cannot compute the field as a line: ${reason}`);
  }
  const { reach } = lineShape(update);
  const line = {
    reach,
    pad: reachOf(update).z,
    fields: update.substeps.map((_, index) => madeBy(update, index).field),
    ends: hasInsulatedEnds({ boundary }) ? "insulated" : "periodic",
  } as const;
  if (nodePoints === 0) return line;
  const lanes = layLanes(grid[2], { reach: line.pad, planes: planesOf(update) });
  const count = Math.ceil(Math.max(1, Math.round(grid[2] / nodePoints)) / workers) * workers;
  const nodes = cutLine(lanes.length, { nodes: count, reach, overlap: lanes.overlap });
  // lanes too short for nodes with rows, or for what the pads hold of them: classic
  return nodes.rows < 1 || lanes.length <= line.pad ? line : { ...line, swept: { lanes, nodes } };
}
