/**
 * The order in which the CPU's workers visit the cells of space and time. A run is a number of **levels**, one for every
 * sub-step of every time step; a **visit** updates some whole rows along z to a level. Visits are grouped in
 * **rounds**: within a round every worker makes its own visits in order, and between two rounds all workers meet.
 *
 * @module
 */
import type { Boundary } from "../stencils/stencil.ts";

/** Rows x0 ≤ x < x1, y0 ≤ y < y1; outside the grid they are pads. A row is all cells of one x and y. */
export interface Rows {
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly y1: number;
}

/** Which share of the work: `part` of `parts`, counted from 0. */
export interface Part {
  readonly part: number;
  readonly parts: number;
}

/** A part's piece of `count` things in a row: the first, and the one after the last. */
export function pieceOf(count: number, { part, parts }: Part): [first: number, end: number] {
  return [Math.floor(count * part / parts), Math.floor(count * (part + 1) / parts)];
}

export interface CpuRun extends Part {
  /** Slices, and rows of a slice. */
  readonly grid: readonly [nx: number, ny: number];
  /** What lies beyond the ends of x and y. */
  readonly boundaries: readonly [x: Boundary, y: Boundary];
  /** The furthest that any sub-step reaches along x and y. */
  readonly reach: readonly [x: number, y: number];
  /** Sub-steps of all steps. */
  readonly levels: number;
  /** The slices x0 ≤ x < x1 that are known at a level: all of them, unless ghost zones end the x axis. */
  slicesAt(level: number): readonly [x0: number, x1: number];
}

export type Visit = (level: number, rows: Rows) => void;

/** All visits of one worker in a run. */
export interface CpuOrder {
  readonly rounds: number;
  /** Makes the worker's visits of a round, in order. */
  visitRound(round: number, visit: Visit): void;
}

/** What is visited, without the order. */
export type VisitedGrid = Pick<CpuRun, "grid" | "boundaries" | "reach">;

/** Calls back with all pad rows that are images of these rows. */
export function forEachImage(rows: Rows, around: VisitedGrid, callback: (image: Rows) => void): void {
  const alongY = imagesOf([rows.y0, rows.y1], 1, around);
  for (const [y0, y1] of alongY) callback({ ...rows, y0, y1 });
  for (const [x0, x1] of imagesOf([rows.x0, rows.x1], 0, around)) {
    for (const [y0, y1] of [[rows.y0, rows.y1], ...alongY]) callback({ x0, x1, y0: y0!, y1: y1! });
  }
}

/** The pieces of an axis' pads that are images of from ≤ i < to: several where the grid is thinner than the reach. */
function imagesOf(
  [from, to]: readonly [number, number],
  axis: 0 | 1,
  { grid, boundaries, reach }: VisitedGrid,
): [number, number][] {
  const n = grid[axis], pad = reach[axis], found: [number, number][] = [];
  if (boundaries[axis] === "zero" || pad === 0) return found;
  const isMirrored = boundaries[axis] === "insulated" && n > 1, period = isMirrored ? 2 * (n - 1) : n;
  const keep = (first: number, end: number): void => {
    for (const [low, high] of [[-pad, 0], [n, n + pad]] as const) {
      if (Math.min(end, high) > Math.max(first, low)) found.push([Math.max(first, low), Math.min(end, high)]);
    }
  };
  const most = Math.ceil((n + pad) / period) * period;
  for (let shift = -most; shift <= most; shift += period) {
    keep(from + shift, to + shift);
    // the outermost cells are their own mirror images
    if (isMirrored) keep(shift - Math.min(to, n - 1) + 1, shift - Math.max(from, 1) + 1);
  }
  return found;
}

/**
 * One part of all rows: parts are disjoint, cover everything, and differ by at most one row. Rows are counted along y,
 * then x, in the order given, so that a grid of few slices is shared as well.
 */
export function shareRows(all: readonly Rows[], part: Part): Rows[] {
  const total = all.reduce((sum, rows) => sum + countOf(rows), 0);
  let [first, end] = pieceOf(total, part);
  const share: Rows[] = [];
  for (const rows of all) {
    const count = countOf(rows);
    share.push(...cutRows(rows, Math.max(0, first), Math.min(count, end)));
    first -= count, end -= count;
  }
  return share;
}

/** Rows number `first` up to `end`, without it: the end of a slice, whole slices, the start of a slice. */
function cutRows({ x0, y0, y1 }: Rows, first: number, end: number): Rows[] {
  const width = y1 - y0;
  const cut: Rows[] = [];
  while (first < end) {
    const x = x0 + Math.floor(first / width), y = first % width;
    const slices = y === 0 ? Math.floor((end - first) / width) : 0;
    const rows = slices > 0 ? slices * width : Math.min(width - y, end - first);
    cut.push({ x0: x, x1: x + Math.max(1, slices), y0: y0 + y, y1: slices > 0 ? y1 : y0 + y + rows });
    first += rows;
  }
  return cut;
}

function countOf({ x0, x1, y0, y1 }: Rows): number {
  return Math.max(0, x1 - x0) * Math.max(0, y1 - y0);
}

/**
 * The stepwise order: a round for every level, in which each worker updates its share of the rows. Strips of `strip` rows
 * along y (0: one strip) are visited one after another, so that the slices within reach of a strip stay in a core's cache.
 */
export function stepwiseOrder(run: CpuRun, { strip }: { readonly strip: number }): CpuOrder {
  const { levels, grid: [, ny] } = run;
  return {
    rounds: levels,
    visitRound(level: number, visit: Visit): void {
      const [x0, x1] = run.slicesAt(level);
      const strips: Rows[] = [];
      const width = strip > 0 ? strip : ny;
      for (let y0 = 0; y0 < ny; y0 += width) strips.push({ x0, x1, y0, y1: Math.min(ny, y0 + width) });
      for (const rows of shareRows(strips, run)) visit(level, rows);
    },
  };
}

/** Rows of a strip where taps reach far; bytes of the slices in reach that stay in a core's second-level cache. */
const STRIP_ROWS = 32, CACHED_BYTES = 2 ** 19;

/**
 * The strips that suit a grid if nothing was measured. Where taps reach four slices or more and the slices in reach leave the
 * cache, strips of 32 rows are 1.1 to 1.3 times faster for orders 10 to 14 on 256³ and 128×128×256, while orders 2 and 4
 * lose up to 0.7 (AMD EPYC, 1 MiB of second-level cache, 2026-11-21).
 *
 * @param reach slices that a sub-step reaches
 * @param sliceBytes bytes of a slice with its pads
 * @returns rows of a strip; 0: one strip
 */
export function usualStrip(reach: number, sliceBytes: number): number {
  return reach >= 4 && sliceBytes * (2 * reach + 1) > CACHED_BYTES ? STRIP_ROWS : 0;
}
