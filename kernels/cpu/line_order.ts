/**
 * Which piece of which row of a line each CPU worker makes between two meetings: classic meets after every row, the
 * swept rule (see `traversals/line.ts`) after every diamond.
 *
 * **In place.** The rows of even and odd steps use the two arrays of time levels in turns. Rows of a triangle shrink, so
 * the ends of all its rows survive there, and a valley finds them: no edges are stored elsewhere.
 *
 * **Any number of points.** Nodes may differ by a point. A triangle then ends with a short row instead of none, and the
 * next diamond starts from it.
 *
 * @module
 */
import { type NeedyProblem, refusalOf } from "../capability.ts";
import { hasInsulatedEnds, lineShape, madeBy, SWEEP } from "../traversals/line.ts";
import { planesOf, reachOf } from "../update.ts";
import { type Lanes, layLanes } from "../wasm/lanes.ts";

/** About how many points a node of the swept rule has; 0: classic, which has no nodes. */
export interface NodeShape {
  readonly points: number;
}

/** What workers compute a line by. */
export interface LineWork {
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** Points beyond the line's ends that taps read: more, where they do so several rows back. */
  readonly pad: number;
  /** Index of the field that each sub-step makes. */
  readonly fields: readonly number[];
  readonly ends: "insulated" | "periodic";
  /** The lanes, and the nodes of each; undefined: classic. */
  readonly swept?: { readonly lanes: Lanes; readonly nodes: LineNodes };
}

/**
 * How workers compute a line: all have the same number of nodes, and where these would be too short they compute it
 * classic.
 *
 * @throws {RangeError} if the problem is no line that can be swept
 */
export function lineWork(problem: NeedyProblem, { points }: NodeShape, workers: number): LineWork {
  const refusal = refusalOf({ capabilities: SWEEP }, problem);
  if (refusal !== undefined) throw new RangeError(`Cannot compute the field as a line: ${refusal.message}`);
  const { grid: [, , length], stencil: { update } } = problem, { reach } = lineShape(update);
  const line = {
    reach,
    pad: reachOf(update).z,
    fields: update.substeps.map((_, index) => madeBy(update, index).field),
    ends: hasInsulatedEnds(problem) ? "insulated" : "periodic",
  } as const;
  if (points === 0) return line;
  const lanes = layLanes(length, { reach: line.pad, planes: planesOf(update), precision: update.precision });
  const count = Math.ceil(Math.max(1, Math.round(length / points)) / workers) * workers;
  const nodes = cutLine(lanes.length, { nodes: count, reach, overlap: lanes.overlap });
  // lanes too short for nodes with rows, or for what the pads hold of them
  return nodes.rows < 1 || lanes.length <= line.pad ? line : { ...line, swept: { lanes, nodes } };
}

/** A node: the rows of its valley spread from `centre`, those of its triangle shrink from both ends. */
export interface LineNode {
  /** First point, negative for the node across the line's ends. */
  readonly begin: number;
  readonly centre: number;
  readonly end: number;
}

/** The nodes of even and odd phases, and how many rows a triangle has. */
export interface LineNodes {
  readonly even: readonly LineNode[];
  readonly odd: readonly LineNode[];
  readonly rows: number;
}

/**
 * Cuts a line of `points` points into nodes whose rows lose `reach` points at each end. Where the line's end and its
 * beginning overlap, the node across them is narrower. On a line too short for its nodes triangles have no rows.
 */
export function cutLine(
  points: number,
  { nodes, reach, overlap = 0 }: {
    readonly nodes: number;
    readonly reach: number;
    readonly overlap?: number;
  },
): LineNodes {
  const cut = (k: number): number => Math.floor(points * k / nodes);
  const centre = (k: number): number =>
    k < 0 ? centre(nodes - 1) - points : Math.floor((cut(k) + cut(k + 1)) / 2);
  const numbers = Array.from({ length: nodes }, (_, k) => k);
  const even = numbers.map((k) => ({ begin: cut(k), centre: centre(k), end: cut(k + 1) }));
  const odd = numbers.map((k) => ({ begin: centre(k - 1), centre: cut(k), end: centre(k) }));
  const halfOf = ({ begin, centre, end }: LineNode): number => Math.min(centre - begin, end - centre);
  const narrowest = Math.min(halfOf(odd[0]!) - overlap, ...[...even, ...odd].map(halfOf));
  return { even, odd, rows: Math.floor(narrowest / reach) };
}

/** A valley, whose rows grow, or a triangle, whose rows shrink. */
export interface NodePart {
  /** Number of its first row. */
  readonly row: number;
  /** The first row's points, begin ≤ z < end; those below 0 lie at the line's other end. */
  readonly begin: number;
  readonly end: number;
  /** Points that every row has fewer at each end than the one before. */
  readonly move: number;
  readonly count: number;
}

/** The parts of a node in a phase, in order. */
export function partsOf(
  { begin, centre, end }: LineNode,
  { rows, phase, lastRow, reach }: Readonly<Record<"rows" | "phase" | "lastRow" | "reach", number>>,
): NodePart[] {
  const base = phase * rows;
  const from = (row: number, begin: number, end: number, move: number): NodePart => {
    return { row, begin, end, move, count: Math.max(0, Math.min(rows, lastRow - row + 1)) };
  };
  const valley = from(base - rows + 1, centre - reach, centre + reach, -reach);
  const triangle = from(base + 1, begin + reach, end - reach, reach);
  return phase === 0 ? [triangle] : [valley, triangle];
}
