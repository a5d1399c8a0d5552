/**
 * How the CPU's workers can traverse a grid, each way with its parameters and what makes them feasible. The numbers of
 * workers and of tiles decide how the grid is divided among them.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { periodicAxes } from "../stencils/stencil.ts";
import type { Parameters } from "../traversals/traversal.ts";
import { planesOf, reachOf } from "../update.ts";
import { type DiamondShape, refuseDiamonds } from "./diamond_order.ts";

/** How workers visit a grid: stepwise in strips of so many rows (0: one strip), or in diamonds. */
export type CpuShape = { readonly strip: number } | DiamondShape;

/** A way to traverse a grid on the CPU. */
export interface CpuTraversal {
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /** The parameters to try, the most promising last. */
  candidates(problem: Problem, workers: number): Parameters[];
  /** Why these parameters cannot run; undefined if they can. */
  infeasible(problem: Problem, parameters: Parameters): string | undefined;
  /** What the workers are given; undefined where they choose for themselves. */
  shape(parameters: Parameters): CpuShape | undefined;
}

/** Rows of a strip that are tried; 0: one strip. */
const STRIPS = [8, 16, 32, 0];

const stepwise: CpuTraversal = {
  name: "stepwise",
  title: "one round per level, in strips along y",
  candidates: ({ grid: [, ny] }) => STRIPS.filter((strip) => strip < ny).map((strip) => ({ strip })),
  infeasible: (_, { strip }) =>
    strip === undefined || (Number.isSafeInteger(strip) && strip >= 0)
      ? undefined
      : `strips must have a whole number of rows, not ${strip}`,
  shape: ({ strip }) => strip === undefined ? undefined : { strip },
};

/** Rows of a tile that are tried, in multiples of the reach; slices that the wave moves at once. */
const TILE_ROWS = [8, 16, 32, 64], BLOCKS = [2, 4];

/** Bytes that stay in a core's second-level cache. */
const CACHE_BYTES = 2 ** 20;

const diamondWavefront: CpuTraversal = {
  name: "diamond-wavefront",
  title: "many steps per pass: diamonds along y and time, a wavefront along x",
  candidates(problem, workers) {
    const { grid: [, ny, nz], steps, stencil: { update } } = problem;
    const { x, y } = reachOf(update);
    const found: { parameters: Parameters; place: number }[] = [];
    for (const rows of TILE_ROWS) {
      const tiles = workers * Math.max(1, Math.round(ny / (rows * Math.max(1, y)) / workers));
      const most = Math.min(Math.floor(ny / tiles / 2 / Math.max(1, y)), steps * update.substeps.length);
      for (const levels of new Set([most, Math.floor(most / 2)])) {
        for (const block of BLOCKS) {
          const parameters = { tiles, levels, block };
          if (this.infeasible(problem, parameters) !== undefined) continue;
          const slices = 2 * levels * x + 2 * x + block;
          const bytes = 2 * 4 * planesOf(update) * nz * slices * ny / tiles;
          // what leaves the cache is loaded again at every level
          found.push({ parameters, place: (bytes <= CACHE_BYTES ? levels : 1 / levels) + block / 100 });
        }
      }
    }
    const distinct = new Map(found.map((one) => [JSON.stringify(one.parameters), one]));
    return [...distinct.values()].sort((a, b) => a.place - b.place).map(({ parameters }) => parameters);
  },
  infeasible({ grid: [nx, ny], boundary, stencil }, parameters) {
    const shape = diamondShape(parameters);
    if (shape === undefined) {
      return `tiles, levels and block must be whole numbers from 1 up, not ${
        ["tiles", "levels", "block"].map((name) => parameters[name]).join(", ")
      }`;
    }
    const [wrapsX, wrapsY] = periodicAxes(boundary);
    const { x, y } = reachOf(stencil.update);
    return refuseDiamonds({ grid: [nx, ny], wraps: [wrapsX, wrapsY], reach: [x, y] }, shape);
  },
  shape: (parameters) => diamondShape(parameters),
};

function diamondShape({ tiles, levels, block }: Parameters): DiamondShape | undefined {
  const isCount = (value: number | undefined): value is number => Number.isSafeInteger(value) && value! >= 1;
  return isCount(tiles) && isCount(levels) && isCount(block) ? { tiles, band: levels, block } : undefined;
}

/** Every way to traverse a grid on the CPU. */
export const CPU_TRAVERSALS: readonly CpuTraversal[] = [stepwise, diamondWavefront];

/** The one of that name; undefined if there is none. */
export function cpuTraversalNamed(name: string): CpuTraversal | undefined {
  return CPU_TRAVERSALS.find((traversal) => traversal.name === name);
}
