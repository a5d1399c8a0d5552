/**
 * Axis profiles: materials that are functions of one axis alone, such as the damping of absorbing edges. All of an
 * update lie one after another in one piece of memory, of a few values more than the grid has cells along the axes.
 *
 * @module
 */
import { type Algebra, type Axis, type Expression, fold, type ProfileTap, TREE } from "./expression.ts";
import { hashCell, type PartStart, PLANE_SEED } from "./initial_field.ts";
import { evaluatorOf } from "./operations.ts";
import { type FloatArray, type Precise, precisionOf } from "./precision.ts";
import { remembered } from "./remembered.ts";
import { alongAxes, type Grid, imageOf, type Problem } from "./stencils/stencil.ts";
import { type AxisProfile, offsetOf, planesOf, profileTapsOf, stepReach, type Update } from "./update.ts";

/** Values by profile: of the grid's own cells along its axis. */
export type ProfileValues = readonly FloatArray<ArrayBuffer>[];

export function profilesOf({ profiles = [] }: Pick<Update, "profiles">): readonly AxisProfile[] {
  return profiles;
}

/** Eight values that stand for a formula's: of 256 cells the least, the largest, and what lies between. */
export function sampleProfile(formula: Expression): number[] {
  const n = 256, valueAt = evaluatorOf(formula);
  const sorted = Float32Array.from({ length: n }, (_, i) => valueAt({ i, n }) + 0).sort();
  return Array.from({ length: 8 }, (_, k) => sorted[Math.round(255 * k / 7)]!);
}

/** Where a field's cells lie in the whole grid, if they are a part. */
export type ProfilePlace = Pick<PartStart, "first" | "whole">;

/** What profiles start from, when they are tuned too: their formulas, or one of the eight values in each cell. */
export function initialProfiles(update: Update, grid: Grid, place: ProfilePlace = {}): ProfileValues {
  return profilesOf(update).map(({ axis, values, formula }, profile) => {
    if (formula !== undefined) {
      const n = (place.whole ?? grid)[axis], valueAt = evaluatorOf(formula);
      return fillProfile(axis, grid, { ...place, ...update }, (i) => valueAt({ i, n }));
    }
    const seed = Math.imul(profile + 1, PLANE_SEED);
    return fillProfile(axis, grid, { ...place, ...update }, (i) => values[hashCell([i, 0, 0], seed) >>> 29]!);
  });
}

/** The values of a function of the index along an axis of the whole grid. */
export function fillProfile(
  axis: Axis,
  grid: Grid,
  { first = [0, 0, 0], whole = grid, precision }: ProfilePlace & Precise,
  valueAt: (i: number) => number,
): ProfileValues[number] {
  const from = first[axis], n = whole[axis];
  const { Values } = precisionOf({ precision });
  return Values.from({ length: grid[axis] }, (_, i) => valueAt(imageOf(from + i, n, "periodic")!));
}

/** Every tap of a profile, in the sub-steps one after another. */
export const profileReads: (update: Update) => readonly ProfileTap[] = remembered(({ substeps }: Update) =>
  substeps.flatMap(profileTapsOf)
);

/** Values after a profile that a vector may read beyond it; the length of all is a multiple. */
const LANES = 4;

/**
 * Where profiles lie in their memory, each with as much beyond its ends as a whole step reaches: the index of each one's
 * cell 0, and the values of all.
 */
export function layProfiles(update: Update, grid: Grid): { starts: readonly number[]; length: number } {
  let length = 0;
  const starts = profilesOf(update).map(({ axis }) => {
    const pad = padOf(update, axis), start = length + pad;
    length = start + grid[axis] + pad + LANES;
    return start;
  });
  return { starts, length: LANES * Math.ceil(length / LANES) };
}

function padOf(update: Update, axis: Axis): number {
  const { x, y, z } = stepReach(update);
  return [x, y, z][axis]!;
}

/** The memory: values, and beyond the ends what the boundary says. */
export function packProfiles(
  update: Update,
  { grid, boundary }: Pick<Problem, "grid" | "boundary">,
  values: ProfileValues,
): FloatArray<ArrayBuffer> {
  const { starts, length } = layProfiles(update, grid), packed = new (precisionOf(update).Values)(length);
  profilesOf(update).forEach(({ axis }, profile) => {
    const n = grid[axis], pad = padOf(update, axis);
    for (let i = -pad; i < n + pad; i++) {
      const image = imageOf(i, n, alongAxes(boundary)[axis]);
      if (image !== undefined) packed[starts[profile]! + i] = values[profile]![image]!;
    }
  });
  return packed;
}

/** The same update with profiles as ordinary materials, behind the others. */
export const withoutProfiles: (update: Update) => Update = remembered((given: Update): Update => {
  const { profiles = [], ...update } = given, planes = planesOf(update);
  if (profiles.length === 0) return given;
  const replaced: Algebra<Expression> = {
    ...TREE,
    profile: ({ profile, ...offset }) => ({
      kind: "tap",
      offset: offsetOf(offset),
      ago: 0,
      plane: planes + profile,
    }),
  };
  return {
    ...update,
    materials: [...update.materials, ...profiles.map(({ name, values }) => ({ name, values }))],
    substeps: update.substeps.map((substep) =>
      substep.map(({ field, value }) => ({ field, value: fold(value, replaced) }))
    ),
  };
});
