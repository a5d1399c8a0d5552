/**
 * The language in which the update of a cell is written, once.
 *
 * An expression is a tree of **taps** (the value of a neighbour now, one step ago, or already one step ahead),
 * constants, a signal that depends on time alone, {@linkcode Operations}, and functions made of these. It has no text
 * of its own: whoever needs one folds the tree with an {@linkcode Algebra}. The oracle folds it to a number, the WGSL
 * writer to shader text, the WebAssembly writer to instructions, the error bound to a count of roundings.
 *
 * **Edges.** A quotient by 0, the root of a negative number and whatever follows from them are not finite: infinite or
 * NaN on the CPU, anything on a GPU, where WGSL promises nothing and may take numbers below 2⁻¹²⁶ for 0. Of a NaN and a
 * number, `minimum` and `maximum` give the first operand on the CPU and either of them on a GPU. Both branches
 * of a choice are computed, and only the chosen one counts: `choose(greater(h, constant(0)), divide(a, h), …)` is safe.
 *
 * **Partial sums.** An expression may take another at an offset, as the box of 26 neighbours takes the sum of a
 * column nine times. A traversal that visits the column only once can keep its sum; all others see the expression
 * taken apart into taps.
 *
 * @module
 */

import type { Precise } from "./precision.ts";
import { ARITHMETIC, costOf, type FunctionName, FUNCTIONS, made, type Operations } from "./functions.ts";

/** Where a tap lies from the cell that is updated, in cells along x, y, z. */
export type Offset = readonly [x: number, y: number, z: number];

/** Which axis: x, y or z. */
export type Axis = 0 | 1 | 2;

/** Time level of a tap: 0, the newest, t; 1, the one before, t − 1; −1, what this step has already made, t + 1. */
export type Ago = -1 | 0 | 1;

export const LEVELS: readonly (readonly [word: string, ago: Ago])[] = [["at", 0], ["before", 1], [
  "next",
  -1,
]];

/** The word for a time level. */
export function wordOf(ago: Ago): string {
  return LEVELS.find((level) => level[1] === ago)![0];
}

/** The value of one cell that an update reads. */
export interface Tap {
  /** What tells a tap from other nodes. */
  readonly kind: "tap";
  /** Where it lies from the updated cell. */
  readonly offset: Offset;
  /** Its time level. */
  readonly ago: Ago;
  /** Which field, or after the last field which material: see `update.ts`. */
  readonly plane: number;
}

/** The value of an axis profile, which is a function of one axis alone. */
export interface ProfileTap {
  /** What tells it from other nodes. */
  readonly kind: "profile";
  /** Which of the update's profiles. */
  readonly profile: number;
  /** The axis that it runs along: x, y or z. */
  readonly axis: Axis;
  /** Where it is taken along that axis, in cells from the updated one. */
  readonly offset: number;
}

/** An expression at another cell. */
export interface PartialSum {
  /** What tells a partial sum from other nodes. */
  readonly kind: "partial";
  /** The expression. */
  readonly of: Expression;
  /** Where it is taken, from the updated cell. */
  readonly offset: Offset;
}

/** An update of a cell as a tree. Weights that are rounded together, so that sums are kept, are other numbers in f64: `exact`. */
export type Expression =
  | Tap
  | ProfileTap
  | PartialSum
  | { readonly kind: "constant"; readonly value: number; readonly exact?: number }
  | { readonly kind: "signal" }
  | { readonly kind: "formula"; readonly name: FormulaWord; readonly operands: readonly Expression[] }
  | { readonly kind: Operation; readonly operands: readonly Expression[] };

/** Names of operations. */
export type Operation = keyof Operations<unknown>;

/**
 * What a signal depends on: the time step; a material: the cell's place, from 0 to 1 along the grid's axes; and an axis
 * profile: the cell's index along its axis, and the number of cells there.
 */
export type Variable = "step" | "x" | "y" | "z" | "i" | "n";

/** Functions, and the variables that only signals and materials contain. */
export type FormulaWord = Variable | FunctionName;

const NAMES = Object.keys(FUNCTIONS) as readonly FunctionName[];

export const FORMULA_WORDS: readonly FormulaWord[] = ["step", "x", "y", "z", "i", "n", ...NAMES];

/** How to turn each kind of node into a `T`; what {@linkcode fold} needs. */
export interface Algebra<T> extends Operations<T>, Precise {
  tap(tap: Tap): T;
  /** @default {refused} */
  profile?(tap: ProfileTap): T;
  constant(value: number, exact?: number): T;
  signal(): T;
  /** Functions and variables. @default {functions are made of operations, variables refused} */
  formula?: ((name: FormulaWord, operands: readonly T[]) => T) | undefined;
  /**
   * What stands for `of` at `offset`; undefined: take it apart.
   * @default {always taken apart}
   */
  partial?(of: Expression, offset: Offset): T | undefined;
}

export const OPERATIONS = Object.keys(ARITHMETIC) as readonly Operation[];

/** Evaluates in f64 whatever has a value for each tap; the signal is 0. */
export const NUMBERS: Omit<Algebra<number>, "tap"> = {
  ...ARITHMETIC,
  constant: (value) => value,
  signal: () => 0,
  formula: (name, operands) => isFunction(name) ? FUNCTIONS[name](...operands) : NaN,
};

/** What `of` makes of every operation, given its name and what it does to numbers in f64. */
export function eachOperation<T>(
  of: (kind: keyof Operations<T>, operate: (...values: number[]) => number) => (...operands: T[]) => T,
): Operations<T> {
  const made = OPERATIONS.map((kind) => [kind, of(kind, operationOf(ARITHMETIC, kind))]);
  return Object.fromEntries(made) as unknown as Operations<T>;
}

/** Whether a word of a formula is a function's name. */
export function isFunction(name: unknown): name is FunctionName {
  return typeof name === "string" && Object.hasOwn(FUNCTIONS, name);
}

function operationOf<T>(operations: Operations<T>, kind: keyof Operations<T>): (...operands: T[]) => T {
  return operations[kind] as (...operands: T[]) => T;
}

/** The cell at `offset` of the first field, now (`ago` = 0) or one step ago (`ago` = 1). */
export function tap(x: number, y: number, z: number, ago: Ago = 0, plane = 0): Tap {
  return { kind: "tap", offset: [x, y, z], ago, plane };
}

/** A number; every target rounds it to its own precision. */
export function constant(value: number, exact = value): Expression {
  return { kind: "constant", value, ...(!Object.is(exact, value) && { exact }) };
}

export const SIGNAL: Expression = { kind: "signal" };

/** Builds the tree again, partial sums taken apart, for those who replace some of its nodes. */
export const TREE: Algebra<Expression> = {
  ...eachOperation<Expression>((kind) => (...operands) => ({ kind, operands })),
  tap: (tap) => tap,
  profile: (tap) => tap,
  constant,
  signal: () => SIGNAL,
  formula: (name, operands) => ({ kind: "formula", name, operands }),
};

/** Replaces every node of the tree, leaves first, by what the algebra makes of it. */
export function fold<T>(expression: Expression, algebra: Algebra<T>, at: Offset = [0, 0, 0]): T {
  switch (expression.kind) {
    case "tap":
      return algebra.tap({ ...expression, offset: plus(expression.offset, at) });
    case "profile":
      if (algebra.profile === undefined) throw new RangeError("Axis profiles cannot be computed here");
      return algebra.profile({ ...expression, offset: expression.offset + at[expression.axis] });
    case "constant":
      return algebra.constant(expression.value, expression.exact);
    case "signal":
      return algebra.signal();
    case "partial": {
      const offset = plus(expression.offset, at);
      return algebra.partial?.(expression.of, offset) ?? fold(expression.of, algebra, offset);
    }
    case "formula": {
      const { name, operands } = expression, of = algebra.formula === undefined && isFunction(name);
      const value = of
        ? FUNCTIONS[name](...operands.map((operand) => operand.kind === "constant" ? operand.value : NaN))
        : NaN;
      if (!Number.isNaN(value)) return algebra.constant(value);
      const values = operands.map((operand) => fold(operand, algebra, at));
      if (of) return made(name, values, algebra);
      if (algebra.formula) return algebra.formula(name, values);
      throw new RangeError(`No kernel computes ${name}`);
    }
    default:
      return operationOf(algebra, expression.kind)(
        ...expression.operands.map((operand) => fold(operand, algebra, at)),
      );
  }
}

/** An algebra that treats every operation alike, those of a function too, as a count does; `leaf` is of all but taps. */
export function uniform<T>(leaf: T, join: (...operands: T[]) => T): Omit<Algebra<T>, "tap"> {
  const formula = (name: FormulaWord, operands: readonly T[]): T => {
    let found = join(...operands);
    for (let i = isFunction(name) ? costOf(name) : 1; i > 1; i--) found = join(found);
    return found;
  };
  const leaves = (): T => leaf;
  return { ...eachOperation(() => join), formula, constant: leaves, signal: leaves, profile: leaves };
}

/** Calls `visit` for every tap, and `enter` for every partial sum: where it returns true, what it holds is passed over. */
export function visitTaps(
  expression: Expression,
  visit: (tap: Tap) => void,
  enter?: (of: Expression, offset: Offset) => boolean,
  at: Offset = [0, 0, 0],
): void {
  if ("operands" in expression) {
    for (const operand of expression.operands) visitTaps(operand, visit, enter, at);
  } else if (expression.kind === "tap") {
    visit({ ...expression, offset: plus(expression.offset, at) });
  } else if (expression.kind === "partial") {
    const { of, offset } = expression, there = plus(offset, at);
    if (!enter?.(of, there)) visitTaps(of, visit, enter, there);
  }
}

/**
 * Folds several expressions, and what appears in them more than once only one time.
 *
 * @param keep called with the value of what is used again; returns what stands for it from then on
 */
export function foldShared<T>(
  expressions: readonly Expression[],
  algebra: Algebra<T>,
  keep: (value: T) => T,
): T[] {
  /** Different nodes, each after its operands, which are named by their index. */
  const nodes: { find: () => T; isFree: boolean; uses: number }[] = [];
  const known = new Map<string, number>(), kept = new Map<number, T>();
  const enter = (key: string, find: () => T, operands: readonly number[] = [], isFree = false): number => {
    const index = known.get(key);
    if (index !== undefined) return index;
    // its operands are used once, however often it is used itself
    for (const operand of operands) nodes[operand]!.uses++;
    known.set(key, nodes.length);
    return nodes.push({ find, isFree, uses: 0 }) - 1;
  };
  const join = (kind: keyof Operations<T>) => (...operands: number[]): number =>
    enter(`${kind} ${operands}`, () => operationOf(algebra, kind)(...operands.map(valueOf)), operands);
  const { formula, precision } = algebra;
  const roots = expressions.map((expression) =>
    fold<number>(expression, {
      precision,
      tap: (tap) => enter(tapKey(tap), () => algebra.tap(tap)),
      profile: (tap) => enter(`profile ${tap.profile} ${tap.offset}`, () => fold(tap, algebra)),
      constant: (value) => enter(`${value}`, () => algebra.constant(value), [], true),
      signal: () => enter("signal", () => algebra.signal(), [], true),
      ...eachOperation(join),
      formula: formula && ((name, operands) =>
        enter(`${name} ${operands}`, () => formula(name, operands.map(valueOf)), operands)),
      partial(of, offset) {
        const value = algebra.partial?.(of, offset);
        return value === undefined ? undefined : enter(JSON.stringify([of, offset]), () => value);
      },
    })
  );
  const valueOf = (index: number): T => {
    const known = kept.get(index);
    if (known !== undefined) return known;
    const { find, isFree, uses } = nodes[index]!;
    const value = find();
    if (uses < 2 || isFree) return value;
    const again = keep(value);
    kept.set(index, again);
    return again;
  };
  for (const root of roots) nodes[root]!.uses++;
  return roots.map(valueOf);
}

/** A text that two taps share exactly if they read the same value. */
export function tapKey({ offset, ago, plane }: Tap): string {
  return `tap ${offset} ${ago} ${plane}`;
}

/** Whether two expressions are written alike. */
export function isSame(a: Expression, b: Expression): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function plus(a: Offset, b: Offset): Offset {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

/**
 * Every tap of the expressions once, in the order of first appearance.
 *
 * @param isKept which partial sums are passed over; others are taken apart
 */
export function tapsIn(
  expressions: readonly Expression[],
  isKept?: (of: Expression, offset: Offset) => boolean,
): Tap[] {
  const found = new Map<string, Tap>();
  for (const expression of expressions) visitTaps(expression, (tap) => found.set(tapKey(tap), tap), isKept);
  return [...found.values()];
}
