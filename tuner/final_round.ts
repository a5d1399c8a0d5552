/**
 * The final round: the best few are measured again, taking turns in random order, so that a drift of the clock
 * or the temperature meets all alike. Those that cannot be told apart from the fastest form the tie set.
 *
 * @module
 */
import type { Problem } from "../kernels/stencils/stencil.ts";
import type { Configuration, Measurement, Runner } from "./configuration.ts";
import { evaluate, type Evaluation, measurementOf } from "./evaluate.ts";
import { seededRandom } from "./search/seeded_random.ts";

/** Options of {@linkcode finalRound}. */
export interface FinalRoundOptions {
  readonly problem: Problem;
  /** Compiles a configuration again (pipelines are cached) and takes the memory. */
  readonly prepare: (configuration: Configuration) => Promise<Runner>;
  readonly seed: number;
  /** When to stop, on the clock, in nanoseconds; a round that has begun is ended. */
  readonly deadlineNs: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called after every evaluation. */
  readonly onEvaluation: (evaluation: Evaluation, done: number, total: number) => void | Promise<void>;
}

/** Turns that each finalist has, time permitting. */
const TURNS = 3;
/** Time for one turn's samples. */
const TURN_NS = 0.5e9;

/**
 * Measures the finalists again in turns.
 *
 * @param finalists their measurements so far, at least one
 * @returns their new measurements, fastest first; one that fails now is left out; where there was no time for
 *   even one turn, the finalists as they were
 */
export async function finalRound(
  finalists: readonly Measurement[],
  { problem, prepare, seed, deadlineNs, now, signal, onEvaluation }: FinalRoundOptions,
): Promise<readonly Measurement[]> {
  const rates = new Map<Measurement, number[]>(finalists.map((finalist) => [finalist, []]));
  const draw = seededRandom(seed);
  let done = 0;
  for (let turn = 0; turn < TURNS && now() < deadlineNs; turn++) {
    const order = [...rates.keys()].map((finalist) => ({ finalist, key: draw() })).sort((a, b) =>
      a.key - b.key
    );
    for (const { finalist } of order) {
      if (signal.aborted) break;
      const evaluation = await evaluate(finalist.configuration, () => prepare(finalist.configuration), {
        problem,
        samplingNs: TURN_NS,
        now,
      });
      if ("failure" in evaluation) rates.delete(finalist);
      else rates.get(finalist)!.push(...evaluation.measurement.samples);
      await onEvaluation(evaluation, ++done, TURNS * finalists.length);
    }
  }
  const measured = [...rates].map(([finalist, samples]) =>
    samples.length === 0 ? finalist : measurementOf(finalist.configuration, samples, finalist)
  );
  return measured.sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
}

/** Those whose 95% interval reaches the fastest one's; the fastest first. */
export function tieSetOf(measurements: readonly Measurement[]): readonly Measurement[] {
  const [first, ...others] = measurements;
  if (first === undefined) return [];
  return [first, ...others.filter(({ confidence95 }) => confidence95[1] >= first.confidence95[0])];
}
