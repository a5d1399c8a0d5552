/**
 * Equations by chance, as definitions: fields, sub-steps, taps at all levels, materials, packed ones, axis profiles, a
 * signal, sources, functions; and now and then one of those that come with Facet.
 *
 * @module
 */
import {
  acoustic,
  type Definition,
  definitionOf,
  elastic,
  type ExpressionData,
  heat,
  life,
  maxwell,
  type Stencil,
  wave,
} from "../../mod.ts";
import type { Dice } from "./dice.ts";

/** What an equation is like; traversals want different ones. */
export type Style =
  /** Anything in three or two dimensions. */
  | "free"
  /** One field with taps on the axes. */
  | "cross"
  /** One field with diagonal taps, some of them in sums that neighbours share. */
  | "box"
  /** Several fields, each in a sub-step of its own, of one level. */
  | "chain"
  /** One dimension. */
  | "line"
  /** One dimension without anything that the swept rule refuses. */
  | "sweep"
  | "built-in";

type Offset = readonly [number, number, number];
type Values = Record<string, ExpressionData>;

/** What expressions are drawn from. */
interface Words {
  readonly dice: Dice;
  readonly isWhole: boolean;
  readonly own: readonly number[];
  readonly fields: readonly string[];
  readonly materials: readonly string[];
  readonly profiles: readonly (readonly [name: string, axis: number])[];
  /** A place that taps read. */
  readonly offset: () => Offset;
  readonly hasBefore: boolean;
  readonly functions: readonly string[];
}

const NAMES = ["u", "v", "w", "q"];

/** Draws an equation. */
export function drawEquation(dice: Dice, style: Style): Definition {
  if (style === "built-in") return definitionOf(drawBuiltIn(dice));
  const isLine = style === "line" || style === "sweep", isSweep = style === "sweep";
  const dimensions = isLine ? 1 : dice.weighted([[3, 3], [2, 2]] as const);
  const own = dimensions === 1 ? [2] : dimensions === 2 ? [0, 2] : [0, 1, 2];
  const isWhole = dice.chance(0.6), isOne = style === "cross" || style === "box";
  const count = isOne
    ? 1
    : style === "chain"
    ? dice.from(2, 4)
    : dice.weighted([[5, 1], [5, 2], [2, 3], [1, 4]] as const);
  const fields = NAMES.slice(0, count);
  const isPlain = isSweep || (isOne && dice.chance(0.5));
  const materials = isPlain ? [] : dice.some(["m", "n"], 0.35);
  const profiles = isPlain
    ? []
    : own.filter(() => dice.chance(0.15)).map((axis) => [`d${"xyz"[axis]}`, axis] as const);
  const hasSignal = !isPlain && dice.chance(0.2);
  const reach = dice.weighted([[6, 1], [2, 2], [1, 3], [0.5, 4]] as const);
  const isOnAxes = style === "cross" || dice.chance(style === "box" ? 0 : 0.5);
  /** Axes that taps leave. */
  const axes = own.length > 1 && dice.chance(0.15) ? dice.some(own, 0.6) : own;
  const offset = (): Offset => {
    const along = isOnAxes && axes.length > 0 ? [dice.oneOf(axes)] : axes;
    return [0, 1, 2].map((axis) => along.includes(axis) ? dice.from(-reach, reach) : 0) as unknown as Offset;
  };
  const hasFunctions = !isWhole && dice.chance(0.25),
    all = ["sine", "cosine", "tanh", "exponential", "logarithm", "power"];
  const words: Words = {
    ...{ dice, isWhole, own, fields, materials, profiles, offset },
    hasBefore: !isSweep && style !== "chain" && dice.chance(style === "cross" ? 0.5 : 0.4),
    functions: hasFunctions ? [dice.oneOf(all)] : [],
  };
  const groups = groupsOf(fields, dice, style), made: string[] = [];
  const form = dice.weighted([[3, "wrapped"], [2, "clamped"], [2, "linear"]] as const);
  const substeps = groups.map((group, index) => {
    const substep = Object.fromEntries(group.map((field) => {
      const isSignal = hasSignal && index === 0 && field === group[0];
      return [field, drawUpdate(words, { field, made, form, style, isSignal })];
    }));
    made.push(...group);
    return substep;
  });
  const hasSurface = !isLine && dice.chance(0.25), hasStagger = !isLine && dice.chance(0.15);
  return {
    name: "drawn",
    title: "an equation by chance",
    variant: {},
    dimensions,
    boundaries: ["zero", "periodic", "insulated"],
    fields: fields.map((name) => ({
      name,
      range: isWhole ? [0, 3] : dice.oneOf([[-1, 1], [0, 1]] as const),
    })),
    materials: materials.map((name) => ({ name, ...drawMaterial(dice, { isWhole, own }) })),
    ...(profiles.length > 0 && {
      profiles: profiles.map(([name, axis]) => ({
        name,
        axis: axis as 0 | 1 | 2,
        ...drawProfile(dice, isWhole),
      })),
    }),
    substeps,
    ...(hasSignal && { signal: drawSignal(dice, isWhole) }),
    ...(!isLine && dice.chance(0.4) && { sources: drawSources(words) }),
    ...(hasSurface && { surface: dice.chance(0.6) ? "free" as const : dice.some(fields, 0.5) }),
    ...(hasStagger && {
      // below a surface a field lies on it or half a cell away
      stagger: {
        [dice.oneOf(fields)]: own.map((axis) =>
          dice.oneOf(hasSurface && axis === 2 ? [0, -0.5] : [0, 0, -0.5, 0.5])
        ),
      },
    }),
  };
}

/** Which fields each sub-step makes. */
function groupsOf(fields: readonly string[], dice: Dice, style: Style): string[][] {
  const groups: string[][] = [];
  for (const field of fields) {
    if (groups.length === 0 || style === "chain" || style === "sweep" || dice.chance(0.5)) {
      groups.push([field]);
    } else groups.at(-1)!.push(field);
  }
  return groups;
}

function zeros(axis: number, cells: number): Offset {
  return [0, 1, 2].map((one) => one === axis ? cells : 0) as unknown as Offset;
}

/** A field's new value. */
function drawUpdate(
  words: Words,
  { field, made, form, style, isSignal }: {
    readonly field: string;
    readonly made: readonly string[];
    readonly form: "wrapped" | "clamped" | "linear";
    readonly style: Style;
    readonly isSignal: boolean;
  },
): ExpressionData {
  const { dice, isWhole, fields, own, offset, hasBefore, profiles, materials, functions } = words;
  const old = style === "sweep" ? [fields.at(-1)!] : fields;
  const canBefore = hasBefore && !made.includes(field);
  const tapOf = (shifts = true): ExpressionData => {
    const choice = dice.below(shifts ? 12 : 10);
    if (choice < 2 && made.length > 0) return ["next", dice.oneOf(made), ...offset()];
    if (choice < 3 && materials.length > 0) return ["at", dice.oneOf(materials), ...offset()];
    if (choice < 4 && profiles.length > 0) {
      const [name] = dice.oneOf(profiles);
      return ["at", name, dice.from(-1, 1)];
    }
    if (choice >= 10) {
      const inner: ExpressionData = ["add", tapOf(false), tapOf(false)];
      return ["shifted", dice.chance(0.5) ? inner : ["multiply", coefficient(), tapOf(false)], ...offset()];
    }
    return ["at", dice.oneOf(old), ...offset()];
  };
  const coefficient = (): number => isWhole ? dice.oneOf([-2, -1, 1, 1, 2]) : dice.real(-0.5, 0.5);
  const terms: ExpressionData[] = [];
  const own1: ExpressionData = style === "sweep" ? ["at", old[0]!, 0, 0, 0] : ["at", field, 0, 0, 0];
  const count = dice.from(1, style === "chain" ? 3 : 5);
  if (style === "box") terms.push(...drawBox(words, field));
  for (let i = 0; i < count; i++) {
    const tap = tapOf();
    terms.push(
      dice.weighted<() => ExpressionData>([
        [6, () => tap],
        [4, () => ["multiply", coefficient(), tap]],
        [1, () => ["multiply", tapOf(), isWhole ? tap : ["multiply", 0.5, tap]]],
        [1, () => [dice.oneOf(["minimum", "maximum"]), tap, tapOf()]],
        [0.7, () => ["absolute", tap]],
        [
          0.7,
          () => [
            "choose",
            [dice.oneOf(["greater", "atLeast"]), tap, tapOf()],
            tapOf(),
            dice.chance(0.5) ? 1 : tapOf(),
          ],
        ],
        [
          0.5,
          () =>
            isWhole
              ? ["floor", ["multiply", 0.5, tap]]
              : ["divide", tap, ["add", 1.5, ["absolute", tapOf()]]],
        ],
        [0.3, () => isWhole ? tap : ["squareRoot", ["add", 1, ["multiply", tap, tap]]]],
      ])(),
    );
  }
  // on each axis neighbours at both sides, mostly
  if (style === "cross" || dice.chance(0.4)) {
    for (const axis of own) {
      if (dice.chance(0.8)) {
        const far = dice.weighted([[5, 1], [1, 2]] as const);
        terms.push(["add", ["at", dice.oneOf(old), ...zeros(axis, far)], [
          "at",
          dice.oneOf(old),
          ...zeros(axis, -far),
        ]]);
      }
    }
  }
  if (dice.chance(0.7)) terms.splice(dice.below(terms.length + 1), 0, own1);
  if (canBefore) {
    const before: ExpressionData = ["before", field, 0, 0, 0];
    terms.splice(
      dice.below(terms.length + 1),
      0,
      dice.chance(0.5) ? before : ["multiply", isWhole ? -1 : -0.5, before],
    );
  }
  if (isSignal) terms.push(dice.chance(0.5) ? ["signal"] : ["multiply", ["signal"], own1]);
  if (materials.length > 0 && dice.chance(0.5)) {
    terms.push(["multiply", ["at", dice.oneOf(materials), 0, 0, 0], tapOf()]);
  }
  if (profiles.length > 0 && dice.chance(0.6)) {
    terms.push(["multiply", ["at", dice.oneOf(profiles)[0], 0], tapOf()]);
  }
  const [name] = functions;
  if (name !== undefined) terms.push(["multiply", 0.3, drawFunction(name, tapOf(false))]);
  return bounded(terms, { form, isWhole, dice });
}

/** A sum that stays within bounds: wrapped around, cut off, or of terms that together count less than 1. */
function bounded(
  terms: readonly ExpressionData[],
  { form, isWhole, dice }: {
    readonly form: "wrapped" | "clamped" | "linear";
    readonly isWhole: boolean;
    readonly dice: Dice;
  },
): ExpressionData {
  const sum: ExpressionData = terms.length === 1 ? terms[0]! : ["add", ...terms];
  if (!isWhole) {
    if (form === "linear") {
      const part = Math.fround(1 / (terms.length + 1));
      return terms.length === 1
        ? ["multiply", part, sum]
        : ["add", ...terms.map((one): ExpressionData => ["multiply", part, one])];
    }
    return ["maximum", -1, ["minimum", 1, form === "wrapped" ? ["multiply", 0.5, sum] : sum]];
  }
  if (form === "clamped") return ["maximum", -8, ["minimum", 8, sum]];
  // a whole number modulo 16, which no device rounds
  const size = dice.oneOf([8, 16]);
  return ["subtract", sum, ["multiply", size, ["floor", ["multiply", 1 / size, sum]]]];
}

/** A sum of the cells around, as neighbours share its parts: columns along z, or rows in a slice. */
function drawBox({ dice, own }: Words, field: string): ExpressionData[] {
  const along = own.at(-1)!, others = own.slice(0, -1), way = dice.below(3);
  if (way === 0) {
    // diagonals as they are
    const [a, b] = [own[0]!, dice.oneOf(own.slice(1))];
    return [[1, 1], [1, -1], [-1, 1], [-1, -1]].filter(() => dice.chance(0.7)).map(([i, j]) => {
      return ["at", field, ...[0, 1, 2].map((axis) => axis === a ? i! : axis === b ? j! : 0)];
    });
  }
  const line: ExpressionData = [
    "add",
    ...[-1, 0, 1].map((k): ExpressionData => ["at", field, ...zeros(along, k)]),
  ];
  if (way === 1) {
    return others.flatMap((axis) => [-1, 1].map((i): ExpressionData => ["shifted", line, ...zeros(axis, i)]))
      .concat([line]);
  }
  const plane: ExpressionData = others.length < 2
    ? line
    : ["add", ["shifted", line, 0, -1, 0], line, ["shifted", line, 0, 1, 0]];
  return [["shifted", plane, -1, 0, 0], plane, ["shifted", plane, 1, 0, 0]];
}

function drawFunction(name: string, of: ExpressionData): ExpressionData {
  const within: ExpressionData = ["maximum", -1, ["minimum", 1, of]];
  if (name === "logarithm") return [name, ["add", 1.25, within]];
  if (name === "power") return [name, ["add", 1.5, within], ["multiply", 2.5, within]];
  return [name, ["multiply", name === "cosine" ? 9 : 2, within]];
}

/** A material's eight values, or a formula of the place; packed now and then. */
function drawMaterial(
  dice: Dice,
  { isWhole, own }: { readonly isWhole: boolean; readonly own: readonly number[] },
) {
  const isPacked = dice.chance(0.35), way = dice.below(3);
  if (isWhole) {
    const values = Array.from({ length: 8 }, () => dice.from(-2, 2));
    return { values, ...(isPacked && { packed: [-2, 2] as const }) };
  }
  if (way === 0 && !isPacked) {
    const [first, last] = [own[0]!, own.at(-1)!].map((axis): ExpressionData => ["xyz"[axis]!]) as [
      ExpressionData,
      ExpressionData,
    ];
    const formula: ExpressionData = ["add", 0.125, ["multiply", 0.5, first, last]];
    return { values: [0.125, 0.25, 0.375, 0.5, 0.5, 0.5, 0.25, 0.125], formula };
  }
  // multiples of what a packed one's range has
  const values = Array.from({ length: 8 }, () => dice.from(-64, 64) / 64);
  return { values, ...(isPacked && { packed: [-1, 1] as const }) };
}

function drawProfile(dice: Dice, isWhole: boolean) {
  const values = Array.from({ length: 8 }, () => isWhole ? dice.from(-2, 2) : dice.from(-64, 64) / 64);
  if (dice.chance(0.5)) return { values };
  const formula: ExpressionData = isWhole
    ? ["minimum", 2, ["subtract", ["i"], 1], ["subtract", ["n"], ["i"]]]
    : ["divide", ["subtract", ["i"], 1], ["n"]];
  return { values, formula };
}

function drawSignal(dice: Dice, isWhole: boolean): ExpressionData {
  if (isWhole) return dice.oneOf<ExpressionData>([["minimum", ["step"], 5], ["subtract", 3, ["step"]]]);
  return dice.oneOf<ExpressionData>([["sine", ["multiply", 0.3, ["step"]]], ["divide", 1, ["add", 1, [
    "step",
  ]]]]);
}

function drawSources(
  { dice, isWhole, fields, materials, profiles, offset }: Words,
): NonNullable<Definition["sources"]> {
  return ["s", "r"].slice(0, dice.weighted([[4, 1], [1, 2]] as const)).map((name) => {
    const some = dice.some(fields, 0.5), into = some.length > 0 ? some : [dice.oneOf(fields)];
    const factor = (): ExpressionData => {
      const number = isWhole ? dice.oneOf([-1, 1, 2]) : dice.real(0.25, 1);
      if (materials.length > 0 && dice.chance(0.5)) {
        return ["multiply", number, [
          "at",
          dice.oneOf(materials),
          ...dice.chance(0.7) ? zeros(0, 0) : offset(),
        ]];
      }
      if (profiles.length > 0 && dice.chance(0.3)) {
        return ["add", number, ["at", profiles[0]![0], dice.from(-1, 1)]];
      }
      return number;
    };
    return {
      name,
      range: [-1, 1] as const,
      into: Object.fromEntries(into.map((field) => [field, factor()])) as Values,
    };
  });
}

/** One of those that come with Facet, small. */
function drawBuiltIn(dice: Dice): Stencil {
  const dimensions = dice.oneOf([2, 3] as const), edges = dice.from(0, 3);
  const surface = dice.chance(0.4) ? { surface: "free" as const } : {};
  const timeStep = 1e-3, spacing = 10, packed = dice.chance(0.3) ? { packed: true } : {};
  const pml = edges > 0 && dice.chance(0.5) ? { absorber: "pml" as const } : {};
  return dice.weighted<() => Stencil>([
    [2, () => wave(dice.oneOf([2, 2, 4, 6]), { dimensions })],
    [2, () => heat(dice.oneOf([1, 1, 2, 3]), { dimensions })],
    [2, () => life(undefined, { dimensions })],
    [
      2,
      () =>
        acoustic({
          order: dice.oneOf([2, 4]),
          velocity: [1500, 3000],
          spacing,
          timeStep,
          edges,
          dimensions,
          ...surface,
          ...packed,
          ...pml,
          ...(dice.chance(0.4) && { density: [1000, 2500] as const }),
        }),
    ],
    [1, () => elastic({ velocity: [2000, 3500], spacing, timeStep, edges, dimensions, ...surface, ...pml })],
    [2, () =>
      maxwell({
        courant: 0.4,
        spacing: 1,
        edges,
        ...(dimensions === 2 && { mode: dice.oneOf(["tm", "te"] as const) }),
        ...(dice.chance(0.5) && { permittivity: [1, 4] as const }),
        ...(dice.chance(0.3) && { conductivity: [0, 1e-4] as const }),
        ...pml,
      })],
  ])();
}
