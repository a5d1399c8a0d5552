/**
 * What a rank computes: its own cells and, where it has neighbours, ghost zones of R·reach cells around them, as an
 * ordinary problem on a grid of its own. What lies beyond a ghost zone is wrong, and every step carries that one reach
 * further in: R steps use up exactly the ghost zones, whatever the traversal.
 *
 * @module
 */
import {
  alongAxes,
  BOUNDARIES,
  type Grid,
  type Problem,
  shortBoundary,
} from "../kernels/stencils/stencil.ts";
import { ghostWidths, planesOf } from "../kernels/update.ts";
import {
  AXES,
  type Axis,
  cut,
  decompose,
  type Extent,
  gridOf,
  neighbourOf,
  numberAt,
  type Parts,
  placeOf,
} from "./decomposition.ts";

/** How the ranks share a grid. */
export interface RankPlan {
  /** How many along each axis. */
  readonly parts: Parts;
  /** R: steps between two exchanges. */
  readonly exchangeEvery: number;
  /** What each rank computes, or each of its parts. */
  readonly extents: readonly Extent[];
  /** The rank of each part, where some ranks have several. @default {each rank has one} */
  readonly owners?: readonly number[];
  /**
   * Whether each rank's GPU computes its part as two that take turns, so that messages of the one travel while the other is
   * computed. Ranks must lie in a row. @default {false}
   */
  readonly inTurns?: boolean | undefined;
}

/** The axis along which ranks lie in a row; undefined where they lie along several, or there is only one. */
export function rowOf({ parts }: Pick<RankPlan, "parts">): Axis | undefined {
  const [axis, ...others] = AXES.filter((one) => parts[one] > 1);
  return others.length === 0 ? axis : undefined;
}

/** What the larger one of two parts in turns has, where the other one alone exchanges with other ranks. */
const LARGER = 2 / 3;

/**
 * The parts of a plan whose ranks compute in turns, two of each rank; the plan itself where they do not. They have as many
 * cells, ghost zones included, in the middle of a row; at its ends one part sends nothing, and is larger, since the other
 * one's messages hide behind it. Undefined where the parts would be thinner than their ghost zones.
 */
export function turnsOf(problem: Problem, plan: RankPlan): RankPlan | undefined {
  const row = rowOf(plan);
  if (!plan.inTurns || row === undefined) return plan;
  const fractions = plan.extents.map(({ size }, rank) => {
    const { before: { [row]: before }, after: { [row]: after } } = partOfRank(problem, plan, rank);
    const first = before > 0 && after > 0 ? 1 / 2 : before > 0 ? 1 - LARGER : LARGER;
    return first + (after - before) / size[row] / 2;
  });
  return planForPairs(problem, plan, fractions, row);
}

export interface RankPart {
  /** The rank's own cells in the whole grid. */
  readonly own: Extent;
  /** Cells of the ghost zones before and after them. */
  readonly before: Grid;
  readonly after: Grid;
  readonly grid: Grid;
  /** Ranks at the low and the high end of each axis; undefined where the grid ends or one rank holds the whole axis. */
  readonly neighbours: readonly (readonly [low: number | undefined, high: number | undefined])[];
}

/** Where a part lies. */
export interface PartPlace {
  readonly part: RankPart;
  /** Cells of the whole grid. */
  readonly whole: Grid;
}

/** Where a part's cell (0, 0, 0) lies in the whole grid. */
export function firstOf({ part: { own: { low }, before } }: PartPlace): Grid {
  return [low[0] - before[0], low[1] - before[1], low[2] - before[2]];
}

/** Cells of a few planes of a level, in the coordinates of a local grid. */
export interface Box extends Extent {
  /** 0: F(t), 1: F(t−1). */
  readonly ago: 0 | 1;
  readonly plane: number;
  readonly planes: number;
}

export function valuesIn({ size: [x, y, z], planes }: Box): number {
  return planes * x * y * z;
}

/** The thinnest part along x: as thick as the ghost zone of its neighbour, and at least one slice. */
export function thinnestPart(
  { stencil: { update } }: Pick<Problem, "stencil">,
  exchangeEvery: number,
): number {
  return Math.max(1, ghostWidths(update, exchangeEvery)[0][0]);
}

/** A plan for ranks of these rates; undefined where the ghost zones do not fit the parts, which own what they send. */
export function planOf(
  problem: Problem,
  { parts, exchangeEvery, rates }: Omit<RankPlan, "extents"> & { readonly rates: readonly number[] },
): RankPlan | undefined {
  const [least] = ghostWidths(problem.stencil.update, exchangeEvery);
  const extents = decompose({ grid: problem.grid, parts, rates, least });
  return extents && { parts, exchangeEvery, extents };
}

/** A grid cut along x into parts of these numbers of slices. */
export function planAlongX(
  { grid: [, ny, nz] }: Problem,
  slices: readonly number[],
  exchangeEvery: number,
): RankPlan {
  let x = 0;
  const extents = slices.map((count): Extent => ({
    low: [(x += count) - count, 0, 0],
    size: [count, ny, nz],
  }));
  return { parts: [slices.length, 1, 1], exchangeEvery, extents };
}

/**
 * The same with each rank's part cut in two along an axis; ranks beside each other are cut alike.
 *
 * @param fractions of each rank, what the first of the two has of its part
 * @returns undefined where the parts would be thinner than their ghost zones
 */
export function planForPairs(
  problem: Problem,
  plan: RankPlan,
  fractions: readonly number[],
  axis: Axis = 0,
): RankPlan | undefined {
  const { exchangeEvery, extents } = plan, parts = gridOf((one) => (one === axis ? 2 : 1) * plan.parts[one]);
  const least = Math.max(1, ghostWidths(problem.stencil.update, exchangeEvery)[0][axis]);
  const layerOf = (rank: number): number => placeOf(rank, plan.parts)[axis];
  const starts = extents.map(({ size }, rank) => {
    const beside = fractions.filter((_, other) => layerOf(other) === layerOf(rank));
    const fraction = beside.reduce((sum, one) => sum + one) / beside.length;
    return cut(size[axis], [fraction, 1 - fraction], least);
  });
  if (starts.includes(undefined)) return undefined;
  const fine = Array.from({ length: 2 * extents.length }, (_, part) => {
    const place = placeOf(part, parts), half = place[axis] % 2;
    const rank = numberAt(gridOf((one) => place[one] >> Number(one === axis)), plan.parts);
    const { low, size } = extents[rank]!, [from, to] = starts[rank]!.slice(half);
    return {
      rank,
      low: gridOf((one) => low[one] + (one === axis ? from! : 0)),
      size: gridOf((one) => one === axis ? to! - from! : size[one]),
    };
  });
  return { parts, exchangeEvery, extents: fine, owners: fine.map(({ rank }) => rank) };
}

/** The rank to which a part belongs. */
export function ownerOf({ owners }: RankPlan, part: number): number {
  return owners?.[part] ?? part;
}

/** The parts of a rank. */
export function partsOfRank(plan: RankPlan, rank: number): number[] {
  return [...plan.extents.keys()].filter((part) => ownerOf(plan, part) === rank);
}

export function partOfRank(
  problem: Problem,
  { parts, exchangeEvery, extents }: RankPlan,
  rank: number,
): RankPart {
  const own = extents[rank]!, along = alongAxes(problem.boundary);
  const [ghost] = ghostWidths(problem.stencil.update, exchangeEvery);
  const neighbours = AXES.map((axis) => {
    const towards = (direction: -1 | 1) =>
      parts[axis] === 1
        ? undefined
        : neighbourOf(rank, { parts, axis, direction, isPeriodic: along[axis] === "periodic" });
    return [towards(-1), towards(1)] as const;
  });
  const widths = (side: 0 | 1): Grid =>
    gridOf((axis) => neighbours[axis]![side] === undefined ? 0 : ghost[axis]);
  const before = widths(0), after = widths(1);
  return {
    own,
    before,
    after,
    grid: gridOf((axis) => before[axis] + own.size[axis] + after[axis]),
    neighbours,
  };
}

/** A rank's part as a problem of its own, on its local grid. */
export function problemOfRank(
  problem: Problem,
  { exchangeEvery }: Pick<RankPlan, "exchangeEvery">,
  { grid, neighbours }: RankPart,
): Problem {
  const { stencil, survey } = problem;
  const [x, y, z] = alongAxes(problem.boundary).map((boundary, axis) => {
    const open = neighbours[axis]!.filter((neighbour) => neighbour !== undefined).length;
    // an insulated grid's first and last rank keep its end; beyond the other any boundary will do
    return open === 2 || (open > 0 && boundary === "periodic") ? "zero" : boundary;
  });
  const boundaries = [...new Set([...stencil.boundaries ?? BOUNDARIES, "zero" as const])];
  const boundary = shortBoundary([x!, y!, z!]);
  return {
    grid,
    stencil: { ...stencil, boundaries },
    boundary,
    steps: exchangeEvery,
    ...(survey && { survey }),
    ...((problem.isPart || neighbours.flat().some((rank) => rank !== undefined)) && { isPart: true }),
  };
}

/** What a part sends to and receives from the neighbour at a side of an axis. */
export interface Exchange {
  readonly axis: Axis;
  readonly side: 0 | 1;
  readonly rank: number;
  readonly send: readonly Box[];
  readonly receive: readonly Box[];
}

/**
 * What a part exchanges, in turn along each axis that is cut (B2R, Table 1): along x own cells alone; along y the ghost
 * zones of x with them, along z those of x and y, so that edges and corners need no messages of their own.
 *
 * What R steps use up: the fields, F(t−1) less far, as it is read only where new values become valid. `isWhole`:
 * everything, materials too, for a field whose own cells were all set from outside.
 */
export function exchangesOf(
  { stencil: { update } }: Problem,
  { exchangeEvery }: Pick<RankPlan, "exchangeEvery">,
  { before, own: { size: own }, grid, neighbours }: RankPart,
  isWhole = false,
): Exchange[][] {
  const planes = isWhole ? planesOf(update) : update.fields.length;
  const [now, previous] = ghostWidths(update, exchangeEvery);
  const exchange = (axis: Axis, side: 0 | 1): Exchange[] => {
    const rank = neighbours[axis]![side], send: Box[] = [], receive: Box[] = [];
    if (rank === undefined) return [];
    for (const ago of [0, 1] as const) {
      const width = (ago === 0 || isWhole ? now : previous)?.[axis] ?? 0;
      if (width === 0) continue;
      const box = (from: number): Box => ({
        ago,
        plane: 0,
        planes,
        low: gridOf((other) => other === axis ? from : other < axis ? 0 : before[other]),
        size: gridOf((other) => other === axis ? width : other < axis ? grid[other] : own[other]),
      });
      const first = before[axis], end = first + own[axis];
      send.push(box(side === 0 ? first : end - width));
      receive.push(box(side === 0 ? first - width : end));
    }
    return send.length === 0 ? [] : [{ axis, side, rank, send, receive }];
  };
  return AXES.map((axis) => [...exchange(axis, 0), ...exchange(axis, 1)]).filter(({ length }) => length > 0);
}
