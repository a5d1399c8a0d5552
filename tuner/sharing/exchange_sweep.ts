/**
 * Measures the time of a step for every R, and compares it with what the cost model says. The model is fitted to its
 * own handful of points, which are visited between the passes of the sweep: what else the machine does then disturbs
 * both alike. Every R is verified once before it is timed.
 *
 * @module
 */
import {
  predictBatch,
  predictCurve,
  type PredictedPoint,
  type SharedCosts,
  type SharedGrid,
} from "../../models/shared_step.ts";

import type { SharedResiduals, SharedSample } from "../../models/shared_fit.ts";
import { refute, verificationOf } from "../devices/reference.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import type { Failure } from "../configuration.ts";
import { type SharedCalibration, SharedCalibrator } from "./shared_costs.ts";
import { shareConfiguration } from "./shared_problem.ts";
import { median } from "../measuring/statistics.ts";
import { isOver, type SettleOptions } from "./settle_share.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What {@linkcode sweepExchange} takes. */
export interface SweepOptions extends Omit<SettleOptions, "startShare"> {
  /** R to measure; those whose ghost zones do not fit are left out. */
  readonly periods: readonly number[];
  /** Cells per second of each device alone; what is not known is probed. */
  readonly alone?: { readonly cpu?: number; readonly gpu?: number };
  /** Times that every R is measured. @default {7} */
  readonly passes?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** One R. */
export interface SweptPoint extends PredictedPoint {
  /** Time of one step: the shortest of the passes, since whatever else the machine does only adds to it. */
  readonly measuredNs: number;
  /** Times of one step, one a pass. */
  readonly samplesNs: readonly number[];
  /** predicted / measured − 1. */
  readonly error: number;
}

/** What a sweep found. */
export interface ExchangeSweep {
  /** By growing R. */
  readonly points: readonly SweptPoint[];
  /** R that fit no share, or whose result was wrong. */
  readonly failed: readonly { readonly exchangeEvery: number; readonly failure: Failure }[];
  /** Median of the errors' absolute values. */
  readonly medianError: number;
  /** The point that the model calls the fastest, and the one that was measured to be. */
  readonly picked: SweptPoint;
  readonly fastest: SweptPoint;
  /** How much longer a step of the picked R takes than one of the fastest: picked / fastest − 1. */
  readonly regret: number;
  /** The model's own points, and what was fitted to them. */
  readonly samples: readonly SharedSample[];
  readonly costs: SharedCosts;
  readonly residuals: SharedResiduals;
}

/** Passes over the model's points before the sweep: from them come the shares. */
const PASSES_BEFORE = 2;
/** A timed batch lasts at least so long. */
const BATCH_NS = 200e6;

/**
 * Sweeps over R.
 *
 * @param options the devices, the problem, R
 * @returns undefined where two shares do not fit for any R, or it was interrupted before every R was measured once
 * @throws {RunFailure} if the devices fail
 */
export async function sweepExchange(options: SweepOptions): Promise<ExchangeSweep | undefined> {
  const { periods, passes = 7, onProgress } = options;
  const calibrator = await SharedCalibrator.create({ ...options, start: options.reference.start });
  if (calibrator.points === 0) return undefined;
  const { shared } = calibrator;
  const goesOn = (): boolean => !isOver(options);
  let total = PASSES_BEFORE * calibrator.points + passes * (calibrator.points + periods.length), done = 0;
  const count = (): boolean => {
    onProgress?.(done++, total);
    return goesOn();
  };
  for (let pass = 0; pass < PASSES_BEFORE; pass++) await calibrator.pass(count);
  const before = calibrator.fit();
  if (before === undefined) return undefined;
  const trials = predictCurve(shared, before.costs, periods).map((point): Trial => ({
    point,
    samplesNs: [],
  }));
  total -= passes * (periods.length - trials.length);
  const failed: ExchangeSweep["failed"][number][] = [];
  for (let pass = 0; pass < passes; pass++) {
    for (const trial of trials) {
      if (!count()) break;
      if (trial.hasFailed) continue;
      const failure = await measureTrial(trial, options).catch((error) => {
        if (isFailure(error) && options.gpu.lost === undefined) return error;
        throw error;
      });
      if (failure === undefined) continue;
      trial.hasFailed = true;
      failed.push({
        exchangeEvery: trial.point.exchangeEvery,
        failure: { reason: failure.reason, message: failure.message },
      });
    }
    await calibrator.pass(count);
  }
  onProgress?.(total, total);
  const measured = trials.filter(({ hasFailed, samplesNs }) => !hasFailed && samplesNs.length > 0);
  return measured.length === 0 ? undefined : { ...compare(shared, measured, calibrator.fit()!), failed };
}

/** A point under way. */
interface Trial {
  readonly point: PredictedPoint;
  /** Times of one step. */
  readonly samplesNs: number[];
  /** Runs in a timed batch; fixed at the first. */
  repetitions?: number;
  hasFailed?: boolean;
}

/** One batch; the first of a point verifies it. */
async function measureTrial(trial: Trial, options: SweepOptions): Promise<Failure | undefined> {
  const { problem, reference } = options;
  const { point } = trial;
  const configuration = shareConfiguration(options, point);
  const field = await SharedField.create(problem, { ...options, configuration });
  try {
    await field.initialise(reference.start);
    if (trial.repetitions === undefined) {
      const { wallNs } = await field.run(problem.steps);
      const failure = refute(verificationOf(await field.compare(reference), reference));
      if (failure !== undefined) return failure;
      trial.repetitions = Math.max(1, Math.ceil(BATCH_NS / wallNs));
    } else await field.run(point.exchangeEvery, 2); // the first rounds are slow
    const { wallNs } = await field.run(problem.steps, trial.repetitions);
    trial.samplesNs.push(wallNs / (trial.repetitions * problem.steps));
  } finally {
    field[Symbol.dispose]();
  }
}

/** The model's time for the very batches that were measured, and what follows. */
function compare(
  shared: SharedGrid,
  trials: readonly Trial[],
  { samples, costs, residuals }: SharedCalibration,
): Omit<ExchangeSweep, "failed"> {
  const points = trials.map(({ point, samplesNs, repetitions = 1 }): SweptPoint => {
    const { wallNs } = predictBatch(shared, point, costs, repetitions);
    const predictedNs = wallNs / (repetitions * shared.steps);
    const measuredNs = Math.min(...samplesNs);
    const { exchangeEvery, cpuSlices } = point;
    return {
      exchangeEvery,
      cpuSlices,
      predictedNs,
      measuredNs,
      samplesNs,
      error: predictedNs / measuredNs - 1,
    };
  });
  const least = (value: (point: SweptPoint) => number): SweptPoint =>
    points.reduce((best, point) => value(point) < value(best) ? point : best);
  const picked = least(({ predictedNs }) => predictedNs), fastest = least(({ measuredNs }) => measuredNs);
  return {
    points,
    medianError: median(points.map(({ error }) => Math.abs(error))),
    picked,
    fastest,
    regret: picked.measuredNs / fastest.measuredNs - 1,
    samples,
    costs,
    residuals,
  };
}
