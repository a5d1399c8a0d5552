import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import { hashCell, noiseIn } from "../../kernels/initial_field.ts";
import { initialValue } from "./initial_value.ts";
import { layOut } from "../../kernels/layout.ts";
import type { Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import type { ValueRange } from "../../kernels/update.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertZeroPads, initialCells } from "./oracle_case.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { gatherCells, readCells } from "../devices/cells.ts";
import "../own_thread.ts";

Deno.test("noise is exact in f32, between -1 and 1, with the mean and spread of its distribution", () => {
  const cells = initialCells([40, 50, 50], "noise", 7);
  let sum = 0, squares = 0;
  for (const value of cells) {
    assert(value >= -1 && value < 1 && Number.isInteger(value * 2 ** 23));
    sum += value;
    squares += value * value;
  }
  assertAlmostEquals(sum / cells.length, 0, 5 * Math.sqrt(1 / 3 / cells.length));
  assertAlmostEquals(squares / cells.length, 1 / 3, 0.01);
});

Deno.test("integers are the eight whole numbers from -4 to 3, each about as often", () => {
  const counts = new Map<number, number>();
  const cells = initialCells([20, 20, 20], "integers", 7);
  for (const value of cells) counts.set(value, (counts.get(value) ?? 0) + 1);
  assertEquals([...counts.keys()].sort((a, b) => a - b), [-4, -3, -2, -1, 0, 1, 2, 3]);
  for (const count of counts.values()) assertAlmostEquals(count, 1000, 150);
});

/** Fields with ranges of their own; the last one's is a single value. */
const RANGES: readonly ValueRange[] = [[-1, 1], [0, 1], [0.1, 0.3], [-3e5, -1], [1e-30, 3e-30], [0.7, 0.7]];
const RANGED: Stencil = equation({
  name: "ranged",
  fields: Object.fromEntries(RANGES.map((range, i) => [`f${i}`, range])),
  materials: { m: [2, 3] },
  step: (planes) => Object.fromEntries(RANGES.map((_, i) => [`f${i}`, planes[`f${i}`]!])),
});

Deno.test("noise lies within the range of its field, fills it, and is exact in f32", () => {
  const grid: Grid = [10, 10, 30], cells = initialCells(grid, "noise", 7, RANGED);
  RANGES.forEach(([lowest, highest], field) => {
    const values: number[] = [];
    for (let x = 0; x < 10; x++) {
      values.push(...cells.subarray((x * 7 + field) * 300, (x * 7 + field + 1) * 300));
    }
    const least = Math.min(...values), most = Math.max(...values), span = highest - lowest;
    assert(least >= Math.fround(lowest) && most <= Math.fround(highest), `${least} … ${most}`);
    assert(least - lowest <= 0.01 * span && highest - most <= 0.01 * span + 1e-7, `${least} … ${most}`);
    assertEquals(new Set(values).size > 2900, span > 0);
  });
  // as f32 has 24 bits
  for (const range of RANGES) {
    const { least, count, unit } = noiseIn(range);
    assert(
      Math.max(Math.abs(least), Math.abs(least + count)) <= 2 ** 24 && Number.isInteger(Math.log2(unit)),
    );
  }
});

testOnGpu("the device's noise within ranges is the host's", async (gpu) => {
  const problem: Problem = { stencil: RANGED, grid: [3, 5, 37], boundary: "zero", steps: 1 };
  using field = await GpuField.create(
    gpu,
    problem,
    stepwise.plan(problem, { threadsZ: 8, threadsY: 1, threadsX: 1 }),
  );
  await field.initialise({ kind: "noise", seed: 5 });
  assertEquals(await readCells(field, 0), initialCells(problem.grid, "noise", 5, RANGED));
});

Deno.test("neighbours and seeds differ", () => {
  const cell = [3, 4, 5] as const;
  const others = [[4, 4, 5], [3, 5, 5], [3, 4, 6], [2, 4, 5], [4, 3, 5], [5, 4, 3]] as const;
  assertEquals(new Set([cell, ...others].map((one) => hashCell(one, 1))).size, 7);
  assert(initialValue("noise", cell, 1) !== initialValue("noise", cell, 2));
});

for (const kind of ["noise", "integers"] as const) {
  for (const seed of [0, 20_261_121, 2 ** 31 - 1]) {
    testOnGpu(`the device's ${kind} are the host's, seed ${seed}, whatever the layout`, async (gpu) => {
      const problem: Problem = { stencil: wave(4), grid: [7, 5, 37], boundary: "zero", steps: 1 };
      const torre = { dts: 1, nt: 2, zPerThread: 2, threads: 19, chunk: 4, unroll: 2, loads: "tier start" };
      const plans = [
        stepwise.plan(problem, { threadsZ: 8, threadsY: 1, threadsX: 1 }),
        diamondTorre.plan(problem, torre),
      ];
      for (const plan of plans) {
        using field = await GpuField.create(gpu, problem, plan);
        await field.initialise({ kind, seed });
        for (const ago of [0, 1] as const) {
          assertEquals(await readCells(field, ago), initialCells(problem.grid, kind, seed));
          await assertZeroPads(gpu, field, ago);
        }
      }
    });
  }
}

/** A part of a whole grid, round the whole grid's ends too, and its values. */
const PART = { kind: "noise", seed: 3, first: [6, -1, -2], whole: [9, 4, 13] } as const;
const PART_GRID = [5, 3, 11] as const;

function partCells(): FloatArray {
  const whole = initialCells([9, 4, 13], "noise", 3), cells: number[] = [];
  for (const x of [6, 7, 8, 0, 1]) {
    for (const y of [3, 0, 1]) {
      for (const z of [11, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8]) cells.push(whole[(x * 4 + y) * 13 + z]!);
    }
  }
  return Float32Array.from(cells);
}

Deno.test("a part's values on the CPU are those of its cells in the whole grid, round the ends too", async () => {
  const pool = await CpuPool.create({ workers: 1 });
  const layout = layOut(PART_GRID, { pad: [1, 1, 1] });
  const field = await pool.load({ update: wave(2).update, layout, boundary: "zero" });
  await field.initialise(PART);
  for (const level of [field.current, field.previous]) assertEquals(gatherCells(level, layout), partCells());
  pool.dispose();
});

testOnGpu(
  "a part's values on the GPU are those of its cells in the whole grid, round the ends too",
  async (gpu) => {
    const problem: Problem = { stencil: wave(2), grid: PART_GRID, boundary: "zero", steps: 1 };
    using field = await GpuField.create(
      gpu,
      problem,
      stepwise.plan(problem, { threadsZ: 8, threadsY: 1, threadsX: 1 }),
    );
    await field.initialise(PART);
    for (const ago of [0, 1] as const) assertEquals(await readCells(field, ago), partCells());
  },
);
