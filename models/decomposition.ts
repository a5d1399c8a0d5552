/**
 * A grid cut into boxes, one for each rank: each axis into parts, so that ranks lie in rows along x, y and z (B2R, §3.1).
 * Rank numbers count along z first, then y, then x, as cells do.
 *
 * @module
 */
import type { Axis } from "../kernels/expression.ts";
import type { Grid } from "../kernels/stencils/stencil.ts";

/** Parts along x, y, z; their product is the number of ranks. */
export type Parts = Grid;

/** Cells from `low` on. */
export interface Extent {
  /** The first cell. */
  readonly low: Grid;
  /** Cells along x, y, z. */
  readonly size: Grid;
}

export type { Axis };
export const AXES: readonly Axis[] = [0, 1, 2];

/** A value for each axis. */
export function gridOf(of: (axis: Axis) => number): Grid {
  return [of(0), of(1), of(2)];
}

/** Every way to arrange `ranks` ranks. */
export function arrangements(ranks: number): Parts[] {
  const divisors = (n: number): number[] =>
    Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
  return divisors(ranks).flatMap((x) => divisors(ranks / x).map((y): Parts => [x, y, ranks / x / y]));
}

export function placeOf(rank: number, [, py, pz]: Parts): Grid {
  return [Math.floor(rank / (py * pz)), Math.floor(rank / pz) % py, rank % pz];
}

export function numberAt([x, y, z]: Grid, [, py, pz]: Parts): number {
  return (x * py + y) * pz + z;
}

/** The rank next to one along an axis; round the ring where it is periodic; undefined where the grid ends. */
export function neighbourOf(
  rank: number,
  { parts, axis, direction, isPeriodic }: {
    readonly parts: Parts;
    readonly axis: Axis;
    readonly direction: -1 | 1;
    readonly isPeriodic: boolean;
  },
): number | undefined {
  const place: [number, number, number] = [...placeOf(rank, parts)];
  const next = place[axis] + direction, count = parts[axis];
  if (!isPeriodic && (next < 0 || next >= count)) return undefined;
  place[axis] = (next + count) % count;
  return numberAt(place, parts);
}

/**
 * Cuts an axis into parts in proportion to weights (Eq. 8 for any number of devices), each of at least `least` cells.
 *
 * @returns where the parts begin, and the end; undefined where they do not fit
 */
export function cut(cells: number, weights: readonly number[], least: number): number[] | undefined {
  const count = weights.length, total = weights.reduce((sum, weight) => sum + weight, 0);
  if (cells < count * least) return undefined;
  const starts = [0];
  let weight = 0;
  for (let part = 1; part <= count; part++) {
    weight += weights[part - 1]!;
    // no nearer to the part before, nor to the end, than the parts between need
    const right = Math.round(cells * weight / total);
    starts.push(Math.min(Math.max(right, starts[part - 1]! + least), cells - (count - part) * least));
  }
  return starts;
}

/** Time of a part as a line over its slices (Eq. 1). */
export interface Line {
  readonly offsetNs: number;
  readonly nsPerSlice: number;
}

/**
 * Slices of each part with which the slowest is done first: all take about equally long (Eq. 8 for any number of devices).
 * One slice after another goes to the part that is done first with it.
 *
 * @param least slices that each part has; all together are no more than `slices`
 */
export function evenSlices(slices: number, lines: readonly Line[], least: number): number[] {
  const counts = lines.map(() => least);
  for (let left = slices - least * lines.length; left > 0; left--) {
    let next = 0, soonestNs = Infinity;
    for (const [i, { offsetNs, nsPerSlice }] of lines.entries()) {
      const timeNs = offsetNs + nsPerSlice * (counts[i]! + 1);
      if (timeNs <= soonestNs) [next, soonestNs] = [i, timeNs];
    }
    counts[next]!++;
  }
  return counts;
}

/**
 * What each rank computes: along each axis parts as thick as the ranks in them are fast.
 *
 * @param rates cells per second of each rank, or any numbers in proportion to them
 * @param least cells that a part has at least along each axis that is cut
 * @returns undefined where the parts do not fit
 */
export function decompose(
  { grid, parts, rates, least }: {
    readonly grid: Grid;
    readonly parts: Parts;
    readonly rates: readonly number[];
    readonly least: Grid;
  },
): Extent[] | undefined {
  const starts = AXES.map((axis) => {
    const weights = new Array<number>(parts[axis]).fill(0);
    rates.forEach((rate, rank) => weights[placeOf(rank, parts)[axis]]! += rate);
    return cut(grid[axis], weights, Math.max(1, parts[axis] > 1 ? least[axis] : 0));
  });
  if (starts.includes(undefined)) return undefined;
  return rates.map((_, rank) => {
    const place = placeOf(rank, parts);
    const low = gridOf((axis) => starts[axis]![place[axis]]!);
    return { low, size: gridOf((axis) => starts[axis]![place[axis] + 1]! - low[axis]) };
  });
}
