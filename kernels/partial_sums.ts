/**
 * Which partial sums of an expression can be found once and kept for all cells that tap them.
 *
 * @module
 */
import { type Expression, type Offset, type Tap, tapsIn } from "./expression.ts";
import { remembered } from "./remembered.ts";

/**
 * Whether a partial sum is computed once and kept: it reads its own slice, around its own column, and sums that earlier slices
 * have left there, but not F(t − 1).
 */
export function isKept(of: Expression, [, y, z]: Offset): boolean {
  return y === 0 && z === 0 && tapsIn([of]).every(({ ago }) => ago !== 1) &&
    tapsIn([of], isCarried).every(({ offset: [x] }) => x === 0);
}

/** Whether a partial sum within another has been found when the march was in an earlier slice. */
export function isCarried(of: Expression, offset: Offset): boolean {
  return offset[0] < 0 && isKept(of, offset);
}

/** Whether a tap reads F(t): what else an update reads, of F(t − 1) or of materials, is the place's own or in memory. */
export function isOfField({ ago, plane }: Tap): boolean {
  return ago === 0 && plane === 0;
}

/** Taps of F off the axes along z that lie in no partial sum which could be kept. */
export const strayTaps: (expression: Expression) => readonly Tap[] = remembered((expression: Expression) =>
  tapsIn([expression], canBeKept).filter(({ plane, offset: [x, y, z] }) =>
    plane === 0 && z !== 0 && (x !== 0 || y !== 0)
  )
);

/** Whether a partial sum can be kept: one of the place itself, of F(t) alone, and served itself. */
export function canBeKept(of: Expression, [, , z]: Offset): boolean {
  return z === 0 && tapsIn([of]).every(isOfField) && strayTaps(of).length === 0;
}
