import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { fitCosts } from "../../models/least_squares.ts";

/** Fits y = a·x + b. */
function fitLine(samples: readonly { x: number; y: number }[]): { a: number; b: number } {
  const { coefficients: [a = NaN, b = NaN] } = fitCosts(
    samples.map(({ x, y }) => ({ work: [x, 1], time: y })),
  );
  return { a, b };
}

Deno.test("a line without noise is found, whatever its scale", () => {
  const lines = fc.record({
    a: fc.double({ min: 1e-9, max: 1e3, noNaN: true }),
    b: fc.double({ min: 0, max: 1e6, noNaN: true }),
    xs: fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 8 }),
  });
  fc.assert(fc.property(lines, ({ a, b, xs }) => {
    const fit = fitLine(xs.map((x) => ({ x, y: a * x + b })));
    for (const x of xs) assertAlmostEquals(fit.a * x + fit.b, a * x + b, 1e-6 * (a * x + b));
  }));
});

Deno.test("no coefficient is negative, and no better fit without one exists", () => {
  // y falls with x: a is 0, and b lies where the squared relative residuals are smallest
  const { a, b } = fitLine([{ x: 1, y: 4 }, { x: 2, y: 2 }]);
  assertEquals(a, 0);
  assertAlmostEquals(b, (1 / 4 + 1 / 2) / (1 / 16 + 1 / 4), 1e-12);
  // y grows faster than x: b is 0
  const steep = fitLine([{ x: 1, y: 1 }, { x: 10, y: 100 }]);
  assertEquals(steep.b, 0);
  const samples = fc.array(
    fc.record({ x: fc.integer({ min: 0, max: 99 }), y: fc.integer({ min: 1, max: 99 }) }),
    { minLength: 3, maxLength: 9 },
  ).filter((list) => new Set(list.map(({ x }) => x)).size > 1);
  fc.assert(fc.property(samples, fc.double({ min: -1, max: 1, noNaN: true }), (list, step) => {
    const squares = (a: number, b: number): number =>
      list.reduce((sum, { x, y }) => sum + ((a * x + b) / y - 1) ** 2, 0);
    const fit = fitLine(list);
    assert(fit.a >= 0 && fit.b >= 0);
    const least = squares(fit.a, fit.b);
    for (const [da, db] of [[step, 0], [0, step], [step, -step], [step, step]] as const) {
      const other = squares(Math.max(0, fit.a + 0.1 * da), Math.max(0, fit.b + 10 * db));
      assert(other >= least * (1 - 1e-9) - 1e-12);
    }
  }));
});

Deno.test("small times matter as much as large ones", () => {
  // 1% too long at the largest: by absolute residuals b would be far off
  const { a, b } = fitLine([{ x: 1, y: 101 }, { x: 2, y: 102 }, { x: 1e6, y: 1.01e6 }]);
  assertAlmostEquals(a * 1 + b, 101, 1);
  assertAlmostEquals(a * 2 + b, 102, 1);
});

Deno.test("residuals are (predicted − measured) / measured", () => {
  const { residuals, coefficients: [a = NaN] } = fitCosts([{ work: [1], time: 1 }, { work: [1], time: 2 }]);
  assertAlmostEquals(residuals[0]!, a - 1, 1e-12);
  assertAlmostEquals(residuals[1]!, a / 2 - 1, 1e-12);
});

Deno.test("several kinds of work are told apart; those that cannot be leave the later one out", () => {
  const kinds = [[1, 5, 1], [2, 1, 1], [7, 3, 1], [4, 9, 1]];
  const costs = [3, 0.5, 20];
  const timed = kinds.map((work) => ({ work, time: work.reduce((sum, x, i) => sum + x * costs[i]!, 0) }));
  const { coefficients } = fitCosts(timed);
  coefficients.forEach((value, i) => assertAlmostEquals(value, costs[i]!, 1e-6));
  const twice = fitCosts([{ work: [1, 2], time: 10 }, { work: [3, 6], time: 30 }]);
  assertEquals(twice.coefficients[1], 0);
  assertAlmostEquals(twice.coefficients[0]!, 10, 1e-9);
  // work that never occurs costs nothing
  assertEquals(fitCosts([{ work: [2, 0], time: 4 }]).coefficients, [2, 0]);
});

Deno.test("samples that no fit can use are refused with what is wrong", () => {
  assertThrows(() => fitCosts([]), RangeError, "there is no measurement");
  for (const time of [0, -1, NaN, Infinity]) {
    assertThrows(() => fitCosts([{ work: [1], time }]), RangeError, `current value is ${time}`);
  }
  assertThrows(() => fitCosts([{ work: [0], time: 1 }]), RangeError, "no kind of work is above 0");
});
