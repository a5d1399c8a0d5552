/**
 * A run of `tune`: device → space → search → final round → balance → the entry of a profile. Every
 * configuration that was timed was verified first. What fails is recorded and the run goes on.
 *
 * @module
 */
import { balance } from "./stages/balance_stage.ts";
import { measureCpu } from "./stages/cpu_stage.ts";
import { entryOf } from "./stages/entry.ts";
import { finals } from "./stages/final_stage.ts";
import { search } from "./stages/search_stage.ts";
import { TuningRun } from "./stages/tuning_run.ts";
import type { TuneEnvironment, TuneOutcome, TuneRequest } from "./tune_request.ts";

export type * from "./tune_request.ts";

/** Parts of the time budget at whose end each stage stops; without the CPU the final round is the last. */
const SEARCH_UNTIL = 0.7, SEARCH_ALONE_UNTIL = 0.8, FINALS_UNTIL = 0.84;
/** Parts of the time budget that stages get at least: on slow devices those before run over. */
const LEAST_FINALS = 0.1, LEAST_BALANCE = 0.2;
/** Time for the final round, and for CPU and balance, at most. */
const MOST_FINALS_NS = 10e9, MOST_BALANCE_NS = 15e9;

/**
 * Tunes one problem on this device.
 *
 * @param request what to tune
 * @param environment the device, the clock, whom to tell
 * @returns what was found, also where it was interrupted
 * @throws {DeviceError} where the device cannot run anything at all
 */
export async function tune(request: TuneRequest, environment: TuneEnvironment): Promise<TuneOutcome> {
  const { now, signal, onProgress } = environment;
  const startedNs = now();
  using run = new TuningRun(request, environment);
  onProgress({ stage: "device", done: 0, total: 0 });
  const start = await run.start();
  const { findings } = run;
  findings.known = await environment.recall?.(start) ?? new Map();
  await environment.onStart(start);
  const timeNs = "timeNs" in request.budget ? request.budget.timeNs : Infinity;
  const until = (part: number): number => startedNs + part * timeNs;

  const isAlone = request.cpuWorkers === 0;
  const searched = await search(run, until(isAlone ? SEARCH_ALONE_UNTIL : SEARCH_UNTIL));
  const finalsUntil = Math.max(until(isAlone ? 1 : FINALS_UNTIL), now() + LEAST_FINALS * timeNs);
  const finalists = await finals(run, Math.min(finalsUntil, now() + MOST_FINALS_NS));
  const gpuAlone = findings.best;
  const left = Math.max(until(1) - now(), LEAST_BALANCE * timeNs);
  const end = now() + Math.min(left, MOST_BALANCE_NS);
  const cpu = await measureCpu(run, end);
  const shared = await balance(run, { cpuCellsPerSecond: cpu.cellsPerSecond, deadlineNs: end });

  const entry = entryOf(
    run,
    [gpuAlone, cpu.measurement, shared.measurement].filter((measurement) => measurement !== undefined),
    { balance: shared.iterations, costModel: shared.costModel, elapsedNs: now() - startedNs },
  );
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
    elapsedNs: now() - startedNs,
  };
}
