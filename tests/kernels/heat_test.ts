import { assertAlmostEquals, assertEquals, assertLess, assertThrows } from "@std/assert";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import { indexOf, layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import { fourierLimit, heat, HEAT_DELTAS } from "../../kernels/stencils/heat.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { onlyExpression } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import {
  assertExact,
  assertWithinBound,
  describeCase,
  initialCells,
  type OracleCase,
} from "./oracle_case.ts";
import { maxAbs } from "../devices/cells.ts";
import { reweighted } from "./reweighted.ts";

/** Heat diffusion's shape with whole-number weights: exact on whole numbers. */
function wholeNumberHeat(delta: number): Stencil {
  const sides = Array.from({ length: delta }, (_, i) => i % 2 === 0 ? 1 : -1);
  return {
    ...heat(delta),
    title: `whole-number heat, delta ${delta}`,
    update: reweighted(heat(delta).update, [-1, ...sides]),
  };
}

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
      const pool = await CpuPool.create({ workers: 2 });
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

const torre = { chunk: 2, lookahead: 99, bands: 1 };
/** Ways to run, and the deltas whose whole numbers and whose real weights they run; thorough runs have all whole numbers. */
interface HeatCase extends Omit<OracleCase, "stencil"> {
  readonly exact: readonly number[];
  readonly real: readonly number[];
  /** Whole numbers of thorough runs. @default {all} */
  readonly possible?: readonly number[];
}
const CASES: readonly HeatCase[] = [
  {
    traversal: stepwise,
    grid: [5, 7, 13],
    parameters: { threadsZ: 8, threadsY: 2, threadsX: 2 },
    runs: [7],
    exact: HEAT_DELTAS,
    real: HEAT_DELTAS,
  },
  {
    traversal: stepwise,
    grid: [5, 2, 3],
    boundary: "periodic",
    parameters: { threadsZ: 4, threadsY: 2, threadsX: 1 },
    runs: [6],
    exact: HEAT_DELTAS,
    real: [1],
  },
  {
    traversal: marching,
    grid: [11, 5, 13],
    parameters: { zPerThread: 2, threadsZ: 5, threadsY: 9, pieces: 2, tile: 1, ahead: 0 },
    runs: [6, 1],
    exact: [1, 4],
    real: [3],
  },
  {
    traversal: marching,
    grid: [3, 7, 5],
    boundary: "periodic",
    parameters: { zPerThread: 4, threadsZ: 8, threadsY: 2, pieces: 2, tile: 0, ahead: 1 },
    runs: [5],
    exact: HEAT_DELTAS,
    real: [1],
  },
  // passes of an even depth go by twos, and the last step is alone
  {
    traversal: marching,
    grid: [11, 13, 21],
    parameters: { zPerThread: 2, threadsZ: 6, threadsY: 10, pieces: 2, tile: 0, ahead: 1, depth: 2 },
    runs: [5, 4, 1],
    exact: [1, 2],
    real: [2],
  },
  {
    traversal: marching,
    grid: [7, 12, 17],
    parameters: { zPerThread: 4, threadsZ: 5, threadsY: 25, pieces: 1, tile: 0, ahead: 1, depth: 3 },
    runs: [7, 3],
    exact: [3],
    real: [],
  },
  {
    traversal: marching,
    grid: [7, 12, 17],
    parameters: { zPerThread: 4, threadsZ: 4, threadsY: 8, pieces: 1, tile: 0, ahead: 1, depth: 3 },
    runs: [7, 3],
    exact: [1],
    real: [1],
    possible: [1],
  },
  // a software device compiles torres of higher orders for 5 to 20 s
  {
    traversal: diamondTorre,
    grid: [23, 9, 13],
    parameters: { ...torre, dts: 1, nt: 4, zPerThread: 2, threads: 7, unroll: 2 },
    runs: [4, 7],
    exact: [1],
    real: [1],
  },
  {
    traversal: diamondTorre,
    grid: [41, 3, 5],
    parameters: { ...torre, dts: 1, nt: 2, bands: 4, zPerThread: 1, threads: 5, unroll: 1 },
    runs: [9],
    exact: [1, 2],
    real: [],
  },
];

for (const { exact: exactDeltas, real: realDeltas, possible = HEAT_DELTAS, ...oracleCase } of CASES) {
  for (const delta of possible) {
    // few steps, two bands of them: whole numbers grow fast
    const { nt, bands, ...others } = oracleCase.parameters;
    const parameters = nt === undefined ? others : { ...others, nt: 2, bands: Math.min(2, bands!) };
    const exact = { ...oracleCase, parameters, stencil: wholeNumberHeat(delta), runs: [3] };
    const ignore = !exactDeltas.includes(delta) && !THOROUGH;
    testOnGpu(`bit for bit: ${describeCase(exact)}`, (gpu) => assertExact(gpu, exact), { ignore });
  }
  for (const delta of realDeltas) {
    const real = { ...oracleCase, stencil: heat(delta) };
    testOnGpu(`within the bound: ${describeCase(real)}`, (gpu) => assertWithinBound(gpu, real));
  }
}

testOnGpu("a torre of heat over two tiles in x and y, and several bands", async (gpu) => {
  const parameters = { ...torre, dts: 2, nt: 4, bands: 4, zPerThread: 2, threads: 4, chunk: 4, unroll: 2 };
  await assertWithinBound(gpu, {
    traversal: diamondTorre,
    stencil: heat(1),
    grid: [61, 17, 7],
    parameters,
    runs: [16, 5],
  });
});
