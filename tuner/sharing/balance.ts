import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { fastestOf, predictPlan } from "../../models/round.ts";
import {
  fitShared,
  LONGEST_PERIOD,
  partCosts,
  planOfPair,
  predictCurve,
  type PredictedPoint,
  type SharedFit,
  type SharedIteration,
} from "../../models/shared_fit.ts";
import type { Measurement } from "../configuration.ts";
import { HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { formatDuration, formatFactor, formatPeriod } from "../format.ts";
import { isShared } from "../shares.ts";
import { evaluateOn, type Evaluation } from "../measuring/evaluate.ts";
import {
  type BalancedPeriod,
  ITERATIONS,
  periodsFor,
  searchPeriods,
  shareConfiguration,
  type SharingOptions,
} from "./search_periods.ts";

export interface Balance {
  /** The fastest verified configuration that shares the grid; undefined where there is none. */
  readonly best: Measurement | undefined;
  /** The steps of Eq. 8 with the first R, then with that of the outcome, or the fastest where the model proposed it. */
  readonly iterations: readonly SharedIteration[];
  /** What was verified and measured, and what failed. */
  readonly evaluations: readonly Evaluation[];
  /** Whether Eq. 8 came to an end; and how the outcome came about, in one line. */
  readonly settled: boolean;
  readonly message: string;
  /** Fitted to the search over R; undefined where not more than one R was tried. */
  readonly costModel: SharedCostModel | undefined;
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

/** R that are verified and measured: at most CANDIDATES, only if this near the fastest, with this time for samples. */
const CANDIDATES = 3, NEAR = 0.05, SAMPLING_NS = 1.5e9;

/** A share to verify and measure; the time of a step is what the search measured or the model predicts. */
type BalanceCandidate = Pick<BalancedPeriod, "exchangeEvery" | "cpuSlices" | "stepNs">;

/**
 * Balances a grid between the CPU and the GPU. B2R's Eq. 8 finds the share of each R; the fastest R, the few that come
 * near it, and the R that the fitted cost model prefers are then verified and measured by the host's clock: what counts
 * is when the slower device is done, exchanges included. A device's failure is an evaluation on record, no exception.
 */
export async function balance(options: SharingOptions): Promise<Balance> {
  const { problem, session, deadlineNs = Infinity, onProgress = () => {} } = options;
  const periods = periodsFor(options);
  if (periods.length === 0) {
    const message = `${problem.grid[0]} slices cannot hold two shares as wide as the stencil reaches`;
    const nothing = { best: undefined, iterations: [], evaluations: [], costModel: undefined };
    return { ...nothing, settled: false, message };
  }
  const searching = ITERATIONS * periods.length, total = searching + CANDIDATES;
  let done = 0;
  const tried = await searchPeriods(options, periods, () => onProgress(done++, total));
  const costModel = tried.length > 1 ? sharedCostModelOf(options, tried) : undefined;
  const picked = fastestOf(tried) ?? tried.at(-1)!;
  const evaluations: Evaluation[] = tried.flatMap(({ failed }) => failed ?? []);
  let best: Measurement | undefined, whyNotMeasured: string | undefined;
  for (const [i, candidate] of candidatesOf(tried, costModel?.curve ?? []).entries()) {
    const hasLostDevice = evaluations.some((of) => "failure" in of && of.failure.reason === "device-lost");
    if (options.signal?.aborted || hasLostDevice) break;
    const why = whyNotMeasure(options, candidate);
    if (i === 0) whyNotMeasured = why;
    if (why !== undefined) continue;
    onProgress(searching + i, total);
    const evaluation = await evaluateOn(session, shareConfiguration(options, candidate), {
      problem,
      best: best?.cellsPerSecond ?? 0,
      samplingNs: Math.min(SAMPLING_NS, Math.max(deadlineNs - session.now(), 0)),
    });
    evaluations.push(evaluation);
    if (!("measurement" in evaluation)) continue;
    const { measurement } = evaluation;
    if (best === undefined || measurement.cellsPerSecond > best.cellsPerSecond) best = measurement;
  }
  onProgress(total, total);
  const [first] = tried, { exchangeEvery } = best?.configuration.share ?? picked;
  const settled = tried.find((period) => period.exchangeEvery === exchangeEvery), found = settled ?? picked;
  const proposed = `; the cost model's share, exchanging every ${formatPeriod(exchangeEvery)}, is faster`;
  return {
    best,
    iterations: first === found ? found.iterations : [...first!.iterations, ...found.iterations],
    evaluations,
    settled: found.isSettled,
    message: whyNotMeasured ??
      (tried.length === 1 ? "" : `exchanging every ${formatPeriod(found.exchangeEvery)}, `) + found.message +
        (settled === undefined ? proposed : ""),
    costModel: costModel && sharedCostModelOf(options, tried, evaluations),
  };
}

/** What to verify: the fastest of the search, what came near it, and what the model calls faster. */
export function candidatesOf(
  tried: readonly BalancedPeriod[],
  curve: readonly CurvePoint[],
): readonly BalanceCandidate[] {
  const fastest = fastestOf(tried);
  if (fastest === undefined) return [];
  const near = tried.filter(({ stepNs }) => stepNs <= (1 + NEAR) * fastest.stepNs)
    .toSorted((a, b) => a.stepNs - b.stepNs);
  const [predicted] = curve.toSorted((a, b) => a.predictedNs - b.predictedNs);
  const isNew = predicted !== undefined && predicted.measuredNs === null &&
    predicted.predictedNs < fastest.stepNs;
  return [fastest, ...(isNew ? [{ ...predicted, stepNs: predicted.predictedNs }] : []), ...near.slice(1)]
    .slice(0, CANDIDATES);
}

/** Why a share is not measured in a limited time; undefined if it is. */
function whyNotMeasure(options: SharingOptions, { stepNs }: BalanceCandidate): string | undefined {
  const { session, problem, alone, deadlineNs } = options;
  if (deadlineNs === undefined) return undefined;
  const { cpu = 0, gpu = 0 } = alone ?? {};
  // infinite where no rate is known
  const aloneNs = cellsOf(problem.grid) / Math.max(cpu, gpu) * 1e9;
  if (stepNs > (1 + NEAR) * aloneNs) {
    const [device, other] = cpu > gpu ? ["CPU", "GPU"] : ["GPU", "CPU"];
    const times = `${formatDuration(stepNs)} a step; the ${device} alone: ${formatDuration(aloneNs)}`;
    return `sharing with the ${other} would take ${formatFactor(stepNs / aloneNs)} as long (${times})`;
  }
  // a run to verify, and a sample by the host's clock
  const runNs = problem.steps * stepNs;
  const isLate = session.now() + runNs + Math.max(runNs, HOST_BATCH_NS) > deadlineNs;
  return isLate ? `no time was left to verify a shared step of ${formatDuration(stepNs)}` : undefined;
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
  const measured = new Map<number, BalanceCandidate>();
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
