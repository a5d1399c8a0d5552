import type { Problem } from "../kernels/stencils/stencil.ts";
import { fitCosts } from "./least_squares.ts";
import type { RankPlan } from "./rank_part.ts";
import { type ExchangeCost, fastestOf, type PartCosts, updateNs, workOf } from "./round.ts";

/** What a plan took: a step by the host's clock. */
export interface PlanTimes {
  readonly plan: RankPlan;
  readonly exchangeEvery: number;
  readonly stepNs: number;
  /** What a round takes besides the slowest rank's computing. */
  readonly exchangeNs: number;
  /** Time of a cell update, of each rank. */
  readonly updateNs: readonly number[];
}

/**
 * Fits each rank's coefficients to plans that were measured, the first of them with one R. R count in parts of the shape that
 * was the fastest of these, others by how much longer a cell update takes in them.
 *
 * @param shrinks of each rank, as of its {@linkcode PartCosts}
 */
export function fitRanks(
  problem: Problem,
  timed: readonly PlanTimes[],
  shrinks: readonly boolean[],
): PartCosts[] {
  const plain = timed.filter(({ plan }) => !plan.inTurns), [{ exchangeEvery: first }] = plain as [PlanTimes];
  const shape = `${fastestOf(plain.filter(({ exchangeEvery }) => exchangeEvery === first))!.plan.parts}`;
  const samples = plain.flatMap(({ plan, exchangeNs }) => {
    const sent = shrinks.map((shrinks, number) => workOf(problem, plan, { number, shrinks }).exchange);
    const [most] = sent.toSorted((a, b) => b[1] - a[1]);
    return most![0] === 0 ? [] : [{ work: most!, time: Math.max(1, exchangeNs) }];
  });
  const coefficients = samples.length === 0 ? [0, 0, 0] : fitCosts(samples).coefficients;
  const exchange = coefficients as unknown as ExchangeCost;
  const usual = plain.filter(({ plan }) => `${plan.parts}` === shape),
    others = plain.filter((one) => !usual.includes(one));
  return shrinks.map((shrinks, rank): PartCosts => {
    const curve = new Map(usual.map(({ exchangeEvery, updateNs }) => [exchangeEvery, updateNs[rank]!]));
    const updates = [...curve].map(([steps, ns]) => ({ steps, ns })).sort((a, b) => a.steps - b.steps);
    const shapes = others.map(({ plan, updateNs: { [rank]: ns } }) =>
      [plan.parts.join("x"), ns! / updateNs({ updates, shapes: {} }, plan)] as const
    );
    return { updates, shapes: Object.fromEntries(shapes), shrinks, exchange };
  });
}
