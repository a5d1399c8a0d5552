/**
 * How a reference is compared with the oracle while it is computed: in **probes**, boxes at both ends of the grid, at random
 * cells, where the cells of workgroups or sections end, and at a source. Of each the oracle computes the first few steps
 * and the last few by itself, in all cells that the box depends on, as a grid of its own.
 *
 * @module
 */
import { type FloatArray, precisionOf, zeros } from "../../kernels/precision.ts";
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { wholeFields } from "../../kernels/layers.ts";
import { layOut } from "../../kernels/layout.ts";
import type { Point } from "../../kernels/points.ts";
import { type ReferenceRun, runReference } from "../../kernels/reference.ts";
import {
  alongAxes,
  cellsOf,
  describeGrid,
  type Grid,
  ownOf,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { callsFunctions, operationsOf, planesOf, stepReach } from "../../kernels/update.ts";
import { AXES, type Extent, gridOf } from "../../models/decomposition.ts";
import { errorBound } from "../../models/error_bound.ts";
import { type Box, firstOf, type PartPlace, problemOfRank } from "../../models/rank_part.ts";
import { NOTHING } from "./gpu/gpu_points.ts";
import { initialCells, runsOf } from "./oracle.ts";
import { pointsIn } from "./points.ts";
import { stateLevels } from "./reference.ts";
import { RunFailure, UnstableProblem } from "./run_failure.ts";
import { copyPiece, piecesOf } from "./shared/boxes.ts";
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
  /** Whether it must give the oracle's bits, which in f64 has the host's functions. @default {false: rounding explains differences} */
  readonly isExact?: boolean;
}

/** Steps of a probe at a time, and its cells along x and y: as many as the oracle has time for, in this order. */
const STEPS = [4, 3, 2, 1], SIZES = [64, 32, 16, 8, 4, 2];
/** Probes are so many times longer along z, as workgroups are; these end at multiples of a power of two. */
const LENGTHENED = 4, SEAM = 64;

/** F(t) and F(t−1) in the cells of a probe: x, planes, y, z. */
type Levels = readonly [now: FloatArray, before: FloatArray];

/**
 * Runs all steps of a problem from its start on a field that has the whole grid, and compares probes.
 *
 * @returns what the oracle has computed of it; undefined: everything
 * @throws {RunFailure} if the field is wrong, or does not stay finite
 */
export async function runProbed(part: PartField, run: ProbedRun): Promise<string | undefined> {
  const { problem, problem: { steps }, survey, start } = run;
  const record: PointRecord = { points: NOTHING, samples: new Map() };
  let isKept = true;
  const advance = async (count: number): Promise<void> => void await (await part.begin(count)).finish();
  await part.initialise(start);
  await survey?.watch({
    step: part.field.step,
    readProfile: (profile) => Promise.resolve(part.field.profiles.values[profile]!),
    sample: (cells) => part.sample(cells),
    watch(points) {
      const { recorded: { length } } = record.points = points;
      return part.field.watch({
        ...points,
        take(first, values) {
          for (let i = 0; isKept && i * length < values.length; i++) {
            record.samples.set(first + i, values.slice(i * length, (i + 1) * length));
          }
          points.take(first, values);
        },
      });
    },
  });
  const { boxes, count, isAll } = chooseProbes(part, run, record);
  const probes = boxes.map((own) => new Probe(placeAround(problem, own, count), run, record));
  await advance(count);
  const found = await readLevels(part, probes), again = isAll ? steps : laterStep(problem, count);
  isKept = false;
  const between = await part.begin(again - count);
  await new Promise((resolve) => setTimeout(resolve)); // a worker begins before the oracle takes this thread
  probes.forEach((probe, i) => probe.compare(probe.initial, found[i]!, { from: 0, steps: count }));
  await between.finish();
  isKept = true;
  const last = Math.min(count, steps - again);
  const open = last > 0 ? probes.filter(({ isReadable }) => isReadable) : [];
  const before = await readLevels(part, open);
  await advance(last);
  const after = await readLevels(part, open);
  open.forEach((probe, i) => probe.compare(before[i]!, after[i]!, { from: again, steps: last }));
  await advance(steps - again - last);
  if (!await (await part.look())()) throw new UnstableProblem(problem);
  if (probes.length === 0) return "nothing";
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
  { points: { added, recorded } }: PointRecord,
): { readonly boxes: readonly Extent[]; readonly count: number; readonly isAll?: boolean } {
  const work = Math.max(1, operationsOf(update)), { x, y, z } = stepReach(update), reach = [x, y, z];
  if (operations === 0) return { boxes: [], count: 0 };
  if (cellsOf(grid) * steps * work <= operations) {
    return { boxes: [{ low: [0, 0, 0], size: grid }], count: steps, isAll: true };
  }
  const random = (n: number): number => Math.floor(Math.random() * n);
  const oneOf = <T>(list: readonly T[] = []): T | undefined => list[random(list.length)];
  const keys = new Set(added.map(({ field, cell }) => `${field} ${cell}`));
  const point = oneOf(recorded.filter(({ field, cell }) => keys.has(`${field} ${cell}`))) ?? oneOf(recorded);
  const high = gridOf((axis) => grid[axis] - 1);
  const [seamX, ...seams] = gridOf((axis) => SEAM * (1 + random(Math.floor(high[axis] / SEAM))));
  const centres: Grid[] = [
    [0, 0, 0],
    high,
    [oneOf(onGpu?.plan.storage.sections?.slice(1))?.own[0] ?? seamX, ...seams],
    gridOf((axis) => oneOf([0, high[axis], random(grid[axis])])!),
    gridOf((axis) => random(grid[axis])),
    (point ?? oneOf(added))?.cell ?? gridOf((axis) => random(grid[axis])),
  ];
  const ways = STEPS.filter((count) => count <= steps).flatMap((count) =>
    SIZES.map((cells) => {
      const size = gridOf((axis) => Math.min(grid[axis], axis === 2 ? LENGTHENED * cells : cells));
      const computed = gridOf((axis) => Math.min(grid[axis], size[axis] + 2 * count * reach[axis]!));
      return { count, size, cost: 2 * centres.length * cellsOf(computed) * count * work };
    })
  );
  const { count, size } = ways.find(({ cost }) => cost <= operations) ?? ways.at(-1)!;
  const lowOf = (centre: Grid): Grid =>
    gridOf((axis) => Math.max(0, Math.min(grid[axis] - size[axis], centre[axis] - (size[axis] >> 1))));
  return { boxes: centres.map((centre) => ({ low: lowOf(centre), size })), count };
}

/** Where the cells lie that a box depends on for some steps. */
function placeAround({ grid: whole, boundary, stencil }: Problem, own: Extent, steps: number): PartPlace {
  const { x, y, z } = stepReach(stencil.update), along = alongAxes(boundary);
  const sides = AXES.map((axis) => {
    const reach = steps * [x, y, z][axis]!, n = whole[axis], low = own.low[axis], size = own.size[axis];
    const isPeriodic = along[axis] === "periodic", isRing = isPeriodic && size + 2 * reach < n;
    return [low, n - low - size].map((room) => {
      const cells = isRing ? reach : isPeriodic ? room : Math.min(reach, room);
      return { cells, neighbour: isRing || cells < room ? 0 : undefined };
    });
  });
  const before = gridOf((axis) => sides[axis]![0]!.cells), after = gridOf((axis) => sides[axis]![1]!.cells);
  const grid = gridOf((axis) => before[axis] + own.size[axis] + after[axis]);
  const neighbours = sides.map(([low, high]) => [low!.neighbour, high!.neighbour] as const);
  return { part: { own, before, after, grid, neighbours }, whole };
}

/** The points of a field, and what was recorded while it was kept: by number, a value for each point. */
interface PointRecord {
  points: typeof NOTHING;
  readonly samples: Map<number, FloatArray>;
}

/** A box of the grid, within the cells that it depends on. */
class Probe {
  /** What the run starts from. */
  readonly initial: Levels;
  /** All its cells, where they lie in the grid, and the same in its own. */
  readonly boxes: readonly Box[];
  readonly #own: readonly Box[];
  readonly #first: Grid;

  constructor(readonly place: PartPlace, readonly run: ProbedRun, readonly record: PointRecord) {
    const { problem: { stencil }, start } = run, { part: { grid }, whole } = place;
    const first = this.#first = firstOf(place);
    const cells = initialCells({ grid, stencil }, { ...start, first, whole });
    this.initial = [cells, cells];
    const [xs, ys, zs] = AXES.map((axis) => runsOf(first[axis], grid[axis], whole[axis]));
    const all = xs!.flatMap((x) => ys!.flatMap((y) => zs!.map((z) => [x, y, z] as const)));
    const boxesAt = (from: "from" | "to"): Box[] =>
      all.flatMap((runs) =>
        this.#boxes({ low: gridOf((i) => runs[i][from]), size: gridOf((i) => runs[i].cells) })
      );
    [this.boxes, this.#own] = [boxesAt("from"), boxesAt("to")];
  }

  /** The fields of every level of the state. */
  #boxes(extent: Extent): Box[] {
    const planes = wholeFields(this.run.problem.stencil.update).length;
    return stateLevels(this.run.problem).map((ago) => ({ ago, plane: 0, planes, ...extent }));
  }

  /** Whether it can begin with what the field holds: what lies in layers is not read. */
  get isReadable(): boolean {
    const { part: { grid }, whole } = this.place, { layers = [] } = this.run.problem.stencil.update;
    return layers.every(({ axis, cells }) => {
      const low = this.#first[axis];
      return low >= cells && low + grid[axis] <= whole[axis] - cells;
    });
  }

  /** Its levels with the cells of its boxes. */
  levelsOf(pieces: readonly FloatArray[]): Levels {
    const [cells] = this.initial, levels: Levels = [cells.slice(), cells.slice()];
    this.#copy(levels, this.#own, "unpack", pieces);
    return levels;
  }

  /** Copies the cells of boxes between levels and pieces. */
  #copy(levels: Levels, boxes: readonly Box[], way: "pack" | "unpack", given?: readonly FloatArray[]) {
    const { place: { part: { grid } }, run: { problem: { stencil: { update } } } } = this;
    const { fields: { length: fields } } = update, planes = planesOf(update);
    const layout = layOut(grid, { pad: [0, 0, 0], align: 1, planes, fields, precision: update.precision });
    return piecesOf(boxes).map((piece, i) => {
      const cells = given?.[i] ?? zeros(update, piece.cells);
      copyPiece(piece, (ago, slice) => ({ cells: levels[ago], layout, slice }), cells, way);
      return cells;
    });
  }

  /** Compares the box, and what was recorded in it, with what follows from the levels before. @throws {RunFailure} */
  compare(
    [current, previous]: Levels,
    after: Levels,
    { from, steps }: { readonly from: number; readonly steps: number },
  ): void {
    const { place, place: { part, part: { grid, own }, whole }, record: { points, samples } } = this;
    const { problem, problem: { stencil, stencil: { update } }, name, isExact } = this.run;
    let error = 0, largest = 0;
    const note = (value: number, wanted: number): void => {
      if (!Number.isFinite(wanted)) throw new UnstableProblem({ ...problem, steps: from + steps });
      const difference = Math.abs(value - wanted);
      largest = Math.max(largest, Math.abs(wanted));
      error = Math.max(error, difference < Infinity ? difference : Infinity);
    };
    const added = pointsIn(points.added, place, false), recorded = pointsIn(points.recorded, place, true);
    const sent = points.amplitudes(from, steps), planes = planesOf(update), [, ny, nz] = grid;
    const indexOf = ({ field, cell: [x, y, z] }: Point): number => ((x * planes + field) * ny + y) * nz + z;
    const onMade: ReferenceRun["onMade"] & object = (made, level, step) => {
      const isMade = ({ field }: Point): boolean => made.some((value) => value.field === field);
      added.points.forEach((point, i) => {
        const row = (step - from) * points.added.length + added.rows[i]!;
        if (isMade(point)) level[indexOf(point)]! += sent[row]!;
      });
      if ((step + 1) % points.every !== 0) return;
      const sample = samples.get((step + 1) / points.every);
      recorded.points.forEach((point, i) => {
        if (isMade(point)) note(sample?.[recorded.rows[i]!] ?? NaN, level[indexOf(point)]!);
      });
    };
    const { boundary } = problemOfRank(problem, { exchangeEvery: steps }, part);
    const profiles = initialProfiles(update, grid, { first: this.#first, whole });
    const how = { update, grid, boundary, steps, start: from, profiles, onMade };
    const wanted = runReference({ current, previous }, how);
    const cut = (levels: Levels, boxes: readonly Box[]) => this.#copy(levels, boxes, "pack");
    for (const cells of cut([current, previous], this.#own)) cells.forEach((value) => note(value, value));
    const box = this.#boxes({ low: part.before, size: own.size }), found = cut(after, box);
    cut([wanted.current, wanted.previous], box).forEach((cells, piece) =>
      cells.forEach((value, i) => note(found[piece]![i]!, value))
    );
    const { name: precision } = precisionOf(update);
    const isRounded = !isExact || (precision === "f64" && callsFunctions(update));
    const bound = isRounded ? errorBound({ ...problem, steps }, largest) : 0;
    if (error <= bound) return;
    const [by, explained] = [error, bound].map((value) => value.toPrecision(3));
    const size = describeGrid({ stencil, grid: own.size }), low = ownOf(stencil, own.low).join(", ");
    const where = `in ${size} cells from (${low}) after steps ${from} to ${from + steps}`;
    const differs =
      `${name} differs from oracle ${precision} by ${by} ${where}, rounding explains ${explained}`;
    throw new RunFailure("incorrect", `the reference is wrong: ${differs}`);
  }
}

/** What a field holds in the cells of probes. */
async function readLevels(part: PartField, probes: readonly Probe[]): Promise<Levels[]> {
  const round = await part.begin(0, { pack: probes.map(({ boxes }) => boxes) });
  await round.finish();
  const levels = round.pieces().map((pieces, i) => probes[i]!.levelsOf([...pieces]));
  round.release();
  return levels;
}
