/**
 * The traversals of a line, bit for bit: updates on bits have no rounding, so every misplaced read shows.
 *
 * Compiling takes most of the time on a software device, and a shader depends on the parameters, not on the length:
 * each set of parameters here runs several lengths, and workgroups are small. More than eight threads are needed to see
 * that a barrier is missing: so many run in step there. What adds only size is left to thorough runs.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Boundary, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { bitFar, bitHeat, bitKs, bitKs3 } from "./line_stencils.ts";
import { readCells } from "../devices/cells.ts";

const SEED = 20_261_121;

/** A way to sweep, and on each of some lengths the runs that follow one another on the same field. */
interface LineCase {
  readonly traversal: string;
  readonly parameters: Parameters;
  readonly runs: Readonly<Record<number, readonly number[]>>;
}

/** Runs every length and compares all points of all fields with the oracle's after each run. */
async function assertBits(
  gpu: GpuDevice,
  { stencil, boundary, traversal: name, parameters, runs }: LineCase & {
    readonly stencil: Stencil;
    readonly boundary: Boundary;
  },
): Promise<void> {
  const traversal = traversalNamed(name);
  for (const [points, steps] of Object.entries(runs)) {
    const grid = [1, 1, Number(points)] as const;
    const problem: Problem = { stencil, grid, boundary, steps: Math.max(...steps) };
    assertEquals(refusalOf(traversal, problem), undefined);
    assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
    using field = await GpuField.create(gpu, problem, traversal.plan(problem, parameters));
    await field.initialise({ kind: "binary", seed: SEED });
    let current: Float32Array = initialCells({ grid, stencil }, { kind: "binary", seed: SEED });
    for (const count of steps) {
      await field.run(count);
      const levels = { current, previous: current };
      ({ current } = runReference(levels, { update: stencil.update, grid, boundary, steps: count }));
      const found = await readCells(field, 0);
      const wrong = found.findIndex((value, i) => value !== current[i]);
      assertEquals(wrong, -1, `${points} points, after ${count} steps`);
    }
    assert(current.some((value) => value === 1) && current.some((value) => value === 0));
  }
}

function testCases(
  { stencil, boundary, cases, ignore = false }: {
    readonly stencil: Stencil;
    readonly boundary: Boundary;
    readonly cases: readonly LineCase[];
    readonly ignore?: boolean;
  },
): void {
  for (const one of cases) {
    const values = Object.entries(one.parameters).map(([name, value]) => `${name}=${value}`).join(" ");
    const lengths = Object.keys(one.runs).join(" and ");
    testOnGpu(
      `${stencil.title}, ${boundary}: ${one.traversal} ${values}, ${lengths} points`,
      (gpu) => assertBits(gpu, { ...one, stencil, boundary }),
      { ignore },
    );
  }
}

const onePointStepwise: LineCase = {
  traversal: "stepwise",
  parameters: { threadsZ: 64, threadsY: 1, threadsX: 1 },
  runs: { 257: [1, 40] },
};
const classics: LineCase[] = [
  { traversal: "classic", parameters: { threads: 32, points: 1 }, runs: { 11: [1, 2, 9] } },
  { traversal: "classic", parameters: { threads: 64, points: 4 }, runs: { 1001: [5, 40] } },
];

// Heat loses a point a row at each end: a triangle of 16 × 2 points has 16 rows, a step each.
const fullHeat: LineCase[] = [
  {
    traversal: "swept",
    parameters: { threads: 16, points: 2, steps: 16 },
    runs: { 32: [1, 15, 16, 17, 33, 50], 160: [45, 100] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 8, points: 4, steps: 16 },
    runs: { 32: [1, 2, 15, 16, 17, 35], 96: [15, 50] },
  },
];
// Fewer steps a dispatch: hexagons.
const narrowestFlat: LineCase = {
  traversal: "swept-register",
  parameters: { threads: 12, points: 2, steps: 11 },
  runs: { 26: [10, 11, 35], 78: [12, 23] },
};
const heatHexagons: LineCase[] = [
  {
    traversal: "swept",
    parameters: { threads: 24, points: 1, steps: 4 },
    runs: { 40: [31, 32, 33], 120: [1, 4, 5, 8, 9, 50] },
  },
  narrowestFlat,
  // two levels, the fewest
  {
    traversal: "swept-register",
    parameters: { threads: 12, points: 4, steps: 4 },
    runs: { 88: [3, 4, 40], 264: [1, 9, 30] },
  },
];

const heat = (boundary: Boundary, cases: readonly LineCase[]): void =>
  testCases({ stencil: bitHeat, boundary, cases });
heat("insulated", [onePointStepwise, ...classics, ...fullHeat, ...heatHexagons]);
heat("periodic", [onePointStepwise, ...classics, ...fullHeat.slice(0, 1), narrowestFlat]);

const classicKs: LineCase = {
  traversal: "classic",
  parameters: { threads: 32, points: 2 },
  runs: { 129: [1, 2, 9] },
};
// A triangle of 16 × 2 points has 8 rows of the flattened form: 4 steps; 16 rows of the other: 4 steps too.
const fullKs: LineCase = {
  traversal: "swept",
  parameters: { threads: 16, points: 2, steps: 4 },
  runs: { 32: [1, 3, 4, 5, 20], 96: [13] },
};
const sweptKsHexagon = (threads: number, pitch: number): LineCase => ({
  traversal: "swept",
  parameters: { threads, points: 1, steps: 2 },
  runs: { [pitch]: [1, 2, 3, 20], [3 * pitch]: [7] },
});
const registerKs = (steps: number, runs: LineCase["runs"]): LineCase => ({
  traversal: "swept-register",
  parameters: { threads: 4, points: 8, steps },
  runs,
});

testCases({
  stencil: bitKs,
  boundary: "insulated",
  cases: [classicKs, fullKs, registerKs(3, { 40: [1, 3, 4, 13], 80: [7] })],
});
testCases({ stencil: bitKs, boundary: "periodic", cases: [classicKs, sweptKsHexagon(24, 32)] });
testCases({ stencil: bitKs3, boundary: "insulated", cases: [classicKs] });
testCases({ stencil: bitKs3, boundary: "insulated", cases: [fullKs], ignore: !THOROUGH });
testCases({
  stencil: bitKs3,
  boundary: "periodic",
  cases: [classicKs, sweptKsHexagon(24, 32)],
});
testCases({
  stencil: bitKs3,
  boundary: "periodic",
  cases: [registerKs(4, { 32: [1, 3, 4, 5, 13], 96: [9] })],
  ignore: !THOROUGH,
});

/** Larger nodes, more points a thread, other steps a dispatch. */
const LARGE_HEAT: readonly LineCase[] = [
  {
    traversal: "swept",
    parameters: { threads: 32, points: 4, steps: 64 },
    runs: { 2048: [63, 64, 65, 129, 3] },
  },
  { traversal: "swept", parameters: { threads: 128, points: 2, steps: 128 }, runs: { 6144: [301] } },
  { traversal: "swept", parameters: { threads: 96, points: 1, steps: 32 }, runs: { 128: [31, 32, 33, 150] } },
  {
    traversal: "swept-register",
    parameters: { threads: 32, points: 2, steps: 32 },
    runs: { 64: [1, 2, 31, 32, 33, 70] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 32, points: 4, steps: 64 },
    runs: { 128: [63, 64, 65, 129, 200], 2048: [2, 61, 190] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 12, points: 8, steps: 48 },
    runs: { 288: [51, 99] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 24, points: 4, steps: 32 },
    runs: { 128: [1, 17, 90], 512: [31, 32, 33, 80] },
  },
];
const LARGE_KS: readonly LineCase[] = [
  { traversal: "swept", parameters: { threads: 64, points: 1, steps: 8 }, runs: { 2560: [37] } },
  { traversal: "swept", parameters: { threads: 32, points: 2, steps: 2 }, runs: { 448: [1, 2, 3, 20] } },
  {
    traversal: "swept-register",
    parameters: { threads: 12, points: 8, steps: 6 },
    runs: { 144: [1, 6, 7, 20], 288: [9] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 12, points: 8, steps: 12 },
    runs: { 96: [1, 11, 12, 13, 30], 288: [25] },
  },
];
for (const boundary of ["insulated", "periodic"] as const) {
  testCases({ stencil: bitHeat, boundary, cases: LARGE_HEAT, ignore: !THOROUGH });
  for (const stencil of [bitKs, bitKs3]) {
    testCases({ stencil, boundary, cases: LARGE_KS, ignore: !THOROUGH });
  }
}

// a tap further out than rows shrink: of the widest row it lies beyond the reach
const FAR: LineCase[] = [
  {
    traversal: "swept",
    parameters: { threads: 16, points: 2, steps: 8 },
    runs: { 32: [1, 8, 20], 96: [17] },
  },
  {
    traversal: "swept-register",
    parameters: { threads: 12, points: 4, steps: 12 },
    runs: { 48: [1, 12, 30] },
  },
];
for (const boundary of ["insulated", "periodic"] as const) {
  testCases({ stencil: bitFar, boundary, cases: FAR });
}
