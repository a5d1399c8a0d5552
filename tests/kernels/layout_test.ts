import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { indexOf, layOut, type LayoutOptions } from "../../kernels/layout.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";

Deno.test("a layout without pads is dense where rows are aligned", () => {
  const layout = layOut([2, 3, 8], { pad: [0, 0, 0] });
  assertEquals(layout, {
    grid: [2, 3, 8],
    pad: [0, 0, 0],
    pitch: 8,
    planes: 1,
    plane: 24,
    slice: 24,
    origin: 0,
    length: 48,
  });
});

Deno.test("pads lie around the grid; those along z grow to the alignment", () => {
  const layout = layOut([2, 3, 5], { pad: [1, 2, 3] });
  assertEquals(layout.pad, [1, 2, 8]);
  assertEquals(layout.pitch, 16); // 8 before, 5, 3 after
  assertEquals(layout.slice, 16 * (3 + 4));
  assertEquals(layout.origin, layout.slice + 2 * 16 + 8);
});

Deno.test("shared pads save a row's second pad", () => {
  assertEquals(layOut([2, 3, 8], { pad: [1, 1, 3], sharedPads: true }).pitch, 16);
  assertEquals(layOut([2, 3, 8], { pad: [1, 1, 3] }).pitch, 24);
});

const anyLayout = fc.record({
  grid: fc.tuple(...[4, 4, 20].map((max) => fc.integer({ min: 1, max }))),
  pad: fc.tuple(...[3, 3, 9].map((max) => fc.integer({ min: 0, max }))),
  align: fc.constantFrom(1, 8, 32),
  sharedPads: fc.boolean(),
}).map((options) => options as unknown as LayoutOptions & { grid: Grid });

Deno.test("every cell within the pads has its place inside the array; rows are aligned", () => {
  fc.assert(
    fc.property(anyLayout, ({ grid, ...options }) => {
      const layout = layOut(grid, options);
      const [px, py, pz] = options.pad;
      const [nx, ny, nz] = grid;
      const seen = new Map<number, string>();
      for (let x = -px; x < nx + px; x++) {
        for (let y = -py; y < ny + py; y++) {
          assertEquals(indexOf(layout, [x, y, 0]) % options.align!, 0);
          for (let z = -pz; z < nz + pz; z++) {
            const index = indexOf(layout, [x, y, z]);
            assert(
              index >= 0 && index < layout.length,
              `${x}, ${y}, ${z} lies at ${index} of ${layout.length}`,
            );
            const inside = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
            const own = inside || !options.sharedPads;
            const before = seen.get(index);
            // Shared pads may be one another, never a cell
            assert(
              before === undefined || (before === "pad" && !own),
              `${x}, ${y}, ${z} meets another's place`,
            );
            seen.set(index, own ? "cell" : "pad");
          }
        }
      }
    }),
    { seed: 20_261_121, numRuns: 200 },
  );
});
