import { expectedImprovement } from "../tuner/search/expected_improvement.ts";
import { type Forest, growForest } from "./forest.ts";
import { seededRandom } from "../tuner/measuring/seeded_random.ts";
import { shuffled } from "../tuner/search/baselines.ts";
import type { Search, SearchPoint, Strategy } from "../tuner/search/strategy.ts";

/** Candidates drawn at random before there is anything to learn from. */
const FIRST = 8;

/** The most candidates that are ranked at a time, drawn anew from a larger space. */
const WEIGHED = 3000;

/** Stands for a parameter or a demand that a candidate does not have. */
const ABSENT = -1;

/** A forest is grown again when the outcomes are this many times those it was grown from. */
const REGROW = 1.05;

/** No prediction is surer than this: rates repeat to about 1%. */
const LEAST_DEVIATION = 0.01;

/**
 * A yardstick for Facet's strategies: sequential model-based optimisation with trees, as SMAC (Hutter, Hoos, Leyton-Brown, LION 5, 2011): a forest
 * learns the logarithm of the rate over its prediction from what was measured, and the candidate with the largest
 * expected improvement is next. Where no model predicts, it learns the logarithm of the rate.
 */
export const surrogate: Strategy = {
  name: "surrogate",
  title: "random trees learn the rates, and the largest expected improvement is next",
  begin: (candidates, { seed }) => new SurrogateSearch(candidates, seededRandom(seed)),
};

class SurrogateSearch<P extends SearchPoint> implements Search<P> {
  readonly #rows: readonly number[][];
  readonly #places: ReadonlyMap<P, number>;
  readonly #first: P[];
  readonly #untried: Set<P>;
  readonly #rates = new Map<P, number>();
  readonly #failed: P[] = [];
  /** Ranked candidates, the largest expected improvement last. */
  #ranked: P[] = [];
  /** How many outcomes the ranking rests on. */
  #grownAt = 0;

  constructor(readonly candidates: readonly P[], readonly draw: () => number) {
    this.#rows = featuresOf(candidates);
    this.#places = new Map(candidates.map((candidate, i) => [candidate, i]));
    this.#untried = new Set(candidates);
    // of every traversal in turn
    const groups = [...Map.groupBy(shuffled(candidates, draw), ({ traversal }) => traversal.name).values()];
    this.#first = Array.from({ length: FIRST }, (_, i) => groups.flatMap((group) => group[i] ?? [])).flat()
      .slice(0, FIRST).reverse();
  }

  next(): P | undefined {
    const found = this.#first.pop() ?? this.#promising();
    if (found !== undefined) this.#untried.delete(found);
    return found;
  }

  tell(candidate: P, { rate }: { rate: number | undefined }): void {
    this.#untried.delete(candidate);
    if (rate === undefined) this.#failed.push(candidate);
    else this.#rates.set(candidate, rate);
  }

  #promising(): P | undefined {
    const untried = [...this.#untried];
    if (this.#rates.size === 0) return untried[Math.floor(this.draw() * untried.length)];
    const outcomes = this.#rates.size + this.#failed.length;
    if (outcomes >= REGROW * this.#grownAt || this.#ranked.length === 0) {
      this.#ranked = this.#rank(untried);
      this.#grownAt = outcomes;
    }
    return this.#ranked.pop();
  }

  /** Candidates by their expected improvement, the largest last. */
  #rank(untried: readonly P[]): P[] {
    // trees predict the same for many: in an order of chance none of them is preferred
    const weighed = shuffled(untried, this.draw).slice(0, WEIGHED);
    const known = [...this.#rates];
    const rowOf = (candidate: P): readonly number[] => this.#rows[this.#places.get(candidate)!]!;
    const rates = growForest(
      known.map(([candidate]) => rowOf(candidate)),
      known.map(([candidate, rate]) => Math.log(rate / (candidate.predicted ?? 1))),
      this.draw,
    );
    const success = this.#successes(known.map(([candidate]) => candidate), rowOf);
    const best = Math.log(Math.max(...this.#rates.values()));
    return weighed.map((candidate) => {
      const row = rowOf(candidate);
      const { mean, variance } = rates.predict(row);
      const gain = expectedImprovement(
        mean + Math.log(candidate.predicted ?? 1),
        Math.max(LEAST_DEVIATION, Math.sqrt(variance)),
        best,
      );
      return { candidate, gain: gain * (success?.predict(row).mean ?? 1) };
    }).sort((a, b) => a.gain - b.gain).map(({ candidate }) => candidate);
  }

  /** How likely candidates are not to fail; undefined while none has. */
  #successes(known: readonly P[], rowOf: (candidate: P) => readonly number[]): Forest | undefined {
    if (this.#failed.length === 0) return undefined;
    const all = [...known, ...this.#failed];
    const targets = all.map((_, i) => i < known.length ? 1 : 0);
    return growForest(all.map(rowOf), targets, this.draw);
  }
}

/**
 * Candidates as rows of numbers for a regression: the traversal, the parameters and, where the models know the
 * candidate, its demand and predicted rate. Sizes are logarithms: trees split them alike, and thresholds between 8
 * and 16 are as likely as those between 64 and 128.
 */
function featuresOf(candidates: readonly SearchPoint[]): number[][] {
  const traversals = [...new Set(candidates.map(({ traversal }) => traversal.name))];
  const names = [...new Set(candidates.flatMap(({ parameters }) => Object.keys(parameters)))];
  const demands = [...new Set(candidates.flatMap(({ demand = {} }) => Object.keys(demand)))];
  const rows = candidates.map(({ traversal, parameters, demand, predicted }) => {
    const demanded: Readonly<Record<string, unknown>> = { ...demand };
    return [
      traversals.indexOf(traversal.name),
      ...names.map((name) => logarithm(parameters[name])),
      ...demands.map((name) => logarithm(demanded[name])),
      ...(predicted === undefined ? [] : [Math.log(predicted)]),
    ];
  });
  const [first = []] = rows;
  // a column that is the same for all says nothing
  const kept = [...first.keys()].filter((i) => rows.some((row) => row[i] !== first[i]));
  return rows.map((row) => kept.map((i) => row[i]!));
}

/** Grows like a logarithm above 1, and is 0 at 0; negative values mirrored. */
function logarithm(value: unknown): number {
  return typeof value === "number" ? Math.sign(value) * Math.log2(1 + Math.abs(value)) : ABSENT;
}
