import { assert, assertAlmostEquals } from "@std/assert";
import { GaussianProcess } from "../../models/gaussian_process.ts";

const bell = (a: Float64Array, b: Float64Array): number =>
  Math.exp(-a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0) / 2);
const at = (...x: number[]): Float64Array => Float64Array.from(x);

Deno.test("a process goes through what was observed, and knows nothing far away", () => {
  const observed = [[0, 1], [1, -2], [2.5, 0.5]].map(([x, value]) => ({
    point: at(x!),
    value: value!,
    noise: 1e-4,
  }));
  const process = new GaussianProcess(observed, bell);
  for (const { point, value } of observed) {
    assertAlmostEquals(process.mean(point), value, 1e-3);
    assert(process.deviation(point) < 1e-3);
  }
  assertAlmostEquals(process.mean(at(50)), 0, 1e-9);
  assertAlmostEquals(process.deviation(at(50)), 1, 1e-9);
});

Deno.test("a process of one observation is Bayes' rule", () => {
  const process = new GaussianProcess([{ point: at(0), value: 2, noise: 0.5 }], bell);
  const k = Math.exp(-0.5);
  assertAlmostEquals(process.mean(at(1)), k / 1.25 * 2, 1e-12);
  assertAlmostEquals(process.deviation(at(1)), Math.sqrt(1 - k * k / 1.25), 1e-12);
});

Deno.test("what was observed twice counts once more, and its noise averages out", () => {
  const twice = [1, 3].map((value) => ({ point: at(0), value, noise: 0.1 }));
  assertAlmostEquals(new GaussianProcess(twice, bell).mean(at(0)), 2 / (1 + 0.005), 1e-9);
});
