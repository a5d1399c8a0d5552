/**
 * Coefficients of a cell in a torre of tiles in three dimensions: what an update makes of materials alone, or divides by these
 * and axis profiles. What it makes of profiles alone is a **factor**: `factors.ts`.
 *
 * A thread computes them once, where a cell enters the tile, and keeps them as it keeps F. A coefficient in a cell's place is
 * that of the cell S further along x, of which the next tier makes a value; with the tile it moves by S along each form,
 * through workgroup memory, the cells of a parity at a time. `materials.ts` says where materials are read.
 *
 * @module
 */
import { type Expression, fold, type ProfileTap, type Tap, tapsIn, TREE } from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import type { Grid } from "../../stencils/stencil.ts";
import { onlyExpression, type Update } from "../../update.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { type UpdateWriter, updateWriter } from "../../wgsl/write_update.ts";

/** The plane of a tap that stands for the first coefficient; others follow. */
export const COEFFICIENT = 1;

/** The plane of a tap that stands for a factor; x of its offset is the factor's number. */
export const FACTOR = -2;

interface Parts {
  readonly expression: Expression;
  readonly coefficients: readonly Expression[];
  readonly factors: readonly Expression[];
}

/** What an update of one field makes of its taps, coefficients and factors, and these. */
export const coefficientsOf: (update: Update) => Parts = remembered(
  (update) => {
    const coefficients: Expression[] = [], factors: Expression[] = [], known = new Map<string, Expression>();
    const isStill = (one: Expression): boolean =>
      one.kind === "tap" ? one.plane > 0 : one.kind !== "signal" &&
        ("operands" in one ? one.operands.every(isStill) : true);
    const isMade = (one: Expression): boolean =>
      one.kind === "tap" || ("operands" in one && one.operands.some(isMade));
    /** What takes less to compute again of a coefficient and a factor than to keep. */
    const isMixed = (one: Expression): boolean =>
      ["add", "subtract", "multiply"].includes(one.kind) && profilesIn(one).length > 0;
    const split = (one: Expression): Expression => {
      const isOfMaterials = isMade(one);
      const isKept = isOfMaterials ? !isMixed(one) : "operands" in one && profilesIn(one).length > 0;
      if (isStill(one) && isKept) {
        const key = JSON.stringify(one), found = known.get(key);
        if (found) return found;
        const place: Pick<Tap, "plane" | "offset"> = isOfMaterials
          ? { plane: COEFFICIENT - 1 + coefficients.push(one), offset: [0, 0, 0] }
          : { plane: FACTOR, offset: [factors.push(one) - 1, 0, 0] };
        known.set(key, { kind: "tap", ago: 0, ...place });
        return known.get(key)!;
      }
      return "operands" in one ? { ...one, operands: one.operands.map(split) } : one;
    };
    // functions stay one node: what they are made of, as a tree, has millions
    const expression = split(fold(onlyExpression(update)!, TREE));
    return { expression, coefficients, factors };
  },
);

/** The axis profiles that an expression reads. */
export function profilesIn(one: Expression): ProfileTap[] {
  return one.kind === "profile" ? [one] : "operands" in one ? one.operands.flatMap(profilesIn) : [];
}

/** The coefficients of an update are written with its expression's constants. */
export function writerOf(update: Update): UpdateWriter {
  const { expression, coefficients, factors } = coefficientsOf(update);
  return updateWriter([expression, ...coefficients, ...factors], update);
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
