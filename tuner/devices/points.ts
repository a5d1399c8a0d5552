/**
 * Points of a field on its devices: what is added to them, and who takes what is recorded.
 *
 * @module
 */
import { type FloatArray, type Precise, zeros } from "../../kernels/precision.ts";
import { indexOf } from "../../kernels/layout.ts";
import type { Point, Points } from "../../kernels/points.ts";
import { imageOf } from "../../kernels/stencils/stencil.ts";
import { firstOf, type PartPlace } from "../../models/rank_part.ts";
import type { SliceOf } from "./comparison.ts";

/** Points of a field on a device, with what is added to them and who takes what is recorded. */
export interface WatchedPoints extends Points {
  /** What is added in each step from t = `start` on: a value for each point, step by step. */
  amplitudes(start: number, steps: number): FloatArray<ArrayBuffer>;
  /** Takes samples from number `first` on, each with a value for each point; they come in order, and are gone afterwards. */
  take(first: number, values: FloatArray): void;
}

/** The values of cells that lie in the host's memory. */
export function sampleSlices(sliceOf: SliceOf, points: readonly Point[]): FloatArray {
  const values = zeros(sliceOf(0, 0).layout, points.length);
  points.forEach(({ field, cell: [x, y, z] }, i) => {
    const { cells, layout, slice } = sliceOf(0, x);
    values[i] = cells[indexOf(layout, [slice, y, z], field)]!;
  });
  return values;
}

/** The points of a grid's parts: each adds in its ghost zones too, and records its own cells. */
export function pointsOfParts(
  points: WatchedPoints,
  places: readonly PartPlace[],
  precise: Precise,
): WatchedPoints[] {
  /** Samples that some parts have recorded, by number, and how many parts have not. */
  const waiting = new Map<number, { readonly values: FloatArray; left: number }>();
  const { length } = points.recorded;
  let recording = 0;
  return places.map((place) => {
    const added = pointsIn(points.added, place, false), recorded = pointsIn(points.recorded, place, true);
    if (recorded.rows.length > 0) recording++;
    return {
      every: points.every,
      added: added.points,
      recorded: recorded.points,
      amplitudes(start, steps) {
        const all = points.amplitudes(start, steps), { rows } = added;
        const mine = zeros(precise, steps * rows.length);
        for (let step = 0, i = 0; step < steps; step++) {
          for (const row of rows) mine[i++] = all[step * points.added.length + row]!;
        }
        return mine;
      },
      take(first, values) {
        const { rows } = recorded;
        for (let i = 0, sample = first; i < values.length; sample++) {
          const whole = waiting.get(sample) ?? { values: zeros(precise, length), left: recording };
          waiting.set(sample, whole);
          for (const row of rows) whole.values[row] = values[i++]!;
          whole.left--;
        }
        for (const [sample, { values, left }] of [...waiting].sort(([a], [b]) => a - b)) {
          if (left > 0) break;
          points.take(sample, values);
          waiting.delete(sample);
        }
      },
    };
  });
}

/**
 * The points of a list that a part has, in its own coordinates, and their rows in the list; of a grid that closes to a ring
 * it may have one twice, in a ghost zone.
 *
 * @param isOwn whether points in ghost zones are left out
 */
export function pointsIn(points: readonly Point[], place: PartPlace, isOwn: boolean) {
  const { part: { own: { size }, before, grid }, whole } = place, start = firstOf(place);
  const found: Point[] = [], rows: number[] = [];
  /** The cells of the part along an axis that have this index in the whole grid. */
  const imagesOf = (at: number, axis: number): number[] => {
    const n = whole[axis]!, [from, cells] = isOwn ? [before[axis]!, size[axis]!] : [0, grid[axis]!];
    const first = imageOf(at - start[axis]! - from, n, "periodic")!;
    const images = Math.max(0, Math.ceil((cells - first) / n));
    return Array.from({ length: images }, (_, image) => from + first + image * n);
  };
  points.forEach(({ field, cell }, row) => {
    const [xs, ys, zs] = cell.map(imagesOf);
    for (const x of xs!) {
      for (const y of ys!) {
        for (const z of zs!) {
          found.push({ field, cell: [x, y, z] });
          rows.push(row);
        }
      }
    }
  });
  return { points: found, rows };
}
