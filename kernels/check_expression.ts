/**
 * Refuses expressions that no target could compute, in whatever form they were written.
 *
 * @module
 */
import { type Axis, isFunction, NUMBERS, type Operation, OPERATIONS, type Variable } from "./expression.ts";
import { costOf, FUNCTIONS } from "./functions.ts";

/** Nodes from the root of an expression to a leaf: a sum of n terms is n deep. */
export const MOST_DEEP = 500;
const MOST_NODES = 10_000;

/** Refuses what does not hold, saying where, what is wanted and what was found. */
export type Want = (holds: boolean, place: string, wanted: string, ...found: [unknown?]) => asserts holds;

export interface ExpressionRules {
  /** Where it stands, as `sub-step 1, field u`. */
  readonly place: string;
  /** Number of fields and materials that it may read: none in a signal or a material. */
  readonly planes: number;
  /** The axis profiles that it may read. @default {none} */
  readonly profiles?: readonly { readonly axis: Axis }[] | undefined;
  /** Variables that it may have beside functions: none in an update. */
  readonly variables: readonly Variable[];
  readonly hasSignal: boolean;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isFinite32(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(Math.fround(value));
}

/** f32's least number that no GPU takes for 0, and the largest divisor for which WGSL promises a quotient. */
const LEAST = 2 ** -126, LARGEST_DIVISOR = 2 ** 126;

/** Whether it is 0, or a number that a kernel does not take for 0. */
export function isHeld32(value: unknown): value is number {
  return isFinite32(value) && (value === 0 || Math.abs(Math.fround(value)) >= LEAST);
}

export function checkExpression(expression: unknown, rules: ExpressionRules, want: Want): void {
  // the host computes formulas in f64
  const { place: root, variables } = rules, isKernel = variables.length === 0;
  const [isRight, largest] = isKernel ? [isHeld32, LARGEST_DIVISOR] : [Number.isFinite, Infinity];
  /** How many nodes each one holds, those that stand in several places counted in each; its value, if it is constant. */
  const known = new Map<unknown, readonly [nodes: number, value: number | undefined]>();
  const visit = (node: unknown, place: string, deep: number): number | undefined => {
    if (known.has(node)) return known.get(node)![1];
    want(deep <= MOST_DEEP, root, `operations nested at most ${MOST_DEEP} deep are wanted`, "deeper ones");
    want(isRecord(node), place, "a number or an expression is wanted", node);
    let nodes = isKernel && isFunction(node.name) ? costOf(node.name) : 1;
    const values = operandsOf(node, { ...rules, place }, want).map((operand, i) => {
      const value = visit(operand, `${root}, operand ${i + 1} of ${node.name ?? node.kind}`, deep + 1);
      nodes += known.get(operand)![0];
      want(nodes <= MOST_NODES, root, `at most ${MOST_NODES} operations and operands are wanted`, "more");
      return value;
    });
    const divisor = Math.abs(node.kind === "divide" ? values[1] ?? 1 : 1);
    const isDivisor = divisor > 0 && divisor <= largest;
    want(isDivisor, place, "a divisor other than 0, up to 2¹²⁶, is wanted", values[1]);
    const value = valueOf(node, values);
    if (Number.isNaN(value)) want(false, place, "a number is wanted (multiply(2, u), not 2 * u)", value);
    const why = isFinite32(value) ? " (GPUs may take one below 2⁻¹²⁶ for 0)" : "";
    want(value === undefined || isRight(value), place, `a number that f32 can hold is wanted${why}`, value);
    known.set(node, [nodes, isKernel && value !== undefined ? Math.fround(value) : value]);
    return known.get(node)![1];
  };
  visit(expression, root, 1);
}

/** What a node comes to before it is rounded; undefined where that depends on more than constants. */
function valueOf(
  { kind, name, value }: Readonly<Record<string, unknown>>,
  operands: readonly (number | undefined)[],
): number | undefined {
  if (kind === "constant") return value as number;
  const [first] = operands;
  if (kind === "partial") return first;
  if (kind === "choose" && first !== undefined) return operands[first !== 0 ? 1 : 2];
  const operate = kind === "formula" && isFunction(name)
    ? FUNCTIONS[name]
    : OPERATIONS.some((of) => of === kind) && NUMBERS[kind as Operation] as (...values: number[]) => number;
  return operate && operands.every((operand) => operand !== undefined) ? operate(...operands) : undefined;
}

/** The operands of a node, whose other parts are as they should be. */
function operandsOf(
  node: Readonly<Record<string, unknown>>,
  { place, planes, profiles = [], variables, hasSignal }: ExpressionRules,
  want: Want,
): readonly unknown[] {
  const { kind, value, plane, ago, name, profile, axis, offset } = node;
  const isOneOf = (words: readonly string[], word: unknown): boolean => words.some((known) => known === word);
  const wantOffset = (): void => {
    const holds = Array.isArray(offset) && offset.length === 3 && offset.every(Number.isSafeInteger);
    want(holds, place, "a whole number of cells along each axis is wanted", offset);
  };
  const operandsWanted = (count: number): readonly unknown[] => {
    const { operands } = node;
    want(Array.isArray(operands), place, "a list of operands is wanted", operands);
    want(operands.length === count, place, `${name ?? kind} of ${count} is wanted`, operands.length);
    return operands;
  };
  switch (kind) {
    case "constant":
      want(typeof value === "number", place, "a number is wanted", value);
      return [];
    case "signal":
      want(hasSignal, place, "a signal is wanted where one is read", "none");
      return [];
    case "formula": {
      const words = [...variables, ...Object.keys(FUNCTIONS)];
      want(isOneOf(words, name), place, `one of ${words.join(", ")} is wanted`, name);
      return operandsWanted(isFunction(name) ? FUNCTIONS[name].length : 0);
    }
    case "tap": {
      want(planes > 0, place, "a signal or material that reads no field is wanted", "a tap");
      const isPlane = Number.isInteger(plane) && Number(plane) >= 0 && Number(plane) < planes;
      want(isPlane, place, "a field or material is wanted", plane);
      want(ago === 0 || ago === 1 || ago === -1, place, "ago must be 0 (now), 1 (before) or -1 (next)", ago);
      wantOffset();
      return [];
    }
    case "profile": {
      want(planes > 0, place, "a signal or material that reads no other is wanted", "an axis profile");
      const own = profiles[Number(profile)]?.axis;
      want(own !== undefined && axis === own, place, "an axis profile of the equation is wanted", profile);
      want(Number.isSafeInteger(offset), place, "a whole number of cells is wanted", offset);
      return [];
    }
    case "partial":
      wantOffset();
      return [node.of];
  }
  want(isOneOf(OPERATIONS, kind), place, "a number or an expression is wanted", kind ?? node);
  return operandsWanted(NUMBERS[kind as Operation].length);
}
