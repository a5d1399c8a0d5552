/**
 * The balance on the real devices. First a handful of short measurements gives the costs of a shared step, and those
 * R (`models/shared_step.ts`). With the best predicted R B2R's Eq. 8 decides how many slices each device computes,
 * from times of both computing at once. The settled share, and the few other R that are predicted to come near it,
 * are then verified and measured, by the host's clock: what counts is when the slower device is done, exchanges
 * included.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { BalanceIteration } from "../../models/balance.ts";
import {
  predictCurve,
  type PredictedPoint,
  predictStepNs,
  promising,
  type SharePoint,
} from "../../models/shared_step.ts";
import { prepare } from "../devices/runners.ts";
import { ghostSlices } from "../devices/shared/shares.ts";
import type { Measurement } from "../configuration.ts";
import { evaluate, type Evaluation } from "../measuring/evaluate.ts";
import { type SharedCalibration, SharedCalibrator } from "./shared_costs.ts";
import { shareConfiguration, sharedGridOf } from "./shared_problem.ts";
import { isOver, MAX_ITERATIONS, type SettleOptions, settleShare } from "./settle_share.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What {@linkcode balanceOnDevices} takes. */
export interface DeviceBalanceOptions extends SettleOptions {
  /** Cells per second of each device alone; what is not known is probed. */
  readonly alone?: { readonly cpu?: number; readonly gpu?: number };
  /** R to try, the one to balance with first; then nothing is predicted. @default {the best predicted few} */
  readonly exchangeEvery?: readonly number[];
  readonly onProgress?: (done: number, total: number) => void;
}

/** What {@linkcode balanceOnDevices} found. */
export interface DeviceBalance {
  /** The fastest verified configuration that shares the grid; undefined where there is none. */
  readonly best: Measurement | undefined;
  /** Every step of the Eq. 8 iteration; times are those of a round of R steps. */
  readonly iterations: readonly BalanceIteration[];
  /** What was verified and measured, and what failed. */
  readonly evaluations: readonly Evaluation[];
  /** Whether Eq. 8 came to an end, and how, in one line. */
  readonly settled: boolean;
  readonly message: string;
  /** What R was chosen by; undefined where it was given, or nothing could be measured. */
  readonly costModel: SharedCostModel | undefined;
}

/** The fitted costs, and the time of a step over R by prediction and by measurement. */
export interface SharedCostModel extends SharedCalibration {
  readonly curve: readonly CurvePoint[];
}

/** A point of the curve. */
export interface CurvePoint extends PredictedPoint {
  /** Time of one step of the verified configuration; null where this R was not measured. */
  readonly measuredNs: number | null;
}

/** R to measure: so many at most, and only those predicted to be this near the best. */
const PERIODS = 3, PROMISING = 0.05;
/** Visits of each point that is measured for the costs. */
const PASSES = 2;
/** Part of the time left that the costs may take, and that their least may. */
const CALIBRATION = 0.5, LEAST_CALIBRATION = 0.75;
/** Time for the samples of one R. */
const SAMPLING_NS = 1.5e9;

/**
 * Finds R, and the shares of the CPU and the GPU that take equally long.
 *
 * @param options the devices, the problem, the GPU's configuration
 * @returns the fastest verified shared configuration and every iteration; a device's failure is an evaluation
 */
export async function balanceOnDevices(options: DeviceBalanceOptions): Promise<DeviceBalance> {
  const { problem, onProgress } = options;
  const [slices] = problem.grid;
  const none = (message: string, evaluations: readonly Evaluation[] = []): DeviceBalance => ({
    best: undefined,
    iterations: [],
    evaluations,
    settled: false,
    message,
    costModel: undefined,
  });
  const plan = await planPeriods(options);
  if ("failure" in plan) return none(plan.failure, plan.evaluations);
  const { points, costs, spent } = plan;
  const total = spent + MAX_ITERATIONS + points.length;
  const isSharable = points.length > 0 && 2 * ghostSlices(problem, points[0].exchangeEvery) <= slices;
  if (!isSharable) return none(`${slices} slices can't hold two shares as wide as the stencil reaches`);
  const progress = (done: number): void => onProgress?.(spent + done, total);
  const settled = await settleShare(options, points[0].exchangeEvery, progress);
  const { cpuSlices, iterations, message, isSettled } = settled;
  const evaluations = [...settled.failed];
  let best: Measurement | undefined;
  if (cpuSlices > 0 && cpuSlices < slices) {
    const measured = await measurePoints(options, {
      points: trialPoints(points, { cpuSlices, slices, problem, isPredicted: costs !== undefined }),
      onProgress: (done) => progress(MAX_ITERATIONS + Math.min(done, points.length)),
    });
    best = measured.best;
    evaluations.push(...measured.evaluations);
  }
  onProgress?.(total, total);
  const costModel = costs && { ...costs, curve: curveOf(problem, costs, evaluations) };
  return { best, iterations, evaluations, settled: isSettled, message, costModel };
}

/** The R to balance and to measure with. */
interface PeriodPlan {
  /** The best first; a share is the model's. */
  readonly points: readonly SharePoint[];
  readonly costs: SharedCalibration | undefined;
  /** Steps of the progress that this took. */
  readonly spent: number;
}

/** Measures the costs and predicts, where no R was given. */
async function planPeriods(
  options: DeviceBalanceOptions,
): Promise<PeriodPlan | { failure: string; evaluations: readonly Evaluation[] }> {
  const { problem, exchangeEvery, configuration, reference, now, signal, onProgress } = options;
  if (exchangeEvery !== undefined) {
    return {
      points: exchangeEvery.map((period) => ({ exchangeEvery: period, cpuSlices: 0 })),
      costs: undefined,
      spent: 0,
    };
  }
  if (isOver(options)) return { failure: "no time left to balance", evaluations: [] };
  const beganNs = now();
  const { deadlineNs = Infinity } = options;
  const untilNs = beganNs + CALIBRATION * (deadlineNs - beganNs);
  const leastUntilNs = beganNs + LEAST_CALIBRATION * (deadlineNs - beganNs);
  let isShort = false;
  const mayTake = (timeNs: number): boolean => {
    const isTooLong = now() + timeNs > leastUntilNs;
    isShort ||= isTooLong;
    return !isTooLong;
  };
  try {
    const calibrator = await SharedCalibrator.create({ ...options, start: reference.start, mayTake });
    let visited = 0;
    const mayVisit = (): boolean => {
      const isLeast = visited < LEAST_VISITS;
      const eachNs = visited === 0 ? 0 : (now() - beganNs) / visited;
      if (signal?.aborted || (isLeast ? !mayTake(eachNs) : now() >= untilNs)) return false;
      onProgress?.(visited++, PASSES * calibrator.points + MAX_ITERATIONS + PERIODS);
      return true;
    };
    for (let pass = 0; pass < PASSES; pass++) await calibrator.pass(mayVisit);
    if (isShort && calibrator.visited < LEAST_VISITS) {
      return { failure: "no time left to balance: sharing is too slow on these devices", evaluations: [] };
    }
    const costs = calibrator.fit();
    if (costs === undefined) {
      return calibrator.points === 0
        ? { points: [], costs, spent: 0 }
        : { failure: "interrupted before the balance", evaluations: [] };
    }
    const curve = predictCurve(sharedGridOf(problem), costs.costs);
    return { points: promising(curve, { within: PROMISING, most: PERIODS }), costs, spent: visited };
  } catch (error) {
    if (!isFailure(error)) throw error;
    const { reason, message } = error;
    return {
      failure: `the devices' costs could not be measured: ${reason}: ${message}`,
      evaluations: [{ configuration, failure: { reason, message } }],
    };
  }
}

/** Points of the design that are measured at least, or there is no balance: with one alone nothing can be told apart. */
const LEAST_VISITS = 3;

/**
 * What to verify and measure: the settled share with the R it was settled for, and with each other R, widened to its
 * ghost zones; where a model says which share is best for R, that one.
 */
function trialPoints(
  points: readonly SharePoint[],
  { cpuSlices, slices, problem, isPredicted }: {
    cpuSlices: number;
    slices: number;
    problem: Problem;
    isPredicted: boolean;
  },
): SharePoint[] {
  const widened = ({ exchangeEvery }: SharePoint): SharePoint => {
    const ghost = ghostSlices(problem, exchangeEvery);
    return { exchangeEvery, cpuSlices: Math.min(Math.max(cpuSlices, ghost), slices - ghost) };
  };
  const fitting = points.filter(({ exchangeEvery }) => 2 * ghostSlices(problem, exchangeEvery) <= slices);
  if (!isPredicted) return fitting.map(widened);
  const settled = widened(points[0]);
  return [
    settled,
    ...fitting.filter((point) => point !== points[0] || point.cpuSlices !== settled.cpuSlices),
  ];
}

/** Verifies and times shares, as long as there is time; the first in any case. */
async function measurePoints(
  options: DeviceBalanceOptions,
  { points, onProgress }: { points: readonly SharePoint[]; onProgress: (done: number) => void },
): Promise<{ best: Measurement | undefined; evaluations: Evaluation[] }> {
  const { problem, now } = options;
  const evaluations: Evaluation[] = [];
  let best: Measurement | undefined;
  for (const [i, point] of points.entries()) {
    if (options.signal?.aborted || options.gpu.lost !== undefined || (i > 0 && isOver(options))) break;
    onProgress(i);
    const configuration = shareConfiguration(options, point);
    const evaluation = await evaluate(configuration, () => prepare(options, problem, configuration), {
      problem,
      best: best?.cellsPerSecond,
      samplingNs: Math.min(SAMPLING_NS, Math.max((options.deadlineNs ?? Infinity) - now(), 0)),
      now,
    });
    evaluations.push(evaluation);
    if (!("measurement" in evaluation)) continue;
    const { measurement } = evaluation;
    if (best === undefined || measurement.cellsPerSecond > best.cellsPerSecond) best = measurement;
  }
  return { best, evaluations };
}

/** The predicted curve with what was measured; a measured R has the share that it was measured with. */
function curveOf(
  problem: Problem,
  { costs }: SharedCalibration,
  evaluations: readonly Evaluation[],
): CurvePoint[] {
  const shared = sharedGridOf(problem);
  const measured = new Map<number, CurvePoint>();
  for (const evaluation of evaluations) {
    if (!("measurement" in evaluation)) continue;
    const { configuration: { share: { exchangeEvery, cpuSlices } }, measurement } = evaluation;
    const measuredNs = cellsOf(problem.grid) / measurement.cellsPerSecond * 1e9;
    if (measuredNs >= (measured.get(exchangeEvery)?.measuredNs ?? Infinity)) continue;
    const predictedNs = predictStepNs(shared, { exchangeEvery, cpuSlices }, costs);
    measured.set(exchangeEvery, { exchangeEvery, cpuSlices, predictedNs, measuredNs });
  }
  return predictCurve(shared, costs)
    .map((point) => measured.get(point.exchangeEvery) ?? { ...point, measuredNs: null });
}
