/**
 * The swept rule in workgroup memory (Magee, Niemeyer, §IV): a workgroup computes a node, with one barrier a row.
 * Phases, edges and the split node: `swept_plan.ts`.
 *
 * **Few rows are kept** (two for heat, as in the paper's Fig. 2): each row overwrites the one R rows before. Rows
 * shrink, so the ends of all rows of a triangle survive in R rows. A diamond begins by loading the neighbours' edges
 * to where its valley's rows read them.
 *
 * **Insulated ends** cut through the middle of the split node, and in even phases lie at the outer sides of the first
 * and the last node. Threads beside an end read mirrored points: each thread computes the indices that it reads once,
 * before the first row.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { tapsOf, type Update } from "../update.ts";
import { linearWorkgroups } from "../wgsl/declare.ts";
import { lineShape, refuseSweep } from "./line.ts";
import {
  dispatchPhase,
  type Nodes,
  nodesOf,
  PHASE_KINDS,
  phasesOf,
  refuseNodes,
  SWEPT_STEPS,
  sweptLayout,
  type SweptParameters,
  sweptThreads,
} from "./swept_plan.ts";
import { rowsPerTurn, sweptShader } from "./swept_shader.ts";
import type { Traversal } from "./traversal.ts";
import { exceededLimit } from "./workgroup_limits.ts";

/** One dispatch a phase; its parameters are threads a workgroup, points a thread and steps a dispatch. */
export const swept: Traversal = {
  name: "swept",
  title: "the swept rule, nodes in workgroup memory",
  dimensions: 1,
  refuse: refuseSweep,
  parameterLists: (_, limits) => ({
    threads: sweptThreads(limits),
    points: [1, 2, 4, 8],
    steps: SWEPT_STEPS,
  }),
  infeasible(problem, parameters, limits) {
    const { stencil: { update } } = problem;
    const unit = rowsPerTurn(update) / update.substeps.length;
    const reason = refuseNodes(problem, { ...parameters, unit });
    if (reason !== undefined) return reason;
    const nodes = nodesOf(problem, parameters);
    return exceededLimit(limits, {
      layout: nodeLayout(problem, nodes),
      workgroup: [parameters.threads, 1, 1],
      workgroupBytes: rowBytes(update, nodes),
      workgroups: linearWorkgroups(nodes.count, 1),
    });
  },
  demand(problem, parameters) {
    const { threads, points, steps } = parameters;
    const { update } = problem.stencil;
    const { edge, reach, substeps } = lineShape(update);
    const nodes = nodesOf(problem, parameters);
    const taps = update.substeps.reduce((sum, substep) => sum + tapsOf(substep).length, 0);
    return {
      // two edges and a flat are read and written for each hexagon
      bytesPerUpdate: 4 * (4 * edge * nodes.rows + 2 * nodes.flat) / (nodes.pitch * steps),
      redundancy: 1,
      registersPerThread: 20 + points * (2 * reach + 2),
      threadsPerWorkgroup: threads,
      workgroupBytes: rowBytes(update, nodes),
      workgroupsPerDispatch: nodes.count,
      dispatchesPerStep: 1 / steps,
      // half of the threads wait while the rows of a triangle shrink
      exchangesPerUpdate: 2 * (taps + substeps),
    };
  },
  plan(problem, parameters) {
    const nodes = nodesOf(problem, parameters);
    const layout = nodeLayout(problem, nodes);
    const { threads, points, steps: perPhase } = parameters;
    return {
      label: `swept ${threads}x${points}, ${perPhase} steps, on ${problem.grid[2]}`,
      layout,
      shaders: PHASE_KINDS.map((kind) => sweptShader(problem, kind, parameters)),
      dispatches: (steps, start) =>
        phasesOf(problem, { nodes, layout, steps, rowsAbove: nodes.flat > 0 ? 1 : 0 })
          .map((phase) => dispatchPhase(phase, start + steps)),
    };
  },
} satisfies Traversal<SweptParameters>;

/** The line, and in each region two edges and the flat of every node. */
export function nodeLayout(problem: Problem, { count, rows, flat }: Nodes): Layout {
  return sweptLayout(problem, count * (2 * rows * lineShape(problem.stencil.update).edge + flat));
}

/** Workgroup memory that the kept rows take. */
function rowBytes(update: Update, { points }: Nodes): number {
  const { rows, reach } = lineShape(update);
  return 4 * rows * (points + 2 * reach);
}
