/**
 * DiamondTorre (Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29, §4–6): many time steps of a tile
 * in one pass over memory.
 *
 * Geometry. u = x + y, v = x − y. With S the stencil's slope, the largest |Δx| + |Δy| of a tap, a **tile** is
 * the square [U, U+W) × [V, V+W) in u and v, W = 2·S·DTS: in x–y a diamond of W²/2 cells. A **torre** is a
 * stack of tiles, the **tiers**, one time step each; every tier lies S further along u and v, that is S cells
 * further along x. A torre needs nothing but what the two torres at its right leave behind, and torres of one
 * row (same x, W apart in y) need nothing of each other: a row is a dispatch, the **stage**; each workgroup
 * computes one torre; the stages go from right to left, W/2 cells a stage, every other one shifted by W/2 in y.
 *
 * A tier in local coordinates a = u − U, b = v − V, both in [0, W), a + b even; F at t, G at t−1:
 * - it needs F on [−S, W+S)²; the last tier left [−S, W−S)² in registers, the rest is loaded;
 * - it needs G on [0, W)², in registers, for it was F one tier ago;
 * - new values with a < 2S or b < 2S are stored: the next-but-one tier no longer covers them.
 * A cell left behind is one step older in one array than in the other: exactly what the left neighbours load.
 *
 * Threads run along z and exchange their values through workgroup memory, a chunk of cells between two
 * barriers, in two halves by turns. Cells of a tile are visited by growing max(a, b), so that those that wait
 * for loads come last.
 *
 * Of several fields each has tiles of its own beside the others' (`../tiles.ts`); the above is one field's.
 *
 * docs/traversals.md says how sums of columns serve taps off the axes along z, how several bands of Nt steps advance in
 * one dispatch (the paper's asynchrony, §5), and how what lies outside the grid stays zero.
 *
 * @module
 */
import { profileReads } from "../../axis_profiles.ts";
import { AMONG_ZEROS, capabilities, wrongParameters } from "../../capability.ts";
import { fold, uniform } from "../../expression.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { remembered } from "../../remembered.ts";
import { expressionsOf, operationsOf, readsPrevious, tapsOf, type Update } from "../../update.ts";
import { leanOf, placesIn, tilesOf } from "../tiles.ts";
import { planTorres, remainderWorkgroups } from "./plan.ts";
import { MAX_BANDS, rowsOfWaves, stageCount, torreNeeds, torresInRow, usableBands } from "../waves.ts";
import { tiled, type TorreLayers, whyUnlayered } from "./layers.ts";
import { type Element, materialNeeds } from "./materials.ts";
import { packedPlanes } from "../../wgsl/packing.ts";
import {
  CHUNKS_AHEAD,
  exchangeBytes,
  shapeOf,
  TORRE_AXES,
  TORRE_PARAMETERS,
  type TorreParameters,
  type TorreShape,
} from "./shape.ts";
import { sumsOf } from "./sums.ts";
import { needsOf, onward, readsOf, type Value, valueKey, visitTier } from "./visit.ts";
import type { Traversal } from "../traversal.ts";
import { exceededLimit, refuseVector } from "../workgroup_limits.ts";

/** Values a thread with 1 z may hold: with more than that, no GPU's registers come near to being enough. */
const MOST_HELD = 330;

/**
 * Registers of a material's value that is held, and none of one that is read again: no step changes it, so that a compiler
 * which finds no register reads it later, or again. An H200's torres with counts of 1.17 times what there is, each value
 * counted, were as fast as others (`acoustic` on 572³, 2026-11-24); fitted to 104 of them.
 */
const HELD_REGISTERS = 1 / 3;

/** Of tiles to try: with larger ones no update's values fit a thread's registers. */
const LARGEST_DTS = 12;

/** Cells along z beyond which four tiers in the loop's body are tried. */
const LONG_ROW = 512;

/** Torres: the tile's size, the torre's height and how the kernel is written are to choose. */
export const diamondTorre: Traversal = {
  name: "diamond-torre",
  title: "torres of diamond tiles: many time steps in one pass over memory",
  dimensions: 3,
  parameters: TORRE_PARAMETERS,
  axes: TORRE_AXES,
  capabilities: capabilities(
    [
      "window dimensions volume grid fields whole-fields sub-steps materials profiles previous slanted-taps",
      "sideways-taps shared-sub-steps early-fields points signal early-sources",
    ],
    {
      boundary: "torres advance from one end of x to the other through zeros",
      "previous-neighbours": "a torre keeps that level of the cell itself only",
      "diagonal-taps": "torres cannot read it",
      reach: "there is nothing to tile",
    },
    {
      boundaries: AMONG_ZEROS,
      where: { "whole-fields": { cannot: { previous: "torres of several fields keep one level" } } },
    },
  ),
  parameterLists(given, limits) {
    const { problem, layers } = tiled(given, limits), { update } = problem.stencil;
    const { maxComputeWorkgroupStorageSize: mostBytes } = limits;
    /** The first is the usual: it must not be one that a long row leaves no workgroup memory for. */
    const fitting = (chunks: number[]): number[] => {
      const some = chunks.filter((chunk) =>
        2 * precisionOf(update).bytes * chunk * problem.grid[2] <= mostBytes
      );
      return some.length > 0 ? some : chunks;
    };
    const exact = (zPerThread: number): number => Math.ceil(problem.grid[2] / zPerThread);
    const keepsSums = sumsOf(update) !== undefined, hasSeveral = update.fields.length > 1;
    // W must be even: where the slope is, there is a tile between each two of whole DTS
    const parts = hasSeveral ? 1 : 2 - leanOf(update).slope % 2;
    const sizes = Array.from({ length: (LARGEST_DTS - 1) * parts + 1 }, (_, i) => 1 + i / parts);
    // larger tiles hold more: none after the first that holds too much needs to be looked at
    const tooLarge = sizes.findIndex((dts) => dts > 1 && heldBy(update, dts) > MOST_HELD);
    return {
      dts: tooLarge < 0 ? sizes : sizes.slice(0, tooLarge),
      nt: [8, 16, 24, 32, 48, 64, 96, 128, 192].filter((nt) => nt === 8 || nt <= problem.steps),
      bands: [1, 2, 4, 8, MAX_BANDS],
      zPerThread: [1, 2, 4],
      // whole SIMD groups, which earlier versions tried too, are slower by 3% (H100, median of 89 pairs)
      threads: [1, 2, 4].map(exact),
      // what did best on an H100 first (2026-11-21): the model does not tell these apart
      chunk: fitting(keepsSums ? [16, 8, 32, 4] : [8, 4, 16, 2]),
      // four were the best where rows are long, by 2 to 7% (6 of 180 recorded problems)
      unroll: layers ? [1] : problem.grid[2] > LONG_ROW ? [1, 2, 4] : [1, 2],
      rest: keepsSums || hasSeveral ? [0] : [0, 1],
      loads: keepsSums
        ? ["tier start", "1 chunk ahead", "2 chunks ahead", "when needed"]
        : ["tier start", "tier ahead", "1 chunk ahead", "when needed"],
      ...(update.materials.length > 0 && {
        packed: !layers && packedPlanes(update, 1).length > 0 ? [0, 1] : [0],
        held: [0, 1],
      }),
    };
  },
  infeasible(given, parameters, limits) {
    const { problem, layers } = tiled(given, limits);
    const { dts, nt, bands = 1, zPerThread, threads, chunk, unroll, rest, loads, packed } = parameters;
    const nz = problem.grid[2], lanes = threads * zPerThread, noVector = refuseVector(zPerThread);
    if (problem.stencil.update.fields.length > 1 && readsPrevious(problem.stencil.update)) {
      return {
        kind: "previous",
        message: "torres of several fields keep one level, and store no layers here",
      };
    }
    if (noVector !== undefined) return noVector;
    if (nt < 2) return wrongParameters(`Nt ${nt}: a torre of one tier keeps nothing for the next step`);
    if (nt % 2 !== 0) return wrongParameters(`Nt ${nt} is odd: the two arrays would not swap back`);
    if (lanes < nz) {
      return wrongParameters(`${threads} threads with ${zPerThread} along z each do not cover ${nz} cells`);
    }
    const least = Math.ceil(nz / zPerThread);
    if (threads !== least && threads !== Math.ceil(least / 32) * 32) {
      return wrongParameters(`${threads} threads are more than ${nz} cells along z need`);
    }
    if (unroll !== 1 && unroll % 2 !== 0) {
      return wrongParameters(`unroll ${unroll} is odd: the two arrays would not swap back`);
    }
    if (layers && unroll !== 1) {
      return wrongParameters(
        `unroll ${unroll}: fields in layers are read where they lie, in tiers of one step`,
      );
    }
    const keepsSums = sumsOf(problem.stencil.update) !== undefined;
    const hasSeveral = problem.stencil.update.fields.length > 1;
    // with two z a thread it reached 0.7 of the best at the median of 36 recorded problems, 0.86 at most
    if (loads === "tier ahead" && (unroll !== 1 || zPerThread !== 1 || keepsSums)) {
      return wrongParameters(
        `loads ${loads}: a tier is loaded during the one before with unroll 1, one z a thread and no sums`,
      );
    }
    if (rest === 1 && (keepsSums || hasSeveral || loads !== "tier start")) {
      return wrongParameters(
        `rest ${rest}: values of one field rest in workgroup memory, loaded at a tier's start, without sums only`,
      );
    }
    // by chunk they were the best on 3 of 180 recorded problems, by 1 to 4%
    if (CHUNKS_AHEAD[loads] < Infinity && !keepsSums && !hasSeveral) {
      return wrongParameters(`loads ${loads}: values of one field load at the start of a tier`);
    }
    if (limits.windowBytes !== undefined && unroll !== 1) {
      return wrongParameters(
        `unroll ${unroll}: a passage through a window has tiers of one step, so that any number of steps is one`,
      );
    }
    if (nt % unroll !== 0) return wrongParameters(`Nt ${nt} is not a multiple of unroll ${unroll}`);
    const width = 2 * leanOf(problem.stencil.update).slope * dts;
    if (width % 2 !== 0) return wrongParameters(`DTS ${dts} makes tiles of ${width} cells: W must be even`);
    const usable = bands === 1 ? 1 : usableBands(problem, parameters);
    if (bands > 1 && bands >= 2 * usable) {
      return wrongParameters(`${bands} bands are too many: at most ${usable} can run at once`);
    }
    const { shape, work: { exchanged, written: inTier } } = formOf(given, parameters);
    const unlayered = layers && whyUnlayered(given, shape, zPerThread);
    if (unlayered !== undefined) return wrongParameters(unlayered);
    const isPacked = packed === 1, hasPacked = packedPlanes(problem.stencil.update, 1).length > 0;
    if (isPacked && layers) {
      return wrongParameters(`packed ${packed}: beside layers a shader may not bind packed ones as well`);
    }
    if (isPacked && (zPerThread === 1 || !hasPacked)) {
      return wrongParameters(
        `packed ${packed}: a packed material of f32 and two z a thread or more are wanted`,
      );
    }
    const mostBytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    if (isPacked && (4 * shape.layout.length > mostBytes || limits.windowBytes !== undefined)) {
      return wrongParameters(`packed ${packed}: a level in one buffer is wanted`);
    }
    if (rest === 1 && shape.resting.length === 0) {
      return wrongParameters(`rest ${rest} has no effect: no value of so small a tile has to wait`);
    }
    if (chunk !== 2 && chunk > exchanged) {
      const most = exchanged === shape.cells
        ? `the tile's ${exchanged} cells`
        : `the ${exchanged} places that a tier exchanges`;
      return wrongParameters(`a chunk of ${chunk} is more than ${most}`);
    }
    const tooLong = 40_000, written = unroll * inTier;
    if (written > tooLong) {
      return wrongParameters(
        `${written} operations in the loop's body, more than the ${tooLong} that compile in time`,
      );
    }
    return exceededLimit(limits, {
      layout: shape.layout,
      scratch: layers?.length ?? 0,
      ...torreNeeds(parameters, shape),
      workgroup: [threads, 1, 1],
      workgroupBytes: exchangeBytes(shape, parameters),
      workgroups: [
        torresInRow(problem, shape, 0),
        bands,
        1,
        ...(unroll === 1 ? [] : remainderWorkgroups(problem, threads)),
      ],
    });
  },
  demand(given, parameters) {
    const { problem, layers } = tiled(given);
    const { nt, zPerThread, threads, chunk, unroll, loads } = parameters;
    const { shape, work } = formOf(given, parameters), { width, cells } = shape;
    const { update } = problem.stencil, { bytes } = precisionOf(update), each = bytes / 4 * zPerThread;
    const values = work.held + (loads === "tier ahead" ? work.loaded : 0);
    // what two tiers find of materials and profiles alone, a compiler finds once and keeps
    const kept = unroll === 1 ? 0 : cells * fixedOf(update);
    // of F(t − 1) what rests takes no register; of F(t) prices say what it saves
    const rest = unroll === 1 ? shape.resting.length : 0;
    // what a chunk's cells have in layers is held at once
    const inLayers = cells * (layers?.owners.size ?? 0) / Math.max(1, work.barriers);
    const plain = chunk + 20 + each * (work.ofMaterials.held + kept - rest + inLayers);
    const previous = readsPrevious(update);
    // two tiers in the loop's body swap F and G instead of moving them, and repeat F where there is no G
    const kind = unroll === 1 ? "plain" : previous ? "swapped" : "repeated";
    const isSpread = CHUNKS_AHEAD[loads] < Infinity && (unroll !== 1 || update.fields.length > 1);
    const ends = 2 * cells * (previous ? 2 : update.fields.length);
    const tiers = Math.max(1, Math.min(nt, problem.steps));
    const [nx] = problem.grid;
    const stages = stageCount(problem, tiers, shape);
    // Torres cut by the ends of x start and end inside the grid: as many more ends as stages overlap them.
    const tierRatio = (nx * 2 / width) * tiers / stages;
    const moved = work.moved + ends / tierRatio;
    const { loads: loaded, rows, enteringRows } = work.ofMaterials;
    const begun = rows / tierRatio;
    const waves = rowsOfWaves(problem, parameters), row = torresInRow(problem, shape, 0);
    // Torres of a row load the corner between them at the same time, so that it is moved once (Eq. 6).
    const corner = row > 1 ? cornersOf(update, shape) : 0;
    const waveCount = waves.reduce((sum, { waves }) => sum + waves, 0);
    return {
      bytesPerValue: bytes,
      bytesPerUpdate: bytes * ((moved + enteringRows + begun - corner) / cells + 2 * (layers?.share ?? 0)),
      registers: {
        plain,
        [kind]: each * values + (kind === "plain" ? plain : 0),
        resting: each * (shape.resting.length - rest),
      },
      threadsPerWorkgroup: threads,
      workgroupBytes: exchangeBytes(shape, parameters),
      workgroupsPerDispatch: row * stages * problem.steps / tiers / waveCount,
      loopInstructions: unroll * work.instructions,
      rounds: {
        instructions: work.instructions,
        barriers: work.barriers,
        operations: zPerThread * cells * operationsOf(update),
        rows: work.moved + enteringRows,
        hits: loaded - enteringRows + work.ofProfiles,
        exchanges: zPerThread * work.exchanges,
        waits: loads === "tier ahead" ? {} : isSpread ? { spreadWaitNs: 1 } : { tierWaitNs: 1 },
        // what a chunk has in layers is asked for at its beginning, and more of it once the branch is taken
        nearWaits: layers ? 2 * work.barriers : 0,
        nearBytes: bytes * (moved + loaded + begun) / cells,
        cells: cells * problem.grid[2],
        busyThreads: Math.ceil(problem.grid[2] / zPerThread),
        dispatches: waves.map(({ rows, waves }) => ({
          count: waves / problem.steps,
          workgroups: row * rows,
          rounds: tierRatio,
        })),
      },
    };
  },
  passageSteps: (_, { nt, bands = 1 }) => nt * bands,
  plan: planTorres,
} satisfies Traversal<TorreParameters>;

/** A torre's sizes and the work of a tier, which are the same for each Nt and number of bands. */
function formOf(given: Problem, parameters: TorreParameters) {
  const { dts, zPerThread, threads, chunk, unroll, rest, loads, packed, held } = parameters;
  return findForm(given, loads, dts, zPerThread, threads, chunk, unroll, rest, packed, held);
}

const findForm = remembered((
  given: Problem,
  loads: TorreParameters["loads"],
  ...[dts, zPerThread, threads, chunk, unroll, rest, packed, held]: number[]
) => {
  const parameters = {
    dts,
    zPerThread,
    threads,
    chunk,
    unroll,
    rest,
    loads,
    packed,
    held,
  } as TorreParameters;
  const { problem, layers } = tiled(given), shape = shapeOf(problem, parameters);
  return { shape, work: workOf(problem, parameters, shape, layers) };
});

/**
 * What a tier costs a thread, counted from what its shader does: places exchanged, barriers, loads from memory, those and
 * stores to it (`moved`), reads and writes of workgroup memory (`exchanges`), instructions, and operations in the shader's
 * text, which its compilation takes (`written`). An element is `zPerThread` cells.
 */
function workOf(
  { stencil: { update } }: Problem,
  parameters: TorreParameters,
  shape: TorreShape,
  layers?: TorreLayers,
):
  & Record<"loaded" | "moved" | "exchanges" | "instructions" | "written" | "ofProfiles", number>
  & ReturnType<typeof visitOf>
  & { readonly ofMaterials: ReturnType<typeof workOfMaterials> } {
  const { zPerThread } = parameters, { width, cells, rim, resting } = shape, fields = update.fields.length;
  const { loads, stored, kept } = needsOf(update, shape.dts), sums = sumsOf(update);
  const visit = visitOf(update, shape.dts, shape.perChunk, CHUNKS_AHEAD[parameters.loads]);
  const moved = loads.length + stored.length;
  const exchanges = visit.exchanged * (1 + 2 * rim) + resting.length;
  // what prices were fitted to, one field without materials, has as many operations as taps
  const isPlain = fields === 1 && update.materials.length + profileReads(update).length === 0;
  const ofCell = isPlain ? tapsOf(update).length : operationsOf(layers?.usual ?? update);
  const operations = sums === undefined ? cells * ofCell : cells * sums.cell.operations +
    kept.reduce((sum, places, index) => sum + places.length * sums.kept[index]!.operations, 0);
  const ofMaterials = workOfMaterials(update, parameters, shape),
    ofProfiles = width * profileReads(update).length;
  const inLayers = cells * (layers ? expressionsOf(layers.usual).length - fields : 0);
  // a place in layers is looked for, and a value loaded and stored there where it is found
  const instructions = ofMaterials.instructions + 2 * ofProfiles + 12 * inLayers;
  return {
    ...visit,
    loaded: loads.length,
    moved,
    exchanges,
    instructions: zPerThread * operations + (sums === undefined ? 2 * fields * cells : exchanges) +
      2 * moved +
      instructions,
    // cells are masked at the edges as well
    written: operations + cells * (layers ? operationsOf(layers.whole) : 0) +
      (sums === undefined ? 6 * fields * cells : exchanges + 2 * moved + 4 * cells) + instructions,
    ofMaterials,
    ofProfiles,
  };
}

/** Values that a tier exchanges, its barriers, and of several fields those that a thread with 1 z holds at once. */
const visitOf = remembered((
  update: Update,
  dts: number,
  perChunk: number,
  lookahead: number,
): Record<"exchanged" | "barriers" | "held", number> => {
  const tiles = tilesOf(update, dts), { carried, exchanged: places } = needsOf(update, dts);
  if (update.fields.length === 1) {
    const barriers = Math.ceil(places.length / perChunk);
    return { exchanged: places.length, barriers, held: heldBy(update, dts) };
  }
  const chunks = visitTier(update, { ...tiles, perChunk, resting: [], lookahead });
  /** The first and the last chunk that has a value. */
  const spans = new Map(carried.map((value) => [valueKey(value), [0, 0] as [number, number]]));
  const hold = (value: Value, chunk: number): void => {
    const span = spans.get(valueKey(value));
    if (span === undefined) spans.set(valueKey(value), [chunk, chunk]);
    else span[1] = chunk;
  };
  chunks.forEach(({ loads, exchanged, cells }, index) => {
    for (const value of [...loads, ...exchanged]) hold(value, index);
    for (const cell of cells) {
      for (const value of readsOf(update, cell)) hold(value, index);
      for (const { field } of cell.made) hold({ field, ago: -1, place: cell.place }, index);
    }
  });
  for (const value of carried) hold(onward(value, tiles.slope), chunks.length);
  const heldIn = (chunk: number): number =>
    [...spans.values()].filter(([first, last]) => first <= chunk && chunk <= last).length;
  return {
    exchanged: chunks.reduce((sum, { exchanged }) => sum + exchanged.length, 0),
    barriers: chunks.filter(({ exchanged }) => exchanged.length > 0).length,
    held: Math.max(...chunks.keys().map(heldIn)),
  };
});

/**
 * What materials cost a thread in a tier: elements loaded, those that a thread with 1 z holds at once, instructions; and
 * what comes from the device's memory: rows that a torre begins with, and that enter with each tier.
 */
function workOfMaterials(
  update: Update,
  { zPerThread, unroll, packed: form, held }: TorreParameters,
  { dts }: TorreShape,
): Record<"loads" | "held" | "instructions" | "rows" | "enteringRows", number> {
  const { elements, entering, rows, enteringRows } = materialNeeds(update, dts, zPerThread);
  const packed = packedPlanes(update, form).map(({ plane }) => plane);
  const halved = (some: readonly Element[]) => some.filter(({ plane }) => packed.includes(plane)).length / 2;
  const sizeOf = (some: readonly Element[]): number => some.length - halved(some);
  const isHeld = held === 1, loaded = isHeld ? entering : elements, size = sizeOf(elements);
  return {
    rows: sizeOf(rows),
    enteringRows: sizeOf(enteringRows),
    loads: sizeOf(loaded),
    held: isHeld ? HELD_REGISTERS * size : 0,
    // a load finds its address and checks it; a number is taken from its word, put in place of bits, and scaled
    instructions: 6 * loaded.length + (isHeld ? zPerThread * size / unroll : 0) +
      6 * zPerThread * halved(elements),
  };
}

/** Values that a cell's update finds of materials and profiles alone. */
const fixedOf: (update: Update) => number = remembered((update: Update) => {
  /** What a part has found; without fields it is fixed, and may read a material or profile. */
  type Part = { readonly found: number; readonly isFixed: boolean; readonly isRead?: boolean };
  const join = (...parts: Part[]): Part => {
    const isFixed = parts.every((part) => part.isFixed), isRead = parts.some((part) => part.isRead);
    return {
      isFixed,
      isRead,
      found: isFixed ? Number(isRead) : parts.reduce((sum, { found }) => sum + found, 0),
    };
  };
  const read: Part = { found: 0, isFixed: true, isRead: true };
  const parts = expressionsOf(update).map((expression) =>
    fold<Part>(expression, {
      ...uniform<Part>({ found: 0, isFixed: true }, join),
      tap: ({ plane }) => plane < update.fields.length ? { found: 0, isFixed: false } : read,
      profile: () => read,
    })
  );
  return join({ found: 0, isFixed: false }, ...parts).found;
});

/** Values that a tier loads from beyond both of its field's leading edges: as many are loaded by another torre of the row. */
function cornersOf(update: Update, { dts, slope, width, corners }: TorreShape): number {
  if (update.fields.length === 1) return 2 * slope ** 2;
  return needsOf(update, dts).loads.filter(({ field, ago, place }) =>
    place.every((at, axis) => at - corners[field]![axis]! >= (ago === 0 ? width - slope : width))
  ).length;
}

/** Values of F(t) and F(t−1) that a thread with 1 z holds in a tier. */
function heldBy(update: Update, dts: number): number {
  if (update.fields.length > 1) {
    const { carried, loads } = needsOf(update, dts);
    return carried.length + loads.length;
  }
  const { slope, width } = tilesOf(update, dts);
  return placesIn(width + 2 * slope) + (readsPrevious(update) ? placesIn(width) : 0);
}
