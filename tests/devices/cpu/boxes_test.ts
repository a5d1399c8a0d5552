import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { layOut } from "../../../kernels/layout.ts";
import { type Box, padRows, shareRows, stripsOf } from "../../../tuner/devices/cpu/boxes.ts";

function rowsOf(boxes: readonly Box[]): string[] {
  const rows: string[] = [];
  for (const { x0, x1, y0, y1 } of boxes) {
    for (let x = x0; x < x1; x++) {
      for (let y = y0; y < y1; y++) rows.push(`${x},${y}`);
    }
  }
  return rows;
}

Deno.test("shares are disjoint, cover all rows in order, and differ by one row at most", () => {
  const box = (offset: number) =>
    fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })).map(([width, height]) => ({
      x0: offset,
      x1: offset + width,
      y0: -2,
      y1: height - 2,
    }));
  fc.assert(
    fc.property(fc.tuple(box(-9), box(0), box(9)), fc.integer({ min: 1, max: 5 }), (boxes, parts) => {
      const shares = Array.from({ length: parts }, (_, part) => rowsOf(shareRows(boxes, { part, parts })));
      assertEquals(shares.flat(), rowsOf(boxes));
      const sizes = shares.map((share) => share.length);
      assert(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }),
    { seed: 20261121 },
  );
});

Deno.test("a slice range that has shrunk to less than nothing holds no rows", () => {
  assertEquals(shareRows([{ x0: 4, x1: 3, y0: 0, y1: 5 }], { part: 0, parts: 1 }), []);
});

Deno.test("pad rows surround the slices along periodic axes, corners once", () => {
  const source = { layout: layOut([4, 3, 9], { pad: [1, 2, 1] }), reach: { x: 1, y: 2 } };
  const around = (boundaries: Parameters<typeof padRows>[0]["boundaries"]): string[] =>
    rowsOf(padRows({ ...source, boundaries }, 0, 4));
  assertEquals(around(["zero", "zero", "periodic"]), []);
  assertEquals(around(["zero", "periodic", "zero"]).length, 4 * 2 * 2);
  assertEquals(around(["periodic", "zero", "zero"]).length, 2 * 3);
  const all = around(["periodic", "periodic", "periodic"]);
  assertEquals(all.length, (4 + 2) * (3 + 4) - 4 * 3);
  assertEquals(new Set(all).size, all.length);
});

Deno.test("strips cover the box, and only where many large slices are in reach", () => {
  const box = { x0: 3, x1: 9, y0: 0, y1: 100 };
  const strips = (reach: number, nz: number): Box[] =>
    stripsOf(box, {
      layout: layOut([9, 100, nz], { pad: [reach, reach, reach] }),
      reach: { x: reach, y: reach },
    });
  assertEquals(strips(3, 512), [box]);
  assertEquals(strips(4, 16), [box]);
  assertEquals(strips(4, 512).map(({ y0, y1 }) => [y0, y1]), [[0, 32], [32, 64], [64, 96], [96, 100]]);
  assertEquals(new Set(rowsOf(strips(4, 512))), new Set(rowsOf([box])));
});
