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
 * elsewhere, its device has another temperature.
 */
export const RUN_TO_RUN = 0.005;

/** How much another turn's rate may differ where there was only one: what its samples were held to. */
export const TURN_TO_TURN = 0.03;

/**
 * The interval that the rate of a later run lies in, 95 times in 100, the device being as idle and as cool.
 *
 * Samples of one turn share its memory, its clock and its moment: they are much closer to each other than to those
 * of the next turn, so that an interval from all samples is too narrow by far. What counts is how much turns differ.
 * The mean of a later run's n turns lies within t s √(2/n) of this one's, with the logarithms' standard deviation s
 * and n − 1 degrees of freedom (Student's prediction interval for a mean; Hahn, Meeker, "Statistical Intervals", §4.8),
 * but the interval is never narrower than {@linkcode RUN_TO_RUN} to either side. It always holds the median of the
 * last turns' samples.
 *
 * Of one turn it is that of its samples, but not narrower than {@linkcode TURN_TO_TURN} to either side.
 *
 * @param turns the samples of each turn, as rates: at least one turn, each of at least one sample, all above 0
 * @param rate the rate that it is the interval of
 *
 * @example
 * ```ts
 * import { laterRunInterval } from "./later_run.ts";
 * import { assert } from "@std/assert";
 *
 * const [low, high] = laterRunInterval([[99, 100], [103, 102], [101, 101]], 101);
 * assert(low < 98 && high > 104);
 * ```
 */
export function laterRunInterval(
  turns: readonly (readonly number[])[],
  rate: number,
): [low: number, high: number] {
  if (turns.length === 1) {
    const [low, high] = medianInterval95(turns[0]);
    return [Math.min(low, rate * (1 - TURN_TO_TURN)), Math.max(high, rate * (1 + TURN_TO_TURN))];
  }
  const logarithms = turns.map((samples) => Math.log(median(samples)));
  const centre = mean(logarithms);
  const half = studentQuantile(0.975, turns.length - 1) * sampleStandardDeviation(logarithms) *
    Math.sqrt(2 / turns.length);
  return [
    Math.min(Math.exp(centre - half), rate * (1 - RUN_TO_RUN)),
    Math.max(Math.exp(centre + half), rate * (1 + RUN_TO_RUN)),
  ];
}
