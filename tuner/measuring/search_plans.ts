import { hasRisen } from "../../models/round.ts";
import type { SharedTimes } from "../devices/shared/shared_field.ts";
import { aloneWorld, type World } from "../devices/world.ts";
import { median } from "./statistics.ts";

/** R, and the time of a step that was measured with it. */
export interface Tried {
  readonly exchangeEvery: number;
  readonly stepNs: number;
}

/** What is searched: plans P, of ranks or of the devices of one process, and what is known of one that was measured, T. */
export interface PlanSearch<P extends Pick<Tried, "exchangeEvery">, T extends Tried> {
  /** Measured first, all of one R. */
  readonly first: readonly P[];
  /** R that are measured besides, in order. */
  readonly periods: readonly number[];
  /** What is measured next of an R, after what was tried; undefined where nothing is. */
  readonly planAt: (exchangeEvery: number, tried: readonly T[]) => P | undefined;
  /** What the cost model, fitted to what was measured, finds fastest; undefined if nothing new is. */
  readonly propose: (tried: readonly T[]) => P | undefined | Promise<P | undefined>;
  /** Nothing is known of what the devices refuse. */
  readonly measure: (plan: P) => Promise<T | undefined>;
  /** Whether to measure no more; asked before each plan. */
  readonly isOver: (tried: readonly T[], next: P) => boolean | Promise<boolean>;
}

/** Plans that the model proposes, one after another. */
export const PROPOSALS = 2;

/** Batches of rounds that are timed, and rounds before them: workers' code is optimised while it runs. */
const BATCHES = 3, BATCH_NS = 60e6, WARM_UP_NS = 60e6;

/**
 * The search for R and how a grid lies in parts: measures plans of one R, then larger and smaller R until a step of the
 * outermost clearly takes longer, since by Eq. 7 its time first falls with R and then rises. Then it measures what the
 * cost model proposes that is fitted to them. Ranks that search together must be given the same.
 *
 * @returns what was measured, in that order
 */
export async function searchPlans<P extends Pick<Tried, "exchangeEvery">, T extends Tried>(
  { first, periods, planAt, propose, measure, isOver }: PlanSearch<P, T>,
): Promise<T[]> {
  const tried: T[] = [];
  /** Measures a plan; returns whether the search goes on. */
  const tryPlan = async (plan: P): Promise<boolean> => {
    if (await isOver(tried, plan)) return false;
    const found = await measure(plan);
    if (found !== undefined) tried.push(found);
    return true;
  };
  /** The same with plans of an R, as long as something is learnt. */
  const tryPeriod = async (period: number): Promise<boolean> => {
    for (let known = -1; tried.length > known;) {
      const plan = planAt(period, tried);
      if (plan === undefined) break;
      known = tried.length;
      if (!await tryPlan(plan)) return false;
    }
    return true;
  };
  for (const plan of first) if (!await tryPlan(plan)) return tried;
  const [plan] = first;
  if (tried.length === 0 || !await tryPeriod(plan!.exchangeEvery)) return tried;
  for (const direction of [1, -1] as const) {
    const further = periods.filter((period) => direction * (period - plan!.exchangeEvery) > 0);
    for (const period of further.toSorted((a, b) => direction * (a - b))) {
      if (hasRisen(tried, direction)) break;
      if (!await tryPeriod(period)) return tried;
    }
  }
  for (let i = 0; i < PROPOSALS; i++) {
    const plan = await propose(tried);
    if (plan === undefined || !await tryPlan(plan) || !await tryPeriod(plan.exchangeEvery)) break;
  }
  return tried;
}

/**
 * Times rounds of a field, on all ranks at the same time, by medians of a few batches; by one where rounds are long, or time
 * is short.
 *
 * @param run advances it by rounds
 * @param least rounds of a batch, and `most`; `isLate`: whether a round must do
 * @returns times of a round: of this rank, `wallNs` of the slowest one
 */
export async function timeRounds(
  run: (rounds: number) => Promise<SharedTimes>,
  { world = aloneWorld(), least = 1, most = Infinity, isLate = () => false }: {
    readonly world?: World;
    readonly least?: number;
    readonly most?: number;
    readonly isLate?: () => boolean;
  } = {},
): Promise<SharedTimes> {
  let rounds = 1, roundNs = 0;
  for (let spentNs = 0; spentNs === 0 || (spentNs < WARM_UP_NS && !isLate()); rounds *= 2) {
    roundNs = await world.most((await run(rounds)).wallNs / rounds);
    spentNs += rounds * roundNs;
  }
  // ranks do not end a reduction at the same time: a round more, and they are in step
  if (world.size > 1) await run(1);
  const isShort = isLate() || most < least;
  const count = Math.max(least, isShort ? 1 : Math.min(Math.ceil(BATCH_NS / roundNs), most));
  const length = isShort || roundNs > BATCHES * BATCH_NS ? 1 : BATCHES;
  const batches = await Array.fromAsync({ length }, () => run(count));
  const ofRound = (name: keyof SharedTimes) => median(batches.map((times) => times[name])) / count;
  return {
    wallNs: await world.most(ofRound("wallNs")),
    timeNs: ofRound("timeNs"),
    computeNs: ofRound("computeNs"),
    gpuNs: ofRound("gpuNs"),
    unpackNs: ofRound("unpackNs"),
    packNs: ofRound("packNs"),
  };
}
