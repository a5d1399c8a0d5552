/**
 * What a run leaves in the profile.
 *
 * @module
 */
import type { SharedCostModel } from "../sharing/balance_run.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import { laterRunInterval } from "../measuring/later_run.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { describeCostModel, type ProfileEntry } from "../profile/schema.ts";
import { fastest } from "./findings.ts";
import type { TuningRun } from "./tuning_run.ts";

/** The profile's entry for the fastest of the winners; undefined where there is none. */
export function entryOf(
  run: TuningRun,
  winners: readonly Measurement[],
  { balance, costModel, elapsedNs }: {
    balance: ProfileEntry["balance"];
    costModel: SharedCostModel | undefined;
    elapsedNs: number;
  },
): ProfileEntry | undefined {
  const { request: { strategy, seed }, findings } = run;
  const winner = fastest(winners);
  if (winner === undefined) return undefined;
  const stepwise = findings.bestOfEach.get("stepwise");
  const roof = roofOf(run, winner.configuration);
  const isFinalist = findings.tieSet.includes(winner);
  const confidence95 = isFinalist
    ? winner.confidence95
    // it was measured in one turn only
    : laterRunInterval([winner.samples], { rate: winner.cellsPerSecond });
  const ties = isFinalist ? findings.tieSet : [{ ...winner, confidence95 }];
  return {
    problem: describeProblem(run.problem),
    configuration: winner.configuration,
    result: {
      cellsPerSecond: winner.cellsPerSecond,
      confidence95,
      samples: winner.samples,
      roofFraction: roof === undefined ? null : winner.cellsPerSecond / roof,
      speedupOverStepwise: stepwise === undefined ? null : winner.cellsPerSecond / stepwise.cellsPerSecond,
    },
    tieSet: ties.map(({ configuration, cellsPerSecond, confidence95 }) => ({
      configuration,
      cellsPerSecond,
      confidence95,
    })),
    balance,
    ...(costModel === undefined ? {} : { costModel: describeCostModel(costModel) }),
    verification: winner.verification,
    search: {
      strategy: strategy.name,
      seed,
      spaceSize: run.space.candidates.length,
      evaluated: findings.evaluated,
      failed: findings.failed,
      elapsedMs: elapsedNs / 1e6,
    },
  };
}

/** The roof of a configuration of the GPU alone: bandwidth over its traversal's traffic. */
function roofOf(run: TuningRun, configuration: Configuration): number | undefined {
  return configuration.share.gpuSlices === 0 ? undefined : run.candidateOf(configuration)?.roof;
}
