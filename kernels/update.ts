/**
 * A full time step of all fields of an equation: sub-steps one after another, each of which computes some fields
 * from others. What is the same for every target is asked here: what is read, how far, how often.
 *
 * @module
 */
import {
  type Algebra,
  type Axis,
  eachOperation,
  type Expression,
  fold,
  type Offset,
  type ProfileTap,
  type Tap,
  tapKey,
  tapsIn,
  uniform,
} from "./expression.ts";
import { evaluate, evaluatorOf } from "./operations.ts";
import type { Precise } from "./precision.ts";
import { remembered } from "./remembered.ts";

/** A field's new value. */
export interface Assignment {
  /** Index of the field. */
  readonly field: number;
  /** What it becomes. */
  readonly value: Expression;
}

/** Fields that are computed at the same time: none reads what another writes. */
export type Substep = readonly Assignment[];

/** An array that no step changes, as the density of the ground: one value a cell. */
export interface Material {
  /** What it is called, as `buoyancy`. */
  readonly name: string;
  /**
   * Eight values, each exact in f32, that a synthetic medium scatters over its cells: see `initial_field.ts`. Eight
   * equal ones are a homogeneous medium.
   */
  readonly values: readonly number[];
  /** What a solver starts with, an expression of the cell's place x, y, z: mostly what the values are samples of. */
  readonly formula?: Expression;
  /** The range of all values, where each has 16 bits (packing.ts). @default {each is an f32} */
  readonly packed?: ValueRange;
  /** The range of all values, where others are refused. @default {what f32 can hold} */
  readonly within?: ValueRange;
}

/** A material that is a function of one axis alone: no cell has memory for it. Its formula is one of i and n. */
export interface AxisProfile extends Material {
  /** The axis that it runs along: 0, 1 or 2 for x, y or z. */
  readonly axis: Axis;
}

/** A value that is given at few places and at every step. */
export interface Source {
  /** What it is called, as `s`. */
  readonly name: string;
  /** The lowest and the highest value that it has when the equation is tuned. */
  readonly range: ValueRange;
  /** What it is multiplied by before it is added to fields: of materials at the cell and constants. */
  readonly into: Substep;
}

/**
 * A material's formula as a function of the cell, of a profile too; undefined where it has none. The function throws a
 * RangeError in a cell whose value f32 cannot hold: to look at all of them first would take as long as to fill them.
 */
export function placed(
  { name, formula, axis }: Material & Partial<Pick<AxisProfile, "axis">>,
  grid: readonly [number, number, number],
): ((x: number, y: number, z: number) => number) | undefined {
  const [nx, ny, nz] = grid;
  const find = formula && evaluatorOf(formula);
  return find && ((...cell) => {
    const [x, y, z] = cell, along = axis !== undefined && { i: cell[axis], n: grid[axis] };
    const value = find(along || { x: (x + 0.5) / nx, y: (y + 0.5) / ny, z: (z + 0.5) / nz });
    if (Number.isFinite(Math.fround(value))) return value;
    throw new RangeError(
      `Cannot fill the material ${name}: a number that f32 can hold is wanted at (${x}, ${y}, ${z}): found ${value}`,
    );
  });
}

/** The lowest and the highest initial value of a field. */
export type ValueRange = readonly [lowest: number, highest: number];

export const DEFAULT_RANGE: ValueRange = [-1, 1];

/** The outer cells of an axis, at both of its ends. */
export interface Layer {
  /** 0, 1 or 2 for x, y or z. */
  readonly axis: Axis;
  /** Cells at each end, at least one. */
  readonly cells: number;
}

/** One full step. Taps name fields, and after them materials, by index: their **plane**. */
export interface Update extends Precise {
  /** Names of the fields, the state. */
  readonly fields: readonly string[];
  /** What no step changes. */
  readonly materials: readonly Material[];
  /** Materials that are functions of one axis, which `ProfileTap`s name. @default {none} */
  readonly profiles?: readonly AxisProfile[];
  /** What is computed, one after another. */
  readonly substeps: readonly Substep[];
  /** What `SIGNAL` stands for in the step from t = `step` to t + 1: an expression of that variable. */
  readonly signal?: Expression;
  /** What is added at few places. @default {nothing} */
  readonly sources?: readonly Source[];
  /** What the noise of the initial field lies between, by field. @default {DEFAULT_RANGE of all} */
  readonly ranges?: readonly ValueRange[];
  /**
   * Where the last fields, one for each of these, may differ from 0: memory of other cells is not wanted. Such a field starts
   * with 0, is read in the cell itself alone, and what is computed of its zeros elsewhere must be 0 again; the axis profiles
   * that make it so are those of their formulas, also when the equation is tuned. @default {none}
   */
  readonly layers?: readonly Layer[];
}

/** The update's signal in the step from t = `step` to t + 1, in f64; 0 where there is none. */
export function signalAt({ signal }: Update, step: number): number {
  return signal === undefined ? 0 : evaluate(signal, { step });
}

/** Assignments of values that are made of theirs. */
export function withValues(substep: Substep, made: (value: Expression) => Expression): Substep {
  return substep.map((one) => ({ ...one, value: made(one.value) }));
}

/** The update of a single field in a single sub-step. */
export function updateOf(value: Expression, field = "F"): Update {
  return { fields: [field], materials: [], substeps: [[{ field: 0, value }]] };
}

/** The expression of an update of one field, whatever materials it reads; undefined where there are more. */
export function onlyExpression({ substeps }: Pick<Update, "substeps">): Expression | undefined {
  const [only, ...others] = substeps.flat();
  return others.length === 0 ? only?.value : undefined;
}

/** Fields and materials. */
export function planesOf({ fields, materials }: Update): number {
  return fields.length + materials.length;
}

/** The expressions of a sub-step, or of all. */
export function expressionsOf(of: Update | Substep): Expression[] {
  return ("substeps" in of ? of.substeps.flat() : of).map(({ value }) => value);
}

/** Every tap once, in the order of first appearance. */
export const tapsOf: (of: Update | Substep) => readonly Tap[] = remembered((of: Update | Substep) =>
  tapsIn(expressionsOf(of))
);

/** Every tap of a profile once, in the order of first appearance. */
export const profileTapsOf: (of: Update | Substep) => readonly ProfileTap[] = remembered(
  (of: Update | Substep) => {
    const found = new Map<string, ProfileTap>();
    const profile = (tap: ProfileTap): void => void found.set(`${tap.profile} ${tap.offset}`, tap);
    for (const value of expressionsOf(of)) {
      fold<void>(value, { ...uniform<void>(undefined, () => {}), tap: () => {}, profile });
    }
    return [...found.values()];
  },
);

/** Where a profile's tap lies, 0 along the other axes. */
export function offsetOf({ axis, offset }: Pick<ProfileTap, "axis" | "offset">): Offset {
  return [0, 0, 0].with(axis, offset) as unknown as Offset;
}

/** How far an update sees. */
export interface Reach {
  /** Cells along each axis. */
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Largest |Δx| + |Δy| of any tap: the slope of a diamond torre. */
  readonly diamond: number;
}

/** How far the taps of any one sub-step lie from the updated cell: what the pads must hold. */
export const reachOf: (update: Update | Substep) => Reach = remembered((update: Update | Substep): Reach => {
  // a part knows profiles no further than its ghost zones
  const offsets = [...tapsOf(update).map(({ offset }) => offset), ...profileTapsOf(update).map(offsetOf)];
  const most = (distance: (offset: Offset) => number): number => Math.max(0, ...offsets.map(distance));
  return {
    x: most(([x]) => Math.abs(x)),
    y: most(([, y]) => Math.abs(y)),
    z: most(([, , z]) => Math.abs(z)),
    diamond: most(([x, y]) => Math.abs(x) + Math.abs(y)),
  };
});

/** How far a full step reaches: every sub-step as far as it sees. */
export const stepReach: (update: Pick<Update, "substeps">) => Reach = remembered((
  { substeps }: Pick<Update, "substeps">,
) =>
  substeps.map((substep) => reachOf(substep)).reduce((sum, reach) => ({
    x: sum.x + reach.x,
    y: sum.y + reach.y,
    z: sum.z + reach.z,
    diamond: sum.diamond + reach.diamond,
  }))
);

/** Cells of a ghost zone along x, y, z. */
type GhostWidths = readonly [x: number, y: number, z: number];

/**
 * Cells along x, y, z that `steps` steps use up at an end of a ghost zone: of F(t), and of F(t−1) where it is read, less
 * far by the sub-steps up to the first that reads it.
 */
export function ghostWidths(update: Update, steps: number): [now: GhostWidths, ...previous: GhostWidths[]] {
  const whole = stepReach(update), first = update.substeps.findIndex(readsPrevious);
  const lessBy = ({ x, y, z }: Omit<Reach, "diamond">): GhostWidths => {
    return [whole.x * steps - x, whole.y * steps - y, whole.z * steps - z];
  };
  const now = lessBy({ x: 0, y: 0, z: 0 });
  return first < 0 ? [now] : [now, lessBy(stepReach({ substeps: update.substeps.slice(0, first + 1) }))];
}

/**
 * Whether a field's new value may take the place of its old one: the sub-step that computes it reads the old one in the
 * cell itself alone, later ones do not read it, and none reads t − 1.
 */
export const isInPlace: (update: Update) => boolean = remembered(({ substeps }: Update) => {
  const madeBy = substeps.map((substep) => new Set(substep.map(({ field }) => field)));
  return substeps.every((substep, i) =>
    tapsOf(substep).every(({ ago, plane, offset }) => {
      if (ago !== 0) return ago === -1;
      if (madeBy.slice(0, i).some((made) => made.has(plane))) return false;
      return !madeBy[i]!.has(plane) || offset.every((cells) => cells === 0);
    })
  );
});

/** Whether the update reads the level before the newest one, t − 1. */
export const readsPrevious: (update: Update | Substep) => boolean = remembered((update: Update | Substep) =>
  tapsOf(update).some(({ ago }) => ago === 1)
);

/** Whether an update's expressions have a node of this kind. */
const having = (kind: "signal" | "formula") =>
  remembered((update: Update | Substep) => {
    const one = {
      ...uniform(false, (...parts) => parts.includes(true)),
      tap: () => false,
      [kind]: () => true,
    };
    return expressionsOf(update).some((value) => fold<boolean>(value, one));
  });

export const readsSignal: (update: Update | Substep) => boolean = having("signal");

export const callsFunctions: (update: Update) => boolean = having("formula");

/**
 * Values that sub-steps one by one move to or from memory for a cell: every array each reads, every field it writes, but for
 * those in layers.
 */
export const valuesMoved: (update: Update) => number = remembered((update: Update): number => {
  const arraysOf = (substep: Substep) => new Set(tapsOf(substep).map(({ plane, ago }) => `${plane} ${ago}`));
  const inLayers = expressionsOf(update).length - update.fields.length;
  return update.substeps.reduce(
    (sum, substep) => sum + arraysOf(substep).size + substep.length,
    -2 * inLayers,
  );
});

/** Whether a plane follows those of fields and materials: that of a field in layers, as `layers.ts` counts them. */
export function isLayered(update: Update, plane: number): boolean {
  return update.layers !== undefined && plane >= planesOf(update);
}

/** Operations of a full step of a cell: its flops. */
export const operationsOf: (update: Update) => number = remembered((update: Update) =>
  expressionsOf(update).reduce(
    (sum, value) => sum + fold<number>(value, { ...OPERATION_COUNT, tap: () => 0 }),
    0,
  )
);

export const OPERATION_COUNT: Omit<Algebra<number>, "tap"> = uniform(
  0,
  (...operands) => operands.reduce((sum, each) => sum + each, 1),
);

/** Whether an update's expressions, mirrored along an axis, are the same but for the order of what is added or multiplied. */
export function isMirrored(update: Update, axis: Axis): boolean {
  const write = (expression: Expression, side: -1 | 1): string =>
    fold<readonly string[]>(expression, {
      ...eachOperation<readonly string[]>((kind) => (...operands) => {
        if (kind === "add") return operands.flat().sort();
        const texts = operands.map((terms) => terms.join(" + "));
        return [`${kind}(${kind === "multiply" ? texts.sort() : texts})`];
      }),
      tap: (
        tap,
      ) => [tapKey({ ...tap, offset: tap.offset.with(axis, side * tap.offset[axis]!) as unknown as Offset })],
      profile: ({ profile, offset }) => [`profile ${profile} ${offset}`],
      constant: (value) => [`${value}`],
      signal: () => ["signal"],
    }).join(" + ");
  return expressionsOf(update).every((expression) => write(expression, 1) === write(expression, -1));
}
