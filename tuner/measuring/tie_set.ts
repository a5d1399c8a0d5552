/**
 * Which finalists are statistically indistinguishable, from rates measured in blocks, and which of them is chosen. In a
 * block every finalist has one turn, close in time to the others', so that whatever the device does meanwhile affects
 * all of them alike.
 *
 * Finalists are compared in pairs within blocks: the difference of the logarithms of two rates of the same block says
 * how much slower one is. Over n blocks the mean of the differences has Student's interval. Its variance is the pair's
 * own or that of all close pairs together, whichever is larger (a randomized complete block design; Montgomery,
 * "Design and Analysis of Experiments", ch. 4), with the degrees of freedom of all, so that two or three blocks are
 * enough. Each finalist is compared with all others, and the error is divided by their number (Bonferroni), so that all
 * statements about a finalist hold at once. The result is an interval of its **slowdown**, how much slower it is than
 * the fastest of the others (comparisons with the best; Hsu, "Multiple Comparisons", 1996, ch. 4).
 *
 * Two limits follow:
 *
 * - a finalist **ties** unless it is slower than another by more than {@linkcode DISTINCT}, with an error of
 *   {@linkcode TIE_ERROR}, or looks slower by more than {@linkcode FAR}: of two or three blocks Student's interval is so
 *   wide that it would contain half the rate;
 * - the choice is made among the **core**: finalists that are not slower than another by more than
 *   {@linkcode NEGLIGIBLE}, with an error of {@linkcode CORE_ERROR}, nor measured as slower by more than DISTINCT.
 *
 * With a single limit, a finalist close to it would be chosen in one run and rejected in the next. With two, what one
 * run chooses is in the tie set of the others; `tests/measuring/tie_set_simulation_test.ts` shows how reliably.
 *
 * @module
 */
import { mean, sampleVariance } from "npm:simple-statistics@7.12.1";
import type { Demand } from "../../kernels/traversals/traversal.ts";
import { registersOf } from "../../models/roofline.ts";
import { type Configuration, configurationKey, type Measurement } from "../configuration.ts";
import { studentQuantile } from "./statistics.ts";

/** The smallest difference that counts, and one that does not matter for the choice, as parts of the rate. */
export const DISTINCT = 0.01, NEGLIGIBLE = 0.005;
/** A finalist that looks slower by more than this part of the rate does not tie, nor count toward the noise. */
const FAR = 0.25;
/** Probability that a finalist is rejected though it is not slower by {@linkcode DISTINCT}. */
const TIE_ERROR = 1e-4;
/** Probability that an end of a 95% interval is wrong. */
const CORE_ERROR = 0.025;

/** The rate of each of a finalist's turns, by block; undefined where it had none. */
export type Turns = readonly (number | undefined)[];

/** How a finalist stands against all others. */
export interface Standing {
  /** How much slower it is than the fastest, as a part of that one's rate; 0 for the fastest. */
  readonly slowdown: number;
  /** Interval of the slowdown against the fastest of the others: below 0 where it may be the fastest itself. */
  readonly interval95: readonly [low: number, high: number];
  /** Whether it is not significantly slower than the fastest. */
  readonly isTied: boolean;
  /** Whether it may be chosen: it is as fast as the fastest, within {@linkcode NEGLIGIBLE}. */
  readonly isCore: boolean;
}

/** The only one. */
const ALONE: Standing = { slowdown: 0, interval95: [0, 0], isTied: true, isCore: true };

/** Two finalists in the blocks in which both had a turn. */
interface Pair {
  /** How much slower the first is: mean of the differences of logarithms. */
  readonly difference: number;
  /** The variance of the differences between blocks. */
  readonly variance: number;
  readonly blocks: number;
}

/**
 * Compares finalists.
 *
 * @param finalists the rates of each in every block, above 0
 * @returns how each stands, in the same order; undefined if any pair has fewer than two blocks in common
 * @throws {RangeError} for a rate that is not above 0
 */
export function standingsOf(finalists: readonly Turns[]): readonly Standing[] | undefined {
  for (const rate of finalists.flat()) {
    if (rate !== undefined && !(rate > 0 && Number.isFinite(rate))) {
      throw new RangeError(`Cannot compare finalists: rates must be above 0: one is ${rate}`);
    }
  }
  if (finalists.length === 0) return [];
  if (finalists.length === 1) return [ALONE];
  const pairs = finalists.map((finalist, i) =>
    finalists.map((other, j) => i === j ? undefined : pairOf(finalist, other))
  );
  if (pairs.flat().some((pair) => pair !== undefined && pair.blocks < 2)) return undefined;

  const others = finalists.length - 1;
  // the noise comes from those that compete; a slow one may have noise of another kind
  const isNear = pairs.map((row) => largest(row, NO_NOISE, 0) <= FAR);
  const near = pairs.map((row, i) => row.filter((_, j) => isNear[i] && isNear[j]));
  const noise = noiseOf(near.flat().some((pair) => pair !== undefined) ? near : pairs);
  const sure = studentQuantile(1 - TIE_ERROR / others, noise.degrees);
  const isTied = pairs.map((row, i) => isNear[i]! && largest(row, noise, -sure) <= DISTINCT);
  // if turns are missing, each may look slower than another
  if (!isTied.includes(true)) return undefined;
  // one that is rejected is not the fastest, however little else is known of it
  const errors = studentQuantile(1 - CORE_ERROR / others, noise.degrees);
  const slowdowns = pairs.map((row) => {
    const against = row.filter((_, other) => isTied[other]);
    const at = (standardErrors: number): number => largest(against, noise, standardErrors);
    return { low: at(-errors), found: at(0), high: at(errors) };
  });
  const tied = slowdowns.filter((_, i) => isTied[i]);
  const first = slowdowns.indexOf(tied.reduce((a, b) => b.found < a.found ? b : a));
  return slowdowns.map(({ low, found, high }, i) =>
    // alone at the top there is nothing to compare it with
    found === -Infinity ? ALONE : {
      slowdown: i === first ? 0 : Math.max(0, found),
      interval95: [low, high],
      isTied: isTied[i]!,
      isCore: i === first || (isTied[i]! && low <= NEGLIGIBLE && found <= DISTINCT),
    }
  );
}

/** The variance of a difference, of all pairs together, and how well it is known. */
interface Noise {
  readonly variance: number;
  readonly degrees: number;
}

const NO_NOISE: Noise = { variance: 0, degrees: 1 };

/** The noise of those pairs that have most blocks (others left because they were slower); every pair is there twice. */
function noiseOf(pairs: readonly (readonly (Pair | undefined)[])[]): Noise {
  const all = pairs.flat().filter((pair) => pair !== undefined);
  const most = Math.max(...all.map(({ blocks }) => blocks));
  const longest = all.filter(({ blocks }) => blocks === most);
  // a finalists with n blocks each make a (a − 1) of these, and have (a − 1)(n − 1) degrees of freedom
  const others = (Math.sqrt(1 + 4 * longest.length) - 1) / 2;
  return {
    variance: mean(longest.map(({ variance }) => variance)),
    degrees: Math.max(1, Math.floor(others * (most - 1))),
  };
}

/** The largest slowdown against some others, plus `errors` standard errors; −∞ where there is no other. */
function largest(row: readonly (Pair | undefined)[], noise: Noise, errors: number): number {
  const ends = row.flatMap((pair) => {
    if (pair === undefined) return [];
    const { difference, variance, blocks } = pair;
    return [difference + errors * Math.sqrt(Math.max(variance, noise.variance) / blocks)];
  });
  // of a difference of logarithms, how much slower that is
  return -Math.expm1(-Math.max(...ends));
}

function pairOf(a: Turns, b: Turns): Pair {
  const differences = a.flatMap((rate, block) => {
    const against = b[block];
    return rate === undefined || against === undefined ? [] : [Math.log(against / rate)];
  });
  const blocks = differences.length;
  if (blocks < 2) return { difference: NaN, variance: NaN, blocks };
  return { difference: mean(differences), variance: sampleVariance(differences), blocks };
}

/** Samples from which an interval is reported: fewer hardly say how much they vary. */
const LEAST_SAMPLES = 3;

/** A measurement as it is reported: with an interval only if there are samples enough for one. */
export function ratedOf(
  { configuration, cellsPerSecond, confidence95, samples }: Measurement,
): Pick<Measurement, "configuration" | "cellsPerSecond"> & {
  readonly confidence95: Measurement["confidence95"] | null;
} {
  const isEnough = samples.length >= LEAST_SAMPLES;
  return { configuration, cellsPerSecond, confidence95: isEnough ? confidence95 : null };
}

/**
 * Those whose 95% interval overlaps the fastest one's, of rates that were not measured in blocks: nothing more can be
 * said of these. The fastest come first, in the argument as well.
 */
export function overlappingTies(measurements: readonly Measurement[]): readonly Measurement[] {
  const [first, ...others] = measurements;
  if (first === undefined) return [];
  return [first, ...others.filter(({ confidence95 }) => confidence95[1] >= first.confidence95[0])];
}

/**
 * Orders a tie set: the smallest use of on-chip memory first (registers and workgroup memory of a workgroup), then the
 * fewest instructions (they stand in for compile time), then by name and parameters. Measurements do not count, so
 * whenever the same configurations tie, the same one is chosen. Those whose demand is unknown, as the CPU's, come last,
 * the fastest first.
 */
export function orderTies(
  ties: readonly Measurement[],
  demandOf: (configuration: Configuration) => Demand | undefined,
): Measurement[] {
  const placed = ties.map((tie) => {
    const demand = demandOf(tie.configuration), key = configurationKey(tie.configuration);
    if (demand === undefined) return { tie, key, bytes: Infinity, instructions: -tie.cellsPerSecond };
    const { threadsPerWorkgroup, workgroupBytes, loopInstructions = 0 } = demand;
    const bytes = 4 * registersOf(demand) * threadsPerWorkgroup + workgroupBytes;
    return { tie, key, bytes, instructions: loopInstructions };
  });
  // the difference of two unknown ones is not a number, and decides nothing
  placed.sort((a, b) => a.bytes - b.bytes || a.instructions - b.instructions || (a.key < b.key ? -1 : 1));
  return placed.map(({ tie }) => tie);
}
