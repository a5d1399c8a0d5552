import { mean, sampleStandardDeviation } from "npm:simple-statistics@7.12.1";
import { median, medianInterval95, studentQuantile } from "./statistics.ts";

/**
 * How much the rate of another run may differ, as a part of it, beyond what the turns of one run show: its memory lies
 * elsewhere, and the device has another temperature. An H100's clock moves in steps of 15 MHz, 0.8% of its 1,980 MHz. In
 * the runs of `fixtures/h100` the fastest configurations' rates in the final round differ from those in the search,
 * half a minute before and in another process, by up to 0.5%, while turns of the round differ by 0.1% (2026-11-21).
 */
export const RUN_TO_RUN = 0.01;

/** How much the rate of another turn may differ if there was only one: the sampler's own tolerance. */
export const TURN_TO_TURN = 0.03;

/** How much turns differ, as the standard deviation of the logarithms of their rates, and how well that is known. */
export interface TurnNoise {
  readonly deviation: number;
  readonly degrees: number;
}

/** The noise of all finalists' turns together: each has few, but the device and its moment are the same. */
export function noiseOfTurns(finalists: readonly (readonly (readonly number[])[])[]): TurnNoise {
  let squares = 0, degrees = 0;
  for (const turns of finalists) {
    if (turns.length < 2) continue;
    const logarithms = turns.map((samples) => Math.log(median(samples)));
    squares += (turns.length - 1) * sampleStandardDeviation(logarithms) ** 2;
    degrees += turns.length - 1;
  }
  return { deviation: degrees === 0 ? 0 : Math.sqrt(squares / degrees), degrees };
}

/** Largest distance of an end from the centre, in logarithms. */
const WIDEST = Math.log(10);

/**
 * The interval that contains the rate of a later run 95 times in 100, if the device is as idle and as cool.
 *
 * Samples of one turn share its memory, its clock and its moment: they are much closer to each other than to those
 * of the next turn, so an interval from all samples would be far too narrow. What counts is how much turns differ. The
 * mean of a later run's n turns lies within t s √(2/n) of this one's, with the standard deviation s of the logarithms
 * and n − 1 degrees of freedom (Student's prediction interval for a mean; Hahn, Meeker, "Statistical Intervals",
 * §4.8). If a configuration was chosen for its rate among several, the error is divided by their number (Bonferroni).
 * Where `noise` is known from more turns than these, those of others beside them, it counts with its degrees of freedom,
 * but never as less than what these turns show. The interval is never narrower than {@linkcode RUN_TO_RUN} to either side.
 *
 * For a single turn it is the interval of its samples, at least {@linkcode TURN_TO_TURN} to either side.
 *
 * @param turns the samples of each turn, as rates above 0: at least one turn, each with at least one sample
 * @param options the rate, which the interval always contains; among how many it was chosen for its rate; the noise
 */
export function laterRunInterval(
  turns: readonly (readonly number[])[],
  { rate, among = 1, noise }: { readonly rate: number; readonly among?: number; readonly noise?: TurnNoise },
): [low: number, high: number] {
  if (turns.length === 1) {
    const [low, high] = medianInterval95(turns[0]!);
    return [Math.min(low, rate * (1 - TURN_TO_TURN)), Math.max(high, rate * (1 + TURN_TO_TURN))];
  }
  const logarithms = turns.map((samples) => Math.log(median(samples)));
  const centre = mean(logarithms);
  const own = sampleStandardDeviation(logarithms), degrees = turns.length - 1;
  const isPooled = noise !== undefined && noise.degrees > degrees;
  const spread = studentQuantile(1 - 0.025 / among, isPooled ? noise.degrees : degrees) *
    Math.max(own, isPooled ? noise.deviation : 0) * Math.sqrt(2 / turns.length);
  const half = Math.min(spread, WIDEST);
  return [
    Math.min(Math.exp(centre - half), rate * (1 - RUN_TO_RUN)),
    Math.max(Math.exp(centre + half), rate * (1 + RUN_TO_RUN)),
  ];
}
