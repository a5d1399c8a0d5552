import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { laterRunInterval, noiseOfTurns, RUN_TO_RUN, TURN_TO_TURN } from "../../tuner/measuring/later_run.ts";
import { median, medianInterval95 } from "../../tuner/measuring/statistics.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { normal } from "./simulated_device.ts";

type Interval = readonly [low: number, high: number];

/** How often an interval of one run holds the median of the next: turns differ by 3%, samples of a turn by 0.2%. */
function coverage(intervalOf: (turns: number[][], rate: number) => Interval, turns: number): number {
  const draw = seededRandom(5);
  const run = (): number[][] =>
    Array.from({ length: turns }, () => {
      const turn = 100 * Math.exp(0.03 * normal(draw));
      return Array.from({ length: 3 }, () => turn * Math.exp(0.002 * normal(draw)));
    });
  let held = 0;
  for (let trial = 0; trial < 2000; trial++) {
    const one = run(), later = median(run().flat());
    const [low, high] = intervalOf(one, median(one.flat()));
    if (low <= later && later <= high) held++;
  }
  return held / 2000;
}

Deno.test("it holds the rate of a later run 19 times in 20, where an interval of all samples does not", () => {
  for (const turns of [2, 3, 6, 12]) {
    const ours = coverage((samples, rate) => laterRunInterval(samples, { rate }), turns);
    assert(ours >= 0.92, `${turns} turns: ${ours}`); // the median of turns varies more than their mean
    const naive = coverage((samples) => medianInterval95(samples.flat()), turns);
    assert(naive < 0.85, `${turns} turns, all samples: ${naive}`);
  }
});

Deno.test("what was chosen among several has a wider interval", () => {
  const turns = [[97], [100], [103], [101]];
  const [low, high] = laterRunInterval(turns, { rate: 100 });
  const [lower, higher] = laterRunInterval(turns, { rate: 100, among: 5 });
  assert(lower < low && high < higher);
});

Deno.test("turns that agree say nothing of another run: it is as wide as runs differ", () => {
  const [low, high] = laterRunInterval([[100, 100], [100], [100]], { rate: 100 });
  assertAlmostEquals(low, 100 * (1 - RUN_TO_RUN), 1e-9);
  assertAlmostEquals(high, 100 * (1 + RUN_TO_RUN), 1e-9);
});

Deno.test("what others show of the noise makes up for few turns, but hides none of one's own", () => {
  const draw = seededRandom(7);
  const turnsOf = (turns: number, part: number) =>
    Array.from({ length: turns }, () => [100 * Math.exp(part * normal(draw))]);
  const others = Array.from({ length: 6 }, () => turnsOf(2, 0.02));
  const noise = noiseOfTurns(others);
  assertEquals(noise.degrees, 6);
  assert(noise.deviation > 0.01 && noise.deviation < 0.04, `${noise.deviation}`);
  assertEquals(noiseOfTurns([[[100]], [[101]]]), { deviation: 0, degrees: 0 });
  const widthOf = ([low, high]: Interval): number => high - low;
  const alike = [[100], [100.1]];
  // two turns that agree by chance, and two that do not: both are known better with the others
  assert(widthOf(laterRunInterval(alike, { rate: 100, noise })) > 2 * 0.02 * 100);
  const apart = [[98], [102]], options = { rate: 100, among: 5 };
  assert(
    widthOf(laterRunInterval(apart, { ...options, noise })) < 0.2 * widthOf(laterRunInterval(apart, options)),
  );
  assertEquals(
    laterRunInterval([[60], [140]], { rate: 100, noise: { deviation: 1e-6, degrees: 1 } }),
    laterRunInterval([[60], [140]], { rate: 100 }),
  );
});

Deno.test("one turn says nothing of the next, however often it was sampled", () => {
  assertEquals(laterRunInterval([Array(30).fill(100)], { rate: 100 }), [
    100 * (1 - TURN_TO_TURN),
    100 * (1 + TURN_TO_TURN),
  ]);
  const wild = [80, 90, 100, 110, 120, 130];
  assertEquals(laterRunInterval([wild], { rate: 105 }), medianInterval95(wild));
  assertEquals(laterRunInterval([[100]], { rate: 100 }), [0, 200]);
});

Deno.test("it is finite and holds the rate, whatever was measured", () => {
  const rate = fc.double({ min: 1e-3, max: 1e15, noNaN: true });
  const turns = fc.array(fc.array(rate, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 });
  const property = fc.property(turns, fc.integer({ min: 1, max: 9 }), (turns, among) => {
    const samples = turns.flat();
    const [low, high] = laterRunInterval(turns, { rate: median(samples), among });
    assert(low >= 0 && low <= median(samples) && median(samples) <= high && Number.isFinite(high));
  });
  fc.assert(property, { seed: 1 });
});
