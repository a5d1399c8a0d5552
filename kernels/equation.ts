/**
 * How an equation is described: its fields, its materials, and what one time step makes of them.
 *
 * @module
 */
import { checkOptions } from "./check_options.ts";
import { checkStencil, isRange, wantOf } from "./check_definition.ts";
import { checkExpression, isHeld32, isRecord, MOST_DEEP, type Want } from "./check_expression.ts";
import { sampleProfile } from "./axis_profiles.ts";
import { type Ago, type Axis, type Expression, type Offset, SIGNAL, type Tap, tap } from "./expression.ts";
import { evaluate, formula, nodeOf, type Value } from "./operations.ts";
import { packingOf } from "./packing.ts";
import { splitSources } from "./sources.ts";
import { axesOf, axisNames, BOUNDARIES, type Dimensions, type Stencil } from "./stencils/stencil.ts";
import type { AxisProfile, Material, Update, ValueRange } from "./update.ts";
import { writingAlong } from "./weighted_sums.ts";

/** A material: what no step changes. It stands for its value in the cell that is computed. */
export type MaterialTap = Expression & {
  /**
   * Its value `cells` away.
   *
   * @param cells along x, y and z, 0 where left out; in two dimensions along x and y, in one along the line
   */
  at(...cells: readonly number[]): Expression;
};

/** A field. It stands for its value, now, in the cell that is computed. */
export interface FieldTap extends Tap {
  /** Its value `cells` away, along x, y and z, 0 where left out; in two dimensions along x and y, in one along the line. */
  at(...cells: readonly number[]): Tap;
  /** Its value one step ago. */
  before(...cells: readonly number[]): Tap;
  /** Its new value, which an earlier sub-step of this step has computed. */
  next(...cells: readonly number[]): Tap;
}

/**
 * How a material is given. A range: eight values, evenly spaced, scattered over the cells. Values: up to eight, with
 * which Facet fills the cells likewise. A function of the cell's place: x, y and z go from 0 at one end of the grid to
 * 1 at the other (in two dimensions there are x and y alone), the function is called once and returns an expression of
 * them; a solver starts with its values, while for tuning samples of them are scattered. Along an axis, packed, or within
 * a range that is kept.
 */
export type MaterialSource =
  | ValueRange
  | { readonly values: readonly number[] }
  | ((x: Expression, y: Expression, z: Expression) => Value)
  | AlongAxis
  | PackedMaterial
  | BoundedMaterial;

/** A material of 16 bits a value, which torres read with half the traffic. */
export interface PackedMaterial {
  /** The lowest and the highest value of any cell; each is rounded to the nearest that 16 bits can be. */
  readonly packed: ValueRange;
  /** A range, values or a function, as of other materials. @default {the range of all} */
  readonly of?: Exclude<MaterialSource, AlongAxis | PackedMaterial | BoundedMaterial>;
}

/** A material of which values beyond a range are refused, as those for which a time step would be too large. */
export interface BoundedMaterial {
  /** The lowest and the highest value of any cell. */
  readonly within: ValueRange;
  /** A range, values or a function, as of other materials. @default {the range of all} */
  readonly of?: Exclude<MaterialSource, AlongAxis | PackedMaterial | BoundedMaterial>;
}

/** A material that is a function of one axis alone; {@linkcode along} makes it. */
export interface AlongAxis {
  /** The axis that it runs along. */
  readonly axis: "x" | "y" | "z";
  /** A range, values, or a function of the cell's index. */
  readonly source: ValueRange | { readonly values: readonly number[] } | ProfileFormula;
}

/** The value of an axis profile: `i` is the cell's index along the axis, from 0 on, and `n` the number of cells there. */
export type ProfileFormula = (i: Expression, n: Expression) => Value;

/**
 * A material that is a function of one axis alone, as the damping of absorbing edges. It takes no memory for each cell.
 *
 * @param axis the axis that it runs along
 * @param source a function, which is called once and returns an expression; or, as of other materials, a range or values
 */
export function along(axis: AlongAxis["axis"], source: AlongAxis["source"]): AlongAxis {
  return { axis, source };
}

/** What {@linkcode equation} makes a stencil of: unless given, the title is its name, and the variant has nothing. */
export interface EquationOptions<
  Field extends string,
  MaterialName extends string = never,
  SourceName extends string = never,
> extends
  Partial<Omit<Stencil, "name" | "update" | "original" | "edges" | "misfit" | "planeWave">>,
  Pick<Stencil, "name"> {
  /** The fields by name, each with the range of its initial values when it is tuned. */
  readonly fields: Readonly<Record<Field, ValueRange>>;
  /** The materials by name. @default {none} */
  readonly materials?: Readonly<Record<MaterialName, MaterialSource>>;
  /**
   * What is given at few places and at every step, each with the range of its values when it is tuned: a solver's
   * `addSources` says where. `step` uses it linearly, in the cell that is computed, times constants and materials.
   * @default {none}
   */
  readonly sources?: Readonly<Record<SourceName, ValueRange>>;
  /** A value that depends on time alone, in the step from t = `step` to t + 1. @default {none} */
  readonly signal?: (step: Expression) => Value;
  /**
   * The new value of every field, by name; or a list of sub-steps, one after another, which together compute every
   * field once. What is computed in one sub-step sees the other values of that sub-step as they were.
   */
  step(
    planes: Readonly<
      & Record<NoInfer<Field>, FieldTap>
      & Record<NoInfer<MaterialName>, MaterialTap>
      & Record<NoInfer<SourceName>, Tap>
    >,
    signal: Expression,
  ): NewValues<Field> | readonly NewValues<Field>[];
}

/** All of its keys. */
const KEYS = [
  ...["name", "title", "variant", "dimensions", "boundaries", "initialField", "surface", "stagger"] as const,
  ...["fields", "materials", "sources", "signal", "step"] as const,
] as const;

/** The fields that a sub-step computes. */
export type NewValues<Field extends string> = Readonly<Partial<Record<Field, Value>>>;

/**
 * Describes an equation. Everything is checked at once.
 *
 * @returns what `tune`, `createSolver` and all else take as a problem's stencil
 * @throws {RangeError | TypeError} if it makes no sense; the message names the field, the sub-step and what is wrong
 *
 * @example Anisotropic diffusion
 * ```ts
 * import { equation } from "./equation.ts";
 * import { add, multiply, subtract } from "./operations.ts";
 * import { tapsOf } from "./update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const diffusion = equation({
 *   name: "anisotropic-diffusion",
 *   fields: { u: [0, 1] },
 *   step({ u }) {
 *     const along = (x: number, y: number, z: number) => add(u.at(x, y, z), u.at(-x, -y, -z), multiply(-2, u));
 *     const cross = subtract(along(1, 1, 0), along(1, -1, 0));
 *     const weighted = [multiply(0.2, along(1, 0, 0)), multiply(0.1, along(0, 1, 0)), multiply(0.05, along(0, 0, 1))];
 *     return { u: add(u, ...weighted, multiply(0.02, cross)) };
 *   },
 * });
 * assertEquals(tapsOf(diffusion.update).length, 11);
 * ```
 *
 * @example Sound in a medium, with a source: two sub-steps, of which the second reads what the first has computed
 * ```ts
 * import { equation } from "./equation.ts";
 * import { add, multiply, sine, subtract } from "./operations.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const sound = equation({
 *   name: "sound",
 *   dimensions: 1,
 *   fields: { v: [-1, 1], p: [-1, 1] },
 *   materials: { stiffness: [0.1, 0.25], source: (_x, _y, z) => multiply(z, subtract(1, z)) },
 *   signal: (step) => sine(multiply(0.1, step)),
 *   step: ({ v, p, stiffness, source }, signal) => [
 *     { v: subtract(v, subtract(p.at(1), p)) },
 *     { p: add(p, multiply(stiffness, subtract(v.next(-1), v.next())), multiply(source, signal)) },
 *   ],
 * });
 * assertEquals(sound.update.substeps.length, 2);
 * ```
 */
export function equation<
  Field extends string,
  MaterialName extends string = never,
  SourceName extends string = never,
>(options: EquationOptions<Field, MaterialName, SourceName>): Stencil {
  const want: Want = wantOf(options?.name);
  want(isRecord(options), "equation", "an object that describes it is wanted", options);
  checkOptions<EquationOptions<string>, typeof KEYS>(`build the ${options.name} stencil`, options, KEYS);
  const { name, title = name, variant = {}, dimensions = 3, boundaries = BOUNDARIES } = options;
  const { fields, materials = {}, sources = {}, signal, initialField, surface, stagger, step } = options;
  want(isRecord(fields), "fields", "ranges of initial values by name are wanted", fields);
  want(isRecord(materials), "materials", "ranges, values or functions by name are wanted", materials);
  want(isRecord(sources), "sources", "ranges of values by name are wanted", sources);
  const isCourse = signal === undefined || typeof signal === "function";
  want(isCourse, "signal", "a function of the step is wanted", signal);
  want(typeof step === "function", "step", "a function that returns the new values is wanted", step);
  const given = Object.entries(materials as Record<string, MaterialSource>), axes = axisNames({ dimensions });
  const profiles = given.flatMap(([key, source]) =>
    isAlong(source) ? [profileOf(key, source, want, axes)] : []
  );
  const cellwise = given.flatMap(([key, source]) =>
    isAlong(source) ? [] : [materialOf(key, source, want, axes)]
  );
  const fieldNames = Object.keys(fields), planeNames = [...fieldNames, ...cellwise.map(({ name }) => name)];
  const sourceNames = Object.keys(sources),
    names = [...fieldNames, ...Object.keys(materials), ...sourceNames];
  const indexOf = (key: string, place: string, known: readonly string[]): number => {
    want(known.includes(key), place, `one of ${known.join(", ")} is wanted`, key);
    return known.indexOf(key);
  };
  const planes: Readonly<Record<string, MaterialTap>> = Object.fromEntries([
    ...[...planeNames, ...sourceNames].map((key, plane) => [key, planeTap(plane, dimensions)] as const),
    ...profiles.map(({ name, axis }, profile) => [name, profileTap(profile, axis, dimensions)] as const),
  ]);
  const valueOf = (value: Value): Expression => dimensions === 2 ? settled(nodeOf(value)) : nodeOf(value);
  const known = new Proxy(planes, {
    get: (_, key) => typeof key === "string" ? planes[names[indexOf(key, "step", names)]!] : undefined,
  });
  const made: unknown = writingAlong(
    axesOf({ dimensions }),
    () => step(known as unknown as Parameters<typeof step>[0], SIGNAL),
  );
  const written = (Array.isArray(made) ? made : [made]).map((values: unknown, i) => {
    const place = `sub-step ${i + 1}`;
    want(isRecord(values), place, "new values of fields by name are wanted", values);
    return Object.entries(values)
      .map(([key, value]) => ({ field: indexOf(key, place, fieldNames), value: valueOf(value as Value) }))
      .sort((a, b) => a.field - b.field);
  });
  const [substeps, into] = sourceNames.length === 0 ? [written] : splitSources(written, {
    fields: fieldNames,
    planes: planeNames.length,
    profiles,
    sources: sourceNames,
  }, want);
  const update = {
    fields: fieldNames,
    ranges: Object.values(fields),
    materials: cellwise,
    ...(profiles.length > 0 && { profiles }),
    substeps,
    // null, which is refused, where the function returned nothing
    ...(signal !== undefined && { signal: nodeOf(signal(formula("step"))) ?? null }),
    ...(into && {
      sources: Object.entries(sources).map(([name, range], i) => ({ name, range, into: into[i] })),
    }),
  } as Update;
  const stencil = {
    name,
    title,
    variant,
    dimensions,
    boundaries,
    update,
    ...(initialField !== undefined && { initialField }),
    ...(surface !== undefined && { surface }),
    ...(stagger !== undefined && { stagger }),
  };
  checkStencil(stencil);
  return stencil;
}

/** A field or a material as the user's function sees it; its functions can be handed on: `advance(u.at)`. */
function planeTap(plane: number, dimensions: Dimensions): FieldTap {
  const tapAt = (ago: Ago) => (...cells: readonly number[]): Tap => {
    return { kind: "tap", offset: offsetOf(cells, dimensions), ago, plane };
  };
  return { ...tap(0, 0, 0, 0, plane), at: tapAt(0), before: tapAt(1), next: tapAt(-1) };
}

/** Where a plan has the cell `cells` away along an equation's own axes; of a line three numbers may be given. */
function offsetOf(cells: readonly number[], dimensions: Dimensions): Offset {
  const isSpace = dimensions === 2 && cells.length > 2, want: Want = wantOf(undefined);
  want(!isSpace, "step", "cells along x and y are wanted, not a tap in three dimensions", [...cells]);
  const isShort = dimensions === 1 && cells.length < 3, least = dimensions === 2 ? 2 : 3;
  const [x, ...others] = [...cells, 0, 0, 0].slice(0, Math.max(least, cells.length));
  const offset = isShort
    ? [0, 0, 0, ...cells].slice(cells.length)
    : [x, ...dimensions === 2 ? [0] : [], ...others];
  return offset as unknown as Offset;
}

/** An expression with its shifts as plans have them; what nests too deep is left to the check. */
function settled(node: Expression, deep = 0, made = new Map<Expression, Expression>()): Expression {
  if (!isRecord(node) || deep > MOST_DEEP) return node;
  const again = (operand: Expression) => settled(operand, deep + 1, made);
  const { operands, of, offset } = node as { operands?: Expression[]; of?: Expression; offset?: Offset };
  const found: Expression = made.get(node) ?? {
    ...node,
    ...(Array.isArray(operands) && { operands: operands.map(again) }),
    ...(of && { of: again(of), offset: offsetOf(offset!, 2) }),
  };
  made.set(node, found);
  return found;
}

/** An axis profile likewise: it is the same wherever the other axes lead. */
function profileTap(profile: number, axis: Axis, dimensions: Dimensions): MaterialTap {
  const { at: tapAt } = planeTap(0, dimensions);
  const at = (...cells: readonly number[]): Expression => {
    return { kind: "profile", profile, axis, offset: tapAt(...cells).offset[axis] };
  };
  return { ...at(), at };
}

function isAlong(source: unknown): source is AlongAxis {
  return isRecord(source) && "axis" in source;
}

function profileOf(name: string, { axis, source }: AlongAxis, want: Want, axes: string): AxisProfile {
  const place = `material ${name}`, along = { axis: axes.indexOf(axis) as Axis };
  want(axes.includes(axis), place, `one of the axes ${axes.match(/\w/g)!.join(", ")} is wanted`, axis);
  if (typeof source !== "function") return { ...materialOf(name, source, want, axes), ...along };
  const of = nodeOf(source(formula("i"), formula("n")));
  checkExpression(of, { place, planes: 0, variables: ["i", "n"], hasSignal: false }, want);
  return { name, values: sampleProfile(of), formula: of, ...along };
}

/** A material with the eight values of it that Facet scatters over the cells. */
function materialOf(
  name: string,
  source: Exclude<MaterialSource, AlongAxis>,
  want: Want,
  axes: string,
): Material {
  const place = `material ${name}`;
  if (isRecord(source) && "packed" in source) {
    const { packed, of = packed } = source as PackedMaterial;
    checkOptions(`build ${place}`, source as PackedMaterial, ["packed", "of"]);
    want(isRange(packed), place, "the lowest and the highest value are wanted", packed);
    const { values, ...rest } = materialOf(name, of, want, axes), { nearest } = packingOf(packed);
    // those beyond the range are refused with the stencil
    return { ...rest, values: values.map((value) => nearest(value) ?? value), packed };
  }
  if (isRecord(source) && "within" in source) {
    const { within, of = within } = source as BoundedMaterial;
    checkOptions(`build ${place}`, source as BoundedMaterial, ["within", "of"]);
    want(isRange(within), place, "the lowest and the highest value are wanted", within);
    return { ...materialOf(name, of, want, axes), within };
  }
  const eight = Array.from({ length: 8 }, (_, i) => i);
  // −0 becomes 0: JSON does not keep it
  const rounded = (values: readonly number[]): number[] => values.map((value) => Math.fround(value) + 0);
  if (typeof source === "function") {
    const own = (["x", "y", "z"] as const).filter((_, i) => axes[i] !== " ").map((axis) => formula(axis));
    const of = nodeOf((source as (...place: Expression[]) => Value)(...own));
    checkExpression(of, { place, planes: 0, variables: ["x", "y", "z"], hasSignal: false }, want);
    // each eighth of every axis once
    const at = (i: number): number => (i % 8 + 0.5) / 8;
    const values = eight.map((i) => evaluate(of, { x: at(i), y: at(3 * i), z: at(5 * i) }));
    return { name, values: rounded(values), formula: of };
  }
  if (isRange(source)) {
    const [lowest, highest] = source;
    return { name, values: rounded(eight.map((i) => lowest + (highest - lowest) * i / 7)) };
  }
  const values: unknown = isRecord(source) ? source.values : source;
  const areFew = Array.isArray(values) && values.length >= 1 && values.length <= 8 &&
    values.every(isHeld32);
  want(areFew, place, "a range, one to eight values, or a function of x, y, z is wanted", values);
  return { name, values: rounded(eight.map((i) => values[i % values.length]!)) };
}
