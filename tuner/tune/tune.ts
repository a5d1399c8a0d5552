/**
 * A run of `tune`: device → space → search → final round → balance → the entry of a profile. Every
 * configuration that was timed was verified first. What fails is recorded and the run goes on.
 *
 * @module
 */
import { formatDuration } from "../format.ts";
import { balance } from "./balance_stage.ts";
import { measureCpu, probe } from "./cpu_stage.ts";
import { entryOf } from "./entry.ts";
import { finals } from "./final_stage.ts";
import { search } from "./search_stage.ts";
import { afterDeadline } from "./time_plan.ts";
import { TuningRun } from "./tuning_run.ts";
import type { TuneEnvironment, TuneOutcome, TuneRequest } from "./tune_request.ts";

export type * from "./tune_request.ts";

/** A budget is exceeded where the run takes longer by more than this part of it. */
const EXCEEDED = 0.1;

/**
 * Tunes one problem on this device.
 *
 * @param request what to tune
 * @param environment the devices, and who is informed
 * @returns what was found, also where it was interrupted
 * @throws {DeviceError} where the device cannot run anything at all
 */
export async function tune(request: TuneRequest, environment: TuneEnvironment): Promise<TuneOutcome> {
  const { session, signal, onProgress } = environment;
  const now = (): number => session.now();
  const run = new TuningRun(request, environment);
  const startedNs = now();
  onProgress({ stage: "device", done: 0, total: 0 });
  const start = await run.start();
  const { findings } = run;
  findings.known = await environment.recall?.(start) ?? new Map();
  await environment.onStart(start);

  const probed = await probe(run);
  const searched = await search(run);
  const finalists = await finals(run);
  const gpuAlone = findings.best;
  const end = afterDeadline(run.plan, { nowNs: now(), cpuNs: run.cpuNs ?? 0 });
  const cpu = await measureCpu(run, probed, end);
  const shared = await balance(run, { cpuCellsPerSecond: cpu.cellsPerSecond, deadlineNs: end });

  const entry = entryOf(
    run,
    [gpuAlone, cpu.measurement, shared.measurement].filter((measurement) => measurement !== undefined),
    { balance: shared.iterations, costModel: shared.costModel, elapsedNs: now() - startedNs },
  );
  const elapsedNs = now() - startedNs;
  return {
    ...start,
    entry,
    gpuAlone,
    cpuAlone: cpu.measurement,
    cpuMessage: cpu.message,
    together: shared.measurement,
    balanceMessage: shared.message,
    costModel: shared.costModel,
    bestOfEach: findings.bestOfEach,
    finalists,
    evaluated: findings.evaluated,
    recalled: findings.recalled,
    searchVerdict: searched.verdict,
    drifts: searched.drifts,
    failed: findings.failed,
    interrupted: signal.aborted,
    budgetMessage: exceededMessage(request, elapsedNs),
    elapsedNs,
  };
}

/** Where the budget was not kept, why. */
function exceededMessage({ budget }: TuneRequest, elapsedNs: number): string | undefined {
  if (!("timeNs" in budget) || elapsedNs <= (1 + EXCEEDED) * budget.timeNs) return undefined;
  return `a budget of ${formatDuration(budget.timeNs)} is too short for this problem on this device: ` +
    "the least that is always measured takes longer";
}
