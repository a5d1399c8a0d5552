import type { Configuration, FailureReason } from "../configuration.ts";
import type { Evaluation } from "./evaluate.ts";
import { isFailure } from "../devices/run_failure.ts";

/** An evaluation, and the host time that it took, without waiting for its turn. */
export interface TimedEvaluation {
  readonly evaluation: Evaluation;
  readonly evaluationNs: number;
}

/** Waits for the device, and keeps it until what it resolves to is called. */
export type Turn = () => Promise<() => void>;

/** What evaluates configurations, one after another: this process, or another that it watches over. */
export interface Evaluator {
  /** Whether it can go on; after a time-out or a crash a process cannot. */
  readonly alive: boolean;
  /**
   * Compiles, takes its turn, verifies and times. Never throws for what the configuration or the process did.
   *
   * @param options.best rate of the fastest so far, cells per second
   * @param options.limitNs time for it, in nanoseconds, beside the evaluator's own limits: what is not done by then may be
   *   given up, and says nothing of the configuration; infinite by default
   * @returns undefined where it was given up
   */
  evaluate(
    configuration: Configuration,
    options: { readonly best: number; readonly turn: Turn; readonly limitNs?: number },
  ): Promise<TimedEvaluation | undefined>;
  close(): void;
}

/** What {@linkcode evaluateSideBySide} needs. */
interface SideBySideOptions<T> {
  /** Evaluators side by side at most, at least 1; and to begin with. */
  readonly workers: number;
  /** @default {FIRST_EVALUATORS} */
  readonly first?: number;
  /** Starts one; it takes its turn where it uses the device. */
  readonly start: (turn: Turn) => Promise<Evaluator>;
  /** What they wait for. @default {turns of their own} */
  readonly turn?: Turn;
  /**
   * What is evaluated next, while `working` evaluators are at work; undefined where nothing is left. Asked ahead of the outcomes
   * under way.
   */
  readonly next: (working: number) => T | undefined;
  /** Rate of the fastest so far, cells per second. */
  readonly best: () => number;
  /** Time for an evaluation that begins now, in nanoseconds; where one is given up, nothing more is begun. */
  readonly limitNs?: () => number;
  /** Called with every outcome. */
  readonly onEvaluated: (item: T, timed: TimedEvaluation) => void | Promise<void>;
  /** Stops after the evaluations under way. */
  readonly signal: AbortSignal;
}

/** Configurations that a process evaluates at most: what it compiled stays in its memory. */
const CONFIGURATIONS_PER_EVALUATOR = 200;

/** Evaluators to begin with: while one measures, the other compiles. */
export const FIRST_EVALUATORS = 2;

/** Evaluations that the time left must have room for, so that another evaluator pays. */
const PAYS = 6;

/**
 * Whether the device waits for `working` evaluators that compile, and will for long. Only then does another come: it computes
 * its reference on the device first, which takes as long as an evaluation.
 */
function waits({ evaluation, evaluationNs }: TimedEvaluation, working: number, limitNs: number): boolean {
  const compileNs = "measurement" in evaluation ? evaluation.measurement.compileNs : evaluationNs;
  return compileNs > (working - 1) * (evaluationNs - compileNs) && limitNs > PAYS * evaluationNs;
}

/** Failures that say more of the device's state than of the configuration: the evaluator is not used again. */
const SPOILING: readonly FailureReason[] = ["device-lost", "timeout"];

/**
 * Evaluates what it is given, several compiling at once. An evaluator that hangs or dies costs one configuration.
 * What the device has no memory for is tried again with one evaluator less.
 *
 * @returns how many evaluators were given up because the device had no memory for them
 * @throws what `start` throws
 */
export async function evaluateSideBySide<T extends { readonly configuration: Configuration }>(
  {
    workers,
    first = FIRST_EVALUATORS,
    start,
    turn = takeTurns(),
    next,
    best,
    limitNs = () => Infinity,
    onEvaluated,
    signal,
  }: SideBySideOptions<T>,
): Promise<{ workersGivenUp: number }> {
  const again: T[] = [];
  let most = Math.max(1, workers), working = 0, workersGivenUp = 0;
  let broken = false;
  const running: Promise<void>[] = [];
  /** Others may hold the memory that a configuration lacks: it is tried again; true if this evaluator ends for it. */
  const makesRoom = (item: T): boolean => {
    again.push(item);
    if (working === 1) return false;
    workersGivenUp++;
    most = working - 1;
    return true;
  };
  const work = async (): Promise<void> => {
    let evaluator: Evaluator | undefined, done = 0;
    working++;
    try {
      while (!signal.aborted && !broken) {
        const item = again.shift() ?? next(working);
        if (item === undefined) return;
        const company = working;
        if (evaluator !== undefined && (!evaluator.alive || done % CONFIGURATIONS_PER_EVALUATOR === 0)) {
          evaluator.close();
          evaluator = undefined;
        }
        try {
          evaluator ??= await start(turn);
        } catch (error) {
          if (!isFailure(error) || error.reason !== "out-of-memory" || company === 1) throw error;
          if (makesRoom(item)) return;
          continue;
        }
        const options = { best: best(), turn, limitNs: limitNs() };
        const timed = await evaluator.evaluate(item.configuration, options);
        if (timed === undefined) return; // time is over
        const { evaluation } = timed;
        const reason = "failure" in evaluation ? evaluation.failure.reason : undefined;
        done++;
        if (reason === "out-of-memory" && company > 1) {
          if (makesRoom(item)) return;
          continue;
        }
        if (signal.aborted && !evaluator.alive) return; // interrupted with the process, not measured
        if (SPOILING.some((spoiling) => spoiling === reason)) {
          evaluator.close();
          evaluator = undefined;
        }
        await onEvaluated(item, timed);
        if (working < most && waits(timed, working, limitNs())) running.push(work());
      }
    } catch (error) {
      broken = true;
      throw error;
    } finally {
      working--;
      evaluator?.close();
    }
  };
  for (let begun = 0; begun < Math.min(first, most); begun++) running.push(work());
  for (let ended = 0; ended < running.length;) {
    const results = await Promise.allSettled(running.slice(ended));
    ended += results.length;
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
  return { workersGivenUp };
}

/** One after another, in the order in which they ask. */
export function takeTurns(): Turn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let release = (): void => {};
    last = new Promise((resolve) => release = resolve);
    await before;
    return release;
  };
}
