/**
 * Whether an update is its own mirror image.
 *
 * @module
 */
import { type Axis, eachOperation, type Expression, fold, type Offset, tapKey } from "../expression.ts";
import { expressionsOf, type Update } from "../update.ts";

/** Whether an update's expressions, mirrored along an axis, are the same but for the order of what is added or multiplied. */
export function isMirrored(update: Update, axis: Axis): boolean {
  const write = (expression: Expression, side: -1 | 1): string =>
    fold<readonly string[]>(expression, {
      ...eachOperation<readonly string[]>((kind) => (...operands) => {
        if (kind === "add") return operands.flat().sort();
        const texts = operands.map((terms) => terms.join(" + "));
        return [`${kind}(${kind === "multiply" ? texts.sort() : texts})`];
      }),
      tap: (
        tap,
      ) => [tapKey({ ...tap, offset: tap.offset.with(axis, side * tap.offset[axis]!) as unknown as Offset })],
      profile: ({ profile, offset }) => [`profile ${profile} ${offset}`],
      constant: (value) => [`${value}`],
      signal: () => ["signal"],
    }).join(" + ");
  return expressionsOf(update).every((one) => write(one, 1) === write(one, -1));
}
