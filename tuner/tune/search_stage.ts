/**
 * The search: the strategy is asked for candidates until the budget is spent, and told what became of them. The
 * sentinel is measured in between.
 *
 * @module
 */
import type { Configuration } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import {
  evaluateSideBySide,
  type Evaluator,
  type TimedEvaluation,
  type Turn,
} from "../measuring/evaluator.ts";
import { Sentinel } from "../measuring/sentinel.ts";
import { beginRecalling } from "../search/recalled_search.ts";
import type { Candidate } from "../search/space.ts";
import type { Outcome } from "../search/strategy.ts";
import type { Evaluators } from "./tune_request.ts";
import { Latency } from "./latency.ts";
import type { TuningRun } from "./tuning_run.ts";
import { isFailure } from "../devices/run_failure.ts";

/** How the search ended. */
export interface SearchResult {
  /** Why it ended before its budget did; undefined where it did not. */
  readonly verdict: string | undefined;
  /** How often the device was found to run at another rate than before. */
  readonly drifts: number;
}

/** How often an evaluator is started before it is given up, and the time between. */
const START_TRIES = 3, START_PAUSE_NS = 1e9;
/** Candidates that are tried though it is late, until one of them has a rate. */
const LEAST_EVALUATIONS = 3;
/** How long an evaluation may last beyond the search's time, as a part of the whole budget. */
const GRACE = 0.05;

/** What an evaluator is asked for. */
type Asked =
  & { readonly configuration: Configuration }
  & (
    | { readonly candidate: Candidate; readonly why?: undefined }
    // the sentinel, or what a drift has affected
    | { readonly candidate?: undefined; readonly why: "look" | "again" }
  );

/** Asks the strategy, evaluates, tells it, until what follows would not fit the budget any more. */
export async function search(run: TuningRun): Promise<SearchResult> {
  const { request: { strategy, budget, seed }, environment, session, findings, space } = run;
  const { signal, onProgress, evaluators } = environment;
  const now = (): number => session.now();
  const beganNs = now();
  const strategySearch = beginRecalling(strategy, space.candidates, {
    seed,
    budget: "evaluations" in budget ? budget : { timeNs: Math.max(0, run.plan.searchUntilNs - beganNs) },
    recall: (candidate) => outcomeOf(findings.recall(run.configurationOf(candidate))),
  });
  const evaluations = "evaluations" in budget ? budget.evaluations : Infinity;
  const total = Math.min(space.candidates.length, evaluations);
  const { recalled } = findings;
  let asked = recalled, done = recalled;
  const latency = new Latency();
  const graceNs = "timeNs" in budget ? GRACE * budget.timeNs : 0;
  const workers = evaluators?.workersFor(run.problem) ?? 1;
  const sentinel = new Sentinel({ now });

  const next = (): Asked | undefined => {
    if (!session.hasGpu) return undefined;
    const { searchUntilNs } = run.plan;
    const isLate = now() + latency.expectNs(workers) >= searchUntilNs;
    const looked = isLate ? undefined : sentinel.look();
    if (looked !== undefined) return { configuration: looked, why: "look" };
    const affected = isLate ? undefined : sentinel.again();
    if (affected !== undefined) return { configuration: affected, why: "again" };
    if (asked >= evaluations) return undefined;
    if (isLate && (asked >= LEAST_EVALUATIONS || findings.best !== undefined)) return undefined;
    const candidate = strategySearch.next();
    if (candidate === undefined) return undefined;
    asked++;
    const eachNs = done === recalled ? Infinity : (now() - beganNs) / (done - recalled);
    onProgress({
      stage: "search",
      done,
      total,
      bestCellsPerSecond: findings.best?.cellsPerSecond,
      leftNs: Math.min(searchUntilNs - now(), eachNs * (total - done)),
    });
    return { configuration: run.configurationOf(candidate), candidate };
  };

  const onEvaluated = async (
    { why, candidate }: Asked,
    { evaluation, evaluationNs }: TimedEvaluation,
  ): Promise<void> => {
    const measurement = "measurement" in evaluation ? evaluation.measurement : undefined;
    latency.observe({ evaluation, evaluationNs });
    findings.evaluationNs.set(configurationKey(evaluation.configuration), evaluationNs);
    if (candidate === undefined) {
      if (why === "look") sentinel.seen(measurement, evaluationNs);
      else if (measurement !== undefined) sentinel.note(measurement);
      await run.keep(evaluation, { isAgain: true });
      return;
    }
    done++;
    await run.keep(evaluation);
    if (measurement !== undefined) sentinel.note(measurement);
    strategySearch.tell(candidate, { rate: measurement?.cellsPerSecond, spentNs: evaluationNs });
  };

  // what others measure with is theirs alone: this process gives back the memory
  if (evaluators !== undefined) session.releaseReference();
  let verdict: string | undefined;
  try {
    await evaluateSideBySide<Asked>({
      workers,
      start: async (turn) =>
        evaluators === undefined ? inProcess(run) : await startPatiently(evaluators, { run, turn, signal }),
      next,
      configurationOf: ({ configuration }) => configuration,
      best: () => findings.best?.cellsPerSecond ?? 0,
      // the first that has a rate is waited for
      limitNs: () => findings.best === undefined ? Infinity : run.plan.searchUntilNs + graceNs - now(),
      signal,
      onEvaluated,
    });
  } catch (error) {
    if (!isFailure(error)) throw error;
    verdict = `the process that measures cannot start: ${error.reason}: ${error.message}`;
  }
  if (evaluators !== undefined) await run.renewReference();
  return { verdict: verdict ?? strategySearch.verdict, drifts: sentinel.drifts };
}

/** What a strategy is told of an evaluation that an earlier run made. */
function outcomeOf(known: Evaluation | undefined): Outcome | undefined {
  if (known === undefined) return undefined;
  return { rate: "measurement" in known ? known.measurement.cellsPerSecond : undefined, spentNs: 0 };
}

/** This process as an evaluator. */
function inProcess(run: TuningRun): Evaluator {
  const { session } = run;
  return {
    alive: true,
    evaluate: async (configuration, { best }) => {
      const beganNs = session.now();
      const evaluation = await run.measure(configuration, { best });
      return { evaluation, evaluationNs: session.now() - beganNs };
    },
    close: () => {},
  };
}

/** Starts an evaluator; a driver that has just crashed may need a moment. */
async function startPatiently(
  evaluators: Evaluators,
  { run, turn, signal }: { run: TuningRun; turn: Turn; signal: AbortSignal },
): Promise<Evaluator> {
  for (let tries = 1;; tries++) {
    try {
      return await evaluators.start(run.problem, turn);
    } catch (error) {
      if (!isFailure(error) || error.reason !== "device-lost" || tries === START_TRIES || signal.aborted) {
        throw error;
      }
      await run.session.pause(START_PAUSE_NS, signal);
    }
  }
}
