import { axesOf, type Grid, type Problem } from "../../kernels/stencils/stencil.ts";
import { arrangements, gridOf, type Parts } from "../../models/decomposition.ts";
import type { RankPlan } from "../../models/rank_part.ts";
import { bestPlan, LONGEST_PERIOD, type PartCosts } from "../../models/round.ts";
import type { Configuration } from "../configuration.ts";
import { measurePlan, planRanks } from "../solver/plan_ranks.ts";
import type { RankDevice, World } from "../devices/world.ts";

/** A number of ranks with the plan that should be fastest, and what it takes. */
export interface ScalingPoint {
  readonly ranks: number;
  readonly grid: Grid;
  readonly parts: Parts;
  readonly exchangeEvery: number;
  readonly predictedNs: number;
  /** Time of a step by the host's clock, of the slowest rank; null where there are fewer ranks. */
  readonly measuredNs: number | null;
}

export interface Scaling {
  /** Each measured rank's coefficients, of the weak problem on all ranks. */
  readonly costs: readonly PartCosts[];
  /** The weak problem on all ranks, over R. */
  readonly periods: readonly ScalingPoint[];
  /** The grid grows with the ranks. */
  readonly weak: readonly ScalingPoint[];
  /** The grid stays. */
  readonly strong: readonly ScalingPoint[];
}

/** Ranks, and R, that are predicted: powers of two, of ranks as far as the paper went. */
const RANKS = [...Array.from({ length: 10 }, (_, i) => 2 ** i), 1000];

/**
 * Fits the model's coefficients on all ranks of a world, and predicts from them alone how long a step takes on 1 to
 * 1,000 ranks; measured as far as there are ranks. Every rank calls it and gets the same.
 *
 * @param problem the grid of the strong problem, and of one rank in the weak one
 */
export async function measureScaling(
  world: World,
  device: RankDevice,
  problem: Problem,
  choose: (part: Problem) => Configuration,
): Promise<Scaling> {
  const all = [...new Set([...RANKS, world.size])].sort((a, b) => a - b);
  const { costs } = await planRanks(world, device, grown(problem, world.size), { choose });
  // more ranks than there are: each as slow as the slowest of these
  const slowest = costs.reduce((a, b) => b.updates[0]!.ns > a.updates[0]!.ns ? b : a);
  /** Time of a step on the first ranks; the others wait. */
  const measure = async (whole: Problem, plan: RankPlan): Promise<number> => {
    const part = await world.first(plan.extents.length);
    const times = part && await measurePlan(part, device, whole, { plan, choose });
    await part?.close();
    return await world.most(times?.stepNs ?? 0);
  };
  const pointOf = async (whole: Problem, ranks: number, exchangeEvery?: number): Promise<ScalingPoint[]> => {
    const best = bestPlan(whole, ranks, ranks > world.size ? [slowest] : costs, { exchangeEvery });
    if (best === undefined) return [];
    const measuredNs = ranks > world.size ? null : await measure(whole, best.plan);
    const { plan: { parts, exchangeEvery: period }, round } = best;
    // of whole rounds, as it is measured
    const predictedNs = round.roundNs / period;
    return [{ ranks, grid: whole.grid, parts, exchangeEvery: period, predictedNs, measuredNs }];
  };
  const points = async <T>(of: readonly T[], make: (one: T) => Promise<ScalingPoint[]>) =>
    (await Array.fromAsync(of, make)).flat();
  const overR = RANKS.filter((period) => period <= Math.min(LONGEST_PERIOD, problem.steps));
  return {
    costs,
    periods: await points(overR, (period) => pointOf(grown(problem, world.size), world.size, period)),
    weak: await points(all, (ranks) => pointOf(grown(problem, ranks), ranks)),
    strong: await points(all, (ranks) => pointOf(problem, ranks)),
  };
}

/** A grid that is as many times larger as there are ranks, as near to a cube of ranks as their number allows. */
function grown(problem: Problem, ranks: number): Problem {
  const axes = axesOf(problem.stencil);
  const spread = (parts: Parts): number => {
    const own = axes.map((axis) => parts[axis]);
    // what lies along no axis of the equation is not cut
    return own.reduce((one, other) => one * other) < ranks ? Infinity : Math.max(...own) / Math.min(...own);
  };
  // along x first, whose parts are pieces of memory
  const parts = arrangements(ranks).toReversed().reduce((best, parts) =>
    spread(parts) < spread(best) ? parts : best
  );
  return { ...problem, grid: gridOf((axis) => problem.grid[axis] * parts[axis]) };
}
