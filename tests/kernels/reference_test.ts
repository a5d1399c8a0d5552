import { assert, assertEquals, assertThrows } from "@std/assert";
import { constant, tap } from "../../kernels/expression.ts";
import { add, multiply } from "../../kernels/operations.ts";
import { type FieldLevels, runReference } from "../../kernels/reference.ts";
import { type Boundaries, cellsOf, type Grid } from "../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { updateOf } from "../../kernels/update.ts";

type Values = (x: number, y: number, z: number) => number;

function cells(grid: Grid, value: Values): Float64Array {
  const array = new Float64Array(cellsOf(grid));
  let index = 0;
  for (let x = 0; x < grid[0]; x++) {
    for (let y = 0; y < grid[1]; y++) for (let z = 0; z < grid[2]; z++) array[index++] = value(x, y, z);
  }
  return array;
}

function difference(a: Float64Array, b: Float64Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

for (const order of WAVE_ORDERS) {
  Deno.test(`the oracle carries plane waves of order ${order} for 40 steps in f64`, () => {
    const grid: Grid = [7, 10, 12], steps = 40;
    const { update, planeWave } = wave(order);
    for (const modes of [[1, 0, 0], [0, -2, 3], [2, 1, -1], [3, 5, 6]] as const) {
      const exact = planeWave!(grid, modes);
      const at = (step: number): Float64Array => cells(grid, (x, y, z) => exact.at([x, y, z], step));
      const levels = { current: at(0), previous: at(-1) };
      const result = runReference(levels, { update, grid, boundary: "periodic", steps });
      assert(difference(result.current, at(steps)) < 1e-11, `${modes}`);
      assert(difference(result.previous, at(steps - 1)) < 1e-11, `${modes}`);
    }
  });
}

Deno.test("sine modes between fixed zeros are exact at order 2", () => {
  // sin(π a (x+1)/(nx+1)) …: zero on the frame, and odd about it, so that the update never sees beyond
  const grid: Grid = [9, 6, 11], modes = [2, 1, 3], steps = 50;
  const phases = modes.map((mode, axis) => Math.PI * mode / (grid[axis]! + 1));
  const courant = 0.5; // weights that f32 holds
  const cosine = phases.reduce((sum, theta) => sum - 0.5 * courant ** 2 * (2 - 2 * Math.cos(theta)), 1);
  const omega = Math.acos(cosine);
  const at = (step: number): Float64Array =>
    cells(
      grid,
      (...cell) =>
        cell.reduce(
          (product, i, axis) => product * Math.sin(phases[axis]! * (i + 1)),
          Math.cos(omega * step),
        ),
    );
  const { update } = wave(2, { courant });
  const result = runReference({ current: at(0), previous: at(-1) }, {
    update,
    grid,
    boundary: "zero",
    steps,
  });
  assert(difference(result.current, at(steps)) < 1e-12);
});

for (const order of [2, 4, 14]) {
  Deno.test(`a point source of order ${order} fills its octahedron, exactly`, () => {
    const grid: Grid = [31, 33, 35], centre = [15, 16, 17], steps = order === 14 ? 2 : 5;
    const source = cells(grid, (...cell) => cell.every((i, axis) => i === centre[axis]) ? 1 : 0);
    const levels = { current: source, previous: new Float64Array(source.length) };
    const { update } = wave(order, { courant: 0.3 });
    const { current } = runReference(levels, { update, grid, boundary: "zero", steps });
    const wrong = cells(grid, (...cell) => {
      const distance = cell.reduce((sum, i, axis) => sum + Math.abs(i - centre[axis]!), 0);
      // nonzero after m steps where Σ ceil(|i_d| / p) ≤ m: each step crosses up to p cells along one axis
      const reachable = cell.reduce(
        (sum, i, axis) => sum + Math.ceil(Math.abs(i - centre[axis]!) / (order / 2)),
        0,
      );
      const value = current[(cell[0] * grid[1] + cell[1]) * grid[2] + cell[2]];
      if (distance > steps * order / 2) return value !== 0 ? 1 : 0;
      return reachable <= steps && value === 0 ? 1 : 0;
    });
    assertEquals(wrong.reduce((a, b) => a + b), 0);
  });
}

Deno.test("boundaries: zero ends, periodic comes round, insulated turns back, and each axis has its own", () => {
  const grid: Grid = [2, 3, 4];
  const numbered = cells(grid, (x, y, z) => 100 * (x + 1) + 10 * y + z);
  const levels = { current: numbered, previous: numbered };
  const shift = (dx: number, dy: number, dz: number, boundary: Boundaries): number =>
    runReference(levels, { update: updateOf(tap(dx, dy, dz)), grid, boundary, steps: 1 }).current.at(-1)!;
  assertEquals(shift(0, 0, 0, "zero"), 223);
  assertEquals([shift(1, 0, 0, "zero"), shift(0, 1, 0, "zero"), shift(0, 0, 1, "zero")], [0, 0, 0]);
  assertEquals([shift(1, 0, 0, "periodic"), shift(0, 1, 0, "periodic"), shift(0, 0, 1, "periodic")], [
    123,
    203,
    220,
  ]);
  assertEquals(shift(7, 7, 7, "periodic"), 102); // further than the grid is wide
  assertEquals(shift(-7, -7, -7, "periodic"), 110);
  assertEquals(shift(1, 1, 1, "insulated"), 112);
  assertEquals(shift(-7, -7, -8, "insulated"), 111); // mirrored more than once
  const mixed = ["zero", "periodic", "insulated"] as const;
  assertEquals([shift(1, 0, 0, mixed), shift(0, 4, 0, mixed), shift(0, 0, 2, mixed)], [0, 203, 221]);
  assertEquals(shift(1, 1, 1, ["insulated", "insulated", "zero"]), 0);
});

Deno.test("in f32 every operation rounds once; f64 does not round at all", () => {
  const update = updateOf(add(multiply(constant(0.1), tap(0, 0, 0)), tap(0, 0, 0, 1)));
  const grid: Grid = [1, 1, 1];
  const run = <T extends Float32Array | Float64Array>(levels: FieldLevels<T>) =>
    runReference(levels, { update, grid, boundary: "zero", steps: 1 }).current[0];
  const f = Math.fround;
  const single = run({ current: Float32Array.of(0.7), previous: Float32Array.of(1e-3) });
  assertEquals(single, f(f(f(0.1) * f(0.7)) + f(1e-3)));
  assertEquals(run({ current: Float64Array.of(0.7), previous: Float64Array.of(1e-3) }), 0.1 * 0.7 + 1e-3);
});

Deno.test("the levels given are left as they are; no steps give a copy", () => {
  const levels = { current: Float64Array.of(1, 2), previous: Float64Array.of(3, 4) };
  const run = (steps: number) =>
    runReference(levels, { update: updateOf(tap(0, 0, 1)), grid: [1, 1, 2], boundary: "periodic", steps });
  assertEquals(run(1), { current: Float64Array.of(2, 1), previous: Float64Array.of(1, 2) });
  const none = run(0);
  assertEquals(none, levels);
  assert(none.current !== levels.current);
  assertEquals([...levels.current], [1, 2]);
});

Deno.test("levels of another size than the grid are refused, naming both", () => {
  const levels = { current: new Float32Array(5), previous: new Float32Array(6) };
  const error = assertThrows(
    () =>
      runReference(levels, { update: updateOf(tap(0, 0, 0)), grid: [1, 2, 3], boundary: "zero", steps: 1 }),
    RangeError,
  );
  assertEquals(error.message, "Cannot run the reference: both levels must hold 6 cells: they hold 5 and 6");
});
