/**
 * What a run has found out so far: rates of the GPU alone, failures, and how many evaluations they took.
 *
 * @module
 */
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import type { Evaluation } from "../measuring/evaluate.ts";

/** A run's findings. */
export class Findings {
  /** Fastest verified measurement of each traversal on the GPU. */
  readonly bestOfEach = new Map<string, Measurement>();
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
  /** What the final round cannot tell apart from the fastest, the one that is chosen first; none before it. */
  tieSet: readonly Measurement[] = [];
  /** Verified measurements of the GPU alone, each configuration once. */
  #measured: Measurement[] = [];

  /** Verified measurements of the GPU alone, each configuration once, the fastest first. */
  get measured(): readonly Measurement[] {
    return this.#measured.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  }

  /** The chosen configuration of the GPU alone; before the final round the fastest. */
  get best(): Measurement | undefined {
    return this.tieSet[0] ?? fastest(this.#measured);
  }

  /** Counts an evaluation, and remembers a rate of the GPU alone. */
  take(evaluation: Evaluation, { isAgain = false } = {}): void {
    if (!isAgain) this.count(evaluation);
    else if ("failure" in evaluation) this.countFailure(evaluation.failure);
    if (evaluation.configuration.share.gpuSlices === 0) return;
    if (isAgain) this.forget(evaluation.configuration);
    if ("measurement" in evaluation) this.#remember(evaluation.measurement);
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

  /** Counts a failure of what was evaluated before. */
  countFailure({ reason }: Failure): void {
    this.failed[reason] = (this.failed[reason] ?? 0) + 1;
  }

  /** What was right once and fails now must not win by its earlier rate. */
  forget(configuration: Configuration): void {
    const key = configurationKey(configuration);
    const kept = this.#measured.filter((measurement) => configurationKey(measurement.configuration) !== key);
    this.#measured = [];
    this.bestOfEach.clear();
    for (const measurement of kept) this.#remember(measurement);
  }

  #remember(measurement: Measurement): void {
    const { configuration: { traversal }, cellsPerSecond } = measurement;
    this.#measured.push(measurement);
    const before = this.bestOfEach.get(traversal);
    if (before === undefined || before.cellsPerSecond < cellsPerSecond) {
      this.bestOfEach.set(traversal, measurement);
    }
  }
}

/** The one with the largest rate; of equals the first. */
export function fastest(measurements: readonly Measurement[]): Measurement | undefined {
  return measurements.reduce<Measurement | undefined>(
    (best, one) => best === undefined || one.cellsPerSecond > best.cellsPerSecond ? one : best,
    undefined,
  );
}
