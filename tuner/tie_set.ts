/**
 * Which finalists cannot be told apart, from rates that were measured in blocks: in a block every finalist has one
 * turn, close in time to all others', so that what the device does meanwhile meets all alike.
 *
 * Finalists are compared in pairs within blocks: the difference of the logarithms of two rates of the same block is
 * how much slower one is, whatever the block was like. Over n blocks the mean of the differences has Student's
 * interval. Its variance is the pair's own or that of all pairs together, whichever is larger (a randomized complete
 * block design; Montgomery, "Design and Analysis of Experiments", ch. 4), with the degrees of freedom of all, so that
 * two or three blocks can do. Each finalist is compared with all others, not with the one that happens to look
 * fastest, and the error is divided by their number (Bonferroni): all statements about a finalist hold at once.
 * So its **slowdown**, how much slower it is than the fastest of the others, lies in an interval (as in Hsu,
 * "Multiple Comparisons", 1996, ch. 4, comparisons with the best).
 *
 * Two differences are too small to be worth telling, and a rate found in another run may be off by as much as the
 * smaller, whatever blocks say (memory elsewhere, another clock):
 *
 * - a finalist **ties** unless it is surely slower than another by more than {@linkcode TELLING};
 * - one of the **core** is surely not slower than any other by more than {@linkcode NEGLIGIBLE}. The choice is made
 *   among these. The fastest is always one.
 *
 * What is chosen in one run is so in the tie set of any other, but for a deviation as large as the difference of the
 * two and both intervals together. With one limit for both, what lies at the limit would be chosen in one run and
 * told apart in the next.
 *
 * @module
 */
import { mean, sampleVariance } from "simple-statistics";
import type { Measurement } from "./configuration.ts";
import { studentQuantile } from "./measure/student.ts";

/** The smallest difference that is told, as a part of the rate. */
export const TELLING = 0.01;

/** A difference that does not matter for the choice, as a part of the rate. */
export const NEGLIGIBLE = 0.005;

/** The rate of each of a finalist's turns, by block; undefined where it had none. */
export type Turns = readonly (number | undefined)[];

/** How a finalist stands against all others. */
export interface Standing {
  /** How much slower it is than the fastest, as a part of that one's rate; 0 for the fastest. */
  readonly slowdown: number;
  /** Interval of the slowdown against the fastest of the others: below 0 where it may be the fastest itself. */
  readonly interval95: readonly [low: number, high: number];
  /** Whether it cannot be told from the fastest. */
  readonly isTied: boolean;
  /** Whether it is as good as the fastest. */
  readonly isCore: boolean;
}

/** Options of {@linkcode standingsOf}. */
export interface StandingOptions {
  /**
   * Probability that an end of a finalist's interval is wrong, all of the other finalists together.
   * @default {0.025}
   */
  readonly error?: number;
}

/** Two finalists in the blocks in which both had a turn. */
interface Pair {
  /** How much slower the first is: mean of the differences of logarithms. */
  readonly difference: number;
  /** Of the differences. */
  readonly variance: number;
  readonly blocks: number;
}

/**
 * Compares finalists.
 *
 * @param finalists the rates of each in every block, above 0
 * @returns how each stands, in the same order; undefined where no two blocks have turns of all: of less nothing
 *   can be said
 * @throws {RangeError} for a rate that is not above 0
 *
 * @example
 * ```ts
 * import { standingsOf } from "./tie_set.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const blocks = [1, 1.1, 0.9, 1.05]; // what the device did meanwhile
 * const finalist = (rate: number, noise: number[]) => blocks.map((block, i) => block * rate * (1 + noise[i]));
 * const standings = standingsOf([
 *   finalist(770e9, [0, 4e-4, 2e-4, -3e-4]),
 *   finalist(769e9, [1e-4, -2e-4, 3e-4, 0]),
 *   finalist(740e9, [2e-4, 0, -4e-4, 1e-4]),
 * ])!;
 * assertEquals(standings.map(({ isTied }) => isTied), [true, true, false]);
 * ```
 */
export function standingsOf(
  finalists: readonly Turns[],
  { error = 0.025 }: StandingOptions = {},
): readonly Standing[] | undefined {
  for (const rate of finalists.flat()) {
    if (rate !== undefined && !(rate > 0 && Number.isFinite(rate))) {
      throw new RangeError(`Cannot compare finalists: rates must be above 0: one is ${rate}`);
    }
  }
  if (finalists.length === 0) return [];
  if (finalists.length === 1) return [{ slowdown: 0, interval95: [0, 0], isTied: true, isCore: true }];
  const pairs = finalists.map((one) =>
    finalists.map((other) => one === other ? undefined : pairOf(one, other))
  );
  const compared = pairs.flat().filter((pair) => pair !== undefined);
  if (compared.some(({ blocks }) => blocks < 2)) return undefined;

  const others = finalists.length - 1;
  // noise is that of those that are still compared: what is far behind may be of another kind
  const most = Math.max(...compared.map(({ blocks }) => blocks));
  const longest = compared.filter(({ blocks }) => blocks === most);
  const pooled = mean(longest.map(({ variance }) => variance));
  // of a finalists that all have n blocks (a − 1)(n − 1); each pair is in the list twice
  const compete = (1 + Math.sqrt(1 + 4 * longest.length)) / 2;
  const t = studentQuantile(1 - error / others, Math.max(1, Math.floor((compete - 1) * (most - 1))));
  const ends = pairs.map((row) => {
    const against = row.filter((pair) => pair !== undefined).map(({ difference, variance, blocks }) => {
      const half = t * Math.sqrt(Math.max(variance, pooled) / blocks);
      return { low: difference - half, difference, high: difference + half };
    });
    const largest = (end: "low" | "difference" | "high") => Math.max(...against.map((one) => one[end]));
    return { low: largest("low"), difference: largest("difference"), high: largest("high") };
  });
  const first = ends.reduce((best, one, i) => one.difference < ends[best].difference ? i : best, 0);
  return ends.map(({ low, difference, high }, i) => ({
    slowdown: i === first ? 0 : Math.max(0, partOf(difference)),
    interval95: [partOf(low), partOf(high)],
    isTied: i === first || partOf(low) <= TELLING,
    isCore: i === first || partOf(high) <= NEGLIGIBLE,
  }));
}

/** Of a difference of logarithms, how much slower that is. */
function partOf(difference: number): number {
  return -Math.expm1(-difference);
}

function pairOf(one: Turns, other: Turns): Pair {
  const differences = one.flatMap((rate, block) => {
    const against = other[block];
    return rate === undefined || against === undefined ? [] : [Math.log(against / rate)];
  });
  const blocks = differences.length;
  if (blocks < 2) return { difference: NaN, variance: NaN, blocks };
  return { difference: mean(differences), variance: sampleVariance(differences), blocks };
}

/**
 * Those whose 95% interval reaches the fastest one's, the fastest first: all that can be said of rates that were not
 * measured in blocks.
 *
 * @param measurements the fastest first
 */
export function overlappingTies(measurements: readonly Measurement[]): readonly Measurement[] {
  const [first, ...others] = measurements;
  if (first === undefined) return [];
  return [first, ...others.filter(({ confidence95 }) => confidence95[1] >= first.confidence95[0])];
}
