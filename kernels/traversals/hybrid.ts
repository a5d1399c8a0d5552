/**
 * Hybrid (Magee, Niemeyer, §IV.E): the swept rule of `swept.ts`, with the node across the line's ends on the CPU.
 * While the GPU computes all other nodes of an odd phase, the host reads the two edges that its node needs, computes
 * the diamond, and writes the new edges before the next phase. The paper found it slower than handling the split
 * node on the GPU; here the host also waits at least one tick of Deno's poll timer, 10 ms, for the edges.
 *
 * @module
 */
import { type Algebra, eachOperation, fold, type Tap } from "../expression.ts";
import type { Problem } from "../stencils/stencil.ts";
import { hasInsulatedEnds, lineShape, madeBy, rowTap } from "./line.ts";
import { nodeLayout, swept } from "./swept.ts";
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
  const { grid: [, , length], stencil: { update } } = problem;
  const { plane, origin } = nodeLayout(problem, nodes);
  const { readAt, writeAt, lastRow } = uniforms;
  const count = nodes.rows * lineShape(update).edge, rightAt = nodes.count * count;
  const centre = nodes.points / 2;
  return {
    reads: [{ at: readAt + rightAt + (nodes.count - 1) * count, count }, { at: readAt, count }],
    compute([left, right]) {
      const last = kind === "finish" ? lastRow : Infinity;
      const result = diamondOnHost(problem, nodes, last, { left: left!, right: right! });
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

/** The outermost E points of each row of a triangle, as `swept.ts` stores them. */
type DiamondEdges = Readonly<Record<"left" | "right", Float32Array>>;

/** A row of the last step inside a diamond: where it begins in the node, and its points. */
interface StoredRow {
  readonly field: number;
  readonly begin: number;
  readonly values: Float32Array;
}

/**
 * Computes the diamond of the node whose middle lies at the line's ends, in plain loops over rows, rounded to f32 after
 * every operation like the oracle.
 *
 * @param lastRow rows above this one are left out; row 1 is the valley's first
 * @param edges the left neighbour's right edge, and the right neighbour's left one
 */
function diamondOnHost(
  problem: Problem,
  { points }: Nodes,
  lastRow: number,
  edges: DiamondEdges,
): DiamondEdges & { readonly stored: readonly StoredRow[] } {
  const { update } = problem.stencil, isInsulated = hasInsulatedEnds(problem);
  const { substeps, reach, edge, rows: places } = lineShape(update);
  const rows = points / (2 * reach), centre = points / 2;
  const kept = Array.from({ length: places }, () => new Float32Array(points + 2 * reach));
  const rowAt = (row: number): Float32Array => kept[row % places]!;
  for (let j = 0; j < rows; j++) {
    const rightAt = centre + reach * j + reach, leftAt = centre - reach * j - edge + reach;
    for (let e = 0; e < edge; e++) {
      if (leftAt + e >= 0) rowAt(j)[leftAt + e] = edges.left[j * edge + e]!;
      if (rightAt + e < points + 2 * reach) rowAt(j)[rightAt + e] = edges.right[j * edge + e]!;
    }
  }
  let row = 0, c = 0;
  /** Insulated ends lie in the middle of the node. */
  const image = (to: number): number => {
    if (!isInsulated || (c < centre) === (to < centre)) return to;
    return c >= centre ? points - to : points - 2 - to;
  };
  const substepAt = (row: number): number => (row - 1) % substeps;
  const evaluate = update.substeps.map((_, index) =>
    fold(
      madeBy(update, index).value,
      rounded((tap) => {
        const { offset, back } = rowTap(update, index, tap);
        return () => rowAt(row - back + places)[image(c + offset) + reach]!;
      }),
    )
  );
  const stored: StoredRow[] = [];
  for (row = 1; row < 2 * rows && row <= lastRow; row++) {
    const half = reach * Math.min(row, 2 * rows - row), begin = centre - half;
    const made = rowAt(row), value = evaluate[substepAt(row)]!;
    for (c = begin; c < centre + half; c++) made[c + reach] = value();
    if (row <= lastRow - substeps) continue;
    const { field } = madeBy(update, substepAt(row));
    stored.push({ field, begin, values: made.slice(begin + reach, begin + 2 * half + reach) });
  }
  const left = new Float32Array(rows * edge), right = new Float32Array(rows * edge);
  for (let j = 0; j < rows; j++) {
    const from = rowAt(rows + j), begin = reach * j + reach, end = points - reach * j + reach;
    left.set(from.subarray(begin, begin + edge), j * edge);
    right.set(from.subarray(end - edge, end), j * edge);
  }
  return { left, right, stored };
}

/** Turns an expression without a signal into a function that rounds to f32 after every operation. */
function rounded(tap: (tap: Tap) => () => number): Algebra<() => number> {
  const round = Math.fround;
  return {
    tap,
    constant: (value) => () => round(value),
    signal: () => () => 0,
    ...eachOperation((_, operate) => (...operands) => () =>
      round(operate(...operands.map((value) => value())))
    ),
    // the most frequent ones again, faster
    add: (left, right) => () => round(left() + right()),
    subtract: (left, right) => () => round(left() - right()),
    multiply: (left, right) => () => round(left() * right()),
  };
}
