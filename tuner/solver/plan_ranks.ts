import { cellsOf, describeGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { arrangements, type Parts } from "../../models/decomposition.ts";
import { fitCosts } from "../../models/least_squares.ts";
import { partOfRank, planOf, type RankPlan } from "../../models/rank_part.ts";
import {
  bestPlan,
  type ExchangeCost,
  fastestOf,
  hasRisen,
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
import { median } from "../measuring/statistics.ts";
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

/** What a plan took. */
export interface PlanTimes {
  readonly plan: RankPlan;
  /** Time of a step by the host's clock. */
  readonly stepNs: number;
  /** What a round takes besides the slowest rank's computing. */
  readonly exchangeNs: number;
  /** Time of a cell update, of each rank. */
  readonly updateNs: readonly number[];
}

/** The R that is measured for several decompositions; the others are for the best of these, first the smaller ones. */
const FIRST_PERIOD = 4;

/** Decompositions that are measured: those with the smallest parts, ghost zones included. */
const SHAPES = 3;

/**
 * Each plan warms up, since workers' code is optimised while it runs; then batches are timed, and the median counts. Where
 * time is short, they are shorter, or a single round.
 */
const WARM_UP_MS = 60, BATCH_MS = 60, BATCHES = 3;

/** Rounds of parts in turns that are timed together: nothing hides at the end. */
const LEAST_IN_TURNS = 8;

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
  const isAlone = world.size === 1, { parts, exchangeEvery } = wishes;
  const ofSteps = Math.max(1, Math.ceil(timePart * problem.steps));
  let first = exchangeEvery ??
    Math.min(problem.steps, isAlone ? Math.min(PERIODS.at(-1)!, ofSteps) : FIRST_PERIOD);
  while (plansOf(problem, world.size, { parts, exchangeEvery: first }).length === 0) first--;
  const timed: PlanTimes[] = [];
  const isOver = async (): Promise<boolean> => {
    const spentNs = await world.most((performance.now() - beganMs) * 1e6);
    return timed.length > 0 && spentNs > timePart * problem.steps * fastestOf(timed)!.stepNs;
  };
  let refused: unknown;
  const measure = async (plan: RankPlan): Promise<void> => {
    try {
      timed.push(await measurePlan(world, device, problem, { plan, choose, timePart }));
    } catch (error) {
      if (!isFailure(error) || error.reason !== "limits") throw error;
      refused = error;
    }
  };
  for (const plan of plansOf(problem, world.size, { parts, exchangeEvery: first }).slice(0, SHAPES)) {
    if (await isOver()) break;
    await measure(plan);
  }
  if (timed.length === 0) throw refused;
  const shape = fastestOf(timed)!.plan.parts;
  const others = isAlone || exchangeEvery !== undefined ? [] : PERIODS.filter((steps) => steps !== first);
  for (const steps of others) {
    const [plan] = plansOf(problem, world.size, { parts: shape, exchangeEvery: steps });
    if (plan === undefined || steps > problem.steps) continue;
    const isLate = steps > first && hasRisen(timed.map(({ plan, stepNs }) => ({ ...plan, stepNs })));
    if (isLate || await isOver()) break;
    await measure(plan);
  }
  const shrinks = await world.shareAll(device.gpu === undefined), [{ plan: tried }] = timed as [PlanTimes];
  const isGpuAlone = device.gpu !== undefined && device.deviceMemory === undefined &&
    !uses(choose(problemHere(problem, { world, plan: tried })).share, "cpu");
  const mayTurn = (await world.shareAll(isGpuAlone)).every(Boolean);
  const costsOf = () => fitTimes(problem, timed, { shape, shrinks });
  const { plan } = bestPlan(problem, world.size, costsOf(), { ...wishes, mayTurn })!;
  // a rank alone has one round, whose steps take the measured plan's did
  if (isAlone) {
    const costs = costsOf(), predicted = predictPlan(problem, plan, costs);
    return { ...predicted, costs, measuredNs: predicted.stepNs };
  }
  if (!timed.some((times) => JSON.stringify(times.plan) === JSON.stringify(plan)) && !await isOver()) {
    await measure(plan);
  }
  const costs = costsOf(), fastest = fastestOf(timed)!;
  return { ...predictPlan(problem, fastest.plan, costs), costs, measuredNs: fastest.stepNs };
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
  const { exchangeEvery } = plan;
  const { updates } = workOf(problem, plan, { number: world.rank, shrinks: device.gpu === undefined });
  const timesOf = async (rounds: number) => {
    const { wallNs } = await field.run(rounds * exchangeEvery);
    return { wallNs: wallNs / rounds, computeNs: field.deviceNs / rounds };
  };
  let rounds = 1, roundNs = 0;
  for (let spentMs = 0; spentMs < WARM_UP_MS; rounds *= 2) {
    const { wallNs } = await timesOf(rounds);
    roundNs = await world.most(wallNs);
    spentMs += rounds * roundNs * 1e-6;
  }
  // ranks do not end a reduction at the same time: a round more, and they are in step
  await timesOf(1);
  const most = Math.floor(timePart * problem.steps / exchangeEvery / (1 + BATCHES));
  const least = plan.inTurns ? LEAST_IN_TURNS : 1;
  const count = Math.max(least, Math.min(Math.ceil(BATCH_MS * 1e6 / roundNs), most));
  const batches = await Array.fromAsync({ length: most < least ? 1 : BATCHES }, () => timesOf(count));
  const computeNs = median(batches.map((one) => one.computeNs));
  const wallNs = await world.most(median(batches.map((one) => one.wallNs)));
  return {
    plan,
    stepNs: wallNs / exchangeEvery,
    exchangeNs: wallNs - await world.most(computeNs),
    updateNs: await world.shareAll(computeNs / updates),
  };
}

/** Opens parts on all ranks or on none. */
export async function openTogether(...all: Parameters<typeof SharedField.create>): Promise<SharedField> {
  const { world } = all[2]!;
  return await agree(world, () => SharedField.create(...all), (field) => field[Symbol.dispose]());
}

/** Each rank's coefficients; R count in parts of one shape, others by how much longer a cell update takes in them. */
function fitTimes(
  problem: Problem,
  timed: readonly PlanTimes[],
  { shape, shrinks }: { readonly shape: Parts; readonly shrinks: readonly boolean[] },
): PartCosts[] {
  const plain = timed.filter(({ plan }) => !plan.inTurns);
  const samples = plain.flatMap(({ plan, exchangeNs }) => {
    const sent = shrinks.map((shrinks, number) => workOf(problem, plan, { number, shrinks }).exchange);
    const [most] = sent.toSorted((a, b) => b[1] - a[1]);
    return most![0] === 0 ? [] : [{ work: most!, time: Math.max(1, exchangeNs) }];
  });
  const coefficients = samples.length === 0 ? [0, 0, 0] : fitCosts(samples).coefficients;
  const exchange = coefficients as unknown as ExchangeCost;
  const has = (times: PlanTimes, parts: Parts): boolean => `${times.plan.parts}` === `${parts}`;
  return shrinks.map((shrinks, rank): PartCosts => {
    const curve = new Map(
      plain.filter((times) => has(times, shape))
        .map(({ plan, updateNs }) => [plan.exchangeEvery, updateNs[rank]!]),
    );
    const updates = [...curve].map(([steps, ns]) => ({ steps, ns })).sort((a, b) => a.steps - b.steps);
    const shapes = plain.filter((times) => !has(times, shape)).map(({ plan, updateNs }) => {
      const usual = curve.get(plan.exchangeEvery);
      return [plan.parts.join("x"), usual === undefined ? 1 : updateNs[rank]! / usual] as const;
    });
    return { updates, shapes: Object.fromEntries(shapes), shrinks, exchange };
  });
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
