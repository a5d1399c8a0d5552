/**
 * Torres of tiles in three dimensions: every parameter against the oracle, on primes, thin grids and grids smaller than a tile.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { along, equation } from "../../../../kernels/equation.ts";
import { fold, NUMBERS, tap } from "../../../../kernels/expression.ts";
import { add, divide, maximum, multiply, subtract } from "../../../../kernels/operations.ts";
import { heat } from "../../../../kernels/stencils/heat.ts";
import { life } from "../../../../kernels/stencils/life.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { EARLY, splitExpression } from "../../../../kernels/traversals/volume_torre/split_expression.ts";
import {
  extentOf,
  farshOf,
  pieceOf,
  tableOf,
  upTo,
} from "../../../../kernels/traversals/volume_torre/lattice.ts";
import {
  dispatchesOf,
  scheduleVolume,
  workOf,
} from "../../../../kernels/traversals/volume_torre/schedule.ts";
import type { Problem } from "../../../../kernels/stencils/stencil.ts";
import { GpuField } from "../../../../tuner/devices/gpu/gpu_field.ts";
import { readCells } from "../../../devices/cells.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";
import { testOnGpu } from "../../../test_on_gpu.ts";
import { inVolumeTorres, rowsIn, SEED, testRows } from "../../oracle_case.ts";
import { SURVEY } from "../../point_case.ts";
import {
  bounded,
  clamped,
  FEW,
  packed,
  SIGNS,
  wholeNumberCross,
  wholeNumberMedium,
} from "../../whole_numbers.ts";

const WAVE = bounded(wave(2)), FOURTH = bounded(wave(4)), HEAT = bounded(heat(1)), FAR = bounded(heat(2));
/** Taps that differ in every direction, off the axes as well. */
const ASKEW = equation({
  name: "askew",
  fields: { u: [-4, 3] },
  step: ({ u }) => ({
    u: clamped(
      99,
      subtract(u.at(0, 1, 1), u.before()),
      multiply(2, u.at(1)),
      multiply(-1, u.at(0, -1)),
      maximum(u.at(-1, 1), u.at(0, 0, -1)),
    ),
  }),
});

/** Three coefficients, of two materials, one of them beside the cell. */
const LAYERED = equation({
  name: "layered",
  fields: { u: [-4, 3] },
  materials: { m: SIGNS, n: FEW },
  step: ({ u, m, n }) => ({
    u: clamped(
      99,
      multiply(m, subtract(u.at(1), u.at(0, -1))),
      multiply(n.at(0, 1), u.at(0, 0, 1)),
      multiply(m, n),
    ),
  }),
});

/** A material beside the cell, along each axis. */
const BESIDE = equation({
  name: "beside",
  fields: { u: [-4, 3] },
  materials: { m: { values: [1, 2, 2, 1, 1, 2, 1, 1] } },
  step: ({ u, m }) => ({
    u: clamped(
      99,
      multiply(add(m.at(1), m.at(0, -1), m.at(0, 0, 1)), subtract(u.at(0, 1), u.at(-1))),
      u.at(0, 0, 1),
    ),
  }),
});

/** Profiles that are mostly 1, whose quotients are whole: two at once, one at two times. */
const DAMPED = equation({
  name: "damped",
  fields: { u: [-4, 3] },
  materials: Object.fromEntries((["x", "y", "z"] as const).map((axis) => {
    return [axis, along(axis, { values: [1, 1, 1, 1, 1, 1, 1, axis === "z" ? -1 : 2] })];
  })),
  step: ({ u, x, y, z }) => ({
    u: clamped(
      99,
      multiply(divide(multiply(4, z!), multiply(x!, y!)), add(u.at(1), u.at(0, -1), u.at(0, 0, 1))),
      multiply(add(x!, z!), add(u.before(), multiply(add(x!, z!), u.at(-1)))),
    ),
  }),
});

/** Profiles that are 0 but near the ends of their axis. */
const ENDS = Object.fromEntries(
  (["x", "y", "z"] as const).map((axis) => [
    axis,
    along(axis, (i, n) => maximum(0, subtract(2, i), subtract(i, subtract(n, 2)))),
  ]),
) as Record<"x" | "y" | "z", ReturnType<typeof along>>;

const CALM = equation({
  name: "calm",
  fields: { u: [-4, 3] },
  materials: ENDS,
  step: ({ u, x, y, z }) => ({
    u: clamped(
      99,
      add(u.at(1), u.at(0, -1), multiply(add(x, y, z), u.at(0, 0, 1))),
      subtract(u.before(), multiply(add(x, z), u)),
    ),
  }),
});

/** Damped by the cell's own material and matched, as sound is. */
const MATCHED = equation({
  name: "matched",
  fields: { u: [-4, 3] },
  materials: { v: SIGNS, ...ENDS },
  step: ({ u, v, x, y, z }) => {
    const kept = subtract(1, multiply(v, add(x, y, z))), matching = multiply(2, add(x, z));
    const push = add(u.at(1), u.at(-1), u.at(0, -1), u.at(0, 1), u.at(0, 0, 1), multiply(matching, u));
    const moved = add(multiply(2, u), multiply(v, multiply(v, push)));
    return { u: clamped(99, multiply(kept, subtract(moved, multiply(kept, u.before())))) };
  },
});

testRows(rowsIn(inVolumeTorres, [
  [WAVE, [23, 13, 17], [4, 2, 2, 2, 1, 1, 8, 3], [8, 24]],
  // tiles that have moved by part of a width, F(t) in the array of odd levels
  [WAVE, [23, 13, 17], [4, 2, 2, 2, 2, 2, 8, 2], [11, 7, 20]],
  [FOURTH, [19, 7, 11], [4, 2, 2, 2, 2, 1, 4, 1], [9]],
  [HEAT, [11, 29, 5], [4, 2, 1, 1, 2, 2, 6, 2], [7, 9]],
  // levels in several bindings, cut elsewhere than the canonical cells
  [WAVE, [61, 23, 29], [4, 2, 1, 2, 2, 1, 8, 2], [11, 8], { sections: 2, areRanges: true }],
  // smaller than a tile
  [WAVE, [1, 1, 1], [4, 1, 1, 2, 2, 1, 8, 2], [9]],
  // more bands than places, each later than its own dependences would let it run
  [HEAT, [3, 31, 2], [3, 1, 1, 1, 1, 3, 6, 1], [22]],
  // places of workgroup memory in two arrays
  [HEAT, [3, 17, 5], [14, 1, 1, 14, 1, 1, 4, 1], [5]],
]));
// images beyond periodic and insulated ends, of grids that are thinner than they reach, in several rounds and bindings
testRows(rowsIn(inVolumeTorres, [
  [ASKEW, [9, 7, 11], [4, 2, 2, 2, 2, 1, 2, 1], [5, 4], { boundary: "periodic" }],
  [FOURTH, [13, 3, 6], [4, 2, 2, 2, 1, 1, 2, 2], [7, 2], { boundary: ["insulated", "periodic", "zero"] }],
  [HEAT, [23, 9, 1], [4, 1, 2, 1, 2, 2, 4, 1], [9], {
    boundary: ["zero", "insulated", "insulated"],
    sections: 2,
    areRanges: true,
  }],
]));
// materials and profiles, at the cell and beside it, that move through memory of their own or take turns with F
testRows(rowsIn(inVolumeTorres, [
  [wholeNumberCross(), [13, 11, 7], [4, 1, 1, 2, 2, 1, 4, 2], [9, 4]],
  [LAYERED, [9, 11, 6], [4, 1, 2, 1, 2, 1, 4, 2], [9]],
  [wholeNumberMedium(1), [9, 13, 17], [4, 2, 2, 1, 1, 2, 8, 1], [11]],
  [wholeNumberMedium(2), [13, 9, 11], [4, 2, 2, 2, 1, 1, 4, 1], [5], { sections: 2, areRanges: true }],
  [wholeNumberMedium(1), [3, 17, 5], [14, 1, 1, 14, 2, 1, 4, 1], [5]],
  [packed(wholeNumberMedium(1), -2, 2), [9, 7, 11], [4, 1, 2, 1, 2, 1, 4, 2, 1], [9, 4]],
  // where zeros beyond the grid are no values of what is read beside cells
  [packed(BESIDE, 1, 2), [5, 9, 6], [4, 1, 1, 1, 1, 1, 4, 1, 1], [7]],
  [DAMPED, [37, 13, 17], [4, 2, 1, 1, 2, 2, 8, 2], [11]],
  [DAMPED, [37, 13, 17], [4, 1, 1, 2, 1, 1, 8, 1], [7]],
  // several rounds of two tiers, of one, and a last band of fewer
  [CALM, [67, 13, 17], [4, 2, 1, 1, 2, 2, 8, 2], [11, 3]],
  [CALM, [67, 17, 13], [4, 1, 1, 2, 1, 1, 8, 1], [7, 8]],
  [MATCHED, [67, 13, 17], [4, 2, 1, 1, 2, 2, 8, 2], [11, 3]],
  [MATCHED, [67, 17, 13], [4, 1, 1, 2, 1, 1, 8, 1], [7, 8]],
]));
testRows(rowsIn(inVolumeTorres, [
  [WAVE, [11, 7, 9], [4, 2, 1, 1, 2, 2, 8, 2], [11, 3, 8], { points: { every: 3 } }],
  // more rounds than a word has marks
  [MATCHED, [67, 13, 17], [4, 1, 1, 1, 2, 1, 36, 1], [36, 5], { points: { every: 2 } }],
  // materials in several bindings
  [wholeNumberMedium(1), [37, 5, 7], [4, 1, 1, 1, 2, 2, 4, 1], [9, 4], {
    points: { fields: [0] },
    sections: 4,
    areRanges: true,
  }],
]));
testRows(
  rowsIn(inVolumeTorres, [
    // cubes of cells a thread
    [ASKEW, [13, 11, 7], [4, 2, 2, 2, 2, 1, 4, 2], [9]],
    [HEAT, [11, 29, 5], [4, 2, 2, 2, 2, 2, 6, 2], [7, 9]],
    [LAYERED, [9, 11, 6], [4, 2, 2, 2, 2, 1, 4, 2], [9]],
    [wholeNumberMedium(2), [13, 9, 11], [4, 2, 2, 2, 2, 1, 4, 1], [5], { sections: 2, areRanges: true }],
    // a thread alone
    [ASKEW, [13, 11, 7], [2, 2, 2, 2, 2, 1, 4, 2], [9]],
    [life(), [11, 7, 13], [6, 3, 3, 3, 1, 2, 4, 2], [9]],
    [FAR, [29, 11, 7], [6, 3, 2, 3, 1, 3, 6, 2], [15, 1]],
    [FOURTH, [50, 3, 19], [4, 2, 2, 4, 1, 4, 8, 2], [13, 5]],
    [WAVE, [3, 50, 2], [8, 2, 4, 4, 2, 4, 16, 1], [21]],
    [wave(2), [41, 19, 23], [8, 2, 4, 4, 2, 2, 16, 2], [40], { isReal: true }],
  ]),
  { isSlow: true },
);

testOnGpu("materials at points are what their cells hold", async (gpu) => {
  const problem: Problem = {
    stencil: wholeNumberMedium(1),
    grid: [5, 7, 9],
    boundary: "zero",
    steps: 8,
    survey: SURVEY,
  };
  const { traversal, parameters } = inVolumeTorres([4, 1, 1, 1, 2, 1, 4, 1]);
  using field = await GpuField.create(gpu, problem, traversal.plan(problem, parameters, gpu.limits));
  await field.initialise({ kind: "integers", seed: SEED });
  await field.run(3);
  const cells = upTo(5 * 7 * 9).map((i) => [Math.floor(i / 63), Math.floor(i / 9) % 7, i % 9] as const);
  const all = await readCells(field, 0);
  const sampled = await field.sample(
    cells.flatMap((cell) => [0, 1].map((plane) => ({ field: plane, cell }))),
  );
  const at = ([x, y, z]: typeof cells[number], plane: number): number =>
    all[((x * 2 + plane) * 7 + y) * 9 + z]!;
  assertEquals(sampled, Float32Array.from(cells.flatMap((cell) => [at(cell, 0), at(cell, 1)])));
});

testOnGpu(
  "what enters tiles is the same from one buffer, from several, of shares of tiles too, and from where cells lie",
  async (gpu) => {
    const stencil = packed(wholeNumberMedium(1), 1, 2);
    const problem: Problem = { stencil, grid: [9, 13, 7], boundary: "zero", steps: 9 };
    const inBindings = async (maxStorageBufferBindingSize: number, packed: number) => {
      const { traversal, parameters } = inVolumeTorres([4, 2, 1, 1, 2, 1, 4, 1, packed]);
      const limits = { ...gpu.limits, maxStorageBufferBindingSize };
      const plan = traversal.plan(problem, parameters, limits), scratch = plan.storage.scratch!;
      using field = await GpuField.create(gpu, problem, plan);
      await field.initialise({ kind: "integers", seed: SEED });
      await field.run(9);
      const entering = scratch.filter(({ name }) => name.startsWith("entering"));
      return { entering, cells: await readCells(field, 0) };
    };
    const whole = await inBindings(gpu.limits.maxStorageBufferBindingSize, 0), [first] = whole.entering;
    // in several buffers of all tiles, in one of each share of them, and in none
    for (
      const [packed, part, names] of [
        [1, 0.999, ["entering0", "entering1"]],
        [0, 0.6, ["entering0", "entering0_1"]],
        [0, 0.2, []],
        [1, 0.2, []],
      ] as const
    ) {
      const { entering, cells } = await inBindings(part * first!.length * (packed === 1 ? 2 : 4), packed);
      assertEquals(entering.map(({ name }) => name), [...names]);
      assertEquals(cells, whole.cells);
    }
  },
);

Deno.test("all of a front is taken over once, from its own direction's lanes, and its places are no others'", () => {
  for (const [of, side, a, b, c, phases] of [[WAVE, 20, 2, 4, 4, 2], [FOURTH, 16, 2, 2, 4, 1]] as const) {
    const piece = pieceOf(of.update, side, a, b, c, phases), table = tableOf(piece), { threads } = piece;
    const to = new Set<number>();
    for (let n = 0; n < piece.rounds; n++) {
      for (let thread = 0; thread < (n < piece.rounds - 1 ? threads : piece.rest); thread++) {
        const word = table[1 + n * threads + thread]!, place = word >> 8 & 4095, slot = word & 255;
        const { direction } = piece.directionsOf(n).findLast((one) => one.thread <= thread)!;
        to.add(word & 0xfffff);
        assertEquals(place - (word >>> 20), piece.blocks[direction]! * piece.strides[direction]!);
        const [low, high = low] = piece.arrays;
        assert(place < (slot < low!.slots ? low : high)!.places);
      }
    }
    assertEquals(to.size, (side + piece.slope) ** 3 - side ** 3);
    assertEquals([piece.arrays.length, piece.bytes <= 49_152], [phases === 1 ? 2 : 1, true]);
  }
});

Deno.test("an equation that reads neighbours of materials alone has no torres of tiles", () => {
  const stencil = equation({
    name: "still",
    fields: { u: [-4, 3] },
    materials: { m: SIGNS },
    step: ({ u, m }) => ({ u: clamped(99, u, m!.at(1)) }),
  });
  const problem: Problem = { stencil, grid: [7, 5, 6], boundary: "zero", steps: 4 };
  const { traversal, parameters } = inVolumeTorres([4, 2, 2, 2, 2, 1, 4, 1]);
  assertEquals(traversal.infeasible(problem, parameters, H100_LIMITS)?.kind, "reach");
});

Deno.test("FArSh lies in as few buffers as hold it, each round in one", () => {
  const piece = pieceOf(FOURTH.update, 16, 2, 2, 4, 1), extent = extentOf(piece, [512, 512, 512]);
  const in2GiB = (tiers: number, most: number) => farshOf(piece, extent, tiers, { most, bytes: 2 ** 31 - 4 });
  for (const [tiers, count] of [[48, 1], [10 * 48, 2], [20 * 48, 3]] as const) {
    const farsh = in2GiB(tiers, 3);
    assertEquals(
      farsh.flatMap(({ first, rounds }) => upTo(rounds).map((i) => first + i)),
      upTo(piece.rounds),
    );
    assertEquals(farsh.length, count);
  }
  assert(4 * in2GiB(480, 1)[0]!.length > 2 ** 31);
});

Deno.test("a place of FArSh serves one band at a time", () => {
  const piece = pieceOf(WAVE.update, 4, 2, 2, 2, 2), extent = extentOf(piece, [61, 13, 17]);
  for (const [nt, bands, steps] of [[8, 2, 100], [6, 3, 20], [16, 1, 50], [2, 16, 64]] as const) {
    const ended = new Set<string>(), running = new Map<number, string>();
    for (const rows of scheduleVolume(piece, extent, { nt, bands, steps })) {
      assert(rows.length <= 16);
      for (const { band, place } of rows) {
        const before = running.get(place);
        if (before !== undefined && before !== `${band}`) ended.add(before);
        assert(!ended.has(`${band}`), `band ${band} goes on at place ${place}`);
        running.set(place, `${band}`);
      }
    }
  }
});

Deno.test("the dispatches of a run have all torres of its bands", () => {
  for (
    const [grid, nt, bands] of [[[61, 13, 17], 8, 2], [[9, 31, 5], 4, 3], [[40, 40, 40], 16, 1]] as const
  ) {
    const piece = pieceOf(WAVE.update, 4, 2, 2, 2, 2), extent = extentOf(piece, grid), steps = 5 * nt;
    const dispatches = dispatchesOf(piece.shape, grid, nt, bands, steps);
    const total = (of: (one: typeof dispatches[0]) => number) =>
      dispatches.reduce((sum, one) => sum + of(one), 0);
    const { torres } = workOf(piece, extent, grid[0], nt);
    assertEquals(Math.round(total(({ count, torres }) => count * torres)), 5 * torres);
    assertEquals(
      total(({ count }) => count),
      scheduleVolume(piece, extent, { nt, bands, steps }).length,
    );
  }
});

Deno.test("what is ready is computed early, and the two parts together are the whole", () => {
  const [x, y, z, w] = [tap(1, 0, 0), tap(2, 0, 0), tap(3, 0, 0), tap(0, 0, 0, 1)];
  const whole = maximum(subtract(add(multiply(3, x), multiply(2, add(y, z))), w), multiply(5, y));
  const { early, late } = splitExpression(whole, ({ offset: [at] }) => at === 2);
  assertEquals(early.length, 2);
  const value = (
    { offset: [at], ago, plane }: { offset: readonly number[]; ago: number; plane: number },
  ): number => plane === EARLY ? fold(early[at!]!, { ...NUMBERS, tap: value }) : ago === 1 ? 11 : 7 * at! - 3;
  assertEquals(
    fold(late, { ...NUMBERS, tap: value }),
    fold<number>(whole, { ...NUMBERS, tap: value }),
  );
});
