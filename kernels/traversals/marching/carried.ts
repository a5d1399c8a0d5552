/**
 * An equation's expression in the order in which a march meets its taps: whatever part of it can be found from slices that
 * the march has come to is found there and carried on. Of a box written tap by tap, slice after slice, these are the sums
 * so far: of 25 taps five values a cell, and each value's neighbours are read once. Nothing is added in another order, so
 * no bit changes.
 *
 * @module
 */
import { type Expression, fold, isSame, type PartialSum, tapsIn, TREE, visitTaps } from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import { type Update, withValues } from "../../update.ts";
import { isKept } from "../../partial_sums.ts";

/**
 * The update with such expressions, where a tap is off the x axis and in no sum of its slice, or different sums of an only
 * field lie in different slices; any other as it is.
 */
export const carried: (update: Update) => Update = remembered((update) => ({
  ...update,
  substeps: update.substeps.map((substep) =>
    withValues(substep, (of) => isScattered(of, update.fields.length) ? inOrder(whole(of)) : of)
  ),
}));

/** Whether the neighbours that an expression reads of fields lie in several slices, and not in places of one sum. */
function isScattered(expression: Expression, fields: number): boolean {
  let isSlanted = false;
  const kept: { of: Expression; x: number }[] = [];
  visitTaps(expression, ({ offset: [x, y, z] }) => {
    isSlanted ||= x !== 0 && (y !== 0 || z !== 0);
  }, (of, offset) => {
    if (!isKept(of, offset)) return false;
    if (fields === 1 && tapsIn([of]).some(({ plane }) => plane === 0)) kept.push({ of, x: offset[0] });
    return true;
  });
  return isSlanted || kept.some(({ of, x }) => x !== kept[0]!.x && !isSame(of, kept[0]!.of));
}

/** Partial sums taken apart, but those that are kept. */
function whole(expression: Expression): Expression {
  return fold<Expression>(expression, {
    ...TREE,
    partial: (of, offset) => isKept(of, offset) ? { kind: "partial", of, offset } : undefined,
  });
}

/** Where no part can be found early, because it reads F(t − 1), its operands are. */
function inOrder(expression: Expression): Expression {
  const latest = latestOf(expression);
  if (latest === undefined) return expression;
  if (!readsBefore(expression)) return partOf(expression, latest, 0);
  return "operands" in expression
    ? { ...expression, operands: expression.operands.map(inOrder) }
    : expression;
}

/** What an expression whose last slice is `latest` is, seen from another slice. */
function partOf(expression: Expression, latest: number, from: number): PartialSum {
  return { kind: "partial", of: seenFrom(expression, latest), offset: [latest - from, 0, 0] };
}

/** An expression of slices up to `slice`, seen from there: what is complete earlier is carried on. */
function seenFrom(expression: Expression, slice: number): Expression {
  const latest = latestOf(expression);
  if (latest !== undefined && latest < slice) return partOf(expression, latest, slice);
  if (latest === undefined || expression.kind === "partial" || !("operands" in expression)) {
    return fold(expression, TREE, [-slice, 0, 0]);
  }
  return { ...expression, operands: expression.operands.map((operand) => seenFrom(operand, slice)) };
}

/** The last slice that a value is read from; undefined: none, only constants and profiles. */
function latestOf(expression: Expression): number | undefined {
  let latest: number | undefined;
  visitTaps(expression, ({ offset: [x] }) => latest = Math.max(latest ?? x, x));
  return latest;
}

function readsBefore(expression: Expression): boolean {
  let reads = false;
  visitTaps(expression, ({ ago }) => reads ||= ago === 1);
  return reads;
}
