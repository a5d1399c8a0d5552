/**
 * Axis profiles: what they are as data, that the oracle's equal materials of each cell, and that every traversal's equal
 * the oracle's.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { initialProfiles, profilesOf, withoutProfiles } from "../../kernels/axis_profiles.ts";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { along, type AlongAxis, equation, type MaterialSource } from "../../kernels/equation.ts";
import { add, divide, exponential, multiply, subtract } from "../../kernels/operations.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Boundaries, Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { placed, planesOf } from "../../kernels/update.ts";
import { initialCells, inMarches, inSteps, inTorres, onLine, testRows } from "./oracle_case.ts";
import { wholeNumberCross, wholeNumberProfiledPair, wholeNumberProfiles } from "./whole_numbers.ts";

/** One field times a profile here and a cell further along x. */
function scaledAlong(axis: 0 | 1): Stencil {
  return scaled(along(axis === 0 ? "x" : "y", [1, 2]));
}

/** One field times one material. */
function scaled(d: MaterialSource, dimensions: 1 | 3 = 3): Stencil {
  return equation({
    name: "scaled",
    dimensions,
    fields: { u: [0, 1] },
    materials: { d },
    step: ({ u, d }) => ({ u: multiply(u, add(d, d.at(1))) }),
  });
}

Deno.test("a profile is data: its formula, its axis and its eight values, of which only names do not count", () => {
  const stencil = scaled(along("x", (i, n) => divide(i, subtract(n, 1))));
  const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
  assertEquals(again.update, stencil.update);
  const [profile] = profilesOf(again.update);
  assertEquals(profile!.values.map((value) => Math.round(7 * value)), [0, 1, 2, 3, 4, 5, 6, 7]);
  assertEquals([0, 1, 2].map((x) => placed(profile!, [3, 1, 1])!(x, 0, 0)), [0, 0.5, 1]);
  const { profiles, ...update } = stencil.update, renamed = [{ ...profiles![0]!, name: "e" }];
  assertEquals(hashOf({ ...update, profiles: renamed }), hashOf(stencil.update));
  const others = [
    scaled(along("y", (i, n) => divide(i, subtract(n, 1)))),
    scaled(along("x", (i, n) => divide(i, n))),
    scaled(along("x", [0, 1])),
    scaled([0, 1]),
  ];
  assertEquals(new Set([stencil, ...others].map((one) => hashOf(one.update))).size, 5);
  assertNotEquals(definitionOf(stencil).profiles, undefined);
  assertEquals("profiles" in definitionOf(others[3]!), false);
});

Deno.test("profiles that make no sense are refused, with their place", () => {
  const refused: [() => unknown, string][] = [
    [() => scaled(along("w" as "x", [0, 1])), "material d: one of the axes x, y, z is wanted: found w"],
    [() => scaled(along("x", [0, 1]), 1), "material d: an axis of the line, z, is wanted: found 0"],
    [() => scaled(along("z", (x) => divide(1, subtract(x, x)))), "material d: eight values that f32 holds"],
    [() => scaled((x) => multiply(x, { kind: "formula", name: "i", operands: [] })), "one of x, y, z,"],
    [() => scaled({ axis: "x" } as AlongAxis), "a range, one to eight values, or a function"],
  ];
  for (const [make, message] of refused) assertThrows(make, RangeError, message);
  const { update, ...stencil } = scaled(along("x", [0, 1]));
  const far = definitionOf({ ...stencil, update });
  const withTap = (tap: unknown) => ({ ...far, substeps: [{ u: tap }] });
  assertThrows(
    () => stencilOf(withTap(["at", "d", 65])),
    RangeError,
    "at most 64 cells are wanted: found 65",
  );
  assertThrows(() => stencilOf(withTap(["at", "d", 0.5])), RangeError, "a whole number of cells is wanted");
  assertThrows(() => stencilOf(withTap(["before", "d", 0])), RangeError, "the name of a field or material");
  const infinite = scaled(along("x", (i) => exponential(multiply(i, 0.3))));
  const [profile] = profilesOf(infinite.update);
  assertThrows(
    () => placed(profile!, [400, 1, 1])!(399, 0, 0),
    RangeError,
    "material d: a number that f32 can hold",
  );
});

Deno.test("the oracle's profiles equal materials of each cell where no zeros lie around the grid", () => {
  const grid: Grid = [5, 4, 6], [, ny, nz] = grid;
  const boundaries: readonly Boundaries[] = ["periodic", "insulated", ["insulated", "periodic", "insulated"]];
  for (const stencil of [wholeNumberProfiles(), wholeNumberProfiledPair()]) {
    const { update } = stencil, plain = withoutProfiles(update), values = initialProfiles(update, grid);
    const planes = planesOf(plain), fields = planesOf(update);
    const start = initialCells(grid, "integers", 5, { ...stencil, update: plain });
    const fieldsOf = (level: FloatArray): FloatArray =>
      level.filter((_, i) => Math.floor(i / (ny * nz)) % planes < fields);
    for (let i = 0; i < start.length; i++) {
      const z = i % nz, y = Math.floor(i / nz) % ny, plane = Math.floor(i / (ny * nz)) % planes;
      const cell = [Math.floor(i / (ny * nz * planes)), y, z] as const;
      if (plane >= fields) {
        start[i] = values[plane - fields]![cell[profilesOf(update)[plane - fields]!.axis]]!;
      }
    }
    const own = fieldsOf(start);
    for (const boundary of boundaries) {
      const run = { grid, boundary, steps: 3 };
      const wanted = runReference({ current: start, previous: start }, { ...run, update: plain });
      const found = runReference({ current: own, previous: own }, { ...run, update });
      assertEquals(found.current, fieldsOf(wanted.current), `${stencil.title}, ${boundary}`);
      assertNotEquals(found.current, own);
    }
  }
});

Deno.test("beyond the ends of its own axis a profile is zero where the boundary is, beyond others it goes on", () => {
  const after = (axis: 0 | 1): number[] => {
    const { update } = scaledAlong(axis), current = new Float32Array(4).fill(1);
    const grid: Grid = axis === 0 ? [4, 1, 1] : [1, 4, 1];
    const run = {
      update,
      grid,
      boundary: "zero",
      steps: 1,
      profiles: [Float32Array.of(1, 2, 4, 8)],
    } as const;
    return [...runReference({ current, previous: current }, run).current];
  };
  assertEquals([after(0), after(1)], [[1 + 2, 2 + 4, 4 + 8, 8], [1 + 1, 2 + 2, 4 + 4, 8 + 8]]);
});

const PROFILES = wholeNumberProfiles(), PAIR = wholeNumberProfiledPair(), CROSS = wholeNumberCross();
const ONE_LEVEL = wholeNumberProfiles(false), GRID = [11, 9, 10] as const;

testRows([
  [PROFILES, GRID, inSteps([4, 2, 2]), [3, 2], { sections: 3 }],
  [PROFILES, GRID, inSteps([4, 2, 2]), [3, 2], { boundary: "periodic" }],
  [PROFILES, GRID, inSteps([4, 2, 2]), [3, 2], { boundary: "insulated", sections: 3 }],
  [PROFILES, GRID, inSteps([4, 2, 2]), [3, 2], { boundary: ["insulated", "zero", "periodic"] }],
  [PROFILES, GRID, inMarches([1, 8, 4, 2, 0, 0, 1]), [3, 2], { sections: 3 }],
  [PROFILES, GRID, inMarches([2, 8, 4, 2, 1, 1, 1]), [3, 2], { boundary: "periodic" }],
  [PROFILES, GRID, inMarches([4, 8, 4, 2, 0, 1, 1]), [3, 2], { boundary: "insulated", sections: 3 }],
  [PAIR, GRID, inMarches([1, 6, 5, 2, 0, 1, 1]), [3, 2]],
  [PAIR, GRID, inMarches([2, 6, 5, 2, 1, 1, 1]), [3, 2], { boundary: "periodic", sections: 3 }],
  [PROFILES, GRID, inTorres([1, 4, 1, 1, 10, 4, 2, 99]), [3, 2]],
  [ONE_LEVEL, GRID, inTorres([1, 4, 1, 2, 5, 2, 1, 99]), [3, 2], { sections: 3 }],
  [PROFILES, GRID, inTorres([1, 4, 1, 4, 3, 4, 2, 1]), [3, 2]],
  [CROSS, GRID, inTorres([2, 4, 1, 2, 5, 4, 2, 101, 0]), [3, 2], { sections: 3 }],
  [CROSS, GRID, inTorres([2, 4, 1, 1, 10, 2, 1, 100, 1]), [3, 2]],
  [CROSS, GRID, inTorres([2, 4, 1, 4, 3, 2, 2, 99, 0]), [3, 2], { sections: 3 }],
  [ONE_LEVEL, GRID, inMarches([2, 16, 16, 2, 0, 1, 2]), [3, 2]],
]);

const LINE = scaled(along("z", { values: [0, 1, 0, 1, 1, -1, 1, 0] }), 1);
for (const boundary of ["periodic", "insulated"] as const) {
  testRows([[LINE, [1, 1, 70], onLine("classic", [32, 2]), [3]]], { boundary });
}
