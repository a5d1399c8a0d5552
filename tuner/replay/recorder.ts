/**
 * Measures a whole space. Processes compile configurations side by side, and take turns on the device to be
 * verified and timed: compiling never disturbs a measurement by more than the host's cores do, and a process that
 * hangs or dies costs one configuration.
 *
 * @module
 */
import type { Configuration } from "../configuration.ts";
import { evaluateSideBySide, type SideBySideOptions, type TimedEvaluation } from "../measuring/evaluator.ts";
import type { RecordedConfiguration } from "./replay_space.ts";

/** What {@linkcode recordConfigurations} needs. */
export interface RecorderOptions
  extends Pick<SideBySideOptions<Configuration>, "workers" | "start" | "signal"> {
  /** Called with every configuration as it is recorded. */
  readonly onRecorded: (recorded: RecordedConfiguration) => void | Promise<void>;
}

/**
 * Measures configurations in the order given, several compiling at once.
 *
 * @returns how many processes were given up because the device had no memory for them
 */
export async function recordConfigurations(
  configurations: readonly Configuration[],
  { onRecorded, ...options }: RecorderOptions,
): Promise<{ workersGivenUp: number }> {
  let next = 0, best = 0;
  return await evaluateSideBySide<Configuration>({
    ...options,
    next: () => configurations[next++],
    configurationOf: (configuration) => configuration,
    best: () => best,
    async onEvaluated(_, timed) {
      const recorded = recordedOf(timed);
      best = Math.max(best, recorded.rate ?? 0);
      await onRecorded(recorded);
    },
  });
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
