import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { nextShare } from "../../models/balance.ts";
import { thinnestPart } from "../../models/rank_part.ts";
import { fastestOf, FIRST_PERIOD, LONGEST_PERIOD, PERIODS, predictPlan } from "../../models/round.ts";
import {
  fitShared,
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
import type { Evaluation } from "../measuring/evaluate.ts";
import { searchPlans, timeRounds } from "../measuring/search_plans.ts";
import { DISTINCT } from "../measuring/tie_set.ts";
import { configurationOf, STEPWISE } from "../shares.ts";

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
  /** R to try. @default {those that the search takes, as far as they fit} */
  readonly exchangeEvery?: readonly number[] | undefined;
  /** When to stop, on the session's clock; one iteration is made whatever the time. @default {Infinity} */
  readonly deadlineNs?: number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Part of the time left that the search may take; the rest is for verified measurements. */
const SEARCH_PART = 0.5;
/** The CPU's share of the slices at first, where no rates are known. */
const START_SHARE = 0.1;
/** A time that no clock resolves. */
const LEAST_NS = 1000;

/**
 * Levels of a round from which on diamonds are faster than stepwise. A core with 80 slices of 256×256, wave of order 2:
 * 0.8 times as fast with R = 4, 1.2 with R = 8, 1.4 with R = 16 (AMD EPYC, 2026-11-22).
 */
const DIAMOND_LEVELS = 8;

/** A share that was measured. */
export interface TriedShare extends SharedIteration {
  /** Time of one step of a run: a last round that is shorter counts as a whole one. */
  readonly stepNs: number;
}

/** What a search found. */
export interface SharesFound {
  /** In order; the iterations of an R follow each other. */
  readonly tried: readonly TriedShare[];
  /** The share that failed, which ended it, and why. */
  readonly failed?: { readonly configuration: Configuration; readonly failure: Failure } | undefined;
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
 * R to try; those whose ghost zones do not fit are left out. Where no R can make sharing pay in a limited time, one is
 * enough: 1, which allows the thinnest shares.
 */
export function periodsFor(
  { problem, session, alone, deadlineNs, exchangeEvery = PERIODS }: SharingOptions,
): readonly number[] {
  const fitting = exchangeEvery.filter((period) =>
    (exchangeEvery !== PERIODS || period <= problem.steps) &&
    2 * thinnestPart(problem, period) <= problem.grid[0]
  );
  const { cpu = 0, gpu = 0 } = alone ?? {};
  if (deadlineNs === undefined || cpu === 0 || gpu === 0) return fitting;
  // the slower device adds less than rates distinguish, or is the same cores
  const isSameCores = session.device.gpu?.isFallback && cpu >= gpu;
  const isHopeless = isSameCores || Math.min(cpu, gpu) < DISTINCT * Math.max(cpu, gpu);
  return isHopeless ? fitting.slice(0, 1) : fitting;
}

/**
 * The search for R and the shares: for one R after another Eq. 8 moves slices until both devices take equally long. One
 * share is always measured; before a deadline others only if they would probably end in time.
 *
 * @param onIteration called before each measurement, {@linkcode ITERATIONS} times for an R at most
 */
export async function searchShares(
  options: SharingOptions,
  periods: readonly number[],
  onIteration: () => void = () => {},
): Promise<SharesFound> {
  const { problem, problem: { grid: [slices], steps }, alone, session, deadlineNs = Infinity } = options;
  const beganNs = session.now(), untilNs = beganNs + SEARCH_PART * (deadlineNs - beganNs);
  // by Eq. 8, if each device is as fast as alone
  const byRates = alone?.cpu && alone.gpu ? alone.cpu / (alone.cpu + alone.gpu) : START_SHARE;
  let failed: SharesFound["failed"], lastNs = 0;
  const planAt = (exchangeEvery: number, tried: readonly TriedShare[]): SharePoint | undefined => {
    const its = tried.filter((one) => one.exchangeEvery === exchangeEvery), last = tried.at(-1);
    const thinnest = thinnestPart(problem, exchangeEvery);
    const wanted = its.length > 0
      ? nextShare(problem, its).cpuSlices
      : last?.cpuSlices ?? Math.round((options.startShare ?? byRates) * slices);
    const fits = 2 * thinnest <= slices && wanted !== undefined;
    return fits
      ? { exchangeEvery, cpuSlices: Math.min(Math.max(wanted, thinnest), slices - thinnest) }
      : undefined;
  };
  const tried = await searchPlans<SharePoint, TriedShare>({
    first: [...periods.filter((period) => period <= FIRST_PERIOD).slice(-1), ...periods].slice(0, 1)
      .flatMap((period) => planAt(period, []) ?? []),
    periods,
    planAt,
    propose(tried) {
      if (options.exchangeEvery !== undefined) return undefined;
      const { curve } = sharedCostModelOf(options, tried);
      const best = curve.reduce((best, one) => one.predictedNs < best.predictedNs ? one : best);
      return best.measuredNs === null && best.predictedNs < fastestOf(tried)!.stepNs ? best : undefined;
    },
    async measure(point) {
      onIteration();
      const configuration = shareConfiguration(options, point),
        { exchangeEvery } = point,
        startedNs = session.now();
      try {
        const times = await timeShare(options, configuration, untilNs),
          rounds = Math.ceil(steps / exchangeEvery);
        lastNs = session.now() - startedNs;
        return {
          ...point,
          gpuSlices: slices - point.cpuSlices,
          ...times,
          stepNs: times.roundNs * rounds / steps,
        };
      } catch (error) {
        if (!isFailure(error)) throw error;
        const { reason, message } = error;
        failed = { configuration, failure: { reason, message } };
        return undefined;
      }
    },
    isOver(tried, { exchangeEvery }) {
      if (failed !== undefined || options.signal?.aborted) return true;
      const last = tried.at(-1);
      // rounds may be longer in proportion to R
      return last !== undefined && session.now() + lastNs * exchangeEvery / last.exchangeEvery > untilNs;
    },
  });
  return { tried, failed };
}

/** The fastest share of each R. */
export function fastestOfEach(tried: readonly TriedShare[]): readonly TriedShare[] {
  return [...Map.groupBy(tried, ({ exchangeEvery }) => exchangeEvery).values()].map((its) => fastestOf(its)!);
}

/** Both devices' configurations with a share for each. */
export function shareConfiguration(
  options: SharingOptions,
  { exchangeEvery, cpuSlices }: SharePoint,
): Configuration {
  const { configuration: { traversal, parameters }, cpuWorkers, problem: { grid: [slices] } } = options;
  const onCpu = besideGpu(options, exchangeEvery) ?? STEPWISE;
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
): Promise<Omit<SharedIteration, keyof SharePoint | "gpuSlices">> {
  const { session, signal, problem } = options, runner = await session.prepare(problem, configuration);
  try {
    await runner.initialise();
    const { share: { exchangeEvery } } = configuration;
    const times = await timeRounds((rounds) => runner.runSteps(exchangeEvery, rounds), {
      isLate: () => (signal?.aborted ?? false) || session.now() >= untilNs,
    });
    const of = (name: keyof SharedTimes): number => Math.max(LEAST_NS, times[name]);
    const unpackNs = of("unpackNs"), packNs = of("packNs"), cpuTimeNs = of("computeNs") + unpackNs + packNs;
    return { cpuTimeNs, gpuTimeNs: of("gpuNs"), unpackNs, packNs, roundNs: times.wallNs };
  } finally {
    runner.dispose();
  }
}

/** The costs and the curve by what the search measured; a verified measurement of an R replaces the search's. */
export function sharedCostModelOf(
  { problem }: SharingOptions,
  samples: readonly TriedShare[],
  evaluations: readonly Evaluation[] = [],
): SharedCostModel {
  const fit = fitShared(problem, samples);
  // far beyond the largest R that was measured the model would only guess
  const longest = Math.max(...samples.map(({ exchangeEvery }) => exchangeEvery));
  const periods = Array.from({ length: Math.min(2 * longest - 1, LONGEST_PERIOD) }, (_, i) => i + 1);
  const measured = new Map(
    [
      ...fastestOfEach(samples),
      ...evaluations.flatMap((evaluation) =>
        "measurement" in evaluation
          ? [{
            ...evaluation.configuration.share,
            stepNs: cellsOf(problem.grid) / evaluation.measurement.cellsPerSecond * 1e9,
          }]
          : []
      ),
    ].map((point) => [point.exchangeEvery, point]),
  );
  const curve = predictCurve(problem, fit.costs, periods).map((point): CurvePoint => {
    const its = measured.get(point.exchangeEvery);
    if (its === undefined) return { ...point, measuredNs: null };
    const { exchangeEvery, cpuSlices, stepNs: measuredNs } = its;
    const { stepNs } = predictPlan(problem, planOfPair(problem, its), partCosts(fit.costs));
    return { exchangeEvery, cpuSlices, predictedNs: stepNs, measuredNs };
  });
  return { ...fit, samples, curve };
}
