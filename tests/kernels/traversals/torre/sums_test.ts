/**
 * Torres of 3D Life and other updates whose taps lie off the axes along z: those reach a thread as sums of a column.
 *
 * @module
 */
import type { FloatArray } from "../../../../kernels/precision.ts";
import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { refusalOf } from "../../../../kernels/capability.ts";
import { constant, type Expression, tap } from "../../../../kernels/expression.ts";
import { add, atLeast, multiply, shifted, subtract } from "../../../../kernels/operations.ts";
import { life, readRule } from "../../../../kernels/stencils/life.ts";
import type { Grid, Problem, Stencil } from "../../../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../../../kernels/traversals/torre/diamond_torre.ts";
import type { DeviceLimits } from "../../../../kernels/traversals/traversal.ts";
import { updateOf } from "../../../../kernels/update.ts";
import { initialCells } from "../../../../tuner/devices/oracle.ts";
import { runReference } from "../../../../kernels/reference.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";
import { testOnGpu } from "../../../test_on_gpu.ts";
import { THOROUGH } from "../../../thorough.ts";
import {
  assertExact,
  caseOf,
  inTorres,
  type Row,
  rowsIn,
  testRows,
  type TorreValues,
} from "../../oracle_case.ts";
import { stencilOf, weighted } from "../../whole_numbers.ts";
import { SMALL_TORRE } from "../../small_torre.ts";

/** Busy for many steps: neither everything nor nothing lives. */
const BUSY = "4-9/3-14";
/** Life is born where nothing is, in every other step everywhere: what lies outside must stay empty. */
const FROM_NOTHING = "0/0-26";
const BLINKING = "0-3/26";

/**
 * Life whose cells see their own column and the four beside it, 15 cells in all. Its tiles have a quarter of the cells
 * of those of the box of 27, which compile slowly. So do long rows and large chunks: a software device clears workgroup
 * memory element by element, in code whose compilation takes time with the square of their number.
 */
function lifeOnCross(rule: string): Stencil {
  const { born, survives } = readRule(rule)!;
  const column = add(tap(0, 0, -1), tap(0, 0, 0), tap(0, 0, 1));
  const sum = add(
    shifted(column, -1, 0, 0),
    shifted(column, 0, -1, 0),
    shifted(column, 0, 0, 0),
    shifted(column, 0, 1, 0),
    shifted(column, 1, 0, 0),
  );
  const bound = (end: 0 | 1): Expression =>
    add(constant(born[end]), multiply(constant(survives[end] + 1 - born[end]), tap(0, 0, 0)));
  return {
    ...life(rule),
    title: `life ${rule} on five columns`,
    update: updateOf(multiply(atLeast(sum, bound(0)), atLeast(bound(1), sum))),
  };
}

/** Rows by rule. */
function lives(of: (rule: string) => Stencil, rows: readonly [string, Grid, TorreValues, number[]][]): Row[] {
  return rows.map(([rule, grid, values, runs]) => [of(rule), grid, inTorres(values), runs]);
}

// W = 2 · DTS cells along u and v; a torre of Nt tiers slants over Nt cells of x.
const LIFE_ON_CROSS = lives(lifeOnCross, [
  ["3/2-7", [1, 1, 1], [1, 2, 1, 1, 1, 2, 1, 99], [1, 2, 3]],
  [FROM_NOTHING, [1, 1, 1], [1, 4, 1, 4, 1, 4, 2, 0], [4, 5]],
  [BUSY, [13, 17, 7], [1, 4, 1, 1, 7, 4, 1, 1], [3, 5]],
  ["3/2-7", [13, 17, 11], [1, 8, 1, 1, 32, 2, 1, 0], [7, 9]], // threads beyond the end of z
  [FROM_NOTHING, [31, 3, 5], [1, 4, 2, 2, 3, 4, 2, 0], [8, 3]], // 3 steps: one is left over
  [BLINKING, [11, 7, 9], [1, 4, 1, 4, 3, 4, 1, 2], [4, 3]],
  [BUSY, [29, 5, 7], [1, 2, 4, 1, 7, 4, 1, 99], [9]],
  [BLINKING, [3, 19, 37], [1, 6, 1, 1, 37, 2, 2, 2], [7]], // Nx < the slant; z longer than a warp
  [FROM_NOTHING, [1, 23, 5], [1, 2, 1, 2, 3, 4, 1, 1], [2, 3]], // a single slice
  [BUSY, [17, 1, 9], [1, 4, 1, 4, 3, 4, 2, 99], [5, 4]], // a single row
  [BUSY, [19, 13, 1], [1, 4, 1, 1, 1, 8, 1, 1], [6]], // a single chunk
  [BUSY, [7, 11, 7], [2, 4, 1, 4, 2, 4, 1, 1], [4, 3]],
  [FROM_NOTHING, [13, 5, 7], [2, 6, 1, 1, 7, 4, 1, 0], [5, 8]], // Ny = W + 1
  [BLINKING, [2, 3, 5], [2, 2, 1, 2, 3, 4, 1, 99], [3]], // thinner than a tile
]);

testRows(LIFE_ON_CROSS);
testRows(lives(life, [[BUSY, [17, 3, 5], [1, 2, 2, 2, 3, 4, 1, 1], [9]]]));

const LARGE_LIFE = lives(life, [
  ["5/2-7", [1, 1, 1], [1, 2, 1, 1, 1, 8, 1, 99], [1, 2, 3]],
  [BUSY, [5, 7, 6], [1, 2, 1, 4, 2, 4, 1, 0], [5, 4]],
  [BUSY, [5, 7, 13], [1, 2, 1, 4, 4, 26, 1, 0], [5, 4]], // all places in a chunk
  [BUSY, [13, 17, 11], [1, 4, 1, 1, 11, 8, 1, 1], [3, 5]],
  [FROM_NOTHING, [7, 11, 13], [1, 4, 1, 2, 7, 4, 2, 0], [4, 3]],
  [BLINKING, [3, 19, 37], [1, 6, 1, 1, 37, 4, 2, 2], [7]],
  [BUSY, [7, 11, 13], [2, 4, 1, 4, 4, 8, 1, 1], [4, 3]],
  [FROM_NOTHING, [13, 9, 5], [2, 6, 1, 1, 5, 32, 1, 0], [5, 8]], // Ny = W + 1
  [BLINKING, [5, 7, 9], [2, 2, 1, 2, 5, 8, 1, 99], [3]], // thinner than a tile
]);
testRows(LARGE_LIFE, { isSlow: true });

Deno.test("the cases above cover every small value of each parameter, and life goes on in them", () => {
  const valuesOf = (name: string) =>
    [...new Set(LIFE_ON_CROSS.map(([, , { parameters }]) => parameters[name]!))].sort();
  assertEquals(valuesOf("dts"), [1, 2]);
  assertEquals(valuesOf("bands"), [1, 2, 4]);
  assertEquals(valuesOf("zPerThread"), [1, 2, 4]);
  assertEquals(valuesOf("unroll"), [1, 2]);
  assertEquals(valuesOf("loads"), ["1 chunk ahead", "2 chunks ahead", "tier start", "when needed"]);
  const alive = (cells: FloatArray): number => [...cells].reduce((sum, cell) => sum + cell) / cells.length;
  for (const stencil of [life(BUSY), life(FROM_NOTHING), lifeOnCross(BUSY), lifeOnCross(FROM_NOTHING)]) {
    const grid: Grid = [7, 11, 13];
    const start = initialCells({ grid, stencil }, { kind: "binary", seed: 1 });
    const { update } = stencil;
    const end = runReference({ current: start, previous: start }, {
      update,
      grid,
      boundary: "zero",
      steps: 7,
    });
    assert(alive(end.current) > 0.05, stencil.title);
  }
});

const COLUMN = weighted([2, tap(0, 0, -1)], [-1, tap(0, 0, 0)], [1, tap(0, 0, 1)]);
const LONG_COLUMN = weighted([1, tap(0, 0, -2)], [-1, tap(0, 0, 3)], [2, tap(0, 0, 1)]);
const SLICE = weighted([1, shifted(COLUMN, 0, 1, 0)], [-2, shifted(COLUMN, 0, -1, 0)], [1, tap(1, 0, 0)]);

const lopsidedCross = stencilOf(
  "lopsided columns and the level before",
  subtract(
    weighted(
      [1, shifted(COLUMN, 1, 0, 0)],
      [-1, shifted(COLUMN, 0, -1, 0)],
      [1, shifted(COLUMN, -1, 0, 0)],
      [-1, shifted(COLUMN, 0, 0, 0)],
    ),
    tap(0, 0, 0, 1),
  ),
);
const mixed = stencilOf(
  "taps of the own column and of the slice beside sums of sums",
  weighted(
    [1, tap(0, 0, 1)],
    [-1, tap(0, 0, -2)],
    [1, tap(1, 1, 0)],
    [1, shifted(COLUMN, -1, 1, 0)],
    [-1, shifted(SLICE, 1, 0, 0)],
    [1, shifted(SLICE, -1, 0, 0)],
  ),
);
const twoColumns = stencilOf(
  "two columns, one of them further along z than a thread's cells",
  weighted([1, shifted(LONG_COLUMN, 1, 0, 0)], [-1, shifted(LONG_COLUMN, 0, -1, 0)], [
    1,
    shifted(COLUMN, -1, 0, 0),
  ]),
);
const shiftedColumn = stencilOf(
  "a sum of the own column further along z",
  weighted([1, shifted(COLUMN, 0, 0, 1)], [-1, shifted(COLUMN, 1, 0, 0)], [
    1,
    shifted(tap(0, 1, 0), 0, 1, 0),
  ]),
);

testRows(rowsIn(inTorres, [
  [lopsidedCross, [11, 9, 5], [1, 4, 1, 1, 5, 4, 2, 1], [2, 2]],
  [lopsidedCross, [7, 12, 10], [1, 4, 1, 4, 3, 4, 1, 0], [3]],
  [mixed, [5, 7, 5], [1, 4, 1, 2, 3, 4, 1, 1], [2, 1]],
  [twoColumns, [11, 5, 7], [1, 4, 1, 1, 7, 4, 1, 1], [3]],
  [twoColumns, [6, 7, 9], [1, 4, 1, 2, 5, 2, 2, 0], [3]],
  [twoColumns, [6, 7, 9], [1, 4, 1, 4, 3, 2, 1, 1], [3]],
  [shiftedColumn, [8, 9, 5], [1, 2, 1, 2, 3, 2, 1, 2], [3]],
]));

const smallTorre = fc.record({
  grid: fc.tuple(
    fc.integer({ min: 1, max: 14 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 19 }),
  ),
  runs: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 2 }),
  rule: fc.constantFrom("3/2-7", BUSY, FROM_NOTHING, BLINKING),
  bands: fc.constantFrom(1, 2),
  zPerThread: fc.constantFrom(1, 2, 4),
  rounded: fc.boolean(),
  unroll: fc.constantFrom(1, 2),
  chunk: fc.constantFrom(1, 3),
  lookahead: fc.constantFrom(0, 1, 99),
});

testOnGpu("torres of any small case of life on five columns equal the oracle bit for bit", async (gpu) => {
  let runs = 0;
  const numRuns = THOROUGH ? 20 : 4;
  await fc.assert(
    fc.asyncProperty(smallTorre, async ({ grid, runs: steps, rule, rounded, bands, zPerThread, ...rest }) => {
      const least = Math.ceil(grid[2] / zPerThread);
      // a long row of places in few chunks takes long to compile
      const { chunk, unroll, lookahead } = rest;
      const threads = rounded && zPerThread * chunk === 1 ? 32 : least;
      const way = inTorres([1, 4, bands, zPerThread, threads, chunk, unroll, lookahead]);
      const one = caseOf([lifeOnCross(rule), grid, way, steps]);
      const problem: Problem = { stencil: one.stencil, grid, boundary: "zero", steps: Math.max(...steps) };
      fc.pre(diamondTorre.infeasible(problem, one.parameters, gpu.limits) === undefined);
      await assertExact(gpu, one);
      runs++;
    }),
    { seed: 20_261_121, numRuns, endOnFailure: true },
  );
  assertEquals(runs, numRuns);
});

const PROBLEM: Problem = { stencil: life(), grid: [384, 2640, 128], boundary: "zero", steps: 96 };
const PARAMETERS = {
  ...SMALL_TORRE,
  dts: 3,
  nt: 24,
  bands: 4,
  threads: 128,
  chunk: 8,
  unroll: 1,
  loads: "1 chunk ahead",
};

Deno.test("taps off the axes along z are refused but in partial sums of their own column", () => {
  const refusal = (...terms: Expression[]): string | undefined => {
    const update = add(tap(1, 0, 0), ...terms);
    return refusalOf(diamondTorre, { ...PROBLEM, stencil: stencilOf("some taps", update) })?.message;
  };
  const stray = "a diagonal tap is in no column's sum: torres cannot read it";
  assertEquals(refusalOf(diamondTorre, PROBLEM), undefined);
  assertEquals(refusal(shifted(COLUMN, 1, 1, 0)), undefined);
  assertEquals(refusal(shifted(SLICE, 1, 0, 0), tap(0, 0, 2)), undefined);
  assertEquals(refusal(shifted(COLUMN, 0, 0, 1)), undefined); // the own column, taken apart
  assertEquals(refusal(tap(1, 0, 1)), stray);
  assertEquals(refusal(shifted(COLUMN, 1, 0, 1)), stray); // no sum of its own place
  assertEquals(refusal(shifted(SLICE, 0, 0, 1)), stray);
  assertEquals(refusal(shifted(add(tap(0, 0, 1), tap(0, 1, 1)), 0, 0, 0)), stray); // no sum of one column
  assertEquals(
    refusal(shifted(add(tap(0, 0, 1, 1), tap(0, 0, 0)), 1, 0, 0)),
    "the update reads a neighbour at t − 1: a torre keeps that level of the cell itself only",
  );
});

Deno.test("infeasible parameters of torres with sums are reported with the reason", () => {
  const why = (changes: Partial<typeof PARAMETERS>, limits = H100_LIMITS): string | undefined =>
    diamondTorre.infeasible(PROBLEM, { ...PARAMETERS, ...changes }, limits)?.message;
  assertEquals(why({}), undefined);
  assertEquals(why({ loads: "tier start" }), undefined);
  assertEquals(why({ dts: 1, chunk: 32 }), "a chunk of 32 is more than the 26 places that a tier exchanges");
  // two halves of 8 places, 128 threads and one at each end
  const holding = (bytes: number): DeviceLimits => ({
    ...H100_LIMITS,
    maxComputeWorkgroupStorageSize: bytes,
  });
  assertEquals(why({}, holding(2 * 8 * 130 * 4)), undefined);
  assertEquals(
    why({}, holding(2 * 8 * 130 * 4 - 1))?.split(",")[0],
    `${2 * 8 * 130 * 4} bytes of workgroup memory`,
  );
  const four = { zPerThread: 4, threads: 32 };
  assertEquals(why(four, holding(2 * 8 * 34 * 4 * 4)), undefined);
  assertEquals(
    why(four, holding(2 * 8 * 34 * 4 * 4 - 1))?.split(",")[0],
    `${2 * 8 * 34 * 4 * 4} bytes of workgroup memory`,
  );
});

/** What the loop's body of a plan really does, read from its text. */
function readBody(parameters: typeof PARAMETERS): {
  exchanges: number;
  loaded: number;
  stores: number;
} {
  const [, body] = diamondTorre.plan(PROBLEM, parameters).shaders[0]!.code.split("for (var tier = 0;");
  const count = (pattern: RegExp): number => [...body!.matchAll(pattern)].length;
  return {
    exchanges: count(/exchange\[/g),
    // each is written twice, for even tiers and for odd ones
    loaded: count(/l0_\w+ = (?:now|before)\[/g) / 2,
    stores: count(/^ *(?:now|before)\[.*\] = n0_/gm) / 2,
  };
}

Deno.test("the demand counts what the shader does", () => {
  for (
    const [dts, zPerThread, chunk, loads] of [[1, 1, 4, "when needed"], [2, 2, 8, "1 chunk ahead"], [
      2,
      4,
      16,
      "tier start",
    ], [
      3,
      1,
      8,
      "1 chunk ahead",
    ]] as const
  ) {
    const parameters = { ...PARAMETERS, dts, zPerThread, threads: 128 / zPerThread, chunk, loads };
    const demand = diamondTorre.demand(PROBLEM, parameters);
    const { exchanges, loaded, stores } = readBody(parameters);
    const cells = (4 * dts) ** 2 / 2;
    assertEquals(demand.rounds.exchanges, zPerThread * exchanges);
    // a row's torres load the corner between them once; the ends of a torre come on top
    const moved = loaded + stores - 2 * 2 ** 2;
    assertLess(4 * moved / cells, demand.bytesPerUpdate);
    assertLess(demand.bytesPerUpdate, 4 * moved / cells + 4);
  }
});

Deno.test("the parameters to try of life are those whose values fit in registers", () => {
  const { dts, loads, chunk } = diamondTorre.parameterLists(PROBLEM, H100_LIMITS);
  assertEquals(dts, [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]);
  assertEquals(["when needed", "1 chunk ahead"].every((value) => loads?.includes(value)), true);
  assertEquals(chunk?.includes(32), true);
});
