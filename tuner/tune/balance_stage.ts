/**
 * The balance of a run: the grid shared between the chosen configuration of the GPU and the CPU.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import { balance as balanceDevices, type SharedCostModel } from "../sharing/balance.ts";
import { sharingDevices } from "../sharing/shared_run.ts";
import type { TuningRun } from "./tuning_run.ts";

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

/** Shares the grid between the best configuration of the GPU and the CPU. */
export async function balance(run: TuningRun): Promise<BalanceResult> {
  const { request: { startShare }, environment, session, problem, findings } = run;
  const { signal, onProgress, onEvaluation } = environment;
  const none = (message: string): BalanceResult => ({ iterations: [], message });
  const best = findings.bestOn("gpu");
  const why = whyNone(run);
  if (why !== undefined || best === undefined) return none(why ?? "no configuration of the GPU verified");
  const { gpu, cpuPool, reference } = await run.open();
  if (gpu === undefined || cpuPool === undefined) return none("the devices could not be opened");
  const result = await balanceDevices({
    devices: sharingDevices({ gpu, cpuPool, reference }),
    problem,
    configuration: best.configuration,
    startShare,
    alone: findings.best?.cellsPerSecond ?? best.cellsPerSecond,
    deadlineNs: run.plan.endNs,
    now: () => session.now(),
    signal,
    onProgress: (done, total) => onProgress({ stage: "balance", done, total }),
  });
  for (const evaluation of result.evaluations) {
    findings.count(evaluation);
    await onEvaluation(evaluation);
  }
  const { best: measurement, message, costModel } = result;
  // times of one step: R is not the same in all of them
  const iterations = result.iterations.map(({ exchangeEvery, cpuTimeNs, gpuTimeNs, ...slices }) => ({
    ...slices,
    cpuTimeNs: cpuTimeNs / exchangeEvery,
    gpuTimeNs: gpuTimeNs / exchangeEvery,
  }));
  return { measurement, iterations, message, costModel };
}

/** Why nothing is shared. */
function whyNone({ request, session, problem, environment }: TuningRun): string | undefined {
  if (request.cpuWorkers === 0) return "the GPU computes alone: no CPU workers were asked for";
  if (!session.hasGpu) return "the CPU computes alone: there is no GPU";
  if (problem.grid[0] < 2) return "none: a grid of one slice cannot be shared";
  return environment.signal.aborted ? "interrupted before the balance" : undefined;
}
