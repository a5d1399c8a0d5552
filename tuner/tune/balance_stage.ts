import type { Measurement } from "../configuration.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import { type Balance, balance as balanceDevices } from "../sharing/balance.ts";
import type { TuneOutcome } from "./tune_request.ts";
import type { TuningRun } from "./tuning_run.ts";
import { uses } from "../shares.ts";

/** A configuration of the GPU that compiles longer than this part of the time left is passed over. */
const COMPILING_PART = 0.5;

/** What sharing came to. */
export interface BalanceResult extends Pick<TuneOutcome, "together" | "balanceMessage" | "costModel"> {
  readonly iterations: ProfileEntry["balance"];
}

/**
 * Shares the grid between the GPU and the CPU, each in the best way that was found for it; until the run's end, but
 * always with one iteration where the devices allow it.
 */
export async function balanceStage(run: TuningRun): Promise<BalanceResult> {
  const { request: { startShare, cpuWorkers }, environment, session, problem, findings } = run;
  const { signal, onEvaluation } = environment;
  const nothing = { together: undefined, iterations: [], costModel: undefined };
  const why = whyNone(run);
  if (why !== undefined) return { ...nothing, balanceMessage: why };
  const deadlineNs = run.plan.balanceUntilNs;
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
      onProgress: (done, total) => run.report("balance", done, total),
    });
    for (const evaluation of result.evaluations) {
      findings.count(evaluation);
      await onEvaluation(evaluation);
      if ("failure" in evaluation) await run.recover(evaluation.failure);
    }
    // what computes the whole grid need not be able to compute a share of it
    if (result.iterations.length > 0 || signal.aborted) break;
  }
  if (result === undefined) return { ...nothing, balanceMessage: "no configuration of the GPU verified" };
  const { best: together, message: balanceMessage, costModel } = result;
  // times of one step: R is not the same in all of them
  const iterations = result.iterations.map((
    { exchangeEvery, cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs },
  ) => ({
    cpuSlices,
    gpuSlices,
    cpuTimeNs: cpuTimeNs / exchangeEvery,
    gpuTimeNs: gpuTimeNs / exchangeEvery,
  }));
  return { together, iterations, balanceMessage, costModel };
}

/** How the GPU may compute its share: the best way, and the best of every other traversal. */
function waysOnGpu({ session, findings }: TuningRun, deadlineNs: number): Measurement[] {
  const ways = [...new Set([findings.bestOn("gpu"), ...findings.bestOfEach.values()])]
    .filter((best) => best !== undefined).filter(({ configuration: { share } }) => uses(share, "gpu"));
  const mostNs = COMPILING_PART * (deadlineNs - session.now());
  const quick = ways.filter(({ compileNs }) => compileNs <= mostNs);
  return quick.length > 0 ? quick : ways.toSorted((a, b) => a.compileNs - b.compileNs);
}

/** Why nothing is shared. */
function whyNone({ request, session, problem, environment }: TuningRun): string | undefined {
  if (request.cpuWorkers === 0) return "the GPU computes alone: the CPU has no workers";
  if (!session.hasGpu) return "the CPU computes alone: there is no GPU";
  if (problem.grid[0] < 2) return "none: a grid of one slice cannot be shared";
  return environment.signal.aborted ? "interrupted before the balance" : undefined;
}
