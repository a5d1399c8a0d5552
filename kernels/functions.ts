/**
 * What expressions compute with: operations, of which every target has each, and functions, which are made of these by
 * reducing the argument and a polynomial. Nowhere in their ranges is a function wrong by more than 4 units in the last place
 * in f32, and 2 in f64, whether products and sums are fused or not. What a function takes twice is made once.
 *
 * @module
 */

import type { Precise, PrecisionName } from "./precision.ts";

/**
 * What becomes of each operation's operands: a comparison gives 1 or 0, the smaller or larger of two zeros is either,
 * and `choose` gives the second operand where the first is not 0, else the third. `powerOfTwo` is of whole numbers from
 * −127, where it is 0, to 128, where it is infinite, in f64 from −1023 to 1024; `exponentOf` the largest n for which
 * 2ⁿ ≤ |of|, at least −127 or −1023.
 */
export type Operations<T> =
  & Record<"absolute" | "squareRoot" | "floor" | "powerOfTwo" | "exponentOf", (of: T) => T>
  & Record<
    "add" | "subtract" | "multiply" | "divide" | "minimum" | "maximum" | "atLeast" | "greater",
    (left: T, right: T) => T
  >
  & { choose(condition: T, then: T, otherwise: T): T };

/** The operations, in f64, with the powers of two of f32. */
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
type Words<T> = Operations<T> & Precise & { constant(value: number): T };

/** A function made of operations. */
export function made<T>(name: FunctionName, operands: readonly T[], words: Words<T>): T {
  const [x, y] = operands.map((of) => new Term(of, words));
  return (words.precision === "f64" ? { ...MADE, ...MADE_IN_F64 } : MADE)[name](x!, y!).of;
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

  get numbers(): typeof NUMBERS[PrecisionName] {
    return NUMBERS[this.words.precision ?? "f32"];
  }

  /** … + c₂x² + c₁x + c₀ */
  polynomial([highest, next, ...others]: readonly number[]): Term<T> {
    return others.reduce((sum, c) => sum.times(this).plus(c), this.times(highest!).plus(next!));
  }
}

/**
 * ln 2 and π as sums; of all terms but the last, a multiple by a whole or half number of up to 13 bits is exact. The numbers
 * between which e^x is neither 0 nor infinite, from where on tanh is 1, and polynomials, the highest power first. In f32
 * these are minimax: each coefficient rounded, the others fitted again. In f64 `bench/function_coefficients.py` finds them.
 */
const NUMBERS = {
  f32: {
    ln2: [0.693359375, -2.121944401e-4],
    pi: [3.140625, 9.675025939941406e-4, 1.5099067240953445e-7, 5.126688136514179e-12],
    held: [-88, 88.75],
    one: 10,
    exponential: [0.0013822746, 0.008368852, 0.041668247, 0.1666652, 0.49999994],
    tanh: [-0.005700092, 0.020634118, -0.05373794, 0.13331416, -0.3333328],
  },
  f64: {
    ln2: [0.6931471804855391, 7.440617110012397e-11],
    pi: [3.1415926535846666, 5.1266883031811465e-12, 7.891108333111916e-24, 1.4495728386716467e-35],
    held: [-709, 709.8],
    one: 20,
    exponential: [
      ...[2.0911236630261545e-9, 2.510038549551032e-8, 2.755728296954995e-7, 2.7557268459997064e-6],
      ...[2.4801587317144498e-5, 1.9841269863053618e-4, 0.0013888888888886552, 0.008333333333330062],
      ...[0.041666666666666664, 0.16666666666666669, 0.5],
    ],
    tanh: [
      ...[6.484612156316395e-6, -3.119996874178646e-5, 9.257015852602979e-5, -2.3759014908800234e-4],
      ...[5.896605030472117e-4, -0.0014557753814086393, 0.0035921217472709827, -0.008863235102935029],
      ...[0.021869488518994312, -0.053968253967896666, 0.13333333333333042, -0.3333333333333333],
    ],
  },
} as const;

/** e^(scale (high + low)), of what is neither 0 nor infinite and somewhat beyond: 2ⁿ eʳ with |r| ≤ ½ ln 2. */
function exponential<T>(high: Term<T>, low?: Term<T>, scale = 1): Term<T> {
  const { ln2: [most, more], exponential: curve } = high.numbers;
  const n = (low ? high.plus(low) : high).times(Math.LOG2E * scale).plus(0.5).make("floor");
  const rest = low ? n.times(more / scale).minus(low) : n.times(more / scale);
  const reduced = high.minus(n.times(most / scale), rest), r = scale === 1 ? reduced : reduced.times(scale);
  return r.times(r, r.polynomial(curve)).plus(r, 1).times(n.make("powerOfTwo"));
}

/** What is within the numbers between which e^x is neither 0 nor infinite. */
function held<T>(x: Term<T>, scale = 1): Term<T> {
  const [least, most] = x.numbers.held;
  return x.make("maximum", least / scale).make("minimum", most / scale);
}

/** The nearest multiple of 1/scale, a power of two. */
function nearest<T>(x: Term<T>, scale: number): Term<T> {
  return x.times(scale).plus(0.5).make("floor").times(1 / scale);
}

/** The first `bits` + 1 bits of numbers of 2^least and more, by whole numbers: compilers that take sums apart make t − (t − x) x itself. */
function headOf<T>(x: Term<T>, bits: number, least: number): Term<T> {
  const unit = x.make("exponentOf").make("maximum", least).minus(bits);
  return x.times(unit.times(-1).make("powerOfTwo")).plus(0.5).make("floor").times(unit.make("powerOfTwo"));
}

/** sin(x + shift π) for a shift of 0 or ½: ± sin r with |r| ≤ ½π; of numbers so large that they say nothing of r it is 0. */
function sine<T>(x: Term<T>, shift: 0 | 0.5): Term<T> {
  const turns = x.times(1 / Math.PI), n = (shift ? turns : turns.plus(0.5)).make("floor");
  const at = shift ? n.plus(shift) : n;
  const rest = x.minus(...x.numbers.pi.map((part) => at.times(part)));
  // what is no number stays none
  const r = rest.make("absolute").make("atLeast", 1.6).make("choose", rest.times(0), rest),
    square = r.times(r);
  const isOdd = n.minus(n.times(0.5).make("floor").times(2));
  const s = r.times(shift ? isOdd.times(2).minus(1) : isOdd.times(-2).plus(1));
  return s.times(square, square.polynomial([2.6060534e-6, -1.9809768e-4, 0.008333069, -0.1666666])).plus(s);
}

/** x as (1 + f) 2ⁿ with f from √½ − 1 to √2 − 1; where x is not normal, f is less than −½. */
function scaled<T>(x: Term<T>): Readonly<Record<"f" | "n" | "isNormal", Term<T>>> {
  const exponent = x.times(Math.SQRT1_2 / 2).make("exponentOf");
  const f = x.times(exponent.times(-1).make("powerOfTwo"), 0.25).minus(1);
  return { f, n: exponent.plus(2), isNormal: f.make("atLeast", -0.5) };
}

type Made = <T>(x: Term<T>, y: Term<T>) => Term<T>;

const MADE: Readonly<Record<FunctionName, Made>> = {
  exponential: (x) => exponential(held(x)),
  logarithm(x) {
    const { f, n, isNormal } = scaled(x), square = f.times(f);
    const curve = f.polynomial([0.087, -0.1427, 0.14916, -0.165774, 0.1996295, -0.25001338, 0.33333912]);
    const [most, more] = x.numbers.ln2;
    const rest = f.times(square, curve).plus(n.times(more)).minus(square.times(0.5));
    return isNormal.make("choose", n.times(most).plus(f.plus(rest)), f.make("squareRoot"));
  },
  sine: (x) => sine(x, 0),
  cosine: (x) => sine(x, 0.5),
  tanh(x) {
    const size = x.make("absolute"), square = x.times(x);
    const { tanh, one } = x.numbers, curve = square.polynomial(tanh);
    const grown = exponential(size.make("minimum", one).times(2)).plus(1);
    const large = new Term(x.words.constant(-2), x.words).make("divide", grown).plus(1);
    const signed = x.make("atLeast", 0).make("choose", large, large.times(-1));
    return size.make("atLeast", 0.625).make("choose", signed, x.times(square, curve).plus(x));
  },
  /** e^(y ln x), of which ln x and y are sums of two numbers: the first has 12 bits, so that products are exact. */
  power(x, y) {
    const { f, n, isNormal } = scaled(x);
    // ln(1 + f) = 2s + ⅔s³ + … with s = f/(2 + f), which is `first` and a remainder
    const divisor = f.plus(2), first = nearest(f.make("divide", divisor), 2 ** 14);
    const coarse = nearest(f, 2 ** 12), fine = first.times(f.minus(coarse));
    const remainder = f.minus(first.times(2), first.times(coarse), fine).make("divide", divisor);
    const s = first.plus(remainder), square = s.times(s);
    const cube = s.times(square, square.polynomial([0.24034418, 0.28509888, 0.40000853, 0.6666666]));
    const high = n.times(x.numbers.ln2[0]).plus(first.times(2));
    const low = remainder.times(2).plus(cube, n.times(x.numbers.ln2[1]));
    return powerOf(x, y, isNormal, { high, low, bits: 11, least: -100 });
  },
};

/** x^y = e^(scale y (high + low)): products of heads are exact. */
function powerOf<T>(
  x: Term<T>,
  y: Term<T>,
  isNormal: Term<T>,
  { high, low, bits, least, scale = 1 }: Readonly<Record<"high" | "low", Term<T>>> & {
    readonly bits: number;
    readonly least: number;
    readonly scale?: number;
  },
): Term<T> {
  const head = headOf(high.plus(low), bits, least), tail = high.minus(head).plus(low);
  const ofY = headOf(y, bits, least), more = y.minus(ofY).times(head).plus(y.times(tail));
  const bounded = more.make("maximum", -0.25).make("minimum", 0.25);
  const found = exponential(held(ofY.times(head), scale), bounded, scale);
  // 0 stays 0; what is negative or infinite is not finite
  return isNormal.make("choose", found, x.make("minimum", x.times(0)).make("squareRoot"));
}

/** sin(x + shift ½π) in f64: ± sin r or ± cos r with |r| ≤ ¼π. */
function sineInF64<T>(x: Term<T>, shift: 0 | 1): Term<T> {
  const n = x.times(2 / Math.PI).plus(0.5).make("floor"), at = n.times(0.5);
  const [first, second, third, last] = x.numbers.pi.map((part) => at.times(part));
  // the difference of two is rounded: what it lacks follows
  const most = x.minus(first!), next = most.minus(second!), lost = most.minus(next, second!);
  const rest = next.minus(third!.plus(last!).minus(lost));
  const r = rest.make("absolute").make("atLeast", 0.8).make("choose", rest.times(0), rest);
  const square = r.times(r), half = square.times(0.5), one = half.times(-1).plus(1);
  const turn = shift ? n.plus(1) : n, pairs = turn.times(0.5).make("floor");
  const isOdd = pairs.times(-2).plus(turn), sign = pairs.minus(pairs.times(0.5).make("floor").times(2));
  const sine = r.times(square.times(square.polynomial([
    ...[1.591810123027412e-10, -2.5051131455427946e-8, 2.755731610068303e-6, -1.984126983675497e-4],
    ...[0.008333333333330946, -0.16666666666666666],
  ]))).plus(r);
  const more = square.times(
    square,
    square.polynomial([
      ...[-1.1382614868556325e-11, 2.0876146024689747e-9, -2.7557317270560326e-7, 2.4801587298763433e-5],
      ...[-0.0013888888888887395, 0.041666666666666664],
    ]),
  );
  const cosine = one.plus(one.times(-1).plus(1).minus(half).plus(more));
  return isOdd.make("choose", cosine, sine).times(sign.times(-2).plus(1));
}

/** Those that f64 has otherwise; of s = f/(2 + f), ln(1 + f) = 2s + ⅔s³ + … needs odd powers alone. */
const MADE_IN_F64: Readonly<Partial<Record<FunctionName, Made>>> = {
  sine: (x) => sineInF64(x, 0),
  cosine: (x) => sineInF64(x, 1),
  logarithm(x) {
    const { f, n, isNormal } = scaled(x), s = f.make("divide", f.plus(2)), square = s.times(s);
    const curve = square.polynomial([
      ...[0.14616585424888623, 0.15331710618210773, 0.18182889455674947, 0.22222211130259878],
      ...[0.2857142862600327, 0.39999999999899444, 0.666666666666667],
    ]);
    const half = f.times(0.5, f), [most, more] = x.numbers.ln2;
    const lacking = half.minus(s.times(half.plus(square.times(curve))).plus(n.times(more)));
    return isNormal.make("choose", n.times(most).plus(f.minus(lacking)), f.make("squareRoot"));
  },
  /** 3/2 ln(1 + f) = s (3 + s² + …), of which s is `first` and a remainder, and all products of heads are exact. */
  power(x, y) {
    const { f, n, isNormal } = scaled(x), [most, more] = x.numbers.ln2;
    const divisor = f.plus(2), first = headOf(f.make("divide", divisor), 22, -900);
    const coarse = headOf(f, 25, -900), fine = first.times(f.minus(coarse));
    const remainder = f.minus(first.times(2), first.times(coarse), fine).make("divide", divisor);
    const s = first.plus(remainder), square = s.times(s), own = first.times(first), whole = own.plus(3);
    const curve = square.polynomial([
      ...[0.19370426508273375, 0.19928936152790028, 0.23078362194693047, 0.27272712371316815],
      ...[0.3333333340665351, 0.4285714285700776, 0.6000000000000004],
    ]);
    const short = nearest(whole, 2 ** 26), exact = first.times(short), ofTwo = n.times(1.5 * most);
    const rest = whole.minus(short).plus(
      own.minus(whole.minus(3)),
      first.plus(s).times(remainder).plus(square.times(square, curve)),
    );
    const high = ofTwo.plus(exact), lost = exact.minus(high.minus(ofTwo));
    const low = lost.plus(remainder.times(short).plus(s.times(rest)), n.times(1.5 * more));
    return powerOf(x, y, isNormal, { high, low, bits: 25, least: -900, scale: 2 / 3 });
  },
};
