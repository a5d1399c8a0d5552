import { median } from "npm:simple-statistics@7.12.1";
import { GaussianProcess } from "../../models/gaussian_process.ts";
import type { Lattice } from "./lattice.ts";
import { expectedKernel, fitKernel } from "./fit_kernel.ts";
import { type Kernel, LatticeCovariance, type ProcessInputs, residualOf } from "./lattice_kernel.ts";
import type { SearchPoint } from "./strategy.ts";

/** The kernel is fitted again when the number of values has grown by this factor since the last time. */
const REFIT = 1.2;

/** The most values that the kernel is fitted to: more hardly change it. */
const FITTED = 120;

/** The most values that a new process is conditioned on: time and memory grow with them. */
const KEPT = 500;

/** New values after which the kernel is fitted again at the latest. */
const LATEST_REFIT = 200;

/** A level that is off by less is left for the process to learn from the values. */
const LEVEL_TOLERANCE = 0.1;

interface LearnerOptions extends Pick<ProcessInputs, "prior" | "likeness"> {
  /**
   * Values, and those of the prior, are learnt as if none were further than this below the largest; what is near it
   * stays nearly as it is.
   */
  readonly span: number;
  /** `unknown`: the prior may be off by the same for all candidates. */
  readonly level: "known" | "unknown";
  /** Values from which the kernel is fitted only as it grows; up to here at every value. */
  readonly first: number;
}

/** Learns a value of every candidate from those that are known, fitting the process's kernel again as they grow. */
export class Learner {
  readonly #inputs: ProcessInputs;
  readonly #covariance: LatticeCovariance;
  readonly #values = new Map<number, number>();
  readonly #expected = new Set<number>();
  /** Values that the process has not seen yet: recalled ones come in one go. */
  readonly #unseen: number[] = [];
  readonly #expectedKernel: Kernel;
  #kernel: Kernel;
  #process: GaussianProcess;
  /** What was added to the prior. */
  #offset = 0;
  #fittedTo = 0;
  #largest = -Infinity;
  /** Whether the largest value has grown since the process was made. */
  #hasRisen = false;

  constructor(lattice: Lattice<SearchPoint>, private readonly options: LearnerOptions) {
    const { span, likeness } = options, top = options.prior.reduce((a, b) => Math.max(a, b), -Infinity);
    const prior = options.prior.map((value) => bent(value, top, span));
    this.#inputs = { groups: lattice.groups, places: lattice.coordinates, prior, likeness };
    this.#covariance = new LatticeCovariance(this.#inputs);
    this.#kernel = this.#expectedKernel = expectedKernel(lattice.expectedLengths);
    this.#process = this.#processOf(0);
  }

  /** A candidate is being measured: what is near it will be known better. */
  expect(index: number): void {
    this.#expected.add(index);
    this.#process.expect(index);
  }

  /** The value of a candidate does not come. */
  giveUp(index: number): void {
    this.#expected.delete(index);
    this.#process.giveUp(index);
  }

  /** Takes in the value of a candidate, by its index. */
  learn(index: number, value: number): void {
    this.#expected.delete(index);
    this.#values.set(index, value);
    this.#unseen.push(index);
    if (value <= this.#largest) return;
    this.#largest = value;
    this.#hasRisen = this.options.span < Infinity;
  }

  /** What the candidates' values should be. */
  get posterior(): Pick<GaussianProcess, "mean" | "deviation"> {
    const { size } = this.#values, { first } = this.options;
    const refitAt = Math.min(REFIT * this.#fittedTo, this.#fittedTo + LATEST_REFIT);
    const isDue = this.#unseen.length > 0 && (size <= first || size >= refitAt || this.#hasRisen);
    if (!isDue || !this.#refit()) {
      for (const index of this.#unseen) this.#process.observe(index, this.#bent(this.#values.get(index)!));
    }
    this.#unseen.length = 0;
    return this.#process;
  }

  /** A process that knows nothing yet. @param offset what is added to the prior */
  #processOf(offset: number): GaussianProcess {
    const prior = this.#inputs.prior.map((mean) => mean + offset);
    return new GaussianProcess(prior, this.#covariance.of(this.#kernel), residualOf(this.#inputs));
  }

  #bent(value: number): number {
    return bent(value, this.#largest, this.options.span);
  }

  /** Fits the kernel again; if that changes it, makes a new process of all values, and returns true. */
  #refit(): boolean {
    const known = [...this.#values].slice(-FITTED).map(([i, value]) => [i, this.#bent(value)] as const);
    const { groups, places, prior, likeness } = this.#inputs;
    const offset = this.options.level === "known" ? 0 : median(known.map(([i, value]) => value - prior[i]!));
    const kernel = fitKernel(
      {
        groups: known.map(([i]) => groups[i]!),
        places: known.map(([i]) => places[i]!),
        prior: known.map(([i]) => prior[i]! + offset),
        likeness: likeness && ((a, b) => likeness(known[a]![0], known[b]![0])),
      },
      known.map(([, value]) => value),
      { start: this.#kernel, expected: this.#expectedKernel },
    );
    this.#fittedTo = this.#values.size;
    const isSame = kernel === this.#kernel && !this.#hasRisen &&
      Math.abs(offset - this.#offset) < LEVEL_TOLERANCE;
    if (isSame && this.#values.size <= KEPT) return false;
    [this.#kernel, this.#offset, this.#hasRisen] = [kernel, offset, false];
    this.#process = this.#processOf(offset);
    for (const [index, value] of this.#kept()) this.#process.observe(index, value);
    for (const index of this.#expected) this.#process.expect(index);
    return true;
  }

  /** All values; of too many, half are the largest and half are taken evenly from the others. */
  #kept(): (readonly [index: number, value: number])[] {
    const all = [...this.#values].map(([i, value]) => [i, this.#bent(value)] as const);
    if (all.length <= KEPT) return all;
    const largest = new Set(all.toSorted((a, b) => b[1] - a[1]).slice(0, KEPT / 2));
    const others = all.filter((index) => !largest.has(index));
    const stride = others.length / (KEPT / 2);
    return [...largest, ...Array.from({ length: KEPT / 2 }, (_, i) => others[Math.floor(i * stride)]!)];
  }
}

/** A value, bent so that it is less than a span below the largest. */
function bent(value: number, largest: number, span: number): number {
  return span === Infinity ? value : largest - span * (1 - Math.exp((value - largest) / span));
}
