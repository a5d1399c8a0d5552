/**
 * The balance of a run: the grid shared between the chosen configuration of the GPU and the CPU.
 *
 * @module
 */
import { balanceOnDevices, type SharedCostModel } from "../sharing/balance_run.ts";
import type { Measurement } from "../configuration.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import type { TuningRun } from "./tuning_run.ts";

/** What sharing came to. */
export interface BalanceResult {
  /** Of both devices together; undefined where nothing was shared. */
  readonly measurement: Measurement | undefined;
  readonly iterations: ProfileEntry["balance"];
  /** How it ended, in one line; why there was none. */
  readonly message: string;
  /** What the steps between exchanges were chosen by. */
  readonly costModel: SharedCostModel | undefined;
}

/** Shares the grid between the best configuration of the GPU and the CPU. */
export async function balance(
  run: TuningRun,
  { cpuCellsPerSecond, deadlineNs }: { cpuCellsPerSecond: number | undefined; deadlineNs: number },
): Promise<BalanceResult> {
  const { request: { startShare, cpuWorkers }, environment, session, problem, findings } = run;
  const { signal, onProgress, onEvaluation } = environment;
  const none = (message: string): BalanceResult => ({
    measurement: undefined,
    iterations: [],
    message,
    costModel: undefined,
  });
  const { best } = findings;
  if (cpuWorkers === 0) return none("the GPU computes alone: no CPU workers were asked for");
  if (!session.hasGpu) return none("the CPU computes alone: there is no GPU");
  if (problem.grid[0] < 2) return none("none: a grid of one slice cannot be shared");
  if (best === undefined) return none("no configuration of the GPU verified");
  if (signal.aborted) return none("interrupted before the balance");
  if (run.sharingIsFutile !== undefined) return none(`not tried in a limited time: ${run.sharingIsFutile}`);
  const { gpu, cpuPool, reference } = await run.open();
  if (gpu === undefined || cpuPool === undefined) return none("the devices could not be opened");
  const result = await balanceOnDevices({
    gpu,
    cpuPool,
    problem,
    configuration: best.configuration,
    reference,
    startShare,
    alone: { cpu: cpuCellsPerSecond, gpu: best.cellsPerSecond },
    deadlineNs,
    now: () => session.now(),
    signal,
    onProgress: (done, total) => onProgress({ stage: "balance", done, total }),
  });
  for (const evaluation of result.evaluations) {
    findings.count(evaluation);
    await onEvaluation(evaluation);
  }
  return {
    measurement: result.best,
    iterations: result.iterations,
    message: result.message,
    costModel: result.costModel,
  };
}
