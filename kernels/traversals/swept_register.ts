/**
 * The swept rule in registers: the swept rule once more inside of a node. Phases, edges and the split node:
 * `swept_plan.ts`.
 *
 * A workgroup's node is T threads of P points. Each thread sweeps a **lozenge** by itself, in registers: a diamond P
 * points wide, P/r rows high, P²/2r updates. Lozenges lie in **levels** as nodes lie in phases: P/2r rows apart, every
 * level half a lozenge beside the one before. Between two levels the threads exchange edges through workgroup memory:
 * one barrier a level, instead of one a row.
 *
 * A node's diamond is 2T − 1 levels of 1, 2, … T, … 2, 1 lozenges; with fewer steps a dispatch, L levels' worth, its
 * hexagon is 2L levels of B + 1, … T, … B + 1, B lozenges, B = T − L. Lozenge t of a level is thread t's, and levels
 * lean to the left: from one to the next a thread moves half a lozenge to the left, so that the lower right edge of
 * its next lozenge is the upper left edge of its last, which stays in its registers. Only the upper right edge goes
 * through workgroup memory, to the next thread. Thread t works in levels max(0, t − B) to t + L − 1.
 *
 * Global arrays hold an upper left and an upper right edge of every thread: left ones those that threads end with, of
 * threads t < L on the node's side, of others on its flat; right ones those of thread T − 1 on the node's side, level
 * after level, then those of the flat. A node begins with the sides of its neighbours and its own column's flat. The
 * right edges lie in a **store** in workgroup memory meanwhile: thread 0 takes its lower left edges from there, thread
 * T − 1 leaves its upper right ones. Flats of odd phases begin as triangles, in a phase −1 that makes nothing else.
 *
 * Registers must be separate variables: every value of a lozenge has a name of its own.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { arithmeticOf } from "../update.ts";
import type { Layout } from "../layout.ts";
import { asLine, lineShape, refuseSweep } from "./line.ts";
import { sweptThreads } from "./swept.ts";
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
import { lozengeRows, registerShader } from "./swept_register_shader.ts";
import type { Parameters, Traversal } from "./traversal.ts";
import { exceededLimit } from "./workgroup_limits.ts";

/** Updates of a lozenge at most: beyond, a kernel takes long to compile and its rows no longer fit the registers. */
const MOST_UPDATES = 600;

/** One dispatch a phase; threads a workgroup, points a thread and steps a dispatch are to choose. */
export const sweptRegister: Traversal = {
  name: "swept-register",
  title: "the swept rule, points in registers, edges exchanged through workgroup memory",
  dimensions: 1,
  refuse: (problem) => refuseSweep(asLine(problem)),
  parameterLists({ stencil: { update } }, limits) {
    const { reach, substeps } = lineShape(update);
    const least = 2 * reach * substeps;
    const points = [2, 4, 8, 12, 16, 24, 32].filter((p) =>
      p % least === 0 && updatesOf(p, reach) <= MOST_UPDATES
    );
    return { threads: sweptThreads(limits), points, steps: SWEPT_STEPS };
  },
  infeasible(problem, { threads, points, steps }, limits) {
    const { reach, substeps } = lineShape(problem.stencil.update);
    const least = 2 * reach * substeps;
    if (points % least !== 0) return `${points} points a thread: they must be a multiple of ${least}`;
    if (updatesOf(points, reach) > MOST_UPDATES) {
      return `${
        updatesOf(points, reach)
      } updates between two barriers: at most ${MOST_UPDATES} are written out`;
    }
    const unit = lozengeRows(problem.stencil.update, points) / substeps;
    const reason = refuseNodes(problem, { points: threads * points, steps, unit });
    if (reason !== undefined) return reason;
    if (steps < 2 * unit) return `${steps} steps a dispatch: nodes have two levels of ${unit} steps at least`;
    const nodes = nodesOf(problem, { points: threads * points, steps });
    return exceededLimit(limits, {
      layout: lozengeLayout(problem, nodes, { threads, points }),
      workgroup: [threads, 1, 1],
      workgroupBytes: exchangeBytes(problem, threads, points),
      workgroups: nodeWorkgroups(nodes.count),
    });
  },
  demand(problem, { threads, points, steps }) {
    const { update } = problem.stencil;
    const { edge, reach, substeps } = lineShape(update);
    const nodes = nodesOf(problem, { points: threads * points, steps });
    const kept = lozengeRows(update, points) * edge;
    return {
      bytesPerUpdate: 4 * 4 * threads * kept / (nodes.pitch * steps),
      redundancy: 1,
      registersPerThread: 24 + 2 * kept + 2 * points,
      threadsPerWorkgroup: threads,
      workgroupBytes: exchangeBytes(problem, threads, points),
      workgroupsPerDispatch: nodes.count,
      dispatchesPerStep: 1 / steps,
      exchangesPerUpdate: 2 * kept * substeps / updatesOf(points, reach),
      loopInstructions: updatesOf(points, reach) * arithmeticOf(update).operations / substeps,
    };
  },
  plan(problem, parameters) {
    const { threads, points } = parameters;
    const { update } = problem.stencil;
    const nodes = nodesOf(problem, { points: threads * points, steps: parameters.steps });
    const layout = lozengeLayout(problem, nodes, parameters);
    const makesFlats = nodes.flat > 0, rowsAbove = makesFlats ? lozengeRows(update, points) : 0;
    return {
      label: `swept-register ${threads}x${points}, ${parameters.steps} steps, on ${problem.grid[2]}`,
      layout,
      shaders: PHASE_KINDS.map((kind) => registerShader(problem, kind, parameters)),
      dispatches(steps, start) {
        const phases = phasesOf({ update, nodes, layout, steps, rowsAbove, makesFlats });
        return dispatchPhases(phases, { count: nodes.count, end: start + steps });
      },
    };
  },
};

/** The line, and each region's two edges of every thread. */
function lozengeLayout(problem: Problem, { count }: Nodes, { threads, points }: Parameters): Layout {
  const { update } = problem.stencil;
  return sweptLayout(problem, 2 * count * threads * lozengeRows(update, points) * lineShape(update).edge);
}

/** P²/2r: updates of a lozenge. */
function updatesOf(points: number, reach: number): number {
  return points * points / (2 * reach);
}

/** The exchanged edges, twice, and the store. */
function exchangeBytes({ stencil: { update } }: Problem, threads: number, points: number): number {
  return 4 * 3 * threads * lozengeRows(update, points) * lineShape(update).edge;
}
