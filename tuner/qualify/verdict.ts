import type { FailureReason, Verification } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { WIDEST } from "../measuring/statistics.ts";
import type { ProfileDevice, ProfileEntry } from "../profile/schema.ts";

/** A rate with its 95% interval, in cells per second. */
export interface Rate {
  /** The median. */
  readonly cellsPerSecond: number;
  /** 95% interval of the median; null where too few samples were taken for one. */
  readonly confidence95: readonly [low: number, high: number] | null;
}

/** What became of a rate. */
export type RateVerdict = "pass" | "slower" | "faster";

/**
 * What became of an entry. `right`: verified, where no rates were to be compared. `not comparable`: verified, on
 * another device, or the recorded interval is too wide. `not run`: it cannot be on this device or with this Facet, or there was no time. `failed`: the
 * device failed, or its compiler did.
 */
export type Verdict = RateVerdict | "right" | "wrong" | "not comparable" | "not run" | "failed";

/** Whether a verdict speaks for the device; any other keeps a qualification from being passed. */
export function isPassing(verdict: Verdict): boolean {
  return verdict === "pass" || verdict === "faster" || verdict === "right";
}

/**
 * What all entries say together. `yes`: every one passes. `no`: at least one is slower, wrong, or does not compile.
 * `device failed`: none of these, but the device was lost or hung. `unanswered`: neither, but at least one could
 * not be run or compared.
 */
export type Answer = "yes" | "no" | "device failed" | "unanswered";

/** An entry, and what became of it here. */
export interface EntryResult {
  /** The profile's entry. */
  readonly entry: ProfileEntry;
  /** What became of it. */
  readonly verdict: Verdict;
  /** Why, in one line, where the rates don't say it; else null. */
  readonly reason: string | null;
  /** What kind of failure it was; null where it was none. */
  readonly failure: FailureReason | null;
  /** How far the result lies from the reference; null where it was not computed to its end. */
  readonly verification: Verification | null;
  /** The rate here with its samples; null where it was not measured. */
  readonly measured: (Rate & { readonly samples: readonly number[] }) | null;
  /** Cells per second below which the measured interval must not lie as a whole; null where nothing is compared. */
  readonly leastCellsPerSecond: number | null;
  /** Measured over recorded rate, medians; null where either is missing or they are not comparable. */
  readonly ratio: number | null;
  /** How many times it was measured. */
  readonly attempts: number;
  /** Further configurations whose results are right: the rest of its tie set, the best of each traversal. */
  readonly othersVerified: number;
  /** Time spent on it, pauses left out. */
  readonly elapsedNs: number;
}

/** What a qualification found. */
export interface Qualification {
  /** What all entries say together. */
  readonly answer: Answer;
  /** This machine. */
  readonly device: DeviceDescription;
  /** The profile's. */
  readonly recorded: ProfileDevice;
  /** Fraction that a rate might fall below the recorded interval; null where no rates were compared. */
  readonly tolerance: number | null;
  /** What may explain differences, in one line; null where nothing is known. */
  readonly note: string | null;
  /** One for each entry, in the profile's order. */
  readonly results: readonly EntryResult[];
  /** Whether it was ended before everything was verified and compared. */
  readonly interrupted: boolean;
  /** Time for all of it. */
  readonly elapsedNs: number;
}

export function answerOf(results: readonly Pick<EntryResult, "verdict" | "failure">[]): Answer {
  const isNo = ({ verdict, failure }: Pick<EntryResult, "verdict" | "failure">): boolean =>
    verdict === "slower" || verdict === "wrong" || (verdict === "failed" && failure === "compile");
  if (results.some(isNo)) return "no";
  if (results.some(({ verdict }) => verdict === "failed")) return "device failed";
  return results.every(({ verdict }) => isPassing(verdict)) ? "yes" : "unanswered";
}

/**
 * Compares intervals, not points: a run is **slower** only where all of its 95% interval lies below the recorded one's
 * lower end less the tolerance, and **faster** only where all of it lies above the upper end plus the tolerance. Between
 * them the difference is no larger than what is tolerated, or than what the noise explains. With a tolerance of 10%, a
 * device at less than 60% of the recorded rate is always slower.
 *
 * @param tolerance fraction that a rate may differ from the recorded interval, from 0 to below 1
 * @throws {RangeError} for another tolerance
 */
export function judgeRate(recorded: Rate, measured: Rate, tolerance: number): RateVerdict {
  checkTolerance(tolerance);
  const [low, high] = judgedInterval(measured);
  if (high < leastRate(recorded, tolerance)) return "slower";
  return low > judgedInterval(recorded)[1] * (1 + tolerance) ? "faster" : "pass";
}

/** The lowest rate that still passes. */
export function leastRate(recorded: Rate, tolerance: number): number {
  return judgedInterval(recorded)[0] * (1 - tolerance);
}

/**
 * A rate's interval as far as it counts: of very few samples it says nothing (of two, Student's reaches some nine standard
 * deviations far), and with it no device could ever be too slow.
 */
export function judgedInterval({ cellsPerSecond, confidence95 }: Rate): [number, number] {
  const [low, high] = confidence95 ?? [0, Infinity];
  return [Math.max(low, cellsPerSecond * (1 - WIDEST)), Math.min(high, cellsPerSecond * (1 + WIDEST))];
}

export function checkTolerance(tolerance: number): void {
  if (tolerance >= 0 && tolerance < 1) return;
  throw new RangeError(`Cannot qualify: tolerance must be from 0 to below 1: current value is ${tolerance}`);
}
