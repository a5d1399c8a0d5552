/**
 * What a run leaves in the profile.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";
import { laterRunInterval } from "../measuring/later_run.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { describeCostModel, type ProfileEntry } from "../profile/schema.ts";
import type { BalanceResult } from "./balance_stage.ts";
import type { TuningRun } from "./tuning_run.ts";

/**
 * The profile's entry for the winner: the GPU's chosen configuration, unless the CPU, or both together, is faster than
 * everything that ties with it. Undefined if nothing verified.
 */
export function entryOf(
  run: TuningRun,
  cpuAlone: Measurement | undefined,
  shared: BalanceResult,
): ProfileEntry | undefined {
  const { request: { strategy, seed }, findings: { best, tieSet, bestOfEach, evaluated, failed } } = run;
  const rateToBeat = Math.max(0, ...tieSet.map(({ cellsPerSecond }) => cellsPerSecond));
  const winner = [cpuAlone, shared.measurement].reduce(
    (leader, one) =>
      one !== undefined && one.cellsPerSecond > Math.max(rateToBeat, leader?.cellsPerSecond ?? 0)
        ? one
        : leader,
    best,
  );
  if (winner === undefined) return undefined;
  const { configuration, cellsPerSecond, samples, verification } = winner;
  const stepwise = bestOfEach.get("stepwise");
  const roof = configuration.share.gpuSlices === 0 ? undefined : run.candidateOf(configuration)?.roof;
  // without a final round it was measured in one turn only
  const ties = tieSet.includes(winner)
    ? tieSet
    : [{ ...winner, confidence95: laterRunInterval([samples], { rate: cellsPerSecond }) }];
  const { confidence95 } = ties.find((one) => one.configuration === configuration) ?? winner;
  return {
    problem: describeProblem(run.problem),
    configuration,
    result: {
      cellsPerSecond,
      confidence95,
      samples,
      roofFraction: roof === undefined ? null : cellsPerSecond / roof,
      speedupOverStepwise: stepwise === undefined ? null : cellsPerSecond / stepwise.cellsPerSecond,
    },
    tieSet: ties.map((tie) => ({
      configuration: tie.configuration,
      cellsPerSecond: tie.cellsPerSecond,
      confidence95: tie.confidence95,
    })),
    balance: shared.iterations,
    ...(shared.costModel === undefined ? {} : { costModel: describeCostModel(shared.costModel) }),
    verification,
    search: {
      strategy: strategy.name,
      seed,
      spaceSize: run.space.candidates.length + run.cpuConfigurations.length,
      evaluated,
      failed,
      elapsedMs: run.elapsedNs / 1e6,
    },
  };
}
