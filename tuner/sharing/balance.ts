import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { ITERATIONS, nextShare } from "../../models/balance.ts";
import { fastestOf } from "../../models/round.ts";
import type { SharedIteration } from "../../models/shared_fit.ts";
import type { Measurement } from "../configuration.ts";
import { HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { formatDuration, formatFactor, formatPeriod, formatPlural } from "../format.ts";
import { evaluateOn, type Evaluation } from "../measuring/evaluate.ts";
import { PROPOSALS } from "../measuring/search_plans.ts";
import {
  fastestOfEach,
  periodsFor,
  searchShares,
  shareConfiguration,
  type SharedCostModel,
  sharedCostModelOf,
  type SharingOptions,
  type TriedShare,
} from "./search_shares.ts";

export interface Balance {
  /** The fastest verified configuration that shares the grid; undefined where there is none. */
  readonly best: Measurement | undefined;
  /** The steps of Eq. 8 with the first R, then with that of the outcome. */
  readonly iterations: readonly SharedIteration[];
  /** What was verified and measured, and what failed. */
  readonly evaluations: readonly Evaluation[];
  /** Whether Eq. 8 came to an end; and how the outcome came about, in one line. */
  readonly settled: boolean;
  readonly message: string;
  /** Fitted to the search over R; undefined where not more than one R was tried. */
  readonly costModel: SharedCostModel | undefined;
}

/** R that are verified and measured: at most CANDIDATES, only if this near the fastest, with this time for samples. */
const CANDIDATES = 3, NEAR = 0.05, SAMPLING_NS = 1.5e9;

/**
 * Balances a grid between the CPU and the GPU. B2R's Eq. 8 finds the share of each R; the fastest R and the few that come
 * near it are then verified and measured by the host's clock: what counts is when the slower device is done, exchanges
 * included. A device's failure is an evaluation on record, no exception.
 */
export async function balance(options: SharingOptions): Promise<Balance> {
  const { problem, session, deadlineNs = Infinity, onProgress = () => {} } = options;
  const periods = periodsFor(options);
  if (periods.length === 0) {
    const message = `${problem.grid[0]} slices cannot hold two shares as wide as the stencil reaches`;
    const nothing = { best: undefined, iterations: [], evaluations: [], costModel: undefined };
    return { ...nothing, settled: false, message };
  }
  const searching = ITERATIONS * (periods.length + PROPOSALS), total = searching + CANDIDATES;
  let done = 0;
  const { tried, failed } = await searchShares(options, periods, () => onProgress(done++, total));
  const evaluations: Evaluation[] = failed ? [failed] : [];
  let best: Measurement | undefined, whyNotMeasured: string | undefined;
  for (const [i, candidate] of candidatesOf(tried).entries()) {
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
  const [first] = tried,
    R = (best?.configuration.share ?? fastestOf(tried) ?? { exchangeEvery: 0 }).exchangeEvery;
  const its = tried.filter(({ exchangeEvery }) => exchangeEvery === R);
  const { end, isSettled: settled } = its.length === 0
    ? { end: undefined, isSettled: false }
    : nextShare(problem, its);
  const whyNoEnd = failed === undefined
    ? `${options.signal?.aborted ? "interrupted" : "no time left"} after ${
      formatPlural(its.length, "iteration")
    }`
    : `the balance failed: ${failed.failure.reason}: ${failed.failure.message}`;
  const isOne = its.length === tried.length;
  return {
    best,
    iterations: tried.filter(({ exchangeEvery }) => [first!.exchangeEvery, R].includes(exchangeEvery)),
    evaluations,
    settled,
    message: whyNotMeasured ?? (isOne ? "" : `exchanging every ${formatPeriod(R)}, `) + (end ?? whyNoEnd),
    costModel: isOne ? undefined : sharedCostModelOf(options, tried, evaluations),
  };
}

/** What to verify: the fastest of the search, and of other R what came near it. */
export function candidatesOf(tried: readonly TriedShare[]): readonly TriedShare[] {
  const leastNs = fastestOf(tried)?.stepNs ?? 0;
  return fastestOfEach(tried).filter(({ stepNs }) => stepNs <= (1 + NEAR) * leastNs)
    .toSorted((a, b) => a.stepNs - b.stepNs).slice(0, CANDIDATES);
}

/** Why a share is not measured in a limited time; undefined if it is. */
function whyNotMeasure(options: SharingOptions, { stepNs }: TriedShare): string | undefined {
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
