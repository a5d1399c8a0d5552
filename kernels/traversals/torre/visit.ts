/**
 * The order in which a tier visits its places: chunk by chunk, what is loaded, exchanged and computed.
 *
 * Where a cell needs no more than its own column, the cells themselves are the places that are exchanged, and they are
 * visited by growing max(a, b), so that those that wait for loads come last. Where sums are kept, every place that a
 * cell taps is exchanged, by growing x: a slice's sums are then complete soon, and few are alive at once, as in a
 * march along x.
 *
 * Several fields are visited sub-step by sub-step, each by growing max(a, b). A chunk exchanges the columns that its cells
 * read along z, whatever lies in between: each is in registers.
 *
 * @module
 */
import { type Ago, type Tap, tapsIn } from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import { type Assignment, readsPrevious, type Substep, type Update } from "../../update.ts";
import { type Reads, type Step, sumsOf, type TorreSums } from "./sums.ts";
import {
  alongX,
  byDepth,
  keyAt,
  type Place,
  shifted,
  square,
  tileOf,
  tilesOf,
  type TorreTiles,
} from "../tiles.ts";
import type { TorreShape } from "./shape.ts";

/** A value of a field at a place of a tier: of the step before (`ago` 0), or made in this one (−1). */
export interface Value {
  readonly field: number;
  readonly ago: Ago;
  readonly place: Place;
}

/** A number that two values share exactly if they are the same. */
export function valueKey({ field, ago, place }: Value): number {
  return keyAt(place, 3 * field + ago + 1);
}

/** The value that the cell at a place taps, in its own column. */
export function tapped({ plane, ago, offset: [x, y] }: Tap, place: Place): Value {
  return { field: plane, ago, place: shifted(place, x, y) };
}

/** Where a value lies in the tier before; what this tier makes is what the next finds. */
export function onward({ field, place }: Value, slope: number): Value {
  return { field, ago: -1, place: shifted(place, slope, 0) };
}

/** What a sub-step makes of the fields whose tiles have a place. */
export interface Cell {
  readonly place: Place;
  readonly made: Substep;
}

/** The cells of a sub-step, as they are visited. */
export const cellsOf: (update: Update, dts: number, substep: number) => readonly Cell[] = remembered(
  (update, dts, substep) => {
    const tiles = tilesOf(update, dts);
    const all = update.substeps[substep]!.flatMap((assignment) =>
      tileOf(tiles, assignment.field).map((place) => ({ assignment, place }))
    );
    const together = Map.groupBy(all, ({ place }) => keyAt(place));
    return [...together.values()].map((placed) => ({
      place: placed[0]!.place,
      made: placed.map(({ assignment }) => assignment),
    }))
      .sort((p, q) => byDepth(p.place, q.place));
  },
);

export interface KeptPlace {
  /** Which of the update's. */
  readonly index: number;
  readonly place: Place;
}

/** What lies between two barriers, and the loads before it. */
export interface Chunk {
  readonly substep: number;
  readonly loads: readonly Value[];
  /** Places whose resting values are needed from here on. */
  readonly woken: readonly Place[];
  /** Values that are put into workgroup memory. */
  readonly exchanged: readonly Value[];
  /** Values to keep that are complete with these, each after those that it is made of. */
  readonly kept: readonly KeptPlace[];
  /** Cells of the tile that can be computed then. */
  readonly cells: readonly Cell[];
}

/** Sizes that a visit depends on; `lookahead`: chunks by which a load precedes its first use. */
type VisitShape = Pick<TorreShape, "perChunk" | "resting"> & TorreTiles & { readonly lookahead: number };

export interface TierNeeds {
  /** What registers hold when a tier begins: what it needs, and the last tier has made or loaded. */
  readonly carried: readonly Value[];
  /** Values, sorted as they are visited, that the last tier did not leave in registers. */
  readonly loads: readonly Value[];
  /** New values that torres at the left load, and those that the next tier does not hold. */
  readonly stored: readonly Value[];
  /** Of one field, the places whose columns are exchanged. */
  readonly exchanged: readonly Place[];
  /** The places where each kept value is needed. */
  readonly kept: readonly (readonly Place[])[];
}

/** What a tile needs of anything, and leaves behind. */
export const needsOf: (update: Update, dts: number) => TierNeeds = remembered((update, dts) => {
  const tiles = tilesOf(update, dts);
  return update.fields.length > 1 ? findNeedsOfFields(update, tiles) : findNeeds(update, tiles);
});

function findNeeds(update: Update, { slope, width }: TorreTiles): TierNeeds {
  const sums = sumsOf(update);
  const tile = square(0, width);
  const isLoaded = ([a, b]: Place): boolean => a >= width - slope || b >= width - slope;
  const common = {
    carried: square(-slope, width - slope).map((place) => ofField(place)),
    stored: tile.filter(([a, b]) => a < 2 * slope || b < 2 * slope).map((place) => ofField(place, -1)),
  };
  if (sums === undefined) {
    const loads = square(-slope, width + slope).filter(isLoaded).map((place) => ofField(place));
    return { ...common, loads, exchanged: tile, kept: [] };
  }
  const values = new Map<string, Place>();
  const kept = sums.kept.map(() => new Map<string, Place>());
  const need = (reads: Reads, place: Place): void => {
    for (const step of reads.values) enter(values, step, place);
    for (const { index, step } of reads.kept) enter(kept[index]!, step, place);
  };
  for (const place of tile) need(sums.cell, place);
  for (const [index, places] of [...kept.entries()].reverse()) {
    for (const place of places.values()) need(sums.kept[index]!, place);
  }
  const columns = kept.filter((_, index) => sums.kept[index]!.isColumn);
  const exchanged = new Map(columns.flatMap((places) => [...places]));
  if (readsPrevious(update)) {
    for (const place of square(slope, width + slope)) values.set(`${place}`, place);
  }
  return {
    ...common,
    loads: [...values.values()].sort(alongX).filter(isLoaded).map((place) => ofField(place)),
    exchanged: [...exchanged.values()].sort(alongX),
    kept: kept.map((places) => [...places.values()].sort(alongX)),
  };
}

function findNeedsOfFields(update: Update, tiles: TorreTiles): TierNeeds {
  const { slope, width, corners } = tiles;
  const cells = [...update.substeps.keys()].flatMap((substep) => cellsOf(update, tiles.dts, substep));
  const read = new Map(
    cells.flatMap((cell) => readsOf(update, cell)).map((value) => [valueKey(value), value]),
  );
  /** Whether a value lies in its field's tile, at least this far from the low ends of u and v. */
  const isWithin = ({ field, place }: Value, least: number): boolean => {
    const corner = corners[field]!, a = place[0] - corner[0], b = place[1] - corner[1];
    return a >= least && b >= least && a < width && b < width;
  };
  const isMade = (value: Value): boolean => isWithin(value, 0);
  const isHeld = (value: Value): boolean => {
    const before = onward(value, slope);
    return isMade(before) || read.has(valueKey(before));
  };
  /** Whether this tier reads a new value, or the next one does. */
  const isRead = (field: number, place: Place): boolean =>
    read.has(valueKey({ field, ago: -1, place })) || isCarried(field, place);
  const isCarried = (field: number, place: Place): boolean =>
    read.has(valueKey({ field, ago: 0, place: shifted(place, -slope, 0) }));
  /** Whether a torre at the left reads one of this torre. */
  const isLoaded = (field: number, [a, b]: Place): boolean =>
    isRead(field, [a + width, b]) || isRead(field, [a, b + width]) || isRead(field, [a + width, b + width]);
  const all = [...read.values()].sort((p, q) => byDepth(p.place, q.place) || p.field - q.field);
  const made = corners.flatMap((_, field) => tileOf(tiles, field).map((place) => ofField(place, -1, field)));
  return {
    carried: all.filter((value) => value.ago === 0 && isHeld(value)),
    loads: all.filter((value) => value.ago === 0 ? !isHeld(value) : !isMade(value)),
    stored: made.filter((value) =>
      !isWithin(value, slope) || !isCarried(value.field, value.place) ||
      isLoaded(value.field, value.place)
    ),
    exchanged: [],
    kept: [],
  };
}

function ofField(place: Place, ago: Ago = 0, field = 0): Value {
  return { field, ago, place };
}

/** What a new value taps of fields, but for F(t − 1). */
const fieldTaps = remembered(({ value }: Assignment, fields: number) =>
  tapsIn([value]).filter(({ plane, ago }) => plane < fields && ago !== 1)
);

/** The values that a cell taps of fields, but for F(t − 1). */
export function readsOf({ fields }: Update, cell: Cell): readonly Value[] {
  return readsIn(cell, fields.length);
}

const readsIn = remembered(({ place, made }: Cell, fields: number): readonly Value[] =>
  made.flatMap((assignment) => fieldTaps(assignment, fields)).map((tap) => tapped(tap, place))
);

type Visit = Omit<Chunk, "loads" | "woken">;

export function visitTier(update: Update, shape: VisitShape): Chunk[] {
  const { resting, lookahead } = shape, sums = sumsOf(update), needs = needsOf(update, shape.dts);
  const chunks = update.fields.length > 1 ? visitFields(update, shape) : visitField(update, shape);
  /** The first chunk that reads a value. */
  const readers = new Map<number, number>();
  chunks.forEach(({ exchanged, kept, cells }, index) => {
    const read = (value: Value): void => {
      const key = valueKey(value);
      if (!readers.has(key)) readers.set(key, index);
    };
    const readAt = ([x, y]: Step, place: Place): void => read(ofField(shifted(place, x, y)));
    for (const value of exchanged) read(value);
    for (const { index: which, place } of kept) {
      for (const step of sums!.kept[which]!.values) readAt(step, place);
    }
    for (const cell of cells) {
      if (sums === undefined) readsOf(update, cell).forEach(read);
      else for (const step of sums.cell.values) readAt(step, cell.place);
    }
  });
  const loads = Map.groupBy(needs.loads, (value) => {
    const reader = readers.get(valueKey(value)) ?? chunks.length - 1; // where none: the next tier's G
    return Math.max(0, reader - lookahead);
  });
  return chunks.map((chunk, index) => ({
    ...chunk,
    woken: resting.filter((place) => readers.get(valueKey(ofField(place))) === index),
    loads: loads.get(index) ?? [],
  }));
}

/** Chunks of several fields: a new one where the columns that its cells read would be too many. */
function visitFields(update: Update, { dts, perChunk }: VisitShape): Visit[] {
  return [...update.substeps.keys()].flatMap((substep) => {
    const chunks: { readonly exchanged: Map<number, Value>; readonly cells: Cell[] }[] = [];
    for (const cell of cellsOf(update, dts, substep)) {
      const columns = new Map(
        cell.made.flatMap((assignment) => fieldTaps(assignment, update.fields.length))
          .filter(({ offset }) => offset[2] !== 0).map((tap) => tapped(tap, cell.place))
          .map((value) => [valueKey(value), value] as const),
      );
      const last = chunks.at(-1);
      const added = [...columns].filter(([key]) => last?.exchanged.has(key) !== true);
      if (last === undefined || last.exchanged.size + added.length > perChunk) {
        chunks.push({ exchanged: columns, cells: [cell] });
      } else {
        for (const [key, value] of added) last.exchanged.set(key, value);
        last.cells.push(cell);
      }
    }
    return chunks.map((chunk) => ({ ...chunk, substep, exchanged: [...chunk.exchanged.values()], kept: [] }));
  });
}

/** Chunks of one field. */
function visitField(update: Update, { dts, width, perChunk }: VisitShape): Visit[] {
  const needs = needsOf(update, dts), { exchanged } = needs, sums = sumsOf(update);
  const chunks = Array.from({ length: Math.ceil(exchanged.length / perChunk) }, (_, i) => {
    const places = exchanged.slice(i * perChunk, (i + 1) * perChunk);
    return { exchanged: places, kept: [] as readonly KeptPlace[], cells: places };
  });
  if (sums !== undefined) completeWithSums(chunks, { sums, needs, tile: square(0, width).sort(alongX) });
  return chunks.map(({ exchanged, kept, cells }) => ({
    substep: 0,
    exchanged: exchanged.map((place) => ofField(place)),
    kept,
    cells: cells.map((place) => ({ place, made: update.substeps[0]! })),
  }));
}

/** Finds after which chunk each kept value and each cell has all that it needs. */
function completeWithSums(
  chunks: { exchanged: readonly Place[]; kept: readonly KeptPlace[]; cells: readonly Place[] }[],
  { sums, needs, tile }: { sums: TorreSums; needs: TierNeeds; tile: readonly Place[] },
): void {
  const isExchanged = new Set(needs.exchanged.map(String));
  const arrived = new Set<string>(), found = new Set<string>();
  const isReady = ({ values, kept }: Reads, place: Place): boolean =>
    values.every((step) => {
      const key = `${shifted(place, ...step)}`;
      return arrived.has(key) || !isExchanged.has(key);
    }) && kept.every(({ index, step }) => found.has(`${index} ${shifted(place, ...step)}`));
  let waiting = needs.kept.flatMap((places, index) => places.map((place): KeptPlace => ({ index, place })));
  let cells = tile;
  for (const chunk of chunks) {
    for (const place of chunk.exchanged) arrived.add(`${place}`);
    const complete: KeptPlace[] = [];
    waiting = waiting.filter((sum) => {
      if (!isReady(sums.kept[sum.index]!, sum.place)) return true;
      found.add(`${sum.index} ${sum.place}`);
      complete.push(sum);
      return false;
    });
    chunk.kept = complete;
    chunk.cells = cells.filter((place) => isReady(sums.cell, place));
    cells = cells.filter((place) => !isReady(sums.cell, place));
  }
}

function enter(places: Map<string, Place>, step: Step, from: Place): void {
  const place = shifted(from, ...step);
  places.set(`${place}`, place);
}
