import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import fc from "fast-check";
import { type RefusalKind, refusalOf } from "../../kernels/capability.ts";
import { type Expression, tap } from "../../kernels/expression.ts";
import { add, shifted, subtract } from "../../kernels/operations.ts";
import type { Boundaries, Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { DeviceLimits } from "../../kernels/traversals/traversal.ts";
import { onlyExpression } from "../../kernels/update.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import {
  assertExact,
  caseOf,
  inMarches,
  inSteps,
  inTorres,
  type OracleCase,
  type Row,
  testRows,
  type Way,
} from "./oracle_case.ts";
import { stencilOf, weighted, wholeNumberWave } from "./whole_numbers.ts";
import { SMALL_TORRE } from "./small_torre.ts";

/**
 * Rows of the wave equation, by order. Whole-number weights prove the indexing bit for bit. Real weights differ from them in
 * the shader's constants only: stepwise runs those of every order, the others one of each kind of kernel, of more steps
 * than whole numbers stay exact for.
 */
function waves<Values>(
  way: (values: Values) => Way,
  rows: readonly [order: number, Grid, NoInfer<Values>, runs: number[], realRuns?: number[]][],
): Row[] {
  return rows.flatMap(([order, grid, values, runs, realRuns]): Row[] => [
    [wholeNumberWave(order), grid, way(values), runs],
    ...(realRuns === undefined
      ? []
      : [[wave(order), grid, way(values), realRuns, { isReal: true }] as const]),
  ]);
}

const STEPWISE = waves(inSteps, [
  [2, [1, 1, 1], [4, 1, 1], [1, 2]],
  [2, [1, 7, 1], [4, 2, 1], [3, 4]],
  [2, [101, 1, 2], [4, 1, 8], [7], [13]],
  [4, [7, 11, 13], [8, 4, 2], [5], [9, 2]],
  [6, [5, 3, 2], [16, 4, 1], [4], [6]],
  [8, [3, 19, 31], [32, 1, 4], [3], [4, 3]],
  [10, [11, 5, 37], [64, 2, 1], [3], [3, 4]],
  [12, [13, 2, 5], [4, 1, 8], [3], [5]],
  [14, [17, 3, 29], [8, 8, 1], [3], [2, 3]],
]);

// A software device clears workgroup memory element by element, in code whose compilation takes time with the square of
// their number: tiles and chunks are small, and rows short.
const MARCHING = waves(inMarches, [
  [2, [1, 1, 1], [1, 8, 1, 1, 0, 0], [1, 2]],
  [2, [1, 1, 1], [4, 4, 4, 1, 1, 1], [1, 2]],
  [2, [1, 1, 67], [4, 8, 1, 1, 0, 1], [3, 4]],
  [2, [13, 7, 1], [1, 8, 4, 4, 1, 0], [7], [12]],
  [2, [5, 43, 9], [2, 16, 4, 2, 0, 0], [7]],
  [2, [23, 5, 30], [4, 4, 4, 2, 1, 1], [5]], // the last thread has two cells inside
  [4, [29, 5, 11], [1, 8, 6, 16, 1, 1], [5]], // 16 pieces of 2 slices: one is left over
  [6, [7, 23, 3], [2, 8, 1, 2, 0, 1], [4]],
  [6, [9, 3, 10], [4, 3, 7, 3, 1, 0], [4]], // threads of the rim hold taps of the next
  [8, [11, 31, 19], [1, 16, 8, 1, 0, 0], [3]],
  [8, [6, 3, 5], [2, 5, 9, 2, 1, 0], [3]],
  [10, [5, 3, 41], [4, 16, 1, 4, 0, 0], [3]],
  [12, [19, 1, 11], [1, 8, 4, 8, 0, 1], [3]],
  [14, [2, 13, 53], [1, 8, 1, 2, 0, 0], [3], [2, 3]],
  [14, [23, 17, 5], [4, 8, 1, 1, 0, 1], [3]],
]);

// W = order · DTS cells along u and v; a torre of Nt tiers slants over order/2 · Nt cells of x.
const TORRES = waves(inTorres, [
  [2, [1, 1, 1], [1, 2, 1, 1, 1, 2, 1, 99], [1, 2, 3]],
  [2, [1, 1, 1], [1, 4, 1, 1, 32, 2, 2, 99], [4, 3]], // 31 threads beyond the end of z
  [2, [1, 17, 1], [1, 4, 1, 2, 1, 2, 4, 99], [3, 4]], // 3 steps: fewer than the loop's body
  [2, [2, 3, 5], [2, 16, 1, 1, 5, 8, 1, 99], [5, 2]], // thinner than a tile along x, y and u
  [2, [23, 5, 37], [1, 6, 2, 1, 37, 2, 2, 99], [7]], // z longer than a warp
  [2, [11, 13, 9], [2, 8, 1, 2, 5, 4, 1, 99], [7]],
  [2, [29, 6, 5], [3, 2, 1, 1, 5, 4, 1, 99], [3, 4]], // Ny = W
  [2, [3, 47, 7], [1, 12, 1, 4, 2, 2, 4, 99], [7]], // Nx < the slant; 7 is no multiple of 4
  [2, [61, 3, 9], [1, 2, 4, 1, 9, 2, 1, 99], [7]],
  [2, [13, 12, 9], [2, 8, 1, 1, 9, 4, 1, 100], [5, 2]], // a tier is loaded during the one before
  [2, [61, 3, 9], [1, 2, 4, 1, 9, 2, 1, 100], [7]],
  [2, [13, 12, 9], [2, 8, 1, 2, 5, 2, 2, 101], [5, 2], [9]], // values rest in workgroup memory
  [4, [13, 17, 7], [1, 2, 2, 1, 7, 2, 1, 99], [3, 2]],
  [2, [13, 12, 9], [2, 8, 1, 2, 5, 2, 1, 101], [5, 2]], // F(t − 1) rests there, with one tier
  [4, [13, 17, 5], [1.5, 2, 1, 1, 5, 2, 1, 99], [3, 2]], // W is no multiple of 2 · slope
  [4, [17, 3, 9], [1, 4, 1, 2, 5, 2, 1, 99], [5]], // Ny < W
]);

/** Torres so large that a software device compiles each for up to some minutes. */
const LARGE_TORRES = waves(inTorres, [
  [2, [7, 31, 9], [1, 4, 1, 4, 3, 2, 4, 99], [7]],
  [2, [41, 2, 3], [2, 6, 2, 1, 3, 4, 2, 101], [7], [9]], // Ny < W, values rest
  [4, [13, 17, 7], [1, 2, 2, 1, 7, 2, 1, 99], [2], [5]],
  [4, [13, 17, 7], [1, 4, 1, 1, 7, 2, 2, 101], [3, 2]],
  [2, [2, 3, 5], [4, 16, 1, 1, 5, 16, 1, 99], [5, 2]],
  [2, [61, 3, 9], [2, 4, 2, 1, 32, 4, 4, 101], [7]],
  [2, [61, 3, 9], [3, 4, 2, 1, 9, 4, 1, 101], [7]],
  [4, [13, 17, 7], [1.5, 2, 1, 1, 7, 2, 1, 101], [3, 2]],
  [2, [11, 13, 45], [2, 8, 1, 2, 32, 4, 1, 99], [7]], // 23 threads rounded to 32
  [4, [5, 9, 11], [2, 4, 1, 2, 6, 2, 1, 99], [5]],
  [4, [17, 3, 9], [1, 8, 1, 4, 3, 2, 2, 99], [5], [9]],
  [4, [1, 1, 37], [1, 4, 1, 1, 64, 2, 4, 99], [5]],
  [6, [7, 19, 5], [1, 4, 1, 1, 5, 8, 1, 99], [4]],
  [6, [11, 7, 5], [1, 2, 1, 2, 3, 4, 1, 99], [3], [5]],
  [8, [19, 5, 7], [1, 2, 1, 1, 7, 4, 1, 99], [3]],
  [10, [23, 11, 5], [1, 2, 1, 1, 5, 4, 1, 99], [3]],
  [12, [7, 29, 5], [1, 2, 1, 1, 5, 4, 1, 99], [3]],
  [14, [17, 5, 7], [1, 2, 1, 1, 7, 4, 1, 99], [3]],
]);

testRows([...STEPWISE, ...MARCHING, ...TORRES]);
testRows(LARGE_TORRES, { isSlow: true });

Deno.test("the cases above cover every order of every traversal, every parameter, and 30 grids", () => {
  const all = [...STEPWISE, ...MARCHING, ...TORRES, ...LARGE_TORRES].map(caseOf);
  const numbers = (some: readonly number[]): number[] => [...new Set(some)].sort((a, b) => a - b);
  const valuesOf = (rows: readonly Row[], name: string) =>
    [...new Set(rows.map(([, , { parameters }]) => parameters[name]!))].sort();
  for (const traversal of [stepwise, marching, diamondTorre]) {
    const cases = all.filter((one) => one.traversal === traversal);
    const ordersOf = (some: readonly OracleCase[]): number[] =>
      numbers(some.map(({ stencil }) => Number(stencil.variant.order)));
    assertEquals(ordersOf(cases), [...WAVE_ORDERS], traversal.name);
    const real = ordersOf(cases.filter(({ isReal }) => isReal));
    if (traversal === stepwise) assertEquals(real, [...WAVE_ORDERS]);
    else assertGreaterOrEqual(real.length, 2, traversal.name);
  }
  assertGreaterOrEqual(new Set(all.map(({ grid }) => grid.join("x"))).size, 30);
  assertEquals(valuesOf(MARCHING, "zPerThread"), [1, 2, 4]);
  assertEquals(valuesOf(MARCHING, "tile"), [0, 1]);
  assertEquals(valuesOf(MARCHING, "ahead"), [0, 1]);
  assertEquals(valuesOf(TORRES, "dts"), [1, 1.5, 2, 3]);
  assertEquals(valuesOf(TORRES, "bands"), [1, 2, 4]);
  assertEquals(valuesOf(TORRES, "zPerThread"), [1, 2, 4]);
  assertEquals(valuesOf(TORRES, "unroll"), [1, 2, 4]);
  assertEquals(valuesOf(TORRES, "chunk"), [2, 4, 8]);
  assertEquals(valuesOf(TORRES, "loads"), ["tier ahead", "tier start"]);
  assertEquals(valuesOf(TORRES, "rest"), [0, 1]);
  for (const difference of [-1, 0, 1]) {
    const found = TORRES.some(([, , { parameters }, runs]) =>
      runs.some((steps) => steps - Number(parameters.nt) === difference)
    );
    assertEquals(found, true, `Nt + ${difference} steps`);
  }
});

// What no symmetric update can show: other weights in every direction, taps off the axes, one level only.

const LOPSIDED = weighted(
  [1, tap(0, 0, 0)],
  [2, tap(1, 0, 0)],
  [-1, tap(-1, 0, 0)],
  [3, tap(0, 1, 0)],
  [-2, tap(0, -1, 0)],
  [1, tap(0, 0, 1)],
  [-3, tap(0, 0, -1)],
);
const lopsided = stencilOf("other weights on every side", subtract(LOPSIDED, tap(0, 0, 0, 1)));
const oneSided = stencilOf(
  "two cells back, one ahead",
  weighted([1, tap(-2, 0, 0)], [-2, tap(0, 1, 0)], [3, tap(0, 0, -2)]),
);
const oneLevel = stencilOf("one level", LOPSIDED);
const diagonal = stencilOf(
  "diagonal in x and y",
  subtract(
    weighted([1, tap(1, 1, 0)], [-2, tap(1, -1, 0)], [2, tap(-1, 0, 0)], [1, tap(0, 0, 1)]),
    tap(0, 0, 0, 1),
  ),
);
const GRID: Grid = [11, 9, 13];
const STEPPED = inSteps([8, 4, 2]),
  MARCHED = inMarches([1, 8, 4, 2, 0, 0]),
  TILED = inMarches([2, 4, 6, 2, 1, 1]);
const SINGLE_TIERS = inTorres([1, 4, 1, 1, 13, 2, 1, 99]);

const ASYMMETRIC: readonly [Stencil, readonly Way[]][] = [
  [lopsided, [
    STEPPED,
    MARCHED,
    TILED,
    inTorres([1, 4, 1, 2, 7, 2, 2, 99]),
    inTorres([2, 4, 1, 1, 13, 2, 1, 99]),
  ]],
  [oneSided, [STEPPED, MARCHED, TILED, SINGLE_TIERS]],
  [oneLevel, [SINGLE_TIERS]],
  [diagonal, [STEPPED, SINGLE_TIERS]],
];

testRows(ASYMMETRIC.flatMap(([stencil, ways]) => ways.map((way): Row => [stencil, GRID, way, [2, 3]])));

Deno.test("traversals refuse the taps that they cannot serve, with the reason", () => {
  const refusals = (update: Expression, boundary: Boundaries = "zero"): (RefusalKind | undefined)[] => {
    const problem: Problem = { stencil: stencilOf("some taps", update), grid: GRID, boundary, steps: 1 };
    return [stepwise, marching, diamondTorre].map((traversal) => refusalOf(traversal, problem)?.kind);
  };
  const cross = onlyExpression(wave(2).update)!;
  const fine = undefined;
  assertEquals(refusals(cross), [fine, fine, fine]);
  const noEnd = "boundary";
  for (const boundary of ["periodic", "insulated", ["zero", "periodic", "zero"]] as const) {
    assertEquals(refusals(cross, boundary), [fine, fine, noEnd]);
  }
  const ago = "previous-neighbours";
  assertEquals(refusals(add(cross, tap(1, 0, 0, 1))), [fine, ago, ago]);
  const alongZ = "diagonal-taps";
  assertEquals(refusals(add(cross, tap(1, 1, 0))), [fine, fine, fine]);
  assertEquals(refusals(add(cross, tap(1, 0, 1))), [fine, fine, alongZ]);
  assertEquals(refusals(add(cross, tap(0, 1, 1))), [fine, fine, alongZ]);
  const corner = add(tap(0, 1, 1), tap(0, 0, -1));
  assertEquals(refusals(add(cross, shifted(corner, 1, 0, 0))), [fine, fine, alongZ]);
  assertEquals(refusals(add(cross, shifted(corner, 1, 1, 0))), [fine, fine, alongZ]);
  assertEquals(refusals(tap(0, 0, 1)), [fine, fine, "reach"]);
});

Deno.test("infeasible parameters are reported before anything is compiled, with the reason", () => {
  const limits: DeviceLimits = {
    maxStorageBufferBindingSize: 2 ** 27,
    maxBufferSize: 2 ** 28,
    maxComputeWorkgroupStorageSize: 16_384,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupSizeX: 256,
    maxComputeWorkgroupSizeY: 256,
    maxComputeWorkgroupSizeZ: 64,
    maxComputeWorkgroupsPerDimension: 65_535,
  };
  const problem: Problem = { stencil: wave(2), grid: [16, 16, 41], boundary: "zero", steps: 16 };
  const torre = { ...SMALL_TORRE, dts: 2, threads: 41, chunk: 4, rest: 0 };
  const why = (changes: Partial<typeof torre>): string | undefined =>
    diamondTorre.infeasible(problem, { ...torre, ...changes }, limits)?.message;
  assertEquals(why({}), undefined);
  assertEquals(why({ threads: 64 }), undefined);
  assertEquals(why({ threads: 40 }), "40 threads with 1 along z each do not cover 41 cells");
  assertEquals(why({ threads: 96 }), "96 threads are more than 41 cells along z need");
  assertEquals(why({ unroll: 3, nt: 12 }), "unroll 3 is odd: the two arrays would not swap back");
  assertEquals(why({ nt: 10, unroll: 4 }), "Nt 10 is not a multiple of unroll 4");
  assertEquals(why({ nt: 9, unroll: 1 }), "Nt 9 is odd: the two arrays would not swap back");
  assertEquals(why({ nt: 1, unroll: 1 }), "Nt 1: a torre of one tier keeps nothing for the next step");
  assertEquals(why({ zPerThread: 3, threads: 14 }), "3 cells a thread: 1, 2 or 4 make a vector");
  assertEquals(why({ bands: 4 }), "4 bands are too many: at most 2 can run at once");
  assertEquals(why({ chunk: 16 }), "a chunk of 16 is more than the tile's 8 cells");
  assertEquals(
    why({ loads: "1 chunk ahead" }),
    "loads 1 chunk ahead: values of one field load at the start of a tier",
  );
  assertEquals(why({ loads: "tier ahead", unroll: 1 }), undefined);
  assertEquals(
    why({ loads: "tier ahead", unroll: 1, zPerThread: 2, threads: 21 }),
    "loads tier ahead: a tier is loaded during the one before with unroll 1, one z a thread and no sums",
  );
  assertEquals(why({ rest: 1 }), undefined);
  assertEquals(why({ rest: 1, unroll: 1, dts: 2 }), undefined);
  assertEquals(
    why({ rest: 1, chunk: 8 }),
    "rest 1 has no effect: no value of so small a tile has to wait",
  );
  assertEquals(
    why({ rest: 1, loads: "tier ahead", unroll: 1 }),
    "rest 1: values of one field rest in workgroup memory, loaded at a tier's start, without sums only",
  );
  const over = (changes: Partial<DeviceLimits>) =>
    diamondTorre.infeasible(problem, torre, { ...limits, ...changes })?.message;
  assertEquals(
    over({ maxComputeWorkgroupStorageSize: 1375 }),
    "1376 bytes of workgroup memory, maxComputeWorkgroupStorageSize is 1375",
  );
  assertEquals(over({ maxComputeWorkgroupSizeX: 40 }), "41 threads along z, maxComputeWorkgroupSizeX is 40");
  const shape = { threadsZ: 32, threadsY: 8, threadsX: 2 };
  assertEquals(
    stepwise.infeasible(problem, shape, limits)?.message,
    "512 threads in a workgroup, maxComputeInvocationsPerWorkgroup is 256",
  );
  assertEquals(
    stepwise.infeasible({ ...problem, grid: [700, 4000, 4000] }, { ...shape, threadsZ: 8 }, limits)?.message,
    "192480192 bytes in the 3 slices that a dispatch touches, maxStorageBufferBindingSize is 134217728",
  );
  assertEquals(
    marching.infeasible(problem, { threadsZ: 64, threadsY: 36, pieces: 1, tile: 1 }, limits)?.message,
    "20064 bytes of workgroup memory, maxComputeWorkgroupStorageSize is 16384",
  );
  const deep = { threadsZ: 18, threadsY: 14, pieces: 1, tile: 0, ahead: 1, depth: 2 };
  assertEquals(
    marching.infeasible(problem, deep, limits)?.message,
    "depth 2: the update reads a value at t − 1: several steps go in one pass only where no neighbour needs what a march " +
      "replaces",
  );
  assertEquals(
    marching.infeasible({ ...problem, stencil: life() }, { ...deep, threadsY: 12 }, limits)?.message,
    "18x12 threads: with a rim, workgroups that nearly fill a power of two are wanted",
  );
  assertEquals(
    marching.infeasible({ ...problem, stencil: life() }, { ...deep, depth: 1 }, limits)?.message,
    "18x14 threads, 1 pieces: without a rim, powers of two are wanted",
  );
  const plane: Problem = { ...problem, stencil: heat(1, { dimensions: 2 }), grid: [256, 1, 256] };
  const shuffles = { ...deep, zPerThread: 4, threadsZ: 32, threadsY: 1, exchange: 1 };
  const whyNot = (size: number | undefined, changes: Partial<typeof shuffles> = {}, on = plane) =>
    marching.infeasible(on, { ...shuffles, ...changes }, { ...limits, subgroupSize: size })?.message;
  const wanted =
    "shuffles serve several steps a pass in two dimensions, in rows as long as a SIMD group: found";
  assertEquals(whyNot(32), undefined);
  assertEquals(whyNot(undefined, { exchange: 0 }), undefined);
  assertEquals(whyNot(undefined), "shuffles need subgroups, all of one size: this device grants none");
  assertEquals(whyNot(64), `${wanted} 2 steps, 32 threads, groups of 64`);
  assertEquals(whyNot(32, { depth: 1 }), `${wanted} 1 steps, 32 threads, groups of 32`);
  const volume = { ...problem, stencil: life() };
  assertEquals(whyNot(32, { threadsY: 8 }, volume), `${wanted} 2 steps, 32 threads, groups of 32`);
});

Deno.test("a march shows neighbours what earlier slices made before it computes anything", () => {
  const problem: Problem = { stencil: elastic(), grid: [32, 32, 32], boundary: "zero", steps: 4 };
  const shape = { zPerThread: 4, threadsZ: 16, threadsY: 16, pieces: 2, tile: 0, ahead: 0 };
  const { code } = marching.plan(problem, shape).shaders[0]!;
  const [before = "", behind = ""] = code.slice(code.indexOf("for (var x")).split("workgroupBarrier();");
  assert(before.includes("now[") && !before.includes("select") && behind.includes("select"));
});

Deno.test("marches of sub-steps have workgroups whose own threads cover z without rest: 32 of 33, four cells each", () => {
  const problem: Problem = { stencil: maxwell(), grid: [512, 512, 512], boundary: "zero", steps: 8 };
  const lists = marching.parameterLists(problem, H100_LIMITS);
  // 49 Gcells/s, 42 with 32x8 threads (H100, 2026-11-24)
  const shape = { zPerThread: 4, threadsZ: 33, threadsY: 7, pieces: 16, tile: 0, ahead: 0 };
  for (const [name, value] of Object.entries(shape)) assert(lists[name]!.includes(value), `${name} ${value}`);
  assertEquals(marching.infeasible(problem, shape, H100_LIMITS), undefined);
  const across = marching.demand(problem, shape).rounds.dispatches[0]!.workgroups;
  assertEquals(across, 4 * Math.ceil(512 / 6) * 16);
  assertEquals(
    marching.parameterLists({ ...problem, stencil: wave(2) }, H100_LIMITS).threadsZ!.includes(33),
    false,
  );
});

/** Parameters of every traversal for any small grid, from a seeded source. */
const smallCase = fc.record({
  grid: fc.tuple(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 19 }),
  ),
  steps: fc.integer({ min: 1, max: 7 }),
  pick: fc.constantFrom("stepwise", "marching", "diamond-torre"),
  zPerThread: fc.constantFrom(1, 2, 4),
  rounded: fc.boolean(),
  dts: fc.constantFrom(1, 2),
  unroll: fc.constantFrom(1, 2),
  chunk: fc.constantFrom(2, 3, 8),
  lookahead: fc.constantFrom(99, 101),
  tile: fc.tuple(fc.constantFrom(8, 16, 32), fc.constantFrom(1, 2, 4), fc.constantFrom(1, 2, 4)),
}).map(({ grid, steps, pick, tile: [z, y, x], ...torre }): OracleCase => {
  const { zPerThread, rounded, dts, unroll, chunk, lookahead } = torre;
  const caseIn = (way: Way): OracleCase => caseOf([wholeNumberWave(2), grid, way, [steps]]);
  if (pick === "stepwise") return caseIn(inSteps([z, y, x]));
  if (pick === "marching") {
    const isTiled = x === 2, threadsZ = isTiled || z === 32 ? 4 : 8, threadsY = isTiled ? 2 + y : y;
    return caseIn(inMarches([zPerThread, threadsZ, threadsY, x, isTiled ? 1 : 0, rounded ? 1 : 0]));
  }
  const isLong = rounded && zPerThread === 1, threads = isLong ? 32 : Math.ceil(grid[2] / zPerThread);
  const few = dts === 1 || isLong ? 2 : chunk;
  // one chunk a tier: nothing rests
  const loads = unroll === 1 || (lookahead === 101 && (dts === 1 || chunk === 8)) ? 99 : lookahead;
  return caseIn(inTorres([dts, 4, 1, zPerThread, threads, few, unroll, loads]));
});

testOnGpu("any small case equals the oracle bit for bit", async (gpu) => {
  await fc.assert(
    fc.asyncProperty(smallCase, (oracleCase) => assertExact(gpu, oracleCase)),
    { seed: 20_261_121, numRuns: THOROUGH ? 40 : 6, endOnFailure: true },
  );
});
