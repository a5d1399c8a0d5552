import type { Problem } from "../../kernels/stencils/stencil.ts";
import { cpuLayoutOf } from "../../tuner/devices/cpu/cpu_field.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { gatherCells } from "../devices/cells.ts";
import { THOROUGH } from "../thorough.ts";
import { inMarches, inSteps, inTorres, type Row, type Special, testRows } from "./oracle_case.ts";
import {
  ALONG_X,
  wholeNumberElastic,
  wholeNumberHeat,
  wholeNumberMaxwell,
  wholeNumberStaggered,
  wholeNumberWave,
  wholeNumberYee,
} from "./whole_numbers.ts";
import { assertPoints, awkwardPoints } from "./point_case.ts";

const STEPS = inSteps([8, 4, 2]), MARCH = inMarches([2, 5, 6, 2, 1, 1]);
const FOURTH = wholeNumberWave(4), SECOND = wholeNumberWave(2), DIFFUSING = wholeNumberHeat(1);
const SHAKING = wholeNumberElastic(), STAGGERED = wholeNumberStaggered(), YEE = wholeNumberYee();
const LAYERED = wholeNumberMaxwell({ mode: "tm", edges: [2, 3], absorber: "pml" });
const GRID = [23, 7, 9] as const, SHORT = [9, 7, 10] as const;
const FUSED = inMarches([1, 6, 5, 2, 0, 1]), DEEP = inMarches([2, 4, 8, 2, 0, 1, 2]);
/** Points of a field, recorded in every few steps. */
const of = (field: number, every = 1): Special => ({ points: { fields: [field], every } });
const FIRST = of(0);

testRows([
  ...[1, 3, Infinity].map((sections): Row => [FOURTH, GRID, STEPS, [3, 2], { ...FIRST, sections }]),
  ...[1, 3, Infinity].map((
    sections,
  ): Row => [FOURTH, GRID, STEPS, [3, 2], { ...of(0, 2), sections, boundary: "periodic" }]),
  [FOURTH, GRID, STEPS, [3, 2], { ...FIRST, boundary: ["insulated", "periodic", "zero"], sections: 2 }],
  ...(THOROUGH ? [1, 2, 5] : [1, 2]).map((
    sections,
  ): Row => [FOURTH, GRID, MARCH, [3, 2], { ...FIRST, sections }]),
  [FOURTH, GRID, MARCH, [3, 2], { ...FIRST, boundary: "insulated", sections: THOROUGH ? 2 : 1 }],
  [STAGGERED, [36, 9, 10], inMarches([2, 5, 7, 2, 1, 0]), [1, 1], { ...of(1), sections: 2, areRanges: true }],
  // several steps a pass; the grid's rows and columns are not a whole number of workgroups
  [DIFFUSING, [23, 13, 19], DEEP, [5, 1], FIRST],
  [DIFFUSING, [23, 13, 19], DEEP, [5, 1], { ...FIRST, sections: THOROUGH ? 3 : 2 }],
  [wholeNumberHeat(2), [17, 11, 13], inMarches([2, 6, 10, 4, 0, 1, 3]), [4, 1], of(0, 2)],
  ...[1, 2].map((
    sections,
  ): Row => [FOURTH, GRID, inTorres([1, 4, 1, 1, 9, 2, 1, 99]), [4, 1], { ...of(0, 3), sections }]),
  [SECOND, GRID, inTorres([1, 2, 4, 1, 9, 2, 1, 99]), [7], { ...FIRST, sections: 3 }],
  // the last step of each run is done singly
  ...(THOROUGH ? [1, 5, Infinity] : [5]).map((
    sections,
  ): Row => [SECOND, GRID, inTorres([2, 2, 2, 1, 9, 2, 2, 99]), [3, 3], { ...of(0, 2), sections }]),
  // two fields, points of the one that is made last
  [STAGGERED, [36, 9, 10], inTorres([1, 4, 1, 1, 10, 2, 1, 99, 0]), [1, 1], {
    ...of(1),
    sections: 2,
    areRanges: true,
  }],
  // and of fields that the next sub-step reads, where what is added to them must be, too
  ...[2, 4].map((field): Row => [YEE, GRID, inTorres([1, 2, 2, 1, 9, 2, 2, 99, 1]), [4, 5], of(field)]),
  [YEE, GRID, STEPS, [3, 2], of(3)],
  [YEE, [69, 7, 9], STEPS, [3, 2], { ...of(3), sections: 2, areRanges: true }],
  // elastic waves with edges and a free surface: forces and moments
  ...[0, 2].map((field): Row => [SHAKING, SHORT, STEPS, [1, 1], of(field)]),
  [SHAKING, SHORT, STEPS, [1, 1], { ...of(1), boundary: "periodic", sections: 2 }],
  [SHAKING, SHORT, STEPS, [1, 1], of(5, 2)],
  // a pass makes all fields: what is added to velocities changes stresses that it has already made
  [SHAKING, SHORT, FUSED, [1, 1], of(1)],
  [SHAKING, [27, 7, 10], FUSED, [1, 1], { ...of(1), sections: 2, areRanges: true }],
  [SHAKING, SHORT, FUSED, [1, 1], { ...of(2), boundary: "periodic", sections: THOROUGH ? 2 : 1 }],
  [SHAKING, SHORT, FUSED, [1, 1], of(7, 2)],
  // the electric field that is made again remembers in layers
  [LAYERED, [19, 12], inMarches([2, 8, 1, 2, 0, 0]), [1, 1, 1], { ...of(1), sections: 2 }],
  [LAYERED, [9, 12], inMarches([1, 6, 1, 1, 0, 0]), [1, 1, 1], { ...of(1), boundary: "periodic" }],
  ...[0, 6].map((
    field,
  ): Row => [SHAKING, SHORT, inTorres([1, 8, 1, 1, 10, 2, 1, 99, 0]), [1, 1], {
    ...of(field),
    isSlow: true,
  }]),
  [ALONG_X, [60, 3, 5], inTorres([1, 4, 4, 2, 3, 2, 1, 99]), [35, 22], { ...FIRST, sections: 3 }],
]);

Deno.test("points of elastic waves on CPU workers: the oracle's bits", async () => {
  const stencil = SHAKING, { update } = stencil, grid = SHORT, boundary = "zero";
  const problem: Problem = { stencil, grid, boundary, steps: 1 }, layout = cpuLayoutOf(problem);
  const pool = await CpuPool.create({ workers: 2 });
  try {
    // half a tile has more rows than a band narrows it by
    for (const shape of [{ strip: 3 }, { tiles: 1, band: 1, block: 1 }]) {
      for (const field of [0, 2, 5, 6]) {
        const made = await pool.load({ update, layout, boundary, shape });
        await assertPoints(made, { problem, points: awkwardPoints(problem, 1, field), runs: [2] }, {
          run: (field, steps) => field.run({ steps }),
          read: (field, ago) =>
            Promise.resolve(gatherCells(ago === 0 ? field.current : field.previous, layout)),
        });
        await made.dispose();
      }
    }
  } finally {
    pool.dispose();
  }
});
