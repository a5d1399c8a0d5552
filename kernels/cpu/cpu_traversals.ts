import { precisionOf } from "../precision.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { type Capabilities, NEEDS, type NeedyProblem, type Refusal, wrongParameters } from "../capability.ts";
import { canSweep, SWEEP } from "../traversals/line.ts";
import type { Parameter, ParameterWords } from "../traversals/parameter.ts";
import { type Coordinates, type Parameters, refuseOthers } from "../traversals/traversal.ts";
import { planesOf, reachOf, valuesMoved } from "../update.ts";
import { arithmeticDemand, bytesOfPass, bytesOfSteps, type CpuDemand, reusedSlices } from "./cpu_demand.ts";
import { usualStrip, type VisitedGrid } from "./cpu_order.ts";
import { type DiamondShape, refuseDiamonds, wavedOf } from "./diamond_order.ts";
import type { NodeShape } from "./line_order.ts";

/** How workers visit a grid: stepwise in strips of `strip` rows (0: one strip), in diamonds, or along a line in nodes. */
export type CpuShape = { readonly strip: number } | DiamondShape | NodeShape;

/**
 * A way to traverse a grid on the CPU, with its parameters, what makes them feasible, and what they ask of the CPU. Those
 * of whole rows have the parameter `fused`: 1 where products and sums are one operation.
 */
export interface CpuTraversal<Values extends Parameters = Parameters> {
  readonly name: string;
  /** What its parameters mean. */
  readonly parameters: ParameterWords;
  /** What it can do, compared with what problems need in `../capability.ts`. */
  readonly capabilities: Capabilities;
  /** The parameters to try, in no order; fused ones only where the engine has relaxed SIMD. */
  candidates(problem: Problem, workers: number, engine: { readonly fuses: boolean }): Parameters[];
  /** Why these parameters cannot run; undefined if they can. */
  infeasible(problem: Problem, parameters: Values): Refusal | undefined;
  /** What feasible parameters ask of the CPU. */
  demand(problem: Problem, parameters: Values, workers: number): CpuDemand;
  /** What the workers are given; undefined where they choose for themselves. */
  shape(parameters: Values): CpuShape | undefined;
}

/** Numbers of workers that are tried: all, and where there are at least four half of them, which may be all cores. */
export function workerCounts(workers: number): number[] {
  return workers >= 4 ? [workers, Math.floor(workers / 2)] : [workers];
}

/** Of workers that visit cells step by step. */
const ALL_BUT_WINDOWS: Capabilities = {
  can: NEEDS.filter((need) => need !== "window"),
  cannot: { window: "the CPU holds all levels as a whole" },
};

/** Rows of a strip that are tried; 0: one strip. */
const STRIPS = [8, 16, 32, 0];

/** The parameter that all traversals of whole rows have. */
const FUSED: Parameter = [
  "Multiply-add",
  "whether a product and a sum are one operation, which rounds once",
  { values: { 0: "in two operations", 1: "in one operation" } },
];

/** One round per level, in strips along y. */
const stepwise: CpuTraversal = {
  name: "stepwise",
  parameters: {
    strip: ["Strip", "rows that a core visits in a slice before it goes to the next slice", {
      unit: "row",
      values: { 0: "all rows" },
    }],
    fused: FUSED,
  },
  capabilities: ALL_BUT_WINDOWS,
  candidates(problem, _, { fuses }) {
    // workers cannot share a line's only row
    if (canSweep(problem)) return [];
    const { grid: [, ny] } = problem;
    return STRIPS.filter((strip) => strip < ny).flatMap((strip) => eachFused({ strip }, fuses));
  },
  infeasible: (_, { strip, fused, ...others }) =>
    strip === undefined || (Number.isSafeInteger(strip) && strip >= 0)
      ? refuseFused(fused) ?? refuseOthers(["strip", "fused"], others)
      : wrongParameters(`strips must have a whole number of rows, not ${strip}`),
  demand({ grid: [nx, ny, nz], stencil: { update } }, { strip = 0, fused }, workers) {
    const rows = strip > 0 ? Math.min(strip, ny) : ny, strips = Math.ceil(ny / rows);
    const { x, y } = reachOf(update), reused = reusedSlices(update);
    const { bytesPerUpdate, extraBytesPerUpdate } = bytesOfSteps(update);
    const bytesOfRow = precisionOf(update).bytes * planesOf(update) * nz;
    return {
      ...arithmeticDemand(update, fused === 1),
      bytesPerUpdate,
      // a strip reads rows of its neighbours
      extraBytesPerUpdate: extraBytesPerUpdate + (strips > 1 ? bytesPerUpdate * y / rows : 0),
      reusedBytes: (2 * x + 1) * rows * bytesOfRow,
      reusedBytesPerUpdate: reused,
      meetingsPerStep: update.substeps.length,
      callsPerStep: update.substeps.length * ((strips > 1 ? strips * nx / 2 : 1) + 2 * workers),
      imbalance: Math.ceil(nx * ny / workers) * workers / (nx * ny),
    };
  },
  shape: ({ strip }) => strip === undefined ? undefined : { strip },
} satisfies CpuTraversal<Coordinates>;

/** Rows of a tile that are tried, in multiples of the reach; slices that the wave moves at once. */
const TILE_ROWS = [8, 16, 24, 32, 64], BLOCKS = [4, 8];

/** Many steps per pass: diamonds along y and time, a wavefront along x. */
const diamondWavefront: CpuTraversal = {
  name: "diamond-wavefront",
  parameters: {
    tiles: ["Tiles along y", "diamonds side by side", { unit: "tile" }],
    levels: ["Growth of a tile", "sub-steps by which a diamond grows; more need less memory traffic", {
      unit: "level",
    }],
    block: ["Block", "slices that the wave along x moves at once", { unit: "slice" }],
    fused: FUSED,
  },
  capabilities: ALL_BUT_WINDOWS,
  candidates(problem, workers, { fuses }) {
    const { steps, stencil: { update } } = problem;
    const { grid: [nx, ny], reach: [, along] } = wavedOf(surroundingsOf(problem)), reach = Math.max(1, along);
    const found = new Map<string, Coordinates>();
    for (const rows of TILE_ROWS) {
      const tiles = workers * Math.max(1, Math.round(ny / (rows * reach) / workers));
      const most = Math.min(Math.floor(ny / tiles / 2 / reach), steps * update.substeps.length);
      for (const levels of [most, Math.floor(most / 2)]) {
        for (const block of nx === 1 ? [1] : BLOCKS) {
          for (const way of eachFused({ tiles, levels, block }, fuses)) found.set(JSON.stringify(way), way);
        }
      }
    }
    return [...found.values()].filter((parameters) => this.infeasible(problem, parameters) === undefined);
  },
  infeasible(problem, parameters) {
    const shape = diamondShape(parameters);
    if (shape === undefined) {
      const found = [parameters.tiles, parameters.levels, parameters.block].join(", ");
      return wrongParameters(`tiles, levels and block must be whole numbers from 1 up, not ${found}`);
    }
    return refuseFused(parameters.fused) ??
      refuseOthers(Object.keys(diamondWavefront.parameters), parameters) ??
      refuseDiamonds(surroundingsOf(problem), shape);
  },
  demand(problem, parameters, workers) {
    const { grid: [slices, , nz], steps, stencil: { update } } = problem;
    const { grid: [nx, ny], reach: [x, y] } = wavedOf(surroundingsOf(problem));
    const { tiles, band, block } = diamondShape(parameters)!, substeps = update.substeps.length;
    const levels = Math.min(band, steps * substeps), rows = ny / tiles;
    const { held, moved } = bytesOfPass(update);
    return {
      ...arithmeticDemand(update, parameters.fused === 1),
      // a diamond of `rows` at its widest makes `levels` · `rows` updates, and reads what lies around it
      bytesPerUpdate: moved * substeps / levels,
      extraBytesPerUpdate: held * substeps / levels * 2 * y / rows,
      // of the wave's levels some have all rows, some few: half of them at the mean
      reusedBytes: held * nz * rows * Math.min(nx, band * x + x + block / 2),
      reusedBytesPerUpdate: precisionOf(update).bytes * valuesMoved(update),
      meetingsPerStep: substeps * (1 / levels + 1 / (steps * substeps)),
      // the wave's first slices are no whole block
      callsPerStep: substeps *
        (2 * tiles * (Math.ceil(nx / block) + 1) + (nx === 1 ? 1 : 2 * tiles) * slices / 2),
      imbalance: Math.ceil(tiles / workers) * workers / tiles,
    };
  },
  shape: (parameters) => diamondShape(parameters),
} satisfies CpuTraversal<Coordinates>;

function surroundingsOf({ grid: [nx, ny], boundary, stencil: { update } }: Problem): VisitedGrid {
  const [alongX, alongY] = alongAxes(boundary), { x, y } = reachOf(update);
  return { grid: [nx, ny], boundaries: [alongX, alongY], reach: [x, y] };
}

function diamondShape({ tiles, levels, block }: Coordinates): DiamondShape | undefined {
  const isCount = (value: number | undefined): value is number => Number.isSafeInteger(value) && value! >= 1;
  return isCount(tiles) && isCount(levels) && isCount(block) ? { tiles, band: levels, block } : undefined;
}

/** A line, one row after the other, of which each worker makes a piece. */
const classic: CpuTraversal = {
  name: "classic",
  parameters: {},
  // one step at a time takes any ends, those of a rank's part too
  capabilities: {
    can: ALL_BUT_WINDOWS.can.filter((need) =>
      !["dimensions", "volume", "points", "early-sources"].includes(need)
    ),
    cannot: {
      ...ALL_BUT_WINDOWS.cannot,
      dimensions: "it sweeps one dimension, 1x1xN",
      volume: "it sweeps one dimension, 1x1xN",
      points: "lines have neither sources nor receivers",
      "early-sources": "lines have no sources",
    },
  },
  candidates: (problem) => canSweep(problem) ? [{}] : [],
  infeasible: (_, parameters) => refuseOthers([], parameters),
  demand: (problem, _, workers) => lineDemand(problem, workers, { tasks: workers, stepsPerMeeting: 1 }),
  shape: () => undefined,
};

/** Points of a node: both time levels fit a core's first-level cache, and a diamond outweighs its barrier. */
const NODE_POINTS = [1024, 2048, 4096];

/** A line by the swept rule: many rows between two meetings, in nodes of several sizes up to one node per worker. */
const swept: CpuTraversal = {
  name: "swept",
  parameters: {
    points: ["Node", "points of the line that a core advances many steps at once", { unit: "point" }],
  },
  capabilities: SWEEP,
  candidates(problem, workers) {
    if (!canSweep(problem)) return [];
    const perWorker = Math.floor(problem.grid[2] / workers);
    const nodes = [...NODE_POINTS.filter((points) => points < perWorker), perWorker];
    return nodes.filter((points) => points >= 8).map((points) => ({ points }));
  },
  infeasible: (_, { points, ...others }) =>
    points === undefined || (Number.isSafeInteger(points) && points >= 1)
      ? refuseOthers(["points"], others)
      : wrongParameters(`nodes must have a whole number of points from 1 up, not ${points}`),
  demand(problem, { points }, workers) {
    if (points === undefined) return classic.demand(problem, {}, workers);
    // workers meet after half of a node's diamond
    const stepsPerMeeting = Math.max(1, points / 4 / Math.max(1, reachOf(problem.stencil.update).z));
    return lineDemand(problem, workers, { tasks: problem.grid[2] / points, stepsPerMeeting });
  },
  shape: ({ points = 0 }) => ({ points }),
} satisfies CpuTraversal<Coordinates>;

/** How workers visit a grid where nothing was chosen: a line classic, any other stepwise in strips that suit its slices. */
export function usualShape(problem: NeedyProblem, sliceBytes: number): CpuShape {
  if (canSweep(problem)) return { points: 0 };
  return { strip: usualStrip(reachOf(problem.stencil.update).x, sliceBytes) };
}

/** What a line asks for. It fits the caches: nothing needs to come from memory, so that it has no roof. */
function lineDemand(
  { stencil: { update } }: Problem,
  workers: number,
  { tasks, stepsPerMeeting }: { readonly tasks: number; readonly stepsPerMeeting: number },
): CpuDemand {
  const { bytesPerUpdate, extraBytesPerUpdate } = bytesOfSteps(update);
  return {
    ...arithmeticDemand(update, false),
    bytesPerUpdate: 0,
    extraBytesPerUpdate: bytesPerUpdate + extraBytesPerUpdate,
    reusedBytes: 0,
    reusedBytesPerUpdate: 0,
    meetingsPerStep: 1 / stepsPerMeeting,
    callsPerStep: tasks / stepsPerMeeting,
    imbalance: Math.ceil(tasks / workers) * workers / tasks,
  };
}

/** The parameters as they are, and fused where the engine can. */
function eachFused(parameters: Coordinates, fuses: boolean): Coordinates[] {
  return fuses ? [parameters, { ...parameters, fused: 1 }] : [parameters];
}

function refuseFused(fused: number | undefined): Refusal | undefined {
  return fused === undefined || fused === 0 || fused === 1
    ? undefined
    : wrongParameters(`fused must be 0 or 1, not ${fused}`);
}

export const CPU_TRAVERSALS: readonly CpuTraversal[] = [stepwise, diamondWavefront, classic, swept];

export function cpuTraversalNamed(name: string): CpuTraversal | undefined {
  return CPU_TRAVERSALS.find((traversal) => traversal.name === name);
}
