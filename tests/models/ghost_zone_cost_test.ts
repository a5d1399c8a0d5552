import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  copiedCells,
  expandedCells,
  ghostCells,
  shrinkingUpdates,
  type StepCosts,
  stepTerms,
  type Subdomain,
} from "../../models/ghost_zone_cost.ts";

const cost = fc.record({ a: fc.integer({ min: 1, max: 50 }), b: fc.integer({ min: 0, max: 1000 }) });

/** A cube as the paper has it: B cells along every axis, δ a step, ghost zones on all sides. */
const cubes = fc.record({
  B: fc.integer({ min: 1, max: 60 }),
  d: fc.integer({ min: 1, max: 5 }),
  R: fc.integer({ min: 1, max: 20 }),
  compute: cost,
  network: cost,
  transfer: cost,
});

function cube(B: number, d: number): Subdomain {
  return { cells: [B, B, B], reach: [d, d, d] };
}

/** Asserts equality up to rounding: the paper's polynomials cancel. */
function assertSame(actual: number, expected: number): void {
  assertAlmostEquals(actual, expected, 1e-9 * Math.max(1, Math.abs(expected)));
}

function stepTime(subdomain: Subdomain, R: number, costs: StepCosts): number {
  const { compute, network, transfer } = stepTerms(subdomain, R, costs);
  return compute + network + transfer;
}

Deno.test("Eq. 2, 3, 5 and 6 of a cube are the paper's polynomials", () => {
  fc.assert(fc.property(cubes, ({ B, d, R, ...costs }) => {
    const { compute: c, network: m, transfer: g } = costs;
    const cpu = 2 * d ** 3 * R ** 4 + (4 * B * d ** 2 - 4 * d ** 3) * R ** 3 +
      (3 * B ** 2 * d - 6 * B * d ** 2 + 2 * d ** 3) * R ** 2 +
      (B ** 3 - 3 * B ** 2 * d + 2 * B * d ** 2) * R;
    assertSame(R * stepTerms(cube(B, d), R, { device: "cpu", ...costs }).compute, c.a * cpu + c.b);
    const gpu = 8 * d ** 3 * R ** 4 + 12 * B * d ** 2 * R ** 3 + 6 * B ** 2 * d * R ** 2 + B ** 3 * R;
    const { compute, network, transfer } = stepTerms(cube(B, d), R, costs);
    assertSame(R * compute, c.a * gpu + c.b * R);
    const sent = 8 * d ** 3 * R ** 3 + 12 * B * d ** 2 * R ** 2 + 6 * B ** 2 * d * R;
    assertSame(R * network, m.a * sent + m.b);
    const copied = 8 * d ** 3 * R ** 3 + 16 * B * d ** 2 * R ** 2 + 10 * B ** 2 * d * R + 2 * B ** 3;
    assertSame(R * transfer, g.a * copied + g.b);
  }));
});

Deno.test("Eq. 7 of a cube has the paper's a0 to a3", () => {
  fc.assert(fc.property(cubes, ({ B, d, R, compute: c, network: m, transfer: g }) => {
    const a0 = c.a * B ** 3 + c.b + (6 * m.a + 10 * g.a) * B ** 2 * d;
    const a1 = 6 * c.a * B ** 2 * d + (12 * m.a + 16 * g.a) * B * d ** 2;
    const a2 = 12 * c.a * B * d ** 2 + 8 * (m.a + g.a) * d ** 3;
    const a3 = 8 * c.a * d ** 3;
    const expected = a3 * R ** 3 + a2 * R ** 2 + a1 * R + a0 + (m.b + g.b + 2 * g.a * B ** 3) / R;
    assertSame(stepTime(cube(B, d), R, { compute: c, network: m, transfer: g }), expected);
  }));
});

Deno.test("slices of x alone: the sums counted by hand", () => {
  // 10 slices of 4 × 3 cells, one neighbour, reach 2, three steps
  const share: Subdomain = { cells: [10, 4, 3], reach: [2, 2, 2], sides: [1, 0, 0] };
  assertEquals(shrinkingUpdates(share, 3), 12 * ((10 + 4) + (10 + 2) + 10));
  assertEquals(ghostCells(share, 3), 12 * 6);
  assertEquals(copiedCells(share, 3), 12 * (16 + 10)); // only the own slices come back
  // the ghost zones of the other axes come back, because their cells lie between own ones
  const both: Subdomain = { cells: [5, 6, 7], reach: [1, 2, 3], sides: [2, 1, 0] };
  assertEquals(copiedCells(both, 2), (5 + 4) * (6 + 4) * 7 + 5 * (6 + 4) * 7);
  // a periodic grid: a neighbour at both ends
  assertEquals(shrinkingUpdates({ ...share, sides: [2, 0, 0] }, 3), 12 * (18 + 14 + 10));
});

Deno.test("slices of x in general: own slices, and a triangle of ghost slices", () => {
  const shares = fc.record({
    slices: fc.integer({ min: 1, max: 500 }),
    d: fc.integer({ min: 1, max: 8 }),
    R: fc.integer({ min: 1, max: 40 }),
    sides: fc.constantFrom(1 as const, 2 as const),
  });
  fc.assert(fc.property(shares, ({ slices, d, R, sides }) => {
    const share: Subdomain = { cells: [slices, 6, 7], reach: [d, 0, 0], sides: [sides, 0, 0] };
    assertEquals(shrinkingUpdates(share, R), 42 * (slices * R + sides * d * R * (R - 1) / 2));
    assertEquals(expandedCells(share, R), 42 * (slices + sides * d * R));
  }));
});

Deno.test("axes that are not decomposed, and those without reach, have no ghost zones", () => {
  const flat: Subdomain = { cells: [5, 6, 7], reach: [1, 2, 3], sides: [0, 2, 0] };
  assertEquals(expandedCells(flat, 4), 5 * (6 + 2 * 4 * 2) * 7);
  assertEquals(expandedCells({ cells: [5, 6, 7], reach: [0, 0, 3] }, 4), 5 * 6 * (7 + 24));
});

Deno.test("a step that reaches twice as far costs as a ghost zone twice as wide", () => {
  const one = (reach: number): Subdomain => ({ cells: [50, 1, 1], reach: [reach, 0, 0], sides: [1, 0, 0] });
  assertEquals(expandedCells(one(4), 3), expandedCells(one(2), 6));
});

Deno.test("Eq. 7 falls and rises: there is a best R", () => {
  const costs = {
    compute: { a: 1e-3, b: 10 },
    network: { a: 1e-2, b: 1e5 },
    transfer: { a: 1e-3, b: 1e5 },
  };
  const times = Array.from({ length: 60 }, (_, i) => stepTime(cube(60, 1), i + 1, costs));
  const best = times.indexOf(Math.min(...times));
  assert(best > 0 && best < 59, `${best}`);
});

Deno.test("R that is not a whole number >= 1 is refused", () => {
  const one = { a: 1, b: 1 };
  for (const R of [0, -1, 1.5, NaN]) {
    const predict = () => stepTerms(cube(4, 1), R, { compute: one, network: one, transfer: one });
    assertThrows(predict, RangeError, `current value is ${R}`);
  }
});
