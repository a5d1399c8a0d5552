/**
 * The Game of Life: in two dimensions Conway's, 8 neighbours; in three 26, each cell 0 or 1 (Liu, Perumalla, "Efficient Large-scale
 * Parallel Stencil Computation on Multi-Core and Multi-GPU Accelerated Clusters", §4.2: an empty cell with five
 * living neighbours comes to life; a living one with one or none dies of loneliness, with eight or more of
 * overcrowding).
 *
 * All values are whole numbers of at most 27, on which f32 is exact: every kernel gives the same bits.
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { equation, type FieldTap } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, atLeast, multiply, shifted } from "../operations.ts";
import type { Equation, InSpace, Stencil } from "./stencil.ts";

/** Numbers of living neighbours, ends included. */
interface LifeRule {
  /** With which an empty cell comes to life. */
  readonly born: readonly [low: number, high: number];
  /** With which a living cell stays alive. */
  readonly survives: readonly [low: number, high: number];
}

/** The rule of the paper, and Conway's, as text. */
const DEFAULT_RULE = "5/2-7", PLANAR_RULE = "3/2-3";

/** What {@linkcode readRule} accepts, for people. */
const RULE_FORMAT = "BORN/SURVIVES, numbers or ranges from 0 to 26, in two dimensions to 8, such as 5/2-7";

/** Reads a rule as "5/2-7", born with 5, survives with 2 to 7; undefined where the text is no rule. */
export function readRule(text: string, dimensions: 2 | 3 = 3): LifeRule | undefined {
  const match = /^(\d{1,2})(?:-(\d{1,2}))?\/(\d{1,2})(?:-(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [, bornLow = "", bornHigh = bornLow, low = "", high = low] = match;
  const rule = { born: [+bornLow, +bornHigh], survives: [+low, +high] } as const;
  const isRange = ([low, high]: readonly [number, number]): boolean => low <= high && high < 3 ** dimensions;
  return isRange(rule.born) && isRange(rule.survives) ? rule : undefined;
}

/**
 * Life with one rule.
 *
 * @param rule as {@linkcode readRule} takes it; unless given 5/2-7, in two dimensions 3/2-3
 * @param options 2 for two dimensions
 * @returns the stencil, reach 1 along each axis, one time level
 * @throws {RangeError} where the text is no rule
 *
 * @example
 * ```ts
 * import { life } from "./life.ts";
 * import { tapsOf } from "../update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(tapsOf(life("5/2-7").update).length, 27);
 * ```
 */
export function life(rule?: string, options: InSpace = {}): Stencil {
  checkOptions("build the life stencil", options, ["dimensions"]);
  const { dimensions = 3 } = options, isPlanar = dimensions === 2;
  rule ??= isPlanar ? PLANAR_RULE : DEFAULT_RULE;
  const numbers = readRule(rule, dimensions);
  if (numbers === undefined) {
    throw new RangeError(`Cannot build the life stencil: the rule must be ${RULE_FORMAT}: it is ${rule}`);
  }
  return equation({
    name: "life",
    variant: { rule },
    title: `${dimensions}D life ${rule}`,
    dimensions,
    fields: { F: [0, 1] },
    initialField: "binary",
    step({ F }) {
      const sum = isPlanar ? cellsOnPlane(F) : cellsAround(F);
      // bounds of the sum of all cells, the cell itself included: two lines in F = 0, 1
      const bound = (end: 0 | 1): Expression => {
        const born = numbers.born[end], survives = numbers.survives[end] + 1;
        return add(born, multiply(survives - born, F));
      };
      return { F: multiply(atLeast(sum, bound(0)), atLeast(bound(1), sum)) };
    },
  });
}

/** The sum of the 9 cells at distance 1 and less: of three rows. */
function cellsOnPlane({ at }: FieldTap): Expression {
  const row = add(at(0, -1), at(), at(0, 1));
  return add(shifted(row, -1, 0), shifted(row, 0, 0), shifted(row, 1, 0));
}

/** The sum of the 27 cells at distance 1 and less: of three slices, each of three columns. */
function cellsAround({ at }: FieldTap): Expression {
  const column = add(at(0, 0, -1), at(), at(0, 0, 1));
  const slice = add(shifted(column, 0, -1, 0), shifted(column, 0, 0, 0), shifted(column, 0, 1, 0));
  return add(shifted(slice, -1, 0, 0), shifted(slice, 0, 0, 0), shifted(slice, 1, 0, 0));
}

export const LIFE: Equation = {
  name: "life",
  title: "Game of Life with 26 neighbours, in two dimensions with 8",
  dimensions: [3, 2],
  variant: {
    name: "rule",
    placeholder: "B/S",
    title: "neighbours",
    wanted: RULE_FORMAT,
    default: DEFAULT_RULE,
    planar: PLANAR_RULE,
    read: (text, dimensions) => readRule(text, dimensions) && text,
  },
  create: (rule, _, dimensions) => life(rule?.toString(), { dimensions }),
};
