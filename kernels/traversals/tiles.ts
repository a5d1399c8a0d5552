/**
 * The diamond tiles of torres: how torres lean, where each field's tiles lie in them, and the places of their cells.
 *
 * Every field has tiles of its own, all as wide, that begin at a corner (α, β) of the field in the torre's coordinates u
 * and v. A torre needs nothing but what those at its right leave behind if for each tap of field f on field g, Δu = Δx + Δy
 * and the same with β and Δv = Δx − Δy,
 *
 *     −S ≤ α_f + Δu − α_g ≤ S     for a value of the step before: its tile lay S behind
 *      0 ≤ α_f + Δu − α_g ≤ 2S    for one that this step has made
 *
 * Left of that no torre has been yet; right of it the next-but-one tier has replaced the value. The slope S is the smallest
 * for which there are corners: of one field the largest |Δx| + |Δy|, of a staggered grid what a whole step reaches.
 *
 * @module
 */
import { tapsIn } from "../expression.ts";
import { remembered } from "../remembered.ts";
import { reachOf, type Update } from "../update.ts";

/** What follows from the taps alone. */
export interface Lean {
  readonly slope: number;
  /** The corners of the fields' tiles. */
  readonly corners: readonly (readonly [a: number, b: number])[];
  /** Cells by which some tile lies further along x, and further down y, than that of a corner 0, 0; none the other way. */
  readonly spread: readonly [x: number, y: number];
  /** How far beyond tiles a tier reads along u and v, materials too. */
  readonly margin: number;
}

export const leanOf: (update: Update) => Lean = remembered(findLean);

function findLean(update: Update): Lean {
  const { diamond } = reachOf(update), fields = update.fields.length;
  if (fields === 1) return { slope: diamond, corners: [[0, 0]], spread: [0, 0], margin: diamond };
  for (let slope = 1;; slope++) {
    const us = cornersAlong(update, slope, ([x, y]) => x + y);
    const vs = cornersAlong(update, slope, ([x, y]) => x - y);
    if (us === undefined || vs === undefined) continue;
    const most = (of: (u: number, v: number) => number): number =>
      Math.max(...us.map((u, f) => of(u, vs[f]!)));
    // the torre's coordinates begin where no tile lies further back along x or further along y
    const back = Math.ceil(most((u, v) => -u - v) / 2), up = Math.ceil(most((u, v) => u - v) / 2);
    const corners = us.map((u, f) => [u + back - up, vs[f]! + back + up] as const);
    const spread = [
      Math.ceil(Math.max(...corners.map(([a, b]) => a + b)) / 2),
      Math.ceil(Math.max(...corners.map(([a, b]) => b - a)) / 2),
    ] as const;
    return { slope, corners, spread, margin: Math.max(2 * slope, diamond) };
  }
}

/** Corners along u or v, as near to the first field's as the slope permits; undefined where it permits none. */
function cornersAlong(
  { fields, substeps }: Update,
  slope: number,
  along: (offset: readonly [number, number, number]) => number,
): number[] | undefined {
  /** By how much the second field's corner may exceed the first's, at most. */
  const most = fields.map((_, f) => fields.map((_, g) => f === g ? 0 : Infinity));
  const limit = (f: number, g: number, by: number): void => void (most[f]![g] = Math.min(most[f]![g]!, by));
  for (const { field, value } of substeps.flat()) {
    for (const { plane, ago, offset } of tapsIn([value])) {
      if (plane >= fields.length) continue;
      const least = ago === 0 ? -slope : 0, by = along(offset);
      limit(field, plane, by - least);
      limit(plane, field, least + 2 * slope - by);
    }
  }
  for (const k of fields.keys()) {
    for (const f of fields.keys()) for (const g of fields.keys()) limit(f, g, most[f]![k]! + most[k]![g]!);
  }
  if (most.some((row, f) => row[f]! < 0)) return undefined;
  const corners: number[] = [];
  for (const g of fields.keys()) {
    const low = Math.max(...corners.map((at, f) => at - most[g]![f]!));
    const high = Math.min(...corners.map((at, f) => at + most[f]![g]!));
    corners.push(Math.max(low, Math.min(high, 0)));
  }
  return corners;
}

/** Where the tiles of a torre lie. */
export interface TorreTiles extends Lean {
  readonly dts: number;
  /** W, cells along u and v. */
  readonly width: number;
}

export const tilesOf: (update: Update, dts: number) => TorreTiles = remembered((update, dts) => {
  const lean = leanOf(update);
  return { ...lean, dts, width: 2 * lean.slope * dts };
});

/** Places of a square as wide; widths are even. */
export function placesIn(width: number): number {
  return width * width / 2;
}

/** A cell of a tile in the torre's local coordinates. */
export type Place = readonly [a: number, b: number];

/** A number of a place and a kind: tiles whose kernels compile in time are narrower than 2¹² cells. */
export function keyAt([a, b]: Place, kind = 0): number {
  return (kind * 2 ** 13 + a + 2 ** 12) * 2 ** 13 + b + 2 ** 12;
}

/** The place that lies Δx, Δy cells from another. */
export function shifted([a, b]: Place, x: number, y: number): Place {
  return [a + x + y, b + x - y];
}

/** Orders places by growing x, then y. */
export function alongX([a, b]: Place, [c, d]: Place): number {
  return a + b - c - d || a - b - c + d;
}

/** The places of [from, to)², those that need the least of what is loaded first. */
export function square(from: number, to: number): Place[] {
  return squareAt([from, from], to - from);
}

/** The places of a field's tile, in the same order. */
export function tileOf({ corners, width }: Pick<TorreTiles, "corners" | "width">, field: number): Place[] {
  return squareAt(corners[field]!, width);
}

function squareAt([u, v]: Place, width: number): Place[] {
  const places: Place[] = [];
  for (let a = u; a < u + width; a++) {
    for (let b = v; b < v + width; b++) if ((a + b) % 2 === 0) places.push([a, b]);
  }
  return places.sort(byDepth);
}

/** Orders places by what they need of what is loaded. */
export function byDepth(p: Place, q: Place): number {
  return Math.max(...p) - Math.max(...q) || p[0] - q[0] || p[1] - q[1];
}
