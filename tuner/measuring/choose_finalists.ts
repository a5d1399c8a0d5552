/**
 * Who takes part in the final round: whatever may be the fastest, or tie with it.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";

/**
 * A rate of the search within this part of the best may be as good: twice the difference that is told, since a rate
 * of the search comes from a single turn.
 */
const WITHIN = 0.02;
/** Finalists at most. */
const MOST_FINALISTS = 8;
/** The fastest of the search that take part though they look slower; and how many of them however short time is. */
const FASTEST = 4;
export const LEAST_FINALISTS = 2;
/** No rate of the search is off by so much. */
const HOPELESS = 0.25;

/** Options of {@linkcode chooseFinalists}. */
export interface FinalistOptions {
  /** Orders configurations as they are chosen among ties, see `tie_order.ts`. */
  readonly order: (measurements: readonly Measurement[]) => readonly Measurement[];
  /**
   * How many can be measured in the time there is.
   * @default {as many as there are}
   */
  readonly most?: number;
}

/**
 * Chooses the finalists of a search. The fastest few say how fast it gets, unless they are slower by a quarter. With
 * them take part all whose rate is within 2% of the best, or whose interval reaches the best one's; where these are too
 * many, those that would be chosen if they tie.
 *
 * @param measured rates of the search, the fastest first
 * @returns the finalists, the fastest first
 *
 * @example
 * ```ts
 * import { chooseFinalists } from "./choose_finalists.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(chooseFinalists([], { order: (all) => all }), []);
 * ```
 */
export function chooseFinalists(
  measured: readonly Measurement[],
  { order, most = MOST_FINALISTS }: FinalistOptions,
): readonly Measurement[] {
  const count = Math.min(Math.max(Math.floor(most), LEAST_FINALISTS), MOST_FINALISTS);
  const within = (part: number): readonly Measurement[] =>
    measured.filter((one) =>
      one.cellsPerSecond >= (1 - part) * measured[0].cellsPerSecond ||
      one.confidence95[1] >= measured[0].confidence95[0]
    );
  const fastest = within(HOPELESS).slice(0, Math.min(FASTEST, count));
  const near = within(WITHIN).filter((one) => !fastest.includes(one));
  const others = order(near).slice(0, count - fastest.length);
  return measured.filter((one) => fastest.includes(one) || others.includes(one));
}
