/**
 * What a step adds to few cells. An equation names its sources in `step` as if each were a field; they are taken out of the
 * expressions, so that kernels compute all cells alike, and what a source adds to a cell comes after them.
 *
 * @module
 */
import { checkExpression, type ExpressionRules, type Want } from "./check_expression.ts";
import {
  type Algebra,
  constant,
  type Expression,
  fold,
  NUMBERS,
  type Operation,
  tapsIn,
} from "./expression.ts";
import { operate } from "./operations.ts";

/** What a source is multiplied by before it is added to a field. */
export interface SourceFactor {
  /** Index of the field. */
  readonly field: number;
  /** Of materials at the cell and constants. */
  readonly factor: Expression;
}

/** A value that is given at few places and at every step. */
export interface Source {
  /** What it is called, as `s`. */
  readonly name: string;
  /** The lowest and the highest value that it has when the equation is tuned. */
  readonly range: readonly [lowest: number, highest: number];
  /** The fields that it is added to. */
  readonly into: readonly SourceFactor[];
}

/** What sub-steps assign, as `Substep`. */
type Assignments = readonly { readonly field: number; readonly value: Expression }[];

/**
 * Takes the sources out of sub-steps in which they are planes, after the fields and materials.
 *
 * @returns the sub-steps without them, and where each goes
 */
export function splitSources(
  substeps: readonly Assignments[],
  { fields, planes, profiles, sources }: {
    readonly fields: readonly string[];
    /** Fields and materials. */
    readonly planes: number;
    readonly profiles: ExpressionRules["profiles"];
    readonly sources: readonly string[];
  },
  want: Want,
): [substeps: Assignments[], into: Source["into"][]] {
  const into = sources.map((): SourceFactor[] => []);
  const left = substeps.map((substep, i) =>
    substep.map(({ field, value }) => {
      const place = `sub-step ${i + 1}, field ${fields[field]}`;
      checkExpression(
        value,
        { place, planes: planes + sources.length, profiles, variables: [], hasSignal: true },
        want,
      );
      let rest = value;
      sources.forEach((_, index) => {
        const split = splitSource(rest, { plane: planes + index, place }, want);
        rest = split.rest;
        if (split.factor !== undefined) into[index]!.push({ field, factor: split.factor });
      });
      return { field, value: rest };
    })
  );
  sources.forEach((name, i) =>
    want(into[i]!.length > 0, `source ${name}`, "a sub-step that adds it is wanted", "none")
  );
  return [left, into];
}

/** An expression as rest + factor · source; what is 0 is undefined. */
interface Split {
  readonly rest?: Expression;
  readonly factor?: Expression;
}

/**
 * Takes a source out of an expression in which it is a plane.
 *
 * @returns the expression without it, and its factor; undefined where there is none
 */
function splitSource(
  expression: Expression,
  { plane, place }: {
    readonly plane: number;
    readonly place: string;
  },
  want: Want,
): { readonly rest: Expression; readonly factor: Expression | undefined } {
  const wantIt: (holds: boolean, wanted: string) => asserts holds = (holds, wanted) =>
    want(holds, place, wanted);
  const isRead = (one: Expression): boolean => tapsIn([one]).some((tap) => tap.plane === plane);
  const join = (kind: "add" | "subtract", left?: Expression, right?: Expression): Expression | undefined => {
    if (right === undefined) return left;
    if (left !== undefined) return operate(kind, left, right);
    return kind === "add" ? right : operate("multiply", -1, right);
  };
  const scale = (kind: "multiply" | "divide", by: Expression, split: Split): Split => {
    const each = (one?: Expression) => one && operate(kind, one, by);
    return made(each(split.rest), each(split.factor));
  };
  const split = (one: Expression): Split => {
    if (!isRead(one)) return { rest: one };
    if (one.kind === "tap") {
      wantIt(
        one.offset.every((cells) => cells === 0) && one.ago === 0,
        "a source is wanted at the cell itself, now",
      );
      return { factor: constant(1) };
    }
    const operands = "operands" in one ? one.operands : [], [first, second, third] = operands;
    switch (one.kind as Operation) {
      case "add":
      case "subtract": {
        const kind = one.kind as "add" | "subtract", [left, right] = [split(first!), split(second!)];
        return made(join(kind, left.rest, right.rest), join(kind, left.factor, right.factor));
      }
      case "multiply": {
        wantIt(!(isRead(first!) && isRead(second!)), "a source is used linearly: not times itself");
        return isRead(first!)
          ? scale("multiply", second!, split(first!))
          : scale("multiply", first!, split(second!));
      }
      case "divide":
        wantIt(!isRead(second!), "a source is used linearly: not as a divisor");
        return scale("divide", second!, split(first!));
      case "choose": {
        wantIt(!isRead(first!), "a source is used linearly: no choice depends on it");
        const [then, otherwise] = [split(second!), split(third!)];
        const either = (a?: Expression, b?: Expression) =>
          a === undefined && b === undefined ? undefined : operate("choose", first!, a ?? 0, b ?? 0);
        return made(either(then.rest, otherwise.rest), either(then.factor, otherwise.factor));
      }
      default:
        wantIt(false, `a source is used linearly, at the cell itself: not in ${one.kind}`);
        return {};
    }
  };
  const { rest = constant(0), factor } = split(expression);
  return { rest, factor };
}

function made(rest?: Expression, factor?: Expression): Split {
  return { ...(rest && { rest }), ...(factor && { factor }) };
}

/** A factor's value at a cell, in f64, from the values of the materials and axis profiles there. */
export function factorAt(factor: Expression, there: Pick<Algebra<number>, "tap" | "profile">): number {
  return fold<number>(factor, { ...NUMBERS, ...there });
}
