/**
 * Coefficients of a cell in a torre of tiles in three dimensions: what an update makes of materials alone, or divides by these
 * and axis profiles. What it makes of profiles alone each cell computes anew: `lean.ts`.
 *
 * A thread computes them once, where a cell enters the tile, and keeps them as it keeps F. A coefficient in a cell's place is
 * that of the cell S further along x, of which the next tier makes a value; with the tile it moves by S along each form,
 * through workgroup memory, the cells of a parity at a time. `materials.ts` says where materials are read.
 *
 * @module
 */
import { profilesOf } from "../../axis_profiles.ts";
import {
  constant,
  eachOperation,
  type Expression,
  fold,
  type Operation,
  type ProfileTap,
  type Tap,
  tapsIn,
  TREE,
} from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import type { Grid } from "../../stencils/stencil.ts";
import { onlyExpression, type Update } from "../../update.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { type UpdateWriter, updateWriter } from "../../wgsl/write_update.ts";

/** The plane of a tap that stands for the first coefficient; others follow. */
export const COEFFICIENT = 1;

interface Parts {
  readonly expression: Expression;
  /** The same where all profiles are what they mostly are. */
  readonly lean: Expression;
  readonly coefficients: readonly Expression[];
}

/** What an update of one field makes of its taps, profiles and coefficients, and these. */
export const coefficientsOf: (update: Update) => Parts = remembered(
  (update) => {
    const coefficients: Expression[] = [], known = new Map<string, Expression>();
    const isStill = (one: Expression): boolean =>
      one.kind === "tap" ? one.plane > 0 : one.kind !== "signal" &&
        ("operands" in one ? one.operands.every(isStill) : true);
    const isMade = (one: Expression): boolean =>
      one.kind === "tap" || ("operands" in one && one.operands.some(isMade));
    /** What takes less to compute again of a coefficient and profiles than to keep. */
    const isMixed = (one: Expression): boolean =>
      ["add", "subtract", "multiply"].includes(one.kind) && profilesIn(one).length > 0;
    const split = (one: Expression): Expression => {
      if (isStill(one) && isMade(one) && !isMixed(one)) {
        const key = JSON.stringify(one), found = known.get(key);
        if (found) return found;
        const plane = COEFFICIENT - 1 + coefficients.push(one);
        known.set(key, { kind: "tap", ago: 0, plane, offset: [0, 0, 0] });
        return known.get(key)!;
      }
      return "operands" in one ? { ...one, operands: one.operands.map(split) } : one;
    };
    // functions stay one node: what they are made of, as a tree, has millions
    const expression = split(fold(onlyExpression(update)!, TREE));
    const lean = fold(expression, {
      ...TREE,
      ...eachOperation<Expression>((kind) => (...operands) => simpler({ kind, operands })),
      profile: ({ profile }) => constant(usualOf(update, profile)),
    });
    return { expression, lean, coefficients };
  },
);

/** What a profile mostly is: the median of the eight values that stand for it, as 0 of absorbing edges. */
export function usualOf(update: Update, profile: number): number {
  return profilesOf(update)[profile]!.values[3]!;
}

/** An operation without what a 0 or 1 makes needless. */
function simpler(one: Extract<Expression, { kind: Operation }>): Expression {
  const { kind, operands: [left, right] } = one, isProduct = kind === "multiply", isSum = kind === "add";
  const is = (value: number, of = right): boolean => of?.kind === "constant" && of.value === value;
  if (isProduct && is(0)) return right!;
  if ((isProduct && is(1, left)) || (isSum && is(0, left))) return right!;
  const isAlone = isProduct || kind === "divide"
    ? is(1) || is(0, left)
    : (isSum || kind === "subtract") && is(0);
  return isAlone ? left! : one;
}

/** The axis profiles that an expression reads. */
export function profilesIn(one: Expression): ProfileTap[] {
  return one.kind === "profile" ? [one] : "operands" in one ? one.operands.flatMap(profilesIn) : [];
}

/** The coefficients of an update are written with its expressions' constants. */
export function writerOf(update: Update): UpdateWriter {
  const { expression, lean, coefficients } = coefficientsOf(update);
  return updateWriter([expression, ...coefficients, lean], update);
}

/** What all coefficients read of materials, once for each that reads it. */
export function materialTaps(update: Update): { readonly coefficient: number; readonly tap: Tap }[] {
  return coefficientsOf(update).coefficients.flatMap((one, coefficient) =>
    tapsIn([one]).map((tap) => ({ coefficient, tap }))
  );
}

/** How lines find a coefficient in a cell: names of what was loaded of materials, and the cell's indices. */
interface CoefficientPlace {
  readonly prefix: string;
  readonly cell: readonly [x: string, y: string, z: string];
  material(tap: Tap): string;
}

/** The lines, and the text of the value, of a coefficient in a cell. */
export function writeCoefficient(
  { write }: UpdateWriter,
  { update, grid }: { readonly update: Update; readonly grid: Grid },
  coefficient: Expression,
  { prefix, cell, material }: CoefficientPlace,
) {
  const profile = profileAccess(update, grid).read(cell);
  const { lines, values } = write({ prefix, tap: material, profile }, [coefficient]);
  return { lines, value: values[0]! };
}
