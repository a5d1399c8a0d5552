/**
 * Marches of several steps in one pass over memory, as generated temporal blocking does (AN5D: Matsumura et al., CGO
 * 2020): the steps are sub-steps of one update, of which only the last one's values are stored.
 *
 * @module
 */
import { type Axis, eachOperation, type Expression, fold, type Offset, tapKey } from "../expression.ts";
import { AMONG_ZEROS, type Capabilities, capabilities, EXCEPT_INSULATED } from "../capability.ts";
import { remembered } from "../remembered.ts";
import { BOUNDARIES, type Grid, type Problem } from "../stencils/stencil.ts";
import { expressionsOf, onlyExpression, type Update } from "../update.ts";
import { powersOfTwo } from "./workgroup_limits.ts";

const REPLACED = "several steps go in one pass only where no neighbour needs what a march replaces";
const ONE_FIELD = "several steps go in one pass only of one field in one sub-step";

/** What several steps in one pass can do: of what a march can, less; more in two dimensions. */
export function deepOf({ grid: [, ny], stencil: { update } }: Pick<Problem, "grid" | "stencil">): {
  readonly capabilities: Capabilities;
} {
  return { capabilities: ny === 1 ? planeOf(update) : DEEP };
}

const CANNOT = {
  boundary:
    "several steps go in one pass only among zeros, in two dimensions also of periodic grids and, where the " +
    "equation is its own mirror image, insulated ones",
  fields: ONE_FIELD,
  "sub-steps": ONE_FIELD,
  signal: "several steps go in one pass only without a signal",
  "previous-neighbours": REPLACED,
  "early-sources": ONE_FIELD,
};
const CAN = [
  "window",
  "dimensions",
  "volume",
  "grid",
  "profiles",
  "previous",
  "diagonal-taps",
  "slanted-taps",
  "sideways-taps",
  "reach",
  "shared-sub-steps",
  "early-fields",
  "points",
] as const;
const DEEP = capabilities(CAN, {
  ...CANNOT,
  materials: "several steps go in one pass only without materials, or in two dimensions",
}, { boundaries: AMONG_ZEROS, where: { previous: { cannot: { previous: REPLACED } } } });

/** In two dimensions: what lies beyond insulated ends is computed, and so must be what it is an image of. */
const planeOf = remembered((update: Update): Capabilities => {
  const along = (axis: Axis) => isMirrored(update, axis) ? BOUNDARIES : EXCEPT_INSULATED;
  const profiled = { boundary: "several steps in one pass know profiles no further than the grid" };
  return capabilities([...CAN, "materials"], CANNOT, {
    boundaries: [along(0), BOUNDARIES, along(2)],
    where: { profiles: { boundaries: AMONG_ZEROS, cannot: profiled } },
  });
});

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

/** Steps of a pass to try: many in two dimensions, where a thread's column has no neighbours but those along z. */
export function depthsOf([, ny]: Grid): readonly number[] {
  return ny === 1 ? [1, 2, 3, 4, 6, 8, 10, 12, 16] : [1, 2];
}

/** Pieces of a march in two dimensions: where most gain, in quarters of an octave, so that some fill whole rounds of a GPU. */
export function piecesOf(most: number): number[] {
  const between = (n: number) => n < 16 || n > 64 ? [n] : [n, 1.25 * n, 1.5 * n, 1.75 * n];
  return powersOfTwo(1, most).flatMap(between).filter((n) => n <= most);
}

/** Threads that cover z in a whole number of workgroups, with the rim of a thread of so many cells. */
export function rimmedThreads(nz: number, rimOf: (cells: number) => number): number[] {
  const counts = [4, 2].flatMap((cells) => {
    const rim = rimOf(cells);
    return rim === 0 ? [] : [1, 2, 4, 8].map((n) => Math.ceil(nz / cells / n) + rim);
  });
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
    // a material
    if (expression.plane > 0) return expression;
    const before = index - expression.ago;
    return { ...expression, ...(before === 0 ? { plane: 0, ago: 0 } : { plane: before, ago: -1 }) };
  }
  if (expression.kind === "partial") return { ...expression, of: ofComputed(expression.of, index) };
  if (!("operands" in expression)) return expression;
  return { ...expression, operands: expression.operands.map((one) => ofComputed(one, index)) };
}
