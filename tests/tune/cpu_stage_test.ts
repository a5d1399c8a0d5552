import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import type { CpuField } from "../../tuner/devices/cpu/cpu_field.ts";
import type { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { probeCpu } from "../../tuner/tune/cpu_stage.ts";

/** Workers that take so long for a step, and note the steps of every run. */
function slowPool(stepNs: number): { pool: Pick<CpuPool, "workers" | "load">; runs: number[] } {
  const runs: number[] = [];
  const field = {
    initialise: () => Promise.resolve(),
    run: ({ steps }: { steps: number }) => {
      runs.push(steps);
      return Promise.resolve(steps * stepNs);
    },
    dispose: () => Promise.resolve(),
  } as unknown as CpuField;
  return { pool: { workers: 2, load: () => Promise.resolve(field) }, runs };
}

function problemOf(grid: Grid): Problem {
  return grid[0] === 1
    ? { stencil: heat1d(), grid, boundary: "insulated", steps: 2048 }
    : { stencil: heat(1), grid, boundary: "zero", steps: 96 };
}

Deno.test("a probe of a tiny grid takes as long as any other, not as many cell updates", async () => {
  // three points on busy cores: a step is a barrier of workers that wait for each other
  const { pool, runs } = slowPool(20_000);
  const rate = await probeCpu(pool, problemOf([1, 1, 3]));
  assertAlmostEquals(rate, 3 / 20e-6, 1);
  assert(runs.reduce((a, b) => a + b) * 20e-6 < 0.1, `${runs}`);
});

Deno.test("a probe of a large grid stays with a few steps on a few slices", async () => {
  const { pool, runs } = slowPool(3e6);
  await probeCpu(pool, problemOf([400, 256, 256]));
  assertEquals(runs, [4, 4, 4, 4, 4]);
});

Deno.test("a probe of a quick small grid is long enough to be timed", async () => {
  const { pool, runs } = slowPool(100);
  await probeCpu(pool, problemOf([1, 1, 256]));
  assert(runs.at(-1)! * 100 > 5e6, `${runs}`);
});
