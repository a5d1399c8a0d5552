import { median as medianOf } from "simple-statistics";
import { expectedImprovement } from "./expected_improvement.ts";
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

/** Rates repeat to about this part; a smaller gain cannot be told from noise. */
const REPEATABLE = 0.005;

/**
 * The default. It starts from the models' ranking, learns how far off the models are, from what it measures, and
 * ends when going on no longer pays.
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
  readonly #failed = new Set<number>();
  #kernel: Kernel;
  #process: LatticeProcess;
  #fittedTo = 0;
  #best = -Infinity;
  #worst = Infinity;

  constructor(readonly candidates: readonly P[], { seed }: SearchOptions) {
    this.#draw = seededRandom(seed);
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
    const found = this.#first.pop() ?? this.#mostPromising();
    if (found !== undefined) this.#untried.delete(found);
    return found;
  }

  tell(candidate: P, { rate }: Outcome): void {
    const index = this.#indices.get(candidate)!;
    if (rate === undefined) {
      this.#failed.add(index);
    } else {
      const value = Math.log(rate);
      this.#best = Math.max(this.#best, value);
      this.#worst = Math.min(this.#worst, value);
    }
    const value = rate === undefined ? Math.min(this.#worst, this.#process.mean[index] - 1) : Math.log(rate);
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
    const gains = Array.from(this.#untried, (candidate) => {
      const index = this.#indices.get(candidate)!;
      return {
        candidate,
        gain: expectedImprovement(this.#process.mean[index], this.#process.deviation(index), this.#best),
      };
    });
    const most = gains.reduce((a, { gain }) => Math.max(a, gain), 0);
    const alike = gains.filter(({ gain }) => gain >= ALIKE * most);
    return alike[Math.floor(this.#draw() * alike.length)]?.candidate;
  }
}
