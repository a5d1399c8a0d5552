/**
 * The plan of a run's time. The search goes on until what comes after it would no longer fit: the CPU's configurations,
 * the final round, the balance, and the winner's run by the host's clock. How long these take is estimated from what was seen so far, so that a slower device
 * leaves the search a smaller part of the budget. A minimum runs even if it is late: one configuration that verifies.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";
import { LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import { LEAST_REPORTED_NS, MOST_SAMPLES } from "../measuring/evaluate.ts";
import type { TimedEvaluation } from "../measuring/evaluator.ts";
import { SURE_BLOCKS, TURN_NS, TURN_SAMPLES } from "../measuring/final_round.ts";

/** The final round gets this part of the budget; on a slow device up to `MOST`, and so does the CPU at most. */
const PART = 0.15, MOST = 0.25;
/** The default budget. */
const DEFAULT_NS = 60e9;
/** The final round takes no longer than this where it need not, and the balance gets this part of the budget. */
const FINALS_NS = 10e9, BALANCE_PART = 0.05;
/** The winner's run by the host's clock gets this part of the budget, and no more than this. */
const HOST_PART = 0.02, HOST_NS = 1.5e9;
/** A budget is kept if no more than this part of it, or this time, whichever is longer, goes beyond it. */
const TOLERATED_PART = 0.1, TOLERATED_NS = 2e9;
/** Blocks of the final round that a plan has time for. */
export const WANTED_BLOCKS = 3;

/** What a run has, in nanoseconds on its clock. */
export interface RunTime {
  readonly startedNs: number;
  /** The whole run's budget; infinite if evaluations are counted instead. */
  readonly timeNs: number;
}

/** What is known of the stages after the search, in nanoseconds. */
export interface TimeNeeds {
  /** Turns of those that would be finalists now, the fastest first. */
  readonly turns: readonly TurnTime[];
  /** To compute the reference again once the search is over. */
  readonly referenceNs: number;
  /** To evaluate what is left of the CPU's configurations. */
  readonly cpuNs: number;
  /** Whether there is a GPU, whose search comes before. */
  readonly hasGpu: boolean;
  /** For the least of a balance; 0 if there is none. */
  readonly balanceNs: number;
}

/** When stages end, in nanoseconds on the run's clock. */
export interface TimePlan {
  /** Evaluations of the GPU, and of the CPU, that would probably end later are not begun. */
  readonly searchUntilNs: number;
  readonly cpuUntilNs: number;
  /** Blocks of the final round that would end later are not begun, except for the first ones. */
  readonly finalsUntilNs: number;
  readonly balanceUntilNs: number;
  readonly endNs: number;
  /** What would probably end later than this is not even begun as a minimum. */
  readonly latestNs: number;
}

/** Plans the stages. */
export function planTime(
  { startedNs, timeNs }: RunTime,
  { turns, referenceNs, cpuNs, hasGpu, balanceNs }: TimeNeeds,
): TimePlan {
  const endNs = startedNs + timeNs;
  // an endless run has time for all: what is taken off must be finite
  const sharedNs = timeNs === Infinity ? 0 : timeNs;
  const latestNs = endNs + Math.max(TOLERATED_PART * sharedNs, TOLERATED_NS);
  const balanceUntilNs = endNs - Math.min(HOST_PART * sharedNs, HOST_NS);
  const finalsUntilNs = balanceUntilNs - (balanceNs > 0 ? Math.max(BALANCE_PART * sharedNs, balanceNs) : 0);
  const usualNs = Math.min(PART * sharedNs, FINALS_NS);
  const wantedNs = Math.max(usualNs, referenceNs + blocksTime(turns, WANTED_BLOCKS));
  const leastNs = referenceNs + blocksTime(turns.slice(0, LEAST_FINALISTS), SURE_BLOCKS);
  const finalsNs = Math.max(leastNs, Math.min(wantedNs, MOST * sharedNs));
  const cpuUntilNs = finalsUntilNs - finalsNs;
  const searchUntilNs = cpuUntilNs - (hasGpu ? Math.min(cpuNs, MOST * sharedNs) : 0);
  return { searchUntilNs, cpuUntilNs, finalsUntilNs, balanceUntilNs, endNs, latestNs };
}

/**
 * The time of a whole run whose budget is evaluations, once they are made. What comes after them gets as much as in a
 * budget of time that they fill, no less than in the default one, and enough for a final round.
 */
export function timeAfterSearch(
  elapsedNs: number,
  { turns, balanceNs }: Pick<TimeNeeds, "turns" | "balanceNs">,
): number {
  const part = PART + BALANCE_PART + HOST_PART;
  const usualNs = part * Math.max(elapsedNs / (1 - part), DEFAULT_NS);
  return elapsedNs + Math.max(usualNs, blocksTime(turns, WANTED_BLOCKS) + balanceNs);
}

/** When the final round ends that begins now: if the search ended early, it does not use up all that is left. */
export function finalsDeadline(
  { finalsUntilNs }: TimePlan,
  { nowNs, wantedNs }: { readonly nowNs: number; readonly wantedNs: number },
): number {
  return Math.min(finalsUntilNs, nowNs + Math.max(FINALS_NS, wantedNs));
}

/** The time of a finalist's turns, in nanoseconds. */
export interface TurnTime {
  /** Of its first turn, in which it is compiled. */
  readonly firstNs: number;
  /** Of every other. */
  readonly againNs: number;
}

/** Estimates a turn: what the evaluation in the search took, with the samples of a turn in place of its own. */
export function expectTurn(
  { cellsPerSecond, samples, compileNs, clock }: Pick<
    Measurement,
    "cellsPerSecond" | "samples" | "compileNs" | "clock"
  >,
  { updates, minBatchNs, evaluationNs = 0, isWarm = false, searchRuns = 0, parts = 1 }: {
    /** Cell updates of one run. */
    readonly updates: number;
    /** Shortest batch that the clock can time, in nanoseconds. */
    readonly minBatchNs: number;
    /** Time of the configuration's evaluation in the search, in nanoseconds. @default {0} not known */
    readonly evaluationNs?: number | undefined;
    /** Whether the run that is verified is a sample, however short. @default {false} */
    readonly isWarm?: boolean;
    /** Runs in the search that were no samples and are not repeated. @default {0} */
    readonly searchRuns?: number;
    /** In how many parts it comes, each with its own run to verify. @default {1} */
    readonly parts?: number;
  },
): TurnTime {
  const runNs = updates / cellsPerSecond * 1e9;
  const batchNs = Math.max(runNs, minBatchNs);
  const spentNs = evaluationNs - compileNs - samples.length * batchNs - searchRuns * runNs;
  // a device that is kept busy makes its samples longer, and fewer of them; others may be noisy
  const [count, mostNs] = clock === undefined ? [MOST_SAMPLES, TURN_NS] : [TURN_SAMPLES, LEAST_REPORTED_NS];
  // there is always a run to verify
  const isSample = isWarm || (clock !== undefined && runNs >= minBatchNs);
  const aroundNs = Math.max(isSample ? 0 : runNs, spentNs);
  const againNs = parts * aroundNs + Math.max(batchNs, Math.min(count * batchNs, mostNs));
  return { firstNs: againNs + compileNs, againNs };
}

/** Time of `blocks` blocks in which each of the finalists has its turn, in nanoseconds. */
export function blocksTime(turns: readonly TurnTime[], blocks: number): number {
  return turns.reduce((sum, { firstNs, againNs }) => sum + firstNs + (blocks - 1) * againNs, 0);
}

/**
 * How long an evaluation takes that begins now: it compiles, and then waits for the turns of those before it. The first
 * result says enough for an estimate, however many evaluators started with it.
 */
export class Latency {
  #ended = 0;
  #compileNs = 0;
  #turnNs = 0;

  /** Takes in an evaluation that has ended; if it failed, all its time counts as a turn. */
  observe({ evaluation, evaluationNs }: TimedEvaluation): void {
    const compileNs = "measurement" in evaluation ? evaluation.measurement.compileNs : 0;
    this.#ended++;
    this.#compileNs += compileNs;
    this.#turnNs += Math.max(0, evaluationNs - compileNs);
  }

  /** The estimate with this number of evaluators; 0 while nothing is known. */
  expectNs(evaluators: number): number {
    return this.#ended === 0 ? 0 : (this.#compileNs + evaluators * this.#turnNs) / this.#ended;
  }
}
