import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { layOut } from "../../kernels/layout.ts";
import { sectionsOf, whyUncut } from "../../kernels/sections.ts";
import { life } from "../../kernels/stencils/life.ts";
import { THOROUGH } from "../thorough.ts";
import { inMarches, inSteps, inTorres, type Row, rowsIn, testRows, type Way } from "./oracle_case.ts";
import {
  ALONG_X,
  wholeNumberElastic,
  wholeNumberMedium,
  wholeNumberStaggered,
  wholeNumberWave,
} from "./whole_numbers.ts";

Deno.test("sections are few, fit, and hold all slices that must lie together", () => {
  const anyCut = fc.record({
    nx: fc.integer({ min: 1, max: 200 }),
    padX: fc.integer({ min: 0, max: 20 }),
    span: fc.integer({ min: 1, max: 60 }),
    more: fc.integer({ min: 0, max: 60 }),
    most: fc.integer({ min: 1, max: 300 }),
  });
  fc.assert(
    fc.property(anyCut, ({ nx, padX, span, more, most }) => {
      const layout = layOut([nx, 3, 5], { pad: [padX, 1, 2], sharedPads: true });
      const bytes = 4 * (most * layout.slice + layout.pad[2]);
      const limits = { maxStorageBufferBindingSize: bytes, maxBufferSize: 2 * bytes };
      const total = nx + 2 * padX, together = Math.min(span, total);
      if (together > most) return assert(whyUncut(layout, { span }, limits)!.message.includes(`is ${bytes}`));
      const sections = sectionsOf(layout, { span, wish: span + more }, limits);
      assertEquals(sections.length, total <= most ? 1 : Math.ceil((total - span + 1) / (most - span + 1)));
      const slices = sections.reduce(
        (sum, { layout: its }) => sum + Math.floor(its.length / layout.slice),
        0,
      );
      if (more === 0 && slices > 2 * total + sections.length) {
        assertEquals(whyUncut(layout, { span }, limits) !== undefined, sections[0]!.begin === undefined);
        assert(whyUncut(layout, { span, apart: true }, limits));
      }
      const inOneBuffer = 4 * layout.length <= limits.maxBufferSize;
      if (!inOneBuffer || sections.length === 1) assert(sections.every(({ begin }) => begin === undefined));
      for (const { begin, slices: [from, to], layout: its, own, x } of sections) {
        if (begin !== undefined) {
          assertEquals([begin % 64, begin], [0, (from + padX) * layout.slice]);
          assert(begin + its.length <= layout.length);
        }
        assert(4 * its.length <= bytes);
        assertEquals(its.length, (to - from) * layout.slice + layout.pad[2]);
        // the same cell, found in the whole and in the section
        const cell = layout.origin + x * layout.slice;
        assertEquals(its.origin, cell - (from + padX) * layout.slice);
        assertEquals(its.grid, [Math.min(nx, Math.max(0, to)) - x, 3, 5]);
        assert(own[0] === own[1] || (own[0] < own[1] && from <= own[0] && own[1] <= to));
      }
      assertEquals(sections.map(({ own }) => own[0]), [0, ...sections.slice(0, -1).map(({ own }) => own[1])]);
      assertEquals(sections.at(-1)!.own[1], nx);
      for (let first = -padX; first + together <= nx + padX; first++) {
        assert(
          sections.some(({ slices: [from, to] }) => from <= first && first + together <= to),
          `${first}`,
        );
      }
    }),
    { seed: 20_261_122, numRuns: 500 },
  );
});

Deno.test("a level of more sections than any device's memory holds is not cut", () => {
  const layout = layOut([20_490, 1, 1024], { pad: [1, 0, 0] });
  const limits = { maxStorageBufferBindingSize: 20 * 4 * layout.slice, maxBufferSize: 2 ** 30 };
  assertEquals(whyUncut(layout, { span: 1 }, limits)?.message.split(",")[0], "1025 sections of at most 1024");
});

Deno.test("no section is longer than an i32 can index, whatever the device's limits", () => {
  const layout = layOut([3000, 1024, 1024], { pad: [1, 1, 1], sharedPads: true });
  const sections = sectionsOf(layout, { span: 3 }, {
    maxStorageBufferBindingSize: 2 ** 40,
    maxBufferSize: 2 ** 40,
  });
  assert(layout.length > 2 ** 31);
  assertEquals(sections.length, 2);
  for (const { layout: { length } } of sections) assert(length < 2 ** 31);
});

const STEPS = inSteps([8, 4, 2]);
/** In tiles, in one way or another. */
const march = (ahead: number, tile = 1, pieces = 2): Way => inMarches([2, 5, 6, pieces, tile, ahead]);
const FOURTH = wholeNumberWave(4),
  SECOND = wholeNumberWave(2),
  CUBES = life("5/2-7"),
  MEDIUM = wholeNumberMedium(1);
const GRID = [23, 7, 9] as const;

const ROWS: readonly Row[] = [
  ...[2, 3, 5, Infinity].map((sections): Row => [FOURTH, GRID, STEPS, [3, 2], { sections }]),
  [FOURTH, GRID, STEPS, [3, 2], { boundary: "periodic", sections: 3 }],
  [FOURTH, [3, 4, 9], STEPS, [3, 2], { boundary: "periodic", sections: Infinity }],
  [FOURTH, GRID, STEPS, [3, 2], { boundary: ["insulated", "periodic", "zero"], sections: 3 }],
  [FOURTH, GRID, march(1), [3, 2], { boundary: "insulated", sections: 2 }],
  [FOURTH, GRID, march(1), [3, 2], { sections: THOROUGH ? 5 : 3 }],
  [FOURTH, GRID, march(1), [3, 2], { boundary: "periodic", sections: 2 }],
  [CUBES, GRID, inMarches([2, 4, 8, 2, 0, 1, 3]), [7, 5], { sections: 3 }],
  [wholeNumberElastic(), [9, 4, 5], STEPS, [2], { boundary: "periodic", sections: 2 }],
  [wholeNumberStaggered(), [12, 9, 10], inMarches([2, 5, 7, 2, 1, 0]), [1, 1], { sections: 2 }],
  // what both sections hold, a march stores in both
  [FOURTH, GRID, march(0), [3, 2], { sections: 2 }],
  [FOURTH, GRID, march(0, 0, 1), [3, 2], { sections: 2 }],
  [MEDIUM, GRID, march(0, 0, 4), [3, 2], { sections: 2 }],
];

const TORRES = rowsIn(inTorres, [
  [FOURTH, GRID, [1, 4, 1, 1, 9, 2, 1, 99], [4, 1], { sections: 2 }],
  [FOURTH, GRID, [1, 4, 1, 1, 9, 2, 1, 100], [4, 1], { sections: 2 }],
  [SECOND, GRID, [1, 2, 4, 1, 9, 2, 1, 99], [7], { sections: 3 }],
  [SECOND, GRID, [1, 2, 2, 1, 9, 2, 2, 99], [5, 2], { sections: 5 }],
  [SECOND, GRID, [1, 2, 4, 1, 9, 2, 2, 99], [5, 2], { sections: Infinity }],
  [ALONG_X, [60, 3, 5], [1, 4, 4, 1, 5, 2, 1, 99], [35, 22], { sections: 3 }],
  [CUBES, GRID, [1, 4, 1, 1, 9, 4, 1, 99], [6], { sections: 3 }],
  [MEDIUM, GRID, [1, 2, 4, 1, 9, 2, 1, 99, 0], [7, 5], { sections: Infinity }],
  [MEDIUM, GRID, [1, 2, 4, 1, 9, 2, 1, 99, 1], [7, 5], { sections: Infinity }],
]);

testRows([...ROWS, ...TORRES]);

// ranges begin with every eighth slice at worst
const CUT_IN_TWO = ROWS.filter(([, , , , { boundary, sections } = {}]) =>
  boundary === undefined && sections === 2
);
for (const [stencil, [nx, ny, nz], way, runs] of [...CUT_IN_TWO, ...TORRES]) {
  testRows([[stencil, [2 * nx, ny, nz!], way, runs, { sections: 2, areRanges: true }]]);
}
