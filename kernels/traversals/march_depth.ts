/**
 * Marches of several steps in one pass over memory, as generated temporal blocking does (AN5D: Matsumura et al., CGO
 * 2020): the steps are sub-steps of one update, of which only the last one's values are stored.
 *
 * @module
 */
import type { Expression } from "../expression.ts";
import { AMONG_ZEROS, type Capabilities, capabilities, WITHOUT_INSULATED } from "../capability.ts";
import { remembered } from "../remembered.ts";
import type { Grid } from "../stencils/stencil.ts";
import { onlyExpression, type Update } from "../update.ts";

const REPLACED = "several steps go in one pass only where no neighbour needs what a march replaces";
const ONE_FIELD = "several steps go in one pass only of one field in one sub-step";

/** What several steps in one pass can do: of what a march can, less; more in two dimensions. */
export function deepOf([, ny]: Grid): { readonly capabilities: Capabilities } {
  return ny === 1 ? DEEP_PLANE : DEEP;
}

const DEEP_CAPABILITIES = capabilities(
  [
    "window",
    "dimensions",
    "grid",
    "profiles",
    "previous",
    "diagonal-taps",
    "slanted-taps",
    "sideways-taps",
    "reach",
    "shared-sub-steps",
    "early-fields",
  ],
  {
    boundary: "several steps go in one pass only among zeros, in two dimensions also of periodic grids",
    fields: ONE_FIELD,
    "sub-steps": ONE_FIELD,
    materials: "several steps go in one pass only without materials",
    signal: "several steps go in one pass only without a signal",
    "previous-neighbours": REPLACED,
    points: "several steps go in one pass only without sources and receivers",
    "early-sources": ONE_FIELD,
  },
  { boundaries: AMONG_ZEROS },
);
const DEEP = {
  capabilities: { ...DEEP_CAPABILITIES, where: { previous: { cannot: { previous: REPLACED } } } },
};
const DEEP_PLANE = {
  capabilities: {
    ...DEEP_CAPABILITIES,
    boundaries: WITHOUT_INSULATED,
    where: {
      previous: {
        boundaries: AMONG_ZEROS,
        cannot: { boundary: "several steps that read t − 1 go in one pass only among zeros" },
      },
    },
  },
};

/** Steps of a pass to try: many in two dimensions, where a thread's column has no neighbours but those along z. */
export function depthsOf([, ny]: Grid): readonly number[] {
  return ny === 1 ? [1, 2, 3, 4, 6, 8, 10, 12, 16] : [1, 2];
}

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

/** The expression of a later sub-step, with taps of what the one before it has made, and the one before that. */
function ofComputed(expression: Expression, index: number): Expression {
  if (expression.kind === "tap") {
    const before = index - expression.ago;
    return { ...expression, ...(before === 0 ? { plane: 0, ago: 0 } : { plane: before, ago: -1 }) };
  }
  if (expression.kind === "partial") return { ...expression, of: ofComputed(expression.of, index) };
  if (!("operands" in expression)) return expression;
  return { ...expression, operands: expression.operands.map((one) => ofComputed(one, index)) };
}
