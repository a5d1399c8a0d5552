/**
 * Samples taken in turns: whatever else the machine does then affects all contenders alike, and ratios can be taken
 * turn by turn.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { median, medianInterval95 } from "../tuner/measuring/statistics.ts";

/** Turns before the first that counts on the CPU: V8 replaces its first code within them. */
export const WARM_UP_TURNS = 3;

/** Fewest turns: order statistics give an interval from six samples on. */
const FEWEST_TURNS = 7;

/** Options of {@linkcode takeTurns}. */
export interface TurnOptions {
  /** No turn begins later than this. */
  readonly untilMs: number;
  /** Turns whose samples do not count. @default {0} */
  readonly warmUp?: number;
  /** @default {as many as the time allows} */
  readonly mostTurns?: number;
}

/** Takes samples of each contender in turns: for each one, its samples in the order of the turns. */
export async function takeTurns(
  contenders: readonly (() => Promise<number>)[],
  { untilMs, warmUp = 0, mostTurns = Infinity }: TurnOptions,
): Promise<number[][]> {
  const samples = contenders.map((): number[] => []);
  for (let turn = -warmUp; turn < mostTurns; turn++) {
    if (turn >= FEWEST_TURNS && performance.now() > untilMs) break;
    for (const [i, contender] of contenders.entries()) {
      const sample = await contender();
      if (turn >= 0) samples[i]!.push(sample);
    }
  }
  return samples;
}

/** The median over the turns of one contender's samples divided by another's. */
export function medianRatio(upper: readonly number[], lower: readonly number[]): number {
  return median(upper.map((sample, turn) => sample / lower[turn]!));
}

/** How fast one configuration is on a line. */
export interface LineRate {
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Nanoseconds a time step: the median of the samples, and its 95% interval. */
  readonly stepNs: number;
  readonly confidence95: readonly [low: number, high: number];
  readonly samples: number;
  /** Median over the turns of classic's time divided by this one's. */
  readonly overClassic: number;
}

/** The rate that samples show, in nanoseconds a step, beside those of classic from the same turns. */
export function lineRate(
  { traversal, parameters }: Pick<LineRate, "traversal" | "parameters">,
  samples: readonly number[],
  classic: readonly number[],
): LineRate {
  const stepNs = median(samples), confidence95 = medianInterval95(samples);
  const overClassic = medianRatio(classic, samples);
  return { traversal, parameters, stepNs, confidence95, samples: samples.length, overClassic };
}
