import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { SURE_BLOCKS } from "../../tuner/measuring/final_round.ts";
import {
  blocksTime,
  expectTurn,
  finalsDeadline,
  Latency,
  planTime,
  timeAfterSearch,
} from "../../tuner/tune/time_plan.ts";
import { measurementNamed } from "../measuring/fake_runner.ts";

const turns = (count: number, ns: number) => Array(count).fill({ firstNs: ns, againNs: ns });

Deno.test("stages follow each other, the minimum of the final round fits, and a slower device searches less", () => {
  const ns = fc.double({ min: 0, max: 100e9, noNaN: true });
  const property = fc.property(
    fc.double({ min: 1e9, max: 1e12, noNaN: true }),
    fc.integer({ min: 1, max: 4 }),
    ns,
    ns,
    fc.option(ns, { nil: undefined }),
    fc.boolean(),
    (timeNs, count, turnNs, referenceNs, cpuNs, hasGpu) => {
      const time = { startedNs: 5e9, timeNs };
      const plan = (slower: number) =>
        planTime(time, {
          turns: turns(count, slower * turnNs),
          referenceNs: slower * referenceNs,
          cpuNs: slower * (cpuNs ?? 0),
          hasGpu,
          balanceNs: cpuNs ?? 0,
        });
      const { searchUntilNs, cpuUntilNs, finalsUntilNs, endNs } = plan(1);
      assert(searchUntilNs <= cpuUntilNs && cpuUntilNs < finalsUntilNs);
      assert(finalsUntilNs <= endNs && endNs === 5e9 + timeNs);
      assert(hasGpu || searchUntilNs === cpuUntilNs, "without a GPU all the time of the search is the CPU's");
      const leastNs = referenceNs + blocksTime(turns(Math.min(count, 2), turnNs), SURE_BLOCKS);
      assert(finalsUntilNs - cpuUntilNs >= leastNs * (1 - 1e-9) - 1e3);
      assert(plan(2).searchUntilNs <= searchUntilNs);
    },
  );
  fc.assert(property, { seed: 1 });
});

Deno.test("without a budget of time no stage ends the search, and the others take no longer than usual", () => {
  const plan = planTime({ startedNs: 0, timeNs: Infinity }, {
    turns: turns(3, 1e9),
    referenceNs: 1e9,
    cpuNs: 1e9,
    hasGpu: true,
    balanceNs: 1e9,
  });
  assertEquals([plan.searchUntilNs, plan.finalsUntilNs], [Infinity, Infinity]);
  assertEquals(finalsDeadline(plan, { nowNs: 3e9, wantedNs: 1e9 }), 13e9);
  assertEquals(finalsDeadline(plan, { nowNs: 3e9, wantedNs: 40e9 }), 43e9);
});

Deno.test("after counted evaluations comes what a budget of time would leave", () => {
  const after = (elapsedNs: number, turnNs: number): number =>
    timeAfterSearch(elapsedNs, { turns: turns(2, turnNs), balanceNs: turnNs }) - elapsedNs;
  const usual = after(1e9, 0), long = after(400e9, 0);
  assertAlmostEquals(
    usual,
    60e9 - planTime({ startedNs: 0, timeNs: 60e9 }, {
      turns: turns(2, 0),
      referenceNs: 0,
      cpuNs: 0,
      hasGpu: true,
      balanceNs: 1,
    }).searchUntilNs,
    1e9,
  );
  assertAlmostEquals(long / (400e9 + long), usual / 60e9, 1e-9);
  assertEquals(after(1e9, 10e9), 70e9); // three blocks of two, and a balance
});

Deno.test("evaluations side by side wait for each other's turns, but compile at the same time", () => {
  const latency = new Latency();
  assertEquals(latency.expectNs(15), 0);
  const measurement = { ...measurementNamed("a", 1e9), compileNs: 2e9 };
  const { configuration } = measurement;
  latency.observe({ evaluation: { configuration, measurement }, evaluationNs: 2.5e9 });
  // the first of fifteen: what the others have not reported yet makes it no longer
  assertEquals([1, 15].map((evaluators) => latency.expectNs(evaluators)), [2.5e9, 9.5e9]);
  const failure = { reason: "timeout", message: "" } as const;
  latency.observe({ evaluation: { configuration, failure }, evaluationNs: 1.5e9 });
  assertAlmostEquals(latency.expectNs(2), (2e9 + 2 * 2e9) / 2, 1);
});

Deno.test("a fast device leaves the search nearly all the budget, a slow one three quarters", () => {
  const time = { startedNs: 0, timeNs: 60e9 }, alone = { cpuNs: 0, hasGpu: true, balanceNs: 0 };
  const turns = (ns: number) => Array(3).fill({ firstNs: ns, againNs: ns });
  const fast = planTime(time, { turns: turns(0.1e9), referenceNs: 0, ...alone });
  assertEquals([fast.searchUntilNs, fast.finalsUntilNs], [49.8e9, 58.8e9]);
  const slow = planTime(time, { turns: turns(2e9), referenceNs: 1e9, ...alone });
  assertEquals(slow.searchUntilNs, 43.8e9); // three blocks of three and the reference would take 19 s: a quarter is kept
});

Deno.test("a turn takes what the evaluation took, with the samples of a turn in place of its own", () => {
  // a run of a second, timed three times; two seconds to initialise, run and verify, and one to compile
  const measurement = { cellsPerSecond: 1e9, samples: [1e9, 1e9, 1e9], compileNs: 1e9 };
  const options = { updates: 1e9, minBatchNs: 2e6, evaluationNs: 6e9 };
  assertEquals(expectTurn(measurement, options), { firstNs: 4e9, againNs: 3e9 });
  // what the CPU ran before is verified with its first sample
  const again = expectTurn(measurement, { ...options, isWarm: true, searchRuns: 1 });
  assertEquals(again, { firstNs: 3e9, againNs: 2e9 });
  // short runs may be sampled often on a noisy device, on a GPU that is kept busy twice
  const short = { ...measurement, cellsPerSecond: 1e11 };
  assertEquals(expectTurn(short, { ...options, evaluationNs: 0 }).againNs, 0.31e9);
  const gpu = { updates: 1e9, minBatchNs: 100e6, evaluationNs: 0 };
  assertEquals(expectTurn({ ...short, clock: 1 }, gpu).againNs, 0.21e9);
  // a run as long as a batch is verified and is a sample; another follows where both end within a second
  const turnOf = (rate: number) =>
    expectTurn({ ...measurement, cellsPerSecond: rate, clock: 1 }, gpu).againNs;
  assertEquals([turnOf(5e9), turnOf(0.5e9)], [0.4e9, 2e9]);
});
