/**
 * The final round of a run: who takes part, and which of those that cannot be told apart is chosen.
 *
 * @module
 */
import { finalRound, tieSetOf } from "../final_round.ts";
import { orderTies } from "../tie_order.ts";
import type { TuningRun } from "./tuning_run.ts";

/** Finalists, the best of all and the best stepwise. */
const FINALISTS = 4;

/** Measures the best few and the best stepwise again, in turns. */
export async function finals(run: TuningRun, deadlineNs: number): Promise<void> {
  const { environment: { now, signal, onProgress, onEvaluation }, request: { seed }, devices, findings } =
    run;
  const ordered = findings.measured;
  const finalists = new Set(ordered.slice(0, FINALISTS));
  const baseline = findings.bestOfEach.get("stepwise");
  if (baseline !== undefined) finalists.add(baseline);
  if (ordered.length === 0 || devices.gpu === undefined) return;
  const results = await finalRound([...finalists], {
    problem: run.problem,
    prepare: (configuration) => devices.prepare(configuration),
    seed,
    deadlineNs,
    now,
    signal,
    onEvaluation: async (evaluation, done, total) => {
      onProgress({ stage: "final round", done, total, bestCellsPerSecond: findings.best?.cellsPerSecond });
      await onEvaluation(evaluation);
      if (!("failure" in evaluation)) return;
      findings.countFailure(evaluation.failure);
      // without a GPU nothing is learnt about the configuration
      if (devices.gpu !== undefined) findings.forget(evaluation.configuration);
      await devices.afterFailure(evaluation.failure);
    },
  });
  // the fastest of each comes last
  for (const result of results.toReversed()) findings.bestOfEach.set(result.configuration.traversal, result);
  const ties = tieSetOf(results);
  // an interrupted round says too little to prefer one that was slower
  findings.tieSet = signal.aborted
    ? ties
    : orderTies(ties, (configuration) => run.candidateOf(configuration)?.demand);
}
