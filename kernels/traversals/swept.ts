/**
 * The swept rule with workgroup memory (Magee, Niemeyer, §IV): a workgroup is a node, whose rows lie in workgroup
 * memory, one barrier a row. Phases, edges and the split node: `swept_plan.ts`.
 *
 * **Few rows are kept** (two for heat, as in the paper's Fig. 2): a row takes the place of the one R rows before, and
 * because rows shrink, the ends of all rows of a triangle survive in R rows. A diamond begins by laying the
 * neighbours' edges there, where its valley's rows find them.
 *
 * **Insulated ends** cut through the middle of the split node, and lie at the outer sides of the first and the last
 * node of even phases. Threads beside them read other points than their neighbours: every thread computes the indices
 * that it reads once, before the first row.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { tapsOf } from "../update.ts";
import type { Layout } from "../layout.ts";
import { asLine, lineShape, refuseSweep } from "./line.ts";
import {
  dispatchPhases,
  type Nodes,
  nodesOf,
  nodeWorkgroups,
  PHASE_KINDS,
  phasesOf,
  refuseNodes,
  SWEPT_STEPS,
  sweptLayout,
} from "./swept_plan.ts";
import { rowsPerTurn, sweptShader } from "./swept_shader.ts";
import type { DeviceLimits, Traversal } from "./traversal.ts";
import { exceededLimit, powersOfTwo } from "./workgroup_limits.ts";

/** One dispatch a phase; threads a workgroup, points a thread and steps a dispatch are to choose. */
export const swept: Traversal = {
  name: "swept",
  title: "the swept rule, nodes in workgroup memory",
  dimensions: 1,
  refuse: (problem) => refuseSweep(asLine(problem)),
  parameterLists: (_, limits) => ({
    threads: sweptThreads(limits),
    points: [1, 2, 4, 8],
    steps: SWEPT_STEPS,
  }),
  infeasible(problem, { threads, points, steps }, limits) {
    const shape = lineShape(problem.stencil.update);
    const node = threads * points;
    const reason = refuseNodes(problem, {
      points: node,
      steps,
      unit: rowsPerTurn(problem.stencil) / shape.substeps,
    });
    if (reason !== undefined) return reason;
    const nodes = nodesOf(problem, { points: node, steps });
    return exceededLimit(limits, {
      layout: nodeLayout(problem, nodes),
      workgroup: [threads, 1, 1],
      workgroupBytes: 4 * shape.rows * (node + 2 * shape.reach),
      workgroups: nodeWorkgroups(nodes.count),
    });
  },
  demand(problem, { threads, points, steps }) {
    const { update } = problem.stencil;
    const shape = lineShape(update);
    const node = threads * points;
    const nodes = nodesOf(problem, { points: node, steps });
    const taps = update.substeps.reduce((sum, substep) => sum + tapsOf(substep).length, 0);
    return {
      // two edges and a flat are read and written for every hexagon
      bytesPerUpdate: 4 * (4 * shape.edge * nodes.rows + 2 * nodes.flat) / (nodes.pitch * steps),
      redundancy: 1,
      registersPerThread: 20 + points * (2 * shape.reach + 2),
      threadsPerWorkgroup: threads,
      workgroupBytes: 4 * shape.rows * (node + 2 * shape.reach),
      workgroupsPerDispatch: nodes.count,
      dispatchesPerStep: 1 / steps,
      // half of the threads wait while the rows of a triangle shrink
      exchangesPerUpdate: 2 * (taps + shape.substeps),
    };
  },
  plan(problem, parameters) {
    const { update } = problem.stencil;
    const { threads, points } = parameters;
    const nodes = nodesOf(problem, { points: threads * points, steps: parameters.steps });
    const layout = nodeLayout(problem, nodes);
    return {
      label: `swept ${threads}x${points}, ${parameters.steps} steps, on ${problem.grid[2]}`,
      layout,
      shaders: PHASE_KINDS.map((kind) => sweptShader(problem, kind, parameters)),
      dispatches(steps, start) {
        const phases = phasesOf({ update, nodes, layout, steps, rowsAbove: nodes.flat > 0 ? 1 : 0 });
        return dispatchPhases(phases, { count: nodes.count, end: start + steps });
      },
    };
  },
};

/** Threads a workgroup to try: powers of two from 32 to 1024, and 96, 192, 384, whose hexagons fit powers of two. */
export function sweptThreads(limits: DeviceLimits): number[] {
  const most = Math.min(1024, limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  return [...powersOfTwo(32, 1024), 96, 192, 384].filter((threads) => threads <= most);
}

/** The line, and each region's two edges of all nodes and their flats. */
export function nodeLayout(problem: Problem, { count, rows, flat }: Nodes): Layout {
  return sweptLayout(problem, count * (2 * rows * lineShape(problem.stencil.update).edge + flat));
}
