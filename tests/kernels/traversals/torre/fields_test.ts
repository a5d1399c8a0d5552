/**
 * Torres of several fields and sub-steps: where their tiles may lie, and the oracle's bits on awkward grids.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { refusalOf } from "../../../../kernels/capability.ts";
import { equation, type FieldTap } from "../../../../kernels/equation.ts";
import { type Ago, type Expression, tap } from "../../../../kernels/expression.ts";
import { add, multiply, subtract, type Value } from "../../../../kernels/operations.ts";
import { elastic } from "../../../../kernels/stencils/elastic.ts";
import { maxwell } from "../../../../kernels/stencils/maxwell.ts";
import type { Problem, Stencil } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../../../kernels/traversals/torre/diamond_torre.ts";
import { leanOf, tileOf } from "../../../../kernels/traversals/tiles.ts";
import { scheduleTorres } from "../../../../kernels/traversals/waves.ts";
import { shapeOf } from "../../../../kernels/traversals/torre/shape.ts";
import { needsOf } from "../../../../kernels/traversals/torre/visit.ts";
import { tapsOf, type Update } from "../../../../kernels/update.ts";
import { registersOf } from "../../../../models/roofline.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";
import { THOROUGH } from "../../../thorough.ts";
import { inTorres, rowsIn, testRows } from "../../oracle_case.ts";
import {
  clamped,
  packed,
  wholeNumberElastic,
  wholeNumberProfiledPair,
  wholeNumberStaggered,
  wholeNumberYee,
} from "../../whole_numbers.ts";

const YEE = wholeNumberYee();

/** Two fields in one sub-step that read each other. */
const twin = equation({
  name: "twin",
  title: "two fields in one sub-step, whole numbers",
  fields: { u: [-1, 1], w: [-1, 1] },
  initialField: "integers",
  step({ u, w }) {
    const sides = ({ at }: FieldTap): Value =>
      subtract(add(at(1), at(0, -1), at(0, 0, 1)), add(at(-1), at(0, 0, -1)));
    return { u: clamped(8, subtract(sides(u), w)), w: clamped(8, w, multiply(2, sides(w)), u.at(0, 1)) };
  },
});

/** A later sub-step that reads both levels of what an earlier one has made, off the axes, and a material there. */
const crossed = equation({
  name: "crossed",
  title: "both levels of a field off the axes, whole numbers",
  fields: { a: [-1, 1], b: [-1, 1], c: [-1, 1] },
  materials: { m: { values: [1, -1, 0, 2] } },
  initialField: "integers",
  step: ({ a, b, c, m }) => [
    { a: clamped(8, subtract(add(a, b.at(1, 0, 1)), c.at(0, 1, -1))) },
    { b: clamped(8, a.next(-1, 0, 1), multiply(m.at(0, 1, 1), a.at(0, 1, 1)), b.at(0, 0, 2)) },
    { c: clamped(8, c.at(0, -1, 1), subtract(b.next(1), a.at(1, 1))) },
  ],
});

testRows(rowsIn(inTorres, [
  [YEE, [1, 1, 2], [1, 2, 1, 1, 2, 2, 1, 99, 0], [1, 2, 3]],
  [YEE, [7, 5, 9], [1, 4, 1, 1, 9, 4, 1, 99, 0], [5, 4]],
  [YEE, [9, 5, 6], [2, 4, 1, 1, 6, 4, 1, 0, 1], [7]], // each chunk loads what it reads
  [YEE, [23, 3, 5], [1, 4, 4, 1, 5, 4, 1, 100, 0], [17]], // Ny is smaller than what fields' tiles cover
  [YEE, [5, 17, 7], [1, 4, 1, 4, 2, 2, 2, 1, 1], [9, 2]], // the last steps of each run are done singly
  [wholeNumberStaggered(), [11, 7, 6], [1, 4, 1, 1, 6, 4, 1, 99, 0], [2, 1]], // S = 3
  [wholeNumberProfiledPair(), [13, 5, 6], [2, 4, 2, 1, 6, 4, 1, 100], [9]],
  [twin, [19, 5, 7], [1, 4, 2, 1, 7, 2, 4, 1], [9]],
  [twin, [11, 6, 5], [2, 4, 1, 2, 3, 2, 1, 1], [9]],
  [crossed, [9, 11, 7], [1, 4, 1, 1, 7, 2, 1, 100, 1], [5]],
]));

// tiles of many values: a software device compiles them for long
testRows(
  rowsIn(inTorres, [
    [YEE, [13, 11, 7], [2, 6, 1, 2, 4, 8, 1, 99, 1], [7]],
    [twin, [13, 7, 9], [2, 4, 1, 2, 5, 8, 1, 99], [5, 4]],
    [wholeNumberStaggered(), [11, 7, 6], [1, 4, 1, 2, 3, 4, 1, 99, 0], [2, 1]],
    [packed(crossed, 1, 2), [7, 9, 11], [1, 4, 1, 2, 6, 2, 1, 99, 2], [5]],
    [YEE, [11, 7, 5], [2, 4, 1, 1, 5, 8, 2, 0, 0], [9]],
    [wholeNumberStaggered(), [7, 13, 5], [1, 4, 1, 1, 5, 2, 2, 1, 1], [3]],
    [packed(wholeNumberStaggered(), -1, 2), [5, 7, 6], [1, 4, 1, 2, 3, 4, 1, 99, 3], [2, 1]],
    [wholeNumberElastic(), [7, 5, 6], [1, 2, 1, 1, 6, 2, 1, 99, 0], [2]], // nine fields, a tile of 18 cells
  ]),
  { isSlow: true },
);

/** Sub-steps of up to four fields that read near values at any level. */
const anyUpdate = fc.integer({ min: 2, max: 4 }).chain((count) => {
  const reads = fc.array(
    fc.tuple(
      fc.nat(count - 1),
      fc.boolean(),
      fc.integer({ min: -2, max: 2 }),
      fc.integer({ min: -2, max: 2 }),
    ),
    { maxLength: 4 },
  );
  return fc.tuple(
    fc.array(reads, { minLength: count, maxLength: count }),
    fc.array(fc.boolean(), { minLength: count, maxLength: count }),
  );
}).map(([all, joins]): Update => {
  const substeps: { field: number; value: Expression }[][] = [];
  all.forEach((reads, field) => {
    if (field === 0 || !joins[field]) substeps.push([]);
    const made = substeps.slice(0, -1).flat().map((one) => one.field);
    const taps = reads.map(([plane, isNew, x, y]) =>
      tap(x, y, 0, (isNew && made.includes(plane) ? -1 : 0) as Ago, plane)
    );
    substeps.at(-1)!.push({
      field,
      value: taps.reduce<Expression>((sum, one) => add(sum, one), tap(0, 0, 0, 0, field)),
    });
  });
  return { fields: all.map((_, i) => `f${i}`), materials: [], substeps };
});

const anyTorres = fc.record({
  update: anyUpdate,
  nx: fc.integer({ min: 1, max: 24 }),
  ny: fc.integer({ min: 1, max: 12 }),
  steps: fc.integer({ min: 1, max: 12 }),
  dts: fc.integer({ min: 1, max: 2 }),
  nt: fc.integer({ min: 1, max: 6 }),
  bands: fc.constantFrom(1, 2, 4),
});

Deno.test("of several fields every cell is computed once a step, from values that are still in an array, within the pads", () => {
  fc.assert(
    fc.property(anyTorres, ({ update, nx, ny, steps, dts, nt, bands }) => {
      const problem: Problem = {
        stencil: { ...wave(2), update },
        grid: [nx, ny, 3],
        boundary: "zero",
        steps,
      };
      const parameters = {
        dts,
        nt,
        bands,
        unroll: 1,
        zPerThread: 1,
        threads: 3,
        chunk: 2,
        rest: 0,
        loads: "tier start",
      };
      const shape = shapeOf(problem, parameters), { width, slope, layout: { pad } } = shape;
      const needs = needsOf(update, dts), inTorre = [...needs.carried, ...needs.loads, ...needs.stored];
      /** The newest step of each field's cells along x and y. */
      const newest = update.fields.map(() => new Int32Array(nx * ny));
      for (const rows of scheduleTorres(problem, parameters, steps).waves) {
        for (const { x, y, tiers, torres, step } of rows) {
          for (let torre = 0; torre < torres; torre++) {
            for (let tier = 0; tier < tiers; tier++) {
              const cell = ([a, b]: readonly [number, number]): [number, number] => [
                x + slope * tier + (a + b) / 2,
                y + torre * width + (a - b) / 2,
              ];
              const isIn = ([i, j]: readonly [number, number]): boolean =>
                i >= 0 && i < nx && j >= 0 && j < ny;
              for (const { place } of inTorre) {
                const [i, j] = cell(place);
                assert(i >= -pad[0] && i < nx + pad[0] && j >= -pad[1] && j < ny + pad[1], `${i}, ${j}`);
              }
              for (const substep of update.substeps) {
                for (const { field } of substep) {
                  for (const [i, j] of tileOf(shape, field).map(cell).filter(isIn)) {
                    assertEquals(newest[field]![i * ny + j], step + tier);
                    for (
                      const { plane, ago, offset } of tapsOf([substep.find((one) => one.field === field)!])
                    ) {
                      const at = [i + offset[0], j + offset[1]] as const;
                      if (!isIn(at)) continue;
                      const ahead = newest[plane]![at[0] * ny + at[1]]! - (step + tier - ago);
                      // a value and the one before it lie in two arrays
                      assert(ahead === 0 || ahead === 1, `${plane} at ${at} is ${ahead} steps ahead`);
                    }
                  }
                }
                for (const { field } of substep) {
                  for (const [i, j] of tileOf(shape, field).map(cell).filter(isIn)) {
                    newest[field]![i * ny + j]!++;
                  }
                }
              }
            }
          }
        }
      }
      assert(newest.every((one) => one.every((step) => step === steps)));
    }),
    { seed: 20_261_123, numRuns: THOROUGH ? 60 : 25 },
  );
});

Deno.test("the slope of staggered grids is what a whole step reaches, and tiles lie as near as that permits", () => {
  assertEquals(leanOf(wave(4).update), { slope: 2, corners: [[0, 0]], spread: [0, 0], margin: 2 });
  assertEquals([maxwell(), elastic(), twin].map(({ update }) => leanOf(update).slope), [1, 3, 1]);
  // values that are loaded and stored for each of W²/2 cells: 4 (4 − 1/DTS)/DTS at most, where plain steps move 12
  for (const dts of [1, 2, 3]) {
    const { loads, stored } = needsOf(maxwell().update, dts), cells = 2 * dts * dts;
    assert((loads.length + stored.length) / cells <= 4 * (4 - 1 / dts) / dts);
  }
});

Deno.test("a thread holds fewer values where each chunk loads what it reads", () => {
  const heldWith = (loads: string): number => {
    const problem: Problem = {
      stencil: elastic(),
      grid: [64, 64, 64],
      boundary: "zero",
      steps: 16,
    };
    const torre = {
      dts: 1,
      nt: 16,
      bands: 1,
      zPerThread: 1,
      threads: 64,
      chunk: 8,
      unroll: 1,
      packed: 0,
      held: 0,
    };
    assertEquals(diamondTorre.infeasible(problem, { ...torre, loads }, H100_LIMITS), undefined);
    return registersOf(diamondTorre.demand(problem, { ...torre, loads }));
  };
  const [late, early] = [heldWith("when needed"), heldWith("tier start")];
  assert(late < 0.7 * early, `${late}, ${early}`);
});

Deno.test("torres refuse two levels of several fields", () => {
  const older = equation({
    name: "older",
    fields: { u: [-1, 1], w: [-1, 1] },
    step: ({ u, w }) => ({ u: subtract(w.at(1), u.before()), w: u.at(0, 1) }),
  });
  const problem = (stencil: Stencil): Problem => ({
    stencil,
    grid: [20, 20, 20],
    boundary: "zero",
    steps: 8,
  });
  assertEquals(refusalOf(diamondTorre, problem(older))?.kind, "previous");
  assertEquals(refusalOf(diamondTorre, problem(YEE)), undefined);
});
