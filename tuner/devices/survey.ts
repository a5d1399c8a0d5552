/**
 * The sources and receivers of a solver: where they are, what the sources send, and what the receivers record.
 *
 * @module
 */
import { type FloatArray, type Precision, precisionOf } from "../../kernels/precision.ts";
import { checkOptions } from "../../kernels/check_options.ts";
import type { ProfileValues } from "../../kernels/axis_profiles.ts";
import { type Expression, fold, NUMBERS, type Offset, type Tap, tapsIn } from "../../kernels/expression.ts";
import {
  countCells,
  type Interpolation,
  INTERPOLATIONS,
  visitCells,
  type WeightedPlace,
  weightsAround,
} from "../../kernels/interpolation.ts";
import { wholeFields } from "../../kernels/layers.ts";
import type { Point } from "../../kernels/points.ts";
import {
  alongAxes,
  cellsOf,
  imageOf,
  innerOf,
  type OwnGrid,
  ownOf,
  planned,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { profileTapsOf, type Source } from "../../kernels/update.ts";
import type { WatchedPoints } from "./points.ts";
import { type Recording, Spectra, Traces } from "./recordings.ts";
import { describeValue } from "../format.ts";

/** A place in cells along x, y, z, or x, y: whole numbers are the cells themselves, fractions lie between two. */
export type Position = OwnGrid;

/** How a source or receiver lies between cells. */
export interface PlaceOptions {
  /** How a place between cells is made of them. @default {"linear"} */
  readonly interpolation?: Interpolation;
  /** What the value at a position counts, as the phase of a wave along a sheet of sources. @default {1 everywhere} */
  readonly weight?: (x: number, y: number, z: number) => number;
}

/** How receivers record. */
export interface ReceiverOptions extends PlaceOptions {
  /** Steps from one sample to the next; the same for all receivers of a solver. @default {1} */
  readonly every?: number;
  /**
   * Takes the samples as they come, in order, instead of traces: none is kept. It gets the number of the first one, and
   * values by sample, then by receiver of this call. One that throws is called no more, and the run throws that at its end.
   * @default {undefined} they are kept for `traces`
   */
  onSamples?(first: number, values: FloatArray<ArrayBuffer>): void;
  /**
   * Keeps, instead of traces, the sum Σ p(t) e^(−2πift) over the samples for each of these f, in cycles per step from 0 to
   * 0.5 / `every`: a frequency in Hz times the time step. See `spectra`. @default {undefined} none
   */
  readonly frequencies?: readonly number[];
}

/** Cells from `low` on. */
export interface CellBox {
  /** Its first cell. */
  readonly low: Position;
  /** Cells along x, y, z, or x, y. */
  readonly size: Position;
}

/** The positions of a box's cells, x slowest, the last axis fastest; every `stride`-th along each axis. */
export function pointsOfBox({ low, size }: CellBox, stride = 1): Position[] {
  const points = [...low].reduce<number[][]>((before, first, axis) => {
    const along = Array.from({ length: Math.ceil(size[axis]! / stride) }, (_, i) => first + stride * i);
    return before.flatMap((place) => along.map((at) => [...place, at]));
  }, [[]]);
  return points as unknown as Position[];
}

/** Places as they were given. */
interface Given {
  readonly name: string;
  readonly positions: readonly Position[];
  readonly interpolation: Interpolation | undefined;
  /** How much each position counts. @default {1} */
  readonly weights: readonly number[] | undefined;
}

/** A group of sources or receivers without their values. */
type SavedGroup =
  | Given & { readonly signatures: readonly number[]; readonly lengths: readonly number[] }
  | Given & {
    readonly every: number;
    readonly next: number;
    /** The number of the first sample that is kept, and how many values. */
    readonly samples?: readonly [first: number, values: number];
    readonly frequencies?: readonly number[];
    readonly sums?: readonly (readonly number[])[];
  };

/** Sources and receivers without callbacks, as they are saved; what has one its owner adds again. */
export interface SavedSurvey {
  /** What JSON can hold. */
  readonly groups: readonly SavedGroup[];
  /** Signatures and samples, in the order of the groups. */
  readonly values: readonly FloatArray[];
}

/** Sources that send the same kind of value. */
interface SourceGroup {
  readonly given: Given;
  readonly source: Source;
  /** By what it goes into. */
  readonly places: readonly (readonly WeightedPlace[])[];
  /** For each place; the same one where all send the same. */
  readonly signatures: readonly ArrayLike<number>[];
}

/** Receivers that were added together. */
interface ReceiverGroup {
  readonly given: Given;
  readonly field: number;
  readonly places: readonly WeightedPlace[];
  readonly record: Recording;
  /** Number of the sample that comes next. */
  next: number;
}

/** What is added to a cell: by which signature, and times what. */
interface Term {
  readonly row: number;
  readonly signature: ArrayLike<number>;
  readonly weight: number;
}

/** Refuses a request with what is wanted and what was found. */
type Refuse = (wanted: string, found: string) => never;

function refuserOf(what: string): Refuse {
  return (wanted, found) => {
    throw new RangeError(`Cannot add the ${what}: ${wanted}: found ${found}`);
  };
}

/** A field that adds to points and records them. */
interface Watching {
  readonly step: number;
  watch(points: WatchedPoints): Promise<void>;
  /** The values that cells have now, on every rank. */
  sample(cells: readonly Point[]): Promise<FloatArray>;
  /** An axis profile of the whole grid, on every rank. */
  readProfile(profile: number): Promise<ProfileValues[number]>;
}

/** Signatures that synthetic sources send by turns. */
const SIGNATURES = 3;

/** Cells of receivers whose weights are kept: 8 MB. */
const MOST_WEIGHTS = 2 ** 20;

/** Values of cells that one run of CPU workers records at most. */
const MOST_VALUES = 2 ** 25;

/** The sources and receivers of a problem's field. */
export class Survey {
  readonly #sources: SourceGroup[] = [];
  readonly #receivers: ReceiverGroup[] = [];
  #every = 1;
  /** Cells that the field was last made to record. */
  #cells = 0;
  /** What a receiver's callback threw. */
  readonly #thrown: unknown[] = [];

  /** @param mostSamples that are kept of each receiver; later ones are not */
  constructor(
    private readonly problem: Pick<Problem, "stencil" | "grid" | "boundary" | "inner">,
    private readonly mostSamples: number = Infinity,
  ) {}

  /**
   * A survey to tune with: sources and receivers on lattices along x and y, most of them between cells, halfway down and
   * near the low end of z. Up to half of them lie elsewhere: a second source in the place of the first, receivers of its
   * field there too, and some at both ends of the grid. Sources send noise of the range that the equation says.
   *
   * @param mostSteps of which samples are kept
   */
  static synthetic(problem: Problem, mostSteps: number): Survey {
    const { grid: [nx, ny, nz], stencil: { update }, survey: counts } = problem,
      { Values } = precisionOf(update);
    const { sources = 0, receivers = 0, every = 1 } = counts ?? {};
    const survey = new Survey(problem, 1 + Math.floor(mostSteps / every));
    const place = (x: number, y: number, z: number): Position => ownOf(problem.stencil, [x, y, z]);
    const ends = [place(0, 0, 0), place(nx - 1, ny - 1, nz - 1)];
    const lattice = (count: number, z: number): Position[] => {
      const along = Math.min(count, Math.max(1, Math.round(Math.sqrt(count * nx / ny)))),
        rows = Math.ceil(count / along);
      return Array.from({ length: count }, (_, i): Position => {
        const x = (nx - 1) * (i % along + 0.5) / along, y = (ny - 1) * (Math.floor(i / along) + 0.5) / rows;
        return place(x, y, z);
      });
    };
    const others = Math.min(1 + ends.length, Math.floor(sources / 2));
    const sending = lattice(sources - others, Math.floor((nz - 1) / 2)), [first] = sending;
    if (first !== undefined) {
      const { name, range: [lowest, highest] } = update.sources![0]!;
      const signatures = Array.from({ length: SIGNATURES }, (_, i) => {
        const noise = (_: unknown, step: number): number =>
          lowest + (highest - lowest) * ((step + i / SIGNATURES) * 0.618034 % 1);
        return Values.from({ length: mostSteps }, noise);
      });
      sending.push(...[first, ...ends].slice(0, others));
      survey.addSources(name, sending, sending.map((_, i) => signatures[i % SIGNATURES]!));
    }
    const chosen = first === undefined ? ends : [first, ...ends];
    const here = chosen.slice(0, Math.ceil(receivers / 2)), field = update.sources?.[0]?.into[0]?.field ?? 0;
    const left = receivers - here.length;
    if (here.length > 0) survey.addReceivers(update.fields[field]!, here, { every });
    if (left > 0) survey.addReceivers(update.fields[0]!, lattice(left, Math.min(2, nz - 1)), { every });
    return survey;
  }

  /** Whether there is nothing to add and nothing to record. */
  get isEmpty(): boolean {
    return this.#sources.length === 0 && this.#receivers.length === 0;
  }

  /** Adds sources. @throws {RangeError} saying what is wrong */
  addSources(
    name: string,
    positions: readonly Position[],
    signatures: ArrayLike<number> | readonly ArrayLike<number>[],
    options: PlaceOptions = {},
  ): void {
    checkOptions("add the sources", options, ["interpolation", "weight"]);
    const refuse = refuserOf("sources"), sources = this.problem.stencil.update.sources ?? [];
    const source = sources.find((source) => source.name === name);
    if (source === undefined) {
      const known = sources.map(({ name }) => name).join(", ") || "none: this equation declares no source";
      return refuse(`the name must be one of ${known}`, describeValue(name));
    }
    const places = source.into.map(({ field }) => this.#placesOf(field, positions, options, refuse));
    const isOne = typeof signatures?.[0] === "number" || signatures?.length === 0;
    const list = (isOne ? positions.map(() => signatures) : signatures) as readonly ArrayLike<number>[];
    if (typeof list !== "object" || list.length !== positions.length) {
      refuse(
        `one signature, or one for each of ${positions.length} positions, is wanted`,
        `${signatures?.length}`,
      );
    }
    const kept = new Map<ArrayLike<number>, FloatArray>();
    const copies = list.map((signature) => {
      const known = kept.get(signature) ?? this.#Values.from(signature ?? []);
      kept.set(signature, known);
      if (typeof signature !== "object" || signature === null || !known.every(Number.isFinite)) {
        refuse("a signature must be a list of numbers that f32 can hold", "another value");
      }
      return known;
    });
    this.#sources.push({ given: givenOf(name, positions, options), source, places, signatures: copies });
  }

  /** Adds receivers. @throws {RangeError} saying what is wrong */
  addReceivers(name: string, positions: readonly Position[], options: ReceiverOptions = {}): void {
    const keys = ["interpolation", "weight", "every", "onSamples", "frequencies"] as const;
    checkOptions<ReceiverOptions, typeof keys>("add the receivers", options, keys);
    const refuse = refuserOf("receivers"), fields = wholeFields(this.problem.stencil.update);
    const field = fields.indexOf(name), { every = 1 } = options;
    if (field < 0) refuse(`the name must be one of ${fields.join(", ")}`, describeValue(name));
    if (!(Number.isSafeInteger(every) && every >= 1)) {
      refuse("every must be a whole number of steps from 1 up", describeValue(every));
    }
    if (this.#receivers.length > 0 && every !== this.#every) {
      refuse(`every must be that of the receivers before, ${this.#every}`, describeValue(every));
    }
    const { onSamples, frequencies } = options, most = 0.5 / every;
    if (frequencies !== undefined) {
      if (onSamples !== undefined) refuse("either onSamples or frequencies is wanted", "both");
      const isWrong = (f: number): boolean => !(f >= 0 && f <= most);
      const wrong = Array.isArray(frequencies) ? frequencies.find(isWrong) : frequencies;
      if (wrong !== undefined) {
        refuse(`frequencies must be cycles per step, from 0 to ${most}`, describeValue(wrong));
      }
    }
    if (onSamples !== undefined && typeof onSamples !== "function") {
      refuse("onSamples must be a function", describeValue(onSamples));
    }
    const places = this.#placesOf(field, positions, options, refuse);
    const record = frequencies !== undefined
      ? new Spectra(places.length, every, frequencies)
      : onSamples !== undefined
      ? { take: onSamples }
      : new Traces(places.length, this.problem.stencil.update);
    this.#receivers.push({ given: givenOf(name, positions, options), field, places, record, next: 0 });
    this.#every = every;
  }

  get #Values(): Precision["Values"] {
    return precisionOf(this.problem.stencil.update).Values;
  }

  /** Steps whose record CPU workers keep at most. */
  get mostSteps(): number {
    return Math.max(1, Math.floor(MOST_VALUES * this.#every / Math.max(1, this.#cells)));
  }

  /** What every receiver has recorded, in the order in which they were added: sample j is the field at t = j · every. */
  traces(): FloatArray<ArrayBuffer>[] {
    const kept = this.#receivers.filter(({ record }) => record instanceof Traces);
    const count = Math.max(0, ...kept.map(({ next }) => next));
    return kept.flatMap(({ record }) => (record as Traces).upTo(count));
  }

  /** The sums of every receiver with frequencies: for each frequency its real and imaginary part. */
  spectra(): Float64Array<ArrayBuffer>[] {
    return this.#receivers.flatMap(({ record }) => record instanceof Spectra ? record.sums() : []);
  }

  /** Throws what a callback has thrown. */
  check(): void {
    for (const error of this.#thrown.splice(0)) throw error;
  }

  /** Forgets what was recorded. */
  restart(): void {
    for (const group of this.#receivers) {
      group.next = 0;
      group.record.restart?.();
    }
  }

  /** Ends all sources and receivers, and what was recorded. */
  clear(): void {
    this.#sources.length = this.#receivers.length = 0;
  }

  /** What is to be known of them to go on. */
  saved(): SavedSurvey {
    const values: FloatArray[] = [];
    const sources = this.#sources.map(({ given, signatures }): SavedGroup => {
      const each = [...new Set(signatures)] as FloatArray[];
      values.push(...each);
      const lengths = each.map(({ length }) => length);
      const places = signatures.map((values) => each.indexOf(values as FloatArray));
      return { ...given, signatures: places, lengths };
    });
    const receivers = this.#receivers.flatMap(({ given, record, next }): SavedGroup[] => {
      const kept = { ...given, every: this.#every, next };
      if (record instanceof Spectra) {
        return [{ ...kept, frequencies: record.frequencies, sums: record.sums().map((sum) => [...sum]) }];
      }
      if (!(record instanceof Traces)) return [];
      const { first, samples } = record.all();
      values.push(...samples);
      return [{ ...kept, samples: [first, samples.reduce((sum, { length }) => sum + length, 0)] }];
    });
    return { groups: [...sources, ...receivers], values };
  }

  /** Adds what was saved. @param take gives the next of its values, so many */
  restore(groups: SavedSurvey["groups"], take: (count: number) => FloatArray<ArrayBuffer>): void {
    for (const { name, positions, interpolation, weights, ...group } of groups) {
      let i = 0;
      // once for each position, in their order, for each field that they go into
      const weight = weights && (() => weights[i++ % weights.length]!);
      const options = { ...(interpolation && { interpolation }), ...(weight && { weight }) };
      if ("signatures" in group) {
        const each = group.lengths.map(take);
        this.addSources(name, positions, group.signatures.map((signature) => each[signature]!), options);
        continue;
      }
      const { every, next, frequencies, samples, sums } = group;
      this.addReceivers(name, positions, { ...options, every, ...(frequencies && { frequencies }) });
      const added = this.#receivers.at(-1)!, { record } = added;
      added.next = next;
      if (sums !== undefined) (record as Spectra).restore(sums);
      else if (samples![1] > 0) record.take(samples![0], take(samples![1]));
    }
  }

  /** Makes a field add and record; again after materials, which say how much sources count, have changed. */
  async watch(field: Watching): Promise<void> {
    const { grid } = this.problem, recorded = new Cells(grid), added = new Cells(grid);
    const sums = this.#receivers.map((group): Sums => {
      const { field, places } = group, [, ny, nz] = grid;
      let count = 0, term = 0;
      const ends = Uint32Array.from(places, (place) => count += countCells(place));
      const weights = count > MOST_WEIGHTS ? undefined : new Float64Array(count);
      const isByCell = weights === undefined && cellsOf(grid) < count;
      const rows = new Uint32Array(isByCell ? cellsOf(grid) : count);
      for (const place of places) {
        visitCells(place, (x, y, z, weight) => {
          if (weights) weights[term] = weight;
          rows[isByCell ? (x * ny + y) * nz + z : term] = recorded.rowAt(field, x, y, z);
          term++;
        });
      }
      return { group, ends, rows, weights, size: isByCell ? [ny, nz] : undefined };
    });
    // receivers on a free surface alone are made of no cell: any one counts the samples
    const [first] = this.#receivers;
    if (first && recorded.points.length === 0) recorded.rowAt(first.field, 0, 0, 0);
    const terms = await this.#termsOf(field, added);
    this.#cells = recorded.points.length;
    await field.watch({
      added: added.points,
      recorded: recorded.points,
      every: this.#every,
      amplitudes: (start, steps) =>
        this.#Values.from(amplitudesOf(terms, { start, steps, points: added.points.length })),
      take: (first, values) => this.#take(first, values, sums),
    });
    if (this.#cells === 0 || field.step % this.#every !== 0) return;
    this.#take(field.step / this.#every, await field.sample(recorded.points), sums);
  }

  /** The cells of a field that stand for places. */
  #placesOf(
    field: number,
    positions: readonly Position[],
    { interpolation = "linear", weight = () => 1 }: PlaceOptions,
    refuse: Refuse,
  ): WeightedPlace[] {
    const { grid, boundary, stencil, stencil: { surface, stagger, update } } = this.problem;
    const name = update.fields[field]!, from = stagger?.[name] ?? [0], isFree = surface !== undefined;
    const sign = surface === "free" || surface?.includes(name) ? -1 : 1;
    const image = isFree ? { sum: from.at(-1) === 0 ? -1 : 0, sign } as const : undefined;
    // a free surface is half a cell from the first cell
    const inner = innerOf(this.problem), first = ownOf(stencil, inner.low);
    const least = ownOf(stencil, [0, 0, isFree ? -0.5 : 0]), most = ownOf(stencil, inner.size);
    if (!INTERPOLATIONS.includes(interpolation)) {
      refuse(`interpolation must be one of ${INTERPOLATIONS.join(", ")}`, describeValue(interpolation));
    }
    if (!Array.isArray(positions) || positions.length === 0) {
      refuse("a list of positions in cells along each axis is wanted", describeValue(positions));
    }
    return positions.map((position) => {
      const isInside = Array.isArray(position) && position.length === most.length &&
        position.every((at, axis) => at >= least[axis]! && at <= most[axis]! - 1);
      if (!isInside) {
        const last = most.map((cells) => cells - 1).join(", ");
        refuse(
          `positions must lie within ${isFree ? least.join(", ") : 0} to ${last} cells`,
          Array.isArray(position) ? position.join(", ") : describeValue(position),
        );
      }
      const factor = weight(...position as readonly number[] as Offset);
      if (!Number.isFinite(factor)) refuse("a weight must be a finite number", `${factor} at ${position}`);
      const place = planned(stencil, position.map((at, axis) => first[axis]! + at - (from[axis] ?? 0)), 0);
      return weightsAround(place, interpolation, { grid, boundary, image, factor });
    });
  }

  /** What is added to each cell: a source's value, its weight there, and its factor, which materials may change. */
  async #termsOf(field: Watching, added: Cells): Promise<readonly Term[]> {
    const { grid, boundary } = this.problem, materials = new Cells(grid), along = alongAxes(boundary);
    const imageAt = (axis: number, i: number) => imageOf(i, grid[axis]!, along[axis]!);
    /** Where a material is sampled; undefined where zeros lie. */
    const rowOf = ({ plane, offset }: Tap, place: Offset): number | undefined => {
      const [x, y, z] = place.map((i, axis) => imageAt(axis, i + offset[axis]!));
      return [x, y, z].includes(undefined) ? undefined : materials.rowAt(plane, x!, y!, z!);
    };
    const wanted = this.#sources.flatMap(({ source, places, signatures }) =>
      source.into.flatMap(({ field, value: factor }, target) =>
        places[target]!.flatMap((place, i) => {
          const found: (Term & { readonly cell: Offset; readonly factor: Expression })[] = [];
          visitCells(place, (x, y, z, weight) => {
            const row = added.rowAt(field, x, y, z), cell: Offset = [x, y, z];
            for (const tap of tapsIn([factor])) rowOf(tap, cell);
            found.push({ row, cell, factor, weight, signature: signatures[i]! });
          });
          return found;
        })
      )
    );
    const values = materials.points.length === 0 ? [] : await field.sample(materials.points);
    const profiles: ProfileValues[number][] = [];
    for (const { profile } of profileTapsOf(this.#sources.flatMap(({ source }) => source.into))) {
      profiles[profile] ??= await field.readProfile(profile);
    }
    return wanted.map(({ row, cell, factor, weight, signature }) => ({
      row,
      signature,
      weight: weight * fold<number>(factor, {
        ...NUMBERS,
        tap: (tap) => values[rowOf(tap, cell) ?? -1] ?? 0,
        profile: ({ profile, axis, offset }) =>
          profiles[profile]![imageAt(axis, cell[axis] + offset) ?? -1] ?? 0,
      }),
    }));
  }

  /** Records samples from number `first` on, of which each has a value for every cell; those that came before count once. */
  #take(first: number, values: FloatArray, sums: readonly Sums[]): void {
    const cells = this.#cells, end = Math.min(first + values.length / cells, this.mostSamples);
    for (const { group, group: { places }, ends, rows, weights, size } of sums) {
      const begin = Math.max(first, group.next), { length } = places;
      if (begin >= end) continue;
      const samples = new this.#Values((end - begin) * length);
      for (let i = begin; i < end; i++) {
        const at = (i - first) * cells, to = (i - begin) * length;
        for (let receiver = 0, term = 0; receiver < length; receiver++) {
          const end = ends[receiver]!;
          let sum = weights ? 0 : sumOf(places[receiver]!, values, { at, rows, size, term });
          if (weights) { for (let i = term; i < end; i++) sum += weights[i]! * values[at + rows[i]!]!; }
          term = end;
          samples[to + receiver] = sum;
        }
      }
      group.next = end;
      try {
        group.record.take(begin, samples);
      } catch (error) {
        this.#thrown.push(error);
        group.next = Infinity;
      }
    }
  }
}

/** Places as they may be given again. */
function givenOf(
  name: string,
  positions: readonly Position[],
  { interpolation, weight }: PlaceOptions,
): Given {
  const weights = weight && positions.map((position) => weight(...position as readonly number[] as Offset));
  return {
    name,
    positions: positions.map((position) => [...position] as readonly number[] as Position),
    interpolation,
    weights,
  };
}

/** How receivers are made of cells. */
interface Sums {
  readonly group: ReceiverGroup;
  /** Where the cells of each receiver end. */
  readonly ends: Uint32Array;
  /** The row of each of those cells; or of each cell of the grid, where that has fewer. */
  readonly rows: Uint32Array;
  /** Cells of the grid along y and z, where rows are by cell. */
  readonly size: readonly [ny: number, nz: number] | undefined;
  /** What each counts; of many they are made of those along the axes in every sample. */
  readonly weights: Float64Array | undefined;
}

/** The value at a place: its weights are made of those along the axes. */
function sumOf(
  { along: [xs, ys, zs], factor }: WeightedPlace,
  values: FloatArray,
  { at, rows, size: [ny, nz] = [0, 0], term }: Pick<Sums, "rows" | "size"> & { at: number; term: number },
): number {
  let sum = 0, i = term;
  for (let x = 0; x < xs.cells.length; x++) {
    for (let y = 0; y < ys.cells.length; y++) {
      const weight = xs.weights[x]! * ys.weights[y]!, column = (xs.cells[x]! * ny + ys.cells[y]!) * nz;
      for (let z = 0; z < zs.cells.length; z++) {
        const row = rows[nz === 0 ? i++ : column + zs.cells[z]!]!;
        sum += factor * (weight * zs.weights[z]!) * values[at + row]!;
      }
    }
  }
  return sum;
}

/** Cells that have a row each, in the order in which they came. */
class Cells {
  readonly points: Point[] = [];
  readonly #rows = new Map<number, number>();

  constructor(private readonly grid: Offset) {}

  rowAt(field: number, x: number, y: number, z: number): number {
    const [nx, ny, nz] = this.grid, key = ((field * nx + x) * ny + y) * nz + z, known = this.#rows.get(key);
    if (known !== undefined) return known;
    this.#rows.set(key, this.points.length);
    return this.points.push({ field, cell: [x, y, z] }) - 1;
  }
}

/** What is added to each cell in each step. */
function amplitudesOf(
  terms: readonly Term[],
  { start, steps, points }: { readonly start: number; readonly steps: number; readonly points: number },
): Float64Array {
  const sums = new Float64Array(steps * points);
  for (const { row, signature, weight } of terms) {
    const most = Math.min(steps, signature.length - start);
    for (let step = 0; step < most; step++) {
      const i = step * points + row;
      sums[i] = sums[i]! + weight * signature[start + step]!;
    }
  }
  return sums;
}
