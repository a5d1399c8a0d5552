/**
 * Cells that something is added to, or whose value is recorded, at every step: what sources and receivers come to. In the
 * step from t to t + 1 first all cells are updated, then a source's value for t is added to its cells, and what is recorded
 * is the sum.
 *
 * @module
 */
import type { Offset } from "./expression.ts";

/** A cell of a field, or of what is only read also of a material. */
export interface Point {
  readonly field: number;
  readonly cell: Offset;
}

/** What is done at points; no list has a point twice. */
export interface Points {
  readonly added: readonly Point[];
  readonly recorded: readonly Point[];
  /** Steps from one record to the next: t is recorded where it is a multiple. */
  readonly every: number;
}

/** How many sources and receivers a problem has, wherever they are. */
export interface PointCounts {
  /** Sources. */
  readonly sources: number;
  /** Receivers. */
  readonly receivers: number;
  /** Steps from one record to the next. @default {1} */
  readonly every?: number | undefined;
}

/** A point with its rows in what is added and recorded; −1: none. */
export interface PlacedPoint extends Point {
  readonly added: number;
  readonly recorded: number;
}

/** Every point once, by field, then x, y, z. */
export function placePoints({ added, recorded }: Pick<Points, "added" | "recorded">): PlacedPoint[] {
  const found = new Map<string, PlacedPoint>();
  for (const [list, name] of [[added, "added"], [recorded, "recorded"]] as const) {
    list.forEach(({ field, cell }, row) => {
      const key = `${field} ${cell}`;
      found.set(key, { field, cell, added: -1, recorded: -1, ...found.get(key), [name]: row });
    });
  }
  return [...found.values()].sort((p, q) =>
    p.field - q.field || p.cell[0] - q.cell[0] || p.cell[1] - q.cell[1] || p.cell[2] - q.cell[2]
  );
}

/** Samples that are recorded in the steps from t = `start` to t = `start` + `steps`, without t = `start`. */
export function samplesIn(start: number, steps: number, every: number): number {
  return Math.floor((start + steps) / every) - Math.floor(start / every);
}
