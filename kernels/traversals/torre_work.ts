/**
 * What a tier of a torre costs, counted from what its shader does.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { reachOf, readsPrevious, tapsOf } from "../update.ts";
import { placesIn, type TorreParameters, type TorreShape } from "./torre_shape.ts";
import { exchangedLanes, sumsOf } from "./torre_sums.ts";
import { mostAlive, needsOf } from "./torre_visit.ts";

/** Costs of a tier to a thread. */
export interface TierWork {
  /** Places that are put into workgroup memory. */
  readonly exchanged: number;
  /** Loads from memory and stores to it, an element of `zPerThread` cells each. */
  readonly moved: number;
  /** Reads and writes of workgroup memory, an element or one of its cells each. */
  readonly exchanges: number;
  /** Elements alive at once. */
  readonly alive: number;
  /** Instructions, roughly. */
  readonly instructions: number;
  /** Operations in the shader's text: what its compilation takes. */
  readonly written: number;
}

/** The costs of a tier. */
export function workOf(
  { stencil: { update } }: Problem,
  { zPerThread, lookahead }: TorreParameters,
  { slope, width, cells, perChunk }: TorreShape,
): TierWork {
  const sums = sumsOf(update);
  const stores = cells - placesIn(width - 2 * slope);
  if (sums === undefined) {
    const needed = placesIn(width + 2 * slope);
    const taps = tapsOf(update).length;
    const moved = (needed - cells) + stores;
    return {
      exchanged: cells,
      moved,
      exchanges: cells * (1 + 2 * Math.ceil(reachOf(update).z / zPerThread)),
      alive: needed + (readsPrevious(update) ? cells : 0),
      instructions: cells * (zPerThread * taps + 2) + 2 * moved,
      written: cells * (taps + 6),
    };
  }
  const { loads, exchanged, kept } = needsOf(update, slope, width);
  const { reads, lanes } = exchangedLanes(sums, zPerThread);
  const moved = loads.length + stores;
  const exchanges = exchanged.length * (lanes.length + reads.length);
  const operations = cells * sums.cell.operations +
    kept.reduce((sum, places, index) => sum + places.length * sums.kept[index]!.operations, 0);
  return {
    exchanged: exchanged.length,
    moved,
    exchanges,
    alive: mostAlive(update, { slope, width, perChunk, lookahead }),
    instructions: zPerThread * operations + exchanges + 2 * moved,
    written: operations + exchanges + 2 * moved + 4 * cells, // cells are masked at the edges as well
  };
}
