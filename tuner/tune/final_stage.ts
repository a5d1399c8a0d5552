import { configurationKey, type Measurement } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import { chooseFinalists, LEAST_FINALISTS, MOST_FINALISTS } from "../measuring/choose_finalists.ts";
import { finalRound, LEAST_BLOCKS, SURE_BLOCKS, tieSetOf } from "../measuring/final_round.ts";
import { orderTies } from "../measuring/tie_set.ts";
import type { ProfileResult } from "../profile/profile_types.ts";
import { blocksTime, finalsDeadline, WANTED_BLOCKS } from "./time_plan.ts";
import type { TuningRun } from "./tuning_run.ts";
import { uses } from "../shares.ts";

/** The part of what may go beyond the budget that a final round may be expected to take. */
const TOLERATED = 0.5;

/**
 * The final round of a run: measures the best few, the best stepwise and the profile's configuration again, in blocks,
 * and orders those that tie; of these the profile's comes first. Fewer take part if time is short, and none where not
 * even two blocks would end in time.
 */
export async function finals(run: TuningRun): Promise<void> {
  await measureFinalists(run);
  const { earlier, findings, findings: { best, finalists, tieSet } } = run;
  if (earlier === undefined || earlier.fault !== undefined) return;
  const found = finalists.find(({ measurement }) => earlier.is(measurement));
  if (found?.blocks.some((samples) => samples !== undefined)) earlier.now = found.measurement;
  // of what was not measured in turns, intervals say it
  earlier.stays = found !== undefined
    ? tieSet.some((tie) => earlier.is(tie))
    : best === undefined || findings.intervalOf(best)[0] <= earlier.recorded.confidence95[1];
  if (!earlier.stays || earlier.now === undefined) return;
  findings.tieSet = [earlier.now, ...tieSet.filter((tie) => !earlier.is(tie))];
}

async function measureFinalists(run: TuningRun): Promise<void> {
  const { environment: { signal, onEvaluation }, request: { seed }, session, findings, plan } = run;
  const { measured } = findings;
  if (run.withEarlier(measured).length === 0) return;
  const order = (ties: readonly Measurement[]): Measurement[] =>
    orderTies(ties, (configuration) => run.candidateOf(configuration)?.demand);
  const timeOf = (measurements: readonly Measurement[], blocks: number): number =>
    blocksTime(measurements.map((measurement) => run.turnOf(measurement)), blocks);
  const nowNs = session.now(), leftNs = plan.finalsUntilNs - nowNs;
  let most = MOST_FINALISTS;
  const choose = () => run.withEarlier(chooseFinalists(measured, { order, most }));
  let chosen = choose();
  while (most > LEAST_FINALISTS && timeOf(chosen, WANTED_BLOCKS) > leftNs) {
    most--;
    chosen = choose();
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
    session,
    isAgain: (configuration) => findings.evaluationNs.has(configurationKey(configuration)),
    seed,
    deadlineNs: finalsDeadline(plan, { nowNs, wantedNs }),
    signal,
    async onEvaluation(evaluation, done, total) {
      run.report("final round", done, total);
      await onEvaluation(evaluation);
      if (!("failure" in evaluation)) return;
      findings.countFailure(evaluation.failure);
      // if the GPU is lost for good, that says nothing of the configuration
      const { configuration } = evaluation;
      if (run.earlier?.is(evaluation)) run.earlier.fail(evaluation.failure, session.hasGpu);
      if (session.hasGpu || !uses(configuration.share, "gpu")) findings.forget(configuration);
      await run.recover(evaluation.failure);
    },
  });
  findings.tieSet = tieSetOf(findings.finalists, order);
  run.report("final round", 1, 1);
}

/** Time of the run, so long that what it takes to begin and to wait for the end counts little. */
const RUN_NS = 1e9;

/** The part of it that is tried first, and how much longer it may then take: a device may be slower than it was. */
const TRIED_PART = 1 / 16, MOST_SLOWDOWN = 4;

/**
 * What a user waits for: the rate of one long run of the winner by the host's clock, shorter where the budget ends.
 * Undefined where there is no time for any, or the device fails.
 */
export async function measureByHost(run: TuningRun, winner: Measurement): Promise<ProfileResult["byHost"]> {
  const { session, problem, plan, updates, environment: { signal } } = run;
  const { configuration, cellsPerSecond } = winner, runNs = updates / cellsPerSecond * 1e9;
  const leftNs = plan.endNs - session.now() - run.turnOf(winner).againNs;
  const repetitions = Math.floor(Math.min(Math.max(RUN_NS, runNs), leftNs) / runNs);
  if (repetitions < 1 || signal.aborted) return undefined;
  try {
    const runner = await session.prepare(problem, configuration);
    try {
      await runner.initialise();
      const tried = Math.ceil(TRIED_PART * repetitions), triedNs = session.now();
      await runner.run(tried);
      const most = Math.floor(MOST_SLOWDOWN * runNs * repetitions * tried / (session.now() - triedNs));
      const { longRun = 1 } = runner, wanted = Math.max(1, Math.min(repetitions, most));
      const runs = wanted >= longRun ? wanted - wanted % longRun : wanted;
      const beganNs = session.now();
      await (runner.begin === undefined ? runner.run(runs) : (await runner.begin(runs)).finish());
      const rate = updates * runs / ((session.now() - beganNs) * 1e-9);
      return { cellsPerSecond: rate, steps: problem.steps * runs };
    } finally {
      runner.dispose();
    }
  } catch (error) {
    if (!isFailure(error)) throw error;
    await run.recover(error);
    return undefined;
  }
}
