import { linearRegression, mean } from "npm:simple-statistics@7.12.1";
import { likenessOf, type Prediction } from "../../models/cost_model.ts";
import { expectedImprovement, normalCdf } from "./expected_improvement.ts";
import { Lattice } from "./lattice.ts";
import { Learner } from "./learner.ts";
import { traversalKey } from "../configuration.ts";
import { seededRandom } from "../measuring/seeded_random.ts";
import { shuffled } from "./baselines.ts";
import type { Outcome, Search, SearchOptions, SearchPoint, Strategy } from "./strategy.ts";

/**
 * Where no model predicts anything, a search begins with FIRST_SPREAD candidates that are unlike each other. Where another
 * device's results are known, it begins with the fastest two there, an unlike one, the next three, and another unlike one: the
 * numbers are those of the fastest that come before each unlike one.
 */
const FIRST_SPREAD = 4, FIRST_ELSEWHERE = [2, 5];

/** There, no logarithm of a rate counts as further below the best: how slow slow ones are tells little of fast ones. */
const SPAN = 1.5;

/**
 * There, every ALTERNATE-th candidate differs from the fastest in one parameter alone, while one that does promises
 * at least WORTH_TRYING times the most that any promises.
 */
const ALTERNATE = 2, WORTH_TRYING = 0.1;

/** No candidate is given up as certain to fail. */
const LEAST_SUCCESS = 0.01;

/** Gains of at least ALIKE times the largest count as equal: of DRAWN of them, drawn at random, the first is next. */
const ALIKE = 0.95, DRAWN = 3;

/**
 * Deviations are widened by this factor, since the kernel is only estimated. On recorded spaces 1.2 to 1.6 finds the
 * fastest sooner than 1, and 0.8 gets stuck. Where nothing is predicted, there is more to explore.
 */
const UNSURE = 1.3, UNSURE_UNPREDICTED = 1.5;

/** A candidate this number of deviations below the best promises nothing. */
const FURTHEST = 6;

/** While the chances of all candidates to be faster than the best by MATTERS sum up to LIKELY, the search goes on. */
const MATTERS = 0.01, LIKELY = 0.2;

/** The search ends when the chances have been too small before this number of candidates in a row. */
const PATIENCE = 30;

/** An outcome this number of deviations off shows that expectations are wrong, and the search goes on. */
const SURPRISE = 2.5;

/**
 * The default. It starts from the best predicted of each traversal, and takes the models' prediction as the prior of
 * a Gaussian process over the space's lattice: measurements show how far off the models are. Where nothing is
 * predicted, it starts from candidates that have as many different values as possible. Next is the largest expected
 * improvement (Jones et al., 1998), less where compiling takes longer than usual. The search ends when another 1% is
 * unlikely.
 */
export const auto: Strategy = {
  name: "auto",
  title: "starts from the models' ranking, learns where they err, ends when another 1% is unlikely",
  begin: (candidates, options) => new AutoSearch(candidates, options),
};

class AutoSearch<P extends SearchPoint> implements Search<P> {
  verdict: string | undefined;
  readonly candidates: readonly P[];
  readonly #places: Lattice<P>["places"];
  readonly #isPredicted: boolean;
  readonly #draw: () => number;
  readonly #indices: ReadonlyMap<P, number>;
  /** Candidates to begin with, the first last. */
  readonly #first: number[];
  /** Those of them that were the fastest on another device. */
  readonly #elsewhere: ReadonlySet<number>;
  readonly #untried: Set<number>;
  /** What is being measured, with the logarithm of the rate that was expected. */
  readonly #pending = new Map<number, { readonly mean: number; readonly deviation: number }>();
  /** Logarithms of rates. */
  readonly #rates: Learner;
  /** 1 for what has a rate, 0 for what failed. */
  readonly #successes: Learner;
  /** Instructions and host times of what was evaluated. */
  readonly #times: [instructions: number, spentNs: number][] = [];
  #failures = 0;
  /** Logarithm of the best rate, whose it is, and how many outcomes there were then. */
  #best = -Infinity;
  #fastest: number | undefined;
  #foundAfter = 0;
  #outcomes = 0;
  /** Candidates in a row before which another 1% was unlikely. */
  #unlikely = 0;

  constructor(space: readonly P[], { seed, compilesSlowly = false }: SearchOptions) {
    this.#draw = seededRandom(seed);
    const isPredicted = this.#isPredicted = space.every(({ predicted }) => predicted !== undefined);
    // where nothing is predicted the order of the space means nothing
    const candidates = isPredicted ? space : shuffled(sorted(space), this.#draw);
    this.candidates = candidates;
    this.#indices = new Map(candidates.map((candidate, i) => [candidate, i]));
    this.#untried = new Set(candidates.keys());
    const lattice = new Lattice(candidates);
    this.#places = lattice.places;
    const elsewhere = isPredicted ? [] : fastestElsewhere(candidates);
    this.#elsewhere = new Set(elsewhere.map((candidate) => this.#indices.get(candidate)!));
    const groups = [...Map.groupBy(candidates, ({ traversal }) => traversal.name).values()];
    const first = isPredicted
      ? groups.map((group) => group.reduce((a, b) => b.predicted! > a.predicted! ? b : a))
      : byTurns(elsewhere, lattice.spread(elsewhere.length > 0 ? FIRST_ELSEWHERE.length : FIRST_SPREAD));
    // the last is the next: what should be fastest, while it compiles what compiles soonest
    const [fastest] = isPredicted && !compilesSlowly
      ? first.toSorted((a, b) => b.predicted! - a.predicted!)
      : [];
    this.#first = first.toReversed().toSorted((a, b) =>
      Number(a === fastest) - Number(b === fastest) || instructionsOf(b) - instructionsOf(a)
    ).map((candidate) => this.#indices.get(candidate)!);
    const prior = candidates.map(({ predicted = 1, elsewhere = 1 }) =>
      Math.log(isPredicted ? predicted : elsewhere)
    );
    const span = isPredicted ? Infinity : SPAN;
    const likeness = candidates.every(isDemanding) ? likenessOf(candidates) : undefined;
    this.#rates = new Learner(lattice, { prior, level: "unknown", first: first.length, span, likeness });
    const ones = candidates.map(() => 1);
    this.#successes = new Learner(lattice, {
      prior: ones,
      level: "known",
      first: first.length,
      span: Infinity,
    });
  }

  next(): P | undefined {
    if (this.verdict !== undefined) return undefined;
    let found = this.#first.pop();
    while (found !== undefined && !this.#isWanted(found)) found = this.#first.pop();
    found ??= this.#mostPromising();
    if (found === undefined) return undefined;
    this.#untried.delete(found);
    const { posterior } = this.#rates;
    this.#pending.set(found, { mean: posterior.mean[found]!, deviation: posterior.deviation(found) });
    this.#rates.expect(found);
    return this.candidates[found];
  }

  /** Whether one of the first is tried: another device's fastest only while they are the fastest here. */
  #isWanted(first: number): boolean {
    const misled = this.#fastest !== undefined && !this.#elsewhere.has(this.#fastest);
    return this.#untried.has(first) && !(misled && this.#elsewhere.has(first));
  }

  tell(candidate: P, { rate, spentNs }: Outcome): void {
    const index = this.#indices.get(candidate)!;
    this.#outcomes++;
    const expected = this.#pending.get(index);
    this.#pending.delete(index);
    this.#untried.delete(index);
    if (spentNs > 0) this.#times.push([instructionsOf(candidate), spentNs]);
    this.#successes.learn(index, rate === undefined ? 0 : 1);
    if (rate === undefined) {
      this.#failures++;
      this.#rates.giveUp(index);
      return;
    }
    const logRate = Math.log(rate);
    this.#rates.learn(index, logRate);
    if (logRate > this.#best) {
      [this.#best, this.#fastest, this.#foundAfter] = [logRate, index, this.#outcomes];
    }
    if (expected === undefined) return;
    const surprise = (logRate - expected.mean) / expected.deviation;
    // of bent rates, slow ones always lie below what is expected
    if (surprise > SURPRISE || this.#isPredicted && surprise < -SURPRISE) this.#unlikely = 0;
  }

  /** The candidate with the largest expected gain; sets the verdict where none is likely to be faster. */
  #mostPromising(): number | undefined {
    const { posterior } = this.#rates, unsure = this.#isPredicted ? UNSURE : UNSURE_UNPREDICTED;
    const isNear = !this.#isPredicted && this.#fastest !== undefined && this.#untried.size % ALTERNATE === 0;
    // what is being measured counts with its expected rate
    const best = [...this.#pending.keys()].reduce(
      (best, i) => Math.max(best, posterior.mean[i]!),
      this.#best,
    );
    const priceOf = pricesOf(this.#times);
    const promises: { index: number; worth: number }[] = [], near: typeof promises = [];
    let most = 0, mostNear = 0, chances = 0;
    for (const index of this.#untried) {
      const mean = posterior.mean[index]!, deviation = unsure * posterior.deviation(index);
      if (mean + FURTHEST * deviation < best) continue;
      const expected = best === -Infinity ? Math.exp(mean) : expectedImprovement(mean, deviation, best);
      const success = this.#success(index);
      chances += success * normalCdf((mean - best - MATTERS) / deviation);
      const worth = success * expected / priceOf(this.candidates[index]!);
      if (
        isNear && worth > 0 && worth >= ALIKE * mostNear && this.#differences(index, this.#fastest!) === 1
      ) {
        mostNear = Math.max(mostNear, worth);
        near.push({ index, worth });
      }
      if (worth < ALIKE * most) continue;
      most = Math.max(most, worth);
      promises.push({ index, worth });
    }
    const alike = mostNear > WORTH_TRYING * most
      ? near.filter(({ worth }) => worth >= ALIKE * mostNear)
      : promises.filter(({ worth }) => worth >= ALIKE * most);
    const drawn = Array.from({ length: DRAWN }, () => Math.floor(this.#draw() * alike.length));
    const found = alike[Math.min(...drawn)];
    this.#unlikely = chances < LIKELY ? this.#unlikely + 1 : 0;
    const patience = Math.max(PATIENCE, this.#foundAfter);
    if (this.#untried.size > 0 && this.#unlikely > patience + this.#pending.size) {
      // by the rule of succession: an optimum that nothing near it shows is no likelier than this to be the next
      const chance = Math.max(chances, 1 / (this.#outcomes - this.#foundAfter + 2));
      const percent = chance < 0.01 ? "less than 1" : Math.round(100 * chance);
      this.verdict = `the chance that another configuration is 1% faster is ${percent}%`;
      return undefined;
    }
    return found?.index ?? this.#untried.values().next().value;
  }

  /** In how many parameters two candidates differ. */
  #differences(a: number, b: number): number {
    return this.#places[a]!.reduce((count, at, k) => at === this.#places[b]![k] ? count : count + 1, 0);
  }

  /** How likely a candidate is not to fail. */
  #success(index: number): number {
    if (this.#failures === 0) return 1;
    return Math.min(Math.max(this.#successes.posterior.mean[index]!, LEAST_SUCCESS), 1);
  }
}

/** Unlike candidates, before each of them a few of another device's fastest. */
function byTurns<P>(elsewhere: readonly P[], spread: readonly P[]): P[] {
  const turns = spread.flatMap((index, i) => [
    ...elsewhere.slice(FIRST_ELSEWHERE[i - 1] ?? 0, FIRST_ELSEWHERE[i]),
    index,
  ]);
  return [...new Set(turns)];
}

/** The candidates that were the fastest on another device, where their rates are known. */
function fastestElsewhere<P extends SearchPoint>(candidates: readonly P[]): P[] {
  return candidates.filter(({ elsewhere }) => elsewhere !== undefined)
    .toSorted((a, b) => b.elsewhere! - a.elsewhere!).slice(0, FIRST_ELSEWHERE.at(-1));
}

/** Candidates in an order that depends on nothing but themselves. */
function sorted<P extends SearchPoint>(candidates: readonly P[]): P[] {
  const keys = new Map(candidates.map((candidate) => {
    const { traversal: { name: traversal }, parameters } = candidate;
    return [candidate, traversalKey({ traversal, parameters })];
  }));
  return candidates.toSorted((a, b) => keys.get(a)! < keys.get(b)! ? -1 : 1);
}

/**
 * What evaluations cost, over the mean of those that were made: a line through their times over the kernel's
 * instructions, by least squares, and never less than 1. Compiling takes time by the instruction, everything else takes
 * as long for all.
 */
export function pricesOf(
  times: readonly (readonly [instructions: number, spentNs: number])[],
): (point: SearchPoint) => number {
  if (times.length < 2) return () => 1;
  const centre = mean(times.map(([instructions]) => instructions)), meanNs = mean(times.map(([, ns]) => ns));
  const { m } = linearRegression(times.map((time) => [...time])), slope = m > 0 ? m / meanNs : 0;
  return (point) => 1 + slope * Math.max(0, instructionsOf(point) - centre);
}

/** Whether the models know what it asks of a GPU. */
function isDemanding<P extends SearchPoint>(point: P): point is P & Prediction {
  return point.predicted !== undefined && point.demand !== undefined;
}

/** Instructions to compile, roughly; 0 where unknown. */
function instructionsOf({ demand }: SearchPoint): number {
  return demand?.loopInstructions ?? 0;
}
