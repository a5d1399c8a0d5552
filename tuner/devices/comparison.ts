import type { FloatArray } from "../../kernels/precision.ts";
import { indexOf, type Layout } from "../../kernels/layout.ts";

/** Slices of a level, all planes of them, from one of an array on. */
export interface SliceCells {
  readonly cells: FloatArray;
  readonly layout: Layout;
  readonly slice: number;
}

/** Says where a slice of F(t) (`ago` = 0) or F(t−1) lies in the host's memory. */
export type SliceOf = (ago: 0 | 1, x: number) => SliceCells;

/** Slices of a field's level. */
export interface FieldSlices {
  /** 0: F(t), 1: F(t−1). */
  readonly ago: 0 | 1;
  readonly slice: number;
  readonly slices: number;
}

/** What a field on the host or on workers is asked to do. */
export interface RunOptions {
  readonly steps: number;
  /** Runs of these steps, one after another. @default {1} */
  readonly repetitions?: number;
  /**
   * Ghost zones at low and at high x. There step i = 1, 2, … leaves out the outermost i·(reach of a step along x)
   * slices, whose neighbours are unknown (B2R, Eq. 2). After R steps the slices further than R·reach from that side
   * are right.
   * @default {neither}
   */
  readonly ghost?: { readonly low?: boolean; readonly high?: boolean };
}

/** How two fields differ, on whatever device. */
export interface Comparison {
  readonly maxError: number;
  /** Largest |value| of the reference's fields; materials may be far larger. */
  readonly maxValue: number;
  /** Cells where either is infinite or not a number. */
  readonly notFinite: number;
  readonly cells: number;
}

export function joinComparisons(parts: readonly Comparison[]): Comparison {
  return parts.reduce((a, b) => ({
    maxError: Math.max(a.maxError, b.maxError),
    maxValue: Math.max(a.maxValue, b.maxValue),
    notFinite: a.notFinite + b.notFinite,
    cells: a.cells + b.cells,
  }), { maxError: 0, maxValue: 0, notFinite: 0, cells: 0 });
}

/** Compares slices with those that are expected: all planes that both have. */
export function compareSlices(result: SliceCells, expected: SliceCells, slices: number): Comparison {
  const { cells, layout: { grid: [, ny, nz] } } = result, { cells: wanted } = expected;
  const fewer = [result.layout, expected.layout].find(({ layered }) => layered) ?? result.layout;
  const { planes, fields = planes, layered = 0 } = fewer;
  let maxError = 0, maxValue = 0, notFinite = 0;
  for (let x = 0; x < slices; x++) {
    for (let row = 0; row < planes * ny; row++) {
      const y = row % ny, stored = Math.floor(row / ny), plane = stored < fields ? stored : stored + layered;
      const mine = indexOf(result.layout, [result.slice + x, y, 0], plane);
      const other = indexOf(expected.layout, [expected.slice + x, y, 0], plane);
      for (let z = 0; z < nz; z++) {
        const value = Math.abs(wanted[other + z]!), error = Math.abs(cells[mine + z]! - wanted[other + z]!);
        if (!(error < Infinity)) notFinite++;
        else if (error > maxError) maxError = error;
        if (plane < fields && value > maxValue) maxValue = value;
      }
    }
  }
  return { maxError, maxValue, notFinite, cells: slices * planes * ny * nz };
}
