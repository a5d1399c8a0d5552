import { assertEquals } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { cpuLayoutOf } from "../../tuner/devices/cpu/cpu_field.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { gatherCells, readCells } from "../devices/cells.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { describeCase, type OracleCase, planInSections } from "./oracle_case.ts";
import {
  ALONG_X,
  wholeNumberElastic,
  wholeNumberStaggered,
  wholeNumberWave,
  wholeNumberYee,
} from "./whole_numbers.ts";
import { assertPoints, awkwardPoints, SURVEY } from "./point_case.ts";
import { reweighted } from "./reweighted.ts";

const shape = { threadsZ: 8, threadsY: 4, threadsX: 2 };
const march = { zPerThread: 2, threadsZ: 5, threadsY: 6, pieces: 2, tile: 1, ahead: 1 };
const torre = { dts: 1, nt: 4, bands: 1, zPerThread: 1, threads: 9, chunk: 2, unroll: 1, lookahead: 99 };
const grid = [23, 7, 9] as const, sections = [1, 3, Infinity];
const star = { traversal: stepwise, stencil: wholeNumberWave(4), grid, parameters: shape, runs: [3, 2] };

const fused = {
  traversal: marching,
  parameters: { ...march, threadsZ: 6, threadsY: 5, zPerThread: 1, tile: 0 },
};
const SHAKING = { stencil: wholeNumberElastic(), grid: [9, 7, 10] as const, runs: [1, 1] };

/** Several steps a pass; the grid's rows and columns are not a whole number of workgroups. */
const deep = { ...march, threadsZ: 4, threadsY: 8, tile: 0, depth: 2 };
const diffusing = (reach: number): Stencil => ({
  ...heat(reach),
  update: reweighted(heat(reach).update, [-1, 1, -1]),
});

interface PointCase extends OracleCase {
  readonly every?: number;
  /** The field with the points. @default {the first} */
  readonly field?: number;
}

const CASES: readonly PointCase[] = [
  ...sections.map((sections) => ({ ...star, sections })),
  ...sections.map((sections) => ({ ...star, boundary: "periodic", sections, every: 2 } as const)),
  { ...star, boundary: ["insulated", "periodic", "zero"], sections: 2 },
  ...(THOROUGH ? [1, 2, 5] : [1, 2]).map((sections) => ({
    ...star,
    traversal: marching,
    parameters: march,
    sections,
  })),
  { ...star, traversal: marching, parameters: march, boundary: "insulated", sections: THOROUGH ? 2 : 1 },
  {
    ...star,
    stencil: wholeNumberStaggered(),
    traversal: marching,
    parameters: { ...march, threadsZ: 5, threadsY: 7, ahead: 0 },
    runs: [1, 1],
    grid: [12, 9, 10],
    sections: 2,
    field: 1,
  },
  ...[1, THOROUGH ? 3 : 2].map((sections) => ({
    ...star,
    stencil: diffusing(1),
    traversal: marching,
    parameters: deep,
    grid: [23, 13, 19] as const,
    runs: [5, 1],
    sections,
  })),
  {
    ...star,
    stencil: diffusing(2),
    traversal: marching,
    parameters: { ...deep, zPerThread: 2, threadsZ: 6, threadsY: 10, pieces: 4, depth: 3 },
    grid: [17, 11, 13],
    runs: [4, 1],
    every: 2,
  },
  ...[1, 2].map((sections) => ({
    ...star,
    traversal: diamondTorre,
    parameters: torre,
    runs: [4, 1],
    sections,
    every: 3,
  })),
  {
    ...star,
    stencil: wholeNumberWave(2),
    traversal: diamondTorre,
    parameters: { ...torre, nt: 2, bands: 4 },
    runs: [7],
    sections: 3,
  },
  // the last step of each run is done singly
  ...(THOROUGH ? [1, 5, Infinity] : [5]).map((sections) => ({
    ...star,
    stencil: wholeNumberWave(2),
    traversal: diamondTorre,
    parameters: { ...torre, dts: 2, unroll: 2, nt: 2, bands: 2, lookahead: 99 },
    runs: [3, 3],
    sections,
    every: 2,
  })),
  // two fields, points of the one that is made last
  {
    ...star,
    stencil: wholeNumberStaggered(),
    traversal: diamondTorre,
    parameters: { ...torre, zPerThread: 2, threads: 5, materials: 0 },
    runs: [1, 1],
    grid: [12, 9, 10],
    sections: 2,
    field: 1,
  },
  {
    ...star,
    stencil: wholeNumberYee(),
    traversal: diamondTorre,
    parameters: { ...torre, unroll: 2, nt: 2, bands: 2, lookahead: 99, materials: 1 },
    runs: [4, 5],
    field: 2,
  },
  // fields that the next sub-step reads, where what is added to them must be, too
  {
    ...star,
    stencil: wholeNumberYee(),
    traversal: diamondTorre,
    parameters: { ...torre, unroll: 2, nt: 2, bands: 2, lookahead: 99, materials: 1 },
    runs: [4, 5],
    field: 4,
  },
  ...[1, 2].map((sections) => ({ ...star, stencil: wholeNumberYee(), sections, field: 3 })),
  // elastic waves with edges and a free surface: forces and moments
  ...[0, 2].map((field) => ({ ...star, ...SHAKING, field })),
  { ...star, ...SHAKING, boundary: "periodic", sections: 2, field: 1 },
  { ...star, ...SHAKING, field: 5, every: 2 },
  // a pass makes all fields: what is added to velocities changes stresses that it has already made
  ...[1, 2].map((sections) => ({ ...star, ...SHAKING, ...fused, sections, field: 1 })),
  { ...star, ...SHAKING, ...fused, boundary: "periodic", sections: THOROUGH ? 2 : 1, field: 2 },
  { ...star, ...SHAKING, ...fused, field: 7, every: 2 },
  ...(THOROUGH ? [0, 6] : []).map((field) => ({
    ...star,
    ...SHAKING,
    traversal: diamondTorre,
    parameters: { ...torre, nt: 8, threads: 10, materials: 0 },
    field,
  })),
  {
    ...star,
    stencil: ALONG_X,
    traversal: diamondTorre,
    parameters: { ...torre, zPerThread: 2, threads: 3, bands: 4 },
    runs: [35, 22],
    grid: [60, 3, 5],
    sections: 3,
  },
];

for (const one of CASES) {
  testOnGpu(`points: ${describeCase(one)}: the oracle's bits`, async (gpu) => {
    const { traversal, stencil, parameters, runs, boundary = "zero", sections = 1, every = 1, field } = one;
    const areRanges = sections > 1 && boundary === "zero" && field !== undefined, [nx, ny, nz] = one.grid;
    const grid = [areRanges ? 3 * nx : nx, ny, nz] as const;
    const problem: Problem = { stencil, grid, boundary, steps: Math.max(...runs), survey: SURVEY };
    const points = awkwardPoints(problem, every, field);
    assertEquals(refusalOf(traversal, problem), undefined);
    assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
    const plan = sections === 1
      ? traversal.plan(problem, parameters, gpu.limits)
      : planInSections({ ...one, areRanges }, problem, sections);
    assertEquals((plan.storage.sections?.length ?? 1) > 1, sections > 1);
    using made = await GpuField.create(gpu, problem, plan);
    await assertPoints(made, { problem, points, runs }, {
      run: (field, steps) => field.run(steps),
      read: readCells,
    });
  });
}

Deno.test("points of elastic waves on CPU workers: the oracle's bits", async () => {
  const { stencil, stencil: { update }, grid } = SHAKING, boundary = "zero";
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
