/**
 * The CPU's share of a grid in every order, without a GPU: what that would send comes from the oracle. Nothing but what
 * an exchange brings may be read: all other cells of the ghost zones are NaN.
 *
 * @module
 */
import type { FloatArray } from "../../../kernels/precision.ts";
import { assertEquals, assertRejects } from "@std/assert";
import type { CpuShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { indexOf } from "../../../kernels/layout.ts";
import { runReference } from "../../../kernels/reference.ts";
import { elastic } from "../../../kernels/stencils/elastic.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { life } from "../../../kernels/stencils/life.ts";
import {
  alongAxes,
  type Boundaries,
  type Grid,
  type Problem,
  type Stencil,
} from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { planesOf, readsPrevious, stepReach } from "../../../kernels/update.ts";
import type { Share } from "../../../tuner/configuration.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import { initialCells } from "../../../tuner/devices/oracle.ts";
import { cpuLayoutOf } from "../../../tuner/devices/cpu/cpu_field.ts";
import { partOf } from "../../../tuner/devices/shared/shares.ts";
import { wholeNumberProfiles } from "../../kernels/whole_numbers.ts";
import { THOROUGH } from "../../thorough.ts";

interface ShareCase {
  readonly stencil: Stencil;
  readonly boundary: Boundaries;
  readonly exchangeEvery: number;
  readonly shape: CpuShape;
  /** Cells along y and z. */
  readonly rows: readonly [ny: number, nz: number];
  /** Slices beyond the thinnest share. */
  readonly spare: number;
  /** Slices that an exchange leaves out. @default {0} */
  readonly missing?: number;
}

const bits = (cells: FloatArray): Uint32Array => new Uint32Array(cells.slice().buffer);

/** Two rounds of R steps, the second after an exchange; each level's own slices must be the oracle's, bit for bit. */
async function assertRoundsEqualOracle(pool: CpuPool, one: ShareCase): Promise<void> {
  const { stencil, boundary, exchangeEvery, shape, rows, spare, missing = 0 } = one;
  const { update } = stencil, reach = stepReach(update).x, planes = planesOf(update);
  const thinnest = exchangeEvery * reach;
  const cpuSlices = thinnest + spare, gpuSlices = thinnest + 1;
  const grid: Grid = [cpuSlices + gpuSlices, ...rows];
  const problem: Problem = { stencil, grid, boundary, steps: 2 * exchangeEvery };
  const share: Share = { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers: pool.workers };
  const part = partOf(problem, share, "cpu"), layout = cpuLayoutOf(part);
  const isPeriodic = alongAxes(boundary)[0] === "periodic";
  const field = await pool.load({ update, layout, boundary: part.boundary, shape });
  const first = isPeriodic ? thinnest : 0, [ny, nz] = rows;
  field.profiles.start({ first: [-first, 0, 0], whole: grid });
  const isOwn = (x: number): boolean => x >= first && x < first + cpuSlices;
  /** Calls back with every row of the part, where it lies in it and in the whole grid. */
  const eachRow = (callback: (x: number, plane: number, at: number, inGrid: number) => void): void => {
    for (let x = 0; x < part.grid[0]; x++) {
      const gridX = (x - first + grid[0]) % grid[0];
      for (let plane = 0; plane < planes; plane++) {
        for (let y = 0; y < ny; y++) {
          callback(x, plane, indexOf(layout, [x, y, 0], plane), ((gridX * planes + plane) * ny + y) * nz);
        }
      }
    }
  };
  const noise = initialCells({ grid, stencil }, { kind: stencil.initialField ?? "noise", seed: 1 });
  let whole = { current: noise, previous: noise };
  for (let round = 0; round < 2; round++) {
    for (const level of ["current", "previous"] as const) {
      const sent = level === "current" ? thinnest : readsPrevious(update) ? thinnest - reach : 0;
      eachRow((x, plane, at, inGrid) => {
        const isMaterial = plane >= update.fields.length;
        if (round > 0 && (isOwn(x) || isMaterial)) return;
        const isKnown = isMaterial || isOwn(x) ||
          (x >= first - sent + missing && x < first + cpuSlices + sent - missing);
        if (isKnown) field[level].set(whole[level].subarray(inGrid, inGrid + nz), at);
        else field[level].fill(NaN, at, at + nz);
      });
    }
    await field.run({ steps: exchangeEvery, ghost: { low: isPeriodic, high: true } });
    const start = round * exchangeEvery;
    whole = runReference(whole, { update, grid, boundary, steps: exchangeEvery, start });
    for (const level of readsPrevious(update) ? ["current", "previous"] as const : ["current"] as const) {
      const found = bits(field[level]), expected = bits(whole[level]);
      eachRow((x, _, at, inGrid) => {
        if (!isOwn(x)) return;
        for (let z = 0; z < nz; z++) {
          if (found[at + z] === expected[inGrid + z]) continue;
          const what = `${stencil.title}, ${boundary}, R = ${exchangeEvery}, ${JSON.stringify(shape)}`;
          const where = `round ${round + 1}, ${level}, slice ${x - first}, ${pool.workers} workers`;
          assertEquals(field[level][at + z], whole[level][inGrid + z], `${what}: ${where}`);
        }
      });
    }
  }
  await field.dispose();
}

type Shaped = readonly [stencil: Stencil, rows: readonly [number, number], shapes: readonly CpuShape[]];

/** As few rows as the shapes allow: half a tile must hold its levels. */
const SHAPES: readonly Shaped[] = [
  [wave(2), [23, 9], [{ tiles: 3, band: 3, block: 2 }, { tiles: 1, band: 4, block: 1 }, { strip: 5 }]],
  [wave(6), [25, 5], [{ tiles: 2, band: 2, block: 3 }, { strip: 4 }]],
  [wave(14), [29, 3], [{ tiles: 2, band: 1, block: 1 }]],
  [heat(1), [21, 7], [{ tiles: 5, band: 2, block: 4 }]],
  [heat(4), [33, 5], [{ tiles: 2, band: 2, block: 2 }]],
  [life(), [17, 7], [{ tiles: 2, band: 4, block: 2 }]],
  [elastic(), [17, 5], [{ tiles: 2, band: 2, block: 1 }, { strip: 3 }]],
];

/** Axis profiles, of which each share has its own cells' values. */
const PROFILES: Shaped = [wholeNumberProfiles(), [17, 9], [{ tiles: 2, band: 2, block: 2 }, { strip: 3 }]];

const OTHERS: readonly Shaped[] = [
  ...[4, 8, 10, 12].map((order): Shaped => [wave(order), [order * 3, 5], [{ tiles: 1, band: 2, block: 2 }]]),
  ...[2, 3].map((delta): Shaped => [heat(delta), [25, 6], [{ tiles: 3, band: 1, block: 1 }]]),
];

Deno.test("R steps of the CPU's share are the oracle's in every order, for every equation and boundary", async () => {
  const pools = await Promise.all([1, 2, 3].map((workers) => CpuPool.create({ workers })));
  let turn = 0;
  for (const [stencil, rows, shapes] of [...SHAPES, PROFILES, ...(THOROUGH ? OTHERS : [])]) {
    for (const boundary of ["zero", "periodic", ["insulated", "periodic", "insulated"]] as const) {
      for (const exchangeEvery of [1, 2, 5]) {
        // every R meets every number of workers and every shape in turn
        for (const pool of THOROUGH ? pools : [pools[turn % 3]!]) {
          const shape = shapes[Math.floor(turn / 2) % shapes.length]!;
          await assertRoundsEqualOracle(pool, {
            stencil,
            boundary,
            exchangeEvery,
            shape,
            rows,
            spare: turn % 3,
          });
        }
        turn++;
      }
      turn++;
    }
  }
  for (const pool of pools) pool.dispose();
});

Deno.test("one slice less of what is exchanged, of either level, reaches the CPU's own slices", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (const [stencil, rows, [shape]] of SHAPES) {
    // a step of staggered fields reads three slices on either side: the fourth of its reach is never read
    if (stencil.name === "elastic") continue;
    for (const boundary of ["zero", "periodic"] as const) {
      const one = { stencil, boundary, exchangeEvery: 2, shape: shape!, rows, spare: 0, missing: 1 };
      await assertRejects(() => assertRoundsEqualOracle(pool, one), Error, "Values are not equal");
    }
  }
  pool.dispose();
});
