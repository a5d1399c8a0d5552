import { assert, assertEquals, assertLess } from "@std/assert";
import { tap } from "../../kernels/expression.ts";
import { equation } from "../../kernels/equation.ts";
import { absolute, add, divide, minimum, multiply, subtract } from "../../kernels/operations.ts";
import { initialValue } from "../kernels/initial_value.ts";
import { runReference } from "../../kernels/reference.ts";
import {
  type Boundary,
  cellsOf,
  type Grid,
  type Problem,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { conservingWeights, secondDerivative } from "../../kernels/weights.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { life } from "../../kernels/stencils/life.ts";
import { stabilityLimit, wave } from "../../kernels/stencils/wave.ts";
import { type Update, updateOf } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { reweighted } from "../kernels/reweighted.ts";

const GRID: Grid = [9, 7, 11];

function noise<T extends Float32Array | Float64Array>(array: new (length: number) => T, grid: Grid): T {
  const cells = new array(cellsOf(grid));
  let index = 0;
  for (let x = 0; x < grid[0]; x++) {
    for (let y = 0; y < grid[1]; y++) {
      for (let z = 0; z < grid[2]; z++) cells[index++] = initialValue("noise", [x, y, z], 5);
    }
  }
  return cells;
}

function run<T extends Float32Array | Float64Array>(
  array: new (length: number) => T,
  stencil: Pick<Stencil, "update">,
  { boundary, steps, grid = GRID }: { boundary: Boundary; steps: number; grid?: Grid },
): T {
  const field = noise(array, grid);
  const levels = { current: field, previous: field };
  return runReference(levels, { update: stencil.update, grid, boundary, steps }).current;
}

function difference(a: Float32Array | Float64Array, b: Float32Array | Float64Array): number {
  return Array.from(a, (value, i) => Math.abs(value - b[i]!)).reduce((most, value) => Math.max(most, value));
}

function largest(a: Float32Array | Float64Array): number {
  return Array.from(a, Math.abs).reduce((most, value) => Math.max(most, value), 1);
}

for (const order of [2, 6, 14]) {
  for (const boundary of ["zero", "periodic", "insulated"] as const) {
    const stencil = wave(order);

    Deno.test(`error bound holds for f32 against f64, order ${order}, ${boundary}`, () => {
      for (const steps of order === 2 ? [1, 2, 7, 30, 100, 400] : [1, 2, 7, 30, 100]) {
        const exact = run(Float64Array, stencil, { boundary, steps });
        const error = difference(run(Float32Array, stencil, { boundary, steps }), exact);
        const bound = errorBound({ stencil, grid: GRID, boundary, steps }, largest(exact));
        assert(error < bound, `${steps} steps: error ${error}, bound ${bound}`);
        assert(error > bound / 3000, `${steps} steps: error ${error}, bound ${bound} is too wide`);
      }
    });

    Deno.test(`error bound catches a weight wrong by 1e-4, order ${order}, ${boundary}`, () => {
      const courant = 0.9 * stabilityLimit(order);
      const { centre, sides: [nearest = 0, ...others] } = secondDerivative(order);
      const sides = [nearest * (1 + 1e-4), ...others].map((c) => c * courant ** 2);
      const wrong = { update: reweighted(wave(order).update, [2 + 3 * centre * courant ** 2, ...sides]) };
      const steps = 20;
      const exact = run(Float64Array, stencil, { boundary, steps });
      const error = difference(run(Float32Array, wrong, { boundary, steps }), exact);
      const bound = errorBound({ stencil, grid: GRID, boundary, steps }, largest(exact));
      assert(error > bound, `error ${error} is within the bound ${bound}`);
    });
  }
}

/** The wave equation of order 2 with the same weights, its sum written in another order. */
function reordered(): Pick<Stencil, "update"> {
  const square = (0.9 * stabilityLimit(2)) ** 2;
  const { centre, sides: [side = 0] } = conservingWeights(2, [square], 6);
  const along = (x: number, y: number, z: number) => multiply(side, add(tap(x, y, z), tap(-x, -y, -z)));
  const sides = add(along(1, 0, 0), along(0, 1, 0), along(0, 0, 1));
  return { update: updateOf(subtract(add(sides, multiply(centre, tap(0, 0, 0))), tap(0, 0, 0, 1))) };
}

Deno.test("error bound holds for two f32 kernels", () => {
  const stencil = wave(2);
  for (const boundary of ["zero", "periodic"] as const) {
    for (const steps of [1, 10, 100, 300]) {
      const a = run(Float32Array, stencil, { boundary, steps });
      const b = run(Float32Array, reordered(), { boundary, steps });
      const error = difference(a, b);
      const bound = errorBound({ stencil, grid: GRID, boundary, steps }, largest(a));
      assert(error < bound && error > bound / 1000, `${boundary}, ${steps} steps: ${error}, bound ${bound}`);
    }
  }
});

Deno.test("error bound needs the uniform mode on a small periodic grid after many steps", () => {
  const stencil = wave(2);
  const grid: Grid = [3, 2, 5];
  const options = { boundary: "periodic", steps: 6000, grid } as const;
  const a = run(Float32Array, stencil, options);
  for (const other of [run(Float64Array, stencil, options), run(Float32Array, reordered(), options)]) {
    const error = difference(a, other);
    const bound = errorBound({ stencil, ...options }, 1);
    const without = errorBound({ stencil, ...options, boundary: "zero" }, 1);
    assert(error < bound, `error ${error}, bound ${bound}`);
    assert(
      error > without / 10,
      `error ${error} is far within ${without}, the bound without the uniform mode`,
    );
  }
});

Deno.test("there is no error where nothing is rounded", () => {
  const problem = { stencil: wave(4), grid: GRID, boundary: "zero" } as const;
  assertEquals(errorBound({ ...problem, steps: 0 }, 3), 0);
  const shift = { ...wave(2), update: updateOf(minimum(tap(0, 0, 1), absolute(tap(0, 1, 0)))) };
  assertEquals(errorBound({ ...problem, stencil: shift, steps: 9 }, 1), 0);
  assertEquals(errorBound({ ...problem, stencil: life(), steps: 1000 }, 1), 0);
  // whole numbers that f32 no longer holds, and quotients of whole numbers
  const u = tap(0, 0, 0);
  for (const value of [add(u, tap(0, 0, 1)), divide(u, add(u, 1))]) {
    const stencil = { ...life(), update: updateOf(value) };
    assert(errorBound({ ...problem, stencil, steps: 9 }, 2 ** 24) > 0);
  }
  const sum = { ...life(), update: updateOf(add(u, tap(0, 0, 1))) };
  for (const [largest, isExact] of [[8e6, true], [9e6, false]] as const) {
    assertEquals(errorBound({ ...problem, stencil: sum, steps: 9 }, largest) === 0, isExact);
  }
});

Deno.test("the bound of a field that begins at 0 knows how large others make it", () => {
  const p = tap(0, 0, 0), q = tap(0, 0, 0, 0, 1);
  const update: Update = {
    fields: ["p", "q"],
    materials: [],
    ranges: [[0, 0], [0.5, 1]],
    substeps: [[{ field: 0, value: add(p, multiply(1 / 128, q)) }, { field: 1, value: q }]],
  };
  const problem: Problem = { stencil: { ...wave(2), update }, grid: GRID, boundary: "zero", steps: 2000 };
  // it grows to 2000/128, and rounds to what is near that
  const largest = problem.steps / 128, rounding = largest * 2 ** -24 * Math.sqrt(problem.steps);
  const bound = errorBound(problem, largest);
  assert(bound > 2 * rounding && bound < 100 * rounding, `${bound}`);
});

Deno.test("no bound is larger than twice the field, however long a chaotic equation runs", () => {
  const problem = { stencil: ks(5), grid: [1, 1, 64], boundary: "periodic" } as const;
  assert(errorBound({ ...problem, steps: 1000 }, 3) < 1e-2);
  for (const steps of [20_000, 1e9]) assertEquals(errorBound({ ...problem, steps }, 3), 6);
});

Deno.test("a signal that overflows after the run leaves the bound finite", () => {
  const stencil = equation({
    name: "pole",
    fields: { u: [0, 1] },
    signal: (step) => divide(1, subtract(step, 100)),
    step: ({ u }, signal) => ({ u: add(multiply(0.5, u), signal) }),
  });
  assertLess(errorBound({ stencil, grid: GRID, boundary: "zero", steps: 8 }, 1), 1e-4);
});
