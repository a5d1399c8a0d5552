import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { type ExchangeInput, exchangePeriods, sharedStepNs } from "../../models/exchange_period.ts";

/** Two devices of one speed: 100 slices each, 1 µs a slice. */
const CONTROL: ExchangeInput = {
  slices: 200,
  reach: 1,
  interfaces: 1,
  steps: 1000,
  cpuSliceNs: 1000,
  gpuSliceNs: 1000,
  exchangeNs: 0,
};

Deno.test("without ghost work or waiting, equal devices share equally", () => {
  // R = 1: the GPU computes one ghost slice, the CPU none: 200 + 1 slices on two devices
  assertAlmostEquals(sharedStepNs(1, CONTROL), 100_500, 1e-6);
  // R = 5: 5 and 2 on average
  assertAlmostEquals(sharedStepNs(5, CONTROL), 103_500, 1e-6);
});

Deno.test("an exchange costs its time once in R steps, a second interface its ghost cells again", () => {
  assertAlmostEquals(sharedStepNs(5, { ...CONTROL, exchangeNs: 10_000 }), 105_500, 1e-6);
  assertAlmostEquals(sharedStepNs(5, { ...CONTROL, interfaces: 2 }), 107_000, 1e-6);
  assertAlmostEquals(sharedStepNs(5, { ...CONTROL, reach: 2 }), 107_000, 1e-6);
});

Deno.test("a share is never thinner than its ghost zone", () => {
  const slowCpu = { ...CONTROL, cpuSliceNs: 1e6 };
  assertEquals(sharedStepNs(8, slowCpu), 1e6 * (8 + 3.5));
  const slowGpu = { ...CONTROL, gpuSliceNs: 1e6 };
  assertEquals(sharedStepNs(8, slowGpu), 1e6 * (8 + 8));
  assertEquals(sharedStepNs(101, CONTROL), Infinity);
});

Deno.test("the longer an exchange takes, the larger is R", () => {
  const best = [0, 1e5, 1e6, 1e7].map((exchangeNs) => exchangePeriods({ ...CONTROL, exchangeNs }, 1)[0]);
  assertEquals(best, [1, 16, 32, 64]); // 750 ns · R of ghost cells against exchangeNs / R
});

Deno.test("R is at most a run's steps and half the grid, and no R is left where none fits", () => {
  const waiting = { ...CONTROL, exchangeNs: 1e12 };
  assertEquals(exchangePeriods({ ...waiting, steps: 20 }, 1), [16]);
  assertEquals(exchangePeriods({ ...waiting, reach: 7 }, 1), [8]);
  assertEquals(exchangePeriods({ ...waiting, slices: 3, reach: 2 }, 3), []);
});

Deno.test("only R that come near the best are worth measuring", () => {
  for (const exchangeNs of [0, 1e5, 1e7]) {
    const input = { ...CONTROL, exchangeNs };
    const periods = exchangePeriods(input, 20);
    const times = periods.map((period) => sharedStepNs(period, input));
    assertEquals(times, times.toSorted((a, b) => a - b));
    assert(times.every((timeNs) => timeNs <= 1.5 * times[0]));
  }
});
