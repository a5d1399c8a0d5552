/**
 * Diamonds along y and time, a wavefront along x: many levels between two rounds, and nothing is computed twice (Malas,
 * Hager, Ltaief, Stengel, Wellein, Keyes, "Multicore-optimized wavefront diamond blocking for optimizing stencil
 * updates", SIAM J. Sci. Comput. 37, 2015).
 *
 * The levels are cut into **bands** of `band` levels, the rows of a slice into tiles. In a band a tile first loses the
 * reach S at each of its cuts with every level: a trapezoid. What is missing around a cut is an inverted trapezoid, which
 * needs both of its neighbours. The cuts of the next band lie in the middle of this band's tiles, so that the inverted
 * trapezoid around a cut and the trapezoid of the next band above it are one tile: a **diamond** of two bands. The
 * diamonds of a round are independent of each other:
 *
 *     time
 *      ↑   ╲  round 2 ╱ ╲  round 2 ╱
 *      │    ╲        ╱   ╲        ╱        a diamond: from its lower tip around a cut
 *      │     ╲      ╱     ╲      ╱         to its upper one, between two cuts
 *      │ rd 1 ╲    ╱ round 1╲   ╱ round 1
 *      │       ╲  ╱          ╲ ╱
 *      └────────╳─────────────╳──────────→ y
 *
 * Within a diamond the levels follow each other along x like a wave, each S slices behind the one before. Between the
 * first and the last of them a few slices of the diamond's rows are in use: they stay in the core's second-level cache,
 * so that a cell is loaded and stored once for all levels of a diamond. Along a periodic x the wave leaves a triangle
 * open at the seam, which is closed at its end. In two dimensions diamonds lie along x, and there is no wave.
 *
 * With S the furthest reach of any sub-step no level overwrites what another one still reads: the array of the newer
 * level is that of the level two steps before, whose readers are at most S rows and slices away. Where a
 * new value may take the place of its old one (`isInPlace`), one array is enough: its other readers are cells of the
 * level before, at most S away, which are made before it. The rows in use then take half of the cache.
 *
 * @module
 */
import { type Refusal, wrongParameters } from "../capability.ts";
import type { CpuOrder, CpuRun, Visit, VisitedGrid } from "./cpu_order.ts";

export interface DiamondShape {
  readonly tiles: number;
  /** Levels of a band: a diamond has twice as many. */
  readonly band: number;
  /** Slices that the wave moves at once. */
  readonly block: number;
}

/** Why a run cannot have such diamonds; undefined if it can. */
export function refuseDiamonds(around: VisitedGrid, { tiles, band }: DiamondShape): Refusal | undefined {
  const { grid: [nx, ny], boundaries, reach: [sx, sy] } = wavedOf(around), wraps = wrapsOf(boundaries);
  if (tiles > ny) {
    return wrongParameters(`${tiles} tiles along ${isFlat(around) ? "x" : "y"}: the grid has ${ny} rows`);
  }
  const { even, odd } = cutsOf(ny, tiles, wraps[1]);
  if (even.length + odd.length > 0) {
    const cuts = [...even, ...odd].sort((a, b) => a - b);
    const gaps = cuts.slice(1).map((cut, i) => cut - cuts[i]!);
    if (wraps[1]) gaps.push(cuts[0]! + ny - cuts.at(-1)!);
    else gaps.push(cuts[0]!, ny - cuts.at(-1)!);
    const narrowest = gaps.reduce((gap, other) => Math.min(gap, other));
    if (narrowest < sy * band) {
      return wrongParameters(`${band} levels narrow half a tile by ${sy * band} rows: it has ${narrowest}`);
    }
  }
  const open = 2 * sx * 2 * band;
  if (wraps[0] && open > nx) {
    return wrongParameters(`the wave leaves ${open} slices open at the seam: the grid has ${nx}`);
  }
  return undefined;
}

/** Whether a slice has a single row: the grid of two dimensions. */
function isFlat({ grid }: Pick<VisitedGrid, "grid">): boolean {
  return grid[1] === 1;
}

/** The same where the wave goes along the first axis and tiles lie along the second: x and y, in two dimensions y and x. */
export function wavedOf<T extends VisitedGrid>(around: T): T {
  if (!isFlat(around)) return around;
  const { grid: [nx, ny], boundaries: [alongX, alongY], reach: [sx, sy] } = around;
  return { ...around, grid: [ny, nx], boundaries: [alongY, alongX], reach: [sy, sx] };
}

/** Whether tiles go on across the ends of x and y; insulated ends lie in the tiles beside them. */
function wrapsOf([x, y]: VisitedGrid["boundaries"]): [x: boolean, y: boolean] {
  return [x === "periodic", y === "periodic"];
}

/** Where tiles meet: in even bands, and in odd ones, in the middle of the even bands' tiles. */
function cutsOf(ny: number, tiles: number, wraps: boolean): { even: number[]; odd: number[] } {
  const at = (i: number): number => Math.round(i * ny / tiles);
  const even = Array.from({ length: tiles }, (_, i) => at(i)).slice(wraps ? 0 : 1);
  const odd = Array.from({ length: tiles }, (_, i) => Math.floor((at(i) + at(i + 1)) / 2));
  return { even, odd };
}

/** A tile of a band: rows lo ≤ y < hi, whether it loses rows at its ends, and the cut of the band before inside it. */
interface Tile {
  readonly lo: number;
  readonly hi: number;
  readonly narrowsLow: boolean;
  readonly narrowsHigh: boolean;
  readonly cut: number | undefined;
}

/** The tiles of one kind of band, from the cuts of its own and those of the band before. */
function tilesIn(cuts: readonly number[], before: readonly number[], ny: number, wraps: boolean): Tile[] {
  const ends = wraps ? [...cuts, cuts[0]! + ny] : [0, ...cuts, ny];
  return ends.slice(1).map((hi, i) => {
    const lo = ends[i]!;
    const cut = [...before, ...before.map((at) => at + ny)].find((at) => at > lo && at < hi);
    return { lo, hi, narrowsLow: wraps || i > 0, narrowsHigh: wraps || i < ends.length - 2, cut };
  });
}

/** The order of diamonds that {@linkcode refuseDiamonds} does not refuse. */
export function diamondOrder(given: CpuRun, shape: DiamondShape): CpuOrder {
  const run = isFlat(given) ? { ...wavedOf(given), slicesAt: () => [0, 1] as const } : given;
  const { levels, grid: [, ny], boundaries, reach: [, sy], part, parts } = run;
  const wraps = wrapsOf(boundaries);
  const { tiles, band } = shape;
  const { even, odd } = cutsOf(ny, tiles, wraps[1]);
  const kinds = [tilesIn(even, odd, ny, wraps[1]), tilesIn(odd, even, ny, wraps[1])] as const;
  const bands = Math.ceil(levels / band);
  return {
    rounds: bands + 1,
    visitRound(round: number, visitGiven: Visit): void {
      const visit = isFlat(given) ? visitKnown(given, visitGiven) : visitGiven;
      const all = kinds[round % 2 as 0 | 1];
      // between the halves at the ends lie whole tiles: the worker that has both halves has one tile less
      const isHalved = !wraps[1] && round % 2 === 1;
      const whole = isHalved ? all.slice(1, -1) : all;
      const firstOf = (part: number): number => Math.ceil(whole.length * part / parts);
      const mine = whole.slice(firstOf(part), firstOf(part + 1));
      if (isHalved && part === parts - 1) mine.push(all[0]!, all.at(-1)!);
      for (const tile of mine) {
        // rows of each level of the diamond: it grows around the cut, then narrows
        const rows: LevelRows[] = [];
        const start = (round - 1) * band;
        for (let i = 0; i < 2 * band; i++) {
          const level = start + i;
          if (level < 0 || level >= levels) continue;
          const { lo, hi, narrowsLow, narrowsHigh, cut } = tile;
          const lost = sy * (i - band + 1);
          if (i >= band) {
            rows.push({ level, y0: lo + (narrowsLow ? lost : 0), y1: hi - (narrowsHigh ? lost : 0) });
          } else if (cut !== undefined) {
            rows.push({ level, y0: cut - sy * (i + 1), y1: cut + sy * (i + 1) });
          }
        }
        moveWave(run, shape, { rows, visit });
      }
    },
  };
}

/** Visits what is known of rows whose x and y have changed places. */
function visitKnown({ slicesAt }: CpuRun, visit: Visit): Visit {
  return (level, { x0: y0, x1: y1, y0: from, y1: to }) => {
    const [known0, known1] = slicesAt(level), x0 = Math.max(from, known0), x1 = Math.min(to, known1);
    if (x1 > x0) visit(level, { x0, x1, y0, y1 });
  };
}

/** Rows y0 ≤ y < y1 at a level; across a periodic end they lie outside the grid. */
interface LevelRows {
  readonly level: number;
  readonly y0: number;
  readonly y1: number;
}

/** Moves the wave of the rows' levels along x. */
function moveWave(
  { grid: [nx, ny], boundaries: [alongX], reach: [sx], slicesAt }: CpuRun,
  { block }: DiamondShape,
  { rows, visit }: { readonly rows: readonly LevelRows[]; readonly visit: Visit },
): void {
  // the wave takes many short moves: what does not depend on x is worked out before
  const levels = rows.map(({ level, y0, y1 }, i) => {
    const [known0, known1] = slicesAt(level);
    const open = alongX === "periodic" ? sx * (i + 1) : 0;
    // what lies beyond a periodic end is at the other one
    const pieces = [-ny, 0, ny].map((shift) => [Math.max(0, y0 - shift), Math.min(ny, y1 - shift)] as const)
      .filter(([from, to]) => to > from);
    return { level, lag: sx * i, first: known0 + open, end: known1 - open, open, pieces };
  });
  const end = nx + sx * (rows.length - 1);
  for (let front = 0; front < end; front += block) {
    for (const { level, lag, first, end, pieces } of levels) {
      const x0 = Math.max(front - lag, first), x1 = Math.min(front - lag + block, end);
      if (x1 > x0) { for (const [y0, y1] of pieces) visit(level, { x0, x1, y0, y1 }); }
    }
  }
  for (const { level, open, pieces } of levels) {
    for (const [y0, y1] of open > 0 ? pieces : []) {
      visit(level, { x0: nx - open, x1: nx, y0, y1 });
      visit(level, { x0: 0, x1: open, y0, y1 });
    }
  }
}
