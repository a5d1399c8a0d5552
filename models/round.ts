/**
 * Time of a step of a grid in parts, of ranks or of the devices of one process, as a function of R and the decomposition:
 * Eq. 1–7 of B2R for parts that need not be cubes. Per round of R steps a part computes (Eq. 2, 3), then exchanges along
 * each axis that is cut, one after another: it copies what it sends and receives between its device and the host
 * (Eq. 6), and sends and receives at the same time (Eq. 5). The slowest part sets the time.
 *
 * Four differences from the paper. The time of a cell update may be measured for several R instead of taken as
 * constant: a torre of few steps is slower than a long one. Eq. 5 and 6 are one straight line: only boxes are copied to
 * the host, so that copies and messages grow with the same bytes. Where a rank's GPU computes two parts in turns, the
 * exchange of the one hides behind the other. And beside a GPU of the same process, CPU workers
 * compute while the host waits for that (Deno may block it): such a part's round takes no less than the wait
 * and what does not hide behind it.
 *
 * Sweeps over R on an H100 and 12 workers (wave of order 2, 512×256×128 and 128³, 2026-11-22): median error 4.0% and
 * 1.1%.
 *
 * @module
 */
import { precisionOf } from "../kernels/precision.ts";
import { cellsOf, type Problem } from "../kernels/stencils/stencil.ts";
import { stepReach } from "../kernels/update.ts";
import { arrangements, evenSlices, type Line, type Parts } from "./decomposition.ts";
import {
  type Box,
  exchangesOf,
  ownerOf,
  partOfRank,
  partsOfRank,
  planAlongX,
  planOf,
  type RankPlan,
  rowOf,
  thinnestPart,
  turnsOf,
  valuesIn,
} from "./rank_part.ts";

/** What an exchange consists of, or takes: axes (the latency), bytes (the inverse of the bandwidth) and rows. */
export type ExchangeCost = readonly [axes: number, bytes: number, rows: number];

/** A part's fitted coefficients: of a rank, or of one of two devices. */
export interface PartCosts {
  /** Time of a cell update in rounds of `steps` steps, in order of the steps. */
  readonly updates: readonly { readonly steps: number; readonly ns: number }[];
  /** How much longer it takes in parts of other shapes: a factor by `XxYxZ`. */
  readonly shapes: Readonly<Record<string, number>>;
  /** Whether the device leaves out what becomes invalid along x (Eq. 2), or computes all (Eq. 3). */
  readonly shrinks: boolean;
  /** Copies and messages: time of each axis, of a byte sent, and of each row of cells that lie together. */
  readonly exchange: ExchangeCost;
  /** Time of a step besides: its dispatches, or the workers' barrier. @default 0 */
  readonly stepNs?: number;
  /** Time of a pass over a cell in each round. @default 0 */
  readonly passNs?: number;
  /** The host's wait in every round, and which fraction of the part's time does not hide behind it. @default {none} */
  readonly wait?: Readonly<Record<"waitNs" | "starvation", number>>;
}

/** What a part does in a round. */
export interface PartWork {
  readonly steps: number;
  readonly updates: number;
  /** Ghost zones included. */
  readonly cells: number;
  readonly exchange: ExchangeCost;
}

/** Times of a part's round, in nanoseconds. */
export interface PartRound {
  readonly computeNs: number;
  readonly exchangeNs: number;
  /** Both, or the host's wait where that is longer. */
  readonly roundNs: number;
}

export interface PredictedPlan {
  readonly plan: RankPlan;
  /** The slowest part's. */
  readonly round: PartRound;
  /** Time of one step in a run of the problem's steps, whose last round may be shorter. */
  readonly stepNs: number;
}

/** R that are measured, the first of them, and the largest that is predicted. */
export const PERIODS: readonly number[] = [1, 4, 16, 64], FIRST_PERIOD = 4, LONGEST_PERIOD = 64;
/** The step time of the largest R that was measured, over the fastest's, from which larger ones are not. */
const RISEN = 1.2;

/** R that are predicted. */
const PREDICTED = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64];

/** The fastest; undefined where none has a finite time. */
export function fastestOf<T extends { readonly stepNs: number }>(tried: readonly T[]): T | undefined {
  return tried.reduce<T | undefined>(
    (best, one) => one.stepNs < (best?.stepNs ?? Infinity) ? one : best,
    undefined,
  );
}

/**
 * Whether no larger R (`direction` 1), or no smaller one, can be the fastest: by Eq. 7 the time of a step first falls with
 * R, and then rises.
 */
export function hasRisen(
  tried: readonly { readonly exchangeEvery: number; readonly stepNs: number }[],
  direction: 1 | -1 = 1,
): boolean {
  const outermost = Math.max(...tried.map(({ exchangeEvery }) => direction * exchangeEvery));
  const its = fastestOf(tried.filter(({ exchangeEvery }) => direction * exchangeEvery === outermost));
  return (its?.stepNs ?? Infinity) > RISEN * (fastestOf(tried)?.stepNs ?? Infinity);
}

/** Time of a cell update in rounds of a number of steps, interpolated between the rounds that were measured. */
export function updateNs(
  { updates, shapes }: Pick<PartCosts, "updates" | "shapes">,
  { exchangeEvery, parts }: Pick<RankPlan, "exchangeEvery" | "parts">,
  steps: number = exchangeEvery,
): number {
  const factor = shapes[parts.join("x")] ?? 1, above = updates.findIndex((update) => update.steps >= steps);
  if (above <= 0) return factor * updates.at(above)!.ns;
  const [low, high] = [updates[above - 1]!, updates[above]!];
  const part = Math.log(steps / low.steps) / Math.log(high.steps / low.steps);
  return factor * (low.ns + part * (high.ns - low.ns));
}

/**
 * Work of a part in a round of R steps, or of fewer: its ghost zones stay as wide as R makes them.
 *
 * @param shrinks whether step i leaves out i reaches along x at each ghost zone (Eq. 2), or each computes all (Eq. 3)
 */
export function workOf(
  problem: Problem,
  plan: RankPlan,
  { number, shrinks, steps = plan.exchangeEvery }: {
    readonly number: number;
    readonly shrinks: boolean;
    readonly steps?: number | undefined;
  },
): PartWork {
  // what parts of one rank exchange stays on its device
  const isFar = (part: number): boolean => ownerOf(plan, part) !== ownerOf(plan, number);
  const part = partOfRank(problem, plan, number), { grid, grid: [nx, ny, nz], before, after } = part;
  const ends = Number(before[0] > 0) + Number(after[0] > 0);
  const lost = shrinks ? ends * stepReach(problem.stencil.update).x * (steps + 1) / 2 : 0;
  const { bytes } = precisionOf(problem.stencil.update);
  const axes = exchangesOf(problem, plan, part).filter((sides) => sides.some(({ rank }) => isFar(rank)));
  const boxes = axes.flat().flatMap(({ rank, send }) => isFar(rank) ? send : []);
  const sum = (of: (box: Box) => number): number => boxes.reduce((total, box) => total + of(box), 0);
  return {
    steps,
    updates: steps * (nx - lost) * ny * nz,
    cells: cellsOf(grid),
    exchange: [axes.length, sum((box) => bytes * valuesIn(box)), sum((box) => valuesIn(box) / box.size[2])],
  };
}

/**
 * Times of each part in a round of R steps, or of fewer.
 *
 * @param costs of each part, in turn if there are fewer; of one for all that are alike only a part with as many
 * neighbours as any is predicted
 */
export function predictRound(
  problem: Problem,
  plan: RankPlan,
  costs: readonly PartCosts[],
  steps?: number,
): PartRound[] {
  const { parts: [px, py, pz], extents } = plan;
  const middle = (Math.floor(px / 2) * py + Math.floor(py / 2)) * pz + Math.floor(pz / 2);
  const fine = turnsOf(problem, plan) ?? plan;
  return (costs.length === 1 ? [middle] : [...extents.keys()]).map((rank): PartRound => {
    const cost = costs[rank % costs.length]!, { stepNs = 0, passNs = 0, wait } = cost;
    const parts = (fine === plan ? [rank] : partsOfRank(fine, rank)).map((number) => {
      const work = workOf(problem, fine, { number, shrinks: cost.shrinks, steps });
      const computeNs = updateNs(cost, plan, steps) * work.updates + stepNs * work.steps +
        passNs * work.cells;
      return { computeNs, exchangeNs: cost.exchange.reduce((sum, ns, i) => sum + ns * work.exchange[i]!, 0) };
    });
    const [computeNs, exchangeNs] = (["computeNs", "exchangeNs"] as const).map((name) =>
      parts.reduce((sum, part) => sum + part[name], 0)
    ) as [number, number];
    // each of two parts that take turns is computed, then its cells travel, while the other one is computed
    const busyNs = Math.max(computeNs, ...parts.map((part) => part.computeNs + part.exchangeNs));
    const roundNs = wait ? Math.max(busyNs, wait.waitNs + wait.starvation * busyNs) : busyNs;
    return { computeNs, exchangeNs, roundNs };
  });
}

/** Predicted time of a plan; `costs` as for {@linkcode predictRound}. */
export function predictPlan(problem: Problem, plan: RankPlan, costs: readonly PartCosts[]): PredictedPlan {
  const { steps } = problem, { exchangeEvery } = plan, last = steps % exchangeEvery;
  const slowest = (steps: number): PartRound =>
    predictRound(problem, plan, costs, steps).reduce((a, b) => b.roundNs > a.roundNs ? b : a);
  const round = slowest(exchangeEvery), lastNs = last > 0 ? slowest(last).roundNs : 0;
  return { plan, round, stepNs: (Math.floor(steps / exchangeEvery) * round.roundNs + lastNs) / steps };
}

/** Rates that differ less than measurements of one device do are taken as equal. */
const ALIKE = 0.1;

/**
 * The plan that should be fastest; undefined where none fits.
 *
 * @param wanted what is given and not to be chosen; `alike`: by which fraction rates must differ to count as unequal
 */
export function bestPlan(
  problem: Problem,
  count: number,
  costs: readonly PartCosts[],
  wanted: {
    readonly parts?: Parts | undefined;
    readonly exchangeEvery?: number | undefined;
    readonly alike?: number;
    /** Whether ranks may compute in turns: see {@linkcode RankPlan.inTurns}. @default {false} */
    readonly mayTurn?: boolean;
  } = {},
): PredictedPlan | undefined {
  // a part alone has nobody to exchange with
  const periods = count === 1
    ? [problem.steps]
    : wanted.exchangeEvery === undefined
    ? PREDICTED.filter((period) => period === 1 || period <= problem.steps)
    : [wanted.exchangeEvery];
  const ofEach = Array.from({ length: count }, (_, number) => costs[number % costs.length]!);
  let best: PredictedPlan | undefined;
  for (const parts of wanted.parts ? [wanted.parts] : arrangements(count)) {
    for (const exchangeEvery of periods) {
      const plan = evenPlan(problem, { parts, exchangeEvery, alike: wanted.alike ?? ALIKE }, ofEach);
      if (plan === undefined) break; // a longer round needs wider ghost zones
      const inTurns = { ...plan, inTurns: true }, isRow = wanted.mayTurn && rowOf(plan) !== undefined;
      for (const one of isRow && turnsOf(problem, inTurns) ? [plan, inTurns] : [plan]) {
        const predicted = predictPlan(problem, one, costs);
        if (best === undefined || predicted.stepNs < best.stepNs) best = predicted;
      }
    }
  }
  return best;
}

/** The plan in which all parts should be busy equally long (Eq. 8), if their rates differ. */
function evenPlan(
  problem: Problem,
  { parts, exchangeEvery, alike }: Pick<RankPlan, "parts" | "exchangeEvery"> & { readonly alike: number },
  costs: readonly PartCosts[],
): RankPlan | undefined {
  const isRow = parts[0] === costs.length,
    rates = costs.map((cost) => 1 / updateNs(cost, { exchangeEvery, parts }));
  const isAlike = Math.min(...rates) > (1 - alike) * Math.max(...rates);
  const equal = costs.map(() => 1);
  const plan = planOf(problem, { parts, exchangeEvery, rates: isAlike || isRow ? equal : rates });
  if (plan === undefined || isAlike || !isRow) return plan;
  const rounds = predictRound(problem, plan, costs);
  const lines = costs.map((cost, number): Line => {
    const { own: { size: [slices] }, grid: [, ny, nz] } = partOfRank(problem, plan, number);
    const perCell = exchangeEvery * updateNs(cost, plan) + (cost.passNs ?? 0), nsPerSlice = perCell * ny * nz;
    const { computeNs, exchangeNs } = rounds[number]!;
    return { nsPerSlice, offsetNs: computeNs + exchangeNs - nsPerSlice * slices };
  });
  const slices = evenSlices(problem.grid[0], lines, thinnestPart(problem, exchangeEvery));
  return planAlongX(problem, slices, exchangeEvery);
}
