import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { chooseFinalists } from "../../tuner/measuring/choose_finalists.ts";
import type { Measurement } from "../../tuner/configuration.ts";
import { measurementNamed } from "./fake_runner.ts";

const namesOf = (measurements: readonly Measurement[]): string =>
  measurements.map(({ configuration }) => configuration.traversal).join("");

/** By name, backwards: z would be chosen before a. */
const order = (all: readonly Measurement[]): readonly Measurement[] =>
  all.toSorted((a, b) => a.configuration.traversal < b.configuration.traversal ? 1 : -1);

const ranked = (...rates: number[]): Measurement[] =>
  rates.map((rate, i) => measurementNamed("abcdefghijklm"[i]!, rate));

Deno.test("the fastest four take part unless they are far behind, and all within 2% of the best", () => {
  assertEquals(namesOf(chooseFinalists(ranked(100, 90, 80, 78, 76), { order })), "abcd");
  assertEquals(namesOf(chooseFinalists(ranked(100, 90, 74, 70), { order })), "ab");
  assertEquals(namesOf(chooseFinalists(ranked(100, 99.5, 99, 98.7, 98.1, 97.9), { order })), "abcde");
  assertEquals(namesOf(chooseFinalists(ranked(100), { order })), "a");
  assertEquals(namesOf(chooseFinalists([], { order })), "");
});

Deno.test("one whose interval reaches the best one's takes part", () => {
  const once = measurementNamed("u", 50, [0, 100]), unsure = { ...once, samples: [20, 80] };
  const withOne = (one: Measurement) =>
    namesOf(chooseFinalists([...ranked(100, 90, 80, 76), one], { order }));
  assertEquals([withOne(unsure), withOne(once)], ["abcdu", "abcd"]); // one sample says nothing of the noise
});

Deno.test("of too many those take part that would be chosen, and the fastest", () => {
  const close = ranked(...Array.from({ length: 13 }, (_, i) => 100 - 0.1 * i));
  assertEquals(namesOf(chooseFinalists(close, { order })), "abcdjklm");
  assertEquals(namesOf(chooseFinalists(close, { order, most: 5.9 })), "abcdm");
  assertEquals(namesOf(chooseFinalists(close, { order, most: -1 })), "ab"); // time is over already
});

Deno.test("no more than eight, each once, the best first, the fastest first", () => {
  const property = fc.property(
    fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 1, maxLength: 30 }),
    fc.integer({ min: 0, max: 40 }),
    (rates, most) => {
      const measured = rates.toSorted((a, b) => b - a).map((rate, i) => measurementNamed(`c${i}`, rate));
      const finalists = chooseFinalists(measured, { order, most });
      assert(finalists.length <= 8 && finalists.length >= Math.min(2, measured.length)); // none is far behind
      assertEquals(finalists[0], measured[0]);
      assertEquals(finalists, measured.filter((one) => finalists.includes(one)));
    },
  );
  fc.assert(property, { seed: 1 });
});
