/**
 * The swept rule in registers: applied once more inside of a node. Phases, edges and the split node: `plan.ts`.
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
import type { Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { expressionsOf, operationsOf, type Update } from "../../update.ts";
import { declareLevels, strides } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { updateWriter } from "../../wgsl/write_update.ts";
import { type Refusal, wrongParameters } from "../../capability.ts";
import { lineLayout } from "../line.ts";
import { hasInsulatedEnds, lineShape, madeBy, rowTap } from "../line.ts";
import { beginNode, declarePhase, type Nodes, type PhaseKind, sweeping } from "./plan.ts";
import { type Shader, shaderOf } from "../../wgsl/shader.ts";
import type { Traversal } from "../traversal.ts";

/** Most updates of a lozenge: larger ones take long to compile, and their rows no longer fit the registers. */
const MOST_UPDATES = 600;

/** Its parameters are threads a workgroup, points a thread and steps a dispatch. */
export const sweptRegister: Traversal = sweeping({
  name: "swept-register",
  title: "the swept rule, points in registers, edges exchanged through workgroup memory",
  pointsToTry: (update) =>
    [2, 4, 8, 12, 16, 24, 32].filter((points) => refuseLozenge(update, points) === undefined),
  refuse: refuseLozenge,
  pieces: (update, points) => ({ rows: lozengeRows(update, points), least: 2 }),
  storedValues: (update, { threads, perThread }) => 2 * threads * edgeValues(update, perThread),
  demand(update, { threads, perThread: points }) {
    const { substeps } = lineShape(update);
    const edge = edgeValues(update, points);
    const operations = updatesOf(update, points) * operationsOf(update) / substeps;
    return {
      registers: { plain: 24 + 2 * precisionOf(update).bytes / 4 * (edge + points) },
      // the exchanged edges, twice, and the store
      workgroupBytes: 3 * precisionOf(update).bytes * threads * edge,
      loopInstructions: operations,
      round: { rows: lozengeRows(update, points), instructions: operations, operations, exchanges: 2 * edge },
    };
  },
  rowsAbove: lozengeRows,
  makesFlats: true,
  shader: registerShader,
});

/** Why a thread cannot sweep a lozenge of `points` points; undefined if it can. */
function refuseLozenge(update: Update, points: number): Refusal | undefined {
  const { reach, substeps } = lineShape(update);
  const least = 2 * reach * substeps, updates = updatesOf(update, points);
  if (points % least !== 0) {
    return wrongParameters(`${points} points a thread: they must be a multiple of ${least}`);
  }
  if (updates > MOST_UPDATES) {
    return wrongParameters(`${updates} updates between two barriers: at most ${MOST_UPDATES}`);
  }
}

/** P²/2r: updates of a lozenge. */
function updatesOf(update: Update, points: number): number {
  return points * points / (2 * lineShape(update).reach);
}

/** Values of one edge of a lozenge. */
function edgeValues(update: Update, points: number): number {
  return lozengeRows(update, points) * lineShape(update).edge;
}

/** P/2r: rows of half a lozenge. */
function lozengeRows(update: Update, points: number): number {
  return points / (2 * lineShape(update).reach);
}

interface LozengeOptions {
  readonly update: Update;
  /** P. */
  readonly points: number;
  /** Only the upper half, which starts from a row of the line. */
  readonly isTriangle: boolean;
  /** Rows above the last are left out, those of the last step are stored. */
  readonly isClipped: boolean;
  /** It may lie at insulated ends, or across them. */
  readonly mayBeAtEnds: boolean;
}

/**
 * The lines of a lozenge. They read the lower right edge from `own0`, … and the lower left one from `in0`, … (a
 * triangle reads the row of the line from `base0`, …); they set `own0`, … to the upper left edge and `pool[i][to]` to
 * the upper right one.
 */
function writeLozenge(
  { update, points, isTriangle, isClipped, mayBeAtEnds }: LozengeOptions,
): { constants: string; text: string } {
  const { substeps, reach, edge } = lineShape(update);
  const rows = lozengeRows(update, points), centre = points / 2;
  const { constants, write } = updateWriter(expressionsOf(update), update);
  const half = (row: number): number => reach * Math.min(row, 2 * rows - row);
  const isOwn = (row: number, c: number): boolean => c >= centre - half(row) && c < centre + half(row);
  /** The variable that holds point c of a row. */
  const valueAt = (row: number, c: number): string => {
    if (isTriangle && row === rows) return `base${c}`;
    if (isOwn(row, c)) return `v${row}_${c}`;
    const place = c < centre ? c - (centre - reach * row - edge) : c - (centre + reach * row);
    return `${c < centre ? "in" : "own"}${row * edge + place}`;
  };
  const read = (row: number, c: number, offset: number): string => {
    const to = c + offset, crosses = (c < centre) !== (to < centre);
    const value = valueAt(row, to);
    const image = (at: number, condition: string): string =>
      mayBeAtEnds ? `select(${value}, ${valueAt(row, at)}, ${condition})` : value;
    if (to < 0) return image(-to, "isFirst");
    if (to >= points) return image(2 * (points - 1) - to, "isLast");
    if (crosses) return image(c >= centre ? points - to : points - 2 - to, "isSplit");
    return value;
  };
  const writeRow = (row: number): string => {
    const substep = (row - 1) % substeps;
    const { field, value } = madeBy(update, substep);
    const low = centre - half(row), high = centre + half(row);
    const lines: string[] = [], stores: string[] = [];
    for (let c = low; c < high; c++) {
      const written = write({
        prefix: `e${row}_${c}_`,
        tap: (tap) => {
          const { offset, back } = rowTap(update, substep, tap);
          return read(row - back, c, offset);
        },
      }, [value]);
      lines.push(...written.lines, `let v${row}_${c} = ${written.values[0]};`);
      stores.push(`before[${onLineAt(field, c, points)}] = v${row}_${c};`);
    }
    if (isClipped) lines.push(`if (last < ${row + substeps}) {`, ...stores.map((line) => `  ${line}`), "}");
    if (row >= rows) lines.push(keepEdges(row));
    return lines.join("\n");
  };
  const keepEdges = (row: number): string => {
    const low = centre - half(row), high = centre + half(row);
    const lines: string[] = [];
    for (let e = 0; e < edge; e++) {
      const slot = (row - rows) * edge + e;
      if (low + e < high) lines.push(`own${slot} = ${valueAt(row, low + e)};`);
      if (high - edge + e >= low) lines.push(`pool[${slot}][to] = ${valueAt(row, high - edge + e)};`);
    }
    return lines.join("\n");
  };
  let text = "";
  for (let row = 2 * rows - 1; row > (isTriangle ? rows : 0); row--) {
    const body = [writeRow(row), text].filter((part) => part !== "").join("\n");
    text = isClipped
      ? wgsl`
      if (last >= ${row}) {
        ${body}
      }
    `
      : body;
  }
  return { constants, text: isTriangle ? `${keepEdges(rows)}\n${text}` : text };
}

/** Index of point c of a lozenge's field in the line's array; a lozenge across the ends has its halves apart. */
function onLineAt(field: number, c: number, points: number): string {
  return `${c < points / 2 ? "low" : "high"}${strides(field, "phase.plane")}${strides(c, "1")}`;
}

function registerShader(problem: Problem, kind: PhaseKind, nodes: Nodes): Shader {
  const { threads, perThread: points } = nodes;
  const { title, update } = problem.stencil;
  const { edge } = lineShape(update);
  const rows = lozengeRows(update, points), slots = rows * edge;
  const hasFlats = nodes.flat > 0;
  const isClipped = kind !== "middle", isStart = kind === "start";
  const mayBeAtEnds = hasInsulatedEnds(problem) && (!isStart || hasFlats);
  const shape = { update, points, isClipped, mayBeAtEnds };
  const lozenge = writeLozenge({ ...shape, isTriangle: false });
  const each = (line: (slot: number) => string, count = slots): string =>
    Array.from({ length: count }, (_, slot) => line(slot)).join("\n");
  /** Where value `slot` of an edge lies in a global array. */
  const column = (slot: number): string => strides(slot, "columns");

  const ends = wgsl`
    let isFirst = leftmost == 0; let isSplit = leftmost == -(POINTS / 2);
    let isLast = leftmost == -POINTS || leftmost == phase.points - POINTS;
  `;
  const bounds = wgsl`
    let last = phase.lastRow - m * ROWS;
    let low = ORIGIN + onLine(leftmost); let high = ORIGIN + onLine(leftmost + POINTS / 2) - POINTS / 2;
  `;
  const place = wgsl`
    let across = select((m & 1) * THREADS + t, 2 * THREADS + m - LEVELS + 1, t == THREADS - 1);
    let to = select(across, 2 * THREADS + t, m == 2 * LEVELS - 1);
    ${isClipped || mayBeAtEnds ? "let leftmost = begin + t * POINTS + (LEVELS - 1 - m) * (POINTS / 2);" : ""}
    ${mayBeAtEnds ? ends : ""}
    ${isClipped ? bounds : ""}
  `;
  const made = madeBy(update, -1).field;
  const load = (array: string): string =>
    each((c) => `base${c} = ${array}[${onLineAt(made, c, points)}];`, points);
  const start = wgsl`
    // the level that starts from the line's own row: the widest, in phase -1 the last
    let m0 = select(LEVELS - 1, 2 * LEVELS - 1, phase.odd == 1);
    if (t >= m0 - LEVELS + 1) {
      let m = m0;
      ${place}
      ${each((c) => `var base${c} = 0.0f;`, points)}
      if (phase.fromNow == 1) {
        ${load("now")}
      } else {
        ${load("before")}
      }
      ${writeLozenge({ ...shape, isTriangle: true }).text}
    }
  `;
  const receive = wgsl`
    {
      let behind = phase.readAt + nodeBehind * THREADS + t - FLAT;
      let ownAt = select(behind, phase.writeAt + node * THREADS + t + LEVELS, t < FLAT);
      let side = select(phase.writeAt + node * THREADS, phase.readAt + nodeBefore * THREADS, t < LEVELS);
      let storeAt = edges + side + t;
      ${each((slot) => `own${slot} = stored[ownAt${column(slot)}];`)}
      ${each((slot) => `pool[${slot}][2 * THREADS + t] = stored[storeAt${column(slot)}];`)}
    }
    ${hasFlats ? "storageBarrier(); // other threads read a node's own flat than write it" : ""}
  `;
  const levels = 2 * nodes.rows / rows - (hasFlats ? 0 : 1);
  const goesOn = `m < ${levels}${isClipped ? " && m * ROWS < phase.lastRow" : ""}`;
  const code = wgsl`
    // ${title}: ${kind} phase of the swept rule, ${points} points a thread in registers.
    const NODE = ${nodes.points}; const PITCH = ${nodes.pitch};
    const THREADS = ${threads}; const POINTS = ${points}; const ROWS = ${rows}; // of half a lozenge
    const LEVELS = ${threads - nodes.flat / points}; const FLAT = THREADS - LEVELS;
    ${lozenge.constants}
    ${declareLevels()}
    ${declarePhase(lineLayout(problem))}
    // the edges between levels, in two halves by turns, and the store
    var<workgroup> pool: array<array<f32, 3 * THREADS>, ${slots}>;

    ${beginNode(threads)}
      let t = i32(thread);
      // an array of edges holds value 0 of all threads' edges, then value 1, …
      let columns = nodes * THREADS; let edges = ${slots} * columns;
      ${each((slot) => `var own${slot} = 0.0f;`)}
      ${isStart ? start : receive}
      workgroupBarrier();
      for (var m = ${isStart ? "m0 + 1" : "0"}; ${goesOn}; m++) {
        if (t <= m + FLAT && m < t + LEVELS) {
          ${place}
          let neighbour = select(((m - 1) & 1) * THREADS + t - 1, 2 * THREADS + LEVELS + t - 1, m == 0);
          let source = select(neighbour, 2 * THREADS + m, t == 0);
          ${each((slot) => `let in${slot} = pool[${slot}][source];`)}
          ${lozenge.text}
        }
        workgroupBarrier();
      }
      let left = phase.writeAt + node * THREADS + t; let right = left + edges;
      ${each((slot) => `stored[left${column(slot)}] = own${slot};`)}
      ${each((slot) => `stored[right${column(slot)}] = pool[${slot}][2 * THREADS + t];`)}
    }
  `;
  return shaderOf(`${kind} ${threads}x${points}`, code, update);
}
