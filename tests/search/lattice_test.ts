import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Lattice } from "../../tuner/search/lattice.ts";
import type { Point } from "../../tuner/search/strategy.ts";

/** Points of one or two traversals at some places of a small lattice. */
const points = fc.uniqueArray(
  fc.record({ traversal: fc.constantFrom("one", "two"), x: fc.nat(3), y: fc.nat(3), z: fc.nat(1) }),
  { minLength: 1, maxLength: 30, selector: (place) => JSON.stringify(place) },
).map((list) =>
  list.map(({ traversal, ...parameters }): Point => ({ traversal: { name: traversal }, parameters }))
);

Deno.test("a place is where each value stands among those that occur", () => {
  const of = (dts: number, nt: number): Point => ({ traversal: { name: "torre" }, parameters: { nt, dts } });
  const list = [of(7, 96), of(2, 8), of(5, 8)];
  const lattice = new Lattice(list);
  assertEquals(list.map((point) => lattice.placeOf(point)), [[1, 2], [0, 0], [0, 1]]);
  assertEquals(lattice.sizes("torre"), [2, 3]);
});

Deno.test("neighbours differ by one place where they exist, and are as near as any otherwise", () => {
  fc.assert(fc.property(points, (list) => {
    const lattice = new Lattice(list);
    for (const point of list) {
      const place = lattice.placeOf(point), { name } = point.traversal;
      const found = lattice.neighbours(point);
      assert(!found.includes(point));
      assertEquals(found.length, new Set(found).size);
      const kin = list.filter(({ traversal }) => traversal.name === name);
      for (const neighbour of found) assert(kin.includes(neighbour));
      lattice.sizes(name).forEach((size, i) => {
        for (const index of [place[i]! - 1, place[i]! + 1].filter((index) => index >= 0 && index < size)) {
          const there = kin.filter((one) => lattice.placeOf(one)[i] === index);
          const stepsTo = (one: Point): number =>
            lattice.placeOf(one).reduce((sum, at, k) => sum + (k === i ? 0 : Math.abs(at - place[k]!)), 0);
          const nearest = Math.min(...there.map(stepsTo));
          assert(there.some((one) => stepsTo(one) === nearest && found.includes(one)));
        }
      });
    }
  }));
});
