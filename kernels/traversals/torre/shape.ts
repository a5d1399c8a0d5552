/**
 * The sizes of a torre, and the places of its tiles: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import { type Layout, layOut } from "../../layout.ts";
import { precisionOf } from "../../precision.ts";
import { remembered } from "../../remembered.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { planesOf, reachOf, readsPrevious, tapsOf, type Update } from "../../update.ts";
import { sumsOf } from "./sums.ts";
import type { Axes, ParametersOf } from "../traversal.ts";
import { COMMON, type ParameterWords } from "../parameter.ts";
import { type Place, placesIn, shifted, square, tilesOf, type TorreTiles } from "../tiles.ts";

/** What the parameters mean. */
export const TORRE_PARAMETERS = {
  dts: [...COMMON.tile, { role: "tile" }],
  nt: [...COMMON.steps, { unit: "step", role: "ordering", isMost: true }],
  bands: [...COMMON.bands, { unit: "band", role: "ordering", isLater: true }],
  zPerThread: [...COMMON.cells, { unit: "cell" }],
  threads: COMMON.threads,
  chunk: ["Chunk", "cells that a thread exchanges between two barriers", { unit: "cell", role: "writing" }],
  unroll: ["Unrolled", "time steps written out in the loop's body", { unit: "step", role: "writing" }],
  rest: ["Values at rest", "where values wait that are loaded early and needed late", {
    values: { 0: "in registers", 1: "some in workgroup memory" },
    role: "writing",
    axis: "lookahead",
    isLater: true,
  }],
  loads: ["Loads", "how early values are loaded; earlier hides the wait and takes registers", {
    values: {
      "when needed": "with the chunk that reads them",
      "1 chunk ahead": "a chunk earlier",
      "2 chunks ahead": "two chunks earlier",
      "tier start": "at the start of a step",
      "tier ahead": "a step ahead",
    },
    role: "writing",
    axis: "lookahead",
  }],
  packed: [COMMON.packed[0], COMMON.packed[1], { ...COMMON.packed[2], axis: "materials" }],
  held: ["Materials", "how a torre gets the values of materials", {
    values: { 0: "read again at every step", 1: "held in registers" },
    axis: "materials",
    isLater: true,
  }],
} as const satisfies ParameterWords;

export type TorreParameters =
  & ParametersOf<Exclude<keyof typeof TORRE_PARAMETERS, "loads">>
  & { readonly loads: Loads };

type Loads = keyof (typeof TORRE_PARAMETERS)["loads"][2]["values"];

/** Chunks by which loads come before what reads them. */
export const CHUNKS_AHEAD: Readonly<Record<Loads, number>> = {
  "when needed": 0,
  "1 chunk ahead": 1,
  "2 chunks ahead": 2,
  "tier start": Infinity,
  "tier ahead": Infinity,
};

/** Where loads lie along the axis `lookahead`; with values at rest two further. */
const LOOKAHEAD: Readonly<Record<Loads, number>> = { ...CHUNKS_AHEAD, "tier start": 99, "tier ahead": 100 };

/** `loads` and `rest` are one axis, `packed` and `held` another. */
export const TORRE_AXES: Axes = {
  coordinates: ({ loads, rest = 0, packed, held, ...others }) => ({
    ...others,
    ...(loads !== undefined && { lookahead: LOOKAHEAD[loads] + 2 * rest }),
    ...((packed ?? held) !== undefined && { materials: 2 * (packed ?? 0) + (held ?? 0) }),
  }),
  parameters({ lookahead: found, materials, ...others }) {
    const rest = found === 2 + LOOKAHEAD["tier start"] ? 1 : 0;
    const known = Object.entries(LOOKAHEAD).find(([, place]) => place + 2 * rest === found);
    return {
      ...others,
      ...(found !== undefined && { rest, loads: known?.[0] ?? `${found} chunks ahead` }),
      ...(materials !== undefined && { packed: materials >> 1, held: materials & 1 }),
    };
  },
} satisfies Axes<TorreParameters>;

/**
 * Values that rest at most, each for all threads: with chunks of 4 they fill the 48 KiB of workgroup memory that most
 * GPUs have where a row has 512 cells, the longest that fits one workgroup's registers at 128 for each cell.
 */
const MOST_RESTING = 15;

/** Everything about a torre that follows from the problem and the parameters. */
export interface TorreShape extends TorreTiles {
  /** Of a field in a tile. */
  readonly cells: number;
  /** Places whose values are put into workgroup memory between two barriers. */
  readonly perChunk: number;
  /** Threads of a slot and, at each end, those of the rim that stay zero. */
  readonly slotLength: number;
  readonly rim: number;
  /** Places of values that rest in workgroup memory, not in registers, until the tier needs them. */
  readonly resting: readonly Place[];
  readonly layout: Layout;
}

export function shapeOf(
  { stencil, grid }: Problem,
  { dts, zPerThread, threads, chunk, unroll, rest }: Omit<TorreParameters, "loads" | "packed" | "held">,
  inLayers?: { readonly owners: ReadonlyMap<number, number> },
): TorreShape {
  const { update } = stencil, reach = reachOf(update), tiles = tilesOf(update, dts);
  const { slope, width, spread, margin } = tiles;
  const rim = Math.ceil(reach.z / zPerThread);
  const alongX = width + spread[0] + slope * unroll + margin; // tiers widened to whole rounds, and what they load ahead
  const lanes = threads * zPerThread;
  const perChunk = update.fields.length > 1
    ? Math.max(chunk, mostColumns(update))
    : Math.min(chunk, placesIn(width + (sumsOf(update) === undefined ? 0 : 2 * slope)));
  return {
    ...tiles,
    cells: placesIn(width),
    perChunk,
    slotLength: threads + 2 * rim,
    rim,
    resting: rest === 1 && (unroll > 1 || readsPrevious(update)) ? restingIn(tiles, perChunk) : [],
    layout: layOut(grid, {
      precision: update.precision,
      pad: [alongX, width + spread[1] + margin, Math.max(reach.z, lanes - grid[2])],
      align: 32,
      sharedPads: true,
      planes: planesOf(update),
      fields: update.fields.length,
      layered: inLayers?.owners.size ?? 0,
    }),
  };
}

/** Columns that a place's fields read along z in one sub-step, at most: a chunk holds as many. */
const mostColumns = remembered(({ fields, substeps }: Update) =>
  Math.max(
    ...substeps.map((substep) => {
      const columns = tapsOf(substep).filter(({ plane, offset }) => plane < fields.length && offset[2] !== 0);
      return new Set(columns.map(({ plane, ago, offset: [x, y] }) => `${plane} ${ago} ${x} ${y}`)).size;
    }),
  )
);

/** Bytes of workgroup memory: a chunk in each of two halves, and what rests. */
export function exchangeBytes(
  { perChunk, slotLength, resting, layout }: TorreShape,
  { zPerThread }: TorreParameters,
): number {
  return precisionOf(layout).bytes * zPerThread * (2 * perChunk + resting.length) * slotLength;
}

/**
 * Which values rest: those whose column is exchanged, so that neighbours read them where they lie, in a chunk before the
 * one that puts the next tier's value there. The first of these rest longest. With one tier in the loop's body the row is
 * that of the column S cells further along x: the next tier reads F(t − 1) of the place there before it puts F(t).
 */
const restingIn = remembered(({ slope, width }: TorreTiles, perChunk: number): Place[] => {
  const visited = square(0, width);
  const chunkOf = new Map(visited.map((place, i) => [`${place}`, Math.floor(i / perChunk)]));
  return visited.filter((place) => {
    const next = chunkOf.get(`${shifted(place, slope, 0)}`);
    return next !== undefined && chunkOf.get(`${place}`)! < next;
  }).slice(0, MOST_RESTING);
});
