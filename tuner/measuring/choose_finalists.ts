import type { Measurement } from "../configuration.ts";

/** A rate within this part of the best may be as good; the search measured each in a single turn. */
const WITHIN = 0.02;
/** Finalists at most; and how many there are however short the time is. */
export const MOST_FINALISTS = 8, LEAST_FINALISTS = 2;
/** How many of the fastest take part though they look slower. */
const FASTEST = 4;
/** Samples of which the interval says something. */
const LEAST_SAMPLES = 2;
/** No rate of the search is wrong by so much. */
const HOPELESS = 0.25;

/**
 * Chooses who takes part in the final round, whatever may be the fastest or tie with it: the fastest few, unless they
 * are slower by a quarter, and all whose rate is within 2% of the best or whose interval, of more than one sample, reaches
 * the best one's. If these are too many, those that a tie would prefer.
 *
 * @param measured rates of the search, the fastest first
 * @param options.order orders configurations as they are chosen among ties, see `orderTies`
 * @param options.most how many can be measured in the time there is
 * @returns the finalists, the fastest first
 */
export function chooseFinalists(
  measured: readonly Measurement[],
  { order, most = MOST_FINALISTS }: {
    readonly order: (measurements: readonly Measurement[]) => readonly Measurement[];
    readonly most?: number;
  },
): readonly Measurement[] {
  const [best] = measured;
  if (best === undefined) return [];
  const count = Math.min(Math.max(Math.floor(most), LEAST_FINALISTS), MOST_FINALISTS);
  const within = (part: number): readonly Measurement[] =>
    measured.filter((measurement) =>
      measurement.cellsPerSecond >= (1 - part) * best.cellsPerSecond ||
      (measurement.samples.length >= LEAST_SAMPLES && measurement.confidence95[1] >= best.confidence95[0])
    );
  const fastest = within(HOPELESS).slice(0, Math.min(FASTEST, count));
  const near = within(WITHIN).filter((measurement) => !fastest.includes(measurement));
  const others = order(near).slice(0, count - fastest.length);
  return measured.filter((measurement) => fastest.includes(measurement) || others.includes(measurement));
}
