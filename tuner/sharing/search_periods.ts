import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { fastestShare, nextShare } from "../../models/balance.ts";
import { thinnestPart } from "../../models/rank_part.ts";
import { fastestOf, PERIODS, predictPlan } from "../../models/round.ts";
import {
  fitShared,
  LONGEST_PERIOD,
  partCosts,
  planOfPair,
  predictCurve,
  type PredictedPoint,
  type SharedFit,
  type SharedIteration,
  type SharePoint,
} from "../../models/shared_fit.ts";
import type { Configuration, Failure, Share } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { Session } from "../devices/session.ts";
import type { SharedTimes } from "../devices/shared/shared_field.ts";
import { formatPlural } from "../format.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { searchPlans, timeRounds } from "../measuring/search_plans.ts";
import { DISTINCT } from "../measuring/tie_set.ts";
import { configurationOf, isShared, STEPWISE } from "../shares.ts";

export interface SharingOptions {
  /** The devices, and the clock. */
  readonly session: Session;
  readonly problem: Problem;
  /** How the GPU computes its share. */
  readonly configuration: Configuration;
  readonly cpuWorkers: number;
  /** How they traverse their share, if rounds are long enough for that. @default {stepwise} */
  readonly cpu?: Share["cpu"];
  /** Cells per second of each device alone, as far as known. */
  readonly alone?: { readonly cpu: number | undefined; readonly gpu: number | undefined };
  /** Fraction of the slices that the CPU computes at first. @default {by the rates alone; 0.1 if one is not known} */
  readonly startShare?: number | undefined;
  /** R to try. @default {1, 2, 4, … 32, as far as they fit} */
  readonly exchangeEvery?: readonly number[] | undefined;
  /** When to stop, on the session's clock; one iteration is made whatever the time. @default {Infinity} */
  readonly deadlineNs?: number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Measurements of an R at most. */
export const ITERATIONS = 5;
/** Values of R in a row for which Eq. 8 leaves a device out, after which the search ends. */
const ZEROS = 2;
/** What a round takes the host besides, roughly: to hand it over, and to see its end. */
const WAIT_NS = 2e6;
/** Part of the time left that the search may take; the rest is for verified measurements. */
const SEARCH_PART = 0.5;
/** A time that no clock resolves. */
const LEAST_NS = 1000;

/**
 * Levels of a round from which on diamonds are faster than stepwise. A core with 80 slices of 256×256, wave of order 2:
 * 0.8 times as fast with R = 4, 1.2 with R = 8, 1.4 with R = 16 (AMD EPYC, 2026-11-22).
 */
const DIAMOND_LEVELS = 8;

export interface BalancedPeriod extends SharePoint {
  readonly iterations: readonly SharedIteration[];
  readonly isSettled: boolean;
  /** Whether Eq. 8 gives all slices to one device. */
  readonly leavesOut: boolean;
  readonly message: string;
  /** Time of one step with this share; infinite where none was measured. */
  readonly stepNs: number;
  /** How long the last measurement took, compiling included. */
  readonly iterationNs: number;
  /** The share that failed, and why. */
  readonly failed?: { readonly configuration: Configuration; readonly failure: Failure };
}

/** The fitted costs, and the time of a step over R by prediction and by measurement. */
export interface SharedCostModel extends SharedFit {
  readonly samples: readonly SharedIteration[];
  readonly curve: readonly CurvePoint[];
}

export interface CurvePoint extends PredictedPoint {
  /** Time of one step; null where this R was not measured. */
  readonly measuredNs: number | null;
}

/**
 * R to try; those whose ghost zones do not fit are left out, and in a limited time those that end a round before the
 * host's wait does. Where no R can make sharing pay, one is enough: 1, which allows the thinnest shares.
 */
export function periodsFor(options: SharingOptions): readonly number[] {
  const { problem, session, alone, deadlineNs, exchangeEvery } = options;
  const fits = (period: number): boolean => 2 * thinnestPart(problem, period) <= problem.grid[0];
  if (exchangeEvery !== undefined) return exchangeEvery.filter(fits);
  const fitting = PERIODS.filter((period) =>
    period <= Math.min(LONGEST_PERIOD, problem.steps) && fits(period)
  );
  const { cpu = 0, gpu = 0 } = alone ?? {};
  if (deadlineNs === undefined || cpu === 0 || gpu === 0) return fitting;
  // the slower device adds less than rates distinguish, or is the same cores
  const isSameCores = session.device.gpu?.isFallback && cpu >= gpu;
  if (isSameCores || Math.min(cpu, gpu) < DISTINCT * Math.max(cpu, gpu)) return fitting.slice(0, 1);
  const stepNs = cellsOf(problem.grid) / (cpu + gpu) * 1e9;
  const long = fitting.filter((period) => period * stepNs >= WAIT_NS);
  return long.length > 0 ? long : fitting.slice(-1);
}

/**
 * The search for R and the shares: for one R after another Eq. 8 moves slices until both devices take equally long. One
 * share is always measured; before a deadline others only if they would probably end in time.
 *
 * @param onIteration called before each measurement, {@linkcode ITERATIONS} times for an R at most
 */
export async function searchPeriods(
  options: SharingOptions,
  periods: readonly number[],
  onIteration: () => void = () => {},
): Promise<BalancedPeriod[]> {
  const { problem: { grid: [slices] }, alone, session, deadlineNs = Infinity } = options;
  const beganNs = session.now(), untilNs = beganNs + SEARCH_PART * (deadlineNs - beganNs);
  // by Eq. 8, if each device is as fast as alone
  const byRates = alone?.cpu && alone.gpu ? alone.cpu / (alone.cpu + alone.gpu) : undefined;
  const startShare = options.startShare ?? byRates, isFixed = startShare === 0 || startShare === 1;
  const from = (exchangeEvery: number, cpuSlices: number) => ({
    exchangeEvery,
    startShare: cpuSlices / slices,
  });
  return await searchPlans<{ exchangeEvery: number; startShare: number | undefined }, BalancedPeriod>({
    first: periods.slice(0, 1).map((exchangeEvery) => ({ exchangeEvery, startShare })),
    periods,
    // a device that got no slices starts with the fewest
    planAt: (period, tried) => from(period, Math.min(Math.max(tried.at(-1)!.cpuSlices, 0.5), slices - 0.5)),
    propose(tried) {
      const { curve } = tried.length > 1 && sharedCostModelOf(options, tried) || { curve: [] };
      const [best] = curve.toSorted((a, b) => a.predictedNs - b.predictedNs);
      const isFaster = best?.measuredNs === null && best.predictedNs < fastestOf(tried)!.stepNs;
      return isFaster ? from(best.exchangeEvery, best.cpuSlices) : undefined;
    },
    measure: ({ exchangeEvery, startShare }) =>
      balancePeriod(options, exchangeEvery, { startShare, untilNs, onIteration }),
    isOver(tried, { exchangeEvery }) {
      const last = tried.at(-1);
      if (last === undefined) return false;
      if (last.failed !== undefined || isFixed || isOver(options)) return true;
      // rounds may be longer in proportion to R
      const nextNs = last.iterationNs * exchangeEvery / last.exchangeEvery;
      const isHopeless = tried.length >= ZEROS && tried.slice(-ZEROS).every((one) => one.leavesOut);
      return deadlineNs < Infinity && (isHopeless || session.now() + nextNs >= untilNs);
    },
  });
}

/** Iterates Eq. 8 with one R; a failure ends it with the fastest share so far. */
async function balancePeriod(
  options: SharingOptions,
  exchangeEvery: number,
  { startShare, untilNs, onIteration }: {
    startShare: number | undefined;
    /** When to end, on the session's clock; there is one measurement in any case. */
    untilNs: number;
    onIteration: () => void;
  },
): Promise<BalancedPeriod> {
  const { problem, session, signal } = options;
  const [slices] = problem.grid;
  const iterations: SharedIteration[] = [];
  let iterationNs = 0;
  const end = (wanted: number, message: string, isSettled = false): BalancedPeriod => {
    const shared = iterations.filter(isShared);
    // where Eq. 8 leaves a device out, the fastest share is still known
    const latest = shared.findLast(({ cpuSlices }) => cpuSlices === wanted) ??
      fastestOf(shared.map((one) => ({ ...one, stepNs: one.roundNs })));
    // the last round of a run, where it is shorter, counts as a whole one
    const rounds = Math.ceil(problem.steps / exchangeEvery);
    const stepNs = latest === undefined ? Infinity : latest.roundNs * rounds / problem.steps;
    const cpuSlices = latest?.cpuSlices ?? wanted;
    const leavesOut = wanted === 0 || wanted === slices;
    return { exchangeEvery, cpuSlices, iterations, isSettled, leavesOut, message, stepNs, iterationNs };
  };
  const limits = {
    slices,
    ghost: thinnestPart(problem, exchangeEvery),
    maxIterations: ITERATIONS,
    ...(startShare !== undefined && { startShare }),
  };
  while (true) {
    const { cpuSlices, end: why, isSettled } = nextShare(iterations, limits);
    if (why !== undefined) return end(cpuSlices, why, isSettled);
    const fallback = fastestShare(iterations)?.cpuSlices ?? 0;
    const done = formatPlural(iterations.length, "iteration");
    if (signal?.aborted) return end(fallback, `interrupted after ${done}`);
    const beganNs = session.now();
    if (iterations.length > 0 && beganNs + iterationNs > untilNs) {
      return end(fallback, `no time left after ${done}`);
    }
    onIteration();
    const configuration = shareConfiguration(options, { exchangeEvery, cpuSlices });
    try {
      const times = await timeShare(options, configuration, untilNs);
      iterations.push({ exchangeEvery, cpuSlices, gpuSlices: slices - cpuSlices, ...times });
      iterationNs = session.now() - beganNs;
    } catch (error) {
      if (!isFailure(error)) throw error;
      const { reason, message } = error;
      const failed = { configuration, failure: { reason, message } };
      return { ...end(fallback, `the balance failed: ${reason}: ${message}`), failed };
    }
  }
}

/** Times of an iteration; 0 for a device without slices. */
type ShareTimes = Omit<SharedIteration, keyof SharePoint | "gpuSlices">;

/** Both devices' configurations with a share for each; where the CPU has all slices, its own. */
export function shareConfiguration(options: SharingOptions, point: SharePoint): Configuration {
  const { configuration: { traversal, parameters }, cpu, cpuWorkers, problem: { grid: [slices] } } = options;
  const { exchangeEvery, cpuSlices } = point, isAll = cpuSlices === slices;
  const onCpu = (isAll ? cpu : besideGpu(options, exchangeEvery)) ?? STEPWISE;
  return configurationOf([
    { device: "cpu", slices: cpuSlices, workers: cpuWorkers, ...onCpu },
    { device: "gpu", slices: slices - cpuSlices, traversal, parameters },
  ], exchangeEvery);
}

/** How the CPU traverses its share beside the GPU: as alone, but stepwise in rounds that are too short for diamonds. */
function besideGpu({ cpu, problem }: SharingOptions, exchangeEvery: number): Share["cpu"] {
  if (cpu === undefined) return undefined;
  const { traversal, parameters } = cpu, { fused } = parameters;
  const levels = exchangeEvery * problem.stencil.update.substeps.length;
  if (traversal === STEPWISE.traversal || levels >= DIAMOND_LEVELS) return { traversal, parameters };
  return fused === undefined ? undefined : { ...STEPWISE, parameters: { fused } };
}

/** Times rounds of R steps while both devices compute. */
async function timeShare(
  options: SharingOptions,
  configuration: Configuration,
  untilNs: number,
): Promise<ShareTimes> {
  const { session, problem } = options, { share, share: { exchangeEvery } } = configuration;
  const isLate = () => isOver(options) || session.now() >= untilNs, leastNs = isShared(share) ? LEAST_NS : 0;
  const runner = await session.prepare(problem, configuration);
  try {
    await runner.initialise();
    const times = await timeRounds((rounds) => runner.runSteps(exchangeEvery, rounds), { isLate });
    const of = (name: keyof SharedTimes): number => Math.max(leastNs, times[name]);
    const unpackNs = of("unpackNs"), packNs = of("packNs"), cpuTimeNs = of("computeNs") + unpackNs + packNs;
    return { cpuTimeNs, gpuTimeNs: of("gpuNs"), unpackNs, packNs, roundNs: times.wallNs };
  } finally {
    runner.dispose();
  }
}

/** Whether to begin nothing more. */
export function isOver({ signal, session, deadlineNs = Infinity }: SharingOptions): boolean {
  return (signal?.aborted ?? false) || session.now() >= deadlineNs;
}

/** The costs and the curve by what the search measured; a verified measurement of an R replaces the search's. */
export function sharedCostModelOf(
  { problem }: SharingOptions,
  tried: readonly BalancedPeriod[],
  evaluations: readonly Evaluation[] = [],
): SharedCostModel | undefined {
  const samples = tried.flatMap(({ iterations }) => iterations.filter(isShared));
  if (samples.length === 0) return undefined;
  const fit = fitShared(problem, samples);
  // far beyond the largest R that was measured the model would only guess
  const longest = Math.max(...samples.map(({ exchangeEvery }) => exchangeEvery));
  const periods = Array.from({ length: Math.min(2 * longest - 1, LONGEST_PERIOD) }, (_, i) => i + 1);
  const measured = new Map<number, SharePoint & Pick<BalancedPeriod, "stepNs">>();
  for (const period of tried) if (period.stepNs < Infinity) measured.set(period.exchangeEvery, period);
  for (const evaluation of evaluations) {
    if (!("measurement" in evaluation)) continue;
    const { configuration: { share }, measurement: { cellsPerSecond } } = evaluation;
    measured.set(share.exchangeEvery, { ...share, stepNs: cellsOf(problem.grid) / cellsPerSecond * 1e9 });
  }
  const curve = predictCurve(problem, fit.costs, periods).map((point): CurvePoint => {
    const verified = measured.get(point.exchangeEvery);
    if (verified === undefined) return { ...point, measuredNs: null };
    const { exchangeEvery, cpuSlices, stepNs: measuredNs } = verified;
    const { stepNs } = predictPlan(problem, planOfPair(problem, verified), partCosts(fit.costs));
    return { exchangeEvery, cpuSlices, predictedNs: stepNs, measuredNs };
  });
  return { ...fit, samples, curve };
}
