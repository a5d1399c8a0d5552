import type { Configuration } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import { evaluateSideBySide, type TimedEvaluation } from "../measuring/evaluator.ts";
import { beginRecalling } from "../search/recalled_search.ts";
import type { Candidate } from "../search/enumeration.ts";
import type { Outcome, Search, SearchPoint } from "../search/strategy.ts";
import { Latency } from "./time_plan.ts";
import type { TuningRun } from "./tuning_run.ts";

/** Candidates that are tried even if it is late, until one of them has a rate. */
const LEAST_EVALUATIONS = 3;
/** How long an evaluation may last beyond the search's time, as a part of the whole budget. */
const GRACE = 0.05;

/**
 * The search: the strategy proposes candidates, and learns what became of them, until another evaluation would not fit
 * the budget any more.
 *
 * @returns why it ended although candidates were left; undefined where it did not
 */
export async function search(run: TuningRun): Promise<string | undefined> {
  const { request: { budget }, session, findings, searched, evaluators } = run;
  const evaluations = run.evaluations.gpu;
  if (evaluations === 0) return "the only evaluation was the CPU's";
  const { signal } = run.environment;
  const beganNs = session.now();
  const before = findings.recalled;
  const strategySearch = beginSearch(run, searched);
  const total = Math.min(searched.length, evaluations);
  const recalled = findings.recalled - before;
  let asked = recalled, done = recalled;
  const latency = new Latency();
  const graceNs = "timeNs" in budget ? GRACE * budget.timeNs : 0;

  const next = (working: number): Candidate | undefined => {
    if (!session.hasGpu) return undefined;
    const { searchUntilNs } = run.plan;
    const leftNs = searchUntilNs - session.now();
    const isLate = latency.expectNs(working) >= leftNs;
    if (asked >= evaluations) return undefined;
    if (isLate && (asked >= LEAST_EVALUATIONS || findings.best !== undefined)) return undefined;
    const candidate = strategySearch.next();
    if (candidate === undefined) return undefined;
    asked++;
    const eachNs = done === recalled ? Infinity : (session.now() - beganNs) / (done - recalled);
    run.report("GPU search", done, total, Math.min(leftNs, eachNs * (total - done)));
    return candidate;
  };

  const onEvaluated = async (candidate: Candidate, timed: TimedEvaluation): Promise<void> => {
    latency.observe(timed);
    await run.keep(timed);
    done++;
    strategySearch.tell(candidate, outcomeOf(timed));
  };

  if (!run.keepsReference) session.releaseReference();
  let verdict: string | undefined;
  try {
    await evaluateSideBySide<Candidate>({
      workers: run.workers,
      first: run.firstWorkers,
      turn: run.turn,
      start: () => run.startEvaluator(),
      next,
      best: () => findings.bestOn("gpu")?.cellsPerSecond ?? 0,
      // the first that has a rate is waited for, if nobody else can have one
      limitNs: () => {
        if (findings.best !== undefined) return run.plan.searchUntilNs + graceNs - session.now();
        return run.cpu === undefined ? Infinity : run.plan.latestNs - session.now();
      },
      signal,
      onEvaluated,
    });
  } catch (error) {
    if (!isFailure(error)) throw error;
    verdict = `the process that measures cannot start: ${error.reason}: ${error.message}`;
  }
  if (evaluators !== undefined) await run.renewReference();
  return verdict ?? strategySearch.verdict;
}

/** Begins the search of a device's candidates, which reuses what earlier runs found out: that takes no time. */
export function beginSearch<P extends SearchPoint & { readonly configuration: Configuration }>(
  { request: { strategy, seed }, findings, session: { device } }: TuningRun,
  candidates: readonly P[],
): Search<P> {
  return beginRecalling(strategy, candidates, {
    seed,
    compilesSlowly: device.gpu?.isFallback ?? false,
    recall: ({ configuration }) => {
      const evaluation = findings.recall(configuration);
      return evaluation && outcomeOf({ evaluation, evaluationNs: 0 });
    },
  });
}

/** What a strategy learns of an evaluation. */
export function outcomeOf({ evaluation, evaluationNs: spentNs }: TimedEvaluation): Outcome {
  return { rate: "measurement" in evaluation ? evaluation.measurement.cellsPerSecond : undefined, spentNs };
}
