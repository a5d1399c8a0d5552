/**
 * The search: the strategy is asked for candidates until the budget is spent, and told what became of them. The
 * sentinel is measured in between.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import { type Evaluation, isFailure } from "../evaluate.ts";
import { evaluateSideBySide, type Evaluator, type TimedEvaluation, type Turn } from "../evaluator.ts";
import { Sentinel } from "../measure/sentinel.ts";
import { beginRecalling } from "../search/recalled_search.ts";
import type { Candidate } from "../search/space.ts";
import type { Outcome } from "../search/strategy.ts";
import type { Evaluators } from "../tune_request.ts";
import type { TuningRun } from "./tuning_run.ts";

/** How the search ended. */
export interface SearchResult {
  /** Why it ended before its budget did; undefined where it did not. */
  readonly verdict: string | undefined;
  /** How often the device was found to run at another rate than before. */
  readonly drifts: number;
}

/** How often an evaluator is started before it is given up, and the time between. */
const START_TRIES = 3, START_PAUSE_MS = 1000;
/** Evaluations that a strategy's first candidates get at least, however small the budget. */
const LEAST_EVALUATIONS = 3;

/** What an evaluator is asked for. */
type Asked =
  & { readonly configuration: Configuration }
  & (
    | { readonly candidate: Candidate; readonly why?: undefined }
    // the sentinel, or what a drift has affected
    | { readonly candidate?: undefined; readonly why: "look" | "again" }
  );

/** Asks the strategy, evaluates, tells it, until the budget is spent. */
export async function search(run: TuningRun, deadlineNs: number): Promise<SearchResult> {
  const { request: { strategy, budget, seed }, environment, devices, findings, space } = run;
  const { now, signal, onProgress, evaluators } = environment;
  const beganNs = now();
  const strategySearch = beginRecalling(strategy, space.candidates, {
    seed,
    budget: "evaluations" in budget ? budget : { timeNs: Math.max(0, deadlineNs - beganNs) },
    recall: (candidate) => outcomeOf(findings.recall(run.configurationOf(candidate))),
  });
  const evaluations = "evaluations" in budget ? budget.evaluations : Infinity;
  const total = Math.min(space.candidates.length, evaluations);
  const { recalled } = findings;
  let asked = recalled, done = recalled;
  const workers = evaluators?.workersFor(run.problem) ?? 1;
  const sentinel = new Sentinel({ now });

  const next = (): Asked | undefined => {
    if (devices.gpu === undefined) return undefined;
    const isLate = now() >= deadlineNs;
    const looked = isLate ? undefined : sentinel.look();
    if (looked !== undefined) return { configuration: looked, why: "look" };
    const affected = isLate ? undefined : sentinel.again();
    if (affected !== undefined) return { configuration: affected, why: "again" };
    if (asked >= evaluations || (isLate && asked >= LEAST_EVALUATIONS)) return undefined;
    const candidate = strategySearch.next();
    if (candidate === undefined) return undefined;
    asked++;
    const eachNs = done === recalled ? Infinity : (now() - beganNs) / (done - recalled);
    onProgress({
      stage: "search",
      done,
      total,
      bestCellsPerSecond: findings.best?.cellsPerSecond,
      leftNs: Math.min(deadlineNs - now(), eachNs * (total - done)),
    });
    return { configuration: run.configurationOf(candidate), candidate };
  };

  const onEvaluated = async (
    { why, candidate }: Asked,
    { evaluation, evaluationNs }: TimedEvaluation,
  ): Promise<void> => {
    const measurement = "measurement" in evaluation ? evaluation.measurement : undefined;
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
  if (evaluators !== undefined) devices.releaseReference();
  let verdict: string | undefined;
  try {
    await evaluateSideBySide<Asked>({
      workers,
      start: (turn) =>
        evaluators === undefined
          ? Promise.resolve(inProcess(run))
          : startPatiently(evaluators, { problem: run.problem, turn, signal }),
      next,
      configurationOf: ({ configuration }) => configuration,
      best: () => findings.best?.cellsPerSecond ?? 0,
      signal,
      onEvaluated,
    });
  } catch (error) {
    if (!isFailure(error)) throw error;
    verdict = `the process that measures cannot start: ${error.reason}: ${error.message}`;
  }
  if (evaluators !== undefined) await devices.renewReference();
  return { verdict: verdict ?? strategySearch.verdict, drifts: sentinel.drifts };
}

/** What a strategy is told of an evaluation that an earlier run made. */
function outcomeOf(known: Evaluation | undefined): Outcome | undefined {
  if (known === undefined) return undefined;
  return { rate: "measurement" in known ? known.measurement.cellsPerSecond : undefined, spentNs: 0 };
}

/** This process as an evaluator. */
function inProcess(run: TuningRun): Evaluator {
  const { now } = run.environment;
  return {
    alive: true,
    evaluate: async (configuration, { best }) => {
      const beganNs = now();
      const evaluation = await run.measure(configuration, best);
      return { evaluation, evaluationNs: now() - beganNs };
    },
    close: () => {},
  };
}

/** Starts an evaluator; a driver that has just crashed may need a moment. */
async function startPatiently(
  evaluators: Evaluators,
  { problem, turn, signal }: { problem: Problem; turn: Turn; signal: AbortSignal },
): Promise<Evaluator> {
  for (let tries = 1;; tries++) {
    try {
      return await evaluators.start(problem, turn);
    } catch (error) {
      if (!isFailure(error) || error.reason !== "device-lost" || tries === START_TRIES || signal.aborted) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
    }
  }
}
