import type { Rows } from "../../../kernels/cpu/cpu_order.ts";
import { indexOf, type Layout } from "../../../kernels/layout.ts";
import { type PlacedPoint, placePoints, type Points } from "../../../kernels/points.ts";
import type { FloatArray } from "../../../kernels/precision.ts";
import type { Update } from "../../../kernels/update.ts";

/** The points of a row of cells: where each lies in a level, and its rows in what is added and recorded. */
interface Row {
  readonly y: number;
  readonly isAddedTo: boolean;
  readonly points: readonly { readonly cell: number; readonly added: number; readonly recorded: number }[];
}

/** What a run from t = `start` on adds and records: a row a step, a row a sample, in memory that workers share. */
export interface PointSeries {
  readonly start: number;
  readonly added: FloatArray;
  readonly recorded: FloatArray;
}

/** Points of a field's rows, for workers that have just made some of them. */
export class RowPoints {
  /** By sub-step and slice. */
  readonly #rows: readonly ReadonlyMap<number, readonly Row[]>[];

  constructor(private readonly points: Points, layout: Layout, { substeps }: Update) {
    const placed = placePoints(points);
    this.#rows = substeps.map((substep) => {
      const made = placed.filter(({ field }) => substep.some((value) => value.field === field));
      const bySlice = Map.groupBy(made, ({ cell: [x] }) => x);
      return new Map([...bySlice].map(([x, inSlice]) => [x, rowsOf(inSlice, layout)]));
    });
  }

  /**
   * Adds to the points of rows that a sub-step has just made, and records them.
   *
   * @param level the level that holds the rows
   * @param changed called for every row that something was added to
   */
  visit(
    { substep, step, level, rows: { x0, x1, y0, y1 } }: {
      readonly substep: number;
      /** Counted from the run's first. */
      readonly step: number;
      readonly level: FloatArray;
      readonly rows: Rows;
    },
    { start, added, recorded }: PointSeries,
    changed: (x: number, y: number) => void,
  ): void {
    const slices = this.#rows[substep]!, { every } = this.points;
    if (slices.size === 0) return;
    const inAdded = step * this.points.added.length, t = start % every + step + 1;
    const inRecorded = t % every === 0 ? (t / every - 1) * this.points.recorded.length : -1;
    for (let x = x0; x < x1; x++) {
      for (const { y, isAddedTo, points } of slices.get(x) ?? []) {
        if (y < y0 || y >= y1) continue;
        for (const point of points) {
          if (point.added >= 0) level[point.cell] = level[point.cell]! + added[inAdded + point.added]!;
          if (point.recorded >= 0 && inRecorded >= 0) {
            recorded[inRecorded + point.recorded] = level[point.cell]!;
          }
        }
        if (isAddedTo) changed(x, y);
      }
    }
  }
}

function rowsOf(points: readonly PlacedPoint[], layout: Layout): Row[] {
  return [...Map.groupBy(points, ({ cell: [, y] }) => y)].map(([y, inRow]) => ({
    y,
    isAddedTo: inRow.some(({ added }) => added >= 0),
    points: inRow.map(({ field, cell, ...rows }) => ({ cell: indexOf(layout, cell, field), ...rows })),
  }));
}
