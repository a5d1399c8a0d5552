import { assert, assertAlmostEquals } from "@std/assert";
import { type Passage, passageTimes, windowRate } from "../../models/window.ts";

/** 2 GB of levels: 0.556 s up, 0.588 s back. */
const PASSAGE: Passage = { cells: 250e6, steps: 100, bytes: 2e9, sections: 20 };

Deno.test("a passage takes the longer of computing and moving, a part of the shorter, and its waits", () => {
  const { compute, transfer, wait } = passageTimes(PASSAGE, 500e9);
  assertAlmostEquals(compute, 0.05);
  assertAlmostEquals(transfer, 2 / 3.6 + 2 / 3.4);
  assertAlmostEquals(wait, 0.22);
  const seconds = 2 / 3.6 + 2 / 3.4 + 0.05 / 20 + 0.22;
  assertAlmostEquals(windowRate(PASSAGE, 500e9) / 1e9, 25 / seconds, 1e-6);
});

Deno.test("longer passages approach the resident rate and never exceed it", () => {
  const rates = [100, 1000, 10_000, 1e6].map((steps) => windowRate({ ...PASSAGE, steps }, 500e9));
  rates.reduce((before, rate) => {
    assert(before < rate && rate < 500e9, `${rates}`);
    return rate;
  });
  assert(rates[3]! > 0.99 * 500e9);
});
