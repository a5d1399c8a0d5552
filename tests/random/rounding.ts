/**
 * Expressions of a definition in f64, each value with a bound for what its precision may make of it: the rounding of every
 * operation, in any order of a sum, with or without fused products, and what WGSL allows a GPU beyond that. Where all is
 * whole, or a multiple of 2⁻⁸, the bound is 0: there every device must give the very value. Written from docs/reference.md.
 *
 * @module
 */
import type { ExpressionData } from "../../kernels/definition.ts";

/** Half a unit in the last place of 1; of f64, in which values are found here as well, twice that. What a GPU may take for 0. */
const PRECISIONS = {
  f32: { half: 2 ** -24, tiny: 2 ** -126, round: Math.fround },
  f64: { half: 2 ** -52, tiny: 2 ** -1022, round: (value: number) => value },
};

/** Those of the case at hand. */
export let { half: HALF, tiny: TINY, round } = PRECISIONS.f32;

/** From now on bounds are those of a precision. */
export function roundAs(precision: keyof typeof PRECISIONS = "f32"): void {
  ({ half: HALF, tiny: TINY, round } = PRECISIONS[precision]);
}

/** A value's bound, of the value that was found last. */
export const bound = { of: 0 };

/** Finds a value at a cell, and leaves its bound in {@linkcode bound}. */
export type Finder = (x: number, y: number, z: number) => number;

/** What an expression reads. */
export interface Reading {
  /** A field or material, at a level and an offset. */
  tap(level: "at" | "before" | "next", name: string, offset: readonly number[]): Finder;
  /** An axis profile; undefined where the name is none's. */
  profile(name: string, offset: number, shift: readonly number[]): Finder | undefined;
  signal(): Finder;
}

/** Whether every device holds a value exactly, in whatever order it was summed: a small multiple of 2⁻⁸, or a whole number. */
export function isExact(value: number): boolean {
  const size = Math.abs(value);
  return size < 2 ** 15 ? Number.isInteger(value * 256) : size < 2 ** 23 && Number.isInteger(value);
}

/** A bound of the sum of two values that have bounds. */
export function boundOfSum(p: number, ofP: number, q: number, ofQ: number): number {
  if (ofP === 0 && ofQ === 0 && isExact(p) && isExact(q) && isExact(p + q)) return 0;
  return ofP + ofQ + 4 * HALF * (Math.abs(p) + Math.abs(q)) + TINY;
}

/** Operations of two operands, with their bounds. */
const TWO: Readonly<Record<string, (p: number, ofP: number, q: number, ofQ: number) => number>> = {
  add(p, ofP, q, ofQ) {
    bound.of = boundOfSum(p, ofP, q, ofQ);
    return p + q;
  },
  subtract(p, ofP, q, ofQ) {
    bound.of = boundOfSum(p, ofP, -q, ofQ);
    return p - q;
  },
  multiply(p, ofP, q, ofQ) {
    const found = p * q;
    bound.of = ofP === 0 && ofQ === 0 && isExact(p) && isExact(q) && isExact(found)
      ? 0
      : Math.abs(p) * ofQ + Math.abs(q) * ofP + ofP * ofQ + 2 * HALF * Math.abs(found) + TINY;
    return found;
  },
  divide(p, ofP, q, ofQ) {
    const found = p / q, least = Math.abs(q) - ofQ;
    bound.of = least <= 0
      ? Infinity
      : (ofP + Math.abs(found) * ofQ) / least + 6 * HALF * Math.abs(found) + TINY;
    return found;
  },
  minimum(p, ofP, q, ofQ) {
    bound.of = extremeBound(p, ofP, q, ofQ);
    return q < p ? q : p;
  },
  maximum(p, ofP, q, ofQ) {
    bound.of = extremeBound(-p, ofP, -q, ofQ);
    return p < q ? q : p;
  },
  atLeast(p, ofP, q, ofQ) {
    bound.of = Math.abs(p - q) > ofP + ofQ || ofP + ofQ === 0 ? 0 : 1;
    return p >= q ? 1 : 0;
  },
  greater(p, ofP, q, ofQ) {
    bound.of = Math.abs(p - q) > ofP + ofQ || ofP + ofQ === 0 ? 0 : 1;
    return p > q ? 1 : 0;
  },
  power(p, ofP, q, ofQ) {
    const found = p ** q;
    const slope = Math.abs(q * p ** (q - 1)) * ofP + Math.abs(found * Math.log(Math.abs(p) || 1)) * ofQ;
    bound.of = p - ofP <= 0 && p !== 0 ? Infinity : 2 * slope + ulps(found);
    return found;
  },
};

/** The least of two: where it is surely one of them, that one's bound. */
function extremeBound(p: number, ofP: number, q: number, ofQ: number): number {
  if (p + ofP < q - ofQ) return ofP;
  return q + ofQ < p - ofP ? ofQ : Math.max(ofP, ofQ);
}

/** Four units in the last place, as functions of fields are wrong at most. */
function ulps(found: number): number {
  return 8 * HALF * Math.abs(found) + TINY;
}

const ONE: Readonly<Record<string, (p: number, ofP: number) => number>> = {
  absolute(p, ofP) {
    bound.of = ofP;
    return Math.abs(p);
  },
  squareRoot(p, ofP) {
    const found = Math.sqrt(p), least = Math.sqrt(Math.max(0, p - ofP));
    bound.of = p - ofP < 0 ? Infinity : Math.sqrt(p + ofP) - least + 6 * HALF * found + TINY;
    return found;
  },
  floor(p, ofP) {
    bound.of = Math.floor(p + ofP) - Math.floor(p - ofP);
    return Math.floor(p);
  },
  exponential(p, ofP) {
    const found = Math.exp(p);
    bound.of = found * Math.expm1(ofP) + ulps(found);
    return found;
  },
  logarithm(p, ofP) {
    const found = Math.log(p);
    bound.of = p - ofP <= 0 ? Infinity : Math.log(p / (p - ofP)) + ulps(found);
    return found;
  },
  sine(p, ofP) {
    const found = Math.sin(p);
    bound.of = Math.min(2, ofP) + ulps(found);
    return found;
  },
  cosine(p, ofP) {
    const found = Math.cos(p);
    bound.of = Math.min(2, ofP) + ulps(found);
    return found;
  },
  tanh(p, ofP) {
    const found = Math.tanh(p);
    bound.of = Math.min(2, ofP) + ulps(found);
    return found;
  },
};

/** What finds an expression's value, `shift` cells away. */
export function finderOf(of: ExpressionData, reading: Reading, shift: readonly number[] = [0, 0, 0]): Finder {
  if (typeof of === "number") {
    const value = round(of);
    return () => {
      bound.of = 0;
      return value;
    };
  }
  const [word, ...parts] = of as readonly [string, ...ExpressionData[]];
  if (word === "signal") return reading.signal();
  if (word === "shifted") {
    const [inner, ...cells] = parts;
    return finderOf(inner!, reading, shift.map((one, axis) => one + (cells[axis] as number)));
  }
  if (word === "at" || word === "before" || word === "next") {
    const [name, ...cells] = parts as unknown as [string, ...number[]];
    const profile = cells.length === 1 ? reading.profile(name, cells[0]!, shift) : undefined;
    return profile ?? reading.tap(word, name, shift.map((one, axis) => one + cells[axis]!));
  }
  const operands = parts.map((part) => finderOf(part, reading, shift));
  if (word === "choose") {
    const [ask, then, otherwise] = operands as [Finder, Finder, Finder];
    return (x, y, z) => {
      const condition = ask(x, y, z), isSure = bound.of === 0 || Math.abs(condition) > bound.of;
      const p = then(x, y, z), ofP = bound.of, q = otherwise(x, y, z), ofQ = bound.of;
      bound.of = isSure ? condition !== 0 ? ofP : ofQ : Math.abs(p - q) + ofP + ofQ;
      return condition !== 0 ? p : q;
    };
  }
  const one = ONE[word], two = TWO[word];
  if (one !== undefined && operands.length === 1) {
    const [of] = operands as [Finder];
    return (x, y, z) => {
      const p = of(x, y, z);
      return one(p, bound.of);
    };
  }
  if (two === undefined || operands.length < 2) {
    throw new RangeError(`No operation ${word} of ${operands.length}`);
  }
  return operands.reduce((left, right) => (x, y, z) => {
    const p = left(x, y, z), ofP = bound.of, q = right(x, y, z);
    return two(p, ofP, q, bound.of);
  });
}

/** A formula's value in f64, of a signal, a material or a profile. */
export function formulaValue(of: ExpressionData, variables: Readonly<Record<string, number>>): number {
  if (typeof of === "number") return of;
  const [word, ...parts] = of as readonly [string, ...ExpressionData[]];
  if (parts.length === 0) return variables[word] ?? NaN;
  const [first = NaN, ...rest] = parts.map((part) => formulaValue(part, variables));
  if (word === "choose") return first !== 0 ? rest[0]! : rest[1]!;
  const one = ONE[word];
  if (rest.length === 0 && one !== undefined) return one(first, 0);
  return rest.reduce((left, right) => TWO[word]!(left, 0, right, 0), first);
}
