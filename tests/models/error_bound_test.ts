import { assert, assertEquals, assertThrows } from "@std/assert";
import { constant, tap } from "../../kernels/expression.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { initialValue } from "../../kernels/initial_field.ts";
import { runReference } from "../../kernels/reference.ts";
import { type Boundary, cellsOf, type Grid, type Stencil } from "../../kernels/stencils/stencil.ts";
import { secondDerivative } from "../../kernels/stencils/cross.ts";
import { stabilityLimit, wave, waveUpdate } from "../../kernels/stencils/wave.ts";
import { updateOf } from "../../kernels/update.ts";
import { boundaryErrors, errorBound } from "../../models/error_bound.ts";

const GRID: Grid = [9, 7, 11];
const CELLS = cellsOf(GRID);

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
    const errors = boundaryErrors({ boundary, grid: GRID });
    const stencil = wave(order);

    Deno.test(`error bound holds for f32 against f64, order ${order}, ${boundary}`, () => {
      for (const steps of order === 2 ? [1, 2, 7, 30, 100, 400] : [1, 2, 7, 30, 100]) {
        const exact = run(Float64Array, stencil, { boundary, steps });
        const error = difference(run(Float32Array, stencil, { boundary, steps }), exact);
        const bound = errorBound({ stencil, steps, maxField: largest(exact), kernels: 1, ...errors });
        assert(error < bound, `${steps} steps: error ${error}, bound ${bound}`);
        assert(error > bound / 1000, `${steps} steps: error ${error}, bound ${bound} is too wide`);
      }
    });

    Deno.test(`error bound catches a weight wrong by 1e-4, order ${order}, ${boundary}`, () => {
      const courant = 0.9 * stabilityLimit(order);
      const { centre, sides: [nearest = 0, ...others] } = secondDerivative(order);
      const sides = [nearest * (1 + 1e-4), ...others].map((c) => c * courant ** 2);
      const wrong = { update: waveUpdate({ centre: 2 + 3 * centre * courant ** 2, sides }) };
      const steps = 20;
      const exact = run(Float64Array, stencil, { boundary, steps });
      const error = difference(run(Float32Array, wrong, { boundary, steps }), exact);
      for (const kernels of [1, 2] as const) {
        const bound = errorBound({ stencil, steps, maxField: largest(exact), kernels, ...errors });
        assert(error > bound, `error ${error} is within the bound ${bound}`);
      }
    });
  }
}

/** The wave equation of order 2, its sum written in another order. */
function reordered(): Pick<Stencil, "update"> {
  const { centre, sides: [side = 0] } = secondDerivative(2), square = (0.9 * stabilityLimit(2)) ** 2;
  const c0 = centre * square, c1 = side * square;
  const along = (x: number, y: number, z: number) =>
    multiply(constant(c1), add(tap(x, y, z), tap(-x, -y, -z)));
  const sides = add(along(1, 0, 0), along(0, 1, 0), along(0, 0, 1));
  return {
    update: updateOf(subtract(add(sides, multiply(constant(2 + 3 * c0), tap(0, 0, 0))), tap(0, 0, 0, 1))),
  };
}

Deno.test("error bound holds for two f32 kernels", () => {
  const stencil = wave(2);
  for (const boundary of ["zero", "periodic"] as const) {
    for (const steps of [1, 10, 100, 300]) {
      const a = run(Float32Array, stencil, { boundary, steps });
      const b = run(Float32Array, reordered(), { boundary, steps });
      const periodicCells = boundary === "periodic" ? CELLS : undefined;
      const error = difference(a, b);
      const bound = errorBound({ stencil, steps, maxField: largest(a), kernels: 2, periodicCells });
      assert(error < bound && error > bound / 1000, `${boundary}, ${steps} steps: ${error}, bound ${bound}`);
    }
  }
});

Deno.test("error bound needs the uniform mode on a small periodic grid after many steps", () => {
  const stencil = wave(2);
  const grid: Grid = [3, 2, 5];
  const options = { boundary: "periodic", steps: 6000, grid } as const;
  const a = run(Float32Array, stencil, options);
  const others = { 1: run(Float64Array, stencil, options), 2: run(Float32Array, reordered(), options) };
  for (const kernels of [1, 2] as const) {
    const error = difference(a, others[kernels]);
    const input = { stencil, steps: options.steps, maxField: 1, kernels };
    const bound = errorBound({ ...input, periodicCells: cellsOf(grid) });
    const without = errorBound({ ...input, kernels: 2 });
    assert(error < bound, `error ${error}, bound ${bound}`);
    assert(error > without, `error ${error} is within ${without}, the bound without the uniform mode`);
  }
});

Deno.test("error bound is 0 without steps and without a field", () => {
  const stencil = wave(4);
  assertEquals(errorBound({ stencil, steps: 0, maxField: 3, kernels: 2 }), 0);
  assertEquals(errorBound({ stencil, steps: 9, maxField: 0, kernels: 1 }), 0);
});

Deno.test("error bound of two kernels is √2 times that of one, without the weights", () => {
  // weights that f32 holds exactly
  const stencil = { ...wave(2), update: waveUpdate({ centre: 0.5, sides: [0.25] }) };
  const one = errorBound({ stencil, steps: 12, maxField: 1, kernels: 1 });
  const two = errorBound({ stencil, steps: 12, maxField: 1, kernels: 2 });
  assert(Math.abs(two / one - Math.SQRT2) < 1e-12);
});

Deno.test("error bound refuses a field that overflowed", () => {
  const stencil = wave(2);
  for (const maxField of [NaN, Infinity, -1]) {
    assertThrows(() => errorBound({ stencil, steps: 1, maxField, kernels: 2 }), RangeError, `${maxField}`);
  }
  assertThrows(() => errorBound({ stencil, steps: 1.5, maxField: 1, kernels: 2 }), RangeError, "1.5");
});
