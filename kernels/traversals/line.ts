/**
 * Problems in one dimension as rows of points in time, for the swept rule (Alhubail, Wang, "The swept rule for
 * breaking the latency barrier in time advancing PDEs", J. Comput. Phys. 2016; Magee, Niemeyer, cited in
 * `stencils/ks.ts`).
 *
 * Each sub-step makes one **row** of points: row s = S·step + sub-step, with S sub-steps a step. A tap reads a point
 * at an offset, `back` rows earlier. The **reach** r is the smallest slope of a cone that holds all taps:
 * |offset| ≤ r · back. Without its neighbours a node of W points can make W/2r rows, each shorter by r at both ends.
 * To continue from there, its neighbours need the outermost E points of each row: its **edges**.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import { alongAxes, type Problem, type Stencil } from "../stencils/stencil.ts";
import { remembered } from "../remembered.ts";
import { type Assignment, reachOf, readsPrevious, readsSignal, tapsOf, type Update } from "../update.ts";

export type LineProblem = Pick<Problem, "grid" | "boundary"> & { readonly stencil: Pick<Stencil, "update"> };

/** A tap as seen from the row that is made: points along z, and how many rows earlier the value was made. */
type RowTap = Readonly<Record<"offset" | "back", number>>;

/** What sweeping an update takes. */
interface LineShape {
  /** S: rows a step. */
  readonly substeps: number;
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** E: outermost points of a row that its neighbours need. */
  readonly edge: number;
  /** R: rows to keep, where a row overwrites one that only its own points still read. */
  readonly rows: number;
}

/** Why a problem is not a line with insulated or periodic ends; undefined if it is. */
export function refuseLine(
  { grid: [nx, ny, nz], boundary, stencil: { update } }: LineProblem,
): string | undefined {
  if (nx !== 1 || ny !== 1) return "it sweeps one dimension: the grid must be 1x1xN";
  const { z: reach } = reachOf(update);
  if (nz <= reach) return `a line must be longer than its taps reach, ${reach} points: it has ${nz}`;
  if (alongAxes(boundary)[2] === "zero") return "ends must be insulated or periodic: the boundary is zero";
  if (tapsOf(update).some(({ offset: [x, y] }) => x !== 0 || y !== 0)) return "a tap is not on the line";
}

/** Whether the ends of a line are insulated; else they are periodic. */
export function hasInsulatedEnds({ boundary }: Pick<Problem, "boundary">): boolean {
  return alongAxes(boundary)[2] === "insulated";
}

/** Why a problem cannot be swept; undefined if it can. */
export function refuseSweep(problem: LineProblem): string | undefined {
  const { update } = problem.stencil;
  const reason = refuseLine(problem);
  if (reason !== undefined) return reason;
  if (update.materials.length > 0 || readsSignal(update)) return "rows of materials or signals are not swept";
  if (readsPrevious(update)) return "a row two steps ago is read: only a step's own rows are kept";
  const made = update.substeps.flatMap((substep) => substep.map(({ field }) => field));
  if (made.length !== update.substeps.length || new Set(made).size !== update.fields.length) {
    return "every sub-step must make one field, and every field once";
  }
  const last = made.at(-1);
  const early = update.substeps.flatMap(tapsOf).find(({ plane, ago }) => ago === 0 && plane !== last);
  if (early !== undefined) {
    return `field ${update.fields[early.plane]} is read from the step before, but not made last`;
  }
}

export function rowTap(update: Update, index: number, { plane, ago, offset: [, , offset] }: Tap): RowTap {
  const maker = update.substeps.findIndex((substep) => substep[0]?.field === plane);
  return { offset, back: index - maker + (ago === 0 ? update.substeps.length : 0) };
}

/** What sub-step `index` of a swept update makes; negative indices count from the last. */
export function madeBy(update: Update, index: number): Assignment {
  return update.substeps.at(index)![0]!;
}

/** The shape of an update that {@linkcode refuseSweep} accepts. */
export const lineShape: (update: Update) => LineShape = remembered(findShape);

function findShape(update: Update): LineShape {
  const taps = update.substeps.flatMap((substep, index) =>
    tapsOf(substep).map((tap) => rowTap(update, index, tap))
  );
  const largest = (value: (tap: RowTap) => number): number => Math.max(...taps.map(value));
  const reach = Math.max(1, largest(({ offset, back }) => Math.ceil(Math.abs(offset) / back)));
  const edge = Math.max(2 * reach, largest(({ offset, back }) => reach * back + Math.abs(offset)));
  const rows = largest(({ offset, back }) => offset === 0 ? back : back + 1);
  return { substeps: update.substeps.length, reach, edge, rows: Math.max(2, rows, Math.ceil(edge / reach)) };
}

/** Why a line cannot be cut into nodes that are `pitch` points apart; names the nearest lengths that can. */
export function refusePoints(points: number, pitch: number): string | undefined {
  if (points % pitch === 0) return undefined;
  const below = Math.floor(points / pitch) * pitch;
  const nearest = below === 0 ? `length is ${pitch}` : `lengths are ${below} and ${below + pitch}`;
  return `${points} points do not divide into nodes of ${pitch}: the nearest ${nearest}`;
}
