/**
 * The order in which a tier visits its places: chunk by chunk, what is loaded, exchanged and computed.
 *
 * Where a cell needs no more than its own column, the cells themselves are the places that are exchanged, and they are
 * visited by growing max(a, b), so that those that wait for loads come last. Where sums are kept, every place that a
 * cell taps is exchanged, by growing x: a slice's sums are then complete soon, and few are alive at once, as in a
 * march along x.
 *
 * @module
 */
import { remembered } from "../remembered.ts";
import { readsPrevious, tapsOf, type Update } from "../update.ts";
import { isOfField, type Reads, type Step, sumsOf, type TorreSums } from "./torre_sums.ts";
import { alongX, type Place, shifted, square, type TorreShape } from "./torre_shape.ts";

export interface KeptPlace {
  /** Which of the update's. */
  readonly index: number;
  readonly place: Place;
}

/** What lies between two barriers, and the loads before it. */
export interface Chunk {
  readonly loads: readonly Place[];
  /** Places whose resting values are needed from here on. */
  readonly woken: readonly Place[];
  /** Places whose values are put into workgroup memory. */
  readonly exchanged: readonly Place[];
  /** Values to keep that are complete with these, each after those that it is made of. */
  readonly kept: readonly KeptPlace[];
  /** Cells of the tile that can be computed then. */
  readonly cells: readonly Place[];
}

/** Sizes that a visit depends on; `lookahead`: chunks by which a load precedes its first use. */
type VisitShape = Pick<TorreShape, "slope" | "width" | "perChunk" | "resting"> & {
  readonly lookahead: number;
};

export interface TierNeeds {
  /** Values of F, sorted as they are visited, that the last tier did not leave in registers. */
  readonly loads: readonly Place[];
  readonly exchanged: readonly Place[];
  /** The places where each kept value is needed. */
  readonly kept: readonly (readonly Place[])[];
}

/** The places that a tile needs anything of. */
export const needsOf: (update: Update, slope: number, width: number) => TierNeeds = remembered(findNeeds);

function findNeeds(update: Update, slope: number, width: number): TierNeeds {
  const sums = sumsOf(update);
  const tile = square(0, width);
  const isLoaded = ([a, b]: Place): boolean => a >= width - slope || b >= width - slope;
  if (sums === undefined) {
    return { loads: square(-slope, width + slope).filter(isLoaded), exchanged: tile, kept: [] };
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
    loads: [...values.values()].sort(alongX).filter(isLoaded),
    exchanged: [...exchanged.values()].sort(alongX),
    kept: kept.map((places) => [...places.values()].sort(alongX)),
  };
}

export function visitTier(update: Update, shape: VisitShape): Chunk[] {
  const { slope, width, perChunk, resting, lookahead } = shape;
  const sums = sumsOf(update);
  const needs = needsOf(update, slope, width);
  const { exchanged } = needs;
  const chunks = Array.from({ length: Math.ceil(exchanged.length / perChunk) }, (_, i) => {
    const places = exchanged.slice(i * perChunk, (i + 1) * perChunk);
    return { exchanged: places, kept: [] as readonly KeptPlace[], cells: places };
  });
  if (sums !== undefined) completeWithSums(chunks, { sums, needs, tile: square(0, width).sort(alongX) });
  /** The first chunk that reads a value. */
  const readers = new Map<string, number>();
  chunks.forEach(({ exchanged: places, kept, cells }, index) => {
    const read = (step: Step, place: Place): void => {
      const key = `${shifted(place, ...step)}`;
      if (!readers.has(key)) readers.set(key, index);
    };
    for (const place of places) read([0, 0], place);
    for (const { index: which, place } of kept) {
      for (const step of sums!.kept[which]!.values) read(step, place);
    }
    const taps = sums?.cell.values ??
      tapsOf(update).filter(isOfField).map(({ offset: [x, y] }): Step => [x, y]);
    for (const place of cells) for (const step of taps) read(step, place);
  });
  return chunks.map((chunk, index) => ({
    ...chunk,
    woken: resting.filter((place) => readers.get(`${place}`) === index),
    loads: needs.loads.filter((place) => {
      const reader = readers.get(`${place}`) ?? chunks.length - 1; // where none: the next tier's G
      return Math.max(0, reader - lookahead) === index;
    }),
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
    waiting = waiting.filter((one) => {
      if (!isReady(sums.kept[one.index]!, one.place)) return true;
      found.add(`${one.index} ${one.place}`);
      complete.push(one);
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
