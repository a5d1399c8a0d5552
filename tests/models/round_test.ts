import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { planOf } from "../../models/rank_part.ts";
import { bestPlan, hasRisen, type PartCosts, predictPlan, updateNs, workOf } from "../../models/round.ts";

const COSTS: PartCosts = {
  updates: [{ steps: 1, ns: 2 }],
  shapes: {},
  shrinks: false,
  exchange: [20_000, 0.25, 3],
};

Deno.test("a cubic part in three dimensions costs what Eq. 3 and 5 of B2R say", () => {
  const delta = 2, B = 20, R = 3, ghost = R * delta;
  const problem: Problem = { stencil: heat(delta), grid: [60, 60, 60], boundary: "periodic", steps: 12 };
  const plan = planOf(problem, { parts: [3, 3, 3], exchangeEvery: R, rates: new Array(27).fill(1) })!;
  // Eq. 5's volume: all of the ghost zones, corners too
  const [axes, bytes, rows] = workOf(problem, plan, { number: 13, shrinks: false }).exchange;
  assertEquals(axes, 3);
  assertEquals(bytes, 4 * ((B + 2 * ghost) ** 3 - B ** 3));
  const { round, stepNs } = predictPlan(problem, plan, [COSTS]);
  assertAlmostEquals(round.computeNs, R * 2 * (B + 2 * ghost) ** 3);
  assertAlmostEquals(round.exchangeNs, 3 * 20_000 + 0.25 * bytes + 3 * rows);
  assertAlmostEquals(stepNs, (round.computeNs + round.exchangeNs) / R);
});

Deno.test("a device that leaves out what becomes invalid along x computes as much as Eq. 2 says", () => {
  const problem: Problem = { stencil: wave(2), grid: [64, 8, 8], boundary: "zero", steps: 12 };
  const plan = planOf(problem, { parts: [2, 1, 1], exchangeEvery: 4, rates: [1, 1] })!;
  const { round } = predictPlan(problem, plan, [{ ...COSTS, shrinks: true }]);
  // 36 slices, of which steps 1 to 4 leave out 1 to 4
  assertAlmostEquals(round.computeNs, 2 * 64 * (35 + 34 + 33 + 32));
  // F(t−1) is sent one reach less far
  assertEquals(workOf(problem, plan, { number: 0, shrinks: true }).exchange, [
    1,
    4 * 64 * (4 + 3),
    8 * (4 + 3),
  ]);
});

Deno.test("the best R grows with the latency of messages, and a faster rank gets more", () => {
  const problem: Problem = { stencil: heat(1), grid: [128, 64, 64], boundary: "zero", steps: 64 };
  const best = (latencyNs: number) =>
    bestPlan(problem, 4, [{ ...COSTS, exchange: [latencyNs, 0.25, 0] }])!.plan.exchangeEvery;
  const found = [0, 1e5, 1e6, 1e7].map(best);
  assertEquals(found, found.toSorted((a, b) => a - b));
  assert(found[0]! === 1 && found.at(-1)! >= 8, `${found}`);
  const uneven = [COSTS, { ...COSTS, updates: [{ steps: 1, ns: 4 }] }];
  const { plan: { extents } } = bestPlan(problem, 2, uneven, { parts: [2, 1, 1], exchangeEvery: 1 })!;
  // with a slice of a ghost zone each, 87 updates of 2 ns and 43 of 4 ns
  assertEquals(extents.map(({ size }) => size[0]), [86, 42]);
  assertEquals(bestPlan(problem, 2, [COSTS], { parts: [1, 1, 2], exchangeEvery: 40 }), undefined);
  const costs = { updates: [{ steps: 1, ns: 4 }, { steps: 4, ns: 2 }], shapes: { "1x1x4": 1.5 } };
  assertEquals(updateNs(costs, { exchangeEvery: 2, parts: [4, 1, 1] }), 3);
  assertEquals(updateNs(costs, { exchangeEvery: 2, parts: [1, 1, 4] }), 4.5);
});

Deno.test("in turns a part's exchange hides behind the other's computing, for the price of two ghost zones", () => {
  const problem: Problem = { stencil: heat(1), grid: [128, 64, 64], boundary: "zero", steps: 64 }, R = 4;
  const plan = planOf(problem, { parts: [4, 1, 1], exchangeEvery: R, rates: [1, 1, 1, 1] })!;
  // of a rank's 32 slices each part has 16, and 4 of a ghost zone at both ends
  const computeNs = 2 * R * 24 * 64 ** 2, bytes = 4 * R * 64 ** 2;
  for (const latencyNs of [1e3, 1e6]) {
    const costs = [{ ...COSTS, exchange: [latencyNs, 0.25, 0] as const }],
      exchangeNs = latencyNs + 0.25 * bytes;
    const { round } = predictPlan(problem, { ...plan, inTurns: true }, costs);
    assertEquals(round.computeNs, 2 * computeNs);
    assertAlmostEquals(round.exchangeNs, 2 * exchangeNs);
    assertAlmostEquals(round.roundNs, computeNs + Math.max(computeNs, exchangeNs));
  }
  const chosen = [0, 2e5].map((latencyNs) =>
    bestPlan(problem, 4, [{ ...COSTS, exchange: [latencyNs, 0, 0] }], { mayTurn: true })!.plan.inTurns ===
      true
  );
  assertEquals(chosen, [false, true]);
  // too thin for two parts
  const thin = { ...problem, grid: [4, 64, 64] as const };
  assertEquals(bestPlan(thin, 4, [COSTS], { mayTurn: true, parts: [4, 1, 1] })!.plan.inTurns, undefined);
});

Deno.test("larger R are measured until the largest is slower, however slow the smaller ones are", () => {
  const risen = (...tried: (readonly [exchangeEvery: number, stepNs: number])[]): boolean =>
    hasRisen(tried.map(([exchangeEvery, stepNs]) => ({ exchangeEvery, stepNs })));
  assertEquals([risen([4, 10], [1, 40], [2, 20]), risen([4, 10], [1, 40], [8, 11])], [false, false]);
  assertEquals([risen([4, 10], [1, 5]), risen([4, 10], [8, 13]), risen([4, 10], [4, 20])], [
    true,
    true,
    false,
  ]);
  assertEquals([risen(), risen([1, Infinity]), risen([1, 9], [2, Infinity])], [false, false, true]);
});
