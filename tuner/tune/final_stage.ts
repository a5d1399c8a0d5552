/**
 * The final round of a run: who takes part, and which of those that cannot be told apart is chosen.
 *
 * @module
 */
import { chooseFinalists } from "../measuring/choose_finalists.ts";
import type { Measurement } from "../configuration.ts";
import { type Finalist, finalRound, LEAST_BLOCKS, SURE_BLOCKS, tieSetOf } from "../measuring/final_round.ts";
import { orderTies } from "../measuring/tie_order.ts";
import { blocksTime } from "../measuring/turn_time.ts";
import { finalsDeadline, WANTED_BLOCKS } from "./time_plan.ts";
import type { TuningRun } from "./tuning_run.ts";

/**
 * Measures the best few and the best stepwise again, in blocks: fewer of them where time is short.
 *
 * @returns what became of each, fastest first
 */
export async function finals(run: TuningRun): Promise<readonly Finalist[]> {
  const { environment: { signal, onProgress, onEvaluation }, request: { seed }, session, findings } = run;
  const now = (): number => session.now();
  const order = (ties: readonly Measurement[]): Measurement[] =>
    orderTies(ties, (configuration) => run.candidateOf(configuration)?.demand);
  const { measured } = findings;
  if (measured.length === 0 || !session.hasGpu) return [];
  const { plan } = run;
  const leftNs = plan.finalsUntilNs - now();
  const blockNs = blocksTime([run.turnOf(measured[0])], WANTED_BLOCKS);
  const finalists = new Set(chooseFinalists(measured, { order, most: leftNs / blockNs }));
  const timeOf = (measurements: Iterable<Measurement>, blocks: number): number =>
    blocksTime([...measurements].map((one) => run.turnOf(one)), blocks);
  const baseline = findings.bestOfEach.get("stepwise");
  // its rate of the search will do for the speedup
  if (baseline !== undefined && timeOf([...finalists, baseline], SURE_BLOCKS) <= leftNs) {
    finalists.add(baseline);
  }
  const wantedNs = timeOf(finalists, LEAST_BLOCKS);
  const results = await finalRound([...finalists], {
    problem: run.problem,
    prepare: (configuration) => session.prepare(run.problem, configuration),
    seed,
    deadlineNs: finalsDeadline(plan, { nowNs: now(), wantedNs }),
    now,
    signal,
    onEvaluation: async (evaluation, done, total) => {
      onProgress({ stage: "final round", done, total, bestCellsPerSecond: findings.best?.cellsPerSecond });
      await onEvaluation(evaluation);
      if (!("failure" in evaluation)) return;
      findings.countFailure(evaluation.failure);
      // without a GPU nothing is learnt about the configuration
      if (session.hasGpu) findings.forget(evaluation.configuration);
      await run.recover(evaluation.failure);
    },
  });
  // the fastest of each comes last
  for (const { measurement } of results.toReversed()) {
    findings.bestOfEach.set(measurement.configuration.traversal, measurement);
  }
  findings.tieSet = tieSetOf(results, order);
  return results;
}
