/**
 * Measures a whole space. Processes compile configurations side by side, and take turns on the device to be
 * verified and timed: compiling never disturbs a measurement by more than the host's cores do, and a process that
 * hangs or dies costs one configuration.
 *
 * @module
 */
import type { Configuration, FailureReason } from "../configuration.ts";
import { type Evaluation, isFailure } from "../evaluate.ts";
import type { RecordedConfiguration } from "./replay_space.ts";

/** An evaluation, and the host time that it took, without waiting for its turn. */
export interface TimedEvaluation {
  readonly evaluation: Evaluation;
  readonly evaluationNs: number;
}

/** Waits for the device, and keeps it until what it resolves to is called. */
export type Turn = () => Promise<() => void>;

/** A process that evaluates configurations, one after another. */
export interface Evaluator {
  /** Whether it can go on; after a time-out or a crash it cannot. */
  readonly alive: boolean;
  /**
   * Compiles, takes its turn, verifies and times. Never throws for what the configuration or the process did.
   *
   * @param best rate of the fastest so far, cells per second
   */
  evaluate(configuration: Configuration, options: { best: number; turn: Turn }): Promise<TimedEvaluation>;
  /** Ends the process. */
  close(): void;
}

/** What {@linkcode recordConfigurations} needs. */
export interface RecorderOptions {
  /** Processes side by side, at least 1. */
  readonly workers: number;
  /** Starts a process; it takes its turn where it uses the device. */
  readonly start: (turn: Turn) => Promise<Evaluator>;
  /** Called with every configuration as it is recorded. */
  readonly onRecorded: (recorded: RecordedConfiguration) => void | Promise<void>;
  /** Stops after the evaluations under way. */
  readonly signal: AbortSignal;
}

/** Configurations that a process evaluates at most: what it compiled stays in its memory. */
const CONFIGURATIONS_PER_PROCESS = 200;

/** Failures that say more of the device's state than of the configuration: the process is not used again. */
const SPOILING: readonly FailureReason[] = ["device-lost", "timeout"];

/**
 * Measures configurations in the order given, several compiling at once.
 *
 * @returns how many processes were given up because the device had no memory for them
 */
export async function recordConfigurations(
  configurations: readonly Configuration[],
  { workers, start, onRecorded, signal }: RecorderOptions,
): Promise<{ workersGivenUp: number }> {
  const queue = [...configurations];
  const turn = takeTurns();
  let best = 0, working = Math.max(1, workers), workersGivenUp = 0;
  let broken = false;
  const work = async (): Promise<void> => {
    let evaluator: Evaluator | undefined, done = 0;
    try {
      while (!signal.aborted && !broken) {
        const next = queue.shift();
        if (next === undefined) return;
        /** Others may hold the memory that a configuration lacks: it is tried again with one process less. */
        const company = working;
        if (evaluator !== undefined && (!evaluator.alive || done % CONFIGURATIONS_PER_PROCESS === 0)) {
          evaluator.close();
          evaluator = undefined;
        }
        try {
          evaluator ??= await start(turn);
        } catch (error) {
          if (!isFailure(error) || error.reason !== "out-of-memory" || company === 1) throw error;
          queue.push(next);
          if (working === 1) continue;
          workersGivenUp++;
          return;
        }
        const timed = await evaluator.evaluate(next, { best, turn });
        done++;
        const recorded = recordedOf(timed);
        if (recorded.failure === "out-of-memory" && company > 1) {
          queue.push(next);
          if (working === 1) continue;
          workersGivenUp++;
          return;
        }
        if (signal.aborted && !evaluator.alive) return; // interrupted with the process, not measured
        if (SPOILING.some((reason) => reason === recorded.failure)) {
          evaluator.close();
          evaluator = undefined;
        }
        best = Math.max(best, recorded.rate ?? 0);
        await onRecorded(recorded);
      }
    } catch (error) {
      broken = true;
      throw error;
    } finally {
      working--;
      evaluator?.close();
    }
  };
  const results = await Promise.allSettled(Array.from({ length: working }, () => work()));
  const rejected = results.find((result) => result.status === "rejected");
  if (rejected !== undefined) throw rejected.reason;
  return { workersGivenUp };
}

/** An evaluation as a recorded space keeps it. */
export function recordedOf({ evaluation, evaluationNs }: TimedEvaluation): RecordedConfiguration {
  if ("failure" in evaluation) {
    const { configuration: { traversal, parameters }, failure } = evaluation;
    return { traversal, parameters, rate: undefined, evaluationNs, failure: failure.reason };
  }
  const { configuration: { traversal, parameters }, cellsPerSecond, confidence95, compileNs } =
    evaluation.measurement;
  return { traversal, parameters, rate: cellsPerSecond, interval95: confidence95, compileNs, evaluationNs };
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
