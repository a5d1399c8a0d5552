import { assert, assertEquals } from "@std/assert";
import { runReference } from "../../kernels/reference.ts";
import type { Boundary, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { classic } from "../../kernels/traversals/classic.ts";
import { hybrid } from "../../kernels/traversals/hybrid.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { swept } from "../../kernels/traversals/swept.ts";
import { sweptRegister } from "../../kernels/traversals/swept_register.ts";
import type { Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { initialCells } from "../../tuner/devices/reference.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { bitHeat, bitKs, bitKs3 } from "./line_stencils.ts";

const SEED = 20_261_121;

/** A line, how it is swept, and the runs that follow one another on the same field. */
interface LineCase {
  readonly traversal: Traversal;
  readonly parameters: Parameters;
  readonly points: number;
  readonly runs: readonly number[];
}

function describe({ traversal, parameters, points, runs }: LineCase): string {
  const values = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
  return `${traversal.name} ${values}, ${points} points, ${runs.join(" + ")} steps`;
}

/** Bits have no rounding: every point of every field is the oracle's after each run. */
async function assertBits(
  gpu: GpuDevice,
  { stencil, boundary, traversal, parameters, points, runs }: LineCase & {
    stencil: Stencil;
    boundary: Boundary;
  },
): Promise<void> {
  const grid = [1, 1, points] as const;
  const problem: Problem = { stencil, grid, boundary, steps: Math.max(...runs) };
  assertEquals(traversal.refuse(problem), undefined);
  assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
  using field = await GpuField.create(gpu, problem, traversal.plan(problem, parameters));
  await field.initialise({ kind: "binary", seed: SEED });
  let current = initialCells({ grid, stencil }, { kind: "binary", seed: SEED });
  for (const steps of runs) {
    await field.run(steps);
    current = runReference({ current, previous: current }, { update: stencil.update, grid, boundary, steps })
      .current as Float32Array<ArrayBuffer>;
    const found = await field.readCells(0);
    assertEquals(found.findIndex((value, i) => value !== current[i]), -1, `after ${steps} steps`);
  }
  assert(current.some((value) => value === 1) && current.some((value) => value === 0));
}

/** Steps in and around a cycle: a triangle of 32 × 4 points has 64 rows. */
const HEAT_CASES: readonly LineCase[] = [
  { traversal: stepwise, parameters: { threadsZ: 64, threadsY: 1, threadsX: 1 }, points: 257, runs: [1, 40] },
  { traversal: classic, parameters: { threads: 32, points: 1 }, points: 11, runs: [1, 2, 9] },
  { traversal: classic, parameters: { threads: 64, points: 4 }, points: 1001, runs: [5, 40] },
  {
    traversal: swept,
    parameters: { threads: 32, points: 1, steps: 16 },
    points: 32,
    runs: [1, 15, 16, 17, 33, 50],
  },
  {
    traversal: swept,
    parameters: { threads: 32, points: 4, steps: 64 },
    points: 2048,
    runs: [63, 64, 65, 129, 3],
  },
  { traversal: swept, parameters: { threads: 128, points: 2, steps: 128 }, points: 3 * 2048, runs: [301] },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 2, steps: 32 },
    points: 64,
    runs: [1, 2, 31, 32, 33, 70],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 4, steps: 64 },
    points: 128,
    runs: [63, 64, 65, 129, 200],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 4, steps: 64 },
    points: 2048,
    runs: [2, 61, 190],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 64, points: 8, steps: 256 },
    points: 3 * 2048,
    runs: [259, 511],
  },
  // fewer steps a dispatch: hexagons
  {
    traversal: swept,
    parameters: { threads: 32, points: 1, steps: 4 },
    points: 168,
    runs: [1, 4, 5, 8, 9, 50],
  },
  {
    traversal: swept,
    parameters: { threads: 96, points: 1, steps: 32 },
    points: 128,
    runs: [31, 32, 33, 150],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 4, steps: 16 },
    points: 224,
    runs: [1, 17, 90],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 2, steps: 31 },
    points: 66,
    runs: [30, 31, 95],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 4, steps: 4 },
    points: 744,
    runs: [3, 4, 40],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 96, points: 4, steps: 128 },
    points: 2048,
    runs: [127, 128, 129, 300],
  },
  { traversal: hybrid, parameters: { threads: 32, points: 2, steps: 32 }, points: 64, runs: [1, 31, 33, 70] },
  { traversal: hybrid, parameters: { threads: 64, points: 2, steps: 64 }, points: 5 * 128, runs: [90, 200] },
];

for (const boundary of ["insulated", "periodic"] as const) {
  for (const one of HEAT_CASES) {
    testOnGpu(
      `bits of heat-1d, ${boundary}: ${describe(one)}`,
      (gpu) => assertBits(gpu, { ...one, stencil: bitHeat, boundary }),
    );
  }
}

/** 32 × 8 points: 64 rows of the flattened form, 32 steps. */
const KS_CASES: readonly LineCase[] = [
  { traversal: classic, parameters: { threads: 32, points: 2 }, points: 129, runs: [1, 2, 9] },
  { traversal: swept, parameters: { threads: 32, points: 2, steps: 8 }, points: 64, runs: [1, 7, 8, 9, 40] },
  { traversal: swept, parameters: { threads: 64, points: 1, steps: 8 }, points: 5 * 512, runs: [37] },
  { traversal: swept, parameters: { threads: 32, points: 2, steps: 2 }, points: 448, runs: [1, 2, 3, 20] },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 8, steps: 16 },
    points: 384,
    runs: [1, 16, 17, 50],
  },
  { traversal: hybrid, parameters: { threads: 32, points: 2, steps: 8 }, points: 192, runs: [3, 40] },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 8, steps: 32 },
    points: 256,
    runs: [1, 31, 32, 33, 80],
  },
  {
    traversal: sweptRegister,
    parameters: { threads: 32, points: 8, steps: 32 },
    points: 3 * 2048,
    runs: [75, 64],
  },
];

for (const boundary of ["insulated", "periodic"] as const) {
  for (const stencil of [bitKs, bitKs3]) {
    for (const one of KS_CASES) {
      testOnGpu(
        `${stencil.title}, ${boundary}: ${describe(one)}`,
        (gpu) => assertBits(gpu, { ...one, stencil, boundary }),
      );
    }
  }
}
