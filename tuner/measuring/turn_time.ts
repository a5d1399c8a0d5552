/**
 * How long a turn of the final round takes, from what the search has seen of the configuration.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";

/** Time for one turn's samples, and how many there are at least if they fit into it; one there is in any case. */
export const TURN_NS = 0.4e9, TURN_SAMPLES = 2;
/** What the host waits in a turn where nobody has timed it: ten milliseconds each time, and for the rest. */
const WAITS_NS = 80e6;

/** The time of a finalist's turns, in nanoseconds. */
export interface TurnTime {
  /** Of its first turn, in which it is compiled. */
  readonly firstNs: number;
  /** Of every other. */
  readonly againNs: number;
}

/** What {@linkcode expectTurn} takes. */
export interface TurnOptions {
  /** Cell updates of one run. */
  readonly updates: number;
  /** Shortest batch that the clock can time, in nanoseconds. */
  readonly minBatchNs: number;
  /** What the configuration's evaluation took in the search, in nanoseconds. @default {undefined} nobody has seen it */
  readonly evaluationNs?: number;
}

/**
 * Expects of a turn what the evaluation in the search took, less the samples of that one, with those of a turn.
 *
 * @param measurement what the search has measured
 * @param options the size of a run, and what the evaluation took
 *
 * @example
 * ```ts
 * import { expectTurn } from "./turn_time.ts";
 * import { assertEquals } from "@std/assert";
 *
 * // a run of a second, timed three times; two seconds to initialise, run and verify, and one to compile
 * const measurement = { cellsPerSecond: 1e9, samples: [1e9, 1e9, 1e9], compileNs: 1e9 };
 * const options = { updates: 1e9, minBatchNs: 2e6, evaluationNs: 6e9 };
 * assertEquals(expectTurn(measurement, options), { firstNs: 4e9, againNs: 3e9 });
 * ```
 */
export function expectTurn(
  { cellsPerSecond, samples, compileNs }: Pick<Measurement, "cellsPerSecond" | "samples" | "compileNs">,
  { updates, minBatchNs, evaluationNs }: TurnOptions,
): TurnTime {
  const runNs = updates / cellsPerSecond * 1e9;
  const batchNs = Math.max(runNs, minBatchNs);
  // a run to verify it is always made
  const aroundNs = evaluationNs === undefined
    ? runNs + WAITS_NS
    : Math.max(runNs, evaluationNs - compileNs - samples.length * batchNs);
  const againNs = aroundNs + Math.max(batchNs, Math.min(TURN_SAMPLES * batchNs, TURN_NS));
  return { firstNs: againNs + compileNs, againNs };
}

/** Time of so many blocks in which each of the finalists has its turn, in nanoseconds. */
export function blocksTime(turns: readonly TurnTime[], blocks: number): number {
  return turns.reduce((sum, { firstNs, againNs }) => sum + firstNs + (blocks - 1) * againNs, 0);
}
