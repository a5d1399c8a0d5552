import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { growForest } from "../../bench/forest.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";

const row = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 3, maxLength: 3 });

Deno.test("a forest predicts nothing beyond what it saw, and repeats with its seed", () => {
  const sample = fc.tuple(row, fc.double({ min: -100, max: 100, noNaN: true }));
  fc.assert(fc.property(fc.array(sample, { minLength: 1, maxLength: 40 }), row, (samples, asked) => {
    const rows = samples.map(([features]) => features), targets = samples.map(([, target]) => target);
    const grow = () => growForest(rows, targets, seededRandom(1)).predict(asked);
    const { mean, variance } = grow();
    assert(mean >= Math.min(...targets) - 1e-9 && mean <= Math.max(...targets) + 1e-9);
    assert(variance >= 0 && variance <= (Math.max(...targets) - Math.min(...targets)) ** 2 + 1e-6);
    assertEquals(grow(), { mean, variance });
  }));
});

Deno.test("fully grown trees know their samples, and disagree between them", () => {
  // each sample three times: fewer are not split
  const rows = Array.from({ length: 60 }, (_, i) => [i % 20, i % 2]);
  const targets = rows.map(([x]) => x! * x!);
  const forest = growForest(rows, targets, seededRandom(2));
  rows.forEach((asked, i) => {
    const { mean, variance } = forest.predict(asked);
    assertAlmostEquals(mean, targets[i]!, 1e-9);
    assertAlmostEquals(variance, 0, 1e-6);
  });
  assert(forest.predict([10.5, 0]).variance > 1);
});

Deno.test("a forest finds the feature that matters among many that do not", () => {
  const draw = seededRandom(3);
  const rows = Array.from({ length: 120 }, () => Array.from({ length: 12 }, draw));
  const forest = growForest(rows, rows.map((one) => one[7]! > 0.5 ? 1 : 0), draw);
  const at = (value: number): number =>
    forest.predict(Array.from({ length: 12 }, (_, i) => i === 7 ? value : 0.5)).mean;
  assert(at(0.9) > 0.85 && at(0.1) < 0.15, `${at(0.9)}, ${at(0.1)}`);
});

Deno.test("samples that are alike in all features end in one leaf", () => {
  const forest = growForest([[1], [1], [1], [1]], [1, 2, 3, 6], seededRandom(1));
  assertEquals(forest.predict([1]).mean, 3);
});
