import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  median,
  medianInterval95,
  relativeSpread,
  studentQuantile,
} from "../../tuner/measuring/statistics.ts";

/** Deterministic uniform numbers in [0, 1): the mulberry32 generator. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How often the interval of n samples holds the true median. */
function coverage(n: number, draw: () => number, trueMedian: number): number {
  const trials = 4000;
  let held = 0;
  for (let trial = 0; trial < trials; trial++) {
    const [low, high] = medianInterval95(Array.from({ length: n }, draw));
    if (low <= trueMedian && trueMedian <= high) held++;
  }
  return held / trials;
}

Deno.test("median is the middle, or the mean of the two in the middle", () => {
  assertEquals(median([5]), 5);
  assertEquals(median([9, 1, 2]), 2);
  assertEquals(median([4, 1, 3, 2]), 2.5);
});

Deno.test("spread is the range over the median", () => {
  assertEquals(relativeSpread([5]), 0);
  assertEquals(relativeSpread([8, 10, 12]), 0.4);
  assertEquals(relativeSpread([0, 0, 0]), 0);
});

Deno.test("interval takes the order statistics of the binomial table", () => {
  // k for n from David and Nagaraja's table of sign test intervals at 95%
  const table = { 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 50: 18 };
  for (const [n, k] of Object.entries(table).map(([n, k]) => [Number(n), k] as const)) {
    const samples = Array.from({ length: n }, (_, i) => i + 1);
    assertEquals(medianInterval95(samples.toReversed()), [k, n + 1 - k], `n = ${n}`);
  }
});

Deno.test("interval of two to five samples is Student's, at least the range", () => {
  const [low, high] = medianInterval95([100, 102, 104]);
  assertAlmostEquals(low, 102 - 4.30265272975 * 2 / Math.sqrt(3), 1e-9);
  assertAlmostEquals(high, 102 + 4.30265272975 * 2 / Math.sqrt(3), 1e-9);
  assertEquals(medianInterval95([7, 7]), [7, 7]);
  assertEquals(medianInterval95([1, 100])[0], 0);
});

Deno.test("interval of one sample admits to knowing nothing", () => {
  assertEquals(medianInterval95([10]), [0, 20]);
});

Deno.test("interval holds the true median at least 95 times in 100", () => {
  const next = uniform(11);
  const normal = () => 100 + Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const skewed = () => 100 - Math.log(1 - next());
  for (const n of [2, 3, 5, 6, 10, 25]) {
    const held = coverage(n, normal, 100);
    assert(held > 0.94, `n = ${n}, normal: ${held}`);
  }
  for (const n of [6, 10, 25]) {
    const held = coverage(n, skewed, 100 + Math.LN2);
    assert(held > 0.94, `n = ${n}, exponential: ${held}`);
  }
});

Deno.test("interval holds the median of its samples, whatever they are", () => {
  const samples = fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { minLength: 1, maxLength: 40 });
  const property = fc.property(samples, (samples) => {
    const middle = median(samples), [low, high] = medianInterval95(samples);
    assert(low <= middle && middle <= high && low >= 0 && relativeSpread(samples) >= 0);
  });
  fc.assert(property, { seed: 3 });
});

Deno.test("interval copes with thousands of samples", () => {
  const [low, high] = medianInterval95(Array.from({ length: 10_000 }, (_, i) => i + 1));
  // n/2 ± 0.98 √n
  assert(Math.abs(low - 4902) <= 2 && Math.abs(high - 5099) <= 2, `${low} to ${high}`);
});

Deno.test("statistics refuse what is no sample", () => {
  assertThrows(() => median([]), RangeError, "found none");
  for (const wrong of [NaN, Infinity, -1]) {
    assertThrows(() => median([1, wrong]), RangeError, `one is ${wrong}`);
    assertThrows(() => medianInterval95([1, wrong]), RangeError, `one is ${wrong}`);
  }
});

Deno.test("quantiles are those of the printed tables", () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2
  const table: Readonly<Record<number, readonly number[]>> = {
    1: [3.078, 12.706, 31.821, 63.657],
    2: [1.886, 4.303, 6.965, 9.925],
    3: [1.638, 3.182, 4.541, 5.841],
    7: [1.415, 2.365, 2.998, 3.499],
    30: [1.310, 2.042, 2.457, 2.750],
    99: [1.290, 1.984, 2.365, 2.626],
  };
  for (const [degrees, wanted] of Object.entries(table)) {
    [0.9, 0.975, 0.99, 0.995].forEach((probability, i) =>
      assertAlmostEquals(studentQuantile(probability, Number(degrees)), wanted[i]!, 6e-4, degrees)
    );
  }
});

Deno.test("more probability lies below a larger t, and more degrees of freedom need less of it", () => {
  const property = fc.property(
    fc.double({ min: 0.501, max: 0.9999, noNaN: true }),
    fc.integer({ min: 1, max: 200 }),
    (probability, degrees) => {
      const t = studentQuantile(probability, degrees);
      assert(studentQuantile((1 + probability) / 2, degrees) > t);
      assert(studentQuantile(probability, degrees + 1) < t);
      // 1, 2 degrees in closed form: Cauchy's, and 2 p − 1 = t / √(2 + t²)
      const central = 2 * probability - 1;
      assertAlmostEquals(studentQuantile(probability, 1) / Math.tan(Math.PI / 2 * central), 1, 1e-9);
      assertAlmostEquals(
        studentQuantile(probability, 2) / (central * Math.sqrt(2 / (1 - central ** 2))),
        1,
        1e-9,
      );
    },
  );
  fc.assert(property, { seed: 1 });
});
