/**
 * Initial values that any target can make for itself, without a transfer: a hash of the cell's coordinates.
 * Every cell differs from its neighbours, so that any misplaced read shows.
 *
 * @module
 */
import type { Grid } from "./stencils/stencil.ts";

/**
 * What a run starts from. `noise`: multiples of 2⁻²³ in [−1, 1). `integers`: whole numbers in [−4, 3], on
 * which f32 is exact and comparisons are bit for bit. Both levels, t and t − 1, hold the same values: the
 * field starts at rest, so that its amplitude stays bounded.
 */
export type InitialField = "noise" | "integers";

/** Multipliers of the hash: odd, from the fractional parts of √2, √3, √5, and Murmur3's finaliser. */
export const HASH = {
  x: 0x6a09e667,
  y: 0xbb67ae85,
  z: 0x3c6ef373,
  first: 0x85ebca6b,
  second: 0xc2b2ae35,
} as const;

/** The 32-bit hash of a cell; the same arithmetic stands in the WGSL of `kernels/wgsl/fields.ts`. */
export function hashCell([x, y, z]: Grid, seed: number): number {
  let h = (Math.imul(x, HASH.x) + Math.imul(y, HASH.y) + Math.imul(z, HASH.z) + seed) | 0;
  h = Math.imul(h ^ (h >>> 16), HASH.first);
  h = Math.imul(h ^ (h >>> 13), HASH.second);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The initial value of a cell, exact in f32. */
export function initialValue(kind: InitialField, cell: Grid, seed: number): number {
  const hash = hashCell(cell, seed);
  return kind === "noise" ? (hash >>> 8) * 2 ** -23 - 1 : (hash >>> 29) - 4;
}
