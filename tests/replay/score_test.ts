import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { randomBaseline, scoreOf } from "../../tuner/replay/score.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { shuffled } from "../../tuner/search/baselines.ts";

const rate = fc.option(fc.double({ min: 0.01, max: 100, noNaN: true }), { nil: undefined });

/** All ways to choose `count` of the items. */
function* choose<T>(items: readonly T[], count: number): Generator<T[]> {
  if (count === 0) return yield [];
  for (let i = 0; i + count <= items.length; i++) {
    for (const rest of choose(items.slice(i + 1), count - 1)) yield [items[i]!, ...rest];
  }
}

Deno.test("the baseline is the mean over all draws that there are", () => {
  fc.assert(fc.property(fc.array(rate, { minLength: 1, maxLength: 7 }), (rates) => {
    fc.pre(rates.some((one) => one !== undefined));
    const { expected, optimum, worst } = randomBaseline(rates);
    const costs = rates.flatMap((one) => one === undefined ? [] : 1 / one);
    assertEquals([optimum, worst], [Math.min(...costs), Math.max(...costs)]);
    for (let n = 1; n <= rates.length; n++) {
      const best = [...choose(rates, n)].map((drawn) =>
        Math.min(worst, ...drawn.flatMap((one) => one === undefined ? [] : 1 / one))
      );
      assertAlmostEquals(expected[n - 1]!, best.reduce((a, b) => a + b) / best.length, 1e-9 * worst);
    }
  }));
});

Deno.test("the baseline falls to the optimum, and the cutoff is where 95% of the way is done", () => {
  fc.assert(fc.property(fc.array(rate, { minLength: 1, maxLength: 200 }), (rates) => {
    fc.pre(rates.some((one) => one !== undefined));
    const { expected, optimum, cutoff, budgets } = randomBaseline(rates);
    assertAlmostEquals(expected.at(-1)!, optimum, 1e-9 * optimum);
    for (let n = 1; n < expected.length; n++) assert(expected[n]! <= expected[n - 1]! * (1 + 1e-12));
    assert(cutoff >= 1 && cutoff <= rates.length);
    assertEquals([budgets[0] === 1 || cutoff === 1, budgets.at(-1)], [true, cutoff]);
    budgets.slice(1).forEach((budget, i) => assert(budget > budgets[i]!));
  }));
});

Deno.test("the cutoff of ten evenly spread costs, worked by hand", () => {
  // costs 1 … 10: the median is 5, 95% of the way 1.2; E[min of n of N] = (N + 1) / (n + 1) = 11 / (n + 1)
  const { expected, cutoff } = randomBaseline(Array.from({ length: 10 }, (_, i) => 1 / (i + 1)));
  expected.forEach((cost, i) => assertAlmostEquals(cost, 11 / (i + 2), 1e-9));
  assertEquals(cutoff, 9); // 11 / 10 = 1.1; 11 / 9 = 1.22 is not enough
});

Deno.test("random search scores 0 on average, the optimum at once 1, the worst below 0", () => {
  const draw = seededRandom(1);
  const rates = Array.from({ length: 100 }, (_, i) => i % 9 === 0 ? undefined : 0.1 + draw());
  const baseline = randomBaseline(rates);
  const optimum = Math.max(...rates.map((one) => one ?? 0));
  assertEquals(scoreOf(baseline, [[optimum]]), 1);
  const runs = Array.from({ length: 4000 }, () => {
    let best: number | undefined;
    return shuffled(rates, draw).map((one) => best = Math.max(one ?? 0, best ?? 0) || undefined);
  });
  const score = scoreOf(baseline, runs);
  assert(Math.abs(score) < 0.05, `${score}`);
  assert(scoreOf(baseline, [[Math.min(...rates.map((one) => one ?? Infinity))]]) < -1);
  assert(scoreOf(baseline, [[undefined]]) < -1); // no rate yet counts as the worst
});

Deno.test("a space where all are alike leaves nothing to find; one without rates is refused", () => {
  assertEquals(scoreOf(randomBaseline([2, 2, 2]), [[2]]), 1);
  assertThrows(() => randomBaseline([undefined]), RangeError, "no configuration has a rate");
});
