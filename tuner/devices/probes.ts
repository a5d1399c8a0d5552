/**
 * How a reference is compared with the oracle while it is computed: in **probes**, boxes at both ends of the grid, at random
 * cells, where the cells of a workgroup or a section end, and at a source. Of each the oracle computes the first few steps
 * and the last few by itself, in all cells that the box depends on, as a grid of its own.
 *
 * @module
 */
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { wholeFields } from "../../kernels/layers.ts";
import type { Point } from "../../kernels/points.ts";
import { type FieldLevels, type ReferenceRun, runReference } from "../../kernels/reference.ts";
import {
  alongAxes,
  cellsOf,
  type Grid,
  imageOf,
  ownOf,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { operationsOf, planesOf, stepReach } from "../../kernels/update.ts";
import { AXES, type Extent, gridOf } from "../../models/decomposition.ts";
import { errorBound } from "../../models/error_bound.ts";
import { type Box, cellsIn, firstOf, type Place, problemOfRank } from "../../models/rank_part.ts";
import { NOTHING } from "./gpu/gpu_points.ts";
import { initialCells, runsOf } from "./oracle.ts";
import { pointsIn, type WatchedPoints } from "./points.ts";
import { stateLevels } from "./reference.ts";
import { RunFailure, UnstableProblem } from "./run_failure.ts";
import type { PartField } from "./shared/part_field.ts";
import type { Survey } from "./survey.ts";

/** What is run, and how it is compared. */
export interface ProbedRun {
  readonly problem: Problem;
  readonly start: Start;
  readonly survey: Survey | undefined;
  /** What the oracle may do, roughly; 0: nothing is compared. */
  readonly operations: number;
  /** What computes the field. */
  readonly name: string;
  /** Whether it must give the oracle's bits. @default {false: rounding explains differences} */
  readonly isExact?: boolean;
}

/** Steps of a probe at a time, and its cells along x and y: as many as the oracle has time for, in this order. */
const STEPS = [4, 3, 2, 1], SIZES = [64, 32, 16, 8, 4, 2];

/** Probes are so many times longer along z, as workgroups are; these end at multiples of a power of two. */
const LENGTHENED = 4, SEAM = 64;

/**
 * Runs all steps of a problem from its start on a field that has the whole grid, and compares probes.
 *
 * @returns what the oracle has computed of it; undefined: everything
 * @throws {RunFailure} if the field is wrong
 */
export async function runProbed(part: PartField, run: ProbedRun): Promise<string | undefined> {
  const { problem, problem: { steps }, survey, start, operations } = run, record = new PointRecord(part);
  const advance = async (count: number): Promise<void> => void await (await part.begin(count)).finish();
  await part.initialise(start);
  await survey?.watch(record);
  if (operations === 0) {
    await advance(steps);
    return "nothing";
  }
  const { extents, count, isAll } = chooseProbes(part, run, record.points);
  const probes = extents.map((own) => new Probe(placeAround(problem, own, count), run, record));
  await advance(count);
  const found = await readStates(part, probes), again = isAll ? steps : laterStep(problem, count);
  record.isKept = false;
  const between = await part.begin(again - count);
  await new Promise((resolve) => setTimeout(resolve)); // a worker begins before the oracle takes this thread
  probes.forEach((probe, i) => probe.compare(probe.initial, found[i]!, { from: 0, steps: count }));
  await between.finish();
  record.isKept = true;
  const last = Math.min(count, steps - again), open = probes.filter(({ isReadable }) => isReadable);
  if (last > 0) {
    const before = await readStates(part, open);
    await advance(last);
    const after = await readStates(part, open);
    open.forEach((probe, i) => probe.compare(before[i]!, after[i]!, { from: again, steps: last }));
    await advance(steps - again - last);
  }
  return isAll ? undefined : `${count + last} of ${steps} steps in ${probes.length} boxes`;
}

/** The step from which probes are compared again, up to the last one, or the last of which a sample is recorded. */
function laterStep({ steps, survey }: Problem, count: number): number {
  const every = survey?.every ?? 1, sample = Math.floor(steps / every) * every;
  return Math.max(count, Math.min(steps - count, sample > 0 ? sample - 1 : steps));
}

/** The boxes that are compared, and the steps that the oracle computes of each at a time. */
function chooseProbes(
  { onGpu }: PartField,
  { problem: { grid, steps, stencil: { update } }, operations }: ProbedRun,
  { added, recorded }: WatchedPoints,
): { readonly extents: readonly Extent[]; readonly count: number; readonly isAll: boolean } {
  const work = Math.max(1, operationsOf(update)), { x, y, z } = stepReach(update), reach = [x, y, z];
  if (cellsOf(grid) * steps * work <= operations) {
    return { extents: [{ low: [0, 0, 0], size: grid }], count: steps, isAll: true };
  }
  const random = (n: number): number => Math.floor(Math.random() * n);
  const oneOf = <T>(list: readonly T[]): T | undefined => list[random(list.length)];
  const keys = new Set(added.map(({ field, cell }) => `${field} ${cell}`));
  const both = recorded.filter(({ field, cell }) => keys.has(`${field} ${cell}`));
  const high = gridOf((axis) => grid[axis] - 1);
  const [seamX, ...seams] = gridOf((axis) => SEAM * (1 + random(Math.floor(high[axis] / SEAM))));
  const centres: Grid[] = [
    [0, 0, 0],
    high,
    [oneOf(onGpu?.plan.storage.sections?.slice(1) ?? [])?.own[0] ?? seamX, ...seams],
    gridOf((axis) => oneOf([0, high[axis], random(grid[axis])])!),
    gridOf((axis) => random(grid[axis])),
    ...[oneOf(both) ?? oneOf(added) ?? oneOf(recorded)].flatMap((point) => point ? [point.cell] : []),
  ];
  const ways = STEPS.filter((count) => count <= steps).flatMap((count) =>
    SIZES.map((cells) => {
      const size = gridOf((axis) => Math.min(grid[axis], axis === 2 ? LENGTHENED * cells : cells));
      const computed = gridOf((axis) => Math.min(grid[axis], size[axis] + 2 * count * reach[axis]!));
      return { count, size, cost: 2 * centres.length * cellsOf(computed) * count * work };
    })
  );
  const { count, size } = ways.find(({ cost }) => cost <= operations) ?? ways.at(-1)!;
  const lowOf = (centre: number, cells: number, n: number): number =>
    Math.max(0, Math.min(n - cells, centre - (cells >> 1)));
  const extents = centres.map((centre) => ({
    low: gridOf((axis) => lowOf(centre[axis], size[axis], grid[axis])),
    size,
  }));
  return { extents, count, isAll: false };
}

/** Where the cells lie that a box depends on for some steps. */
function placeAround({ grid: whole, boundary, stencil }: Problem, own: Extent, steps: number): Place {
  const { x, y, z } = stepReach(stencil.update), along = alongAxes(boundary);
  const sides = AXES.map((axis) => {
    const reach = steps * [x, y, z][axis]!, n = whole[axis], low = own.low[axis], size = own.size[axis];
    const isPeriodic = along[axis] === "periodic", isRing = isPeriodic && size + 2 * reach < n;
    return [low, n - low - size].map((room) => {
      const cells = isRing ? reach : isPeriodic ? room : Math.min(reach, room);
      return { cells, isOpen: isRing || cells < room };
    });
  });
  const before = gridOf((axis) => sides[axis]![0]!.cells), after = gridOf((axis) => sides[axis]![1]!.cells);
  const grid = gridOf((axis) => before[axis] + own.size[axis] + after[axis]);
  const neighbours = sides.map(([low, high]) =>
    [low!.isOpen ? 0 : undefined, high!.isOpen ? 0 : undefined] as const
  );
  return { part: { own, before, after, grid, neighbours }, whole };
}

/** What a survey watches: a field, whose samples are kept for probes. */
class PointRecord {
  points: WatchedPoints = NOTHING;
  isKept = true;
  /** By number: a value for each point that is recorded. */
  readonly samples = new Map<number, Float32Array>();
  readonly sample: PartField["sample"];

  constructor(readonly part: PartField) {
    this.sample = (cells) => part.sample(cells);
  }

  get step(): number {
    return this.part.step;
  }

  get profiles(): PartField["profiles"] {
    return this.part.profiles;
  }

  async watch(points: WatchedPoints): Promise<void> {
    const { length } = points.recorded;
    this.points = points;
    await this.part.watch({
      ...points,
      take: (first, values) => {
        for (let i = 0; this.isKept && i * length < values.length; i++) {
          this.samples.set(first + i, values.slice(i * length, (i + 1) * length));
        }
        points.take(first, values);
      },
    });
  }
}

/** A box of the grid, within the cells that it depends on. */
class Probe {
  /** What the run starts from: x, planes, y, z. */
  readonly initial: FieldLevels<Float32Array>;
  /** Where its cells lie in the grid, level by level, and where each of these boxes begins. */
  readonly boxes: readonly (Box & { readonly to: Grid })[];

  constructor(readonly place: Place, readonly run: ProbedRun, readonly record: PointRecord) {
    const { problem, problem: { stencil }, start } = run, { part: { grid }, whole } = place;
    const first = firstOf(place), cells = initialCells({ grid, stencil }, { ...start, first, whole });
    this.initial = { current: cells, previous: cells };
    const planes = wholeFields(stencil.update).length;
    const [xs, ys, zs] = AXES.map((axis) => runsOf(first[axis], grid[axis], whole[axis]));
    const all = xs!.flatMap((x) => ys!.flatMap((y) => zs!.map((z) => [x, y, z] as const)));
    this.boxes = stateLevels(problem).flatMap((ago) =>
      all.map((runs) => {
        const [low, size, to] = (["from", "cells", "to"] as const).map((of) =>
          gridOf((axis) => runs[axis][of])
        );
        return { ago, plane: 0, planes, low: low!, size: size!, to: to! };
      })
    );
  }

  /** Whether it can begin with what the field holds: what lies in layers is not read. */
  get isReadable(): boolean {
    const { part: { grid }, whole } = this.place, first = firstOf(this.place);
    const { layers = [] } = this.run.problem.stencil.update;
    return layers.every(({ axis, cells }) =>
      first[axis] >= cells && first[axis] + grid[axis] <= whole[axis] - cells
    );
  }

  /** The levels with the values of all boxes, one box after another. */
  levelsOf(values: Float32Array): FieldLevels<Float32Array> {
    const levels = stateLevels(this.run.problem).map(() => this.initial.current.slice());
    let done = 0;
    for (const { ago, planes, size: [nx, ny, nz], to: [x, y, z] } of this.boxes) {
      for (let row = 0; row < planes * nx * ny; row++, done += nz) {
        const plane = Math.floor(row / ny / nx), i = Math.floor(row / ny) % nx;
        levels[ago]!.set(values.subarray(done, done + nz), this.#indexOf(plane, [x + i, y + row % ny, z]));
      }
    }
    const [current, previous] = levels;
    return { current: current!, previous: previous ?? current! };
  }

  /** Compares the box, and what was recorded in it, with what follows from the levels before. @throws {RunFailure} */
  compare(
    before: FieldLevels<Float32Array>,
    after: FieldLevels<Float32Array>,
    { from, steps }: { readonly from: number; readonly steps: number },
  ): void {
    const { problem, problem: { stencil: { update } }, name, isExact } = this.run, { place } = this;
    const { part, part: { grid, own: { size } }, whole } = place, first = firstOf(place);
    const fields = wholeFields(update).length, planes = planesOf(update), rowsOfPlane = size[0] * size[1];
    let error = 0, where = "", largest = 0;
    const note = (value: number, wanted: number, say: () => string): void => {
      if (!Number.isFinite(wanted)) throw new UnstableProblem({ ...problem, steps: from + steps });
      largest = Math.max(largest, Math.abs(wanted));
      const difference = Math.abs(value - wanted);
      if (difference <= error) return;
      [error, where] = [difference < Infinity ? difference : Infinity, say()];
    };
    const profiles = initialProfiles(update, grid, { first, whole });
    const { boundary } = problemOfRank(problem, { exchangeEvery: steps }, part);
    const onMade = this.#pointsAt(from, steps, note);
    const wanted = runReference(before, { update, grid, boundary, steps, start: from, profiles, onMade });
    for (const ago of stateLevels(problem)) {
      const level = ago === 0 ? "current" : "previous", step = from + steps - ago;
      for (let row = 0; row < fields * rowsOfPlane; row++) {
        const plane = Math.floor(row / rowsOfPlane),
          x = Math.floor(row / size[1]) % size[0],
          y = row % size[1];
        const cell = gridOf((axis) => part.before[axis] + [x, y, 0][axis]!), at = this.#indexOf(plane, cell);
        for (let z = 0; z < size[2]; z++) {
          const say = (): string => this.#nameOf(plane, [cell[0], cell[1], cell[2] + z], step);
          note(after[level][at + z]!, wanted[level][at + z]!, say);
        }
      }
    }
    for (const cells of [before.current, before.previous]) {
      cells.forEach((value, i) => {
        const plane = Math.floor(i / (grid[1] * grid[2])) % planes;
        if (plane < fields) largest = Math.max(largest, Math.abs(value));
      });
    }
    const bound = isExact ? 0 : errorBound({ ...problem, steps }, largest);
    if (error <= bound) return;
    const [by, explained] = [error, bound].map((value) => value.toPrecision(3));
    const found = `${name} differs from oracle f32 by ${by} in ${where}, rounding explains ${explained}`;
    throw new RunFailure("incorrect", `the reference is wrong: ${found}`);
  }

  /** Adds what sources send, and notes what receivers should have recorded. */
  #pointsAt(
    from: number,
    steps: number,
    note: (value: number, wanted: number, say: () => string) => void,
  ): NonNullable<ReferenceRun["onMade"]> {
    const { points, samples } = this.record;
    const added = pointsIn(points.added, this.place, false),
      recorded = pointsIn(points.recorded, this.place, true);
    const sent = points.amplitudes(from, steps), { length } = points.added;
    return (made, level, step) => {
      const isMade = ({ field }: Point): boolean => made.some((one) => one.field === field), t = step + 1;
      added.points.forEach((point, i) => {
        if (!isMade(point)) return;
        level[this.#indexOf(point.field, point.cell)]! += sent[(step - from) * length + added.rows[i]!]!;
      });
      if (t % points.every !== 0) return;
      const sample = samples.get(t / points.every);
      recorded.points.forEach((point, i) => {
        if (!isMade(point)) return;
        const wanted = level[this.#indexOf(point.field, point.cell)]!;
        note(
          sample?.[recorded.rows[i]!] ?? NaN,
          wanted,
          () => `a record of ${this.#nameOf(point.field, point.cell, t)}`,
        );
      });
    };
  }

  #indexOf(plane: number, [x, y, z]: Grid): number {
    const { part: { grid: [, ny, nz] } } = this.place;
    return ((x * planesOf(this.run.problem.stencil.update) + plane) * ny + y) * nz + z;
  }

  #nameOf(field: number, cell: Grid, step: number): string {
    const { place: { whole }, run: { problem: { stencil, stencil: { update } } } } = this,
      first = firstOf(this.place);
    const inGrid = gridOf((axis) => imageOf(first[axis] + cell[axis], whole[axis], "periodic")!);
    return `${update.fields[field]} of cell ${ownOf(stencil, inGrid).join(", ")} at step ${step}`;
  }
}

/** What a field holds in the cells of probes. */
async function readStates(part: PartField, probes: readonly Probe[]): Promise<FieldLevels<Float32Array>[]> {
  const round = await part.begin(0, { pack: [probes.flatMap(({ boxes }) => boxes)] });
  await round.finish();
  const pieces = round.pieces()[0]!,
    all = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  pieces.reduce((at, piece) => (all.set(piece, at), at + piece.length), 0);
  round.release();
  let done = 0;
  return probes.map((probe) => {
    const cells = probe.boxes.reduce((sum, box) => sum + cellsIn(box), 0);
    return probe.levelsOf(all.subarray(done, done += cells));
  });
}
