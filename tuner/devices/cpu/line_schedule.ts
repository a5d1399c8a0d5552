/**
 * Who makes which piece of which row of a line, between two meetings of the CPU's workers: classic meets after every
 * row, the swept rule (see `kernels/traversals/line.ts`) after every diamond.
 *
 * **In place.** Rows of a triangle shrink, so that in the two arrays of time levels, which the rows of even and odd
 * steps take by turns, the ends of all rows survive: no edges need be stored elsewhere. A valley finds them there.
 *
 * **Any number of points.** Nodes may differ by a point; a triangle then ends with a row of some points instead of
 * none, and the next diamond rests on them.
 *
 * @module
 */

/** A node of some phase: rows of its valley spread from `centre`, those of its triangle shrink from both ends. */
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
 * Cuts a line.
 *
 * @param points N
 * @param options the number of nodes, the points that a row loses at each end, and how many the line's end and its
 *   beginning may have in common: so much narrower the node across them is to some
 * @returns nodes whose triangles have no rows where the line is too short for so many
 *
 * @example
 * ```ts
 * import { cutLine } from "./line_schedule.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { even, odd, rows } = cutLine(10, { nodes: 2, reach: 1 });
 * assertEquals(even, [{ begin: 0, centre: 2, end: 5 }, { begin: 5, centre: 7, end: 10 }]);
 * assertEquals(odd, [{ begin: -3, centre: 0, end: 2 }, { begin: 2, centre: 5, end: 7 }]);
 * assertEquals(rows, 2);
 * ```
 */
export function cutLine(
  points: number,
  { nodes, reach, overlap = 0 }: {
    readonly nodes: number;
    readonly reach: number;
    readonly overlap?: number;
  },
): LineNodes {
  const cuts = Array.from({ length: nodes + 1 }, (_, k) => Math.floor(points * k / nodes));
  const centres = cuts.slice(1).map((cut, k) => Math.floor((cuts[k] + cut) / 2));
  const even = centres.map((centre, k) => ({ begin: cuts[k], centre, end: cuts[k + 1] }));
  const odd = centres.map((centre, k) => ({
    begin: k === 0 ? centres[nodes - 1] - points : centres[k - 1],
    centre: cuts[k],
    end: centre,
  }));
  const halves = [...even, ...odd].flatMap(({ begin, centre, end }) => [centre - begin, end - centre]);
  const across = Math.min(odd[0].centre - odd[0].begin, odd[0].end - odd[0].centre) - overlap;
  return { even, odd, rows: Math.floor(Math.min(across, ...halves) / reach) };
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
  /** Rows. */
  readonly count: number;
}

/**
 * The parts of a node in a phase, in their order.
 *
 * @param node the node
 * @param options rows of a triangle, the phase, the last row to be made, the points that a row loses at each end
 */
export function partsOf(
  { begin, centre, end }: LineNode,
  { rows, phase, lastRow, reach }: {
    readonly rows: number;
    readonly phase: number;
    readonly lastRow: number;
    readonly reach: number;
  },
): NodePart[] {
  const base = phase * rows;
  const count = (row: number): number => Math.max(0, Math.min(rows, lastRow - row + 1));
  const valley = {
    row: base - rows + 1,
    begin: centre - reach,
    end: centre + reach,
    move: -reach,
    count: count(base - rows + 1),
  };
  const triangle = {
    row: base + 1,
    begin: begin + reach,
    end: end - reach,
    move: reach,
    count: count(base + 1),
  };
  return phase === 0 ? [triangle] : [valley, triangle];
}
