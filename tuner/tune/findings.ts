import { type Configuration, configurationKey, type Failure, type Measurement } from "../configuration.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import type { Finalist } from "../measuring/final_round.ts";
import { laterRunInterval } from "../measuring/later_run.ts";
import { deviceOf, isShared, isStepwise } from "../shares.ts";

export type Alone = "gpu" | "cpu";

/** What a run has found out so far: rates of the GPU alone and of the CPU alone, and how many evaluations they took. */
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
  readonly #measured = new Map<string, Measurement>();
  /** The same in order; undefined while they are not. */
  #fastestFirst: readonly Measurement[] | undefined;

  /** Verified measurements of the searches, each of one device alone, the fastest first. */
  get measured(): readonly Measurement[] {
    return this.#fastestFirst ??= [...this.#measured.values()]
      .sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  }

  /** The chosen configuration of one device alone; before the final round the fastest. */
  get best(): Measurement | undefined {
    return this.tieSet.find(isAlone) ?? this.measured[0];
  }

  /** The best configuration of a device alone. What the final round found counts more than the search. */
  bestOn(device: Alone): Measurement | undefined {
    const { best } = this;
    const candidates = best === undefined ? [] : [best, ...this.bestOfEach.values()];
    return candidates.find(({ configuration }) => deviceOf(configuration) === device);
  }

  /**
   * The best of each traversal, by {@linkcode wayOf}, the fastest first. What the final round found counts more than
   * the search; the chosen configuration stands for its traversal.
   */
  get bestOfEach(): ReadonlyMap<string, Measurement> {
    const finalists = this.finalists.map(({ measurement }) => measurement);
    const ascending = [...this.measured.toReversed(), ...finalists.toReversed(), ...this.tieSet.slice(0, 1)];
    const best = new Map(ascending.filter(isAlone).map((found) => [wayOf(found.configuration), found]));
    return new Map([...best].sort(([, a], [, b]) => b.cellsPerSecond - a.cellsPerSecond));
  }

  /** The interval of a later run's rate: of what had no final round, that of its only turn. */
  intervalOf(measurement: Measurement): Measurement["confidence95"] {
    const { samples, cellsPerSecond: rate, confidence95 } = measurement;
    return this.tieSet.includes(measurement) ? confidence95 : laterRunInterval([samples], { rate });
  }

  /** The fastest stepwise on the device of the best, the baseline of the speedup. */
  get baseline(): Measurement | undefined {
    const { best, bestOfEach } = this;
    return best &&
      [...bestOfEach.values()].find(({ configuration }) =>
        isStepwise(configuration) && deviceOf(configuration) === deviceOf(best.configuration)
      );
  }

  /** Counts an evaluation of one device alone, and remembers its rate. */
  take(evaluation: Evaluation): void {
    this.count(evaluation);
    const { configuration } = evaluation;
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

  isMeasured(configuration: Configuration): boolean {
    return this.#measured.has(configurationKey(configuration));
  }

  count(evaluation: Evaluation): void {
    this.evaluated++;
    if ("failure" in evaluation) this.countFailure(evaluation.failure);
  }

  /** Counts a failure of a configuration that was evaluated before. */
  countFailure({ reason }: Failure): void {
    this.failed[reason] = (this.failed[reason] ?? 0) + 1;
  }

  forget(configuration: Configuration): void {
    this.#measured.delete(configurationKey(configuration));
    this.#fastestFirst = undefined;
  }
}

/** Whether one device computes alone: the profile's configuration may be shared. */
function isAlone({ configuration: { share } }: Measurement): boolean {
  return !isShared(share);
}

/** How one device computes alone: the name of a traversal of the GPU's, or `cpu` and the name of one of the CPU's. */
export function wayOf(configuration: Configuration): string {
  return deviceOf(configuration) === "gpu" ? configuration.traversal : `cpu ${configuration.traversal}`;
}
