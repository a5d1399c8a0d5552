import { expectedImprovement } from "./expected_improvement.ts";
import { EvaluationCost, instructionsOf } from "./evaluation_cost.ts";
import { Lattice } from "./lattice.ts";
import { Learner } from "./learner.ts";
import { seededRandom } from "../measuring/seeded_random.ts";
import { shuffled } from "./baselines.ts";
import type { Outcome, Point, Search, SearchOptions, Strategy } from "./strategy.ts";

/** Candidates drawn at random where no model predicts anything. */
const FIRST_UNPREDICTED = 8;

/** No candidate is given up as certain to fail. */
const LEAST_SUCCESS = 0.01;

/** Gains of at least this part of the largest count as equal: of so many of them, drawn at random, the first is next. */
const ALIKE = 0.95, DRAWN = 3;

/**
 * Deviations are widened by this factor, since the kernel is only estimated. On recorded spaces 1.2 to 1.6 finds the
 * fastest sooner than 1, and 0.8 gets stuck.
 */
const UNSURE = 1.3;

/** A candidate so many deviations below the best promises nothing. */
const FURTHEST = 6;

/** The whole budget is worth this gain: an evaluation that takes 1% of it must promise 1% of the gain. */
const WORTH = 0.03;

/** The budget where none is given: a part of the space, and at most so many evaluations. */
const UNLIMITED_PART = 0.1, UNLIMITED_MOST = 500;

/** The search ends when so many candidates in a row did not promise enough. */
const PATIENCE = 10;

/** An outcome so many deviations off shows that expectations are wrong, and the search goes on. */
const SURPRISE = 2.5;

/** A doubtful candidate is judged by its mean and so many deviations. */
const DOUBT = 3;

/** The search does not end while a neighbour of the best may be faster by this. */
const WORTH_A_LOOK = 0.003;

/** Evaluations before expectations are trusted to end the search: this part of the space, within these bounds. */
const LEAST_PART = 0.03, LEAST_EVALUATIONS = [20, 60] as const;

/**
 * The default. It starts from the best predicted of each traversal, and takes the models' prediction as the prior of
 * a Gaussian process over the space's lattice: measurements show how far off the models are. Next is the largest
 * expected improvement (Jones et al., 1998), less where compiling takes longer than usual. The search ends when even
 * that does not pay for its time.
 */
export const auto: Strategy = {
  name: "auto",
  title: "starts from the models' ranking, learns where they err, stops when going on no longer pays",
  begin: (candidates, options) => new AutoSearch(candidates, options),
};

class AutoSearch<P extends Point> implements Search<P> {
  verdict: string | undefined;
  readonly #draw: () => number;
  readonly #lattice: Lattice<P>;
  readonly #indices: ReadonlyMap<P, number>;
  /** Candidates to begin with, the first last. */
  readonly #first: number[];
  readonly #untried: Set<number>;
  /** What is being measured, with the logarithm of the rate that was expected. */
  readonly #pending = new Map<number, { readonly mean: number; readonly deviation: number }>();
  /** Logarithms of rates. */
  readonly #rates: Learner;
  /** 1 for what has a rate, 0 for what failed. */
  readonly #successes: Learner;
  readonly #cost = new EvaluationCost();
  readonly #budget: { readonly timeNs: number } | { readonly evaluations: number };
  readonly #least: number;
  #failures = 0;
  #best: { readonly candidate?: P; readonly logRate: number } = { logRate: -Infinity };
  /** Candidates in a row that did not promise enough. */
  #poor = 0;

  constructor(readonly candidates: readonly P[], { seed, budget }: SearchOptions) {
    this.#draw = seededRandom(seed);
    this.#budget = budget ?? { evaluations: Math.min(UNLIMITED_MOST, UNLIMITED_PART * candidates.length) };
    const [least, most] = LEAST_EVALUATIONS;
    this.#least = Math.min(Math.max(least, LEAST_PART * candidates.length), most);
    this.#indices = new Map(candidates.map((candidate, i) => [candidate, i]));
    this.#untried = new Set(candidates.keys());
    const isPredicted = candidates.every(({ predicted }) => predicted !== undefined);
    const groups = [...Map.groupBy(candidates, ({ traversal }) => traversal.name).values()];
    const first = isPredicted
      ? groups.map((group) => group.reduce((a, b) => b.predicted! > a.predicted! ? b : a))
      : shuffled(candidates, this.#draw).slice(0, FIRST_UNPREDICTED);
    // the last is the next: what compiles soonest
    this.#first = first.toReversed().toSorted((a, b) => instructionsOf(b) - instructionsOf(a))
      .map((candidate) => this.#indices.get(candidate)!);
    this.#lattice = new Lattice(candidates);
    const prior = candidates.map(({ predicted }) => isPredicted ? Math.log(predicted!) : 0);
    const common = { candidates, first: first.length };
    this.#rates = new Learner(this.#lattice, { ...common, prior, level: "unknown" });
    const ones = candidates.map(() => 1);
    this.#successes = new Learner(this.#lattice, { ...common, prior: ones, level: "known" });
  }

  next(): P | undefined {
    if (this.verdict !== undefined) return undefined;
    let found = this.#first.pop();
    while (found !== undefined && !this.#untried.has(found)) found = this.#first.pop();
    found ??= this.#mostPromising();
    if (found === undefined) return undefined;
    this.#untried.delete(found);
    const { belief } = this.#rates;
    this.#pending.set(found, { mean: belief.mean[found]!, deviation: belief.deviation(found) });
    this.#rates.expect(found);
    return this.candidates[found];
  }

  tell(candidate: P, { rate, spentNs }: Outcome): void {
    const index = this.#indices.get(candidate)!;
    const expected = this.#pending.get(index);
    this.#pending.delete(index);
    this.#untried.delete(index);
    if (spentNs > 0) this.#cost.observe(candidate, spentNs);
    this.#successes.learn(index, rate === undefined ? 0 : 1);
    if (rate === undefined) {
      this.#failures++;
      this.#rates.giveUp(index);
      return;
    }
    const logRate = Math.log(rate);
    this.#rates.learn(index, logRate);
    if (logRate > this.#best.logRate) this.#best = { candidate, logRate };
    if (expected === undefined) return;
    if (Math.abs(logRate - expected.mean) > SURPRISE * expected.deviation) this.#poor = 0;
  }

  #mostPromising(): number | undefined {
    const { belief } = this.#rates;
    // what is being measured counts with its expected rate
    const best = [...this.#pending.keys()].reduce(
      (best, i) => Math.max(best, belief.mean[i]!),
      this.#best.logRate,
    );
    const { meanNs } = this.#cost;
    const promises: { index: number; gain: number; price: number }[] = [];
    let most = 0;
    for (const index of this.#untried) {
      const mean = belief.mean[index]!, deviation = UNSURE * belief.deviation(index);
      if (mean + FURTHEST * deviation < best) continue;
      const expected = best === -Infinity ? Math.exp(mean) : expectedImprovement(mean, deviation, best);
      const gain = this.#success(index) * expected;
      // 1 for what takes no longer than others
      const price = meanNs > 0 ? this.#cost.expectNs(this.candidates[index]!) / meanNs : 1;
      if (gain / price < ALIKE * most) continue;
      most = Math.max(most, gain / price);
      promises.push({ index, gain, price });
    }
    const alike = promises.filter(({ gain, price }) => gain / price >= ALIKE * most);
    const drawn = Array.from({ length: DRAWN }, () => Math.floor(this.#draw() * alike.length));
    const found = alike[Math.min(...drawn)];
    const { gain, price } = found ?? { gain: 0, price: 1 };
    if (found !== undefined && this.#pays(gain, price)) return found.index;
    return this.#untried.size === 0 ? undefined : this.#lastDoubts(gain);
  }

  /** Whether a gain is worth its time. */
  #pays(gain: number, price: number): boolean {
    // so many evaluations are under way at once
    const workers = this.#pending.size + 1;
    const part = "timeNs" in this.#budget
      ? this.#cost.meanNs * price / this.#budget.timeNs / workers
      : price / this.#budget.evaluations;
    // gains are differences of logarithms: parts of the best rate
    const pays = gain >= WORTH * part;
    this.#poor = pays ? 0 : this.#poor + 1;
    return pays;
  }

  /** The candidate most likely to prove the expectations wrong; where nothing is left to prove, sets the verdict. */
  #lastDoubts(gain: number): number | undefined {
    const neighbour = this.#doubtfulNeighbour();
    if (neighbour !== undefined) return neighbour;
    const isCertain = this.#poor >= PATIENCE + this.#pending.size && this.#successes.known >= this.#least;
    if (!isCertain) return this.#mostDoubtful(this.#untried)?.index;
    const percent = gain < 1e-5 ? "less than 0.001" : (100 * gain).toPrecision(1);
    this.verdict = `the best of what is left promises ${percent}% more, which does not pay for its time`;
  }

  /** A neighbour of the best, one parameter away, that may still be faster. */
  #doubtfulNeighbour(): number | undefined {
    const { candidate, logRate } = this.#best;
    if (candidate === undefined) return undefined;
    const beside = this.#lattice.neighbours(candidate).map((point) => this.#indices.get(point)!);
    const found = this.#mostDoubtful(beside.filter((index) => this.#untried.has(index)));
    return found !== undefined && found.bound > logRate + WORTH_A_LOOK ? found.index : undefined;
  }

  /** The candidate that could be fastest, of those that should not fail. */
  #mostDoubtful(indices: Iterable<number>): { readonly index: number; readonly bound: number } | undefined {
    const { belief } = this.#rates;
    let most: { index: number; bound: number } | undefined;
    for (const index of indices) {
      const isLikely = this.#success(index) >= 0.5;
      const bound = isLikely ? belief.mean[index]! + DOUBT * belief.deviation(index) : -Infinity;
      if (most === undefined || bound > most.bound) most = { index, bound };
    }
    return most;
  }

  /** How likely a candidate is not to fail. */
  #success(index: number): number {
    if (this.#failures === 0) return 1;
    return Math.min(Math.max(this.#successes.belief.mean[index]!, LEAST_SUCCESS), 1);
  }
}
