/**
 * The words in which expressions are written. Every one takes expressions and numbers alike.
 *
 * @module
 */
import {
  constant,
  eachOperation,
  type Expression,
  fold,
  type FormulaWord,
  isFunction,
  NUMBERS,
  type Offset,
  type Operation,
  type Variable,
} from "./expression.ts";
import { FUNCTIONS } from "./functions.ts";
import { collected } from "./weighted_sums.ts";

/** What stands wherever an expression is wanted. */
export type Value = Expression | number;

/** A value as a plain node; what is no value is refused where the equation is made. */
export function nodeOf(value: Value): Expression {
  if (typeof value === "number") return constant(value);
  if (value?.kind === "profile") {
    const { kind, profile, axis, offset } = value;
    return { kind, profile, axis, offset };
  }
  if (value?.kind !== "tap") return value;
  const { kind, offset, ago, plane } = value;
  return { kind, offset, ago, plane };
}

/** Operations on any number of operands, from left to right. */
export const CHAINS: readonly Operation[] = ["add", "multiply", "minimum", "maximum"];

/** The node of an operation; of constants alone the constant that they make. */
export function operate(kind: Operation, ...values: readonly Value[]): Expression {
  const operands = values.map(nodeOf);
  if (CHAINS.includes(kind) && operands.length !== 2) {
    return operands.reduce((left, right) => operate(kind, left, right));
  }
  const numbers = operands.flatMap((node) => node?.kind === "constant" ? [node] : []);
  if (numbers.length < operands.length) return collected(kind, operands) ?? { kind, operands };
  const find = NUMBERS[kind] as (...values: number[]) => number;
  return constant(
    find(...numbers.map(({ value }) => value)),
    find(...numbers.map(({ value, exact }) => exact ?? value)),
  );
}

/** The sum of the terms, from left to right: ((a + b) + c) + … */
export function add(first: Value, ...rest: Value[]): Expression {
  return operate("add", first, ...rest);
}

/** left − right */
export function subtract(left: Value, right: Value): Expression {
  return operate("subtract", left, right);
}

/** The product of the factors, from left to right: ((a · b) · c) · … */
export function multiply(first: Value, ...rest: Value[]): Expression {
  return operate("multiply", first, ...rest);
}

/** left ÷ right */
export function divide(left: Value, right: Value): Expression {
  return operate("divide", left, right);
}

/** The least of the values. */
export function minimum(first: Value, ...rest: Value[]): Expression {
  return operate("minimum", first, ...rest);
}

/** The largest of the values. */
export function maximum(first: Value, ...rest: Value[]): Expression {
  return operate("maximum", first, ...rest);
}

/** |of| */
export function absolute(of: Value): Expression {
  return operate("absolute", of);
}

/** √of, for values that are not negative. */
export function squareRoot(of: Value): Expression {
  return operate("squareRoot", of);
}

/** 1 where left ≥ right, else 0. */
export function atLeast(left: Value, right: Value): Expression {
  return operate("atLeast", left, right);
}

/** 1 where left > right, else 0. */
export function greater(left: Value, right: Value): Expression {
  return operate("greater", left, right);
}

/** `then` where the condition is not 0, else `otherwise`; both are computed. */
export function choose(condition: Value, then: Value, otherwise: Value): Expression {
  return operate("choose", condition, then, otherwise);
}

/** An expression's value `x`, `y`, `z` cells away, in two dimensions `x`, `y`: all that it reads lies so far away. */
export function shifted(of: Value, ...cells: Offset | readonly [x: number, y: number]): Expression {
  return { kind: "partial", of: nodeOf(of), offset: cells as Offset };
}

/** The largest whole number that is not above a value. */
export function floor(of: Value): Expression {
  return operate("floor", of);
}

/** e to the power of a value from −87 to 88, in f64 from −708 to 709; below it is 0. */
export function exponential(of: Value): Expression {
  return formula("exponential", of);
}

/** The natural logarithm of a value from 2·10⁻³⁸ to 3·10³⁸, in f64 from 10⁻³⁰⁷ to 10³⁰⁸. */
export function logarithm(of: Value): Expression {
  return formula("logarithm", of);
}

/** The sine of an angle in radians, from −8192 to 8192. */
export function sine(of: Value): Expression {
  return formula("sine", of);
}

/** The cosine of an angle in radians, from −8192 to 8192. */
export function cosine(of: Value): Expression {
  return formula("cosine", of);
}

/** The hyperbolic tangent. */
export function tanh(of: Value): Expression {
  return formula("tanh", of);
}

/**
 * `base` to the power of `exponent`, for a base from 2·10⁻³⁸ and results from 10⁻³⁸ to 10³⁸, in f64 10^±307; of 0 it is 0. Whole numbers
 * from 1 to 8 as exponents take any base: up to 6 they make products.
 */
export function power(base: Value, exponent: Value): Expression {
  const whole = [1, 2, 3, 4, 5, 6, 7, 8].find((power) => power === exponent);
  if (whole === undefined) return formula("power", base, exponent);
  if (whole <= 6) return multiply(base, ...Array.from({ length: whole - 1 }, () => base));
  // products of more factors round too often
  const even = formula("power", absolute(base), whole === 7 ? 6 : whole);
  return whole === 7 ? multiply(even, base) : even;
}

/** A function; or what only signals and materials have, a variable. */
export function formula(name: FormulaWord, ...operands: readonly Value[]): Expression {
  return { kind: "formula", name, operands: operands.map(nodeOf) };
}

/** What finds a number from those of variables. */
type Evaluator = (variables: Readonly<Partial<Record<Variable, number>>>) => number;

/** What finds the value of a signal or of a material's formula, in f64. */
export function evaluatorOf(expression: Expression): Evaluator {
  return fold<Evaluator>(expression, {
    ...eachOperation<Evaluator>((_, operate) => (...[a, b, c]) => (given) =>
      operate(a!(given), b?.(given)!, c?.(given)!)
    ),
    constant: (value) => () => value,
    signal: () => () => 0,
    tap: () => () => NaN,
    formula: (name, [a, b]) =>
      isFunction(name) ? (given) => FUNCTIONS[name](a!(given), b?.(given)!) : (given) => given[name] ?? NaN,
  });
}

/** The value of a signal or of a material's formula, in f64. */
export function evaluate(expression: Expression, variables: Parameters<Evaluator>[0]): number {
  return evaluatorOf(expression)(variables);
}
