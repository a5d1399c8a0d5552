import { expectedImprovement } from "./expected_improvement.ts";
import { EvaluationCost } from "./evaluation_cost.ts";
import { Lattice } from "./lattice.ts";
import { Learner } from "./learner.ts";
import { seededRandom } from "./seeded_random.ts";
import { shuffled } from "./shuffled.ts";
import type { Outcome, Point, Search, SearchOptions, Strategy } from "./strategy.ts";

/** Candidates drawn at random where no model predicts anything. */
const FIRST_UNPREDICTED = 8;

/** No candidate is given up as certain to fail. */
const LEAST_SUCCESS = 0.01;

/** Expected gains of at least this part of the largest are as good: one is drawn. */
const ALIKE = 0.9;

/** The whole budget is worth this gain: an evaluation that takes 1% of it must promise 1% of the gain. */
const WORTH = 0.03;

/** What counts as the budget where none is given: part of the space, and evaluations at most. */
const UNLIMITED_PART = 0.1, UNLIMITED_MOST = 500;

/** The search ends when so many candidates one after the other did not promise enough: expectations err too. */
const PATIENCE = 10;

/** An outcome so many deviations off shows that the expectations are wrong: the search goes on. */
const SURPRISE = 2.5;

/** Deviations that a doubtful candidate is given the benefit of. */
const DOUBT = 3;

/** Evaluations before expectations are trusted to end the search: this part of the space, within these bounds. */
const LEAST_PART = 0.03, LEAST_EVALUATIONS = [20, 60] as const;

/**
 * The default. It starts from the best predicted of each traversal, and takes the models' prediction as the prior of
 * a Gaussian process over the space's lattice: what is measured tells how far off the models are, near by and, as
 * far as the traversal and the level go, everywhere. Next is what promises most: the largest expected improvement
 * (Jones et al., 1998), less where compiling takes longer than usual. The search ends when even that does not pay
 * for its time.
 */
export const auto: Strategy = {
  name: "auto",
  title: "starts from the models' ranking, learns where they err, stops when going on no longer pays",
  begin: (candidates, options) => new AutoSearch(candidates, options),
};

class AutoSearch<P extends Point> implements Search<P> {
  verdict: string | undefined;
  readonly #draw: () => number;
  readonly #indices: ReadonlyMap<P, number>;
  readonly #first: P[];
  readonly #untried: Set<P>;
  /** What was asked for and not told yet, by its place, with the logarithm of its rate as it was expected. */
  readonly #pending = new Map<number, { readonly mean: number; readonly deviation: number }>();
  /** Logarithms of rates. */
  readonly #rates: Learner;
  /** 1 for what has a rate, 0 for what failed. */
  readonly #successes: Learner;
  readonly #cost = new EvaluationCost();
  readonly #budget: { readonly timeNs: number } | { readonly evaluations: number };
  readonly #least: number;
  #failures = 0;
  #best = -Infinity;
  /** Candidates one after the other that did not promise enough. */
  #poor = 0;

  constructor(readonly candidates: readonly P[], { seed, budget }: SearchOptions) {
    this.#draw = seededRandom(seed);
    this.#budget = budget ?? { evaluations: Math.min(UNLIMITED_MOST, UNLIMITED_PART * candidates.length) };
    const [least, most] = LEAST_EVALUATIONS;
    this.#least = Math.min(Math.max(least, LEAST_PART * candidates.length), most);
    const isPredicted = candidates.every(({ predicted }) => predicted !== undefined);
    const groups = [...Map.groupBy(candidates, ({ traversal }) => traversal.name).values()];
    this.#first = isPredicted
      ? groups.map((group) => group.reduce((a, b) => b.predicted! > a.predicted! ? b : a))
      : shuffled(candidates, this.#draw).slice(0, FIRST_UNPREDICTED);
    const lattice = new Lattice(candidates);
    const prior = candidates.map(({ predicted }) => isPredicted ? Math.log(predicted!) : 0);
    this.#rates = new Learner(lattice, { candidates, prior, level: "unknown", first: this.#first.length });
    const ones = candidates.map(() => 1);
    this.#successes = new Learner(lattice, {
      candidates,
      prior: ones,
      level: "known",
      first: this.#first.length,
    });
    this.#indices = new Map(candidates.map((candidate, i) => [candidate, i]));
    this.#untried = new Set(candidates);
  }

  next(): P | undefined {
    if (this.verdict !== undefined) return undefined;
    let found = this.#first.pop();
    while (found !== undefined && !this.#untried.has(found)) found = this.#first.pop();
    found ??= this.#mostPromising();
    if (found === undefined) return undefined;
    this.#untried.delete(found);
    const index = this.#indices.get(found)!;
    const { belief } = this.#rates;
    this.#pending.set(index, { mean: belief.mean[index], deviation: belief.deviation(index) });
    this.#rates.expect(index);
    return found;
  }

  tell(candidate: P, { rate, spentNs }: Outcome): void {
    const index = this.#indices.get(candidate)!;
    this.#untried.delete(candidate);
    const expected = this.#pending.get(index);
    this.#pending.delete(index);
    if (spentNs > 0) this.#cost.observe(candidate, spentNs);
    this.#successes.learn(index, rate === undefined ? 0 : 1);
    if (rate === undefined) {
      this.#failures++;
      this.#rates.giveUp(index);
    } else {
      const { mean, deviation } = expected ?? { mean: 0, deviation: Infinity };
      if (Math.abs(Math.log(rate) - mean) > SURPRISE * deviation) this.#poor = 0;
      this.#rates.learn(index, Math.log(rate));
      this.#best = Math.max(this.#best, Math.log(rate));
    }
  }

  #mostPromising(): P | undefined {
    const { belief } = this.#rates;
    // what is under way is believed to come to what is expected of it
    const best = [...this.#pending.keys()].reduce((best, i) => Math.max(best, belief.mean[i]), this.#best);
    const promises = Array.from(this.#untried, (candidate) => {
      const index = this.#indices.get(candidate)!;
      const gain = this.#success(index) *
        (best === -Infinity
          ? Math.exp(belief.mean[index])
          : expectedImprovement(belief.mean[index], belief.deviation(index), best));
      // 1 for what takes no longer than others
      const price = this.#cost.meanNs > 0 ? this.#cost.expectNs(candidate) / this.#cost.meanNs : 1;
      return { candidate, gain, price };
    });
    const most = promises.reduce((a, { gain, price }) => Math.max(a, gain / price), 0);
    const alike = promises.filter(({ gain, price }) => gain / price >= ALIKE * most);
    const found = alike[Math.floor(this.#draw() * alike.length)];
    if (found === undefined || !this.#pays(found)) return undefined;
    return this.#poor > 0 ? this.#mostDoubtful() : found.candidate;
  }

  /** Where least is known, of what should not fail: the expectations are tested before they end the search. */
  #mostDoubtful(): P | undefined {
    const { belief } = this.#rates;
    const doubts = Array.from(this.#untried, (candidate) => {
      const index = this.#indices.get(candidate)!;
      const bound = belief.mean[index] + DOUBT * belief.deviation(index);
      return { candidate, bound: this.#success(index) < 0.5 ? -Infinity : bound };
    });
    const most = doubts.reduce((a, b) => b.bound > a.bound ? b : a, doubts[0]);
    return most?.candidate;
  }

  /** How likely a candidate is not to fail. */
  #success(index: number): number {
    if (this.#failures === 0) return 1;
    return Math.min(Math.max(this.#successes.belief.mean[index], LEAST_SUCCESS), 1);
  }

  /** Whether to go on: sets the verdict where not. */
  #pays({ gain, price }: { gain: number; price: number }): boolean {
    const part = "timeNs" in this.#budget
      ? this.#cost.meanNs * price / this.#budget.timeNs
      : price / this.#budget.evaluations;
    // gains are differences of logarithms: parts of the best rate
    this.#poor = gain < WORTH * part ? this.#poor + 1 : 0;
    if (this.#poor < PATIENCE || this.#successes.known < this.#least) return true;
    const percent = gain < 1e-5 ? "less than 0.001" : (100 * gain).toPrecision(1);
    this.verdict = `the best of what is left promises ${percent}% more, which does not pay for its time`;
    return false;
  }
}
