/**
 * What `solve` takes from files and formulas, and what it writes: fields, materials, sources and traces.
 *
 * @module
 */
import { type FloatArray, precisionOf } from "../../kernels/precision.ts";
import { basename } from "node:path";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import { wholeFields } from "../../kernels/layers.ts";
import { type OwnGrid, ownOf, type Problem, type Stencil } from "../../kernels/stencils/stencil.ts";
import { readsPrevious } from "../../kernels/update.ts";
import { type NumberArray, readArray, writeArray, writeBytes } from "../files/array.ts";
import { drawField } from "../files/draw_field.ts";
import { fittedTo } from "../files/fit.ts";
import { readFormula, type Value } from "../files/formula.ts";
import { pvdText } from "../files/vti.ts";
import { writeSnapshot } from "../files/zarr.ts";
import { formatPlural } from "../format.ts";
import { refuserOf, RequestError } from "../problem/request_error.ts";
import { checkFileWritable } from "../profile/store.ts";
import type { FieldSolver } from "../solver/field_solver.ts";
import type { AnySolver, CellValues } from "../solver/solver.ts";
import { defaultSteps } from "../problem/default_problem.ts";
import { type EarlierValues, type Options, type Refuse, type Values, wrongValue } from "./options.ts";
import { readPlace, readPlaces, readSignature } from "./shot_places.ts";
import { chosenStencil } from "./problem_options.ts";

/** Names of files of arrays. */
const ARRAY_FILE = /\.(?:npy|raw|f32|bin)$/;

/** What names a file, and no formula: one that ends in a number such as 2.e3 is none. */
const ANY_FILE = /\.(?!e\d*$)[a-z]\w*$/i;

/** What a field or a material begins with, as it is asked for. */
export interface Beginning {
  readonly name: string;
  /** The level of a field: 1 is F(t−1). */
  readonly ago: 0 | 1;
  /** A file, or a formula. */
  readonly text: string;
}

/** The same with its values. */
export interface BegunWith extends Beginning {
  readonly values: CellValues;
}

/** The names of an equation's materials and axis profiles. */
const materialsOf = ({ update }: Stencil): string[] =>
  [...update.materials, ...profilesOf(update)].map(({ name }) => name);

/** An option that begins a field or a material; the help says of what. */
export function beginning(kind: "field" | "material", help: string) {
  const value = `${kind === "field" ? "FIELD" : "MATERIAL"}=FILE|FORMULA`;
  return {
    value,
    help,
    read(text: string, refuse: Refuse, earlier: EarlierValues): Beginning {
      const [, name = "", past, source = ""] = /^(\w+)(@-1)?=(.+)$/.exec(text) ?? [];
      const stencil = chosenStencil(earlier), isField = kind === "field";
      const names = isField ? wholeFields(stencil.update) : materialsOf(stencil);
      if (!names.includes(name)) {
        const such = `${value}, where ${kind.toUpperCase()} is one of ${names.join(", ")}`;
        refuse(names.length === 0 ? `no ${kind}: ${stencil.name} has none` : such);
      }
      if (past && !(isField && readsPrevious(stencil.update))) {
        refuse(`${value} without @-1: no step reads it`);
      }
      return { name, ago: past ? 1 : 0, text: source };
    },
    ...(kind === "field" && { notWith: { "--seed": "a seed selects values where none are given" } }),
    reads: (text: string) => ANY_FILE.test(text) ? [text.replace(/^[^=]*=/, "")] : [],
    repeatable: true,
  } as const;
}

/** Reads what fields and materials begin with; `notes` gets what was converted. */
export async function readBeginnings(
  given: readonly Beginning[],
  problem: Problem,
  notes: string[],
): Promise<BegunWith[]> {
  const { stencil, stencil: { update } } = problem, grid = ownOf(stencil, problem.grid);
  const { name: precision } = precisionOf(update);
  // a line lies along the last axis
  const axes = stencil.dimensions === 1 ? ["", "", "x"] : ["x", "y", "z"].slice(0, grid.length);
  const isSame = (a: Beginning, b: Beginning) => a.name === b.name && a.ago === b.ago;
  const twice = given.find((one, i) => given.findIndex((other) => isSame(one, other)) < i);
  if (twice) {
    throw new RequestError(`Cannot begin: ${twice.name} can only begin once: found ${twice.text} as well`);
  }
  return await Promise.all(given.map(async (one): Promise<BegunWith> => {
    const { name, text } = one, profile = profilesOf(update).find((profile) => profile.name === name);
    const sizes: readonly number[] = profile ? [problem.grid[profile.axis]] : grid;
    if (!ANY_FILE.test(text)) {
      return { ...one, values: byRows(readFormula(text, profile ? ["x"] : axes), sizes) };
    }
    const array = await readArray(text, { precision, shape: sizes });
    const { values, note } = fittedTo(sizes, array, text);
    if (array.converted) notes.push(`${text}: values of type ${array.converted} became ${precision}`);
    if (note) notes.push(note);
    return { ...one, values };
  }));
}

/** A formula of places from 0 to 1 as a function of cells, which computes the row along the last axis that a cell is in. */
function byRows(formula: ReturnType<typeof readFormula>, sizes: readonly number[]): CellValues {
  const [last = 1, ...others] = sizes.toReversed(), [ny = 1, nx = 1] = others;
  const along = Float64Array.from({ length: last }, (_, i) => (i + 0.5) / last);
  let row: Value = 0, atX = NaN, atY = NaN;
  const valueAt = (x: number, y: number, z: number): number => {
    if (x !== atX || y !== atY) row = formula([(x + 0.5) / nx, (y + 0.5) / ny, along].slice(-sizes.length));
    [atX, atY] = [x, y];
    return typeof row === "number" ? row : row[z]!;
  };
  const [one, two] = [(x: number) => valueAt(0, 0, x), (x: number, y: number) => valueAt(0, x, y)];
  return sizes.length === 3 ? valueAt : sizes.length === 2 ? two : one;
}

/** Sets fields and materials; a field of which only F(t) is given is at rest. Every rank calls it. */
export async function begin(solver: AnySolver, given: readonly BegunWith[]): Promise<void> {
  const { problem: { stencil: { update } } } = solver, fields = wholeFields(update);
  for (const { name, ago, values } of given) {
    const isAlone = ago === 0 && !given.some((other) => other.name === name && other.ago === 1);
    const isAtRest = isAlone && fields.includes(name) && readsPrevious(update);
    for (const level of isAtRest ? [0, 1] as const : [ago]) {
      await solver.write(name, values, fields.includes(name) ? { ago: level } : {});
    }
  }
}

/** A source as it is asked for, with the file of its signature. */
type SourceWish = Readonly<{ name: string; at: OwnGrid; path: string }>;

/** Options of what sends and records. */
export const POINTS = {
  source: {
    value: "NAME@X,Y,Z=FILE",
    help:
      "a source of the equation at a place in cells, and what it sends in each step: numbers, a line each, or .npy",
    read(text: string, refuse: Refuse, earlier: EarlierValues): SourceWish {
      const { name: equation, update } = chosenStencil(earlier),
        names = update.sources?.map(({ name }) => name);
      const [, name = "", place = "", path = ""] = /^(\w+)@([^=]+)=(.+)$/.exec(text) ?? [];
      if (names === undefined) return refuse(`no source: ${equation} declares none`);
      if (!names.includes(name)) refuse(`NAME@X,Y,Z=FILE, where NAME is one of ${names.join(", ")}`);
      return { name, at: readPlace(place, () => refuse("a place X,Y,Z or X,Y in cells, 0 the first")), path };
    },
    reads: (text: string) => [text.replace(/^[^=]*=/, "")],
    notWith: { "--seed": "fields begin at 0 then", "--restart": "the checkpoint has the sources" },
    repeatable: true,
  },
  receivers: {
    value: "[FIELD=]FILE",
    help: "where the first or a named field is recorded at each step: a line X,Y,Z each, in cells",
    read: readFieldFile,
    reads: (text: string) => [outputOf(text).path],
    onlyWith: { "--traces": "nothing else is written of them" },
    notWith: { "--restart": "the checkpoint has the receivers" },
  },
  traces: {
    value: "FILE",
    help: "where to write what receivers recorded, receivers x (steps + 1): .npy or .raw",
    read: (path: string, refuse: Refuse): string =>
      ARRAY_FILE.test(path) ? path : refuse("a name that ends in .npy or .raw"),
    writes: (path: string) => [path],
  },
} as const satisfies Options;

/** Sources with what they send, and places of receivers. */
export interface Points {
  readonly sources: readonly (SourceWish & { readonly signature: ArrayLike<number> })[];
  readonly receivers?: Output & { readonly places: readonly OwnGrid[] };
}

/** Reads the files of sources and receivers. */
export async function readPoints(
  { source, receivers }: Pick<Values<typeof POINTS>, "source" | "receivers">,
  { stencil: { dimensions } }: Problem,
): Promise<Points> {
  const axes = dimensions === 2 ? 2 : 3;
  const check = (option: string, places: readonly OwnGrid[]): void => {
    const odd = places.find(({ length }) => length !== axes);
    if (odd) throw wrongValue(option, `places of ${axes} numbers, in cells`, odd.join(","));
  };
  check("source", source.map(({ at }) => at));
  const signed = async (one: SourceWish) => ({ ...one, signature: await readSignature(one.path) });
  const sources = await Promise.all(source.map(signed));
  if (receivers === undefined) return { sources };
  const places = await readPlaces(receivers.path, "X,Y,Z or X,Y in cells");
  check("receivers", places);
  return { sources, receivers: { ...receivers, places } };
}

/** Adds sources and receivers. Every rank calls it. */
export async function addPoints(solver: AnySolver, { sources, receivers }: Points): Promise<void> {
  for (const { name, at, signature } of sources) await solver.addSources(name, [at], signature);
  const [first] = wholeFields(solver.problem.stencil.update);
  if (receivers) await solver.addReceivers(receivers.field ?? first!, receivers.places);
}

/** All fields by their names: whole on rank 0, empty on others. Every rank calls it. */
export async function readFields(solver: AnySolver): Promise<Record<string, FloatArray<ArrayBuffer>>> {
  const fields: Record<string, FloatArray<ArrayBuffer>> = {};
  for (const name of wholeFields(solver.problem.stencil.update)) fields[name] = await solver.read(name);
  return fields;
}

/** Where fields are written. */
export interface Output {
  /** One field; undefined: all. */
  readonly field: string | undefined;
  readonly path: string;
}

/** Files of a run at most: with more, nobody finds one. */
const MOST_FILES = 10_000;

const outputOf = (text: string): Output => {
  const [, field, path = text] = /^(\w+)=(.+)$/.exec(text) ?? [];
  return { field, path };
};

function readFieldFile(text: string, refuse: Refuse, earlier: EarlierValues): Output {
  const names = wholeFields(chosenStencil(earlier).update), output = outputOf(text), { field } = output;
  if (field && !names.includes(field)) {
    refuse(`FILE or FIELD=FILE, where FIELD is one of ${names.join(", ")}`);
  }
  return output;
}

/** An option that writes fields, at the end and by `--every` of `--steps`, in files that end so. */
export function fieldsOutput(help: string, ends: readonly string[]) {
  return {
    value: "[FIELD=]FILE",
    help,
    read(text: string, refuse: Refuse, earlier: EarlierValues): Output {
      const output = readFieldFile(text, refuse, earlier);
      const isRight = ends.some((end) => output.path.endsWith(end));
      return isRight ? output : refuse(`a name that ends in ${ends.join(" or ")}`);
    },
    writes(text: string, values: EarlierValues): string[] {
      const stencil = chosenStencil(values), output = outputOf(text), series = seriesOf(output);
      const { steps = defaultSteps(stencil), every } = values as Partial<Record<"steps" | "every", number>>;
      const times = [undefined, ...stepsBetween(steps, every).map((at) => ({ at, steps }))];
      const files = times.flatMap((time) => filesOf(output, stencil, time).map(([, path]) => path));
      return series === undefined || every === undefined ? files : [...files, series];
    },
    repeatable: true,
  } as const;
}

/** The steps before the last at which files are written. @throws {RequestError} if they are too many */
export function stepsBetween(steps: number, every = Infinity): number[] {
  const count = every === Infinity ? 0 : Math.ceil(steps / every);
  if (count > MOST_FILES) {
    const wanted = `at least ${Math.ceil(steps / MOST_FILES)}, for ${MOST_FILES} files`;
    throw wrongValue("every", wanted, `${every}`);
  }
  return Array.from({ length: count }, (_, i) => i * every);
}

/** The files of an output, with the fields in each, at a step of several or at the end. */
export function filesOf(
  { field, path }: Output,
  stencil: Stencil,
  step?: { readonly at: number; readonly steps: number },
): (readonly [fields: readonly string[], path: string])[] {
  const names = field === undefined ? wholeFields(stencil.update) : [field];
  const when = step ? `-${`${step.at}`.padStart(`${step.steps}`.length, "0")}` : "";
  if (path.endsWith(".vti")) return [[names, path.replace(/\.\w+$/, `${when}$&`)]];
  return names.map((name) => {
    const which = field === undefined && names.length > 1 ? `-${name}` : "";
    return [[name], path.replace(/\.\w+$/, `${which}${path.endsWith(".zarr") ? "" : when}$&`)];
  });
}

/** The series of an output's files, which ParaView opens at once; undefined where there is none. */
const seriesOf = ({ path }: Output): string | undefined =>
  path.endsWith(".vti") ? path.replace(/vti$/, "pvd") : undefined;

/** Refuses what cannot be written, before any work; of folders, one that is an array of Zarr can. */
export async function checkOutput(path: string): Promise<void> {
  const isThere = (path: string) => Deno.stat(path).then(() => true, () => false), array = `${path}/.zarray`;
  if (!path.endsWith(".zarr") || !await isThere(path)) return await checkFileWritable(path);
  if (!await isThere(array)) {
    refuserOf(`write ${path}`)("an array of Zarr, or nothing, is wanted", "something else");
  }
  await checkFileWritable(array);
}

/** What fields are written to. */
export interface Writing {
  readonly outputs: readonly Output[];
  /** From cell to cell. */
  readonly spacing: number;
  /** Steps from snapshot to snapshot. */
  readonly every?: number | undefined;
  /** Gets what was written. */
  readonly files: WrittenFile[];
}

/** Writes fields as they are; adds the files to those of the run. Every rank calls it. */
export async function writeFields(
  solver: FieldSolver,
  { outputs, spacing, every, files }: Writing,
  step?: Parameters<typeof filesOf>[2],
): Promise<void> {
  const { problem: { stencil, grid }, step: time } = solver, isFirst = solver.field.world.rank === 0;
  const shape = stencil.dimensions === 1 ? grid.slice(2) : ownOf(stencil, grid);
  for (const output of outputs) {
    for (const [names, path] of filesOf(output, stencil, step)) {
      const arrays: Record<string, NumberArray> = {};
      for (const name of names) arrays[name] = { shape, values: await solver.read(name) };
      const options = { spacing, title: `${names[0]} after ${formatPlural(time, "step")}` };
      if (isFirst && path.endsWith(".png")) {
        await writeBytes(path, await drawField(arrays[names[0]!]!, options));
      } else if (isFirst && path.endsWith(".zarr")) {
        await writeSnapshot(path, arrays[names[0]!]!, [...stepsBetween(time, every), time]);
      } else if (isFirst) await writeArray(path, arrays, { spacing });
      if (!files.some((one) => one.path === path)) files.push({ path, time });
    }
    const series = seriesOf(output), start = output.path.slice(0, -4);
    const all = files.filter(({ path }) => path.startsWith(start) && path.endsWith(".vti"));
    if (series === undefined || all.length < 2) continue;
    if (isFirst) {
      const text = pvdText(all.map(({ path, time }) => [time!, basename(path)]));
      await writeBytes(series, new TextEncoder().encode(text));
    }
    if (!files.some(({ path }) => path === series)) files.push({ path: series });
  }
}

/** A file that a run wrote, and the step of its fields. */
export type WrittenFile = Readonly<{ path: string; time?: number }>;

type Fields = Readonly<Record<string, FloatArray>>;

/** The largest difference of a value. */
export function changeOf(before: Fields, after: Fields): number {
  let most = 0;
  for (const [name, values] of Object.entries(before)) {
    values.forEach((value, i) => most = Math.max(most, Math.abs(after[name]![i]! - value)));
  }
  return most;
}

/** The grid that the file of the first field or material has that is not one of an axis alone; undefined where none is given. */
export async function gridIn(given: ReadonlyMap<string, readonly string[]>): Promise<string | undefined> {
  for (const [key, least] of [["initial", 1], ["material", 2]] as const) {
    for (const text of given.get(key) ?? []) {
      if (!/\.(?:npy|se?gy)$/i.test(text)) continue;
      const { shape } = await readArray(text.replace(/^[^=]*=/, ""));
      if (shape.length >= least && shape.length <= 3) return shape.join("x");
    }
  }
}
