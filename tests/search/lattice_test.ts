import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Lattice } from "../../tuner/search/lattice.ts";
import type { SearchPoint } from "../../tuner/search/strategy.ts";

/** Points of one or two traversals at some places of a small lattice. */
const points = fc.uniqueArray(
  fc.record({ traversal: fc.constantFrom("one", "two"), x: fc.nat(3), y: fc.nat(3), z: fc.nat(1) }),
  { minLength: 1, maxLength: 30, selector: (place) => JSON.stringify(place) },
).map((list) =>
  list.map(({ traversal, ...parameters }): SearchPoint => ({ traversal: { name: traversal }, parameters }))
);

Deno.test("a place is where each value stands among those that occur", () => {
  const of = (dts: number, nt: number): SearchPoint => ({
    traversal: { name: "torre" },
    parameters: { nt, dts },
  });
  const list = [of(7, 96), of(2, 8), of(5, 8)];
  const lattice = new Lattice(list);
  assertEquals(lattice.places, [[1, 2], [0, 0], [0, 1]]);
});

Deno.test("of values that are not all powers of two, how often they can be halved is a coordinate too", () => {
  const of = (width: number, unroll: number, word: number): SearchPoint => ({
    traversal: { name: "k" },
    parameters: { width, unroll, word },
  });
  const lattice = new Lattice([of(32, 1, 0), of(48, 2, 1), of(64, 4, 2), of(96, 8, 3)]);
  assertEquals(lattice.coordinates, [[0, 0, 0, 5], [1, 1, 1, 4], [2, 2, 2, 6], [3, 3, 3, 5]]);
  assertEquals(lattice.expectedLengths, [[5, 5, 5, 20]]);
});

Deno.test("what is spread uses every value of a parameter before it uses one twice, where candidates allow it", () => {
  const all = Array.from({ length: 12 }, (_, i): SearchPoint => ({
    traversal: { name: "one" },
    parameters: { x: i % 4, y: Math.floor(i / 4) },
  }));
  const first = new Lattice(all).spread(4).map(({ parameters }) => parameters);
  assertEquals(new Set(first.map(({ x }) => x)).size, 4);
  assertEquals(new Set(first.slice(0, 3).map(({ y }) => y)).size, 3);
});

Deno.test("spreading gives different candidates, as many as asked for or all", () => {
  fc.assert(fc.property(points, fc.nat(40), (list, count) => {
    const found = new Lattice(list).spread(count);
    assertEquals(new Set(found).size, Math.min(count, list.length));
    for (const one of found) assert(list.includes(one));
  }));
});
