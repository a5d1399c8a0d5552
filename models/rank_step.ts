/**
 * Time of a step of a grid that several ranks share, as a function of R and the decomposition: Eq. 1–7 of B2R for parts
 * that need not be cubes. Per round of R steps a rank computes (Eq. 2, 3), then exchanges along each axis that is cut,
 * one after another: it copies what it sends and receives between its device and the host (Eq. 6), and sends and
 * receives at the same time (Eq. 5). The slowest rank sets the time.
 *
 * Two differences from the paper. The time of a cell update is measured for several R instead of taken as constant: a
 * torre of few steps is slower than a long one. And Eq. 5 and 6 are one straight line: only boxes are copied to the
 * host, so that copies and messages grow with the same bytes.
 *
 * @module
 */
import type { Problem } from "../kernels/stencils/stencil.ts";
import { stepReach } from "../kernels/update.ts";
import { arrangements, type Parts } from "./decomposition.ts";
import {
  type Box,
  exchangesOf,
  partOfRank,
  planOf,
  type RankPart,
  type RankPlan,
  valuesIn,
} from "./rank_part.ts";

/** What an exchange consists of, or takes: axes (the latency), bytes (the inverse of the bandwidth) and rows. */
export type ExchangeCost = readonly [axes: number, bytes: number, rows: number];

/** A rank's fitted coefficients. */
export interface RankCosts {
  /** Time of a cell update in rounds of `steps` steps, in order of the steps. */
  readonly updates: readonly { readonly steps: number; readonly ns: number }[];
  /** How much longer it takes in parts of other shapes: a factor by `XxYxZ`. */
  readonly shapes: Readonly<Record<string, number>>;
  /** Whether the device leaves out what becomes invalid along x (Eq. 2), or computes all (Eq. 3). */
  readonly shrinks: boolean;
  /** Copies and messages: time of each axis, of a byte sent, and of each row of cells that lie together. */
  readonly exchange: ExchangeCost;
}

export interface RankRound {
  readonly computeNs: number;
  readonly exchangeNs: number;
}

export interface PredictedPlan {
  readonly plan: RankPlan;
  readonly round: RankRound;
  /** Time of one step: of the slowest rank's round divided by R. */
  readonly stepNs: number;
}

/** R that are looked at. */
const PERIODS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64];

/** Time of a cell update in rounds of R steps, between those that were measured. */
export function updateNs(
  { updates, shapes }: Pick<RankCosts, "updates" | "shapes">,
  { exchangeEvery: steps, parts }: Pick<RankPlan, "exchangeEvery" | "parts">,
): number {
  const factor = shapes[parts.join("x")] ?? 1, above = updates.findIndex((update) => update.steps >= steps);
  if (above <= 0) return factor * updates.at(above)!.ns;
  const [low, high] = [updates[above - 1]!, updates[above]!];
  const part = Math.log(steps / low.steps) / Math.log(high.steps / low.steps);
  return factor * (low.ns + part * (high.ns - low.ns));
}

/**
 * Cell updates of a round of `steps` steps.
 *
 * @param shrinks whether step i leaves out i reaches along x at each ghost zone (Eq. 2), or each computes all (Eq. 3)
 */
export function updatesOf(problem: Problem, part: RankPart, steps: number, shrinks: boolean): number {
  const { grid: [nx, ny, nz], before, after } = part;
  const ends = Number(before[0] > 0) + Number(after[0] > 0);
  const lost = shrinks ? ends * stepReach(problem.stencil.update).x * (steps + 1) / 2 : 0;
  return steps * (nx - lost) * ny * nz;
}

/** What a rank sends in a round: along how many axes, how many bytes, and rows. */
export function exchangeOf(problem: Problem, plan: RankPlan, part: RankPart): ExchangeCost {
  const all = exchangesOf(problem, plan, part).map((sides) => sides.flatMap(({ send }) => send));
  const sum = (of: (box: Box) => number): number => all.flat().reduce((total, box) => total + of(box), 0);
  return [all.length, sum((box) => 4 * valuesIn(box)), sum((box) => valuesIn(box) / box.size[2])];
}

/** Predicted time of a plan; `costs` are those of each rank, in turn if there are fewer; one for all that are alike. */
export function predictPlan(problem: Problem, plan: RankPlan, costs: readonly RankCosts[]): PredictedPlan {
  let slowest: RankRound = { computeNs: 0, exchangeNs: 0 };
  for (const rank of costs.length === 1 ? [middleOf(plan)] : plan.extents.keys()) {
    const part = partOfRank(problem, plan, rank), cost = costs[rank % costs.length]!;
    const work = exchangeOf(problem, plan, part);
    const round: RankRound = {
      computeNs: updateNs(cost, plan) * updatesOf(problem, part, plan.exchangeEvery, cost.shrinks),
      exchangeNs: cost.exchange.reduce((sum, ns, i) => sum + ns * work[i]!, 0),
    };
    if (sumOf(round) > sumOf(slowest)) slowest = round;
  }
  return { plan, round: slowest, stepNs: sumOf(slowest) / plan.exchangeEvery };
}

/** A rank with as many neighbours as any. */
function middleOf({ parts: [px, py, pz] }: RankPlan): number {
  return (Math.floor(px / 2) * py + Math.floor(py / 2)) * pz + Math.floor(pz / 2);
}

function sumOf({ computeNs, exchangeNs }: RankRound): number {
  return computeNs + exchangeNs;
}

/**
 * The plan that should be fastest; undefined where none fits.
 *
 * @param wanted what is given and not to be chosen
 */
export function bestPlan(
  problem: Problem,
  ranks: number,
  costs: readonly RankCosts[],
  wanted: { readonly parts?: Parts | undefined; readonly exchangeEvery?: number | undefined } = {},
): PredictedPlan | undefined {
  // a rank alone has nobody to exchange with
  const isAlone = ranks === 1;
  const periods = isAlone
    ? [problem.steps]
    : wanted.exchangeEvery === undefined
    ? PERIODS.filter((period) => period === 1 || period <= problem.steps)
    : [wanted.exchangeEvery];
  let best: PredictedPlan | undefined;
  for (const parts of wanted.parts ? [wanted.parts] : arrangements(ranks)) {
    for (const exchangeEvery of periods) {
      const rates = Array.from(
        { length: ranks },
        (_, rank) => 1 / updateNs(costs[rank % costs.length]!, { exchangeEvery, parts }),
      );
      const plan = planOf(problem, { parts, exchangeEvery, rates: evened(rates) });
      if (plan === undefined) break; // a longer round needs wider ghost zones
      const predicted = predictPlan(problem, plan, costs);
      if (best === undefined || predicted.stepNs < best.stepNs) best = predicted;
    }
  }
  return best;
}

/** Rates that differ no more than measurements of one device do are taken as equal. */
const ALIKE = 0.1;

function evened(rates: readonly number[]): readonly number[] {
  const most = Math.max(...rates);
  return Math.min(...rates) >= (1 - ALIKE) * most ? rates.map(() => most) : rates;
}
