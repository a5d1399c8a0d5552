/**
 * Where the rate that a later run finds lies, from the rates of several turns.
 *
 * @module
 */
import { mean, sampleStandardDeviation } from "simple-statistics";
import { median, medianInterval95 } from "./statistics.ts";
import { studentQuantile } from "./student.ts";

/**
 * How much another run's rate may differ, as a part of it, beyond what the turns of one run show: its memory lies
 * elsewhere, its device has another temperature. An H100's clock moves in steps of 15 MHz, 0.8% of its 1,980 MHz. In
 * the runs of `fixtures/h100` the fastest configurations' rates in the final round differ from those in the search,
 * half a minute before and in another process, by up to 0.5%, while turns of the round differ by 0.1% (2026-11-21).
 */
export const RUN_TO_RUN = 0.01;

/** How much another turn's rate may differ where there was only one: what its samples were held to. */
export const TURN_TO_TURN = 0.03;

/** How far an end lies from the centre at most, in logarithms: two turns that differ much tell nothing more. */
const WIDEST = Math.log(10);

/** Options of {@linkcode laterRunInterval}. */
export interface LaterRunOptions {
  /** The rate that it is the interval of; it always holds it. */
  readonly rate: number;
  /**
   * Out of how many it was chosen, or may have been, for its rate.
   * @default {1}
   */
  readonly among?: number;
}

/**
 * The interval that the rate of a later run lies in, 95 times in 100, the device being as idle and as cool.
 *
 * Samples of one turn share its memory, its clock and its moment: they are much closer to each other than to those
 * of the next turn, so that an interval from all samples is too narrow by far. What counts is how much turns differ.
 * The mean of a later run's n turns lies within t s √(2/n) of this one's, with the logarithms' standard deviation s
 * and n − 1 degrees of freedom (Student's prediction interval for a mean; Hahn, Meeker, "Statistical Intervals",
 * §4.8). What was chosen for its rate owes a part of that to luck: the intervals of all that it was chosen among hold
 * together (Bonferroni). It is never narrower than {@linkcode RUN_TO_RUN} to either side.
 *
 * Of one turn it is that of its samples, but not narrower than {@linkcode TURN_TO_TURN} to either side.
 *
 * @param turns the samples of each turn, as rates: at least one turn, each of at least one sample, all above 0
 * @param options the rate, and what it was chosen among
 *
 * @example
 * ```ts
 * import { laterRunInterval } from "./later_run.ts";
 * import { assert } from "@std/assert";
 *
 * const [low, high] = laterRunInterval([[99, 100], [103, 102], [101, 101]], { rate: 101 });
 * assert(low < 98 && high > 104);
 * ```
 */
export function laterRunInterval(
  turns: readonly (readonly number[])[],
  { rate, among = 1 }: LaterRunOptions,
): [low: number, high: number] {
  if (turns.length === 1) {
    const [low, high] = medianInterval95(turns[0]);
    return [Math.min(low, rate * (1 - TURN_TO_TURN)), Math.max(high, rate * (1 + TURN_TO_TURN))];
  }
  const logarithms = turns.map((samples) => Math.log(median(samples)));
  const centre = mean(logarithms);
  const spread = studentQuantile(1 - 0.025 / among, turns.length - 1) * sampleStandardDeviation(logarithms) *
    Math.sqrt(2 / turns.length);
  const half = Math.min(spread, WIDEST);
  return [
    Math.min(Math.exp(centre - half), rate * (1 - RUN_TO_RUN)),
    Math.max(Math.exp(centre + half), rate * (1 + RUN_TO_RUN)),
  ];
}
