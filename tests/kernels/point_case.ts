/**
 * Points in awkward places, with whole numbers added to them, and what the oracle makes of them: the corners of the grid, a
 * dense block that crosses tiles, a row, and cells apart.
 *
 * @module
 */
import { type FloatArray, type Precise, precisionOf } from "../../kernels/precision.ts";
import { assertEquals, assertLess } from "@std/assert";
import type { Point, Points } from "../../kernels/points.ts";
import { type FieldLevels, runReference } from "../../kernels/reference.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious, type Substep } from "../../kernels/update.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import type { SliceOf } from "../../tuner/devices/comparison.ts";
import { sampleSlices, type WatchedPoints } from "../../tuner/devices/points.ts";
import { maxAbs, readable } from "../devices/cells.ts";

/** What a problem's plan needs to know of them. */
export const SURVEY = { sources: 1, receivers: 1 } as const;

const START = { kind: "integers", seed: 20_261_123 } as const;

/** Points of a field. */
export function awkwardPoints(
  { grid: [nx, ny, nz] }: { readonly grid: Grid },
  every: number,
  field = 0,
): Points {
  const ends = (n: number) => n === 1 ? [0] : [0, n - 1];
  const corners = ends(nx).flatMap((x) => ends(ny).flatMap((y) => ends(nz).map((z) => [x, y, z] as const)));
  const block: Grid[] = [], row: Grid[] = [];
  for (let x = nx >> 1; x < Math.min(nx, (nx >> 1) + 4); x++) {
    for (let y = Math.min(1, ny - 1); y < Math.min(ny, 6); y++) {
      for (let z = 2; z < nz - 1; z++) block.push([x, y, z]);
    }
  }
  for (let x = 0; x < nx; x++) row.push([x, ny >> 1, nz - 2]);
  const points = (cells: readonly Grid[]): Point[] => {
    return [...new Map(cells.map((cell) => [`${cell}`, { field, cell }])).values()];
  };
  return {
    added: points([...block.filter((_, i) => i % 3 !== 1), ...corners, [1, 0, 1]]),
    recorded: points([...corners, ...row, ...block.filter((_, i) => i % 2 === 0), [1, 0, 2]]),
    every,
  };
}

/** A whole number for each point and step. */
function amplitudeAt(row: number, step: number): number {
  return (5 * row + 3 * step + row * step) % 7 - 3;
}

/** Points to watch, and the samples that were taken, by number. */
export function watchedOf(
  points: Points,
  of: Precise = {},
): WatchedPoints & { readonly samples: Map<number, FloatArray> } {
  const samples = new Map<number, FloatArray>();
  return {
    ...points,
    samples,
    amplitudes(start, steps) {
      const { length } = points.added;
      return precisionOf(of).Values.from(
        { length: steps * length },
        (_, i) => amplitudeAt(i % length, start + Math.floor(i / length)),
      );
    },
    take(first, values) {
      const { length } = points.recorded;
      for (let i = 0; i < values.length / length; i++) {
        samples.set(first + i, values.slice(i * length, (i + 1) * length));
      }
    },
  };
}

/** What runs and is compared. */
export interface PointRun {
  readonly problem: Omit<Problem, "survey">;
  readonly points: Points;
  readonly runs: readonly number[];
}

/** A field that adds to points. */
type Field = {
  initialise(start: typeof START): Promise<void>;
  watch(points: WatchedPoints): Promise<void>;
} & ({ sample(cells: readonly Point[]): Promise<FloatArray> } | { slices(): SliceOf });

/** Asserts that levels and samples of a field are the oracle's, bit for bit. */
export async function assertPoints<Of extends Field>(
  field: Of,
  { problem, points, runs }: PointRun,
  { run, read }: {
    run(field: Of, steps: number): Promise<unknown>;
    /** A level, dense: x, planes, y, z. */
    read(field: Of, ago: 0 | 1): Promise<FloatArray>;
  },
): Promise<void> {
  const { grid: [, ny, nz], stencil: { update } } = problem, planes = planesOf(update);
  const { Values, unit } = precisionOf(update),
    watched = watchedOf(points, update),
    expected = new Map<number, FloatArray>();
  await field.initialise(START);
  await field.watch(watched);
  for (const steps of runs) await run(field, steps);
  const initial = initialCells(problem, START);
  let levels: FieldLevels = { current: initial, previous: initial };
  const at = ({ field, cell: [x, y, z] }: Point): number => ((x * planes + field) * ny + y) * nz + z;
  const all = runs.reduce((sum, steps) => sum + steps, 0);
  for (let t = 0; t < all; t++) {
    const onMade = (made: Substep, level: FloatArray | Float64Array): void =>
      points.added.forEach((point, row) => {
        if (made.some(({ field }) => field === point.field)) level[at(point)]! += amplitudeAt(row, t);
      });
    levels = runReference(levels, { ...problem, update, steps: 1, start: t, onMade });
    const samples = Values.from(points.recorded.map((point) => levels.current[at(point)]!));
    if ((t + 1) % points.every === 0) expected.set((t + 1) / points.every, samples);
  }
  assertLess(maxAbs(levels.current), 1 / (8 * unit), "sums of some values are no longer exact");
  assertEquals(watched.samples, expected);
  const now = Values.from(points.added.map((point) => levels.current[at(point)]!));
  const sampled = "sample" in field
    ? await field.sample(points.added)
    : sampleSlices(field.slices(), points.added);
  assertEquals(sampled, now, "the values that cells have now");
  assertEquals(await read(field, 0), readable(levels.current, problem), "F(t)");
  if (readsPrevious(update)) assertEquals(await read(field, 1), readable(levels.previous, problem), "F(t-1)");
}
