/**
 * Hybrid (Magee, Niemeyer, §IV.E): the swept rule of `swept.ts`, but the node across the line's ends is the CPU's.
 * While the GPU computes all other nodes of an odd phase, the host reads the two edges that its node needs, computes
 * its diamond, and hands over the new edges before the next phase. The paper found it slower than to handle the split
 * node on the GPU; here the host's wait for the edges adds at least a tick of Deno's poll timer, 10 ms.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { diamondOnHost } from "./swept_host.ts";
import { asLine, lineShape, refuseSweep } from "./line.ts";
import { nodeLayout, swept, sweptThreads } from "./swept.ts";
import {
  dispatchPhases,
  type Nodes,
  nodesOf,
  type Phase,
  PHASE_KINDS,
  phasesOf,
  SWEPT_STEPS,
} from "./swept_plan.ts";
import { sweptShader } from "./swept_shader.ts";
import type { Dispatch, HostTask, Parameters, Traversal } from "./traversal.ts";

/** Dispatches that take as long as the host's wait for the edges: 10 ms by 2 µs. */
const WAIT_IN_DISPATCHES = 5000;

/** One dispatch a phase, every other one beside the host's node. */
export const hybrid: Traversal = {
  name: "hybrid",
  title: "the swept rule in workgroup memory, the node across the ends on the CPU",
  dimensions: 1,
  refuse: (problem) => refuseSweep(asLine(problem)),
  // few, for every run waits for the host
  parameterLists: (_, limits) => ({
    threads: sweptThreads(limits).filter((threads) => threads >= 256),
    points: [2, 4],
    steps: SWEPT_STEPS,
  }),
  infeasible(problem, parameters, limits) {
    const reason = swept.infeasible(problem, parameters, limits);
    if (reason !== undefined) return reason;
    const { flat } = nodesOf(problem, nodeOf(parameters));
    if (flat > 0) return `${parameters.steps} steps a dispatch: the host's node makes whole diamonds`;
  },
  demand(problem, parameters) {
    const demand = swept.demand(problem, parameters);
    return { ...demand, dispatchesPerStep: demand.dispatchesPerStep * (1 + WAIT_IN_DISPATCHES / 2) };
  },
  plan(problem, parameters) {
    const { update } = problem.stencil;
    const nodes = nodesOf(problem, nodeOf(parameters));
    const layout = nodeLayout(problem, nodes);
    return {
      label: `hybrid ${parameters.threads}x${parameters.points} on ${problem.grid[2]}`,
      layout,
      usesHost: true,
      shaders: PHASE_KINDS.map((kind) => sweptShader(problem, kind, parameters)),
      dispatches(steps, start) {
        const phases = phasesOf({ update, nodes, layout, steps, firstNode: 1 });
        const dispatches = dispatchPhases(phases, { count: nodes.count, end: start + steps });
        return dispatches.map((dispatch, i): Dispatch =>
          i % 2 === 0 ? dispatch : { ...dispatch, host: hostTask(problem, nodes, phases[i]) }
        );
      },
    };
  },
};

function nodeOf({ threads, points, steps }: Parameters): { points: number; steps: number } {
  return { points: threads * points, steps };
}

/** What the host does in an odd phase. */
function hostTask(problem: Problem, nodes: Nodes, { kind, uniforms }: Phase): HostTask {
  const { grid: [, , length], boundary, stencil: { update } } = problem;
  const { plane, origin } = nodeLayout(problem, nodes);
  const { readAt, writeAt, lastRow } = uniforms;
  const count = nodes.rows * lineShape(update).edge, rightAt = nodes.count * count;
  const centre = nodes.points / 2;
  return {
    reads: [{ at: readAt + rightAt + (nodes.count - 1) * count, count }, { at: readAt, count }],
    compute([left, right]) {
      const isClipped = kind === "finish";
      const result = diamondOnHost({
        update,
        boundary,
        points: nodes.points,
        lastRow: isClipped ? lastRow : Infinity,
      }, { left, right });
      const rows = result.stored.flatMap(({ field, begin, values }) => {
        const first = origin + field * plane, atEnd = centre - begin;
        return [
          { at: first + length - atEnd, values: values.subarray(0, atEnd) },
          { at: first, values: values.subarray(atEnd) },
        ];
      });
      return [{ at: writeAt, values: result.left }, { at: writeAt + rightAt, values: result.right }, ...rows];
    },
  };
}
