import { median as medianOf } from "simple-statistics";
import { expectedImprovement } from "./expected_improvement.ts";
import { EvaluationCost } from "./evaluation_cost.ts";
import { Lattice } from "./lattice.ts";
import { expectedKernel, fitKernel, type Kernel, LatticeProcess, type ProcessInputs } from "./lattice_process.ts";
import { seededRandom } from "./seeded_random.ts";
import { shuffled } from "./shuffled.ts";
import type { Outcome, Point, Search, SearchOptions, Strategy } from "./strategy.ts";

/** Candidates drawn at random where no model predicts anything. */
const FIRST_UNPREDICTED = 8;

/** The kernel is fitted anew when there are so many times as many values as the last time. */
const REFIT = 1.3;

/** Values that the kernel is fitted to at most: beyond, more of them change it no more. */
const FITTED = 120;

/** Expected gains of at least this part of the largest are as good: one is drawn. */
const ALIKE = 0.9;

/** The whole budget is worth this gain: an evaluation that takes 1% of it must promise 1% of the gain. */
const WORTH = 0.1;

/** What counts as the budget where none is given: part of the space, and evaluations at most. */
const UNLIMITED_PART = 0.1, UNLIMITED_MOST = 500;

/** The search ends when so many candidates one after the other did not promise enough: expectations err too. */
const PATIENCE = 6;

/** Evaluations before expectations are trusted to end the search. */
const LEAST_EVALUATIONS = 20;

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
  readonly #inputs: ProcessInputs;
  readonly #indices: ReadonlyMap<P, number>;
  readonly #first: P[];
  readonly #firstCount: number;
  readonly #untried: Set<P>;
  /** Logarithms of rates, of failures too. */
  readonly #values = new Map<number, number>();
  readonly #cost = new EvaluationCost();
  readonly #budget: { readonly timeNs: number } | { readonly evaluations: number };
  /** Candidates one after the other that did not promise enough. */
  #poor = 0;
  #kernel: Kernel;
  #process: LatticeProcess;
  #fittedTo = 0;
  #best = -Infinity;
  #worst = Infinity;

  constructor(candidates: readonly P[], { seed, budget }: SearchOptions) {
    this.#draw = seededRandom(seed);
    this.#budget = budget ?? { evaluations: Math.min(UNLIMITED_MOST, UNLIMITED_PART * candidates.length) };
    const lattice = new Lattice(candidates);
    const { traversals } = lattice;
    const isPredicted = candidates.every(({ predicted }) => predicted !== undefined);
    this.#inputs = {
      groups: candidates.map(({ traversal }) => traversals.indexOf(traversal.name)),
      places: candidates.map((candidate) => lattice.placeOf(candidate)),
      prior: candidates.map(({ predicted }) => isPredicted ? Math.log(predicted!) : 0),
    };
    this.#indices = new Map(candidates.map((candidate, i) => [candidate, i]));
    this.#untried = new Set(candidates);
    const groups = [...Map.groupBy(candidates, ({ traversal }) => traversal.name).values()];
    this.#first = isPredicted
      ? groups.map((group) => group.reduce((a, b) => b.predicted! > a.predicted! ? b : a))
      : shuffled(candidates, this.#draw).slice(0, FIRST_UNPREDICTED);
    this.#firstCount = this.#first.length;
    this.#kernel = expectedKernel(traversals.map((traversal) => lattice.sizes(traversal)));
    this.#process = new LatticeProcess(this.#inputs, this.#kernel);
  }

  next(): P | undefined {
    if (this.verdict !== undefined) return undefined;
    const found = this.#first.pop() ?? this.#mostPromising();
    if (found !== undefined) this.#untried.delete(found);
    return found;
  }

  tell(candidate: P, { rate, spentNs }: Outcome): void {
    const index = this.#indices.get(candidate)!;
    this.#cost.observe(candidate, spentNs);
    // what fails is as bad as the worst: candidates beside it should look bad too
    const value = rate === undefined ? Math.min(this.#worst, this.#process.mean[index] - 1) : Math.log(rate);
    if (rate !== undefined) {
      this.#best = Math.max(this.#best, value);
      this.#worst = Math.min(this.#worst, value);
    }
    this.#values.set(index, value);
    const { size } = this.#values;
    if (size <= this.#firstCount ? size === this.#firstCount : size >= REFIT * this.#fittedTo) this.#refit();
    else this.#process.observe(index, value);
  }

  #refit(): void {
    const known = [...this.#values].slice(-FITTED);
    const { groups, places, prior } = this.#inputs;
    const offset = medianOf(known.map(([i, value]) => value - prior[i]));
    const values = known.map(([, value]) => value);
    this.#kernel = fitKernel({
      groups: known.map(([i]) => groups[i]),
      places: known.map(([i]) => places[i]),
      prior: known.map(([i]) => prior[i] + offset),
    }, values, this.#kernel);
    this.#process = new LatticeProcess(
      { groups, places, prior: prior.map((mean) => mean + offset) },
      this.#kernel,
    );
    for (const [index, value] of this.#values) this.#process.observe(index, value);
    this.#fittedTo = this.#values.size;
  }

  #mostPromising(): P | undefined {
    const promises = Array.from(this.#untried, (candidate) => {
      const index = this.#indices.get(candidate)!;
      const mean = this.#process.mean[index], deviation = this.#process.deviation(index);
      const gain = expectedImprovement(mean, deviation, this.#best);
      // 1 for what takes no longer than others
      const price = this.#cost.meanNs > 0 ? this.#cost.expectNs(candidate) / this.#cost.meanNs : 1;
      return { candidate, gain, price };
    });
    const most = promises.reduce((a, { gain, price }) => Math.max(a, gain / price), 0);
    const alike = promises.filter(({ gain, price }) => gain / price >= ALIKE * most);
    const found = alike[Math.floor(this.#draw() * alike.length)];
    if (found === undefined) return undefined;
    return this.#pays(found) ? found.candidate : undefined;
  }

  /** Whether to go on: sets the verdict where not. */
  #pays({ gain, price }: { gain: number; price: number }): boolean {
    const part = "timeNs" in this.#budget
      ? this.#cost.meanNs * price / this.#budget.timeNs
      : price / this.#budget.evaluations;
    // gains are differences of logarithms: parts of the best rate
    this.#poor = gain < WORTH * part ? this.#poor + 1 : 0;
    if (this.#poor < PATIENCE || this.#values.size < LEAST_EVALUATIONS) return true;
    const percent = (100 * gain).toPrecision(1);
    this.verdict = `the best of what is left promises ${percent}% more, which does not pay for its time`;
    return false;
  }
}
