import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../../bench/bench.ts";
import { benchGrids, type CpuComparison, threadsOverOne } from "../../bench/bench_grids.ts";
import { renderGrids } from "../../bench/render_grids.ts";
import { isPlainLoop, writeC } from "../../bench/write_c.ts";
import { equation } from "../../kernels/equation.ts";
import { layOut } from "../../kernels/layout.ts";
import { multiply } from "../../kernels/operations.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";

const FOUND: CpuComparison = {
  title: "heat diffusion",
  grid: [64, 64, 64],
  bytes: 2 ** 21,
  copyBytesPerSecond: 3e10,
  samples: 12,
  cellsPerSecond: { c: 2e9, one: 1.9e9, stepwise: 3.61e9, strips: 3.7e9, diamonds: 5e9, native: 4e9 },
  ratios: { one: 0.95, strips: 1.025, diamonds: 1.385, native: 1.1 },
  diamondsOverNative: 1.25,
  chosen: { strips: { strip: 8 }, diamonds: { tiles: 4, levels: 8, block: 2, fused: 1 } },
  wrong: [],
};

Deno.test("the results are tables that say what was compared", () => {
  assertEquals(
    renderGrids([FOUND], 2).split("\n").slice(3),
    `                               copy     C  1 worker  stepwise  strips  diamonds  native  samples
heat diffusion, 64x64x64  30.0 GB/s  2.00      1.90      3.61    3.70      5.00    4.00       12

Ratios, medians over the turns: one worker by C, all workers by their own stepwise, diamonds by native.

                          1 worker/C  strips  diamonds  native  diamonds/native  strips chosen  diamonds chosen
heat diffusion, 64x64x64        0.95    1.02      1.39    1.10             1.25  strip=8        tiles=4 levels=8 block=2 fused=1

All ways gave the same field, bit for bit; where products are fused, within rounding.`.split("\n"),
  );
});

Deno.test("what was not measured is a dash, a missing compiler is mentioned, and fields that differ are named", () => {
  const { c: _, native: _native, ...cellsPerSecond } = FOUND.cellsPerSecond;
  const lines = renderGrids([{ ...FOUND, cellsPerSecond, wrong: ["strips"] }], 2).split("\n");
  assertEquals(
    lines[2],
    "The loops in C are left out: they need gcc, and one field without materials or a signal.",
  );
  assertEquals(lines[5]!.split(/ {2,}/).slice(2), ["–", "1.90", "3.61", "3.70", "5.00", "–", "12"]);
  assertEquals(lines.at(-1), "DIFFERENT FIELDS: heat diffusion, 64x64x64: strips");
});

Deno.test("a native loop that threads slow down is measured on one, and that is said", async () => {
  const asked: number[] = [];
  const loop = (stepNs: number) => ({
    run: (steps: number) => {
      asked.push(steps);
      return Promise.resolve(steps * stepNs);
    },
  });
  assertAlmostEquals(await threadsOverOne(loop(150e3), loop(1e3)), 1 / 150);
  // what is slow is not asked for more than the fast one needs to be timed
  assertEquals(Math.max(...asked), 5000);
  assertAlmostEquals(await threadsOverOne(loop(1e9), loop(1.9e9)), 1.9);
  const lines = renderGrids([{ ...FOUND, threadsOverOne: 1 / 150 }, { ...FOUND, threadsOverOne: 1.9 }], 2);
  const said =
    "NATIVE ON ONE THREAD: heat diffusion, 64x64x64: 2 threads run at 0.67% of its rate: are cores free?";
  assertEquals([lines.split(said).length, lines.split("NATIVE").length], [2, 2]);
  const cellsPerSecond = { ...FOUND.cellsPerSecond, native: 1.9e9 };
  assertStringIncludes(
    renderGrids([{ ...FOUND, cellsPerSecond }], 2),
    "NATIVE BELOW C: heat diffusion, 64x64x64:",
  );
});

Deno.test("every way to compute a grid is measured, and all give the same field", async () => {
  const [found] = await benchGrids({ stencils: [heat(1)], grids: [[12, 40, 30]], workers: 2, timeMs: 0 });
  const { c: _, native: _native, ...cellsPerSecond } = found!.cellsPerSecond;
  assertEquals(Object.keys(cellsPerSecond), ["one", "stepwise", "strips", "diamonds"]);
  assertEquals(found!.wrong, []);
  assert(found!.copyBytesPerSecond > 0);
});

Deno.test("equations of the user's own are measured, in C where they are plain loops", async () => {
  const two = equation({
    name: "two",
    fields: { u: [0, 1], v: [0, 1] },
    step: ({ u, v }) => ({ u: v.at(1, 0, 0), v: multiply(0.5, u) }),
  });
  const [found] = await benchGrids({ stencils: [two], grids: [[5, 9, 14]], workers: 1, timeMs: 0 });
  assertEquals([found!.wrong, found!.cellsPerSecond.c], [[], undefined]);
  assertEquals([isPlainLoop(two.update), isPlainLoop(heat(1).update)], [false, true]);
  // its initial values are those of the field's range: 3 · 2²² multiples of 2⁻²²
  const { update } = equation({
    name: "one",
    fields: { u: [0, 3] },
    step: ({ u }) => ({ u: multiply(0.5, u) }),
  });
  assertStringIncludes(
    writeC({ update, layout: layOut([5, 9, 14], { pad: [0, 0, 0] }) }),
    "% 12582912u) + 0) * 2.384185791015625e-7f",
  );
});

Deno.test("wrong options are refused before any work", async () => {
  const cases: string[][] = [
    ["--order", "3"],
    ["--delta", "2", "--stencil", "wave"],
    ["--grid", "0x1x1"],
    ["--workers", "0"],
    ["--workers", "1.5"],
    ["--seconds", "0"],
    ["--seconds=-1"],
    ["--fast"],
    ["--stencil", "./none.ts"],
  ];
  for (const args of cases) {
    const error = await assertRejects(() => run(args), RequestError);
    assertStringIncludes(error.message, args[0]!.split("=")[0]!);
  }
});
