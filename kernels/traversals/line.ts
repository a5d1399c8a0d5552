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
import {
  type Capabilities,
  capabilities,
  type NeedyProblem,
  type Refusal,
  refusalOf,
  WITHOUT_ZERO_ENDS,
  wrongParameters,
} from "../capability.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { remembered } from "../remembered.ts";
import { type Assignment, tapsOf, type Update } from "../update.ts";
import { type Layout, layOut } from "../layout.ts";
import { COMMON, type ParameterWords } from "./parameter.ts";
import { planesOf, reachOf } from "../update.ts";

/** A tap as seen from the row that is made: points along z, and how many rows earlier the value was made. */
type RowTap = Readonly<Record<"offset" | "back", number>>;

/** What sweeping an update takes. */
interface LineShape {
  /** S: rows a step. */
  readonly substeps: number;
  /** r: points that a row loses at each end. */
  readonly reach: number;
  /** Points beyond a row's own that taps read: those of rows further back may lie further out than r. */
  readonly pad: number;
  /** E: outermost points of a row that its neighbours need. */
  readonly edge: number;
  /** R: rows to keep, where a row overwrites one that only its own points still read. */
  readonly rows: number;
}

/** What none of a line's traversals can do. */
const OFF_LINES = {
  window: "lines do not pass through a window",
  dimensions: "it sweeps one dimension, 1x1xN",
  volume: "it sweeps one dimension, 1x1xN",
  grid: "a line must be longer than its taps reach",
  boundary: "ends of a line must be insulated or periodic",
  "sideways-taps": "it sweeps one dimension",
  points: "lines have neither sources nor receivers",
  "early-sources": "lines have no sources",
} as const;

/** What a GPU's workgroup and thread have of a line, in words. */
export const LINE_PARAMETERS = {
  threads: COMMON.threads,
  points: ["Points per thread", "points of the line that a thread computes", { unit: "point" }],
} as const satisfies ParameterWords;

/** What a line's traversals can do, one step at a time. */
export const LINE: Capabilities = capabilities(
  [
    "fields whole-fields sub-steps materials profiles signal previous-neighbours previous diagonal-taps",
    "slanted-taps reach shared-sub-steps early-fields",
  ],
  OFF_LINES,
  { boundaries: WITHOUT_ZERO_ENDS },
);

const PLAIN_ROWS = "rows of materials, profiles or signals are not swept";

/** What the swept rule can do, of what a line's traversals can. */
export const SWEEP: Capabilities = capabilities(
  ["fields whole-fields sub-steps diagonal-taps slanted-taps reach"],
  {
    ...OFF_LINES,
    materials: PLAIN_ROWS,
    profiles: PLAIN_ROWS,
    signal: PLAIN_ROWS,
    "previous-neighbours": "only a step's own rows are kept",
    previous: "only a step's own rows are kept",
    "shared-sub-steps": "every sub-step must make one field, and every field once",
    "early-fields": "only what a step makes last is kept for the next",
  },
  { boundaries: WITHOUT_ZERO_ENDS },
);

/** Whether a problem can be swept. */
export function canSweep(problem: NeedyProblem): boolean {
  return refusalOf({ capabilities: SWEEP }, problem) === undefined;
}

/** Whether the ends of a line are insulated; else they are periodic. */
export function hasInsulatedEnds({ boundary }: Pick<Problem, "boundary">): boolean {
  return alongAxes(boundary)[2] === "insulated";
}

export function rowTap(update: Update, index: number, { plane, ago, offset: [, , offset] }: Tap): RowTap {
  const maker = update.substeps.findIndex((substep) => substep[0]?.field === plane);
  return { offset, back: index - maker + (ago === 0 ? update.substeps.length : 0) };
}

/** What sub-step `index` of a swept update makes; negative indices count from the last. */
export function madeBy(update: Update, index: number): Assignment {
  return update.substeps.at(index)![0]!;
}

/** The shape of an update that can be swept. */
export const lineShape: (update: Update) => LineShape = remembered(findShape);

function findShape(update: Update): LineShape {
  const taps = update.substeps.flatMap((substep, index) =>
    tapsOf(substep).map((tap) => rowTap(update, index, tap))
  );
  const largest = (value: (tap: RowTap) => number): number => Math.max(...taps.map(value));
  const reach = Math.max(1, largest(({ offset, back }) => Math.ceil(Math.abs(offset) / back)));
  const pad = Math.max(reach, largest(({ offset }) => Math.abs(offset)));
  const edge = Math.max(2 * reach, largest(({ offset, back }) => reach * back + Math.abs(offset)));
  const rows = largest(({ offset, back }) => offset === 0 ? back : back + 1);
  return {
    substeps: update.substeps.length,
    reach,
    pad,
    edge,
    rows: Math.max(2, rows, Math.ceil(edge / reach)),
  };
}

/** Why a line cannot be cut into nodes that are `pitch` points apart; names the nearest lengths that can. */
export function refusePoints(points: number, pitch: number): Refusal | undefined {
  if (points % pitch === 0) return undefined;
  const below = Math.floor(points / pitch) * pitch;
  const nearest = below === 0 ? `length is ${pitch}` : `lengths are ${below} and ${below + pitch}`;
  return wrongParameters(`${points} points do not divide into nodes of ${pitch}: the nearest ${nearest}`);
}

/** A line with pads, which these traversals do not read. */
export function lineLayout({ grid, stencil: { update } }: NeedyProblem): Layout {
  return layOut(grid, {
    precision: update.precision,
    pad: [0, 0, reachOf(update).z],
    planes: planesOf(update),
    fields: update.fields.length,
  });
}

/** A name for the neighbour at an offset: `left1`, `right2`. */
export function sideOf(offset: number): string {
  return offset < 0 ? `left${-offset}` : `right${offset}`;
}
