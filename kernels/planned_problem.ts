/**
 * How plans have the problems that users give: x × y of two dimensions as x × 1 × y; and a single layer, x × y × 1, with y
 * and z turned, so that rows are long, else it would run at a seventeenth of the speed. Dense values are the same.
 *
 * @module
 */
import { constant, type Expression, fold, type FormulaWord, TREE } from "./expression.ts";
import type { Layout } from "./layout.ts";
import { type PrecisionName, precisionOf } from "./precision.ts";
import { remembered } from "./remembered.ts";
import { withPlaneWaves } from "./stencils/plane_waves.ts";
import {
  type Boundaries,
  type OpenProblem,
  type OwnBoundaries,
  ownBoundary,
  planned,
  type Problem,
  type Stencil,
} from "./stencils/stencil.ts";
import type { Material, Substep } from "./update.ts";
import { withWalls } from "./walls.ts";

/** Steps of a run in which its beginning and its end hardly count. */
const LONG_RUN = 3072;

/** A problem as plans have it, with long runs where it names no steps; one that already is stays as it is. */
export function plannedProblem(given: OpenProblem): Problem {
  const asked = withEquation(given), { stencil, grid, steps = LONG_RUN } = asked;
  const { dimensions, original, surface } = stencil, boundary = asked.boundary as OwnBoundaries;
  if (original !== undefined) return { ...asked, steps } as Problem;
  const isFlat = dimensions !== 2 && grid[1] > 1 && grid[2] === 1 && surface === undefined;
  const oriented = isFlat ? turned(stencil) : stencil;
  const along = typeof boundary === "string" ? boundary : planned(oriented, boundary, boundary[0]);
  return { ...asked, stencil: oriented, grid: planned(oriented, grid, 1), boundary: along, steps };
}

/** A problem whose precision and walls, if it has any, are part of its equation. */
export function withEquation(given: OpenProblem): OpenProblem {
  const { stencil, precision = stencil.update.precision } = given;
  return withWalls({ ...given, stencil: inPrecision(stencil, precision) });
}

/** A stencil whose update has the precision, and its constants what they are in it. */
export const inPrecision = remembered((stencil: Stencil, precision: PrecisionName = "f32"): Stencil => {
  const { update, update: { materials, profiles, sources, signal } } = stencil;
  if (precisionOf(update).name === precision) return stencil;
  const again = (of: Expression): Expression =>
    fold<Expression>(of, {
      ...TREE,
      constant: (value, exact) => constant(exact ?? value),
      partial: (of, offset) => ({ kind: "partial", of: again(of), offset }),
    });
  const all = (values: Substep): Substep => values.map((value) => ({ ...value, value: again(value.value) }));
  const placed = <T extends Material>(material: T): T =>
    material.formula ? { ...material, formula: again(material.formula) } : material;
  const made = {
    ...update,
    precision,
    substeps: update.substeps.map(all),
    materials: materials.map(placed),
    ...(profiles && { profiles: profiles.map(placed) }),
    ...(signal && { signal: again(signal) }),
    ...(sources && { sources: sources.map((source) => ({ ...source, into: all(source.into) })) }),
  };
  const whole = { ...stencil, update: made };
  return stencil.planeWave ? withPlaneWaves(whole) : whole;
});

/** A problem whose y and z are those of its user. */
export function usersProblem(problem: Problem): Problem {
  const { stencil: { original }, grid: [x, z, y] } = problem;
  return original
    ? { ...problem, stencil: original, grid: [x, y, z], boundary: ownBoundary(problem) as Boundaries }
    : problem;
}

/** Where a user finds cells in a plan's arrays. */
export function usersLayout({ stencil: { original } }: Problem, layout: Layout): Layout {
  const { grid: [x, , y], pad: [px, pz, py] } = layout;
  return original ? { ...layout, grid: [x, y, 1], pad: [px, py, pz], pitch: 1 } : layout;
}

/** What becomes of y and z. */
const AXES = [0, 2, 1] as const, WORDS: Partial<Record<FormulaWord, FormulaWord>> = { y: "z", z: "y" };

/** A stencil of which y and z change places. */
export const turned = remembered((original: Stencil): Stencil => {
  const { update, update: { substeps, materials, profiles, sources, layers } } = original;
  const turn = (of: Expression): Expression =>
    fold<Expression>(of, {
      ...TREE,
      tap: ({ offset: [x, y, z], ...tap }) => ({ ...tap, offset: [x, z, y] }),
      profile: (tap) => ({ ...tap, axis: AXES[tap.axis] }),
      formula: (name, operands) => ({ kind: "formula", name: WORDS[name] ?? name, operands }),
      partial: (of, [x, y, z]) => ({ kind: "partial", of: turn(of), offset: [x, z, y] }),
    });
  const all = (values: Substep): Substep => values.map((value) => ({ ...value, value: turn(value.value) }));
  const placed = <T extends Material>(material: T): T =>
    material.formula ? { ...material, formula: turn(material.formula) } : material;
  const made = {
    substeps: substeps.map(all),
    materials: materials.map(placed),
    ...(profiles && { profiles: profiles.map((profile) => ({ ...profile, axis: AXES[profile.axis] })) }),
    ...(layers && { layers: layers.map((layer) => ({ ...layer, axis: AXES[layer.axis] })) }),
    ...(sources && { sources: sources.map((source) => ({ ...source, into: all(source.into) })) }),
  };
  return { ...original, original, update: { ...update, ...made } };
});
