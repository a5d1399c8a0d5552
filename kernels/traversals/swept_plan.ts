/**
 * What all ways of sweeping on a GPU have in common: nodes, phases, and the arrays of edges.
 *
 * **Phases.** A node is W points. Phase 0 starts from a row of the whole line: every node makes a triangle, h rows
 * high. In each further phase nodes lie half their distance beside those before, and make a diamond: first the valley
 * between two triangles, until rows meet, then a triangle on top of it. Phase p reaches from row (p − 1)·h to row
 * (p + 1)·h; a phase is a dispatch, which advances the line by h rows. The run ends with row K of the whole line;
 * phases that get beyond are **clipped**: they leave out what lies above, and store the rows of the last step. So
 * every number of steps is possible.
 *
 * **Fewer steps a dispatch.** The highest triangle has h = W/2r rows and ends in a point. With fewer, b = W − 2rh
 * points are left on its top, the **flat**: diamonds become hexagons, nodes lie W + b points apart, and every flat is
 * the ground of the node two phases later. More of a node's threads then have work on average.
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
import { lineShape, refusePoints } from "./line.ts";
import type { Dispatch } from "./traversal.ts";

/** A line cut into nodes. */
export interface Nodes {
  /** W. */
  readonly points: number;
  /** W + b: points from one node to the next. */
  readonly pitch: number;
  readonly count: number;
  /** h: rows of a triangle. */
  readonly rows: number;
  /** b. */
  readonly flat: number;
}

/** Cuts the line into nodes of `points` that advance it by `steps` a phase. */
export function nodesOf(
  { grid: [, , nz], stencil: { update } }: Problem,
  { points, steps }: { readonly points: number; readonly steps: number },
): Nodes {
  const { reach, substeps } = lineShape(update);
  const rows = steps * substeps, flat = points - 2 * reach * rows;
  return { points, pitch: points + flat, count: nz / (points + flat), rows, flat };
}

/** Why nodes of so many points cannot advance a line by so many steps; undefined where they can. */
export function refuseNodes(
  problem: Problem,
  { points, steps, unit }: {
    readonly points: number;
    readonly steps: number;
    /** Steps a phase must be a multiple of this. */
    readonly unit: number;
  },
): string | undefined {
  const { reach, substeps } = lineShape(problem.stencil.update);
  const most = Math.floor(points / (2 * reach * substeps));
  if (steps > most) return `${steps} steps a dispatch: a node of ${points} points makes at most ${most}`;
  if (steps % unit !== 0) return `${steps} steps a dispatch: they must be a multiple of ${unit}`;
  return refusePoints(problem.grid[2], nodesOf(problem, { points, steps }).pitch);
}

/** Steps a dispatch to try, most first. */
export const SWEPT_STEPS = [2048, 1024, 512, 256, 128, 64, 32, 16, 8] as const;

/** The line, and behind it two **regions** that phases write by turns, each with so many values. */
export function sweptLayout(problem: Problem, regionValues: number): Layout {
  const layout = lineLayout(problem);
  return { ...layout, length: edgesAt(layout) + 2 * regionValues };
}

/** Where the edges begin: at a multiple of 64 values. */
function edgesAt({ slice }: Layout): number {
  return Math.ceil(slice / 64) * 64;
}

/** Uniforms of a phase. */
const PHASE_UNIFORMS = [
  "odd",
  "readAt",
  "writeAt",
  "lastRow",
  "fromNow",
  "second",
  "firstNode",
  "nodes",
  "points",
  "plane",
] as const;

/** A phase's uniforms by name. */
export type PhaseUniforms = Readonly<Record<typeof PHASE_UNIFORMS[number], number>>;

/**
 * Kinds of phases in the order of their shaders. `start`: triangles on the first row; `middle`: whole diamonds;
 * `finish`: clipped diamonds.
 */
export const PHASE_KINDS = ["start", "middle", "finish"] as const;

/** One phase of a run. */
export interface Phase {
  readonly kind: typeof PHASE_KINDS[number];
  readonly uniforms: PhaseUniforms;
}

/** What {@linkcode phasesOf} takes. */
export interface PhaseOptions {
  readonly update: Update;
  readonly nodes: Nodes;
  readonly layout: Layout;
  /** Of the run. */
  readonly steps: number;
  /** Rows that a phase makes above row (p + 1)·h − 1. @default {0} */
  readonly rowsAbove?: number;
  /** Whether flats come from a phase −1 before the first, which makes nothing else. @default {false} */
  readonly makesFlats?: boolean;
  /** Nodes that odd phases leave to someone else. @default {0} */
  readonly firstNode?: number;
}

/** The phases that advance the line by `steps`. */
export function phasesOf(
  { update, nodes, layout, steps, rowsAbove = 0, makesFlats = false, firstNode = 0 }: PhaseOptions,
): Phase[] {
  const { substeps } = update;
  const lastRow = steps * substeps.length;
  if (lastRow === 0) return [];
  const at = edgesAt(layout);
  const region = (phase: number): number => at + (phase & 1) * (layout.length - at) / 2;
  const earliest = makesFlats ? -1 : 0, latest = Math.ceil(lastRow / nodes.rows);
  return Array.from({ length: latest - earliest + 1 }, (_, i): Phase => {
    const phase = earliest + i, first = (phase - 1) * nodes.rows;
    // a clipped phase gets beyond the last row, or makes rows of the last step
    const isClipped = first + 2 * nodes.rows - 1 + rowsAbove > lastRow - substeps.length;
    return {
      kind: phase <= 0 ? "start" : isClipped ? "finish" : "middle",
      uniforms: {
        odd: phase & 1,
        readAt: region(phase + 1),
        writeAt: region(phase),
        lastRow: phase <= 0 || isClipped ? lastRow - first : 0,
        // the result's array is binding 1: what the run starts from lies there too after an even number of steps
        fromNow: steps % 2,
        // the flats of odd phases begin as points of the line
        second: phase === 1 ? 1 : 0,
        firstNode: (phase & 1) === 1 ? firstNode : 0,
        nodes: nodes.count,
        points: layout.grid[2],
        plane: layout.plane,
      },
    };
  });
}

/** The dispatches of phases; shaders are ordered as {@linkcode PHASE_KINDS}. */
export function dispatchPhases(
  phases: readonly Phase[],
  { count, end }: {
    /** Nodes. */
    count: number;
    /** Time step of the result. */
    end: number;
  },
): Dispatch[] {
  return phases.map(({ kind, uniforms }): Dispatch => ({
    shader: PHASE_KINDS.indexOf(kind),
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

/** Starts `main`: which node, and where it begins on the line, before it where node 0 is split. */
export function beginNode(): string {
  return wgsl`
    let nodes = phase.nodes;
    let node = i32(w.x + w.y * groups.x) + phase.firstNode;
    if (node >= nodes) { return; }
    let begin = node * PITCH + (1 - phase.odd) * (PITCH / 2) - NODE / 2;
    // the neighbours' edges: the right ones of the node before, the left ones of the node behind
    let nodeBefore = select(node + nodes - 1, node, phase.odd == 0) % nodes;
    let nodeBehind = select(node, node + 1, phase.odd == 0) % nodes;
  `;
}
