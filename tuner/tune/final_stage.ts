import type { Measurement } from "../configuration.ts";
import { chooseFinalists, LEAST_FINALISTS, MOST_FINALISTS } from "../measuring/choose_finalists.ts";
import { finalRound, LEAST_BLOCKS, SURE_BLOCKS, tieSetOf } from "../measuring/final_round.ts";
import { orderTies } from "../measuring/tie_set.ts";
import { blocksTime, finalsDeadline, WANTED_BLOCKS } from "./time_plan.ts";
import type { TuningRun } from "./tuning_run.ts";

/** The part of what may go beyond the budget that a final round may be expected to take. */
const TOLERATED = 0.5;

/**
 * The final round of a run: measures the best few and the best stepwise again, in blocks, and orders those that tie.
 * Fewer take part if time is short, and none where not even two blocks would end in time.
 */
export async function finals(run: TuningRun): Promise<void> {
  const { environment: { signal, onEvaluation }, request: { seed }, session, findings, plan } = run;
  const { measured } = findings;
  if (measured.length === 0) return;
  const order = (ties: readonly Measurement[]): Measurement[] =>
    orderTies(ties, (configuration) => run.candidateOf(configuration)?.demand);
  const timeOf = (measurements: readonly Measurement[], blocks: number): number =>
    blocksTime(measurements.map((one) => run.turnOf(one)), blocks);
  const nowNs = session.now(), leftNs = plan.finalsUntilNs - nowNs;
  let most = MOST_FINALISTS;
  let chosen = chooseFinalists(measured, { order, most });
  while (most > LEAST_FINALISTS && timeOf(chosen, WANTED_BLOCKS) > leftNs) {
    chosen = chooseFinalists(measured, { order, most: --most });
  }
  // what is measured may take longer than it did in the search
  const toleratedNs = TOLERATED * (plan.latestNs - plan.endNs);
  if (timeOf(chosen, SURE_BLOCKS) > leftNs + toleratedNs) return;
  // the search's rate of stepwise will do for the speedup
  const withBaseline = run.withStepwise(chosen);
  const finalists = timeOf(withBaseline, SURE_BLOCKS) <= leftNs ? withBaseline : chosen;
  const wantedNs = timeOf(finalists, LEAST_BLOCKS);
  findings.finalists = await finalRound(finalists, {
    problem: run.problem,
    prepare: (configuration) => session.prepare(run.problem, configuration),
    seed,
    deadlineNs: finalsDeadline(plan, { nowNs, wantedNs }),
    now: () => session.now(),
    signal,
    async onEvaluation(evaluation, done, total) {
      run.report("final round", done, total);
      await onEvaluation(evaluation);
      if (!("failure" in evaluation)) return;
      findings.countFailure(evaluation.failure);
      // if the GPU is lost for good, that says nothing of the configuration
      const { configuration } = evaluation;
      if (session.hasGpu || configuration.share.gpuSlices === 0) findings.forget(configuration);
      await run.recover(evaluation.failure);
    },
  });
  findings.tieSet = tieSetOf(findings.finalists, order);
  run.report("final round", 1, 1);
}
