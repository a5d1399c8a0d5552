/**
 * The order in which the CPU's workers visit the cells of space and time. A run is a number of **levels**, one for every
 * sub-step of every time step; a **visit** updates a box of whole rows along z to a level. Visits are grouped in
 * **rounds**: within a round every worker makes its own visits in order, and between two rounds all workers meet.
 *
 * @module
 */

/** Rows x0 ≤ x < x1, y0 ≤ y < y1; outside the grid they are pads. A row is all cells of one x and y. */
export interface Box {
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

/** What is visited. */
export interface CpuRun extends Part {
  /** Slices, and rows of a slice. */
  readonly grid: readonly [nx: number, ny: number];
  /** Whether the axes x and y are periodic. */
  readonly wraps: readonly [x: boolean, y: boolean];
  /** The furthest that any sub-step reaches along x and y. */
  readonly reach: readonly [x: number, y: number];
  /** Sub-steps of all steps. */
  readonly levels: number;
  /** The slices x0 ≤ x < x1 that are known at a level: all of them, unless ghost zones end the x axis. */
  slicesAt(level: number): readonly [x0: number, x1: number];
}

/** Updates a box to a level. */
export type Visit = (level: number, box: Box) => void;

/** All visits of one worker in a run. */
export interface CpuOrder {
  readonly rounds: number;
  /** Makes the worker's visits of a round, in order. */
  visitRound(round: number, visit: Visit): void;
}

/** Whether a box has no rows. */
export function isEmpty({ x0, x1, y0, y1 }: Box): boolean {
  return x1 <= x0 || y1 <= y0;
}

/** What {@linkcode forEachImage} needs to know. */
export type Surroundings = Pick<CpuRun, "grid" | "wraps" | "reach">;

/** Calls back with every box of pad rows that are periodic images of the box's rows. */
export function forEachImage(box: Box, around: Surroundings, callback: (image: Box) => void): void {
  const [along, across] = [0, 1].map((axis) => shifts(axis as 0 | 1, around)) as [number[], number[]];
  const { grid: [nx, ny], reach: [rx, ry] } = around;
  for (const shiftX of along) {
    for (const shiftY of across) {
      if (shiftX === 0 && shiftY === 0) continue;
      const image = {
        x0: Math.max(-rx, box.x0 + shiftX),
        x1: Math.min(nx + rx, box.x1 + shiftX),
        y0: Math.max(-ry, box.y0 + shiftY),
        y1: Math.min(ny + ry, box.y1 + shiftY),
      };
      if (!isEmpty(image)) callback(image);
    }
  }
}

/** How far images lie from what they are images of: whole periods, several where the grid is thinner than the reach. */
function shifts(axis: 0 | 1, { grid, wraps, reach }: Surroundings): number[] {
  const most = wraps[axis] ? Math.ceil(reach[axis] / grid[axis]) : 0;
  return Array.from({ length: 2 * most + 1 }, (_, i) => (i - most) * grid[axis]);
}

/**
 * One part of the boxes' rows, as boxes: parts are disjoint, cover everything, and differ by at most one row. Rows are
 * counted along y, then x, then box after box, so that a grid of few slices is shared as well.
 */
export function shareRows(boxes: readonly Box[], { part, parts }: Part): Box[] {
  const total = boxes.reduce((sum, box) => sum + rowsOf(box), 0);
  let first = Math.floor(total * part / parts), end = Math.floor(total * (part + 1) / parts);
  const share: Box[] = [];
  for (const box of boxes) {
    const rows = rowsOf(box);
    share.push(...cutRows(box, Math.max(0, first), Math.min(rows, end)));
    first -= rows, end -= rows;
  }
  return share;
}

/** Rows `first` ≤ row < `end` of a box: the end of a slice, whole slices, the start of a slice. */
function cutRows({ x0, y0, y1 }: Box, first: number, end: number): Box[] {
  const width = y1 - y0;
  const cut: Box[] = [];
  while (first < end) {
    const x = x0 + Math.floor(first / width), y = first % width;
    const slices = y === 0 ? Math.floor((end - first) / width) : 0;
    const rows = slices > 0 ? slices * width : Math.min(width - y, end - first);
    cut.push({
      x0: x,
      x1: x + Math.max(1, slices),
      y0: y0 + y,
      y1: slices > 0 ? y1 : y0 + y + rows,
    });
    first += rows;
  }
  return cut;
}

function rowsOf({ x0, x1, y0, y1 }: Box): number {
  return Math.max(0, x1 - x0) * Math.max(0, y1 - y0);
}
