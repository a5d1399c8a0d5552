/**
 * Marches of several steps in one pass over memory, as generated temporal blocking does (AN5D: Matsumura et al., CGO
 * 2020): the steps are sub-steps of one update, of which only the last one's values are stored.
 *
 * @module
 */
import type { Expression } from "../expression.ts";
import { AMONG_ZEROS, type Capabilities, capabilities } from "../capability.ts";
import { remembered } from "../remembered.ts";
import { onlyExpression, type Update } from "../update.ts";

const REPLACED = "several steps go in one pass only where no neighbour needs what a march replaces";
const ONE_FIELD = "several steps go in one pass only of one field in one sub-step";

/** What several steps in one pass can do: of what a march can, less. */
export const DEEP: { readonly capabilities: Capabilities } = {
  capabilities: capabilities(
    [
      "window",
      "dimensions",
      "grid",
      "profiles",
      "diagonal-taps",
      "slanted-taps",
      "sideways-taps",
      "reach",
      "shared-sub-steps",
      "early-fields",
    ],
    {
      boundary: "several steps go in one pass only among zeros",
      fields: ONE_FIELD,
      "sub-steps": ONE_FIELD,
      materials: "several steps go in one pass only without materials",
      signal: "several steps go in one pass only without a signal",
      "previous-neighbours": REPLACED,
      previous: REPLACED,
      points: "several steps go in one pass only without sources and receivers",
      "early-sources": ONE_FIELD,
    },
    { boundaries: AMONG_ZEROS },
  ),
};

/** Threads that cover z in a whole number of workgroups, each with one more at either end. */
export function rimmedThreads(nz: number): number[] {
  const counts = [4, 2].flatMap((cells) => [1, 2, 4, 8].map((n) => Math.ceil(nz / cells / n) + 2));
  return [...new Set(counts)];
}

/** Rows of threads that fill a workgroup: a rim costs the less the more there are. */
export function rowsOf(threadsZ: number): number[] {
  return [256, 512, 1024].map((threads) => Math.floor(threads / threadsZ));
}

/** Several steps as the sub-steps of one: only the last one's values are a field's. */
export const repeated: (update: Update, times: number) => Update = remembered((update, times) => {
  const value = onlyExpression(update);
  if (value === undefined || times === 1) return update;
  const substeps = Array.from({ length: times }, (_, i) => [
    { field: (i + 1) % times, value: i === 0 ? value : ofComputed(value, i) },
  ]);
  return { ...update, substeps };
});

/** The expression with taps of what a sub-step has made. */
function ofComputed(expression: Expression, plane: number): Expression {
  if (expression.kind === "tap") return { ...expression, plane, ago: -1 };
  if (expression.kind === "partial") return { ...expression, of: ofComputed(expression.of, plane) };
  if (!("operands" in expression)) return expression;
  return { ...expression, operands: expression.operands.map((one) => ofComputed(one, plane)) };
}
