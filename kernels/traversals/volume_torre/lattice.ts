/**
 * The lattice of diamond tiles in three dimensions, and what a torre has of it: see `volume_torre.ts` for the geometry.
 *
 * @module
 */
import type { Offset } from "../../expression.ts";
import { precisionOf } from "../../precision.ts";
import { remembered } from "../../remembered.ts";
import type { Grid } from "../../stencils/stencil.ts";
import { coefficientsOf } from "./coefficients.ts";
import { readsPrevious, tapsOf, type Update } from "../../update.ts";

/** Values along the forms a = x − y − z, b = x + y − z, c = x − y + z. */
export type Triple = readonly [a: number, b: number, c: number];

/** Bytes of workgroup memory that places are padded to fit into: what desktop GPUs offer at most. */
const USUAL_BYTES = 49_152;

/** Elements, of two cells each, that lanes of FArSh are padded to, so that each begins with a line of the cache. */
const LANE_ELEMENTS = 16;

export function formsOf([x, y, z]: Offset): Triple {
  return [x - y - z, x + y - z, x - y + z];
}

/** A cell's place along x, y, z from the tile's corner, of an element along the forms. */
export function cellOf([a, b, c]: Triple, parity: number): Offset {
  return [b + c + parity, b - a, c - a];
}

/** Of each parity of cells, how many elements along each form coefficients move from there in a tier. */
export function movesOf(slope: number): [even: number, odd: number] {
  return [slope + slope % 2 >> 1, slope - slope % 2 >> 1];
}

/** How many cells a tile must move along x each tier so that no tap reads what lies before it. */
export function slopeOf(update: Update): number {
  const taps = tapsOf(update).filter(({ plane }) => plane === 0);
  return Math.max(0, ...taps.flatMap(({ offset }) => formsOf(offset).map(Math.abs)));
}

/** The numbers from 0 to before n. */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** All triples below the bounds, the last form fastest. */
function triplesBelow([na, nb, nc]: Triple): Triple[] {
  return upTo(na).flatMap((a) => upTo(nb).flatMap((b) => upTo(nc).map((c): Triple => [a, b, c])));
}

/** A tile's edge in elements, its width along x and how far it moves a tier, in cells: what schedules ask of a piece. */
export type VolumeShape = ReturnType<typeof shapeOf>;

/** One object for all pieces that differ in patches and phases alone, by which others remember what they find. */
const shapeOf = remembered((update: Update, tile: number) => ({
  slope: slopeOf(update),
  width: 2 * tile,
  tile,
}));

export type VolumePiece = ReturnType<typeof pieceOf>;

/** What a workgroup's threads hold of a tile of `tile`³ elements, and where others find it in workgroup memory. */
export const pieceOf = remembered((
  update: Update,
  tile: number,
  patchA: number,
  patchB: number,
  patchC: number,
  phases: number,
) => {
  const patch: Triple = [patchA, patchB, patchC], shape = shapeOf(update, tile), { slope } = shape;
  const { bytes: valueBytes } = precisionOf(update);
  const far = tile + slope;
  const blocks = patch.map((own) => tile / own) as unknown as Triple;
  const threads = blocks[0] * blocks[1] * blocks[2], elements = triplesBelow(patch);
  const front = [slope * far * far, tile * slope * far, tile * tile * slope];
  const rounds = Math.ceil(sum(front) / threads);
  // only the first elements along any form are read by others
  const shared = elements.filter((element) => element.some((value) => value < slope));
  const places = placesOf(blocks, shared, slope, phases, valueBytes), { strides } = places;
  const { coefficients } = coefficientsOf(update),
    heldBytes = coefficients.length > 0 ? places.bytes * phases / 2 : 0;
  const passes = coefficients.length * movesOf(slope).filter((by) => by > 0).length;
  const isApart = heldBytes > 0 && (phases === 1 || places.bytes + heldBytes <= USUAL_BYTES);
  const slots = new Map(places.slots.flat().map((element, slot) => [`${element}`, slot]));
  const within = (element: Triple): Triple =>
    element.map((value, i) => value % patch[i]!) as unknown as Triple;
  return {
    ...shape,
    shape,
    phases,
    valueBytes,
    patch,
    blocks,
    threads,
    elements,
    shared,
    /** Two cells an element. */
    cells: 2 * elements.length,
    hasPrevious: readsPrevious(update),
    /** Elements of the front, [0, tile + slope)³ without the tile, by the first form along which they lie beyond it. */
    front,
    /** Rounds in which threads take over the front, an element each, and the threads that the last of them has. */
    rounds,
    rest: sum(front) - (rounds - 1) * threads,
    /** The directions that a round serves, each with its first thread. */
    directionsOf: (round: number): { direction: number; thread: number }[] =>
      front.flatMap((length, direction) => {
        const first = sum(front.slice(0, direction)) - round * threads;
        return first < threads && first + length > 0 ? { direction, thread: Math.max(0, first) } : [];
      }),
    strides,
    /** Slots and their places in each array of workgroup memory: the second's have none beyond the last thread along one form. */
    arrays: places.slots.map((slots, i) => ({ slots: slots.length, places: places.counts[i]! })),
    /** Bytes of workgroup memory; of two phases' a place has one cell, as cells of one parity take turns. */
    bytes: places.bytes + (isApart ? heldBytes : 0),
    /** Coefficients of a cell, and whether they move through memory of their own: else they take turns with F. */
    coefficients: coefficients.length,
    isApart,
    /** Times a tier that cells of a parity move, and how many of these need barriers of their own. */
    moves: passes,
    turns: Math.max(0, passes - (isApart ? phases : 0)),
    /** Of each parity of cells, the elements beyond the tile whose coefficients move into it. */
    entering: movesOf(slope).map((by) =>
      coefficients.length === 0
        ? []
        : triplesBelow([tile, tile, tile]).map((element) =>
          element.map((value) => value + by) as unknown as Triple
        )
          .filter((element) => element.some((value) => value >= tile))
    ),
    /** The slot of an element, and its place there from that of the thread whose patch begins at the tile's corner. */
    slotOf: (element: Triple): number => slots.get(`${within(element)}`)!,
    placeOf: (element: Triple): number =>
      sum(element.map((value, i) => Math.floor(value / patch[i]!) * strides[i]!)),
  };
});

function frontOf({ tile, slope }: VolumePiece): Triple[][] {
  const lists: Triple[][] = [[], [], []], far = tile + slope;
  for (const element of triplesBelow([far, far, far])) {
    lists[element.findIndex((value) => value >= tile)]?.push(element);
  }
  return lists;
}

/**
 * Places of a thread's elements in workgroup memory: a slot for each shared element, in it one place for each thread and
 * for those of the front. Of the strides those are taken with the fewest bank conflicts that fit. A shader finds a slot by a
 * constant: wgpu keeps every other index within its array by an operation of its own.
 */
function placesOf(blocks: Triple, shared: readonly Triple[], slope: number, phases: number, bytes: number) {
  const wordBytes = (3 - phases) * bytes, banks = 128 / wordBytes;
  const groups = Math.ceil(blocks[0] * blocks[1] * blocks[2] / banks);
  let best: { cost: number; strides: Triple; bytes: number; counts: number[]; slots: Triple[][] } | undefined;
  for (const [fast, middle, slow] of ORDERS) {
    for (const [padded, more, isSplit] of triplesBelow([3, 10, 2])) {
      const strides = [0, 0, 0];
      strides[fast] = 1;
      strides[middle] = blocks[fast]! + 1 + padded;
      strides[slow] = strides[middle]! * blocks[middle]! + blocks[fast]! + 1 + more;
      const count = 1 + sum(blocks.map((n, i) => n * strides[i]!)), counts = [count, count - strides[slow]!];
      // the front has only the first elements of a patch beyond the last one
      const isLow = (element: Triple): boolean => isSplit === 0 || element[slow]! < slope;
      const slots = [shared.filter(isLow), shared.filter((element) => !isLow(element))]
        .filter(({ length }) => length > 0);
      const all = wordBytes * sum(slots.map(({ length }, i) => length * counts[i]!));
      const inBank = new Uint32Array(banks), [sa, sb, sc] = strides as [number, number, number];
      for (let a = 0; a < blocks[0] * sa; a += sa) {
        for (let b = a; b < a + blocks[1] * sb; b += sb) {
          for (let c = b; c < b + blocks[2] * sc; c += sc) inBank[c % banks]!++;
        }
      }
      const turns = Math.max(groups, ...inBank) / groups;
      const cost = (all > USUAL_BYTES ? all : turns + 0.1 * isSplit) + 1e-7 * all;
      if (best === undefined || cost < best.cost) {
        best = { cost, strides: strides as unknown as Triple, bytes: all, counts, slots };
      }
    }
  }
  return best!;
}

/** Orders of the forms, the one along which places follow each other first. */
const ORDERS = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] as const;

/** Blocks in the order of threads: the first of each bank, then the second, so that neighbours seldom share one. */
export function spreadOverBanks({ blocks, strides, phases, valueBytes }: VolumePiece): Triple[] {
  const banks = 128 / ((3 - phases) * valueBytes), inBank = new Uint32Array(banks);
  const ranked = triplesBelow(blocks).map((block) => {
    const bank = sum(block.map((at, i) => at * strides[i]!)) % banks;
    return { block, rank: inBank[bank]!++ * banks + bank };
  });
  return ranked.sort((p, q) => p.rank - q.rank).map(({ block }) => block);
}

/**
 * Where a thread's elements of the front go to in workgroup memory, and where the tile's own elements lie that follow them
 * in their lanes; then the thread's block; then of each parity the elements whose coefficients enter. Word 0 is how far tiles
 * have moved; the others by round, then by thread: slot | place · 2^8 | place of the other · 2^20; a | b · 2^8 | c · 2^16;
 * slot | place · 2^8, and again the element; at the end the thread of each block.
 */
export function tableOf(piece: VolumePiece): Int32Array<ArrayBuffer> {
  const { threads, tile, blocks, strides, slotOf, placeOf, rounds } = piece;
  const wordOf = ([a, b, c]: Triple): number => a | b << 8 | c << 16;
  const entering = piece.entering.map((elements) =>
    elements.toSorted((p, q) => slotOf(p) - slotOf(q) || placeOf(p) - placeOf(q))
  );
  const blocksAt = enteringAt(piece, 2), [, nb, nc] = blocks;
  const table = new Int32Array(4 * Math.ceil((blocksAt + threads) / 4));
  // elements that lie beyond the tile along one form first, by their places
  const isEdge = (element: Triple): number => Number(element.filter((value) => value >= tile).length > 1);
  const items = frontOf(piece).flatMap((list, direction) =>
    list.toSorted((p, q) => isEdge(p) - isEdge(q) || slotOf(p) - slotOf(q) || placeOf(p) - placeOf(q)).map(
      (element) => {
        const place = placeOf(element);
        return slotOf(element) | place << 8 | (place - blocks[direction]! * strides[direction]!) << 20;
      },
    )
  );
  table.set(items, 1);
  for (const [thread, [a, b, c]] of spreadOverBanks(piece).entries()) {
    table[1 + rounds * threads + thread] = wordOf([a, b, c]);
    table[blocksAt + (a * nb + b) * nc + c] = thread;
  }
  for (const [parity, elements] of entering.entries()) {
    const at = enteringAt(piece, parity);
    for (const [i, element] of elements.entries()) {
      table[at + i] = slotOf(element) | placeOf(element) << 8;
      table[at + Math.ceil(elements.length / threads) * threads + i] = wordOf(element);
    }
  }
  return table;
}

/** Where the table has the entering elements of a parity; of 2: the threads of blocks. */
export function enteringAt({ rounds, threads, entering }: VolumePiece, parity: number): number {
  const before = entering.slice(0, parity).map(({ length }) => 2 * Math.ceil(length / threads));
  return 1 + (rounds + 1 + sum(before)) * threads;
}

/** How many tiles meet a grid along y and z, and the first and the last along x. */
export function spanOf({ slope, width, tile }: VolumeShape, [nx, ny, nz]: Grid) {
  return {
    across: [ny, nz].map((n) => Math.floor((n - 2 + tile + 2 * slope) / tile) + 1) as [number, number],
    first: Math.ceil(-(2 * width + slope - 2) / tile),
    last: Math.floor((nx - 1) / tile),
  };
}

export type VolumeExtent = ReturnType<typeof extentOf>;

/**
 * Tiles that meet a grid. A tile's corner is at x = tile · X + o, y = tile · Y − slope, z = tile · Z − slope, where X has the
 * parity of Y + Z, and o, from 0 to before the width, is how far the level's tiles have moved.
 */
export function extentOf({ shape, elements, threads }: VolumePiece, grid: Grid) {
  const { across, first, last } = spanOf(shape, grid);
  const along = (last - first >> 1) + 1, thirds = Math.ceil(across[1] / 3);
  const turns = across.map((tiles) => 3 * Math.ceil(tiles / 3)) as [number, number];
  return {
    across,
    first,
    last,
    along,
    /** Tiles of a row along z that run at the same time: every third. */
    thirds,
    /** After as many tiles along y and z a lane's place comes again. */
    turns,
    /** Torres that have lanes of their own. */
    torres: turns[0] * turns[1] / 3,
    /** Values of a level. */
    length: 2 * along * across[0] * across[1] * elements.length * threads,
  };
}

export type Farsh = ReturnType<typeof farshOf>;

/**
 * FArSh for `tiers` of all bands together, in as few buffers as hold it and at most `most`. Each has the lanes of some rounds,
 * one after the other for each tier and torre, an element of each thread side by side.
 */
export function farshOf(
  { rounds, threads, valueBytes }: VolumePiece,
  { torres }: VolumeExtent,
  tiers: number,
  { most, bytes }: { readonly most: number; readonly bytes: number },
) {
  const laneOf = (held: number): number => Math.ceil(held * threads / LANE_ELEMENTS) * LANE_ELEMENTS;
  let held = rounds;
  while (
    2 * valueBytes * tiers * torres * laneOf(held) > bytes &&
    Math.ceil(rounds / (held - 1)) <= most
  ) held--;
  return upTo(Math.ceil(rounds / held)).map((buffer) => {
    const own = Math.min(held, rounds - buffer * held), lane = laneOf(own);
    /** Its first round, the rounds that it has, elements of a torre at a tier, and values of the whole. */
    return {
      name: `farsh${buffer}`,
      first: buffer * held,
      rounds: own,
      lane,
      length: 2 * tiers * torres * lane,
    };
  });
}
