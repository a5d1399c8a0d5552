/**
 * An update in two parts: what can be computed before the rest of its taps are there, and what is made of that later.
 *
 * @module
 */
import { type Expression, fold, type Tap, tapsIn, TREE } from "../../expression.ts";
import { profilesIn } from "./coefficients.ts";

/** The plane of a tap that stands for an early value; x of its offset is the value's number. */
export const EARLY = -1;

interface Split {
  readonly early: readonly Expression[];
  readonly late: Expression;
}

/** A term of a sum, and whether it is subtracted. */
interface Term {
  readonly of: Expression;
  readonly isMinus: boolean;
}

/**
 * Splits an expression. Terms of a sum are added up in another order: first all that are early. So the fewest values wait;
 * what is made of profiles waits for what is late, as they can be read at any time.
 *
 * @param isLate whether a tap's value comes later
 */
export function splitExpression(expression: Expression, isLate: (tap: Tap) => boolean): Split {
  const early: Expression[] = [], known = new Map<string, number>();
  const hasLate = tapsIn([expression]).some(isLate);
  const isReady = (one: Expression): boolean =>
    !hasLate || (!tapsIn([one]).some(isLate) && profilesIn(one).length === 0);
  const keep = (one: Expression): Expression => {
    // coefficients and F(t − 1) of the cell are there all the time
    const taps = tapsIn([one]);
    if (taps.every(({ plane }) => plane !== 0) || (one.kind === "tap" && one.ago === 1)) return one;
    const isKept = (part: Expression): boolean => known.has(JSON.stringify(part));
    // a multiple of what is kept is no other value to keep
    if (one.kind === "multiply" && one.operands[0]!.kind === "constant" && isKept(one.operands[1]!)) {
      return { ...one, operands: one.operands.map(keep) };
    }
    // what an update uses twice is twice in its tree
    const key = JSON.stringify(one), index = known.get(key) ?? early.push(one) - 1;
    known.set(key, index);
    return { kind: "tap", plane: EARLY, ago: 0, offset: [index, 0, 0] };
  };
  const split = (one: Expression): Expression => {
    if (isReady(one)) return keep(one);
    if (one.kind !== "add" && one.kind !== "subtract") {
      return "operands" in one ? { ...one, operands: one.operands.map(split) } : one;
    }
    const terms = termsOf(one), ready = terms.filter(({ of }) => isReady(of));
    const rest = terms.filter(({ of }) => !isReady(of)).map(({ of, isMinus }) => ({
      of: split(of),
      isMinus,
    }));
    if (ready.length === 0) return added(rest).of;
    const { of, isMinus } = added(ready);
    return added([{ of: keep(of), isMinus }, ...rest]).of;
  };
  return { late: split(fold(expression, TREE)), early };
}

function termsOf(one: Expression, isMinus = false): Term[] {
  if (one.kind !== "add" && one.kind !== "subtract") return [{ of: one, isMinus }];
  const [left, right] = one.operands as [Expression, Expression];
  return [...termsOf(left, isMinus), ...termsOf(right, isMinus !== (one.kind === "subtract"))];
}

/** The sum of terms, itself subtracted where all of them are. */
function added(terms: readonly Term[]): Term {
  const [first, ...others] = terms.toSorted((p, q) => Number(p.isMinus) - Number(q.isMinus)) as [
    Term,
    ...Term[],
  ];
  const of = others.reduce<Expression>((left, { of, isMinus }) => ({
    kind: isMinus === first.isMinus ? "add" : "subtract",
    operands: [left, of],
  }), first.of);
  return { of, isMinus: first.isMinus };
}
