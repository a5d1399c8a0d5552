/**
 * Initial values that any target can make for itself, without a transfer: a hash of the cell's coordinates.
 * Every cell differs from its neighbours, so that any misplaced read shows.
 *
 * @module
 */
import type { Offset } from "./expression.ts";
import type { FloatArray } from "./precision.ts";
import { DEFAULT_RANGE, type Update, type ValueRange } from "./update.ts";

/**
 * What a run starts from. `noise`: numbers within each field's range, as multiples of
 * 2⁻²³ in [−1, 1). `integers`: whole numbers in [−4, 3], on
 * which f32 is exact and comparisons are bit for bit. `binary`: ones in a quarter of the cells, zeros elsewhere.
 * All levels hold the same values: the field starts at rest, so that its amplitude stays bounded.
 */
export type InitialField = "noise" | "integers" | "binary";

/** What a field may be set to, materials to what they start from. */
export type Pattern = InitialField | "zero";

/** What a field starts from. */
export interface Start {
  /** Which pattern. */
  readonly kind: InitialField;
  /** Whole number that selects the values. */
  readonly seed: number;
}

/** What a field is set to, and at which time step. */
export interface FieldStart {
  /** Which pattern. */
  readonly kind: Pattern;
  /** Whole number that selects the values. */
  readonly seed: number;
  /** Time steps before it. @default {0} */
  readonly step?: number;
}

/** The same of a field that is a part of a grid. */
export interface PartStart extends FieldStart {
  /** Where the field's cell (0, 0, 0) lies in the whole grid. @default {there too} */
  readonly first?: Offset;
  /** Cells of the whole grid, where it repeats beyond them. @default {the field's own} */
  readonly whole?: Offset;
}

/** What says how fields start: a stencil. */
interface Starting {
  readonly update: Pick<Update, "fields" | "ranges">;
  readonly initialField?: InitialField;
}

export const INITIAL_FIELDS: readonly InitialField[] = ["noise", "integers", "binary"];

/** What the initial values of a field lie between. */
export function rangeOf({ update, initialField = "noise" }: Starting, field: number): ValueRange {
  if (initialField === "noise") return update.ranges?.[field] ?? DEFAULT_RANGE;
  return initialField === "binary" ? [0, 1] : [-4, 3];
}

/** Largest |value| of the initial fields; 1 where all are 0. */
export function amplitudeOf(stencil: Starting): number {
  return Math.max(...stencil.update.fields.flatMap((_, field) => rangeOf(stencil, field)).map(Math.abs)) || 1;
}

/** Noise within a range: `unit` times a whole number, one of `count` from `least` on, all exact in f32. */
export interface Noise {
  readonly least: number;
  readonly count: number;
  /** A power of two. */
  readonly unit: number;
}

/** The finest noise within a range. */
export function noiseIn(range: ValueRange): Noise {
  const lowest = Math.fround(range[0]), highest = Math.fround(range[1]);
  const widest = Math.max(Math.abs(lowest), Math.abs(highest), highest - lowest);
  let unit = 2 ** Math.max(-126, Math.ceil(Math.log2(widest || 1)) - 24);
  if (widest > unit * 2 ** 24) unit *= 2; // the logarithm was rounded down
  const least = Math.ceil(lowest / unit);
  return { least, count: Math.max(1, Math.floor(highest / unit) - least), unit };
}

/** Multipliers of the hash: odd, from the fractional parts of √2, √3, √5, and Murmur3's finaliser. */
export const HASH = {
  x: 0x6a09e667,
  y: 0xbb67ae85,
  z: 0x3c6ef373,
  first: 0x85ebca6b,
  second: 0xc2b2ae35,
} as const;

/** The 32-bit hash of a cell; the same arithmetic stands in the WGSL of `kernels/wgsl/fields.ts`. */
export function hashCell([x, y, z]: readonly [number, number, number], seed: number): number {
  return mix((Math.imul(x, HASH.x) + Math.imul(y, HASH.y) + Math.imul(z, HASH.z) + seed) | 0);
}

function mix(bits: number): number {
  let h = Math.imul(bits ^ (bits >>> 16), HASH.first);
  h = Math.imul(h ^ (h >>> 13), HASH.second);
  return (h ^ (h >>> 16)) >>> 0;
}

/** How the seeds of two planes of one problem differ: 2³² by the golden ratio. */
export const PLANE_SEED = 0x9e3779b9;

function valueOf(kind: Pattern, hash: number, { least, count, unit }: Noise): number {
  switch (kind) {
    case "noise":
      return ((hash >>> 8) % count + least) * unit;
    case "integers":
      return (hash >>> 29) - 4;
    case "binary":
      return hash >>> 30 === 0 ? 1 : 0;
    case "zero":
      return 0;
  }
}

type Planes = Pick<Update, "fields" | "materials" | "ranges" | "layers">;

/** The initial values of a row of any plane, from its first cell on: of a material's cell one of its eight. */
export function initialRow(
  { fields, materials, ranges, layers = [], kind, seed }: Planes & { kind: Pattern; seed: number },
  [x, y, first = 0]: readonly [x: number, y: number, z?: number],
  plane: number,
  row: FloatArray,
): void {
  const values = materials[plane - fields.length]?.values;
  if (values === undefined && plane >= fields.length - layers.length) return void row.fill(0);
  const noise = noiseIn(ranges?.[plane] ?? DEFAULT_RANGE), seedOfPlane = seed + Math.imul(plane, PLANE_SEED);
  const start = Math.imul(x, HASH.x) + Math.imul(y, HASH.y) + Math.imul(first, HASH.z) + seedOfPlane;
  for (let z = 0; z < row.length; z++) {
    const hash = mix((start + Math.imul(z, HASH.z)) | 0);
    row[z] = values === undefined ? valueOf(kind, hash, noise) : values[hash >>> 29]!;
  }
}
