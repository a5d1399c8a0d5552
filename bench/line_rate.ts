/**
 * How fast configurations are that were measured in turns: a comparison's common result.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { median, summarize } from "../tuner/measuring/statistics.ts";

/** How fast one configuration is. */
export interface LineRate {
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Nanoseconds a time step: the median of the samples, and its 95% interval. */
  readonly stepNs: number;
  readonly confidence95: readonly [low: number, high: number];
  readonly samples: number;
  /** Median over the turns of classic's time by this one's. */
  readonly overClassic: number;
}

/** Samples of a configuration, nanoseconds a step: one of each turn. */
export interface LineSamples {
  readonly traversal: string;
  readonly parameters: Parameters;
  readonly samples: readonly number[];
}

/** The rate that samples tell, beside those of classic from the same turns. */
export function lineRate(
  { traversal, parameters, samples }: LineSamples,
  classic: readonly number[],
): LineRate {
  const { median: stepNs, interval95 } = summarize(samples);
  return {
    traversal,
    parameters,
    stepNs,
    confidence95: interval95,
    samples: samples.length,
    overClassic: median(samples.map((sample, i) => classic[i] / sample)),
  };
}
