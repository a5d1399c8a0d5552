/**
 * How plans have the problems that users give: x × y of two dimensions as x × 1 × y; and a single layer, x × y × 1, with y
 * and z turned, so that rows are long, else it would run at a seventeenth of the speed. Dense values are the same.
 *
 * @module
 */
import { type Axis, constant, type Expression, fold, type FormulaWord, TREE } from "./expression.ts";
import type { Layout } from "./layout.ts";
import { type PrecisionName, precisionOf } from "./precision.ts";
import { remembered } from "./remembered.ts";
import { withPlaneWaves } from "./stencils/plane_waves.ts";
import {
  type Boundaries,
  edgesAlong,
  type Grid,
  innerOf,
  type OpenProblem,
  type OwnBoundaries,
  ownBoundary,
  planned,
  type Problem,
  type Stencil,
} from "./stencils/stencil.ts";
import { type Material, type Update, withValues } from "./update.ts";
import { withWalls } from "./walls.ts";

/** Steps of a run in which its beginning and its end hardly count. */
const LONG_RUN = 3072;

/** A problem as plans have it, with long runs where it names no steps; one that already is stays as it is. */
export function plannedProblem(given: OpenProblem): Problem {
  const asked = withEdgesAround(withEquation(given)), { stencil, grid, inner, steps = LONG_RUN } = asked;
  const { dimensions, original, surface } = stencil, boundary = asked.boundary as OwnBoundaries;
  if (original !== undefined) return { ...asked, steps } as Problem;
  const isFlat = dimensions !== 2 && grid[1] > 1 && grid[2] === 1 && surface === undefined;
  const oriented = isFlat ? turned(stencil) : stencil;
  const along = typeof boundary === "string" ? boundary : planned(oriented, boundary, boundary[0]);
  const its = inner && { low: planned(oriented, inner.low, 0), size: planned(oriented, inner.size, 1) };
  const cells = { grid: planned(oriented, grid, 1), ...(its && { inner: its }) };
  return { ...asked, stencil: oriented, ...cells, boundary: along, steps };
}

/** A problem whose grid has the edges, where they lie around it. */
function withEdgesAround({ edges, ...given }: OpenProblem): OpenProblem {
  if (edges !== "around" || given.inner) return given;
  const size = planned(given.stencil, given.grid, 1), ends = edgesAlong(given.stencil);
  const grid = size.map((n, axis) => n + ends[axis]![0] + ends[axis]![1]) as unknown as Grid;
  return { ...given, grid, inner: { low: ends.map(([low]) => low) as unknown as Grid, size } };
}

/** A problem whose precision and walls, if it has any, are part of its equation. */
export function withEquation(given: OpenProblem): OpenProblem {
  const { stencil, precision = stencil.update.precision } = given;
  return withWalls({ ...given, stencil: inPrecision(stencil, precision) });
}

/** A stencil whose update has the precision, and its constants what they are in it. */
export const inPrecision = remembered((stencil: Stencil, precision: PrecisionName = "f32"): Stencil => {
  const { update } = stencil;
  if (precisionOf(update).name === precision) return stencil;
  const again = (of: Expression): Expression =>
    fold<Expression>(of, {
      ...TREE,
      constant: (value, exact) => constant(exact ?? value),
      partial: (of, offset) => ({ kind: "partial", of: again(of), offset }),
    });
  const whole = { ...stencil, update: { ...remade(update, again), precision } };
  return stencil.planeWave ? withPlaneWaves(whole) : whole;
});

/** An update of which all expressions are made of its own. */
function remade(update: Update, made: (of: Expression) => Expression): Update {
  const { substeps, materials, profiles, sources, signal } = update;
  const placed = <T extends Material>(material: T): T =>
    material.formula ? { ...material, formula: made(material.formula) } : material;
  return {
    ...update,
    substeps: substeps.map((substep) => withValues(substep, made)),
    materials: materials.map(placed),
    ...(profiles && { profiles: profiles.map(placed) }),
    ...(signal && { signal: made(signal) }),
    ...(sources && { sources: sources.map((one) => ({ ...one, into: withValues(one.into, made) })) }),
  };
}

/** A problem whose y and z are those of its user, and whose grid has no edges around it. */
export function usersProblem(problem: Problem): Problem {
  const { inner, ...others } = problem;
  const own: Problem = inner ? { ...others, grid: inner.size, edges: "around" } : problem;
  const { stencil: { original }, grid: [x, z, y] } = own;
  return original
    ? { ...own, stencil: original, grid: [x, y, z], boundary: ownBoundary(own) as Boundaries }
    : own;
}

/** Where a user finds cells in a plan's arrays. */
export function usersLayout({ stencil: { original }, inner }: Problem, given: Layout): Layout {
  const { low: [lx, ly, lz], size: grid } = innerOf({ ...given, ...(inner && { inner }) });
  const { slice, pitch, pad } = given, origin = given.origin + lx * slice + ly * pitch + lz;
  const layout: Layout = { ...given, grid, pad: [pad[0] + lx, pad[1] + ly, pad[2] + lz], origin };
  const { grid: [x, , y], pad: [px, pz, py] } = layout;
  return original ? { ...layout, grid: [x, y, 1], pad: [px, py, pz], pitch: 1 } : layout;
}

/** What becomes of y and z. */
const AXES = [0, 2, 1] as const, WORDS: Partial<Record<FormulaWord, FormulaWord>> = { y: "z", z: "y" };

/** A stencil of which y and z change places. */
export const turned = remembered((original: Stencil): Stencil => {
  const turn = (of: Expression): Expression =>
    fold<Expression>(of, {
      ...TREE,
      tap: ({ offset: [x, y, z], ...tap }) => ({ ...tap, offset: [x, z, y] }),
      profile: (tap) => ({ ...tap, axis: AXES[tap.axis] }),
      formula: (name, operands) => ({ kind: "formula", name: WORDS[name] ?? name, operands }),
      partial: (of, [x, y, z]) => ({ kind: "partial", of: turn(of), offset: [x, z, y] }),
    });
  const update = remade(original.update, turn), { profiles, layers } = update;
  const along = <T extends { readonly axis: Axis }>(one: T): T => ({ ...one, axis: AXES[one.axis] });
  const placed = {
    ...(profiles && { profiles: profiles.map(along) }),
    ...(layers && { layers: layers.map(along) }),
  };
  return { ...original, original, update: { ...update, ...placed } };
});
