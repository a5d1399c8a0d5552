/**
 * What all ways to sweep on a GPU share: nodes, phases, and the arrays of edges.
 *
 * **Phases.** A node has W points. Phase 0 starts from a row of the whole line: each node makes a triangle, h rows
 * high. In each later phase the nodes are shifted by half their distance and make diamonds: first the valley between
 * two triangles, then a triangle on top of it. Phase p spans rows (p − 1)·h to (p + 1)·h. Each phase is a dispatch,
 * which advances the line by h rows. Phases that would pass the last row are **clipped**: they leave out what lies
 * above it, and store the rows of the last step. So any number of steps is possible.
 *
 * **Fewer steps a dispatch.** The highest triangle has h = W/2r rows and ends in a point. With fewer rows its top is
 * the **flat**, b = W − 2rh points: diamonds become hexagons, nodes lie W + b points apart, and each flat is the base
 * of the node two phases later. On average more of a node's threads then have work.
 *
 * **Edges.** A phase stores the ends of its triangles' rows in two arrays, left and right; the next phase reads the
 * right ones of the node before and the left ones of the node behind. The arrays lie in a scratch buffer, twice: one
 * pair is read while the other is written.
 *
 * **The split node.** In odd phases node 0 covers the end of the line and its beginning.
 *
 * @module
 */
import type { Layout } from "../../layout.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import type { Update } from "../../update.ts";
import { linearWorkgroups, strides } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { lineLayout } from "../line.ts";
import { type Refusal, wrongParameters } from "../../capability.ts";
import { LINE_PARAMETERS, lineShape, refusePoints, SWEEP } from "../line.ts";
import type { ParameterWords } from "../parameter.ts";
import { declareBuffer, type Shader } from "../../wgsl/shader.ts";
import type { Demand, DeviceLimits, Dispatch, ParametersOf, Rounds, Traversal } from "../traversal.ts";
import { exceededLimit, powersOfTwo } from "../workgroup_limits.ts";

/** The parameters of all ways to sweep. */
const PARAMETERS = {
  ...LINE_PARAMETERS,
  steps: ["Steps per dispatch", "time steps that one dispatch computes", { unit: "step" }],
} as const satisfies ParameterWords;

type SweptParameters = ParametersOf<keyof typeof PARAMETERS>;

/** A line cut into nodes. */
export interface Nodes {
  readonly threads: number;
  readonly perThread: number;
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

export function nodesOf(
  { grid: [, , nz], stencil: { update } }: Problem,
  { threads, points: perThread, steps }: SweptParameters,
): Nodes {
  const { reach, substeps } = lineShape(update);
  const points = threads * perThread, rows = steps * substeps, flat = points - 2 * reach * rows;
  return { threads, perThread, points, pitch: points + flat, count: nz / (points + flat), rows, flat };
}

export interface SweepingWay {
  readonly name: string;
  readonly title: string;
  /** Points a thread to try. */
  pointsToTry(update: Update): readonly number[];
  /** Why no thread can sweep this number of points; undefined if it can. @default {it can} */
  refuse?(update: Update, perThread: number): Refusal | undefined;
  /** Rows that are made as one piece, and pieces that a triangle has at least. */
  pieces(update: Update, perThread: number): Readonly<Record<"rows" | "least", number>>;
  /** Values that a node stores for the next phases: its edges and its flat. */
  storedValues(update: Update, nodes: Nodes): number;
  demand(update: Update, nodes: Nodes): Pick<Demand, "registers" | "workgroupBytes" | "loopInstructions"> & {
    /** Rows of a node that a round makes, and what it takes of a thread. */
    readonly round: Pick<Rounds, "instructions" | "operations" | "exchanges"> & { readonly rows: number };
  };
  /** Of nodes with flats: rows that a phase makes above row (p + 1)·h − 1. */
  rowsAbove(update: Update, perThread: number): number;
  /** Whether flats come from a phase −1 before the first, which makes nothing else. */
  readonly makesFlats: boolean;
  shader(problem: Problem, kind: PhaseKind, nodes: Nodes): Shader;
}

/** The traversal that sweeps in one way: a dispatch a phase. */
export function sweeping(way: SweepingWay): Traversal<SweptParameters> {
  /** Of each region: what all nodes store. */
  const valuesOf = ({ stencil: { update } }: Problem, nodes: Nodes): number =>
    nodes.count * way.storedValues(update, nodes);
  return {
    name: way.name,
    title: way.title,
    dimensions: 1,
    parameters: PARAMETERS,
    capabilities: SWEEP,
    parameterLists: ({ stencil: { update } }, limits) => ({
      threads: sweptThreads(limits),
      points: way.pointsToTry(update),
      steps: SWEPT_STEPS,
    }),
    infeasible(problem, parameters, limits) {
      const { stencil: { update }, grid: [, , nz] } = problem, { steps, points: perThread } = parameters;
      const { reach, substeps } = lineShape(update);
      const nodes = nodesOf(problem, parameters), { threads, points, pitch, count } = nodes;
      const pieces = way.pieces(update, perThread), unit = pieces.rows / substeps;
      const most = Math.floor(points / (2 * reach * substeps));
      const reason = way.refuse?.(update, perThread);
      if (reason !== undefined) return reason;
      const dispatch = `${steps} steps a dispatch`;
      if (steps > most) {
        return wrongParameters(`${dispatch}: a node of ${points} points can make at most ${most}`);
      }
      if (steps % unit !== 0) return wrongParameters(`${dispatch}: they must be a multiple of ${unit}`);
      if (steps < pieces.least * unit) {
        return wrongParameters(`${dispatch}: a node has at least ${pieces.least} levels of ${unit} steps`);
      }
      return refusePoints(nz, pitch) ?? exceededLimit(limits, {
        layout: lineLayout(problem),
        scratch: 2 * valuesOf(problem, nodes),
        workgroup: [threads, 1, 1],
        workgroupBytes: way.demand(update, nodes).workgroupBytes,
        workgroups: linearWorkgroups(count, 1),
      });
    },
    pitch: (problem, parameters) => nodesOf(problem, parameters).pitch,
    demand(problem, parameters) {
      const { update } = problem.stencil, { bytes } = precisionOf(update), { steps } = parameters;
      const nodes = nodesOf(problem, parameters);
      const { round: { rows, ...round }, ...demand } = way.demand(update, nodes);
      // for each hexagon, all that is stored is written and read
      const moved = 2 * way.storedValues(update, nodes), rounds = 2 * nodes.rows / rows;
      return {
        ...demand,
        bytesPerValue: bytes,
        bytesPerUpdate: bytes * moved / (nodes.pitch * steps),
        threadsPerWorkgroup: nodes.threads,
        workgroupsPerDispatch: nodes.count,
        rounds: {
          ...round,
          barriers: 1,
          rows: moved / (nodes.threads * rounds),
          waits: { waitNs: 1 / rounds },
          nearWaits: 0,
          nearBytes: bytes * moved / (nodes.pitch * steps),
          cells: nodes.pitch * steps / rounds,
          // those outside the diamond pass by
          busyThreads: nodes.threads,
          dispatches: [{ count: 1 / steps, workgroups: nodes.count, rounds }],
        },
      };
    },
    plan(problem, parameters) {
      const nodes = nodesOf(problem, parameters), layout = lineLayout(problem);
      const regionValues = valuesOf(problem, nodes);
      const { threads, perThread, flat } = nodes;
      const rowsAbove = flat > 0 ? way.rowsAbove(problem.stencil.update, perThread) : 0;
      const makesFlats = way.makesFlats && flat > 0;
      return {
        label: `${way.name} ${threads}x${perThread}, ${parameters.steps} steps, on ${problem.grid[2]}`,
        storage: { layout, scratch: [{ name: "edges", length: 2 * regionValues, lives: "list" }] },
        shaders: PHASE_KINDS.map((kind) => way.shader(problem, kind, nodes)),
        dispatches(steps, start) {
          const end = start + steps;
          return phasesOf(problem, nodes, {
            steps,
            end,
            plane: layout.plane,
            regionValues,
            rowsAbove,
            makesFlats,
          });
        },
      };
    },
  };
}

/** Threads a workgroup to try: powers of two from 32 to 1024, and 96, 192, 384, whose hexagons fit powers of two. */
function sweptThreads(limits: DeviceLimits): number[] {
  const most = Math.min(1024, limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  return [...powersOfTwo(32, 1024), 96, 192, 384].filter((threads) => threads <= most);
}

/** Steps a dispatch to try, most first. */
const SWEPT_STEPS = [2048, 1024, 512, 256, 128, 64, 32, 16, 8] as const;

const PHASE_UNIFORMS = [
  "odd",
  "readAt",
  "writeAt",
  "lastRow",
  "fromNow",
  "second",
  "nodes",
  "points",
  "plane",
] as const;

/**
 * Kinds of phases in the order of their shaders. `start`: triangles on the first row; `middle`: whole diamonds;
 * `finish`: clipped diamonds.
 */
export const PHASE_KINDS = ["start", "middle", "finish"] as const;

export type PhaseKind = typeof PHASE_KINDS[number];

/**
 * The dispatches that advance the line by `steps` to step `end`, one a phase, with a workgroup a node.
 *
 * @param plane values from one field of the line to the next
 * @param regionValues values of each of the two **regions** that phases write by turns
 * @param rowsAbove rows that a phase makes above row (p + 1)·h − 1
 * @param makesFlats whether flats come from a phase −1 before the first, which makes nothing else
 */
function phasesOf(
  { stencil: { update: { substeps } }, grid: [, , points] }: Problem,
  { count, rows }: Nodes,
  { steps, end, plane, regionValues, rowsAbove, makesFlats }: {
    steps: number;
    end: number;
    plane: number;
    regionValues: number;
    rowsAbove: number;
    makesFlats: boolean;
  },
): Dispatch[] {
  const lastRow = steps * substeps.length;
  if (lastRow === 0) return [];
  const region = (phase: number): number => (phase & 1) * regionValues;
  const earliest = makesFlats ? -1 : 0, latest = Math.ceil(lastRow / rows);
  return Array.from({ length: latest - earliest + 1 }, (_, i): Dispatch => {
    const phase = earliest + i, first = (phase - 1) * rows;
    // a clipped phase gets beyond the last row, or makes rows of the last step
    const isClipped = first + 2 * rows - 1 + rowsAbove > lastRow - substeps.length;
    const kind: PhaseKind = phase <= 0 ? "start" : isClipped ? "finish" : "middle";
    const uniforms: Readonly<Record<typeof PHASE_UNIFORMS[number], number>> = {
      odd: phase & 1,
      readAt: region(phase + 1),
      writeAt: region(phase),
      lastRow: phase <= 0 || isClipped ? lastRow - first : 0,
      // the result's array is binding 1: what the run starts from lies there too after an even number of steps
      fromNow: steps % 2,
      // the flats of odd phases begin as points of the line
      second: phase === 1 ? 1 : 0,
      nodes: count,
      points,
      plane,
    };
    return {
      shader: PHASE_KINDS.indexOf(kind),
      workgroups: linearWorkgroups(count, 1),
      flipped: end % 2 === 0,
      uniforms: PHASE_UNIFORMS.map((name) => uniforms[name]),
    };
  });
}

/** The edges and the uniforms of a phase in a shader. The line's length is one, so that one shader serves all lengths. */
export function declarePhase({ origin }: Layout): string {
  return wgsl`
    const ORIGIN = ${origin};
    struct Phase { ${PHASE_UNIFORMS.map((name) => `${name}: i32`).join(", ")} }
    @group(0) @binding(2) var<uniform> phase: Phase;
    ${declareBuffer("edges", "array<f32>", { as: "stored" })}

    fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
  `;
}

/** Where a field of the line begins: `ORIGIN + 2 * phase.plane`. */
export function fieldOnLine(field: number): string {
  return `ORIGIN${strides(field, "phase.plane")}`;
}

/** The head of `main`, and its first lines: which node it is, and where it begins; node 0 may begin before the line. */
export function beginNode(threads: number): string {
  return wgsl`
    @compute @workgroup_size(${threads})
    fn main(
      @builtin(local_invocation_index) thread: u32,
      @builtin(workgroup_id) w: vec3u,
      @builtin(num_workgroups) groups: vec3u,
    ) {
      let nodes = phase.nodes;
      let node = i32(w.x + w.y * groups.x);
      if (node >= nodes) { return; }
      let begin = node * PITCH + (1 - phase.odd) * (PITCH / 2) - NODE / 2;
      // the neighbours' edges: the right ones of the node before, the left ones of the node behind
      let nodeBefore = select(node + nodes - 1, node, phase.odd == 0) % nodes;
      let nodeBehind = select(node, node + 1, phase.odd == 0) % nodes;
  `;
}
