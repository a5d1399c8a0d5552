/**
 * Periodic and insulated boundaries on the GPU: plane waves whose evolution is known exactly, a boundary of its own
 * along each axis, and grids thinner than the taps reach, where a pad holds several images.
 *
 * @module
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { type Boundaries, cellsOf, type Grid, type Problem } from "../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { errorBound } from "../../models/error_bound.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { inMarches, inSteps, testRows } from "./oracle_case.ts";
import { wholeNumberWave } from "./whole_numbers.ts";
import { maxAbs, readCells, writeCells } from "../devices/cells.ts";

const WAYS = [inSteps([8, 2, 2]), inMarches([1, 8, 4, 3, 0, 0]), inMarches([4, 8, 4, 3, 0, 1])];

// Plane waves

const GRID: Grid = [13, 9, 20];
const STEPS = 30;
/** Whole periods along x, y, z: along an axis, oblique, backwards, at the grid's resolution, none at all. */
const MODES = [[1, 0, 0], [0, -2, 0], [0, 0, 3], [2, 1, -4], [6, 4, 10], [0, 0, 0]] as const;

// A march differs from order to order in the length of its queues only: three orders show that.
for (const { traversal, parameters } of WAYS) {
  for (const order of traversal.name === "stepwise" ? WAVE_ORDERS : [2, 6, 14]) {
    testOnGpu(`${traversal.name} carries the exact plane waves of order ${order}`, async (gpu) => {
      const stencil = wave(order);
      const problem: Problem = { stencil, grid: GRID, boundary: "periodic", steps: STEPS };
      using field = await GpuField.create(gpu, problem, traversal.plan(problem, parameters));
      for (const modes of MODES) {
        const exact = stencil.planeWave!(GRID, modes);
        const at = (step: number): Float64Array => {
          const cells = new Float64Array(cellsOf(GRID));
          const [, ny, nz] = GRID;
          return cells.map((_, i) =>
            exact.at([Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz], step)
          );
        };
        await writeCells(field, Float32Array.from(at(0)), Float32Array.from(at(-1)));
        await field.run(STEPS);
        // The two initial levels are rounded to f32 like results of two more steps.
        const bound = errorBound({ ...problem, steps: STEPS + 2 }, 1);
        assertLess(bound, 5e-4);
        for (const ago of [0, 1] as const) {
          const result = await readCells(field, ago), expected = at(STEPS - ago);
          const error = maxAbs(expected.map((value, i) => value - result[i]!));
          assert(error <= bound, `modes ${modes}, F(t-${ago}): error ${error}, bound ${bound}`);
        }
      }
    });
  }
}

// Grids thinner than the reach

const THIN: readonly [order: number, grid: Grid, boundary: Boundaries][] = [
  [2, [1, 1, 1], "periodic"],
  [2, [1, 1, 1], "insulated"],
  [2, [7, 5, 19], ["zero", "periodic", "periodic"]],
  [2, [7, 5, 19], ["insulated", "zero", "periodic"]],
  [2, [7, 5, 18], ["periodic", "insulated", "zero"]],
  [6, [2, 3, 1], "periodic"],
  [6, [2, 3, 4], "insulated"],
  [6, [3, 2, 2], ["zero", "periodic", "insulated"]],
  [14, [1, 2, 5], "periodic"],
  [14, [3, 1, 2], ["zero", "periodic", "periodic"]],
  [14, [11, 3, 17], ["insulated", "periodic", "zero"]],
];

for (const way of WAYS) {
  testRows(THIN.map(([order, grid, boundary]) => [wholeNumberWave(order), grid, way, [1, 2], { boundary }]));
}

Deno.test("diamond-torre refuses other boundaries than zeros, with the reason", () => {
  for (const boundary of ["periodic", ["zero", "zero", "insulated"]] as const) {
    assertEquals(
      refusalOf(diamondTorre, { stencil: wave(2), grid: GRID, boundary }),
      {
        kind: "boundary",
        message: `the boundary is ${boundary}: torres advance from one end of x to the other through zeros`,
      },
    );
  }
});
