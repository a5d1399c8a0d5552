/**
 * What a run has found out so far: rates of the GPU alone, failures, and how many evaluations they took.
 *
 * @module
 */
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import type { Finalist } from "../measuring/final_round.ts";

/** A run's findings. */
export class Findings {
  /** How many evaluations failed, by reason. */
  readonly failed: Record<string, number> = {};
  /** Evaluations that count; what is measured again does not. */
  evaluated = 0;
  /** Evaluations, of those, that earlier runs made. */
  recalled = 0;
  /** Host time of the search's evaluations in this run, in nanoseconds, by configuration. */
  readonly evaluationNs = new Map<string, number>();
  /** Evaluations of earlier runs that still hold, by configuration. */
  known: ReadonlyMap<string, Evaluation> = new Map();
  /** The final round: every finalist, fastest first. */
  finalists: readonly Finalist[] = [];
  /** Finalists that are statistically indistinguishable from the fastest, the chosen one first. */
  tieSet: readonly Measurement[] = [];
  /** Verified measurements of the GPU alone, by configuration. */
  readonly #measured = new Map<string, Measurement>();

  /** Verified measurements of the GPU alone in the search, the fastest first. */
  get measured(): readonly Measurement[] {
    return [...this.#measured.values()].sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  }

  /** The chosen configuration of the GPU alone; before the final round the fastest. */
  get best(): Measurement | undefined {
    return this.tieSet[0] ?? this.measured[0];
  }

  /**
   * The best of each traversal on the GPU, the fastest first. What the final round found counts more than the search;
   * the chosen configuration stands for its traversal.
   */
  get bestOfEach(): ReadonlyMap<string, Measurement> {
    const finalists = this.finalists.map(({ measurement }) => measurement);
    const ascending = [...this.measured.toReversed(), ...finalists.toReversed(), ...this.tieSet.slice(0, 1)];
    const best = new Map(ascending.map((one) => [one.configuration.traversal, one]));
    return new Map([...best].sort(([, a], [, b]) => b.cellsPerSecond - a.cellsPerSecond));
  }

  /** Counts an evaluation, and remembers a rate of the GPU alone. */
  take(evaluation: Evaluation, { isAgain = false } = {}): void {
    if (!isAgain) this.count(evaluation);
    else if ("failure" in evaluation) this.countFailure(evaluation.failure);
    const { configuration } = evaluation;
    if (configuration.share.gpuSlices === 0) return;
    // what was right once and fails now must not win by its earlier rate
    this.forget(configuration);
    if ("measurement" in evaluation) {
      this.#measured.set(configurationKey(configuration), evaluation.measurement);
    }
  }

  /** Takes in what an earlier run found out about a configuration, as if it had been evaluated now. */
  recall(configuration: Configuration): Evaluation | undefined {
    const evaluation = this.known.get(configurationKey(configuration));
    if (evaluation === undefined) return undefined;
    this.take(evaluation);
    this.recalled++;
    return evaluation;
  }

  /** Counts an evaluation. */
  count(evaluation: Evaluation): void {
    this.evaluated++;
    if ("failure" in evaluation) this.countFailure(evaluation.failure);
  }

  /** Counts a failure of a configuration that was evaluated before. */
  countFailure({ reason }: Failure): void {
    this.failed[reason] = (this.failed[reason] ?? 0) + 1;
  }

  /** Drops a configuration's rate. */
  forget(configuration: Configuration): void {
    this.#measured.delete(configurationKey(configuration));
  }
}
