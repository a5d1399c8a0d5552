/**
 * What functions are of numbers of f64, to 160 bits: series in whole numbers, which share nothing with the kernels'
 * polynomials nor with the host's functions.
 *
 * @module
 */
import type { FunctionName } from "../../kernels/functions.ts";

/** Bits behind the point. */
const BITS = 256n, ONE = 1n << BITS;

export const fixedTimes = (a: bigint, b: bigint): bigint => (a * b) >> BITS;
export const fixedOver = (a: bigint, b: bigint): bigint => (a << BITS) / b;

/** √a, by Newton's steps. */
export function fixedRoot(a: bigint): bigint {
  const wanted = a << BITS;
  let root = 1n << BigInt((wanted.toString(2).length + 1) >> 1);
  for (let next = (root + wanted / root) >> 1n; next < root; next = (root + wanted / root) >> 1n) root = next;
  return root;
}

const shifted = (a: bigint, by: bigint): bigint => by < 0n ? a >> -by : a << by;

/** A number as a whole one times 2^power. */
function partsOf(x: number): readonly [whole: bigint, power: number] {
  const [bits] = new BigUint64Array(Float64Array.of(Math.abs(x)).buffer), power = Number(bits! >> 52n);
  const whole = (bits! & (1n << 52n) - 1n) | (power > 0 ? 1n << 52n : 0n);
  return [x < 0 ? -whole : whole, Math.max(1, power) - 1075];
}

/** A number of f64 as a fixed one. */
export function fixed(x: number): bigint {
  const [whole, power] = partsOf(x);
  return shifted(whole, BITS + BigInt(power));
}

/** The nearest number of f64. */
export function numberOf(x: bigint): number {
  const size = x < 0n ? -x : x, extra = BigInt(Math.max(0, size.toString(2).length - 64));
  return Number(x >> extra) * 2 ** (Number(extra) - Number(BITS));
}

/** Σ of terms, each the one before times something, over k. */
function series(first: bigint, next: (term: bigint, k: bigint) => bigint): bigint {
  let sum = first, term = first;
  for (let k = 1n; term !== 0n && term !== -1n; k++) sum += term = next(term, k);
  return sum;
}

/** 2 artanh(z) of a small z. */
function logarithmBy(z: bigint): bigint {
  const square = fixedTimes(z, z);
  let sum = 0n, power = 2n * z;
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n, power = fixedTimes(power, square)) {
    sum += power / k;
  }
  return sum;
}

const LN2 = logarithmBy(ONE / 3n);
/** Machin: 16 artan(1/5) − 4 artan(1/239). */
const PI = (() => {
  const inverse = (n: bigint) => {
    let sum = 0n, power = ONE / n;
    for (let k = 1n; power !== 0n; k += 2n, power /= -n * n) sum += power / k;
    return sum;
  };
  return 16n * inverse(5n) - 4n * inverse(239n);
})();

/** e^x as a fixed number times 2^n. */
function exponentialOf(x: bigint): readonly [value: bigint, n: bigint] {
  const n = (x + LN2 / 2n) / LN2, rest = x - n * LN2;
  return [series(ONE, (term, k) => fixedTimes(term, rest) / k), n];
}

function logarithmOf(x: number): bigint {
  const [whole, power] = partsOf(x), length = BigInt(whole.toString(2).length);
  const m = shifted(whole, BITS - length); // from ½ to 1
  return logarithmBy(fixedOver(m - ONE, m + ONE)) + (length + BigInt(power)) * LN2;
}

function sineOf(x: bigint): bigint {
  const rest = x % (2n * PI), square = fixedTimes(rest, rest);
  return series(rest, (term, k) => -fixedTimes(term, square) / (2n * k * (2n * k + 1n)));
}

/** A function's value, as a fixed number times 2^n. */
function valueOf(name: FunctionName, x: number, y: number): readonly [value: bigint, n: bigint] {
  switch (name) {
    case "exponential":
      return exponentialOf(fixed(x));
    case "logarithm":
      return [logarithmOf(x), 0n];
    case "sine":
      return [sineOf(fixed(x)), 0n];
    case "cosine":
      return [sineOf(fixed(x) + PI / 2n), 0n];
    case "tanh": {
      const [e, n] = exponentialOf(2n * fixed(Math.min(50, Math.abs(x)))), grown = shifted(e, n);
      return [fixedOver(grown - ONE, grown + ONE) * (x < 0 ? -1n : 1n), 0n];
    }
    case "power": {
      const [whole, power] = partsOf(y);
      return exponentialOf(shifted(logarithmOf(x) * whole, BigInt(power)));
    }
  }
}

/** By how many units in the last place of f64 a value misses a function's. */
export function errorIn(found: number, name: FunctionName, x: number, y = 0): number {
  const [value, n] = valueOf(name, x, y), [whole, power] = partsOf(found);
  const size = value < 0n ? -value : value;
  // the last place of the function's own value; its own last bits say nothing
  const last = Math.max(-1074, Math.max(64, size.toString(2).length) - Number(BITS - n) - 53);
  const scaled = shifted(value, 64n + n - BITS - BigInt(last));
  return Math.abs(Number(scaled - shifted(whole, BigInt(power - last + 64)))) / 2 ** 64;
}
