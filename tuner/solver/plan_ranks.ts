import { cellsOf, describeGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { arrangements, type Parts } from "../../models/decomposition.ts";
import { fitRanks, type PlanTimes } from "../../models/rank_fit.ts";
import { partOfRank, planOf, type RankPlan } from "../../models/rank_part.ts";
import {
  bestPlan,
  fastestOf,
  FIRST_PERIOD,
  LONGEST_PERIOD,
  type PartCosts,
  PERIODS,
  type PredictedPlan,
  predictPlan,
  workOf,
} from "../../models/round.ts";
import type { Configuration } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import { refuserOf } from "../problem/request_error.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import { searchPlans, timeRounds } from "../measuring/search_plans.ts";
import { isFailure } from "../devices/run_failure.ts";
import { uses } from "../shares.ts";
import type { RankDevice, World } from "../devices/world.ts";
import { problemHere, SharedField } from "../devices/shared/shared_field.ts";
import { agree } from "./agree.ts";

/** What is not to be chosen, but given. */
export interface RankWishes {
  /** Parts along x, y, z. @default {those predicted to be fastest} */
  readonly parts?: Parts | undefined;
  /** R. @default {the one predicted to be fastest} */
  readonly exchangeEvery?: number | undefined;
}

/** What a plan is measured for. */
interface Measuring {
  readonly choose: (part: Problem) => Configuration;
  /** The part of the problem's run that measuring may take, but for a first plan. @default {as long as it takes} */
  readonly timePart?: number | undefined;
}

/** A plan, what it should take, and the coefficients behind it: each rank's. */
export interface MeasuredPlan extends PredictedPlan {
  readonly costs: readonly PartCosts[];
  /** What a step took in the measurement. */
  readonly measuredNs: number;
}

/** Decompositions that are measured with the first R: those with the smallest parts, ghost zones included. */
const SHAPES = 3;

/** Rounds of parts in turns that are timed together: nothing hides at the end. */
const LEAST_IN_TURNS = 8;

/** Measurements of a plan fit into the time that there is for it: a batch's part. */
const BATCH_PART = 1 / 4;

/**
 * Measures rounds of a few plans on all ranks at the same time, fits the model to them, and finds the decomposition and
 * R that should be fastest. That plan is measured, too: the fastest measured one is chosen, among fewer where time is
 * over. All ranks get the same.
 *
 * @throws {RequestError} if no plan fits
 * @throws {RunFailure} if the devices allow none of those that are measured
 */
export async function planRanks(
  world: World,
  device: RankDevice,
  problem: Problem,
  { choose, timePart = Infinity, ...wishes }: RankWishes & Measuring,
): Promise<MeasuredPlan> {
  const beganMs = performance.now();
  checkProblem("share the grid", problem);
  checkParts(problem, world.size, wishes);
  const isAlone = world.size === 1, { steps } = problem;
  const plansAt = (exchangeEvery: number, parts = wishes.parts) =>
    plansOf(problem, world.size, { parts, exchangeEvery });
  const ofSteps = Math.max(1, Math.ceil(timePart * steps));
  let first = wishes.exchangeEvery ??
    Math.min(steps, isAlone ? Math.min(LONGEST_PERIOD, ofSteps) : FIRST_PERIOD);
  while (plansAt(first).length === 0) first--;
  const shrinks = await world.shareAll(device.gpu === undefined);
  let refused: unknown, mayTurn: boolean | undefined;
  const timed = await searchPlans<RankPlan, PlanTimes>({
    first: plansAt(first).slice(0, SHAPES),
    periods: isAlone || wishes.exchangeEvery ? [] : PERIODS.filter((period) => period <= steps),
    planAt: (period, timed) =>
      timed.some(({ exchangeEvery }) => exchangeEvery === period)
        ? undefined
        : plansAt(period, fastestOf(timed)!.plan.parts)[0],
    async propose(timed) {
      if (isAlone) return undefined;
      if (mayTurn === undefined) {
        const isGpuAlone = device.gpu !== undefined && device.deviceMemory === undefined &&
          !uses(choose(problemHere(problem, { world, plan: timed[0]!.plan })).share, "cpu");
        mayTurn = (await world.shareAll(isGpuAlone)).every(Boolean);
      }
      const { plan } = bestPlan(problem, world.size, fitRanks(problem, timed, shrinks), {
        ...wishes,
        mayTurn,
      })!;
      return timed.some((times) => JSON.stringify(times.plan) === JSON.stringify(plan)) ? undefined : plan;
    },
    measure: (plan) =>
      measurePlan(world, device, problem, { plan, choose, timePart }).catch((error) => {
        if (!isFailure(error) || error.reason !== "limits") throw error;
        refused = error;
        return undefined;
      }),
    async isOver(timed) {
      const spentNs = await world.most((performance.now() - beganMs) * 1e6);
      return timed.length > 0 && spentNs > timePart * steps * fastestOf(timed)!.stepNs;
    },
  });
  if (timed.length === 0) throw refused;
  const costs = fitRanks(problem, timed, shrinks), fastest = fastestOf(timed)!;
  // a rank alone has one round, whose steps take the measured plan's did
  const { plan } = isAlone ? bestPlan(problem, 1, costs)! : fastest,
    predicted = predictPlan(problem, plan, costs);
  return { ...predicted, costs, measuredNs: isAlone ? predicted.stepNs : fastest.stepNs };
}

/** The plan of a rank alone, of which nothing is measured; without a rate in cells per second its times are NaN. */
export function planAlone(problem: Problem, { gpu }: RankDevice, rate = NaN): MeasuredPlan {
  const costsAt = (ns: number): PartCosts[] => [
    { updates: [{ steps: problem.steps, ns }], shapes: {}, shrinks: gpu === undefined, exchange: [0, 0, 0] },
  ];
  const { plan } = bestPlan(problem, 1, costsAt(1))!, costs = costsAt(1e9 / rate);
  const predicted = predictPlan(problem, plan, costs);
  return { ...predicted, costs, measuredNs: predicted.stepNs };
}

/**
 * Time of a step on rank 0 alone, where that is less than a plan's: by a measurement, made only if its cell updates, in
 * rounds as short as those of its part, suggest it. Undefined where all ranks together are faster, or it cannot hold the
 * grid. Every rank calls it and gets the same.
 */
export async function fasterAlone(
  world: World,
  device: RankDevice,
  problem: Problem,
  { costs: [own], measuredNs: stepNs, ...measuring }: Measuring & Pick<MeasuredPlan, "costs" | "measuredNs">,
): Promise<number | undefined> {
  const updateNs = Math.min(...own!.updates.map(({ ns }) => ns));
  if (world.size === 1 || updateNs * cellsOf(problem.grid) >= stepNs) return undefined;
  const first = await world.first(1);
  const plan = first && await planRanks(first, device, problem, measuring).catch((error) => {
    if (isFailure(error) && error.reason === "device-lost") throw error;
  });
  await first?.close();
  const aloneNs = await world.most(plan?.measuredNs ?? 0);
  return aloneNs > 0 && aloneNs < stepNs ? aloneNs : undefined;
}

/** Measures rounds of a plan. Every rank calls it and gets the same. */
export async function measurePlan(
  world: World,
  device: RankDevice,
  problem: Problem,
  { plan, choose, timePart = Infinity }: Measuring & { readonly plan: RankPlan },
): Promise<PlanTimes> {
  const configuration = await agree(world, () => choose(problemHere(problem, { world, plan })));
  using field = await openTogether(problem, { ...device, configuration }, { world, plan });
  await field.initialise({ kind: problem.stencil.initialField ?? "noise", seed: 1 });
  const { exchangeEvery } = plan, number = world.rank, shrinks = device.gpu === undefined;
  const most = Math.floor(BATCH_PART * timePart * problem.steps / exchangeEvery);
  const times = await timeRounds((rounds) => field.run(rounds * exchangeEvery), {
    world,
    most,
    least: plan.inTurns ? LEAST_IN_TURNS : 1,
  });
  const { wallNs } = times, computeNs = Math.max(times.computeNs, times.gpuNs);
  return {
    plan,
    exchangeEvery,
    stepNs: wallNs / exchangeEvery,
    exchangeNs: wallNs - await world.most(computeNs),
    updateNs: await world.shareAll(computeNs / workOf(problem, plan, { number, shrinks }).updates),
  };
}

/** Opens parts on all ranks or on none. */
export async function openTogether(...all: Parameters<typeof SharedField.create>): Promise<SharedField> {
  const { world } = all[2]!;
  return await agree(world, () => SharedField.create(...all), (field) => field[Symbol.dispose]());
}

/** Plans of equal parts, those with the smallest parts first. */
function plansOf(
  problem: Problem,
  ranks: number,
  { parts, exchangeEvery }: { readonly parts: Parts | undefined; readonly exchangeEvery: number },
): RankPlan[] {
  const rates = new Array<number>(ranks).fill(1);
  const plans = (parts ? [parts] : arrangements(ranks)).flatMap((parts) =>
    planOf(problem, { parts, exchangeEvery, rates }) ?? []
  );
  const cellsOfLast = (plan: RankPlan): number => cellsOf(partOfRank(problem, plan, ranks - 1).grid);
  return plans.toSorted((a, b) => cellsOfLast(a) - cellsOfLast(b));
}

/**
 * Refuses parts that cannot hold what they exchange.
 *
 * @throws {RequestError} saying how large the grid is
 */
export function checkParts(problem: Problem, ranks: number, { parts, exchangeEvery = 1 }: RankWishes): void {
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    refuserOf("exchange")("wanted a whole number of steps, at least 1", `${exchangeEvery}`);
  }
  const own = parts && ownOf(problem.stencil, parts).join("x"), forAll = `for ${formatPlural(ranks, "rank")}`;
  if (parts !== undefined && cellsOf(parts) !== ranks) {
    refuserOf("cut the grid")("wanted as many parts as there are ranks", `${own} ${forAll}`);
  }
  if (plansOf(problem, ranks, { parts, exchangeEvery }).length > 0) return;
  const cut = own === undefined ? forAll : `into ${own} parts`;
  const zones = `its ghost zones of ${formatPlural(exchangeEvery, "step")}`;
  refuserOf(`cut the grid ${cut}`)(`wanted each part at least as thick as ${zones}`, describeGrid(problem));
}
