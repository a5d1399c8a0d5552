import { assertEquals } from "@std/assert";
import { indexOf, type Layout, layOut } from "../../kernels/layout.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { copySlices, transfersBetween, withoutPadX } from "../../tuner/backends/slice_exchange.ts";

const CONTROL = { ghost: 6, reach: 2, isPeriodic: false, readsPrevious: true };

Deno.test("on a zero boundary the shares exchange once, one reach less of the level before", () => {
  const { toCpu, toGpu } = transfersBetween({ first: 0, slices: 10 }, { first: 6, slices: 20 }, CONTROL);
  assertEquals(toCpu, [
    { ago: 0, cpuSlice: 10, gpuSlice: 6, slices: 6 },
    { ago: 1, cpuSlice: 10, gpuSlice: 6, slices: 4 },
  ]);
  assertEquals(toGpu, [
    { ago: 0, cpuSlice: 4, gpuSlice: 0, slices: 6 },
    { ago: 1, cpuSlice: 6, gpuSlice: 2, slices: 4 },
  ]);
});

Deno.test("on a periodic boundary the ends of the grid exchange too", () => {
  const { toCpu, toGpu } = transfersBetween(
    { first: 6, slices: 10 },
    { first: 6, slices: 20 },
    { ...CONTROL, isPeriodic: true, readsPrevious: false },
  );
  assertEquals(toCpu, [
    { ago: 0, cpuSlice: 16, gpuSlice: 6, slices: 6 },
    { ago: 0, cpuSlice: 0, gpuSlice: 20, slices: 6 },
  ]);
  assertEquals(toGpu, [
    { ago: 0, cpuSlice: 10, gpuSlice: 0, slices: 6 },
    { ago: 0, cpuSlice: 6, gpuSlice: 26, slices: 6 },
  ]);
});

Deno.test("with R = 1 the level before is not needed", () => {
  const { toCpu } = transfersBetween({ first: 0, slices: 9 }, { first: 2, slices: 9 }, {
    ...CONTROL,
    ghost: 2,
  });
  assertEquals(toCpu.map(({ ago }) => ago), [0]);
});

/** An array whose every cell, pads as far as `rim` too, holds its coordinates; the rest holds −1. */
function numbered(layout: Layout, [rimY, rimZ]: readonly [number, number]): Float32Array {
  const [nx, ny, nz] = layout.grid;
  const cells = new Float32Array(layout.length).fill(-1);
  for (let x = 0; x < nx; x++) {
    for (let y = -rimY; y < ny + rimY; y++) {
      for (let z = -rimZ; z < nz + rimZ; z++) {
        cells[indexOf(layout, [x, y, z])] = 10_000 * x + 100 * (y + 10) + z + 10;
      }
    }
  }
  return cells;
}

const GRID: Grid = [5, 3, 7];
const LAYOUTS = {
  "equal slices": [layOut(GRID, { pad: [1, 2, 2] }), layOut(GRID, { pad: [3, 2, 2] })],
  "another alignment": [layOut(GRID, { pad: [2, 2, 2] }), layOut(GRID, { pad: [2, 2, 2], align: 32 })],
  "wider pads along y": [layOut(GRID, { pad: [2, 2, 2] }), layOut(GRID, { pad: [2, 5, 2] })],
} as const;

for (const [name, [from, to]] of Object.entries(LAYOUTS)) {
  Deno.test(`slices arrive with their rim: ${name}`, () => {
    for (const target of [to, withoutPadX(to)]) {
      const source = numbered(from, [2, 2]), cells = new Float32Array(target.length).fill(-2);
      copySlices(
        { cells: source, layout: from, slice: 1 },
        { cells, layout: target, slice: 2 },
        { slices: 2, rim: [1, 2] },
      );
      for (const x of [0, 1]) {
        for (let y = -1; y < GRID[1] + 1; y++) {
          for (let z = -2; z < GRID[2] + 2; z++) {
            const expected = source[indexOf(from, [1 + x, y, z])];
            assertEquals(cells[indexOf(target, [2 + x, y, z])], expected, `cell ${x}, ${y}, ${z}`);
          }
        }
      }
      for (const x of [1, 4]) {
        assertEquals(cells[indexOf(target, [x, 0, 0])], -2, `slice ${x} is not touched`);
      }
    }
  });
}

Deno.test("without a rim, pads stay as they are", () => {
  const [from, to] = LAYOUTS["wider pads along y"];
  const cells = new Float32Array(to.length);
  const source = numbered(from, [2, 2]);
  copySlices({ cells: source, layout: from, slice: 0 }, { cells, layout: to, slice: 0 }, {
    slices: 5,
    rim: [0, 0],
  });
  const written = cells.filter((value) => value !== 0).length;
  assertEquals(written, GRID[0] * GRID[1] * GRID[2]);
});
