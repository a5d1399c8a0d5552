/**
 * An equation as plain JSON, and its hash.
 *
 * - {@linkcode definitionOf}(stencil): the data from which any program makes the same equation;
 * - {@linkcode stencilOf}(definition): that equation, whose kernels are identical; anything else is refused;
 * - {@linkcode hashOf}(update): a text that two equations share exactly if they are written alike.
 *
 * An expression is a number, or a list that begins with a word: `["at", "u", 1, 0, 0]`, likewise `before` (one step
 * ago) and `next` (already computed in this step); of an axis profile `["at", "d", 1]`; `["signal"]`;
 * `["shifted", a, 1, 0, 0]`; or an operation, as `["add", a, b, c]`, ((a + b) + c), and
 * `["choose", condition, then, otherwise]`, or a function, as `["sine", a]`. In a signal and in a material's formula
 * there are variables, as `["step"]`, `["x"]` or an axis profile's `["i"]`.
 *
 * @module
 */
import { checkStencil, wantOf } from "./check_definition.ts";
import { isRecord, MOST_DEEP, type Want } from "./check_expression.ts";
import {
  type Axis,
  constant,
  eachOperation,
  type Expression,
  fold,
  FORMULA_WORDS,
  LEVELS,
  NUMBERS,
  type Offset,
  OPERATIONS,
  SIGNAL,
  wordOf,
} from "./expression.ts";
import { CHAINS, operate } from "./operations.ts";
import { BOUNDARIES, type Stencil } from "./stencils/stencil.ts";
import { type Precise, type PrecisionName, precisionOf } from "./precision.ts";
import { remembered } from "./remembered.ts";
import {
  type AxisProfile,
  DEFAULT_RANGE,
  type Material,
  type Substep,
  type Update,
  type ValueRange,
} from "./update.ts";

/** An expression as JSON: a number, or a list that begins with a word. */
export type ExpressionData = number | readonly (string | ExpressionData)[];

/** An equation as JSON. */
export interface Definition
  extends
    Pick<Stencil, "name" | "title" | "variant" | "initialField" | "surface" | "stagger">,
    Precise,
    Required<Pick<Stencil, "dimensions" | "boundaries">> {
  /** The fields, in the order of their planes, and their initial values' range. */
  readonly fields: readonly { readonly name: string; readonly range: ValueRange }[];
  /** The materials, whose planes follow: eight values, and the formula that they are samples of, if there is one. */
  readonly materials: readonly {
    readonly name: string;
    readonly values: readonly number[];
    readonly formula?: ExpressionData;
    /** The range of all values, where each has 16 bits. */
    readonly packed?: ValueRange;
    /** The range of all values, where others are refused. */
    readonly within?: ValueRange;
  }[];
  /** The axis profiles, likewise, and the axis that each runs along: 0, 1 or 2 for x, y or z. */
  readonly profiles?: readonly (Definition["materials"][number] & Pick<AxisProfile, "axis">)[];
  /** What each sub-step makes of its fields. */
  readonly substeps: readonly Readonly<Record<string, ExpressionData>>[];
  /** The signal as a formula of the step. */
  readonly signal?: ExpressionData;
  /** Where alone the last fields, one for each of these, may differ from 0: an axis, and cells at each of its ends. */
  readonly layers?: NonNullable<Update["layers"]>;
  /** What is added at few places: the range of its values, and its factor in each field. */
  readonly sources?: readonly {
    readonly name: string;
    readonly range: ValueRange;
    readonly into: Readonly<Record<string, ExpressionData>>;
  }[];
}

/** What a stencil's definition says, as data that JSON keeps: names are as in {@linkcode equation}. */
export function definitionOf(stencil: Stencil): Definition {
  const { name, title, variant, dimensions = 3, boundaries = BOUNDARIES } = stencil;
  const { initialField, surface, stagger } = stencil;
  const { fields, ranges, materials, profiles, substeps, signal, sources, layers, precision } =
    stencil.update;
  const names = [...fields, ...materials.map((material) => material.name)];
  const write = (expression: Expression): ExpressionData =>
    dataOf(expression, names, profiles?.map(({ name }) => name));
  const writeFields = (values: Substep) =>
    Object.fromEntries(values.map(({ field, value }) => [fields[field]!, write(value)]));
  const writeMaterial = <T extends Material>({ formula, ...rest }: T) => {
    return { ...rest, ...(formula && { formula: write(formula) }) };
  };
  return {
    name,
    title,
    variant,
    dimensions,
    boundaries: [...boundaries],
    ...(initialField !== undefined && { initialField }),
    ...(surface !== undefined && { surface }),
    ...(stagger !== undefined && { stagger }),
    ...(precision === "f64" && { precision }),
    fields: fields.map((name, i) => ({ name, range: ranges?.[i] ?? DEFAULT_RANGE })),
    materials: materials.map(writeMaterial),
    ...(profiles && { profiles: profiles.map(writeMaterial) }),
    substeps: substeps.map(writeFields),
    ...(signal && { signal: write(signal) }),
    ...(layers && { layers }),
    ...(sources && { sources: sources.map(({ into, ...rest }) => ({ ...rest, into: writeFields(into) })) }),
  };
}

/**
 * Sixteen hexadecimal digits that two updates share if they are written alike, and others only by a chance of 2⁻⁶⁴: the
 * same operations on the same operands in the same order (a + b is not b + a) in the same sub-steps, constants equal in
 * their precision, −0 apart from 0; the same eight values of each material, and the same range of packed ones; formulas, signals and the factors of sources written alike, their constants equal
 * as f64. Names, initial ranges and boundaries do not count. It protects from mistakes, not from forgers.
 */
export const hashOf: (update: Update) => string = remembered(findHash);

function findHash(update: Update): string {
  const { fields, materials, profiles, substeps, signal, sources = [], layers } = update;
  const { name: precision, round } = precisionOf(update);
  const planes = Array.from({ length: fields.length + materials.length }, (_, plane) => plane);
  const numbers = profiles?.map((_, profile) => `${profile}`);
  const dataOfFields = (values: Substep) =>
    values.map(({ field, value }) => [field, dataOf(value, planes, numbers, round)] as const)
      .sort(([a], [b]) => a - b);
  const computed = [
    fields.length,
    materials.map(valuesOf),
    substeps.map(dataOfFields),
    signal ? dataOf(signal, []) : 0,
    ...(profiles === undefined ? [] : [profiles.map((profile) => [profile.axis, ...valuesOf(profile)])]),
    ...sources.map(({ into }) => dataOfFields(into)),
    ...(layers ? [layers.map(({ axis, cells }) => [axis, cells])] : []),
    ...(precision === "f64" ? [precision] : []),
  ];
  return digestOf(JSON.stringify(computed));
}

/** Sixteen hexadecimal digits of a text, by FNV-1a, whose prime is 2⁴⁰ + 0x1b3, in halves of 32 bits. */
export function digestOf(text: string): string {
  let high = 0xcbf29ce4, low = 0x84222325;
  for (let i = 0; i < text.length; i++) {
    const before = (low ^ text.charCodeAt(i)) >>> 0, product = before * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (before << 8)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

function valuesOf({ values, formula, packed }: Material): (readonly number[] | ExpressionData)[] {
  return [values, formula ? dataOf(formula, []) : 0, ...(packed ? [packed] : [])];
}

/** An expression as data; sums and products of several have one list. */
function dataOf(
  expression: Expression,
  planes: readonly (string | number)[],
  profiles: readonly string[] = [],
  round = (value: number): number => value,
): ExpressionData {
  return fold<ExpressionData>(expression, {
    ...eachOperation<ExpressionData>((kind) => (...operands) => {
      const [first] = operands;
      const isChain = CHAINS.includes(kind) && Array.isArray(first) && first[0] === kind;
      return isChain ? [...first, ...operands.slice(1)] : [kind, ...operands];
    }),
    tap: ({ plane, ago, offset }) => [wordOf(ago), planes[plane]!, ...offset],
    profile: ({ profile, offset }) => ["at", profiles[profile]!, offset],
    // JSON has no −0: it is written as the product that it is
    constant: (value) => Object.is(round(value), -0) ? ["multiply", -1, 0] : round(value),
    signal: () => ["signal"],
    formula: (name, operands) => [name, ...operands],
    partial: (of, offset) => ["shifted", dataOf(of, planes, profiles, round), ...offset],
  });
}

/**
 * The stencil of a definition.
 *
 * @param definition what {@linkcode definitionOf} returned, or JSON has made of it
 * @throws {RangeError} if it is no definition, or makes no sense: the message names the place
 *
 * @example
 * ```ts
 * import { definitionOf, hashOf, stencilOf } from "./definition.ts";
 * import { wave } from "./stencils/wave.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const definition = definitionOf(wave(4)), stencil = stencilOf(JSON.parse(JSON.stringify(definition)));
 * assertEquals(definitionOf(stencil), definition);
 * assertEquals(hashOf(stencil.update), hashOf(wave(4).update));
 * ```
 */
export function stencilOf(definition: unknown): Stencil {
  const given: Partial<Record<keyof Definition, unknown>> = isRecord(definition) ? definition : {};
  const { name, title, variant, dimensions, boundaries, initialField, surface, stagger, signal } = given;
  const { precision } = given;
  const want: Want = wantOf(name);
  want(isRecord(definition), "definition", "an object is wanted", definition);
  type Lists = "fields" | "materials" | "profiles" | "substeps" | "sources";
  const listOf = (key: Lists, list = given[key]): readonly Readonly<Record<string, unknown>>[] => {
    want(Array.isArray(list) && list.every(isRecord), key, "a list of objects is wanted", list);
    return list;
  };
  const fields = listOf("fields"), materials = listOf("materials");
  const profiles = listOf("profiles", given.profiles ?? []);
  const names = [...fields, ...materials].map(({ name }) => name);
  const read = (data: unknown, place: string): Expression =>
    expressionOf(data, { place, names, profiles, want });
  const readMaterial = ({ name, values, formula, packed, within }: Readonly<Record<string, unknown>>) => {
    const written = formula !== undefined && { formula: read(formula, `material ${name}`) };
    const ranges = { ...(packed !== undefined && { packed }), ...(within !== undefined && { within }) };
    return { name, values, ...written, ...ranges as Pick<Material, "packed" | "within"> };
  };
  const byField = (of: Readonly<Record<string, unknown>>, where: string) =>
    Object.entries(of).map(([name, data]) => {
      const place = `${where}, field ${name}`, field = names.indexOf(name);
      want(field >= 0 && field < fields.length, place, "the name of a field is wanted", name);
      return { field, value: read(data, place) };
    }).sort((a, b) => a.field - b.field);
  const update = {
    ...(precision !== undefined && { precision: precision as PrecisionName }),
    fields: fields.map(({ name }) => name),
    ranges: fields.map(({ range }) => range),
    materials: materials.map(readMaterial),
    ...(profiles.length > 0 && {
      profiles: profiles.map(({ axis, ...profile }) => ({ ...readMaterial(profile), axis })),
    }),
    substeps: listOf("substeps").map((substep, i) => byField(substep, `sub-step ${i + 1}`)),
    ...(signal !== undefined && { signal: read(signal, "signal") }),
    ...(given.layers !== undefined && { layers: given.layers as Update["layers"] }),
    ...(given.sources !== undefined && {
      sources: listOf("sources").map(({ name, range, into }, i) => {
        const place = `source ${i + 1}`;
        want(isRecord(into), place, "factors by field are wanted", into);
        return { name, range, into: byField(into, place) };
      }),
    }),
  };
  const start = {
    ...(initialField !== undefined && { initialField }),
    ...(surface !== undefined && { surface }),
    ...(stagger !== undefined && { stagger }),
  } as Pick<Stencil, "initialField" | "surface" | "stagger">;
  const stencil = { name, title, variant, dimensions, boundaries, ...start, update } as Stencil;
  checkStencil(stencil);
  return stencil;
}

/** The expression of data; whether its numbers make sense is left to {@linkcode checkStencil}. */
function expressionOf(
  data: unknown,
  where: {
    readonly place: string;
    readonly names: readonly unknown[];
    readonly profiles: readonly Readonly<Record<string, unknown>>[];
    readonly want: Want;
  },
  deep = 1,
): Expression {
  const { place, names, profiles } = where, want: Want = where.want;
  if (typeof data === "number") return constant(data);
  want(Array.isArray(data), place, "a number, or a list that begins with a word, is wanted", data);
  want(deep <= MOST_DEEP, place, `lists nested at most ${MOST_DEEP} deep are wanted`, "deeper ones");
  const [word, ...parts]: readonly unknown[] = data;
  const [first, ...rest] = parts;
  const read = (part: unknown): Expression => expressionOf(part, where, deep + 1);
  const level = LEVELS.find(([name]) => name === word);
  const profile = word === "at" ? profiles.findIndex(({ name }) => name === first) : -1;
  if (profile >= 0) {
    return { kind: "profile", profile, axis: profiles[profile]!.axis as Axis, offset: rest[0] as number };
  }
  if (level !== undefined) {
    want(names.includes(first), place, "the name of a field or material is wanted", first);
    return { kind: "tap", offset: rest as unknown as Offset, ago: level[1], plane: names.indexOf(first) };
  }
  if (word === "shifted") return { kind: "partial", of: read(first), offset: rest as unknown as Offset };
  if (word === "signal") return SIGNAL;
  const operation = OPERATIONS.find((kind) => kind === word);
  if (operation !== undefined) {
    const least = NUMBERS[operation].length, { length } = parts;
    const fits = length === least || (length > least && CHAINS.includes(operation));
    want(fits, place, `${operation} of ${least} is wanted`, length);
    return operate(operation, ...parts.map(read));
  }
  const formula = FORMULA_WORDS.find((name) => name === word);
  want(formula !== undefined, place, "a word that definitions know is wanted", word);
  return { kind: "formula", name: formula, operands: parts.map(read) };
}
