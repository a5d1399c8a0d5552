/**
 * What expressions compute with: operations, of which every target has each, and functions, which are made of these by
 * reducing the argument and a polynomial in f32. Nowhere in their ranges is a function wrong by more than 4 units in the
 * last place, whether products and sums are fused or not. What a function takes twice is made once.
 *
 * @module
 */

/**
 * What becomes of each operation's operands: a comparison gives 1 or 0, the smaller or larger of two zeros is either,
 * and `choose` gives the second operand where the first is not 0, else the third. `powerOfTwo` is of whole numbers from
 * −127, where it is 0, to 128, where it is infinite; `exponentOf` the largest n for which 2ⁿ ≤ |of|, at least −127.
 */
export type Operations<T> =
  & Record<"absolute" | "squareRoot" | "floor" | "powerOfTwo" | "exponentOf", (of: T) => T>
  & Record<
    "add" | "subtract" | "multiply" | "divide" | "minimum" | "maximum" | "atLeast" | "greater",
    (left: T, right: T) => T
  >
  & { choose(condition: T, then: T, otherwise: T): T };

/** The operations in f64. */
export const ARITHMETIC: Operations<number> = {
  add: (left, right) => left + right,
  subtract: (left, right) => left - right,
  multiply: (left, right) => left * right,
  divide: (left, right) => left / right,
  minimum: (left, right) => right < left ? right : left,
  maximum: (left, right) => left < right ? right : left,
  atLeast: (left, right) => left >= right ? 1 : 0,
  greater: (left, right) => left > right ? 1 : 0,
  absolute: Math.abs,
  squareRoot: Math.sqrt,
  floor: Math.floor,
  powerOfTwo: (of) => of < -126 ? 0 : 2 ** of,
  exponentOf: (of) => Math.min(128, Math.max(-127, Math.floor(Math.log2(Math.abs(of))))),
  choose: (condition, then, otherwise) => condition !== 0 ? then : otherwise,
};

/** Names of functions. */
export type FunctionName = "exponential" | "logarithm" | "sine" | "cosine" | "tanh" | "power";

const { exp, log, sin, cos, tanh, pow } = Math;

/** The functions in f64. */
export const FUNCTIONS: Readonly<Record<FunctionName, (...operands: number[]) => number>> = {
  ...{ exponential: exp, logarithm: log, sine: sin, cosine: cos, tanh, power: pow },
};

/** What functions are made of. */
type Words<T> = Operations<T> & { constant(value: number): T };

/** A function made of operations. */
export function made<T>(name: FunctionName, operands: readonly T[], words: Words<T>): T {
  const [x, y] = operands.map((of) => new Term(of, words));
  return MADE[name](x!, y!).of;
}

/** Operations of a function. */
export function costOf(name: FunctionName): number {
  let count = 0;
  const counted = Object.keys(ARITHMETIC).map((kind) => [kind, () => void count++]);
  made(name, [0, 0], { ...Object.fromEntries(counted), constant: () => {} });
  return count;
}

type Terms<T> = readonly (Term<T> | number)[];

/** A value, from which others are made. */
class Term<T> {
  constructor(readonly of: T, readonly words: Words<T>) {}

  make(kind: keyof Operations<T>, ...others: Terms<T>): Term<T> {
    const operands = others.map((term) => typeof term === "number" ? this.words.constant(term) : term.of);
    return new Term((this.words[kind] as (...operands: T[]) => T)(this.of, ...operands), this.words);
  }

  plus = (...others: Terms<T>): Term<T> => others.reduce<Term<T>>((a, b) => a.make("add", b), this);
  minus = (...others: Terms<T>): Term<T> => others.reduce<Term<T>>((a, b) => a.make("subtract", b), this);
  times = (...others: Terms<T>): Term<T> => others.reduce<Term<T>>((a, b) => a.make("multiply", b), this);

  /** … + c₂x² + c₁x + c₀ */
  polynomial(highest: number, next: number, ...others: readonly number[]): Term<T> {
    return others.reduce((sum, c) => sum.times(this).plus(c), this.times(highest).plus(next));
  }
}

/**
 * ln 2 and π as sums; of all terms but the last, a multiple by a whole or half number of up to 13 bits is exact.
 * Polynomials, the highest power first, are minimax: each coefficient rounded to f32, the others fitted again.
 */
const LN2 = [0.693359375, -2.121944401e-4] as const;
const PI = [3.140625, 9.675025939941406e-4, 1.5099067240953445e-7, 5.126688136514179e-12];

/** e^(high + low), for sums from −88.25 to 89: 2ⁿ eʳ with |r| ≤ ½ ln 2. */
function exponential<T>(high: Term<T>, low?: Term<T>): Term<T> {
  const n = (low ? high.plus(low) : high).times(Math.LOG2E).plus(0.5).make("floor");
  const rest = low ? n.times(LN2[1]).minus(low) : n.times(LN2[1]);
  const r = high.minus(n.times(LN2[0]), rest);
  const curve = r.polynomial(0.0013822746, 0.008368852, 0.041668247, 0.1666652, 0.49999994);
  return r.times(r, curve).plus(r, 1).times(n.make("powerOfTwo"));
}

/** sin(x + shift π) for a shift of 0 or ½: ± sin r with |r| ≤ ½π; of numbers so large that they say nothing of r it is 0. */
function sine<T>(x: Term<T>, shift: 0 | 0.5): Term<T> {
  const turns = x.times(1 / Math.PI), n = (shift ? turns : turns.plus(0.5)).make("floor");
  const at = shift ? n.plus(shift) : n;
  const rest = x.minus(...PI.map((part) => at.times(part)));
  // what is no number stays none
  const r = rest.make("absolute").make("atLeast", 1.6).make("choose", rest.times(0), rest),
    square = r.times(r);
  const isOdd = n.minus(n.times(0.5).make("floor").times(2));
  const s = r.times(shift ? isOdd.times(2).minus(1) : isOdd.times(-2).plus(1));
  return s.times(square, square.polynomial(2.6060534e-6, -1.9809768e-4, 0.008333069, -0.1666666)).plus(s);
}

/** x as (1 + f) 2ⁿ with f from √½ − 1 to √2 − 1; where x is not normal, f is less than −½. */
function scaled<T>(x: Term<T>): Readonly<Record<"f" | "n" | "isNormal", Term<T>>> {
  const exponent = x.times(Math.SQRT1_2 / 2).make("exponentOf");
  const f = x.times(exponent.times(-1).make("powerOfTwo"), 0.25).minus(1);
  return { f, n: exponent.plus(2), isNormal: f.make("atLeast", -0.5) };
}

const MADE: Readonly<Record<FunctionName, <T>(x: Term<T>, y: Term<T>) => Term<T>>> = {
  exponential: (x) => exponential(x.make("maximum", -88).make("minimum", 88.75)),
  logarithm(x) {
    const { f, n, isNormal } = scaled(x), square = f.times(f);
    const curve = f.polynomial(0.087, -0.1427, 0.14916, -0.165774, 0.1996295, -0.25001338, 0.33333912);
    const rest = f.times(square, curve).plus(n.times(LN2[1])).minus(square.times(0.5));
    return isNormal.make("choose", n.times(LN2[0]).plus(f.plus(rest)), f.make("squareRoot"));
  },
  sine: (x) => sine(x, 0),
  cosine: (x) => sine(x, 0.5),
  tanh(x) {
    const size = x.make("absolute"), square = x.times(x);
    const curve = square.polynomial(-0.005700092, 0.020634118, -0.05373794, 0.13331416, -0.3333328);
    const grown = exponential(size.make("minimum", 10).times(2)).plus(1);
    const large = new Term(x.words.constant(-2), x.words).make("divide", grown).plus(1);
    const signed = x.make("atLeast", 0).make("choose", large, large.times(-1));
    return size.make("atLeast", 0.625).make("choose", signed, x.times(square, curve).plus(x));
  },
  /** e^(y ln x), of which ln x and y are sums of two numbers: the first has 12 bits, so that products are exact. */
  power(x, y) {
    const { f, n, isNormal } = scaled(x);
    const nearest = (of: typeof x, scale: number) => of.times(scale).plus(0.5).make("floor").times(1 / scale);
    // by whole numbers: compilers that take sums apart make t − (t − x) x itself
    const headOf = (of: typeof x) => {
      const unit = of.make("exponentOf").make("maximum", -100).minus(11);
      return of.times(unit.times(-1).make("powerOfTwo")).plus(0.5).make("floor").times(
        unit.make("powerOfTwo"),
      );
    };
    // ln(1 + f) = 2s + ⅔s³ + … with s = f/(2 + f), which is `first` and a remainder
    const divisor = f.plus(2), first = nearest(f.make("divide", divisor), 2 ** 14);
    const coarse = nearest(f, 2 ** 12), fine = first.times(f.minus(coarse));
    const remainder = f.minus(first.times(2), first.times(coarse), fine).make("divide", divisor);
    const s = first.plus(remainder), square = s.times(s);
    const cube = s.times(square, square.polynomial(0.24034418, 0.28509888, 0.40000853, 0.6666666));
    const high = n.times(LN2[0]).plus(first.times(2));
    const low = remainder.times(2).plus(cube, n.times(LN2[1]));
    const head = headOf(high.plus(low)), tail = high.minus(head).plus(low), ofY = headOf(y);
    const more = y.minus(ofY).times(head).plus(y.times(tail));
    const bounded = more.make("maximum", -0.25).make("minimum", 0.25);
    const found = exponential(ofY.times(head).make("maximum", -88).make("minimum", 88.75), bounded);
    // 0 stays 0; what is negative or infinite is not finite
    return isNormal.make("choose", found, x.make("minimum", x.times(0)).make("squareRoot"));
  },
};
