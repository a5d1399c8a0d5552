import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { layOut } from "../../kernels/layout.ts";
import { sectionsOf, whyUncut } from "../../kernels/sections.ts";
import { life } from "../../kernels/stencils/life.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { assertExact, describeCase, type OracleCase } from "./oracle_case.ts";
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

const shape = { threadsZ: 8, threadsY: 4, threadsX: 2 };
const march = { zPerThread: 2, threadsZ: 5, threadsY: 6, pieces: 2, tile: 1, ahead: 1 };
const torre = { dts: 1, nt: 4, bands: 1, zPerThread: 1, threads: 9, chunk: 2, unroll: 1, lookahead: 99 };
const star = { traversal: stepwise, stencil: wholeNumberWave(4), parameters: shape, runs: [3, 2] };
const cases: (Omit<OracleCase, "grid"> & { grid?: OracleCase["grid"] })[] = [
  ...[2, 3, 5, Infinity].map((sections) => ({ ...star, sections })),
  { ...star, boundary: "periodic", sections: 3 },
  { ...star, boundary: "periodic", sections: Infinity, grid: [3, 4, 9] },
  { ...star, boundary: ["insulated", "periodic", "zero"], sections: 3 },
  { ...star, boundary: "insulated", sections: 2, traversal: marching, parameters: march },
  { ...star, traversal: marching, parameters: march, sections: THOROUGH ? 5 : 3 },
  { ...star, traversal: marching, parameters: march, boundary: "periodic", sections: 2 },
  {
    ...star,
    stencil: life("5/2-7"),
    traversal: marching,
    parameters: { ...march, threadsZ: 4, threadsY: 8, tile: 0, depth: 3 },
    runs: [7, 5],
    sections: 3,
  },
  { ...star, stencil: wholeNumberElastic(), boundary: "periodic", runs: [2], sections: 2, grid: [9, 4, 5] },
  {
    ...star,
    stencil: wholeNumberStaggered(),
    traversal: marching,
    parameters: { ...march, threadsZ: 5, threadsY: 7, ahead: 0 },
    runs: [1, 1],
    grid: [12, 9, 10],
    sections: 2,
  },
  // what both sections hold, a march stores in both
  { ...star, traversal: marching, parameters: { ...march, ahead: 0 }, sections: 2 },
  { ...star, traversal: marching, parameters: { ...march, tile: 0, pieces: 1, ahead: 0 }, sections: 2 },
  {
    ...star,
    stencil: wholeNumberMedium(1),
    traversal: marching,
    parameters: { ...march, tile: 0, pieces: 4, ahead: 0 },
    sections: 2,
  },
  { ...star, traversal: diamondTorre, parameters: torre, runs: [4, 1], sections: 2 },
  { ...star, traversal: diamondTorre, parameters: { ...torre, lookahead: 100 }, runs: [4, 1], sections: 2 },
  {
    ...star,
    stencil: wholeNumberWave(2),
    traversal: diamondTorre,
    parameters: { ...torre, nt: 2, bands: 4 },
    runs: [7],
    sections: 3,
  },
  {
    ...star,
    stencil: wholeNumberWave(2),
    traversal: diamondTorre,
    parameters: { ...torre, unroll: 2, nt: 2, bands: 2, lookahead: 99 },
    runs: [5, 2],
    sections: 5,
  },
  {
    ...star,
    stencil: wholeNumberWave(2),
    traversal: diamondTorre,
    parameters: { ...torre, unroll: 2, nt: 2, bands: 4, lookahead: 99 },
    runs: [5, 2],
    sections: Infinity,
  },
  {
    ...star,
    stencil: ALONG_X,
    traversal: diamondTorre,
    parameters: { ...torre, threads: 5, bands: 4 },
    runs: [35, 22],
    grid: [60, 3, 5],
    sections: 3,
  },
  {
    ...star,
    stencil: life("5/2-7"),
    traversal: diamondTorre,
    parameters: { ...torre, chunk: 4 },
    runs: [6],
    sections: 3,
  },
  ...[0, 1].map((materials) => ({
    ...star,
    stencil: wholeNumberMedium(1),
    traversal: diamondTorre,
    parameters: { ...torre, nt: 2, bands: 4, materials },
    runs: [7, 5],
    sections: Infinity,
  })),
];

for (const one of cases) {
  const oracleCase: OracleCase = { grid: [23, 7, 9], ...one };
  testOnGpu(describeCase(oracleCase), (gpu) => assertExact(gpu, oracleCase));
  if (one.boundary !== undefined || one.sections !== 2 && one.traversal !== diamondTorre) continue;
  // ranges begin with every eighth slice at worst
  const [nx, ny, nz] = oracleCase.grid;
  const inRanges: OracleCase = { ...oracleCase, grid: [2 * nx, ny, nz], sections: 2, areRanges: true };
  testOnGpu(describeCase(inRanges), (gpu) => assertExact(gpu, inRanges));
}
