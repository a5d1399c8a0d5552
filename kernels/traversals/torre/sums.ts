/**
 * What a torre keeps for each place beside F, for updates with taps that lie off the axes along z.
 *
 * Threads exchange no more than the values of a place's own column. A tap along z elsewhere is served if it lies in a
 * partial sum that sees nothing but its own column: the sum is found where the column is exchanged, once, and kept in
 * a register for all cells that tap it. Of the box of 27 cells these are the sums of three along z; the sums of nine in
 * a slice are made of them without any exchange, and kept as well.
 *
 * @module
 */
import {
  type Expression,
  fold,
  isSame,
  type Offset,
  type Tap,
  tap,
  tapsIn,
  visitTaps,
} from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import { onlyExpression, OPERATION_COUNT, tapsOf, type Update } from "../../update.ts";
import { canBeKept, isOfField } from "../../partial_sums.ts";

/** Cells along x and y from one place to another. */
export type Step = readonly [x: number, y: number];

/** What an expression reads in registers, relative to the place where it is evaluated. */
export interface Reads {
  /** Places of F. */
  readonly values: readonly Step[];
  /** Places of kept values, and which. */
  readonly kept: readonly { readonly index: number; readonly step: Step }[];
}

export interface Kept extends Reads {
  readonly of: Expression;
  /** Whether it is made of its own column, through workgroup memory; else it is made of registers. */
  readonly isColumn: boolean;
  /** Sums, products and comparisons to find it. */
  readonly operations: number;
}

/** An update whose partial sums are kept. */
export interface TorreSums {
  /** Each after those that it is made of. */
  readonly kept: readonly Kept[];
  /** What the update of a cell reads, and its operations. */
  readonly cell: Reads & { readonly operations: number };
}

/** The kept values of an update of one field; undefined where a cell needs no more than its own column along z. */
export const sumsOf: (update: Update) => TorreSums | undefined = remembered(findSums);

/** Which kept value stands for a partial sum, or a tap of the own column; −1 for none. */
export function keptIndex({ kept }: Pick<TorreSums, "kept">, of: Expression, [, , z]: Offset): number {
  return z === 0 ? kept.findIndex((sum) => isSame(sum.of, of)) : -1;
}

/** The tap of the own column that a tap along z is kept as. */
export function columnTap({ offset: [, , z] }: Tap): Tap {
  return tap(0, 0, z);
}

function findSums(update: Update): TorreSums | undefined {
  const expression = onlyExpression(update);
  const isCross = tapsOf(update).filter(isOfField)
    .every(({ offset: [x, y, z] }) => z === 0 || (x === 0 && y === 0));
  if (expression === undefined || isCross) return undefined;
  const kept: Kept[] = [];
  const enter = (of: Expression): number => {
    const index = keptIndex({ kept }, of, [0, 0, 0]);
    if (index >= 0) return index;
    const isColumn = staysInColumn(of);
    const made = isColumn ? { values: [[0, 0] as const], kept: [] } : readsOf(of);
    return kept.push({ of, isColumn, ...made, operations: operationsOf(of, isColumn) }) - 1;
  };
  /** Enters whatever the expression reads as well. */
  const readsOf = (whole: Expression): Reads => {
    const values: Step[] = [];
    const others: { index: number; step: Step }[] = [];
    visitTaps(whole, (tap) => {
      const { offset: [x, y, z] } = tap;
      if (!isOfField(tap)) return;
      if (z !== 0) others.push({ index: enter(columnTap(tap)), step: [0, 0] });
      else values.push([x, y]);
    }, (of, offset) => {
      if (!canBeKept(of, offset)) return false;
      others.push({ index: enter(of), step: [offset[0], offset[1]] });
      return true;
    });
    return { values, kept: others };
  };
  const cell = { ...readsOf(expression), operations: operationsOf(expression, false) };
  return { kept, cell };
}

/** Whether the expression reads cells of its own column only, and not only its own. */
function staysInColumn(of: Expression): boolean {
  const taps = tapsIn([of]);
  return taps.every(({ offset: [x, y] }) => x === 0 && y === 0) &&
    taps.some(({ offset: [, , z] }) => z !== 0);
}

/** Sums, products and comparisons, without those of what is kept. */
function operationsOf(expression: Expression, isColumn: boolean): number {
  return fold<number>(expression, {
    ...OPERATION_COUNT,
    tap: () => 0,
    partial: (of, offset) => !isColumn && canBeKept(of, offset) ? 0 : undefined,
  });
}
