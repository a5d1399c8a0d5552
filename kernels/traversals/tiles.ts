/**
 * The diamond tiles of torres, and the places of their cells.
 *
 * @module
 */
import { remembered } from "../remembered.ts";
import type { Update } from "../update.ts";
import { type Lean, leanOf } from "./lean.ts";

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
