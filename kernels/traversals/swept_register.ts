/**
 * The swept rule in registers: applied once more inside of a node. Phases, edges and the split node: `swept_plan.ts`.
 *
 * A workgroup's node is T threads of P points. Each thread sweeps a **lozenge** in registers: a diamond P points wide
 * and P/r rows high, P²/2r updates. Lozenges lie in **levels** as nodes lie in phases: P/2r rows apart, each level
 * shifted by half a lozenge. Between two levels the threads exchange edges through workgroup memory: one barrier a
 * level instead of one a row.
 *
 * A node's diamond is 2T − 1 levels of 1, 2, … T, … 2, 1 lozenges. With fewer steps a dispatch it is a hexagon of 2L
 * levels of B + 1, … T, … B + 1, B lozenges, B = T − L. Lozenge t of a level belongs to thread t, and levels lean to
 * the left: from one to the next a thread moves half a lozenge to the left, so the lower right edge of its next
 * lozenge is the upper left edge of its last, still in its registers. Only the upper right edge goes through workgroup
 * memory, to the next thread. Thread t works in levels max(0, t − B) to t + L − 1.
 *
 * The global arrays hold an upper left and an upper right edge for each thread. Left ones: what threads end with, of
 * threads t < L on the node's side, of the others on its flat. Right ones: those of thread T − 1 on the node's side,
 * level after level, then those of the flat. A node starts from the sides of its neighbours and its own flat. In
 * between, the right edges lie in workgroup memory, in the **store**: thread 0 takes its lower left edges from it, and
 * thread T − 1 leaves its upper right ones there. The flats of odd phases begin as triangles, in a phase −1 that makes
 * nothing else.
 *
 * Registers must be separate variables: each value of a lozenge has a name of its own.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { operationsOf, type Update } from "../update.ts";
import { linearWorkgroups } from "../wgsl/declare.ts";
import { lineShape, refuseSweep } from "./line.ts";
import {
  dispatchPhase,
  nodesOf,
  PHASE_KINDS,
  phasesOf,
  refuseNodes,
  SWEPT_STEPS,
  sweptLayout,
  type SweptParameters,
  sweptThreads,
} from "./swept_plan.ts";
import { lozengeRows, registerShader } from "./swept_register_shader.ts";
import type { Traversal } from "./traversal.ts";
import { exceededLimit } from "./workgroup_limits.ts";

/** Most updates of a lozenge: larger ones take long to compile, and their rows no longer fit the registers. */
const MOST_UPDATES = 600;

/** One dispatch a phase; its parameters are threads a workgroup, points a thread and steps a dispatch. */
export const sweptRegister: Traversal = {
  name: "swept-register",
  title: "the swept rule, points in registers, edges exchanged through workgroup memory",
  dimensions: 1,
  refuse: refuseSweep,
  parameterLists({ stencil: { update } }, limits) {
    const points = [2, 4, 8, 12, 16, 24, 32].filter((points) => refuseLozenge(update, points) === undefined);
    return { threads: sweptThreads(limits), points, steps: SWEPT_STEPS };
  },
  infeasible(problem, parameters, limits) {
    const { threads, points, steps } = parameters;
    const { update } = problem.stencil;
    const unit = lozengeRows(update, points) / update.substeps.length;
    const reason = refuseLozenge(update, points) ?? refuseNodes(problem, { ...parameters, unit });
    if (reason !== undefined) return reason;
    if (steps < 2 * unit) return `${steps} steps a dispatch: a node has at least two levels of ${unit} steps`;
    return exceededLimit(limits, {
      layout: lozengeLayout(problem, parameters),
      workgroup: [threads, 1, 1],
      workgroupBytes: exchangeBytes(update, parameters),
      workgroups: linearWorkgroups(nodesOf(problem, parameters).count, 1),
    });
  },
  pitch: (problem, parameters) => nodesOf(problem, parameters).pitch,
  demand(problem, parameters) {
    const { threads, points, steps } = parameters;
    const { update } = problem.stencil;
    const { substeps } = lineShape(update);
    const { count, pitch } = nodesOf(problem, parameters);
    const edge = edgeValues(update, points), updates = updatesOf(update, points);
    return {
      bytesPerUpdate: 4 * 4 * threads * edge / (pitch * steps),
      registersPerThread: 24 + 2 * edge + 2 * points,
      threadsPerWorkgroup: threads,
      workgroupBytes: exchangeBytes(update, parameters),
      workgroupsPerDispatch: count,
      dispatchesPerStep: 1 / steps,
      exchangesPerUpdate: 2 * edge * substeps / updates,
      loopInstructions: updates * operationsOf(update) / substeps,
    };
  },
  plan(problem, parameters) {
    const { threads, points, steps: perPhase } = parameters;
    const nodes = nodesOf(problem, parameters);
    const layout = lozengeLayout(problem, parameters);
    const makesFlats = nodes.flat > 0;
    const rowsAbove = makesFlats ? lozengeRows(problem.stencil.update, points) : 0;
    return {
      label: `swept-register ${threads}x${points}, ${perPhase} steps, on ${problem.grid[2]}`,
      layout,
      shaders: PHASE_KINDS.map((kind) => registerShader(problem, kind, parameters)),
      dispatches: (steps, start) =>
        phasesOf(problem, { nodes, layout, steps, rowsAbove, makesFlats })
          .map((phase) => dispatchPhase(phase, start + steps)),
    };
  },
} satisfies Traversal<SweptParameters>;

/** Why a thread cannot sweep a lozenge of so many points; undefined if it can. */
function refuseLozenge(update: Update, points: number): string | undefined {
  const { reach, substeps } = lineShape(update);
  const least = 2 * reach * substeps, updates = updatesOf(update, points);
  if (points % least !== 0) return `${points} points a thread: they must be a multiple of ${least}`;
  if (updates > MOST_UPDATES) return `${updates} updates between two barriers: at most ${MOST_UPDATES}`;
}

/** P²/2r: updates of a lozenge. */
function updatesOf(update: Update, points: number): number {
  return points * points / (2 * lineShape(update).reach);
}

/** Values of one edge of a lozenge. */
function edgeValues(update: Update, points: number): number {
  return lozengeRows(update, points) * lineShape(update).edge;
}

/** The line, and in each region two edges for every thread. */
function lozengeLayout(problem: Problem, parameters: SweptParameters): Layout {
  const { threads, points } = parameters;
  const { count } = nodesOf(problem, parameters);
  return sweptLayout(problem, 2 * count * threads * edgeValues(problem.stencil.update, points));
}

/** Bytes of the exchanged edges, twice, and of the store. */
function exchangeBytes(update: Update, { threads, points }: SweptParameters): number {
  return 4 * 3 * threads * edgeValues(update, points);
}
