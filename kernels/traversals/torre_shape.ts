/**
 * The sizes of a torre, and the places of its tiles: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import { type Layout, layOut } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { reachOf } from "../update.ts";
import { sumsOf } from "./torre_sums.ts";
import type { ParametersOf } from "./traversal.ts";

export type TorreParameters = ParametersOf<
  "dts" | "nt" | "bands" | "zPerThread" | "threads" | "chunk" | "unroll" | "lookahead"
>;

/** The lookahead with which all values are loaded while the tier before is computed. */
export const TIER_AHEAD = 100;

/** Everything about a torre that follows from the problem and the parameters. */
export interface TorreShape {
  readonly slope: number;
  /** W, cells along u and v. */
  readonly width: number;
  readonly cells: number;
  /** Places whose values are put into workgroup memory between two barriers. */
  readonly perChunk: number;
  /** Threads of a slot and, at each end, those of the rim that stay zero. */
  readonly slotLength: number;
  readonly rim: number;
  readonly layout: Layout;
}

export function shapeOf(
  { stencil, grid }: Problem,
  { dts, zPerThread, threads, chunk, unroll }: TorreParameters,
): TorreShape {
  const reach = reachOf(stencil.update);
  const slope = reach.diamond;
  const width = 2 * slope * dts;
  const rim = Math.ceil(reach.z / zPerThread);
  const alongX = width + slope * (unroll + 1); // tiers widened to whole rounds, and what they load ahead
  const lanes = threads * zPerThread;
  return {
    slope,
    width,
    cells: placesIn(width),
    perChunk: Math.min(chunk, placesIn(width + (sumsOf(stencil.update) === undefined ? 0 : 2 * slope))),
    slotLength: threads + 2 * rim,
    rim,
    layout: layOut(grid, {
      pad: [alongX, width + slope, Math.max(reach.z, lanes - grid[2])],
      align: 32,
      sharedPads: true,
    }),
  };
}

/** Bytes of workgroup memory: a chunk in each of two halves. */
export function exchangeBytes(
  { perChunk, slotLength }: TorreShape,
  { zPerThread }: TorreParameters,
): number {
  return 4 * zPerThread * 2 * perChunk * slotLength;
}

/** Places of a square as wide; widths are even. */
export function placesIn(width: number): number {
  return width * width / 2;
}

/** A cell of a tile in the torre's local coordinates. */
export type Place = readonly [a: number, b: number];

/** The place that lies Δx, Δy cells from another. */
export function shifted([a, b]: Place, x: number, y: number): Place {
  return [a + x + y, b + x - y];
}

/** The places of [from, to)², those that need the least of what is loaded first. */
export function square(from: number, to: number): Place[] {
  const places: Place[] = [];
  for (let a = from; a < to; a++) {
    for (let b = from; b < to; b++) if ((a + b) % 2 === 0) places.push([a, b]);
  }
  return places.sort((p, q) => Math.max(...p) - Math.max(...q) || p[0] - q[0] || p[1] - q[1]);
}
