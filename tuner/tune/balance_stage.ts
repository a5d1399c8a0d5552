/**
 * The balance of a run: the grid shared between the GPU and the CPU, each in the best way that was found for it.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import { type Balance, balance as balanceDevices, type SharedCostModel } from "../sharing/balance.ts";
import type { TuningRun } from "./tuning_run.ts";

/** A configuration of the GPU that compiles longer than this part of the time left is passed over. */
const COMPILING_PART = 0.5;

/** What sharing came to. */
export interface BalanceResult {
  /** Of both devices together; undefined if nothing was shared. */
  readonly measurement?: Measurement | undefined;
  readonly iterations: ProfileEntry["balance"];
  /** How it ended, or why there was none, in one line. */
  readonly message: string;
  /** By what the steps between exchanges were chosen. */
  readonly costModel?: SharedCostModel | undefined;
}

/** Shares the grid; until the run's end, but always with one iteration where the devices allow it. */
export async function balance(run: TuningRun): Promise<BalanceResult> {
  const { request: { startShare, cpuWorkers }, environment, session, problem, findings } = run;
  const { signal, onProgress, onEvaluation } = environment;
  const none = (message: string): BalanceResult => ({ iterations: [], message });
  const why = whyNone(run);
  if (why !== undefined) return none(why);
  const deadlineNs = run.plan.endNs;
  const cpu = findings.bestOn("cpu");
  let result: Balance | undefined;
  for (const { configuration } of waysOnGpu(run, deadlineNs)) {
    result = await balanceDevices({
      session,
      problem,
      configuration,
      cpuWorkers: cpu?.configuration.share.cpuWorkers ?? cpuWorkers,
      cpu: cpu?.configuration,
      startShare,
      alone: {
        cpu: cpu?.cellsPerSecond ?? run.cpu?.cellsPerSecond,
        gpu: findings.bestOn("gpu")?.cellsPerSecond,
      },
      deadlineNs,
      signal,
      onProgress: (done, total) =>
        onProgress({ stage: "balance", done, total, bestCellsPerSecond: findings.best?.cellsPerSecond }),
    });
    for (const evaluation of result.evaluations) {
      findings.count(evaluation);
      await onEvaluation(evaluation);
      if ("failure" in evaluation) await run.recover(evaluation.failure);
    }
    // what computes the whole grid need not be able to compute a share of it
    if (result.iterations.length > 0 || signal.aborted) break;
  }
  if (result === undefined) return none("no configuration of the GPU verified");
  const { best: measurement, message, costModel } = result;
  // times of one step: R is not the same in all of them
  const iterations = result.iterations.map(({ exchangeEvery, cpuTimeNs, gpuTimeNs, ...slices }) => ({
    ...slices,
    cpuTimeNs: cpuTimeNs / exchangeEvery,
    gpuTimeNs: gpuTimeNs / exchangeEvery,
  }));
  return { measurement, iterations, message, costModel };
}

/** How the GPU may compute its share: the best way, and the best of every other traversal. */
function waysOnGpu({ session, findings }: TuningRun, deadlineNs: number): Measurement[] {
  const ways = [...new Set([findings.bestOn("gpu"), ...findings.bestOfEach.values()])]
    .filter((one) => one !== undefined).filter(({ configuration: { share } }) => share.gpuSlices > 0);
  const mostNs = COMPILING_PART * (deadlineNs - session.now());
  const quick = ways.filter(({ compileNs }) => compileNs <= mostNs);
  return quick.length > 0 ? quick : ways.toSorted((a, b) => a.compileNs - b.compileNs);
}

/** Why nothing is shared. */
function whyNone({ request, session, problem, environment }: TuningRun): string | undefined {
  if (request.cpuWorkers === 0) return "the GPU computes alone: no CPU workers were asked for";
  if (!session.hasGpu) return "the CPU computes alone: there is no GPU";
  if (problem.grid[0] < 2) return "none: a grid of one slice cannot be shared";
  return environment.signal.aborted ? "interrupted before the balance" : undefined;
}
