/**
 * What a script's calls should give: an interpreter of definitions and of a solver's calls, in plain loops and f64, written
 * from the documentation. It shares no code with Facet.
 *
 * @module
 */
import type { Definition } from "../../kernels/definition.ts";
import {
  type Call,
  type Outcome,
  patternAt,
  planar,
  type RandomCase,
  readsBefore,
  visibleFields,
} from "./random_case.ts";
import {
  bound,
  boundOfSum,
  type Finder,
  finderOf,
  formulaValue,
  HALF,
  isExact,
  type Reading,
  round,
  roundAs,
} from "./rounding.ts";
import { cellsOfPlace, imageOf, type Place, type Weighted } from "./places.ts";

/** Values with their bounds. */
export interface Bounded {
  readonly values: Float64Array;
  readonly bounds: Float64Array;
}

function bounded(length: number): Bounded {
  return { values: new Float64Array(length), bounds: new Float64Array(length) };
}

/** What is wanted of a call that gives something. */
export type Expected =
  | { readonly kind: "values"; readonly of: Bounded }
  | { readonly kind: "lists"; readonly of: readonly Bounded[] };

/** What is wanted of a callback. */
export interface Handed {
  readonly by: number;
  readonly first: number;
  readonly size?: readonly number[];
  readonly of: Bounded;
}

/** A wrong beginning: what the solver holds is none of what it may start from. */
export class WrongStart extends Error {}

interface Receivers {
  readonly by: number;
  readonly field: string;
  readonly places: readonly (readonly Weighted[])[];
  readonly every: number;
  readonly takes: "traces" | "samples" | readonly number[];
  /** A list of values for each sample, from the first on. */
  samples: Map<number, Bounded>;
  next: number;
}

interface Sources {
  readonly name: string;
  readonly places: Readonly<Record<string, readonly (readonly Weighted[])[]>>;
  readonly signatures: readonly (readonly number[])[];
}

interface Watch {
  readonly by: number;
  readonly call: Extract<Call, { call: "snapshots" }>;
  due: number;
}

export class Interpreter {
  readonly #definition: Definition;
  /** Cells along a definition's x, y, z. */
  readonly #grid: readonly [number, number, number];
  readonly #boundary: readonly string[];
  readonly #cells: number;
  readonly #now = new Map<string, Bounded>();
  readonly #before = new Map<string, Bounded>();
  readonly #next = new Map<string, Bounded>();
  readonly #materials = new Map<string, Float64Array>();
  readonly #profiles = new Map<string, Float64Array>();
  readonly #finders: readonly (readonly (readonly [field: string, find: Finder])[])[];
  #factors: Readonly<Record<string, Readonly<Record<string, Finder>>>> = {};
  #signal = 0;
  #receivers: Receivers[] = [];
  #sources: Sources[] = [];
  #watches: Watch[] = [];
  /** What callbacks get. */
  readonly handed: Handed[] = [];
  step = 0;

  constructor({ definition, grid, boundary }: Pick<RandomCase, "definition" | "grid" | "boundary">) {
    roundAs(definition.precision);
    this.#definition = definition;
    this.#grid = planar(grid, 1);
    this.#boundary = planar<string>(boundary, "periodic");
    const [nx, ny, nz] = this.#grid;
    this.#cells = nx * ny * nz;
    for (const { name } of definition.fields) {
      for (const level of [this.#now, this.#before]) level.set(name, bounded(this.#cells));
    }
    const { materials, profiles = [], sources = [] } = definition;
    for (const { name } of materials) this.#materials.set(name, new Float64Array(this.#cells));
    for (const { name, axis } of profiles) this.#profiles.set(name, new Float64Array(this.#grid[axis]));
    const reading = this.#reading();
    this.#finders = definition.substeps.map((substep) =>
      Object.entries(substep).map(([field, of]) => [field, finderOf(of, reading)] as const)
    );
    this.#factors = Object.fromEntries(sources.map(({ name, into }) => [
      name,
      Object.fromEntries(Object.entries(into).map(([field, of]) => [field, finderOf(of, reading)])),
    ]));
  }

  /** Whether a value of any field is not finite, or may not be. */
  get isLost(): boolean {
    return [...this.#now.values()].some(({ values, bounds }) =>
      values.some((value, i) => !(Math.abs(value) + bounds[i]! < 1e30))
    );
  }

  #reading(): Reading {
    const [, ny, nz] = this.#grid, levels = { at: this.#now, before: this.#before, next: this.#next };
    /** For each cell of an axis the image of what lies `cells` away, −1 where zeros lie. */
    const tables = (offset: readonly number[]): Int32Array[] =>
      offset.map((cells, axis) => {
        const n = this.#grid[axis]!;
        return Int32Array.from({ length: n }, (_, i) => imageOf(i + cells, n, this.#boundary[axis]!) ?? -1);
      });
    return {
      tap: (word, name, offset) => {
        const [xs, ys, zs] = tables(offset) as [Int32Array, Int32Array, Int32Array], level = levels[word];
        const material = this.#materials.get(name);
        return (x, y, z) => {
          const i = xs[x]!, j = ys[y]!, k = zs[z]!, cell = (i * ny + j) * nz + k;
          bound.of = 0;
          if (i < 0 || j < 0 || k < 0) return 0;
          if (material !== undefined) return material[cell]!;
          const { values, bounds } = level.get(name)!;
          bound.of = bounds[cell]!;
          return values[cell]!;
        };
      },
      profile: (name, offset, shift) => {
        const found = this.#definition.profiles?.find((one) => one.name === name);
        if (found === undefined) return undefined;
        const { axis } = found, n = this.#grid[axis], values = this.#profiles.get(name)!;
        const table = Int32Array.from(
          { length: n },
          (_, i) => imageOf(i + offset + shift[axis]!, n, this.#boundary[axis]!) ?? -1,
        );
        return (x, y, z) => {
          bound.of = 0;
          return values[table[[x, y, z][axis]!]!] ?? 0;
        };
      },
      signal: () => () => {
        bound.of = 0;
        return this.#signal;
      },
    };
  }

  /** The beginning: fields are 0; materials have the stencil's values, which of the eight they are is taken from what was read. */
  create(start: Readonly<Record<string, readonly ArrayLike<number>[]>>, areGiven = false): void {
    const { materials, profiles = [] } = this.#definition, [nx, ny, nz] = this.#grid;
    for (const { name, values, formula } of [...materials, ...profiles]) {
      const found = start[name]?.[0], axis = profiles.find((one) => one.name === name)?.axis;
      const its = (axis === undefined ? this.#materials : this.#profiles).get(name)!;
      for (let i = 0; i < its.length; i++) {
        const [x, y, z] = [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
        const place = axis === undefined
          ? { x: (x + 0.5) / nx, y: (y + 0.5) / ny, z: (z + 0.5) / nz }
          : { i, n: its.length };
        const made = formula === undefined ? undefined : this.#stored(name, formulaValue(formula, place));
        // materials in buffers of the caller are the caller's
        const isFree = areGiven && (axis === undefined || formula === undefined);
        const value = found?.[i] ?? NaN;
        if (!isFree && (made === undefined ? !values.includes(value) : value !== made)) {
          throw new WrongStart(
            `${name} starts with ${value} at ${i}, ${made ?? `one of ${values}`} is right`,
          );
        }
        its[i] = value;
      }
    }
  }

  /** What a material's cell holds of a value: f32, or packed 16 bits. */
  #stored(name: string, value: number): number {
    const packed = this.#definition.materials.find((one) => one.name === name)?.packed;
    if (packed === undefined) return round(value);
    const [least, most] = packed.map(round) as [number, number];
    let unit = 2 ** -126;
    while (unit * 65534 < most - least || unit * 2 ** 22 < Math.max(-least, most)) unit *= 2;
    const units = Math.round(round(value) / unit);
    return unit * Math.min(Math.floor(most / unit), Math.max(Math.ceil(least / unit), units));
  }

  /** The index of a cell along the own axes. */
  #indexOf(own: readonly number[]): number {
    const [x, y, z] = planar(own, 0), [, ny, nz] = this.#grid;
    return (x * ny + y) * nz + z;
  }

  /** The cells of some slices along the own axes, in order. */
  #slices(x = 0, slices = this.#grid[0] - x): number[][] {
    const [, ny, nz] = this.#grid, own = this.#definition.dimensions === 2;
    return Array.from({ length: slices * ny * nz }, (_, i) => {
      const cell = [x + Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
      return own ? [cell[0]!, cell[2]!] : cell;
    });
  }

  /** Makes a call; what it should give, if it gives anything. `outcome` is what initial values are taken from. */
  call(one: Call, by: number, outcome: Outcome): Expected | undefined {
    switch (one.call) {
      case "write":
        return this.#write(one);
      case "run":
        return this.#run(one.steps);
      case "sources": {
        const { name, positions, signatures } = one;
        const into = this.#definition.sources!.find((source) => source.name === name)!.into;
        const places = Object.fromEntries(
          Object.keys(into).map((field) => [field, this.#places(field, one)]),
        );
        const each = signatures.length === 1 ? positions.map(() => signatures[0]!) : signatures;
        this.#sources.push({ name, places, signatures: each });
        return;
      }
      case "receivers": {
        const { name, every, takes = "traces" } = one, places = this.#places(name, one);
        this.#receivers.push({ by, field: name, places, every, takes, samples: new Map(), next: 0 });
        return;
      }
      case "snapshots":
        this.#watches.push({ by, call: one, due: Math.ceil(this.step / one.every) * one.every });
        return;
      case "reset":
        for (const level of [...this.#now.values(), ...this.#before.values()]) {
          level.values.fill(0);
          level.bounds.fill(0);
        }
        [this.#receivers, this.#sources, this.#watches, this.step] = [[], [], [], 0];
        return;
      case "continue":
        // whoever takes snapshots and samples adds them again
        this.#receivers = this.#receivers.filter(({ takes }) => takes !== "samples");
        this.#watches = [];
        return;
      case "initialise":
        return this.#initialise(one, outcome);
      case "read": {
        const { name, ago, x, slices } = one, profile = this.#profiles.get(name);
        if (profile !== undefined) {
          return {
            kind: "values",
            of: { values: profile.slice(), bounds: new Float64Array(profile.length) },
          };
        }
        const all = this.#materials.get(name);
        const { values, bounds } = all !== undefined
          ? { values: all, bounds: new Float64Array(all.length) }
          : (ago === 1 ? this.#before : this.#now).get(name)!;
        const inSlice = this.#cells / this.#grid[0], from = (x ?? 0) * inSlice;
        const end = slices === undefined ? this.#cells : from + slices * inSlice;
        return { kind: "values", of: { values: values.slice(from, end), bounds: bounds.slice(from, end) } };
      }
      case "traces":
        this.#sample();
        return { kind: "lists", of: this.#traces() };
      case "spectra":
        this.#sample();
        return { kind: "lists", of: this.#spectra() };
    }
  }

  #write({ name, values, ago, x, slices }: Extract<Call, { call: "write" }>): undefined {
    const profile = this.#profiles.get(name);
    if (profile !== undefined) {
      for (let i = 0; i < profile.length; i++) profile[i] = round(patternAt(values, [i]));
      return;
    }
    const material = this.#materials.get(name), level = (ago === 1 ? this.#before : this.#now).get(name);
    for (const own of this.#slices(x, slices)) {
      const i = this.#indexOf(own), value = round(patternAt(values, own));
      if (material !== undefined) material[i] = this.#stored(name, value);
      else [level!.values[i], level!.bounds[i]] = [value, 0];
    }
  }

  #initialise({ kind }: Extract<Call, { call: "initialise" }>, outcome: Outcome): undefined {
    const start = outcome !== undefined && "start" in outcome ? outcome.start : {};
    const integers = (value: number) => Number.isInteger(value) && value >= -4 && value <= 3;
    for (const { name, range } of this.#definition.fields) {
      const [now, before] = [this.#now.get(name)!, this.#before.get(name)!],
        [given, older] = start[name] ?? [];
      const isRight = {
        ...{
          zero: (value: number) => value === 0,
          binary: (value: number) => value === 0 || value === 1,
          integers,
        },
        noise: (value: number) => value >= round(range[0]) && value <= round(range[1]),
      }[kind];
      for (let i = 0; i < this.#cells; i++) {
        // fields in layers cannot be read, and start with 0
        const value = given === undefined ? 0 : given[i]!;
        if (given !== undefined && (!isRight(value) || (older ?? given)[i] !== value)) {
          throw new WrongStart(`${name} is ${value} and ${older?.[i]} at ${i} after initialise(${kind})`);
        }
        for (const level of [now, before]) [level.values[i], level.bounds[i]] = [value, 0];
      }
    }
    this.create(start);
    this.step = 0;
    for (const group of this.#receivers) [group.samples, group.next] = [new Map(), 0];
    for (const watch of this.#watches) watch.due = 0;
    // what was handed over before comes again
    return;
  }

  #places(
    field: string,
    placed: Pick<Extract<Call, { call: "receivers" }>, "positions" | "interpolation" | "slope">,
  ) {
    const { surface, stagger } = this.#definition;
    const place: Place = {
      grid: this.#grid,
      boundary: this.#boundary,
      interpolation: placed.interpolation ?? "linear",
      stagger: planar(stagger?.[field] ?? (this.#definition.dimensions === 2 ? [0, 0] : [0, 0, 0]), 0),
      surface: surface === undefined
        ? "none"
        : surface === "free" || surface.includes(field)
        ? "odd"
        : "even",
    };
    return placed.positions.map((position) => {
      const weight = 1 + (placed.slope ?? 0) * position[0]!;
      return cellsOfPlace(planar(position, 0), place).map((one) => ({ ...one, weight: weight * one.weight }));
    });
  }

  #run(steps: number): undefined {
    this.#sample();
    this.#watch();
    for (let i = 0; i < steps; i++) {
      this.#advance();
      this.#sample();
      this.#watch();
    }
  }

  #advance(): void {
    const [nx, ny, nz] = this.#grid, { signal } = this.#definition;
    this.#signal = signal === undefined ? 0 : round(formulaValue(signal, { step: this.step }));
    this.#next.clear();
    for (const substep of this.#finders) {
      const made = substep.map(([field, find]) => {
        const its = bounded(this.#cells);
        for (let x = 0, i = 0; x < nx; x++) {
          for (let y = 0; y < ny; y++) {
            for (let z = 0; z < nz; z++, i++) {
              its.values[i] = find(x, y, z);
              its.bounds[i] = bound.of;
            }
          }
        }
        return [field, its] as const;
      });
      for (const [field, its] of made) {
        this.#add(field, its);
        this.#next.set(field, its);
      }
    }
    for (const [field, its] of this.#next) {
      this.#before.set(field, this.#now.get(field)!);
      this.#now.set(field, its);
    }
    this.#next.clear();
    this.step++;
  }

  /** Adds what sources send to a field in this step. */
  #add(field: string, { values, bounds }: Bounded): void {
    const [, ny, nz] = this.#grid, sums = new Map<number, [sum: number, size: number, isExact: boolean]>();
    for (const { name, places, signatures } of this.#sources) {
      places[field]?.forEach((cells, i) => {
        const sent = round(signatures[i]![this.step] ?? 0);
        for (const { cell: [x, y, z], weight } of cells) {
          const at = (x * ny + y) * nz + z, factor = this.#factors[name]![field]!(x, y, z);
          const part = factor * weight * sent, [sum, size, exact] = sums.get(at) ?? [0, 0, true];
          sums.set(at, [sum + part, size + Math.abs(part), exact && isExact(part) && bound.of === 0]);
        }
      });
    }
    for (const [at, [sum, size, exact]] of sums) {
      const its = exact && isExact(sum) ? 0 : 4 * HALF * size;
      bounds[at] = boundOfSum(values[at]!, bounds[at]!, sum, its);
      values[at]! += sum;
    }
  }

  /** Records what is due and not yet recorded. */
  #sample(): void {
    const [, ny, nz] = this.#grid;
    for (const group of this.#receivers) {
      const { field, places, every, takes } = group, at = this.step / every;
      if (!Number.isInteger(at) || group.next > at) continue;
      const its = this.#now.get(field)!, of = bounded(places.length);
      places.forEach((cells, i) => {
        let sum = 0, error = 0, areExact = true;
        for (const { cell: [x, y, z], weight } of cells) {
          const cell = (x * ny + y) * nz + z, part = weight * its.values[cell]!;
          sum += part;
          // weights of one cell may cancel
          error += Math.abs(weight) * its.bounds[cell]! +
            2 ** -40 * (Math.abs(part) + Math.abs(its.values[cell]!));
          areExact &&= its.bounds[cell] === 0 && isExact(part);
        }
        of.values[i] = sum;
        of.bounds[i] = areExact && isExact(sum) ? 0 : error + 2 * HALF * Math.abs(sum);
      });
      group.samples.set(at, of);
      group.next = at + 1;
      if (takes === "samples") this.handed.push({ by: group.by, first: at, of });
    }
  }

  #traces(): Bounded[] {
    const groups = this.#receivers.filter(({ takes }) => takes === "traces");
    const count = Math.max(0, ...groups.map(({ next }) => next));
    return groups.flatMap(({ places, samples }) =>
      places.map((_, i) => {
        const of = bounded(count);
        for (const [at, { values, bounds }] of samples) {
          [of.values[at], of.bounds[at]] = [values[i]!, bounds[i]!];
        }
        return of;
      })
    );
  }

  #spectra(): Bounded[] {
    return this.#receivers.flatMap(({ takes, places, samples, every }) => {
      if (typeof takes === "string") return [];
      return places.map((_, i) => {
        const of = bounded(2 * takes.length);
        takes.forEach((frequency, k) => {
          for (const [at, { values, bounds }] of samples) {
            const angle = -2 * Math.PI * frequency * at * every, value = values[i]!;
            of.values[2 * k]! += Math.cos(angle) * value;
            of.values[2 * k + 1]! += Math.sin(angle) * value;
            const error = bounds[i]! + 2 * HALF * Math.abs(value);
            for (const part of [0, 1]) of.bounds[2 * k + part]! += error;
          }
        });
        return of;
      });
    });
  }

  #watch(): void {
    for (const watch of this.#watches) {
      if (watch.due > this.step) continue;
      const { name, every, stride, box } = watch.call, dimensions = this.#definition.dimensions;
      watch.due = this.step + every;
      const grid = dimensions === 2 ? [this.#grid[0], this.#grid[2]] : this.#grid;
      const { low, size: all } = box ?? { low: grid.map(() => 0), size: grid };
      const size = all.map((cells) => Math.ceil(cells / stride)), [, ny = 1, nz = 1] = size;
      const its = this.#now.get(name)!, of = bounded(size.reduce((a, b) => a * b));
      for (let i = 0; i < of.values.length; i++) {
        const place = size.length === 2
          ? [Math.floor(i / ny), i % ny]
          : [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
        const cell = this.#indexOf(place.map((one, axis) => low[axis]! + stride * one));
        [of.values[i], of.bounds[i]] = [its.values[cell]!, its.bounds[cell]!];
      }
      this.handed.push({ by: watch.by, first: this.step, size, of });
    }
  }
}

export { readsBefore, visibleFields };
