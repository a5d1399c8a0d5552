import { assertAlmostEquals, assertEquals, assertLess, assertThrows } from "@std/assert";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import { indexOf, layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import { fourierLimit, heat, HEAT_DELTAS } from "../../kernels/stencils/heat.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { onlyExpression } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import {
  initialCells,
  inMarches,
  inSteps,
  inTorres,
  type Row,
  type Special,
  testRows,
  type Way,
} from "./oracle_case.ts";
import { wholeNumberHeat } from "./whole_numbers.ts";
import { maxAbs } from "../devices/cells.ts";
import "../own_thread.ts";

for (const delta of HEAT_DELTAS) {
  Deno.test(`the wave of delta ${delta} satisfies the update exactly, and its weights add up to 1`, () => {
    const stencil = heat(delta);
    const at = (value: (offset: readonly [number, number, number]) => number): number =>
      fold<number>(onlyExpression(stencil.update)!, {
        ...NUMBERS,
        tap: ({ offset }) => value(offset),
      });
    assertAlmostEquals(at(() => 1), 1, 1e-14);
    const exact = stencil.planeWave!([9, 10, 11], [1, -2, 3]);
    for (const step of [0, 1, 17]) {
      const next = at(([dx, dy, dz]) => exact.at([3 + dx, 4 + dy, 5 + dz], step));
      assertAlmostEquals(next, exact.at([3, 4, 5], step + 1), 1e-13);
    }
  });

  Deno.test(`stability limit of delta ${delta}: the shortest wave just keeps its amplitude`, () => {
    const shortest = heat(delta, { fourier: fourierLimit(delta) }).planeWave!([2, 2, 2], [1, 1, 1]);
    assertAlmostEquals(shortest.at([0, 0, 0], 1), -1, 1e-6);
  });

  Deno.test(`delta ${delta}: a periodic grid keeps its heat, and f32 keeps within the bound`, () => {
    const grid: Grid = [7, 6, 9], stencil = heat(delta), steps = 40;
    const start = initialCells(grid, "noise", 3);
    const run = { update: stencil.update, grid, boundary: "periodic", steps } as const;
    const levels = { current: Float64Array.from(start), previous: Float64Array.from(start) };
    const exact = runReference(levels, run).current;
    const sum = (cells: ArrayLike<number>): number =>
      Array.from(cells).reduce((total, value) => total + value, 0);
    assertAlmostEquals(sum(exact), sum(start), 1e-9);
    const single = runReference({ current: start, previous: start }, run).current;
    const error = maxAbs(exact.map((value, i) => value - single[i]!));
    const bound = errorBound({ stencil, grid, boundary: "periodic", steps }, maxAbs(start));
    assertLess(error, bound);
    assertLess(bound / 1000, error);
  });

  Deno.test(`delta ${delta}: CPU workers give the oracle's bits`, async () => {
    const grid: Grid = [7, 5, 11], steps = 9, { update } = heat(delta);
    for (const boundary of ["zero", "periodic"] as const) {
      const pool = await CpuPool.create({ workers: 1 });
      try {
        const layout = layOut(grid, { pad: [delta, delta, delta] });
        const field = await pool.load({ update, layout, boundary });
        await field.initialise({ kind: "noise", seed: 5 });
        await field.run({ steps });
        const start = initialCells(grid, "noise", 5);
        const expected =
          runReference({ current: start, previous: start }, { update, grid, boundary, steps }).current;
        const result = expected.map((_, i) =>
          field.current[indexOf(layout, [Math.floor(i / 55), Math.floor(i / 11) % 5, i % 11])]!
        );
        assertEquals(result, expected);
      } finally {
        pool.dispose();
      }
    }
  });
}

Deno.test("other deltas and Fourier numbers beyond the limit are refused, naming both", () => {
  assertThrows(() => heat(5), RangeError, "delta must be 1, 2, 3, 4: current value is 5");
  assertThrows(() => heat(1, { fourier: 0.17 }), RangeError, "0.166667, the stability limit of delta 1");
});

/**
 * Grids and ways; the deltas whose whole numbers every run has, and those of thorough runs; the deltas with real weights,
 * and the steps of their runs. Whole numbers grow fast: three steps, two bands of them in torres.
 */
const CASES: readonly (readonly [
  Grid,
  Way,
  exact: readonly number[],
  possible: readonly number[],
  real: readonly number[],
  realRuns: readonly number[],
  Special?,
])[] = [
  [[5, 7, 13], inSteps([8, 2, 2]), HEAT_DELTAS, [], HEAT_DELTAS, [7]],
  [[5, 2, 3], inSteps([4, 2, 1]), HEAT_DELTAS, [], [1], [6], { boundary: "periodic" }],
  [[11, 5, 13], inMarches([2, 5, 9, 2, 1, 0]), [1, 4], HEAT_DELTAS, [3], [6, 1]],
  [[3, 7, 5], inMarches([4, 8, 2, 2, 0, 1]), HEAT_DELTAS, [], [1], [5], { boundary: "periodic" }],
  // passes of an even depth go by twos, and the last step is alone
  [[11, 13, 21], inMarches([2, 6, 10, 2, 0, 1, 2]), [1, 2], HEAT_DELTAS, [2], [5, 4, 1]],
  [[7, 12, 17], inMarches([4, 5, 25, 1, 0, 1, 3]), [3], HEAT_DELTAS, [], []],
  [[7, 12, 17], inMarches([4, 4, 8, 1, 0, 1, 3]), [1], [], [1], [7, 3]],
  // a software device compiles torres of higher orders for 5 to 20 s
  [[23, 9, 13], inTorres([1, 2, 1, 2, 7, 2, 2, 99]), [1], HEAT_DELTAS, [], []],
  [[23, 9, 13], inTorres([1, 4, 1, 2, 7, 2, 2, 99]), [], [], [1], [4, 7]],
  [[41, 3, 5], inTorres([1, 2, 2, 1, 5, 2, 1, 99]), [1, 2], HEAT_DELTAS, [], []],
  // over two tiles in x and y, and several bands
  [[61, 17, 7], inTorres([2, 4, 4, 2, 4, 4, 2, 99]), [], [], [1], [16, 5]],
];

for (const [grid, way, exact, possible, real, realRuns, special] of CASES) {
  for (const delta of new Set([...exact, ...possible])) {
    const isSlow = !exact.includes(delta);
    testRows([[wholeNumberHeat(delta), grid, way, [3], { ...special, isSlow }]]);
  }
  testRows(real.map((delta): Row => [heat(delta), grid, way, realRuns, { ...special, isReal: true }]));
}
