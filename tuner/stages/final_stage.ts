/**
 * The final round of a run: who takes part, and which of those that cannot be told apart is chosen.
 *
 * @module
 */
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { chooseFinalists } from "../choose_finalists.ts";
import type { Measurement } from "../configuration.ts";
import { type Finalist, finalRound, tieSetOf } from "../final_round.ts";
import { orderTies } from "../tie_order.ts";
import type { TuningRun } from "./tuning_run.ts";

/** Runs in a turn: one to verify, two samples; and what the host waits, ten milliseconds each and for the rest. */
const TURN_RUNS = 3, TURN_WAIT_NS = 80e6;
/** Blocks that there should be time for. */
const WANTED_BLOCKS = 3;

/**
 * Measures the best few and the best stepwise again, in blocks.
 *
 * @returns what became of each, fastest first
 */
export async function finals(run: TuningRun, deadlineNs: number): Promise<readonly Finalist[]> {
  const { environment: { now, signal, onProgress, onEvaluation }, request: { seed }, devices, findings } =
    run;
  const order = (ties: readonly Measurement[]): Measurement[] =>
    orderTies(ties, (configuration) => run.candidateOf(configuration)?.demand);
  const { measured } = findings;
  if (measured.length === 0 || devices.gpu === undefined) return [];
  const updates = cellsOf(run.problem.grid) * run.problem.steps;
  const turnNs = TURN_RUNS * updates / measured[0].cellsPerSecond * 1e9 + TURN_WAIT_NS;
  const most = (deadlineNs - now()) / (WANTED_BLOCKS * turnNs);
  const finalists = new Set(chooseFinalists(measured, { order, most }));
  const baseline = findings.bestOfEach.get("stepwise");
  if (baseline !== undefined) finalists.add(baseline);
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
  for (const { measurement } of results.toReversed()) {
    findings.bestOfEach.set(measurement.configuration.traversal, measurement);
  }
  findings.tieSet = tieSetOf(results, order);
  return results;
}
