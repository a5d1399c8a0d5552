import { precisionOf } from "../../kernels/precision.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { featuresOf } from "../../kernels/traversals/parameter.ts";
import { uses } from "../shares.ts";
import type { Measurement } from "../configuration.ts";
import { formatDuration } from "../format.ts";
import { ratedOf } from "../measuring/tie_set.ts";
import { RequestError } from "../problem/request_error.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { whyNotStorable } from "../profile/storable.ts";
import { pointOf, pointsOf } from "../profile/samples.ts";
import type { ProfileResult } from "../profile/profile_types.ts";
import { describeCostModel, type ProfileEntry } from "../profile/schema.ts";
import { type BalanceResult, balanceStage } from "./balance_stage.ts";
import { probe, searchCpu } from "./cpu_stage.ts";
import { finals, measureByHost } from "./final_stage.ts";
import { search } from "./search_stage.ts";
import { SPENT_NS, type TuneEnvironment, type TuneOutcome, type TuneRequest } from "./tune_request.ts";
import { TuningRun } from "./tuning_run.ts";

export type * from "./tune_request.ts";

/**
 * Tunes one problem on this device: device → space → search (GPU, CPU; a GPU in software comes second) → final round →
 * balance → the entry of a profile. Every configuration that was timed was verified first. What fails is recorded, and
 * the run goes on.
 *
 * @returns what was found, also if it was interrupted
 * @throws {RequestError} if a profile cannot store the problem, before any work
 * @throws {DeviceError} if the device cannot run anything at all, or computes wrong results
 */
export async function runTuning(request: TuneRequest, environment: TuneEnvironment): Promise<TuneOutcome> {
  const why = whyNotStorable(request);
  if (why !== undefined) throw new RequestError(`Cannot tune: ${why}`);
  const run = new TuningRun(request, environment);
  const { findings } = run;
  run.report("device", 0, 0);
  const start = await run.start(), { earlier } = run;
  findings.known = await environment.onStart?.(start) ?? new Map();

  let { isGpuTooSlow } = run;
  const whyNoCpu = await probe(run), { isCpuFirst } = run;
  let cpuMessage = whyNoCpu;
  if (isCpuFirst) {
    cpuMessage = await searchCpu(run);
    run.leaveOutProcesses();
    isGpuTooSlow = run.isGpuTooSlow;
  }
  // where the CPU can be measured, it is not the GPU that takes the run beyond its budget
  const searchVerdict = whyNoCpu === undefined && isGpuTooSlow
    ? "no configuration of the GPU would end within the budget"
    : await search(run);
  run.closeAhead();
  if (!isCpuFirst) cpuMessage ??= await searchCpu(run);
  run.endSearch();
  await finals(run);
  const { iterations, ...shared } = await balanceStage(run);
  const winner = winnerOf(run, shared.together);
  const isUnchanged = earlier?.stays === true && earlier.now === undefined;
  const byHost = winner && !isUnchanged ? await measureByHost(run, winner) : undefined;
  const found = winner && !isUnchanged
    ? entryOf(run, winner, { iterations, byHost, ...start, ...shared })
    : undefined;

  return {
    ...start,
    searchVerdict,
    ...shared,
    entry: isUnchanged ? earlier.entry : found && (earlier?.joinedTo(found) ?? found),
    earlierMessage: earlier?.describe(winner?.cellsPerSecond),
    gpuAlone: findings.bestOn("gpu"),
    cpuAlone: findings.bestOn("cpu"),
    cpuMessage,
    bestOfEach: findings.bestOfEach,
    finalists: findings.finalists,
    evaluated: findings.evaluated,
    recalled: findings.recalled,
    failed: findings.failed,
    interrupted: environment.signal.aborted,
    budgetMessage: exceededMessage(run),
    elapsedNs: run.elapsedNs,
  };
}

/** Why the budget was not kept; undefined if it was. */
function exceededMessage({ request: { budget }, session, plan }: TuningRun): string | undefined {
  if (!("timeNs" in budget) || session.now() <= plan.latestNs) return undefined;
  const minimum = "the minimum measurements alone exceed it";
  return budget.timeNs <= SPENT_NS
    ? `the grids before have spent it: ${minimum}`
    : `a budget of ${formatDuration(budget.timeNs)} is too short for this problem on this device: ${minimum}`;
}

/**
 * The configuration that the final round chose, unless both devices together are faster than everything that ties with
 * it, and than the profile's, if that stays, significantly. Undefined if nothing verified.
 */
function winnerOf({ earlier, findings }: TuningRun, together: Measurement | undefined) {
  const { best, tieSet } = findings, kept = earlier?.stays ? earlier.now ?? earlier.recorded : undefined;
  const first = kept ?? best;
  const rateToBeat = Math.max(first?.cellsPerSecond ?? 0, ...tieSet.map((tie) => tie.cellsPerSecond));
  if (together === undefined || together.cellsPerSecond <= rateToBeat) return first;
  if (kept !== undefined && findings.intervalOf(together)[0] <= kept.confidence95[1]) return kept;
  if (earlier !== undefined) earlier.stays = false;
  return together;
}

/** The profile's entry for the winner. */
function entryOf(
  run: TuningRun,
  winner: Measurement,
  { iterations, costModel, byHost, copyBytesPerSecond: gpu }:
    & Pick<BalanceResult, "iterations" | "costModel">
    & Pick<ProfileResult, "byHost">
    & Pick<TuneOutcome, "copyBytesPerSecond">,
): ProfileEntry {
  const { request: { strategy, seed }, findings } = run;
  const { tieSet, baseline, bestOfEach, evaluated, failed } = findings;
  const cpu = run.cpu?.copyBytesPerSecond;
  const { configuration, cellsPerSecond, samples, verification, clock } = winner;
  const roof = run.roofOf(configuration);
  const { features } = precisionOf(run.problem.stencil.update), { traversal, parameters } = configuration;
  const needed = [...features, ...featuresOf(TRAVERSALS.find(({ name }) => name === traversal), parameters)];
  const found = ratedOf({ ...winner, confidence95: findings.intervalOf(winner) });
  return {
    problem: describeProblem(run.problem),
    configuration,
    ...(needed.length > 0 && uses(configuration.share, "gpu") && { features: needed }),
    result: {
      cellsPerSecond,
      confidence95: found.confidence95,
      samples,
      roofFraction: roof === undefined ? null : cellsPerSecond / roof,
      speedupOverStepwise: baseline === undefined ? null : cellsPerSecond / baseline.cellsPerSecond,
      ...(clock !== undefined && { clock }),
      ...(byHost && { byHost }),
    },
    copyBytesPerSecond: { ...(gpu !== null && { gpu }), ...(cpu && { cpu }) },
    tieSet: tieSet.includes(winner) ? tieSet.map(ratedOf) : [found],
    bestOfEach: [...bestOfEach.values()].map(ratedOf),
    calibration: pointsOf(findings.measured.map(pointOf)),
    balance: iterations,
    ...(costModel && { costModel: describeCostModel(costModel) }),
    verification,
    search: {
      strategy: strategy.name,
      seed,
      spaceSize: run.space.candidates.length + run.cpuSpace.length,
      evaluated,
      failed,
      elapsedMs: run.elapsedNs / 1e6,
    },
  };
}
