import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../../bench/bench.ts";
import { type CpuComparison, renderGrids } from "../../bench/bench_grids.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";

const FOUND: CpuComparison = {
  order: 2,
  grid: [64, 64, 64],
  bytes: 2 ** 21,
  samples: 12,
  cCellsPerSecond: 2e9,
  oneCellsPerSecond: 1.9e9,
  manyCellsPerSecond: 3.61e9,
  oneOverC: 0.95,
  manyOverOne: 1.9,
  sameBits: true,
};

Deno.test("the results are a table that says what was compared", () => {
  assertEquals(
    renderGrids([FOUND, { ...FOUND, order: 14, oneCellsPerSecond: 0.5e9, oneOverC: 1.2345 }], 2),
    `Wave equation, boundary zero, f32; medians of samples taken in turns. C: plain loops, gcc -O3 -msse4.1 -ffp-contract=off, one thread.

grid      MiB  order              C        1 worker  of C      2 workers  of 1  samples
64x64x64    2      2  2.00 Gcells/s   1.90 Gcells/s  0.95  3.61 Gcells/s  1.90       12
64x64x64    2     14  2.00 Gcells/s  0.500 Gcells/s  1.23  3.61 Gcells/s  1.90       12

All ways gave the same field, bit for bit.`,
  );
});

Deno.test("what was not measured is a dash, and a missing compiler is mentioned", () => {
  const lines = renderGrids([
    { ...FOUND, cCellsPerSecond: null, oneOverC: null, manyCellsPerSecond: null, manyOverOne: null },
  ], 1).split("\n");
  assertEquals(lines[1], "There is no gcc on this machine: the loops in C are left out.");
  assertEquals(lines[4]!.split(/ {2,}/), ["64x64x64", "2", "2", "–", "1.90 Gcells/s", "–", "–", "–", "12"]);
});

Deno.test("fields that differ are named", () => {
  const text = renderGrids([FOUND, { ...FOUND, order: 8, sameBits: false }], 2);
  assertEquals(text.split("\n").at(-1), "DIFFERENT FIELDS: order 8 on 64x64x64");
});

Deno.test("wrong options are refused before any work", async () => {
  const cases: string[][] = [
    ["--order", "3"],
    ["--grid", "0x1x1"],
    ["--workers", "0"],
    ["--workers", "1.5"],
    ["--seconds", "0"],
    ["--seconds=-1"],
    ["--fast"],
  ];
  for (const args of cases) {
    const error = await assertRejects(() => run(args), RequestError);
    assertStringIncludes(error.message, args[0]!.split("=")[0]!);
  }
});
