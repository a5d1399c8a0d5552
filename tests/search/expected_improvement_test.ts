import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { expectedImprovement, normalCdf } from "../../tuner/search/expected_improvement.ts";

const number = fc.double({ min: -3, max: 3, noNaN: true });

Deno.test("expected improvement is the integral that defines it", () => {
  fc.assert(
    fc.property(number, fc.double({ min: 0.05, max: 3, noNaN: true }), number, (mean, deviation, best) => {
      let sum = 0;
      const step = 0.001;
      for (let z = -9 + step / 2; z < 9; z += step) {
        sum += Math.max(0, mean + deviation * z - best) * Math.exp(-z * z / 2) * step;
      }
      const integral = sum / Math.sqrt(2 * Math.PI);
      assertAlmostEquals(expectedImprovement(mean, deviation, best), integral, 2e-6);
    }),
    { numRuns: 30 },
  );
});

Deno.test("what is certain improves by what it is better", () => {
  assertEquals(expectedImprovement(2, 0, 1.5), 0.5);
  assertEquals(expectedImprovement(1, 0, 1.5), 0);
});

Deno.test("the normal distribution grows from 0 to 1, the same on both sides", () => {
  fc.assert(fc.property(number, (z) => assertAlmostEquals(normalCdf(z) + normalCdf(-z), 1, 1e-7)));
  assertAlmostEquals(normalCdf(1.959964), 0.975, 2e-7);
  assert(normalCdf(-40) === 0 || normalCdf(-40) < 1e-100);
});
