/**
 * How the time of a run is divided: the search goes on until what comes after it would no longer fit. How long that
 * takes is expected from what the search has seen, and the slower the device, the more of the time it is.
 *
 * @module
 */
import { SURE_BLOCKS } from "../measuring/final_round.ts";
import { LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import { blocksTime, type TurnTime } from "../measuring/turn_time.ts";

/** What a run has, in nanoseconds, on its clock. */
export interface RunTime {
  readonly startedNs: number;
  /** Of the whole run; infinite where evaluations are counted instead. */
  readonly timeNs: number;
}

/** What is known of the stages after the search, in nanoseconds. */
export interface TimeNeeds {
  /** Turns of those that would be finalists now, the fastest first; of the stepwise one, last. */
  readonly turns: readonly TurnTime[];
  /** To compute the reference again once the search is over. */
  readonly referenceNs: number;
  /** The CPU alone, as far as it is probed; undefined where the GPU computes alone. */
  readonly cpuNs: number | undefined;
  /** Whether a balance follows. */
  readonly isShared: boolean;
}

/** When stages end, on the clock, in nanoseconds. */
export interface TimePlan {
  /** Evaluations that would probably end later are not begun. */
  readonly searchUntilNs: number;
  /** No block of the final round that would end later is begun, but for the first ones. */
  readonly finalsUntilNs: number;
  readonly endNs: number;
}

/** Parts of the time for the final round, and for CPU and balance; and no longer than this. */
const FINALS = { part: 0.14, alonePart: 0.2, mostNs: 10e9 };
const AFTER = { part: 0.16, mostNs: 15e9 };
/** A slow device takes more: these parts at most, unless the least takes longer. */
const MOST_FINALS = 0.25, MOST_AFTER = 0.3;
/** Blocks that there should be time for. */
export const WANTED_BLOCKS = 3;

/**
 * Plans the stages.
 *
 * @param time what the run has
 * @param needs what is known so far
 *
 * @example
 * ```ts
 * import { planTime } from "./time_plan.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const time = { startedNs: 0, timeNs: 60e9 }, alone = { cpuNs: undefined, isShared: false };
 * const turns = (ns: number) => Array(3).fill({ firstNs: ns, againNs: ns });
 * const fast = planTime(time, { turns: turns(0.1e9), referenceNs: 0, ...alone });
 * assertEquals([fast.searchUntilNs, fast.finalsUntilNs], [50e9, 60e9]);
 * const slow = planTime(time, { turns: turns(2e9), referenceNs: 1e9, ...alone });
 * assertEquals(slow.searchUntilNs, 45e9); // three blocks of three and the reference would take 19 s, a quarter is kept
 * ```
 */
export function planTime(
  { startedNs, timeNs }: RunTime,
  { turns, referenceNs, cpuNs, isShared }: TimeNeeds,
): TimePlan {
  const endNs = startedNs + timeNs;
  if (timeNs === Infinity) return { searchUntilNs: endNs, finalsUntilNs: endNs, endNs };
  const isAlone = cpuNs === undefined;
  const afterNs = isAlone ? 0 : Math.max(
    isShared ? Math.min(AFTER.part * timeNs, AFTER.mostNs) : 0,
    Math.min(cpuNs, MOST_AFTER * timeNs),
  );
  const usualNs = Math.min((isAlone ? FINALS.alonePart : FINALS.part) * timeNs, FINALS.mostNs);
  const wantedNs = Math.max(usualNs, referenceNs + blocksTime(turns, WANTED_BLOCKS));
  const leastNs = referenceNs + blocksTime(turns.slice(0, LEAST_FINALISTS), SURE_BLOCKS);
  const finalsNs = Math.max(leastNs, Math.min(wantedNs, MOST_FINALS * timeNs));
  const finalsUntilNs = endNs - afterNs;
  return { searchUntilNs: finalsUntilNs - finalsNs, finalsUntilNs, endNs };
}

/** The time of the final round, from now on: where the search has ended early, more blocks than usual are not made. */
export function finalsDeadline(
  { finalsUntilNs }: TimePlan,
  { nowNs, wantedNs }: { readonly nowNs: number; readonly wantedNs: number },
): number {
  const mostNs = Math.max(FINALS.mostNs, wantedNs);
  return Math.min(finalsUntilNs, nowNs + mostNs);
}

/** When CPU and balance end: they take no longer than usual where there is more time, unless the CPU alone does. */
export function afterDeadline(
  { endNs }: TimePlan,
  { nowNs, cpuNs }: { readonly nowNs: number; readonly cpuNs: number },
): number {
  return Math.min(endNs, nowNs + Math.max(AFTER.mostNs, cpuNs));
}
