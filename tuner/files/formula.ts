/**
 * Formulas as people write them: numbers, variables, + − * / ^, parentheses, and the functions of equations. They are read,
 * never run as a program.
 *
 * @module
 */
import { ARITHMETIC, FUNCTIONS } from "../../kernels/functions.ts";
import { RequestError } from "../problem/request_error.ts";

const { powerOfTwo: _, exponentOf: __, ...OPERATIONS } = ARITHMETIC, WORDS = { ...OPERATIONS, ...FUNCTIONS };

/** Short names of the words of equations. */
const SHORT: Readonly<Record<string, keyof typeof WORDS>> = {
  ...{ abs: "absolute", sqrt: "squareRoot", min: "minimum", max: "maximum", pow: "power" },
  ...{ exp: "exponential", log: "logarithm", sin: "sine", cos: "cosine" },
};

/** What takes numbers, by its name. */
const CALLS = new Map<string, (...numbers: number[]) => number>([
  ...Object.entries(WORDS),
  ...Object.entries(SHORT).map(([short, name]) => [short, WORDS[name]] as const),
]);

/** Binary operators: how tightly each binds, and what it computes. Powers bind from the right. */
const BINARY = new Map<string, readonly [binds: number, call: (left: number, right: number) => number]>([
  ["+", [1, OPERATIONS.add]],
  ["-", [1, OPERATIONS.subtract]],
  ["*", [2, OPERATIONS.multiply]],
  ["/", [2, OPERATIONS.divide]],
  ["^", [4, Math.pow]],
]);

/** A sign binds between products and powers. */
const SIGN = 3;

/** Parentheses within each other, at most. */
const DEEPEST = 200;

/** A number, or a row of them. */
export type Value = number | Float64Array;

/** What computes a value from those of variables, in their order; rows have one length, and are computed whole. */
type Formula = (values: readonly Value[]) => Value;

/** What a function of numbers makes of values. */
function applied(call: (...numbers: number[]) => number, operands: readonly Value[]): Value {
  const row = operands.find((one) => typeof one !== "number");
  if (row === undefined) return call(...operands as readonly number[]);
  const { length } = row, made = new Float64Array(length);
  const [a, b, c] = operands.map((one) => typeof one === "number" ? new Float64Array(length).fill(one) : one);
  // arguments in a list would take several times as long
  for (let i = 0; i < length; i++) made[i] = b ? call(a![i]!, b[i]!, c ? c[i]! : 0) : call(a![i]!);
  return made;
}

/**
 * What computes a formula.
 *
 * @throws {RequestError} saying where the formula is wrong
 */
export function readFormula(text: string, variables: readonly string[]): Formula {
  const tokens = [...text.matchAll(/\s*((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[a-z]\w*|\*\*|\S)/gi)];
  let at = 0;
  const peek = (): string | undefined => tokens[at]?.[1]?.replace("**", "^");
  const refuse = (wanted: string): never => {
    const place = tokens[at] === undefined
      ? "its end"
      : `"${text.slice(tokens[at]!.index).trim().slice(0, 20)}"`;
    throw new RequestError(
      `Cannot read the formula "${text.slice(0, 60)}": ${wanted} is wanted: found ${place}`,
    );
  };
  const take = (token: string): void => void (peek() === token ? at++ : refuse(token));
  const operand = (deep: number): Formula => {
    const token = peek() ?? refuse("a number, a variable or a function");
    if (/^[\d.]/.test(token) && token !== ".") {
      at++;
      return () => Number(token);
    }
    if (token === "-" || token === "+") {
      at++;
      const of = expression(SIGN, deep);
      return token === "-" ? (values) => applied((value) => -value, [of(values)]) : of;
    }
    if (token === "(") {
      at++;
      const of = expression(0, deep);
      take(")");
      return of;
    }
    const variable = variables.indexOf(token), call = CALLS.get(token);
    if (variable < 0 && call === undefined && token !== "pi") {
      return refuse(
        `a number, ${[...variables, "pi"].join(", ")} or a function (${[...CALLS.keys()].join(", ")})`,
      );
    }
    at++;
    if (call === undefined) return variable < 0 ? () => Math.PI : (values) => values[variable]!;
    take("(");
    const operands = Array.from({ length: call.length }, (_, i) => {
      if (i > 0) take(",");
      return expression(0, deep);
    });
    take(")");
    return (values) => applied(call, operands.map((of) => of(values)));
  };
  const expression = (least: number, before: number): Formula => {
    if (before > DEEPEST) refuse("fewer parentheses");
    let left = operand(before + 1);
    while (true) {
      const [binds = 0, call] = BINARY.get(peek() ?? "") ?? [];
      if (call === undefined || binds <= least) return left;
      at++;
      const first = left, second = expression(binds === 4 ? binds - 1 : binds, before + 1);
      left = (values) => applied(call, [first(values), second(values)]);
    }
  };
  const formula = expression(0, 0);
  return peek() === undefined ? formula : refuse("an operator");
}
