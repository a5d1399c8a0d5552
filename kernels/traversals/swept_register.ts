/**
 * The swept rule in registers: the swept rule once more inside of a node. Phases, edges and the split node:
 * `swept_plan.ts`.
 *
 * A workgroup's node is T threads of P points. Each thread sweeps a **lozenge** by itself, in registers: a diamond P
 * points wide, P/r rows high, P²/2r updates. Lozenges lie in **levels** as nodes lie in phases: P/2r rows apart, every
 * level half a lozenge beside the one before. Between two levels the threads exchange edges through workgroup memory:
 * one barrier a level, instead of one a row.
 *
 * A node's diamond is 2T − 1 levels of 1, 2, … T, … 2, 1 lozenges. Lozenge t of a level is thread t's, and levels lean
 * to the left: from one to the next a thread moves half a lozenge to the left, so that the lower right edge of its
 * next lozenge is the upper left edge of its last, which stays in its registers. Only the upper right edge goes
 * through workgroup memory, to the next thread. Thread t works in levels t to t + T − 1: its first lower right edge
 * is the neighbour node's, its last upper left edge is the node's own. Thread 0 takes its lower left edges from the
 * node before, thread T − 1 leaves its upper right edges for it; both lie in a **store** in workgroup memory, which
 * all threads together fill at the beginning and empty at the end.
 *
 * Registers must be separate variables: every value of a lozenge has a name of its own.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { arithmeticOf } from "../update.ts";
import { asLine, lineShape, refusePoints, refuseSweep } from "./line.ts";
import { sweptThreads } from "./swept.ts";
import { dispatchPhases, nodesOf, nodeWorkgroups, phasesOf, sweptLayout } from "./swept_plan.ts";
import { lozengeRows, registerShader } from "./swept_register_shader.ts";
import type { Traversal } from "./traversal.ts";
import { exceededLimit } from "./workgroup_limits.ts";

/** Kinds of phases in the order of their shaders. */
const KINDS = ["start", "middle", "finish"] as const;

/** Updates of a lozenge at most: beyond, a kernel takes long to compile and its rows no longer fit the registers. */
const MOST_UPDATES = 600;

/** One dispatch a phase; threads a workgroup and points a thread are to choose, and with them steps a dispatch. */
export const sweptRegister: Traversal = {
  name: "swept-register",
  title: "the swept rule, points in registers, edges exchanged through workgroup memory",
  refuse: (problem) => refuseSweep(asLine(problem)),
  parameterLists({ stencil: { update } }, limits) {
    const { reach, substeps } = lineShape(update);
    const least = 2 * reach * substeps;
    const points = [2, 4, 8, 12, 16, 24, 32].filter((p) =>
      p % least === 0 && updatesOf(p, reach) <= MOST_UPDATES
    );
    return { threads: sweptThreads(limits), points };
  },
  infeasible(problem, { threads, points }, limits) {
    const { reach, substeps } = lineShape(problem.stencil.update);
    const least = 2 * reach * substeps;
    if (points % least !== 0) return `${points} points a thread: they must be a multiple of ${least}`;
    if (updatesOf(points, reach) > MOST_UPDATES) {
      return `${
        updatesOf(points, reach)
      } updates between two barriers: at most ${MOST_UPDATES} are written out`;
    }
    const reason = refusePoints(problem.grid[2], threads * points);
    if (reason !== undefined) return reason;
    const nodes = nodesOf(problem, threads * points);
    return exceededLimit(limits, {
      layout: sweptLayout(problem, nodes),
      workgroup: [threads, 1, 1],
      workgroupBytes: exchangeBytes(problem, threads, points),
      workgroups: nodeWorkgroups(nodes.count),
    });
  },
  demand(problem, { threads, points }) {
    const { update } = problem.stencil;
    const { edge, reach, substeps } = lineShape(update);
    const nodes = nodesOf(problem, threads * points);
    const kept = lozengeRows(update, points) * edge;
    return {
      bytesPerUpdate: 4 * 4 * edge * substeps / nodes.points,
      redundancy: 1,
      registersPerThread: 24 + 2 * kept + 2 * points,
      threadsPerWorkgroup: threads,
      workgroupBytes: exchangeBytes(problem, threads, points),
      workgroupsPerDispatch: nodes.count,
      dispatchesPerStep: substeps / nodes.rows,
      exchangesPerUpdate: 2 * kept * substeps / updatesOf(points, reach),
      loopInstructions: updatesOf(points, reach) * arithmeticOf(update).operations / substeps,
    };
  },
  plan(problem, { threads, points }) {
    const { update } = problem.stencil;
    const nodes = nodesOf(problem, threads * points);
    const layout = sweptLayout(problem, nodes);
    return {
      label: `swept-register ${threads}x${points} on ${problem.grid[2]}`,
      layout,
      shaders: KINDS.map((kind) => registerShader(problem, kind, { threads, points })),
      dispatches(steps, start) {
        const phases = phasesOf({ update, nodes, layout, steps });
        return dispatchPhases(phases, { kinds: KINDS, count: nodes.count, end: start + steps });
      },
    };
  },
};

/** P²/2r: updates of a lozenge. */
function updatesOf(points: number, reach: number): number {
  return points * points / (2 * reach);
}

/** The exchanged edges, twice, and the store. */
function exchangeBytes({ stencil: { update } }: Problem, threads: number, points: number): number {
  return 4 * 3 * threads * lozengeRows(update, points) * lineShape(update).edge;
}
