/**
 * Problems in one dimension as the swept rule sees them (Alhubail, Wang, "The swept rule for breaking the latency
 * barrier in time advancing PDEs", J. Comput. Phys. 2016; Magee, Niemeyer, cited in `stencils/ks.ts`).
 *
 * A sub-step makes one **row** of points from rows before it: row s = S·step + sub-step, S sub-steps a step. A tap
 * reads `back` rows earlier at an offset. The **reach** r is the smallest slope of a cone that holds all taps,
 * |offset| ≤ r · back: without its neighbours a node of W points can make rows that shrink by r at each end, W/2r of
 * them. What its neighbours need of each row, to go on from there, are its outermost E points, the **edge**.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import type { Problem } from "../stencils/stencil.ts";
import { reachOf, readsPrevious, readsSignal, tapsOf, type Update } from "../update.ts";

/** A tap as a row sees it. */
export interface RowTap {
  /** Points along z. */
  readonly offset: number;
  /** Rows before the one that is made. */
  readonly back: number;
}

/** What may be a line. */
export interface Line extends Pick<Problem, "grid" | "boundary"> {
  readonly update: Update;
}

/** A problem as a line. */
export function asLine({ grid, boundary, stencil: { update } }: Problem): Line {
  return { grid, boundary, update };
}

/** What sweeping an update takes. */
export interface LineShape {
  /** S: rows a step. */
  readonly substeps: number;
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** E: outermost points of a row that a neighbour needs. */
  readonly edge: number;
  /** R: rows that must be kept, if a row may take the place of one that only its own points still read. */
  readonly rows: number;
}

/** Why a problem is no line of points between insulated or periodic ends; undefined where it is one. */
export function refuseLine({ grid: [nx, ny, nz], boundary, update }: Line): string | undefined {
  if (nx !== 1 || ny !== 1) return "it sweeps one dimension: the grid must be 1x1xN";
  const { z: reach } = reachOf(update);
  if (nz <= reach) return `a line must be longer than its taps reach, ${reach} points: it has ${nz}`;
  if (boundary !== "insulated" && boundary !== "periodic") {
    return `ends must be insulated or periodic: the boundary is ${boundary}`;
  }
  if (tapsOf(update).some(({ offset: [x, y] }) => x !== 0 || y !== 0)) {
    return "a tap lies off the line along z";
  }
}

/** Why an update's rows cannot be swept; undefined where they can. */
export function refuseSweep(line: Line): string | undefined {
  const { update } = line;
  const reason = refuseLine(line);
  if (reason !== undefined) return reason;
  if (update.materials.length > 0 || readsSignal(update)) return "rows of materials or signals are not swept";
  if (readsPrevious(update)) return "a row two steps ago is read: only a step's own rows are kept";
  const made = update.substeps.map((substep) => substep.map(({ field }) => field)).flat();
  if (made.length !== update.substeps.length || new Set(made).size !== update.fields.length) {
    return "every sub-step must make one field, and every field once";
  }
  const last = made.at(-1);
  const early = update.substeps.flatMap(tapsOf).find(({ plane, ago }) => ago === 0 && plane !== last);
  if (early !== undefined) {
    return `field ${update.fields[early.plane]} is read from the step before, but not made last`;
  }
}

/** How many rows before that of sub-step `index` a tap's value was made. */
export function rowTap(update: Update, index: number, { plane, ago, offset: [, , offset] }: Tap): RowTap {
  const maker = update.substeps.findIndex(([{ field }]) => field === plane);
  return { offset, back: index - maker + (ago === 0 ? update.substeps.length : 0) };
}

/** The shape of an update that {@linkcode refuseSweep} lets pass. */
export function lineShape(update: Update): LineShape {
  const taps = update.substeps.flatMap((substep, index) =>
    tapsOf(substep).map((tap) => rowTap(update, index, tap))
  );
  const largest = (value: (tap: RowTap) => number): number => Math.max(...taps.map(value));
  const reach = Math.max(1, largest(({ offset, back }) => Math.ceil(Math.abs(offset) / back)));
  const edge = Math.max(2 * reach, largest(({ offset, back }) => reach * back + Math.abs(offset)));
  const rows = largest(({ offset, back }) => offset === 0 ? back : back + 1);
  return {
    substeps: update.substeps.length,
    reach,
    edge,
    rows: Math.max(2, rows, Math.ceil(edge / reach)),
  };
}

/** Why a line of so many points cannot be cut into nodes; names the nearest numbers that can. */
export function refusePoints(points: number, node: number): string | undefined {
  if (points % node === 0) return undefined;
  const below = Math.floor(points / node) * node;
  const nearest = below === 0 ? `${node}` : `${below} and ${below + node}`;
  return `${points} points are no multiple of the node's ${node}: the nearest that are: ${nearest}`;
}
