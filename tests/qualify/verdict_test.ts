import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { isComparable, WIDEST } from "../../tuner/measuring/statistics.ts";
import { judgedInterval, judgeRate, leastRate, type Rate } from "../../tuner/qualify/verdict.ts";

const tolerances = fc.double({ min: 0, max: 0.99, noNaN: true });

/** A rate anywhere within its interval, which may reach to 0 and far beyond. */
const rates: fc.Arbitrary<Rate> = fc.tuple(
  fc.double({ min: 1e6, max: 1e12, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.double({ min: 1, max: 20, noNaN: true }),
).map(([rate, below, above]) => ({ cellsPerSecond: rate, confidence95: [rate * below, rate * above] }));

function scaled({ cellsPerSecond, confidence95 }: Rate, factor: number): Rate {
  const [low, high] = confidence95!;
  return { cellsPerSecond: factor * cellsPerSecond, confidence95: [factor * low, factor * high] };
}

const exactly = (rate: number): Rate => ({ cellsPerSecond: rate, confidence95: [rate, rate] });

Deno.test("only an interval wholly below the recorded one less the tolerance is slower", () => {
  const recorded: Rate = { cellsPerSecond: 100, confidence95: [90, 110] };
  assertEquals(leastRate(recorded, 0.1), 81);
  const judge = (low: number, high: number): string =>
    judgeRate(recorded, { cellsPerSecond: (low + high) / 2, confidence95: [low, high] }, 0.1);
  assertEquals(judge(70, 80.9), "slower");
  assertEquals(judge(70, 81), "pass");
  assertEquals(judge(70, 130), "pass");
  assertEquals(judge(121, 130), "pass");
  assertEquals(judge(121.1, 130), "faster");
});

Deno.test("a run like the recorded one passes, whatever the tolerance", () => {
  fc.assert(fc.property(rates, tolerances, (rate, tolerance) => judgeRate(rate, rate, tolerance) === "pass"));
});

Deno.test("no noise hides a device so slow that even the widest intervals are apart", () => {
  fc.assert(fc.property(rates, rates, tolerances, (recorded, shape, tolerance) => {
    const limit = (1 - tolerance) * (1 - WIDEST) / (1 + WIDEST);
    const slow = scaled(shape, 0.999 * limit * recorded.cellsPerSecond / shape.cellsPerSecond);
    assertEquals(judgeRate(recorded, slow, tolerance), "slower");
    const fast = scaled(
      shape,
      1.001 * (1 + WIDEST) / (1 - WIDEST) * (1 + tolerance) * recorded.cellsPerSecond / shape.cellsPerSecond,
    );
    assertEquals(judgeRate(recorded, fast, tolerance), "faster");
  }));
  // rates multiplied by 3, as a test of the whole: slower at the default tolerance, whatever the intervals
  fc.assert(fc.property(rates, (rate) => judgeRate(scaled(rate, 3), rate, 0.1) === "slower"));
});

Deno.test("a faster run is never judged worse, and a larger tolerance forgives more", () => {
  const order = ["slower", "pass", "faster"];
  fc.assert(
    fc.property(
      rates,
      rates,
      tolerances,
      tolerances,
      fc.double({ min: 1, max: 5, noNaN: true }),
      (recorded, run, one, other, factor) => {
        const place = (rate: Rate): number => order.indexOf(judgeRate(recorded, rate, one));
        assert(place(scaled(run, factor)) >= place(run));
        const [narrow, wide] = [Math.min(one, other), Math.max(one, other)];
        if (judgeRate(recorded, run, narrow) === "pass") {
          assertEquals(judgeRate(recorded, run, wide), "pass");
        }
      },
    ),
  );
});

Deno.test("intervals of a sample or two count only as far as they say something", () => {
  const one: Rate = { cellsPerSecond: 10, confidence95: [0, 20] };
  assertEquals(judgedInterval(one), [8, 12]);
  assertEquals([one, { ...one, confidence95: null }, exactly(10)].map(isComparable), [false, false, true]);
  assertEquals(judgedInterval(exactly(10)), [10, 10]);
});

Deno.test("a tolerance must be from 0 to below 1", () => {
  for (const tolerance of [-0.1, 1, 10, NaN]) {
    assertThrows(() => judgeRate(exactly(1), exactly(1), tolerance), RangeError, "from 0 to below 1");
  }
});

Deno.test("a device at a third of the recorded rate is slower, however wide its interval", () => {
  const recorded = { cellsPerSecond: 100e9, confidence95: [98e9, 102e9] } as const;
  const third = { cellsPerSecond: 33e9, confidence95: [32e9, 34e9] } as const;
  assertEquals(judgeRate(recorded, third, 0.1), "slower");
  assertEquals(judgeRate(recorded, { ...third, confidence95: [32e9, 99e9] }, 0.1), "slower");
  const half = { cellsPerSecond: 50e9, confidence95: [1e9, 99e9] } as const;
  assertEquals(judgeRate({ ...recorded, confidence95: [80e9, 120e9] }, half, 0.1), "slower");
});
