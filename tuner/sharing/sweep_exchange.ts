import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { medianError, type SharedFit, type SharedSample } from "../../models/shared_fit.ts";
import { predictCurve, type PredictedPoint } from "../../models/shared_step.ts";
import type { Failure } from "../configuration.ts";
import { RunFailure } from "../devices/run_failure.ts";
import { evaluateOn } from "../measuring/evaluate.ts";
import { candidatesOf, modelOf } from "./balance.ts";
import { ITERATIONS, periodsFor, searchPeriods } from "./search_periods.ts";
import { isOver, shareConfiguration, type SharingOptions } from "./shared_run.ts";

interface SweepOptions extends SharingOptions {
  /** R to measure; those whose ghost zones do not fit are left out. */
  readonly periods: readonly number[];
  /** Times that every R is measured. @default {7} */
  readonly passes?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface SweptPoint extends PredictedPoint {
  /** Time of one step: the shortest of the passes, since other work on the machine only adds time. */
  readonly measuredNs: number;
  /** Times of one step, one a pass. */
  readonly samplesNs: readonly number[];
  /** predicted / measured − 1. */
  readonly error: number;
}

export interface ExchangeSweep extends SharedFit {
  /** By growing R. */
  readonly points: readonly SweptPoint[];
  /** R whose share did not fit the devices, or whose result was wrong. */
  readonly failed: readonly { readonly exchangeEvery: number; readonly failure: Failure }[];
  readonly medianError: number;
  /** What a balance picks, by the first pass, and the fastest of all. */
  readonly picked: SweptPoint;
  readonly fastest: SweptPoint;
  /** How much longer a step of the picked R takes: picked / fastest − 1. */
  readonly regret: number;
  /** What the model was fitted to. */
  readonly samples: readonly SharedSample[];
}

/**
 * Measures the time of a step for every R and compares it with the cost model, which is fitted to the few R that a
 * balance measures. Every R is verified each time before it is timed.
 *
 * @returns undefined where two shares do not fit, or it was interrupted before anything was measured
 * @throws {RunFailure} if the devices fail
 */
export async function sweepExchange(options: SweepOptions): Promise<ExchangeSweep | undefined> {
  const { problem, session, periods, passes = 7, onProgress = () => {} } = options;
  const searched = periodsFor(options);
  const total = ITERATIONS * searched.length + passes * periods.length;
  let done = 0;
  const tried = await searchPeriods(options, searched, () => onProgress(done++, total));
  const model = modelOf(options, tried);
  if (model === undefined) {
    const failure = tried.at(-1)?.failed?.failure;
    if (failure !== undefined) throw new RunFailure(failure.reason, failure.message);
    return undefined;
  }
  const trials = predictCurve(problem, model.costs, periods)
    .map((point) => ({ point, samplesNs: [] as number[] }));
  const failed = new Map<number, Failure>();
  for (let pass = 0; pass < passes; pass++) {
    for (const { point, samplesNs } of trials) {
      if (isOver(options)) break;
      onProgress(ITERATIONS * searched.length + pass * trials.length, total);
      if (failed.has(point.exchangeEvery)) continue;
      // without time for more it is one batch
      const configuration = shareConfiguration(options, point);
      const evaluation = await evaluateOn(session, configuration, { problem, samplingNs: 0 });
      if ("measurement" in evaluation) {
        samplesNs.push(cellsOf(problem.grid) / evaluation.measurement.cellsPerSecond * 1e9);
        continue;
      }
      const { reason, message } = evaluation.failure;
      if (reason === "device-lost") throw new RunFailure(reason, message);
      failed.set(point.exchangeEvery, evaluation.failure);
    }
  }
  onProgress(total, total);
  const points = trials
    .filter(({ point, samplesNs }) => !failed.has(point.exchangeEvery) && samplesNs.length > 0)
    .map(({ point, samplesNs }): SweptPoint => {
      const measuredNs = Math.min(...samplesNs);
      return { ...point, measuredNs, samplesNs, error: point.predictedNs / measuredNs - 1 };
    });
  if (points.length === 0) return undefined;
  const candidates = candidatesOf(tried, model.curve).map(({ exchangeEvery }) => exchangeEvery);
  const isCandidate = ({ exchangeEvery }: SweptPoint): boolean => candidates.includes(exchangeEvery);
  const least = (list: readonly SweptPoint[], value: (point: SweptPoint) => number): SweptPoint =>
    list.reduce((best, point) => value(point) < value(best) ? point : best);
  const picked = points.some(isCandidate)
    ? least(points.filter(isCandidate), ({ samplesNs: [first = Infinity] }) => first)
    : least(points, ({ predictedNs }) => predictedNs);
  const fastest = least(points, ({ measuredNs }) => measuredNs);
  return {
    ...model,
    points,
    failed: [...failed].map(([exchangeEvery, failure]) => ({ exchangeEvery, failure })),
    medianError: medianError(points.map(({ error }) => error)),
    picked,
    fastest,
    regret: picked.measuredNs / fastest.measuredNs - 1,
  };
}
