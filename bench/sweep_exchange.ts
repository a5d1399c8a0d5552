/**
 * Measures the time of a step for every R, the steps between two exchanges of a GPU and a CPU that share a grid, beside
 * the prediction of the cost model that `balance` fits. `deno run -A bench/sweep_exchange.ts --help` lists the options.
 *
 * @module
 */
import { cellsOf } from "../kernels/stencils/stencil.ts";
import {
  medianError,
  predictCurve,
  type PredictedPoint,
  type SharedFit,
  type SharedIteration,
} from "../models/shared_fit.ts";
import { ITERATIONS } from "../models/balance.ts";
import type { Failure } from "../tuner/configuration.ts";
import { RunFailure } from "../tuner/devices/run_failure.ts";
import { evaluateOn } from "../tuner/measuring/evaluate.ts";
import { PROPOSALS } from "../tuner/measuring/search_plans.ts";
import { candidatesOf } from "../tuner/sharing/balance.ts";
import {
  periodsFor,
  searchShares,
  shareConfiguration,
  sharedCostModelOf,
  type SharingOptions,
} from "../tuner/sharing/search_shares.ts";
import {
  type BalanceContext,
  headLines,
  headRecord,
  numbers,
  SHARED,
  shareDevices,
} from "../tuner/cli/balance.ts";
import { endWith } from "../tuner/cli/main.ts";
import { count, type Options, type Reader, whole } from "../tuner/cli/options.ts";
import { command } from "../tuner/cli/parse_options.ts";
import { EXIT } from "../tuner/cli/report_error.ts";
import { type Line, print } from "../tuner/cli/terminal.ts";
import { formatChange, formatDuration, formatPercent } from "../tuner/format.ts";
import { RequestError } from "../tuner/problem/request_error.ts";

/** R that anyone could mean; a typing error beyond. */
const readPeriod = whole(1, 10_000);

/** `A..B` as every R from A to B. */
const readPeriods: Reader<readonly number[]> = (text, refuse, earlier) => {
  const [first, last] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1)
    .map((part) => readPeriod(part, refuse, earlier));
  if (first === undefined || last === undefined || first > last) {
    return refuse("two whole numbers, the smaller first, such as 1..32");
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
};

/** Those of `balance`, and which R. */
export const OPTIONS = {
  ...SHARED,
  periods: { value: "A..B", help: "steps between two exchanges", read: readPeriods, default: "1..32" },
  passes: { ...count("how often each is measured", 1, 1000), default: "7" },
} as const satisfies Options;

/** Writes no file. Exit code 1 where the result of an R was wrong. */
export const run = command(
  {
    usage: "deno run -A bench/sweep_exchange.ts [OPTIONS]",
    about: "Measures every R, the steps between two exchanges of the GPU and the CPU, beside its prediction.",
    options: OPTIONS,
  },
  (options) =>
    shareDevices(options, async ({ sharing, context, attended }) => {
      const { periods, passes } = options;
      const onProgress = (done: number, total: number) =>
        attended.progress.update({ stage: "sweep", done, total });
      const sweep = await sweepExchange({ ...sharing, periods, passes, onProgress });
      attended.progress.clear();
      if (sweep === undefined) {
        if (attended.signal.aborted) return attended.exitCode;
        throw new RequestError(
          `Cannot use --periods: no R fits: two shares of ${
            sharing.problem.grid[0]
          } slices hold no ghost zones`,
        );
      }
      print(options.json ? sweepRecord(sweep, context) : renderSweep(sweep, context));
      return attended.signal.aborted ? attended.exitCode : sweep.failed.length > 0 ? EXIT.no : EXIT.done;
    }),
);

interface SweepOptions extends SharingOptions {
  /** R to measure; those whose ghost zones do not fit are left out. */
  readonly periods: readonly number[];
  /** Times that every R is measured. @default {7} */
  readonly passes?: number;
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
  readonly samples: readonly SharedIteration[];
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
  const total = ITERATIONS * (searched.length + PROPOSALS) + passes * periods.length;
  let done = 0;
  const { tried, failed: refused } = await searchShares(options, searched, () => onProgress(done++, total));
  if (tried.length === 0) {
    const failure = refused?.failure;
    if (failure !== undefined) throw new RunFailure(failure.reason, failure.message);
    return undefined;
  }
  const model = sharedCostModelOf(options, tried);
  const trials = predictCurve(problem, model.costs, periods)
    .map((point) => ({ point, samplesNs: [] as number[] }));
  const failed = new Map<number, Failure>();
  for (let pass = 0; pass < passes; pass++) {
    for (const { point, samplesNs } of trials) {
      if (options.signal?.aborted) break;
      onProgress(ITERATIONS * (searched.length + PROPOSALS) + pass * trials.length, total);
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
  const candidates = candidatesOf(tried).map(({ exchangeEvery }) => exchangeEvery);
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

/** A sweep for programs. */
function sweepRecord({ costs, ...sweep }: ExchangeSweep, context: BalanceContext) {
  const { picked: { exchangeEvery: picked }, fastest: { exchangeEvery: fastest } } = sweep;
  return { ...headRecord(context), ...sweep, picked, fastest, coefficients: costs };
}

/** A sweep for people: a table over R, and what the choice costs. */
export function renderSweep(sweep: ExchangeSweep, context: BalanceContext): Line[] {
  const { points, failed, picked, fastest, regret, residuals } = sweep;
  const header = ["R", "CPU slices", "GPU slices", "predicted", "measured", "error"];
  const [slices] = context.problem.grid;
  const rows = points.map(({ exchangeEvery, cpuSlices, predictedNs, measuredNs, error }) => [
    `${exchangeEvery}`,
    `${cpuSlices}`,
    `${slices - cpuSlices}`,
    formatDuration(predictedNs),
    formatDuration(measuredNs),
    formatChange(error),
  ]);
  const fit = (["cpu", "gpu", "together"] as const)
    .map((part) => `${formatPercent(medianError(residuals[part]))} (${part})`).join(", ");
  return [
    ...headLines(context),
    "",
    "Time of a step over R, the steps between two exchanges, each R with the share that the model balances:",
    numbers(header, rows),
    "",
    ...failed.map(({ exchangeEvery, failure: { reason, message } }) =>
      `Failed: R = ${exchangeEvery}: ${reason}: ${message}`
    ),
    `Median error ${formatPercent(sweep.medianError)} over ${points.length} R; the fit is within ${fit}`,
    `Picked R = ${picked.exchangeEvery}, ${formatDuration(picked.measuredNs)} a step. Fastest R = ` +
    `${fastest.exchangeEvery}, ${formatDuration(fastest.measuredNs)} a step: ` +
    `the choice costs ${formatPercent(regret)}`,
  ];
}

if (import.meta.main) await endWith(() => run(Deno.args));
