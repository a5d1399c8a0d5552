import { assertEquals } from "@std/assert";
import { indexOf, type Layout, layOut, type LayoutOptions } from "../../../kernels/layout.ts";
import type { Grid } from "../../../kernels/stencils/stencil.ts";
import { copySlices, transfersBetween, withoutPadX } from "../../../tuner/devices/shared/slice_exchange.ts";

const CONTROL = { widths: [6, 4], isPeriodic: false };

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
    { widths: [6], isPeriodic: true },
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
    widths: [2, 0],
  });
  assertEquals(toCpu.map(({ ago }) => ago), [0]);
});

/** An array whose every cell holds its coordinates and plane; the pads hold −1. */
function numbered(layout: Layout): Float32Array {
  const [nx, ny, nz] = layout.grid;
  const cells = new Float32Array(layout.length).fill(-1);
  for (let x = 0; x < nx; x++) {
    for (let plane = 0; plane < layout.planes; plane++) {
      for (let y = 0; y < ny; y++) {
        for (let z = 0; z < nz; z++) {
          cells[indexOf(layout, [x, y, z], plane)] = 10_000 * x + 1000 * plane + 100 * y + z;
        }
      }
    }
  }
  return cells;
}

const GRID: Grid = [5, 3, 7];
const PLANES = 3;
const MADE: LayoutOptions = { pad: [2, 2, 2], planes: PLANES };
const LAYOUTS: Readonly<Record<string, [LayoutOptions, LayoutOptions]>> = {
  "equal slices": [{ ...MADE, pad: [1, 2, 2] }, { ...MADE, pad: [3, 2, 2] }],
  "another alignment": [MADE, { ...MADE, align: 32 }],
  "wider pads along y": [MADE, { ...MADE, pad: [2, 5, 2] }],
};

for (const [name, [fromOptions, toOptions]] of Object.entries(LAYOUTS)) {
  Deno.test(`slices arrive with all planes, and nothing else is touched: ${name}`, () => {
    const from = layOut(GRID, fromOptions), to = layOut(GRID, toOptions);
    for (const target of [to, withoutPadX(to)]) {
      const source = numbered(from), cells = new Float32Array(target.length).fill(-2);
      copySlices({ cells: source, layout: from, slice: 1 }, { cells, layout: target, slice: 2 }, 2);
      for (const x of [0, 1]) {
        for (let plane = 0; plane < PLANES; plane++) {
          for (let y = 0; y < GRID[1]; y++) {
            for (let z = 0; z < GRID[2]; z++) {
              const expected = source[indexOf(from, [1 + x, y, z], plane)];
              assertEquals(
                cells[indexOf(target, [2 + x, y, z], plane)],
                expected,
                `${x}, ${plane}, ${y}, ${z}`,
              );
            }
          }
        }
      }
      for (const x of [1, 4]) {
        assertEquals(cells[indexOf(target, [x, 0, 0])], -2, `slice ${x} is not touched`);
      }
      const own = cells.filter((value) => value >= 0).length;
      assertEquals(own, 2 * PLANES * GRID[1] * GRID[2]);
    }
  });
}
