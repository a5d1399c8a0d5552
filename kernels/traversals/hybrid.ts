/**
 * Hybrid (Magee, Niemeyer, §IV.E): the swept rule of `swept.ts`, with the node across the line's ends on the CPU.
 * While the GPU computes all other nodes of an odd phase, the host reads the two edges that its node needs, computes
 * the diamond, and writes the new edges before the next phase. The paper found it slower than handling the split
 * node on the GPU; here the host also waits at least one tick of Deno's poll timer, 10 ms, for the edges.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { lineShape } from "./line.ts";
import { nodeLayout, swept } from "./swept.ts";
import { diamondOnHost } from "./swept_host.ts";
import {
  dispatchPhase,
  type Nodes,
  nodesOf,
  type Phase,
  phasesOf,
  SWEPT_STEPS,
  type SweptParameters,
  sweptThreads,
} from "./swept_plan.ts";
import type { Dispatch, HostTask, Traversal } from "./traversal.ts";

/** Dispatches that take as long as the host's wait for the edges: 10 ms at 2 µs each. */
const WAIT_IN_DISPATCHES = 5000;

/** Swept, with the host computing one node of every other phase. */
export const hybrid: Traversal = {
  ...swept,
  name: "hybrid",
  title: "the swept rule in workgroup memory, the node across the ends on the CPU",
  // few, because every run waits for the host
  parameterLists: (_, limits) => ({
    threads: sweptThreads(limits).filter((threads) => threads >= 256),
    points: [2, 4],
    steps: SWEPT_STEPS,
  }),
  infeasible(problem, parameters, limits) {
    const reason = swept.infeasible(problem, parameters, limits);
    if (reason !== undefined) return reason;
    const { flat } = nodesOf(problem, parameters);
    if (flat > 0) return `${parameters.steps} steps a dispatch: the host computes whole diamonds only`;
  },
  demand(problem, parameters) {
    const demand = swept.demand(problem, parameters);
    return { ...demand, dispatchesPerStep: demand.dispatchesPerStep * (1 + WAIT_IN_DISPATCHES / 2) };
  },
  plan(problem, parameters) {
    const { layout, shaders } = swept.plan(problem, parameters);
    const nodes = nodesOf(problem, parameters);
    return {
      label: `hybrid ${parameters.threads}x${parameters.points} on ${problem.grid[2]}`,
      layout,
      usesHost: true,
      shaders,
      dispatches: (steps, start) =>
        phasesOf(problem, { nodes, layout, steps, firstNode: 1 }).map((phase): Dispatch => {
          const dispatch = dispatchPhase(phase, start + steps);
          return phase.uniforms.odd === 0 ? dispatch : { ...dispatch, host: hostTask(problem, nodes, phase) };
        }),
    };
  },
} satisfies Traversal<SweptParameters>;

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
      const result = diamondOnHost({
        update,
        boundary,
        points: nodes.points,
        lastRow: kind === "finish" ? lastRow : Infinity,
      }, { left: left!, right: right! });
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
