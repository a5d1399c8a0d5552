/**
 * Every stencil on ranks, for every boundary, decompositions in one, two and three dimensions, uneven parts and several
 * R: bit for bit what one rank computes. The CPU rounds each cell alike wherever it lies, so real equations on noise can
 * be compared.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assertEquals } from "@std/assert";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { life } from "../../kernels/stencils/life.ts";
import {
  axesOf,
  type Boundaries,
  cellsOf,
  isBoundaryOf,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { readsPrevious, stepReach } from "../../kernels/update.ts";
import { AXES, gridOf, type Parts } from "../../models/decomposition.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { THOROUGH } from "../thorough.ts";
import { gather, onRanks, planOfCase, type RankCase } from "./rank_case.ts";
import "../own_thread.ts";

const ALL_PARTS: readonly Parts[] = [
  ...[[2, 1, 1], [1, 3, 1], [1, 1, 2], [4, 1, 1], [1, 2, 2], [2, 1, 2], [2, 2, 1], [2, 2, 2]] as const,
  ...[[8, 1, 1], [1, 1, 8]] as const,
];
const LINE_PARTS: readonly Parts[] = [[1, 1, 2], [1, 1, 3], [1, 1, 4], [1, 1, 8]];
const BOUNDARIES: readonly Boundaries[] = ["zero", "periodic", "insulated", [
  "periodic",
  "zero",
  "insulated",
]];
const PLANE = { dimensions: 2 } as const;
const STENCILS = [
  wave(2),
  wave(6),
  heat(1),
  heat(3),
  life(),
  elastic(),
  maxwell({ permeability: [1, 2], edges: 3 }),

  heat1d(),
  ks(5),
  wave(4, PLANE),
  life(undefined, PLANE),
];

/** More would take minutes. */
const MOST_CELLS = 400_000;

const SEED = 9, RUNS = [4, 7];

/** Plain stepwise, or classic on a line: products and sums are rounded alike everywhere. */
function plain({ grid: [cpuSlices], stencil: { dimensions } }: Problem): Configuration {
  const traversal = dimensions === 1 ? "classic" : "stepwise";
  return { traversal, parameters: {}, share: { cpuSlices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 } };
}

async function levelsOf(one: RankCase, cpuPool: CpuPool): Promise<FloatArray[]> {
  const { update, initialField: kind = "noise" } = one.stencil;
  const levels: FloatArray[] = [];
  await onRanks(one, { gpu: undefined, cpuPool }, async (solvers) => {
    await Promise.all(solvers.map((solver) => solver.initialise(kind, SEED)));
    for (const steps of RUNS) await Promise.all(solvers.map((solver) => solver.run(steps)));
    for (const name of update.fields) {
      for (const ago of readsPrevious(update) ? [0, 1] as const : [0] as const) {
        levels.push(await gather(solvers, name, ago));
      }
    }
  }, plain);
  return levels;
}

for (const stencil of STENCILS) {
  const { name, variant, dimensions, boundaries } = stencil;
  Deno.test({
    name: `${name} ${dimensions ?? 3}D ${
      JSON.stringify(variant)
    }: every decomposition, boundary and R equals one rank`,
    ignore: !THOROUGH,
    async fn() {
      const cpuPool = await CpuPool.create({ workers: 1 });
      const { x, y, z } = stepReach(stencil.update), reach = [x, y, z] as const;
      let compared = 0;
      for (
        const boundary of dimensions === 1
          ? boundaries!
          : BOUNDARIES.filter((one) => isBoundaryOf(stencil, one))
      ) {
        for (const exchangeEvery of [1, 2, 5, 8]) {
          for (const parts of dimensions === 1 ? LINE_PARTS : ALL_PARTS) {
            // a few cells more than fit exactly, so that parts differ
            const grid = gridOf((axis) => {
              if (!axesOf(stencil).includes(axis)) return 1;
              return parts[axis] === 1
                ? 7 + axis
                : Math.ceil(parts[axis] * reach[axis] * exchangeEvery * 1.7) + 5;
            });
            const one = { stencil, grid, boundary, parts, exchangeEvery, runs: RUNS, rates: [2, 3] };
            const isSmall = AXES.every((axis) => parts[axis] === 1) || cellsOf(grid) <= MOST_CELLS;
            if (!isSmall || planOfCase(one) === undefined) continue;
            const whole = await levelsOf({ ...one, parts: [1, 1, 1] }, cpuPool);
            const found = await levelsOf(one, cpuPool);
            assertEquals(found, whole, JSON.stringify({ boundary, exchangeEvery, parts, grid }));
            compared++;
          }
        }
      }
      cpuPool.dispose();
      console.log(`${name}: ${compared} cases`);
    },
  });
}
