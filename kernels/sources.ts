/**
 * What a step adds to few cells. An equation names its sources in `step` as if each were a field; they are taken out of the
 * expressions, so that kernels compute all cells alike, and what a source adds to a cell comes after them.
 *
 * @module
 */
import { checkExpression, type ExpressionRules, type Want } from "./check_expression.ts";
import {
  constant,
  eachOperation,
  type Expression,
  fold,
  type Operation,
  SIGNAL,
  tapsIn,
} from "./expression.ts";
import { operate } from "./operations.ts";
import type { Assignment, Substep } from "./update.ts";

/**
 * Takes the sources out of sub-steps in which they are planes, after the fields and materials.
 *
 * @returns the sub-steps without them, and what each goes into
 */
export function splitSources(
  substeps: readonly Substep[],
  { fields, planes, profiles, sources }: {
    readonly fields: readonly string[];
    /** Fields and materials. */
    readonly planes: number;
    readonly profiles: ExpressionRules["profiles"];
    readonly sources: readonly string[];
  },
  want: Want,
): [substeps: Substep[], into: Substep[]] {
  const into = sources.map((): Assignment[] => []);
  const rules = { planes: planes + sources.length, profiles, variables: [], hasSignal: true };
  const left = substeps.map((substep, i) =>
    substep.map(({ field, value }) => {
      const place = `sub-step ${i + 1}, field ${fields[field]}`;
      checkExpression(value, { ...rules, place }, want);
      const wantHere = (holds: boolean, wanted: string): void => want(holds, place, wanted);
      const rest = sources.reduce((whole, _, source) => {
        const { rest = constant(0), factor } = splitSource(whole, planes + source, wantHere);
        if (factor !== undefined) into[source]!.push({ field, value: factor });
        return rest;
      }, value);
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
  readonly rest?: Expression | undefined;
  readonly factor?: Expression | undefined;
}

/** Takes a source out of an expression in which it is a plane. */
function splitSource(
  expression: Expression,
  plane: number,
  want: (holds: boolean, wanted: string) => void,
): Split {
  const isRead = ({ factor }: Split): boolean => factor !== undefined;
  const wantLinear = (holds: boolean, wanted: string): void =>
    want(holds, `a source is used linearly, at the cell itself: not ${wanted}`);
  const join = (kind: "add" | "subtract") => (left: Split, right: Split): Split => {
    const each = (a?: Expression, b?: Expression): Expression | undefined => {
      if (a === undefined && kind === "subtract") return b && operate("multiply", -1, b);
      return a && b ? operate(kind, a, b) : a ?? b;
    };
    return { rest: each(left.rest, right.rest), factor: each(left.factor, right.factor) };
  };
  const scale = (kind: Operation, { rest, factor }: Split, { rest: by }: Split): Split => {
    const each = (share?: Expression): Expression | undefined => share && operate(kind, share, by!);
    return { rest: each(rest), factor: each(factor) };
  };
  return fold<Split>(expression, {
    ...eachOperation<Split>((kind) => (...operands) => {
      wantLinear(!operands.some(isRead), `in ${kind}`);
      return { rest: operate(kind, ...operands.map(({ rest }) => rest!)) };
    }),
    add: join("add"),
    subtract: join("subtract"),
    multiply(left, right) {
      wantLinear(!isRead(left) || !isRead(right), "times itself");
      return isRead(right) ? scale("multiply", right, left) : scale("multiply", left, right);
    },
    divide(left, right) {
      wantLinear(!isRead(right), "as a divisor");
      return scale("divide", left, right);
    },
    choose(condition, then, otherwise) {
      wantLinear(!isRead(condition), "as a condition");
      const either = (one?: Expression, other?: Expression): Expression | undefined =>
        one || other ? operate("choose", condition.rest!, one ?? 0, other ?? 0) : undefined;
      return { rest: either(then.rest, otherwise.rest), factor: either(then.factor, otherwise.factor) };
    },
    tap(tap) {
      if (tap.plane !== plane) return { rest: tap };
      const isOwn = tap.ago === 0 && tap.offset.every((cells) => cells === 0);
      want(isOwn, "a source is wanted at the cell itself, now");
      return { factor: constant(1) };
    },
    partial(of, offset) {
      wantLinear(!tapsIn([of]).some((tap) => tap.plane === plane), "in a partial sum");
      return { rest: { kind: "partial", of, offset } };
    },
    profile: (rest) => ({ rest }),
    formula(name, operands) {
      wantLinear(!operands.some(isRead), `in ${name}`);
      return { rest: { kind: "formula", name, operands: operands.map(({ rest }) => rest!) } };
    },
    constant: (value, exact) => ({ rest: constant(value, exact) }),
    signal: () => ({ rest: SIGNAL }),
  });
}
