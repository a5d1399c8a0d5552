import { constant, type Expression, fold, TREE } from "../../kernels/expression.ts";
import type { Update } from "../../kernels/update.ts";

/**
 * An update with other constants, as whole numbers that keep it exact.
 *
 * @param weights instead of its own, each once, in the order of their first appearance; or what becomes of each
 */
export function reweighted(
  update: Update,
  weights: readonly number[] | ((weight: number) => number),
): Update {
  const own: number[] = [];
  const weightOf = (value: number): number => {
    if (typeof weights === "function") return weights(value);
    if (!own.includes(value)) own.push(value);
    return weights[own.indexOf(value)]!;
  };
  const again = (value: Expression): Expression =>
    fold<Expression>(value, {
      ...TREE,
      constant: (value) => constant(weightOf(value)),
      partial: (of, offset) => ({ kind: "partial", of: again(of), offset }),
    });
  return {
    ...update,
    substeps: update.substeps.map((substep) =>
      substep.map(({ field, value }) => ({ field, value: again(value) }))
    ),
  };
}
