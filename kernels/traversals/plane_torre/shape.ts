/**
 * The sizes of a torre in two dimensions, and what of its tile a thread holds: see `plane_torre.ts` for the geometry.
 *
 * @module
 */
import { constant, type Expression, fold, type Tap, TREE } from "../../expression.ts";
import { turned } from "../../planned_problem.ts";
import { remembered } from "../../remembered.ts";
import { alongAxes, type Boundary, type Grid, type Problem, type Stencil } from "../../stencils/stencil.ts";
import { reachOf, readsPrevious, tapsOf, type Update, withValues } from "../../update.ts";
import { wgsl } from "../../wgsl/template.ts";
import { stepwiseLayout } from "../step_shader.ts";
import { IN_ROWS, inTiles } from "./cell_places.ts";
import { torresInRow } from "../waves.ts";
import { type Place, tilesOf, type TorreTiles } from "../tiles.ts";
import { COMMON, type ParameterWords } from "../parameter.ts";
import type { ParametersOf } from "../traversal.ts";

/** Elements of a thread are two cells: a `line` of them along (1, 1), or `line` × `across` where `across` is not 0. */
/** What the parameters mean. */
export const PLANE_PARAMETERS = {
  dts: [...COMMON.tile, { role: "tile" }],
  nt: [...COMMON.steps, { unit: "step", role: "pass" }],
  bands: [...COMMON.bands, { unit: "band", role: "pass" }],
  line: [
    "Elements of a thread",
    "pairs of cells side by side along x, which a thread keeps in registers, in a line or along one side of a square",
    { unit: "element" },
  ],
  across: ["Elements across", "rows of elements that a thread keeps side by side", {
    unit: "row",
    values: { 0: "a line alone, along x" },
  }],
  tiles: ["Cells lie", "the order of cells in the device's memory", {
    values: { 0: "in rows", 1: "in diamond tiles along the Z curve" },
  }],
  farsh: ["From torre to torre", "how a torre gets what others have left for it", {
    values: { 0: "through the level", 1: "through FArSh, a buffer of its own" },
  }],
} as const satisfies ParameterWords;

export type PlaneParameters = ParametersOf<keyof typeof PLANE_PARAMETERS>;

/** The problem as torres have it, x × y × 1; rows of torres go on as far as a neighbour needs what one hands on. */
export function asPlane({ stencil, grid: [nx, , ny], ...problem }: Problem): Problem {
  const its = layerOf(stencil, alongAxes(problem.boundary)[1]);
  return { ...problem, stencil: its, grid: [nx, ny + tilesOf(its.update, 1).slope, 1] };
}

/** A stencil in the only layer of a grid: across it a tap reads the layer's own images, which a tile holds, or zeros. */
const layerOf = remembered((stencil: Stencil, boundary: Boundary): Stencil => {
  const its = turned(stencil), { substeps } = its.update;
  const tap = (one: Tap): Expression => one.offset[2] === 0 ? one : constant(0);
  const within = (value: Expression): Expression => fold<Expression>(value, { ...TREE, tap });
  if (boundary !== "zero" || reachOf(its.update).z === 0) return its;
  const made = substeps.map((substep) => withValues(substep, within));
  return { ...its, update: { ...its.update, substeps: made } };
});

/** What a thread holds of a tile, and where its cells' values lie in workgroup memory. */
export interface Piece {
  readonly threads: number;
  /** In local coordinates from the thread's own corner, by growing a: in this order they can be replaced. */
  readonly cells: readonly Place[];
  /** Lines go on at the tile's other end where they leave it. */
  readonly wraps: boolean;
  /** Of them those that other threads read, and values that it reads of others. */
  readonly shared: readonly number[];
  readonly read: number;
  /** `exchange[slot][place]`: slots, and places of each. */
  readonly slots: number;
  readonly places: number;
  /** Texts of the thread's corner, and of the functions that find the slot and the place of a, b in [0, W + 2S). */
  readonly corner: readonly [a: string, b: string];
  readonly functions: string;
  /** Slot of a cell of the tile from the thread's corner, and its place beyond the thread's own. */
  slotAt(place: Place): number;
  beyond(place: Place): number;
}

export type PlaneShape = ReturnType<typeof planeShape>;

/**
 * With ends that hold images the plane is larger than the grid: `beyond` either end of x and y it has as many cells as the
 * steps of a **round**, in which all bands run once, reach. A round begins with images there, and among zeros; what these
 * spoil does not come to the grid before the round ends.
 */
export function planeShape(problem: Problem, { dts, nt, bands, line, across, tiles }: PlaneParameters) {
  const { stencil, grid, steps } = problem, [x, layer, y] = alongAxes(problem.boundary);
  const along = [x, y] as const;
  const holdsImages = along.map((one) => one !== "zero"), isRounds = holdsImages.includes(true);
  const far = nt * bands * tilesOf(asPlane(problem).stencil.update, 1).slope;
  const beyond = holdsImages.map((one) => one ? far : 0) as [x: number, y: number];
  const shape = findShape(stencil, grid, layer, beyond, dts, line, across, tiles);
  const round = isRounds ? Math.min(steps, nt * bands) : steps;
  return { ...shape, along, isRounds, plane: { ...shape.plane, steps: round } };
}

/** What does not depend on a run. */
const findShape = remembered((
  stencil: Stencil,
  own: Grid,
  layer: Boundary,
  beyond: readonly [x: number, y: number],
  dts: number,
  line: number,
  across: number,
  tiles: number,
) => {
  const grid: Grid = [own[0] + 2 * beyond[0], 1, own[2] + 2 * beyond[1]];
  const problem: Problem = { stencil, grid, boundary: ["zero", layer, "zero"], steps: 1 };
  const canonical = stepwiseLayout({ ...problem, grid: own });
  const plane = asPlane(problem), { update } = plane.stencil, its = tilesOf(update, dts);
  const { slope, width } = its, layout = stepwiseLayout(problem), hasPrevious = readsPrevious(update);
  return {
    ...its,
    // cells of F(t − 1) lie as much further along x as those of F(t) move
    spread: [hasPrevious ? slope : 0, 0] as const,
    plane,
    layout,
    canonical,
    beyond,
    /** How many of the cells that it computes are the grid's. */
    ownShare: own[0] * own[2] / (grid[0] * grid[2]),
    piece: across === 0 ? lineOf(update, its, 2 * line) : patchOf(its, 2 * line, 2 * across),
    /** Values that a torre takes over at a tier from the one further along u, with the corner between; along v fewer. */
    edge: slope * (width + 2 * slope),
    front: 2 * slope * (width + slope),
    /** Torres of a row at most. */
    torres: torresInRow(plane, its, 0),
    places: tiles === 1 ? inTiles(layout, width, grid[0] - 1 - slope, beyond) : IN_ROWS,
    hasPrevious,
  };
});

/** Cells [0, P) × [0, Q): threads share the first 2S along either axis. */
function patchOf({ width, slope }: TorreTiles, p: number, q: number): Piece {
  const along = width / p, row = along + 1, cells: Place[] = [];
  for (let a = 0; a < p; a++) for (let b = a % 2; b < q; b += 2) cells.push([a, b]);
  const slotAt = ([a, b]: Place): number =>
    a % p < 2 * slope
      ? (b % q) * slope + (a % p >> 1)
      : slope * q + (a % p - 2 * slope) * slope + (b % q >> 1);
  return {
    threads: along * width / q,
    cells,
    wraps: false,
    shared: [...cells.keys()].filter((i) => cells[i]!.some((c) => c < 2 * slope)),
    read: (p + 2 * slope) * (q + 2 * slope) / 2 - cells.length,
    slots: slope * (p + q - 2 * slope),
    places: row * (width / q + 1),
    corner: [`thread % ${along} * ${p}`, `thread / ${along} * ${q}`],
    functions: wgsl`
      fn slotOf(a: i32, b: i32) -> i32 {
        let i = a % ${p}; let j = b % ${q};
        return select(${slope * q} + (i - ${2 * slope}) * S + (j >> 1), j * S + (i >> 1), i < ${2 * slope});
      }
      fn placeOf(a: i32, b: i32) -> i32 { return a / ${p} + b / ${q} * ${row}; }
    `,
    slotAt,
    beyond: ([a, b]) => Math.floor(a / p) + Math.floor(b / q) * row,
  };
}

/** Cells (i, i): threads share all of them. */
function lineOf(update: Update, { width, slope }: TorreTiles, length: number): Piece {
  const row = width / 2 + slope;
  return {
    threads: width * width / 2 / length,
    cells: Array.from({ length }, (_, i) => [i, i]),
    wraps: true,
    shared: Array.from({ length }, (_, i) => i),
    read: length * tapsOf(update).filter(({ offset }) => offset[1] !== 0).length,
    slots: length,
    places: Math.ceil((width + 2 * slope) / length) * row,
    corner: [`thread / (W / 2) * ${length}`, "thread % (W / 2) * 2"],
    functions: wgsl`
      fn slotOf(a: i32, b: i32) -> i32 { return a % ${length}; }
      fn placeOf(a: i32, b: i32) -> i32 { return a / ${length} * ${row} + (b >> 1); }
    `,
    slotAt: ([a]) => a % length,
    beyond: ([a, b]) => Math.floor(a / length) * row + (b >> 1),
  };
}
