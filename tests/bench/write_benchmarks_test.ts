import { assertEquals, assertLessOrEqual, assertThrows } from "@std/assert";
import { newestOf, renderBenchmarks, type Tune } from "../../bench/write_benchmarks.ts";

Deno.test("BENCHMARKS.md is what its command writes, and stays a page", async () => {
  const page = await Deno.readTextFile("BENCHMARKS.md");
  assertEquals(page, await renderBenchmarks());
  assertLessOrEqual(page.split("\n").length, 201);
});

Deno.test("of a problem on a GPU the newest run counts, cubes before squares", () => {
  const tune = (gpu: "H100" | "H200", grid: string, date: string): Tune => ({
    ...{ table: "tunes", gpu, options: `--order 2 --grid ${grid}`, gcells: 1 },
    ...{ stepwise: null, by: null, budget: "10s", date },
  });
  const flat = tune("H100", "64x64", "2026-11-20"), old = tune("H100", "8x8x8", "2026-11-21");
  const newer = tune("H100", "8x8x8", "2026-11-22"), other = tune("H200", "8x8x8", "2026-11-20");
  for (const runs of [[flat, old, newer, other], [flat, newer, old, other]]) {
    assertEquals(newestOf(runs), [newer, other, flat]);
  }
  assertThrows(() => newestOf([newer, { ...newer, gcells: 2 }]), RangeError, "two runs at 2026-11-22");
});
