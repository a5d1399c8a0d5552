/**
 * Marches of several steps in one pass over memory, as generated temporal blocking does (AN5D: Matsumura et al., CGO
 * 2020): the steps are sub-steps of one update, of which only the last one's values are stored.
 *
 * @module
 */
import { type Axis, type Expression, fold, TREE } from "../../expression.ts";
import { AMONG_ZEROS, type Capabilities, capabilities, EXCEPT_INSULATED } from "../../capability.ts";
import { remembered } from "../../remembered.ts";
import { BOUNDARIES, type Problem } from "../../stencils/stencil.ts";
import { isMirrored, type Update } from "../../update.ts";
import { powersOfTwo } from "../workgroup_limits.ts";

const REPLACED = "several steps go in one pass only where no neighbour needs what a march replaces";
const ONE_FIELD = "in three dimensions several steps go in one pass only of one field in one sub-step";
const FIELDS_ONCE =
  "several steps go in one pass only where each makes every field once, and none lies in layers";

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
  signal: "several steps go in one pass only without a signal",
  "previous-neighbours": REPLACED,
};
const CAN = [
  "window dimensions volume grid profiles previous diagonal-taps slanted-taps sideways-taps",
  "reach shared-sub-steps early-fields points",
] as const;
const DEEP = capabilities(CAN, {
  ...CANNOT,
  fields: ONE_FIELD,
  "whole-fields": ONE_FIELD,
  "sub-steps": ONE_FIELD,
  "early-sources": ONE_FIELD,
  materials: "several steps go in one pass only without materials, or in two dimensions",
}, { boundaries: AMONG_ZEROS, where: { previous: { cannot: { previous: REPLACED } } } });

/** In two dimensions: what lies beyond insulated ends is computed, and so must be what it is an image of. */
const planeOf = remembered((update: Update): Capabilities => {
  const along = (axis: Axis) => isMirrored(update, axis) ? BOUNDARIES : EXCEPT_INSULATED;
  const profiled = { boundary: "several steps in one pass know profiles no further than the grid" };
  const made = update.substeps.flat().map(({ field }) => field);
  const isOnce = made.length === update.fields.length && new Set(made).size === made.length;
  return capabilities([...CAN, "materials fields whole-fields sub-steps early-sources"], CANNOT, {
    boundaries: [along(0), BOUNDARIES, along(2)],
    where: {
      profiles: { boundaries: AMONG_ZEROS, cannot: profiled },
      fields: {
        cannot: isOnce && update.layers === undefined ? { previous: REPLACED } : { fields: FIELDS_ONCE },
      },
    },
  });
});

/**
 * Steps of a pass to try: many in two dimensions, where a thread's column has no neighbours but those along z; of many fields
 * fewer, as registers hold all of them.
 */
export function depthsOf(
  { grid: [, ny], stencil: { update: { fields } } }: Pick<Problem, "grid" | "stencil">,
): readonly number[] {
  return ny === 1
    ? [1, 2, 3, 4, 6, 8, 10, 12, 16].filter((depth) => depth * fields.length <= MOST_PLANES)
    : [1, 2];
}

/** Planes of all steps of a pass. */
const MOST_PLANES = 32;

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

/**
 * Several steps as the sub-steps of one: only the last one's values are the fields', and planes beyond them those of the
 * steps before.
 */
export const repeated: (update: Update, times: number) => Update = remembered((update, times) => {
  if (times === 1) return update;
  const { length } = update.fields;
  /** The plane of what a step makes of a field. */
  const placeOf = (field: number, step: number): number => ((step + 1) % times) * length + field;
  /** The expression of a step, with taps of what the one before it has made, and the one before that. */
  const ofStep = (expression: Expression, step: number): Expression =>
    fold<Expression>(expression, {
      ...TREE,
      tap(tap) {
        const { plane, ago } = tap, of = step - 1 - ago;
        // a material
        if (ago >= 0 && plane >= length) return tap;
        // before the first step
        if (of < 0) return { ...tap, ago: of === -1 ? 0 : 1 };
        return { ...tap, plane: placeOf(plane, of), ago: -1 };
      },
      partial: (of, offset) => ({ kind: "partial", of: ofStep(of, step), offset }),
    });
  const substeps = Array.from(
    { length: times },
    (_, step) =>
      update.substeps.map((substep) =>
        substep.map(({ field, value }) => ({ field: placeOf(field, step), value: ofStep(value, step) }))
      ),
  ).flat();
  return { ...update, substeps };
});
