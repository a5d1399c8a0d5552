import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { chooseConfigurations } from "../../tuner/replay/choose_configurations.ts";

/** A space of three traversals of very different sizes. */
function space(sizes: readonly number[]) {
  return sizes.flatMap((size, i) =>
    Array.from({ length: size }, (_, n) => ({ traversal: { name: `t${i}` }, n: n * 10 + i }))
  ).sort((a, b) => a.n - b.n);
}

Deno.test("as many as asked for, none twice, the models' best among them", () => {
  const sizes = fc.array(fc.nat(60), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(sizes, fc.integer({ min: 1, max: 150 }), fc.nat(5), (list, limit, seed) => {
    const all = space(list);
    const chosen = chooseConfigurations(all, { limit, seed });
    assertEquals(chosen.length, Math.min(limit, all.length));
    assertEquals(new Set(chosen).size, chosen.length);
    const leaders = Math.ceil(chosen.length / 10);
    assertEquals(chosen.slice(0, leaders), all.slice(0, leaders));
    assertEquals(chooseConfigurations(all, { limit, seed }), chosen);
  }));
});

Deno.test("small traversals are not lost beside large ones, and the order is random", () => {
  const all = space([16, 100, 10_000]);
  const chosen = chooseConfigurations(all, { limit: 1000, seed: 1 });
  const count = (name: string): number => chosen.filter(({ traversal }) => traversal.name === name).length;
  assert(count("t0") >= 14 && count("t1") >= 50, `${count("t0")}, ${count("t1")}`);
  assertNotEquals(chooseConfigurations(all, { limit: 1000, seed: 2 }), chosen);
  const half = chosen.slice(100, 550).filter(({ traversal }) => traversal.name === "t1").length;
  assert(half > 0.3 * count("t1") && half < 0.7 * count("t1"), `${half} of ${count("t1")}`);
});
