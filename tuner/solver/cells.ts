import { profilesOf } from "../../kernels/axis_profiles.ts";
import { type FieldStart, INITIAL_FIELDS } from "../../kernels/initial_field.ts";
import { wholeFields } from "../../kernels/layers.ts";
import { packingOf } from "../../kernels/packing.ts";
import { axisNames, type Grid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { readsPrevious, type ValueRange } from "../../kernels/update.ts";
import type { GridSlices } from "../devices/shared/part_field.ts";
import { describeValue } from "../format.ts";
import { refuserOf } from "../problem/request_error.ts";
import type { CellsOptions, CellValues } from "./solver.ts";

/** Slices of a field or material, and what a packed one's cells hold of a value that is written. */
export type CellRange = GridSlices & {
  readonly isMaterial: boolean;
  readonly stored?: ((value: number) => number) | undefined;
};

export function rangeOf(
  { stencil: { update }, grid: [nx], isPart = false }: Problem,
  name: string,
  { ago = 0, x = 0, slices }: CellsOptions,
): CellRange {
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
  const packed = update.materials[plane - update.fields.length]?.packed;
  const stored = packed && storedAs(name, packed);
  return { plane, isMaterial, ago, x, slices: count, stored };
}

/** What rounds values that are written into a packed material. */
function storedAs(name: string, packed: ValueRange): (value: number) => number {
  const { nearest } = packingOf(packed), refuse = refuserOf(`write ${name}`);
  return (value) => nearest(value) ?? refuse(`values must lie from ${packed.join(" to ")}`, `${value}`);
}

/** An axis profile by its name, which is read and written as a whole, and its cells; undefined where it is none's. */
export function profileOf(
  { stencil, stencil: { update }, grid }: Problem,
  name: string,
  options: CellsOptions = {},
) {
  const index = profilesOf(update).findIndex((one) => one.name === name), found = Object.keys(options);
  if (index < 0) return undefined;
  if (found.length > 0) refuserOf("find the cells")(`all values of ${name} at once are wanted`, `${found}`);
  const { axis } = profilesOf(update)[index]!,
    n = grid[axis],
    of = `${n} cells along ${axisNames(stencil)[axis]}`;
  /** Values by the index along the axis, which a function gets for x, y and z. */
  const source = (values: CellValues) => {
    const valueAt = sliceSource(name, values, { x: 0, slices: n }, [n, 1, 1], of);
    return typeof values === "function" ? values : (i: number) => valueAt(i)[0]!;
  };
  return { index, axis, source };
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

/** Values of a slice, by its x in the whole grid; of a list those that it holds now. */
export function sliceSource(
  name: string,
  values: CellValues,
  { x: first, slices, stored }: Pick<CellRange, "x" | "slices" | "stored">,
  [, ny, nz]: Grid,
  of = `${slices} slices`,
): (x: number) => Float32Array {
  const refuse = refuserOf(`write ${name}`);
  const inSlice = ny * nz;
  if (typeof values === "number") {
    const same = new Float32Array(inSlice).fill(stored?.(values) ?? values);
    return () => same;
  }
  if (typeof values === "function") {
    const kept = stored ?? ((value: number) => value);
    return (x) => new Float32Array(inSlice).map((_, i) => kept(values(x, Math.floor(i / nz), i % nz)));
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
  const copy = stored ? Float32Array.from(values, stored) : new Float32Array(values);
  return (x) => copy.subarray((x - first) * inSlice, (x - first + 1) * inSlice);
}
