import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import {
  arrangements,
  cut,
  decompose,
  evenSlices,
  neighbourOf,
  placeOf,
} from "../../models/decomposition.ts";

const RUNS = { numRuns: 300, seed: 3 };

Deno.test("a cut axis is covered by parts in proportion to their weights, none too thin", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(
      weights,
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 9 }),
      (weights, cells, least) => {
        const starts = cut(cells, weights, least);
        assertEquals(starts === undefined, cells < weights.length * least);
        if (starts === undefined) return;
        assertEquals([starts[0], starts.at(-1)], [0, cells]);
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        weights.forEach((weight, i) => {
          const size = starts[i + 1]! - starts[i]!;
          assert(size >= least);
          // where no part is too thin, rounding moves each end by half a cell
          if (weights.every((other) => other * cells / total >= least + 1)) {
            assert(Math.abs(size - weight * cells / total) <= 1);
          }
        });
      },
    ),
    RUNS,
  );
});

Deno.test("Eq. 8 for three devices: no other slices end sooner, whatever a device takes besides", () => {
  const line = fc.record({
    offsetNs: fc.integer({ min: 0, max: 100 }),
    nsPerSlice: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 50 })),
  });
  const cases = fc.record({
    slices: fc.integer({ min: 9, max: 24 }),
    least: fc.integer({ min: 1, max: 3 }),
    lines: fc.tuple(line, line, line),
  });
  fc.assert(fc.property(cases, ({ slices, least, lines }) => {
    const timeNs = (counts: readonly number[]): number =>
      Math.max(...lines.map(({ offsetNs, nsPerSlice }, i) => offsetNs + nsPerSlice * counts[i]!));
    const found = evenSlices(slices, lines, least);
    assertEquals(found.reduce((sum, count) => sum + count), slices);
    assert(found.every((count) => count >= least), `${found}`);
    for (let a = least; a <= slices - 2 * least; a++) {
      for (let b = least; b <= slices - a - least; b++) {
        assert(timeNs(found) <= timeNs([a, b, slices - a - b]), `${found}: ${a}, ${b}`);
      }
    }
  }));
});

Deno.test("every cell belongs to one rank; neighbours are each other's, round the ring too", () => {
  for (const parts of arrangements(12)) {
    const grid = [25, 24, 23] as const, rates = Array.from({ length: 12 }, (_, rank) => 1 + rank % 3);
    const extents = decompose({ grid, parts, rates, least: [1, 1, 1] })!;
    assertEquals(extents.reduce((sum, { size }) => sum + cellsOf(size), 0), cellsOf(grid));
    for (const axis of [0, 1, 2] as const) {
      for (let rank = 0; rank < 12; rank++) {
        const next = neighbourOf(rank, { parts, axis, direction: 1, isPeriodic: true })!;
        assertEquals(neighbourOf(next, { parts, axis, direction: -1, isPeriodic: true }), rank);
        const isLast = placeOf(rank, parts)[axis] === parts[axis] - 1;
        assertEquals(
          neighbourOf(rank, { parts, axis, direction: 1, isPeriodic: false }),
          isLast ? undefined : next,
        );
        const end = extents[rank]!.low[axis] + extents[rank]!.size[axis];
        assertEquals(extents[next]!.low[axis], isLast ? 0 : end);
      }
    }
  }
});
