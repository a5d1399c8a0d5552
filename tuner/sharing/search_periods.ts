import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { fastestShare, nextShare } from "../../models/balance.ts";
import { thinnestPart } from "../../models/rank_part.ts";
import { hasRisen, PERIODS } from "../../models/round.ts";
import { LONGEST_PERIOD, type SharedIteration, type SharePoint } from "../../models/shared_fit.ts";
import type { Configuration, Failure, Share } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { FieldRunner } from "../devices/runners.ts";
import type { Session } from "../devices/session.ts";
import { formatPlural } from "../format.ts";
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
/** Values of R in a row that no share can be found for, after which the search ends. */
const ZEROS = 2;
/** What a round takes the host besides, roughly: to hand it over, and to see its end. */
const WAIT_NS = 2e6;
/** Part of the time left that the search may take; the rest is for verified measurements. */
const SEARCH_PART = 0.5;
/** Rounds timed together: ROUNDS at most, and fewer where they last longer than BATCH together. */
const ROUNDS = 4, BATCH_NS = 200e6;
/** Batches are repeated until the times of both devices differ by no more than STEADY, and for UNSTEADY_NS at most. */
const STEADY = 0.03, UNSTEADY_NS = 400e6;
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
  readonly message: string;
  /** Time of one step with the balanced share; infinite where one device has no slices. */
  readonly stepNs: number;
  /** How long the last measurement took, compiling included. */
  readonly iterationNs: number;
  /** The share that failed, and why. */
  readonly failed?: { readonly configuration: Configuration; readonly failure: Failure };
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
 * The search for R and the shares: for one R after another Eq. 8 moves slices until both devices take equally long. By
 * Eq. 7 the time of a step first falls and then rises with R, so before a deadline the search ends where it clearly
 * rises. One share is always measured; before a deadline others only if they would probably end in time. Without one
 * every R is measured, also those that cannot be the fastest. The cost model is fitted to these times.
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
  let startShare = options.startShare ?? byRates;
  const isFixed = startShare === 0 || startShare === 1;
  const tried: BalancedPeriod[] = [];
  for (const exchangeEvery of periods) {
    const last = tried.at(-1);
    if (last !== undefined) {
      if (last.failed !== undefined || isFixed || isOver(options)) break;
      // rounds may be longer in proportion to R
      const nextNs = last.iterationNs * exchangeEvery / last.exchangeEvery;
      const isHopeless = tried.length >= ZEROS &&
        tried.slice(-ZEROS).every(({ stepNs }) => stepNs === Infinity);
      const isLate = isHopeless || hasRisen(tried) || session.now() + nextNs >= untilNs;
      if (deadlineNs < Infinity && isLate) break;
      // a device that got no slices starts with the fewest
      startShare = Math.min(Math.max(last.cpuSlices, 0.5), slices - 0.5) / slices;
    }
    tried.push(await balancePeriod(options, exchangeEvery, { startShare, untilNs, onIteration }));
  }
  return tried;
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
  const end = (cpuSlices: number, message: string, isSettled = false): BalancedPeriod => {
    const latest = iterations.filter(isShared).findLast((iteration) => iteration.cpuSlices === cpuSlices);
    // the last round of a run, where it is shorter, counts as a whole one
    const rounds = Math.ceil(problem.steps / exchangeEvery);
    const stepNs = latest === undefined ? Infinity : latest.roundNs * rounds / problem.steps;
    return { exchangeEvery, cpuSlices, iterations, isSettled, message, stepNs, iterationNs };
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
      const times = await timeShare(options, configuration);
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

/**
 * Times rounds of R steps while both devices compute. Other work on the machine only adds time: the fastest batch
 * counts, without the first, in which shaders are compiled and V8 replaces its first code.
 */
export async function timeShare(options: SharingOptions, configuration: Configuration): Promise<ShareTimes> {
  const runner = await options.session.prepare(options.problem, configuration);
  try {
    await runner.initialise();
    let before = await timeBatch(runner, 1);
    const rounds = Math.min(Math.max(1, Math.floor(BATCH_NS / before.roundNs)), ROUNDS);
    let best: ShareTimes | undefined;
    for (let spentNs = 0; best === undefined || (spentNs < UNSTEADY_NS && !isOver(options));) {
      const times = await timeBatch(runner, rounds);
      if (best === undefined || times.roundNs < best.roundNs) best = times;
      if (isNear(times.cpuTimeNs, before.cpuTimeNs) && isNear(times.gpuTimeNs, before.gpuTimeNs)) break;
      spentNs += rounds * times.roundNs;
      before = times;
    }
    return best;
  } finally {
    runner.dispose();
  }
}

async function timeBatch(runner: FieldRunner, rounds: number): Promise<ShareTimes> {
  const { share, share: { exchangeEvery } } = runner.configuration;
  const times = await runner.runSteps(exchangeEvery, rounds), leastNs = isShared(share) ? LEAST_NS : 0;
  const ofRound = (timeNs: number): number => Math.max(leastNs, timeNs / rounds);
  const unpackNs = ofRound(times.unpackNs), packNs = ofRound(times.packNs);
  const cpuTimeNs = ofRound(times.computeNs) + unpackNs + packNs;
  return { cpuTimeNs, gpuTimeNs: ofRound(times.gpuNs), unpackNs, packNs, roundNs: times.wallNs / rounds };
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= STEADY * Math.max(a, b);
}

/** Whether to begin nothing more. */
export function isOver({ signal, session, deadlineNs = Infinity }: SharingOptions): boolean {
  return (signal?.aborted ?? false) || session.now() >= deadlineNs;
}
