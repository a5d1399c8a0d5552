import { type FloatArray, type Precision, precisionOf, zeros } from "../../kernels/precision.ts";
import { checkOptions } from "../../kernels/check_options.ts";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import type { Axis } from "../../kernels/expression.ts";
import { type FieldStart, INITIAL_FIELDS } from "../../kernels/initial_field.ts";
import { fixedBeyondLayers, wholeFields } from "../../kernels/layers.ts";
import { evaluatorOf } from "../../kernels/operations.ts";
import { packingOf } from "../../kernels/packing.ts";
import { axisNames, type Grid, innerOf, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { type Material, readsPrevious, type ValueRange } from "../../kernels/update.ts";
import type { Box } from "../../models/rank_part.ts";
import type { GridSlices } from "../devices/shared/part_field.ts";
import type { Rows } from "../devices/shared/shared_field.ts";
import { describeValue } from "../format.ts";
import { refuserOf } from "../problem/request_error.ts";
import type { CellsOptions, CellValues } from "./solver.ts";

/** What a cell holds of a value that is written, of number `i` in slice x; throws where that may not be written. */
interface Stored {
  (value: number, x: number, i: number): number;
  /** Of these every value is written as it is. */
  readonly plain: ValueRange;
  readonly Values: Precision["Values"];
}

/** Slices of a field or material, and what its cells hold of values. */
export type CellRange = GridSlices & { readonly isMaterial: boolean; readonly stored: Stored };

export function rangeOf(
  { stencil, isPart = false, ...problem }: Problem,
  name: string,
  options: CellsOptions,
): CellRange {
  const { size: [nx, ny, nz] } = innerOf(problem);
  checkOptions("find the cells", options, ["ago", "x", "slices"]);
  const { ago = 0, x = 0, slices } = options, { update } = stencil;
  const refuse = refuserOf("find the cells");
  const materials = update.materials.map((material) => material.name);
  const whole = isPart ? update.fields : wholeFields(update);
  const names = [...whole, ...materials, ...profilesOf(update).map((profile) => profile.name)];
  const known = [...whole, ...materials].includes(name),
    plane = [...update.fields, ...materials].indexOf(name);
  if (!known) refuse(`the name must be one of ${names.join(", ")}`, describeValue(name));
  const isMaterial = plane >= update.fields.length;
  const hasPrevious = readsPrevious(update) && !isMaterial;
  if (ago !== 0 && !(ago === 1 && hasPrevious)) {
    refuse(`ago must be ${hasPrevious ? "0 or 1" : "0"} for ${name}`, `${ago}`);
  }
  const count = slices ?? nx - x;
  if (!(Number.isInteger(x) && Number.isInteger(count) && x >= 0 && count >= 1 && x + count <= nx)) {
    refuse(`slices must lie within 0 to ${nx - 1}`, `${count} from ${x} on`);
  }
  const cellAt = (x: number, i: number) =>
    ownOf(stencil, [x + Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz]);
  const stored = storedAs(name, cellAt, precisionOf(update), update.materials[plane - update.fields.length]);
  return { plane, isMaterial, ago, x, slices: count, stored };
}

/** Where slices lie in what is computed. */
export function boxOf(problem: Problem, { ago, plane, x, slices }: GridSlices): Box {
  const { low: [first, y, z], size: [, ny, nz] } = innerOf(problem);
  return { ago, plane, planes: 1, low: [first + x, y, z], size: [slices, ny, nz] };
}

/** What refuses a value that the precision cannot hold, or that lies beyond a material's range, and rounds those of packed ones. */
function storedAs(
  name: string,
  placeOf: (x: number, i: number) => readonly number[],
  { name: precision, round, most, Values }: Precision,
  { packed, within = packed }: Pick<Material, "packed" | "within"> = {},
): Stored {
  const nearest = packed && packingOf(packed).nearest;
  const [lowest, highest] = within?.map(round) ?? [-most, most];
  const stored = (value: number, x: number, i: number): number => {
    const held = round(value);
    if (held >= lowest! && held <= highest!) return nearest?.(value) ?? value;
    const wanted = within
      ? `values must lie from ${within.join(" to ")}`
      : `numbers that ${precision} can hold are wanted`;
    return refuserOf(`write ${name}`)(wanted, `${value} at (${placeOf(x, i).join(", ")})`);
  };
  return Object.assign(stored, { plain: nearest ? [1, 0] as const : [lowest!, highest!] as const, Values });
}

/** An axis profile by its name, which is read and written as a whole, and its cells; undefined where it is none's. */
export function profileOf(
  { stencil, stencil: { update }, grid, ...problem }: Problem,
  name: string,
  options: CellsOptions = {},
) {
  const index = profilesOf(update).findIndex((one) => one.name === name), found = Object.keys(options);
  if (index < 0) return undefined;
  if (found.length > 0) refuserOf("find the cells")(`all values of ${name} at once are wanted`, `${found}`);
  const { axis, formula } = profilesOf(update)[index]!, { low, size } = innerOf({ grid, ...problem });
  const n = size[axis], first = low[axis], fixed = formula && fixedBeyondLayers(update, index, grid[axis]);
  const of = `${n} cells along ${axisNames(stencil)[axis]}`;
  /** Values by the index along the axis, which a function gets for x, y and z. */
  const source = (values: CellValues) => {
    const precision = precisionOf(update), { round } = precision;
    const stored = storedAs(name, (x, i) => [x + i], precision);
    const valueAt = sliceSource(name, values, { x: 0, slices: n, stored }, [n, 1, 1], of);
    const given = typeof values === "function"
      ? (i: number) => stored(values(i, i, i), i, 0)
      : (i: number) => valueAt(i)[0]!;
    const goesOn = (i: number): number => given(innermost(i - first, n));
    if (fixed === undefined) return goesOn;
    const formulaAt = evaluatorOf(formula!), { field, cells, end } = fixed;
    return (i: number): number => {
      const value = goesOn(i), wanted = round(formulaAt({ i, n: grid[axis] }));
      if (i < fixed.first || i >= end || round(value) === wanted) return value;
      return refuserOf(`write ${name}`)(
        `${wanted} is wanted at ${i}, since ${field} is kept in the ${cells} outer cells at each end alone`,
        `${value}`,
      );
    };
  };
  return { index, first, n, source };
}

/** Refuses, by a RangeError, what is no number of steps. */
export function checkSteps(steps: number): void {
  if (Number.isSafeInteger(steps) && steps >= 0) return;
  throw new RangeError(`Cannot run: steps must be a whole number >= 0: current value is ${steps}`);
}

/** Refuses, by a RangeError, what no field can start from. */
export function checkStart({ kind, seed }: FieldStart): void {
  const kinds = [...INITIAL_FIELDS, "zero"], refuse = refuserOf("set the initial field");
  if (!kinds.includes(kind)) refuse(`the kind must be one of ${kinds.join(", ")}`, describeValue(kind));
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)) {
    refuse("the seed must be a whole number from 0 to 2³² − 1", describeValue(seed));
  }
}

/** What a user gives: a function, which must return numbers, as a function of a plan's cells. */
export function checked<T extends CellValues>({ stencil }: Problem, name: string, values: T): T {
  if (typeof values !== "function") return values;
  const given = values as (...cell: readonly number[]) => number, { dimensions, original } = stencil;
  return ((x: number, y: number, z: number) => {
    const value = dimensions === 2 ? given(x, z) : original ? given(x, z, y) : given(x, y, z);
    if (typeof value === "number") return value;
    const at = ownOf(stencil, [x, y, z]).join(", ");
    return refuserOf(`write ${name}`)(
      `the function must return a number, also at (${at})`,
      describeValue(value),
    );
  }) as unknown as T;
}

/** The nearest of so many cells to one that may lie in edges around them. */
function innermost(i: number, cells: number): number {
  return Math.min(Math.max(i, 0), cells - 1);
}

/** The same of all slices that are computed: in edges around the grid its outermost values go on. */
export function extended(
  source: ReturnType<typeof sliceSource>,
  { grid, inner, stencil }: Problem,
): ReturnType<typeof sliceSource> {
  if (inner === undefined) return source;
  // round the ring, where it is one
  const within = (i: number, axis: Axis): number => {
    return innermost((i + grid[axis]) % grid[axis] - inner.low[axis], inner.size[axis]);
  };
  let known = -1, slice = zeros(stencil.update, 0);
  return (x, { low: [y, z], size: [ny, nz] } = { low: [0, 0], size: [grid[1], grid[2]] }) => {
    const from = within(x, 0);
    if (from !== known) [known, slice] = [from, source(from)];
    return zeros(stencil.update, ny * nz).map((_, i) => {
      return slice[within(y + Math.floor(i / nz), 1) * inner.size[2] + within(z + i % nz, 2)]!;
    });
  };
}

/** Values of a slice, by its x in the whole grid, or of some rows of it; of a list those that it holds now. */
export function sliceSource(
  name: string,
  values: CellValues,
  { x: first, slices, stored }: Pick<CellRange, "x" | "slices" | "stored">,
  [, ny, nz]: Grid,
  of = `${slices} slices`,
): (x: number, rows?: Rows) => FloatArray<ArrayBuffer> {
  const { Values } = stored;
  const refuse = refuserOf(`write ${name}`), inSlice = ny * nz, whole: Rows = { low: [0, 0], size: [ny, nz] };
  /** A value for each cell of rows, of its y, z and number in the slice. */
  const fill = (
    { low: [y, z], size: [rows, cells] }: Rows,
    of: (y: number, z: number, i: number) => number,
  ) => {
    // round the ring, where it is one
    return new Values(rows * cells).map((_, i) => {
      const [row, cell] = [(y + Math.floor(i / cells) + ny) % ny, (z + i % cells + nz) % nz];
      return of(row, cell, row * nz + cell);
    });
  };
  if (typeof values === "number") {
    const value = stored(values, first, 0), same = new Values(inSlice).fill(value);
    return (_, rows) => rows ? fill(rows, () => value) : same;
  }
  if (typeof values === "function") {
    return (x, rows = whole) => fill(rows, (y, z, i) => stored(values(x, y, z), x, i));
  }
  if (typeof values !== "object" || typeof values?.length !== "number") {
    refuse("values are a number, a list of numbers or a function of the cell", describeValue(values));
  }
  const count = slices * inSlice;
  if (values.length !== count) refuse(`${of} have ${count} values`, `${values.length}`);
  // all of a typed array's are of one kind
  const looked = ArrayBuffer.isView(values) ? [values[0]] : Array.from(values);
  const odd = looked.findIndex((value) => typeof value !== "number");
  if (odd >= 0) refuse(`the list must hold numbers, also at ${odd}`, describeValue(values[odd]));
  const copy = new Values(values), [lowest, highest] = stored.plain;
  for (let i = 0; i < count; i++) {
    // a call for each would take several times as long
    if (!(copy[i]! >= lowest && copy[i]! <= highest)) copy[i] = stored(values[i]!, first, i);
  }
  return (x, rows) => {
    const slice = copy.subarray((x - first) * inSlice, (x - first + 1) * inSlice);
    return rows ? fill(rows, (_y, _z, i) => slice[i]!) : slice;
  };
}
