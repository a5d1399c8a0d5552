/**
 * What all ways of sweeping on a GPU have in common: nodes, phases, and the arrays of edges.
 *
 * **Phases.** A node is W points. Phase 0 starts from a row of the whole line: every node makes a triangle, W/2r
 * rows. In each further phase nodes lie half a node beside those before, and make a diamond: first the valley between
 * two triangles, which ends in a whole row, then a triangle on top of it. Phase p reaches from row (p − 1)·W/2r to row
 * (p + 1)·W/2r. The run ends with row K of the whole line; phases that get beyond are **clipped**: they leave out
 * what lies above, and store the rows of the last step. So every number of steps is possible.
 *
 * **Edges.** A phase leaves the ends of its triangles' rows in two global arrays, left and right; the next phase
 * reads the right ones of the node before and the left ones of the node behind. They lie behind the line in the array
 * that the result goes to, twice, to be read and written in turns.
 *
 * **The split node.** In odd phases node 0 lies half at the end of the line and half at its beginning.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import type { Update } from "../update.ts";
import { wgsl } from "../wgsl/template.ts";
import { lineLayout } from "./classic.ts";
import { lineShape } from "./line.ts";
import type { Dispatch } from "./traversal.ts";

/** A line cut into nodes. */
export interface Nodes {
  /** W. */
  readonly points: number;
  readonly count: number;
  /** W/2r: rows of a triangle. */
  readonly rows: number;
  /** Values of one edge of all nodes. */
  readonly edgeValues: number;
}

/** Cuts the line into nodes of `points`. */
export function nodesOf({ grid: [, , nz], stencil: { update } }: Problem, points: number): Nodes {
  const { reach, edge } = lineShape(update);
  const rows = points / (2 * reach), count = nz / points;
  return { points, count, rows, edgeValues: count * rows * edge };
}

/** The line, and behind it two times two arrays of edges. */
export function sweptLayout(problem: Problem, nodes: Nodes): Layout {
  const layout = lineLayout(problem);
  return { ...layout, length: edgesAt(layout) + 4 * nodes.edgeValues };
}

/** Where the edges begin: at a multiple of 64 values. */
export function edgesAt({ slice }: Layout): number {
  return Math.ceil(slice / 64) * 64;
}

/** Uniforms of a phase. */
const PHASE_UNIFORMS = [
  "odd",
  "readAt",
  "writeAt",
  "lastRow",
  "fromNow",
  "firstNode",
  "nodes",
  "points",
  "plane",
] as const;

/** A phase's uniforms by name. */
export type PhaseUniforms = Readonly<Record<typeof PHASE_UNIFORMS[number], number>>;

/** One phase of a run. */
export interface Phase {
  /** `start`: triangles on the first row; `middle`: whole diamonds; `finish`: clipped diamonds. */
  readonly kind: "start" | "middle" | "finish";
  readonly uniforms: PhaseUniforms;
}

/**
 * The phases that advance the line by `steps`.
 *
 * @param firstNode nodes that odd phases leave to someone else
 */
export function phasesOf(
  { update, nodes, layout, steps, firstNode = 0 }: {
    update: Update;
    nodes: Nodes;
    layout: Layout;
    steps: number;
    /** @default {0} */
    firstNode?: number;
  },
): Phase[] {
  const { substeps } = update;
  const lastRow = steps * substeps.length;
  if (lastRow === 0) return [];
  const at = edgesAt(layout);
  const region = (phase: number): number => at + (phase % 2) * 2 * nodes.edgeValues;
  return Array.from({ length: Math.ceil(lastRow / nodes.rows) + 1 }, (_, phase): Phase => {
    const first = (phase - 1) * nodes.rows;
    // a clipped phase gets beyond the last row, or makes rows of the last step
    const isClipped = first + 2 * nodes.rows - 1 > lastRow - substeps.length;
    return {
      kind: phase === 0 ? "start" : isClipped ? "finish" : "middle",
      uniforms: {
        odd: phase % 2,
        readAt: region(phase + 1),
        writeAt: region(phase),
        lastRow: phase === 0 || isClipped ? lastRow - first : 0,
        // the result's array is binding 1: what the run starts from lies there too after an even number of steps
        fromNow: steps % 2,
        firstNode: phase % 2 === 1 ? firstNode : 0,
        nodes: nodes.count,
        points: layout.grid[2],
        plane: layout.plane,
      },
    };
  });
}

/** The dispatches of phases; shaders are ordered as `kinds`. */
export function dispatchPhases(
  phases: readonly Phase[],
  { kinds, count, end }: {
    kinds: readonly Phase["kind"][];
    /** Nodes. */
    count: number;
    /** Time step of the result. */
    end: number;
  },
): Dispatch[] {
  return phases.map(({ kind, uniforms }): Dispatch => ({
    shader: kinds.indexOf(kind),
    workgroups: nodeWorkgroups(count - uniforms.firstNode),
    flipped: end % 2 === 0,
    uniforms: PHASE_UNIFORMS.map((name) => uniforms[name]),
  }));
}

/** One workgroup a node, in two dimensions, since one holds at most 65,535. */
export function nodeWorkgroups(count: number): [number, number, number] {
  const rows = Math.max(1, Math.ceil(count / 65_535));
  return [Math.ceil(count / rows), rows, 1];
}

/** The uniforms of a phase in a shader. The line's length is one of them, so that one shader serves all lengths. */
export function declarePhase({ origin }: Layout): string {
  return wgsl`
    const ORIGIN = ${origin};
    struct Phase { ${PHASE_UNIFORMS.map((name) => `${name}: i32`).join(", ")} }
    @group(0) @binding(2) var<uniform> phase: Phase;

    fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
  `;
}

/** Starts `main`: which node, and where it begins on the line; half a node before it where the phase is odd. */
export function beginNode(): string {
  return wgsl`
    let nodes = phase.nodes;
    let node = i32(w.x + w.y * groups.x) + phase.firstNode;
    if (node >= nodes) { return; }
    let begin = node * NODE - phase.odd * (NODE / 2);
    // the neighbours' edges: the right ones of the node before, the left ones of the node behind
    let nodeBefore = select(node + nodes - 1, node, phase.odd == 0) % nodes;
    let nodeBehind = select(node, node + 1, phase.odd == 0) % nodes;
  `;
}
