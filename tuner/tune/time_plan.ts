/**
 * The plan of a run's time. The search goes on until what comes after it would no longer fit: the final round, then the
 * CPU alone and the balance. How long these take is estimated from what the search has seen, so that a slower device
 * leaves the search a smaller part of the budget. A minimum of each always runs: see the stages.
 *
 * @module
 */
import type { Measurement } from "../configuration.ts";
import { LEAST_FINALISTS } from "../measuring/choose_finalists.ts";
import type { TimedEvaluation } from "../measuring/evaluator.ts";
import { SURE_BLOCKS, TURN_NS, TURN_SAMPLES } from "../measuring/final_round.ts";
import { DISTINCT } from "../measuring/tie_set.ts";

/** The final round gets this part of the budget, and so do the CPU and the balance; on a slow device up to `MOST`. */
const PART = 0.15, MOST = 0.25;
/** The final round, and the CPU with the balance, take no longer than this where they need not. */
const FINALS_NS = 10e9, AFTER_NS = 15e9;
/** Blocks of the final round that a plan has time for. */
export const WANTED_BLOCKS = 3;
/** A CPU slower than this part of the GPU will not win. */
const FAR_BEHIND = 0.5;

/** What a run has, in nanoseconds on its clock. */
export interface RunTime {
  readonly startedNs: number;
  /** Of the whole run; infinite if evaluations are counted instead. */
  readonly timeNs: number;
}

/** What is known of the stages after the search, in nanoseconds. */
export interface TimeNeeds {
  /** Turns of those that would be finalists now, the fastest first. */
  readonly turns: readonly TurnTime[];
  /** To compute the reference again once the search is over. */
  readonly referenceNs: number;
  /** To measure the CPU alone. */
  readonly cpuNs: number;
  /** Whether a balance follows. */
  readonly isShared: boolean;
}

/** When stages end, in nanoseconds on the run's clock. */
export interface TimePlan {
  /** Evaluations that would probably end later are not begun. */
  readonly searchUntilNs: number;
  /** Blocks of the final round that would end later are not begun, except for the first ones. */
  readonly finalsUntilNs: number;
  readonly endNs: number;
}

/** Plans the stages. */
export function planTime(
  { startedNs, timeNs }: RunTime,
  { turns, referenceNs, cpuNs, isShared }: TimeNeeds,
): TimePlan {
  const endNs = startedNs + timeNs;
  if (timeNs === Infinity) return { searchUntilNs: endNs, finalsUntilNs: endNs, endNs };
  const balanceNs = isShared ? Math.min(PART * timeNs, AFTER_NS) : 0;
  const finalsUntilNs = endNs - Math.max(balanceNs, Math.min(cpuNs, MOST * timeNs));
  const usualNs = Math.min(PART * timeNs, FINALS_NS);
  const wantedNs = Math.max(usualNs, referenceNs + blocksTime(turns, WANTED_BLOCKS));
  const leastNs = referenceNs + blocksTime(turns.slice(0, LEAST_FINALISTS), SURE_BLOCKS);
  const finalsNs = Math.max(leastNs, Math.min(wantedNs, MOST * timeNs));
  return { searchUntilNs: finalsUntilNs - finalsNs, finalsUntilNs, endNs };
}

/** When the final round ends that begins now: if the search ended early, it does not use up all that is left. */
export function finalsDeadline(
  { finalsUntilNs }: TimePlan,
  { nowNs, wantedNs }: { readonly nowNs: number; readonly wantedNs: number },
): number {
  return Math.min(finalsUntilNs, nowNs + Math.max(FINALS_NS, wantedNs));
}

/** When the CPU and the balance end that begin now. */
export function afterDeadline(
  { endNs }: TimePlan,
  { nowNs, cpuNs }: { readonly nowNs: number; readonly cpuNs: number },
): number {
  return Math.min(endNs, nowNs + Math.max(AFTER_NS, cpuNs));
}

/** The time of a finalist's turns, in nanoseconds. */
export interface TurnTime {
  /** Of its first turn, in which it is compiled. */
  readonly firstNs: number;
  /** Of every other. */
  readonly againNs: number;
}

/** What {@linkcode expectTurn} takes. */
export interface TurnOptions {
  /** Cell updates of one run. */
  readonly updates: number;
  /** Shortest batch that the clock can time, in nanoseconds. */
  readonly minBatchNs: number;
  /** Time of the configuration's evaluation in the search, in nanoseconds. @default {0} not known */
  readonly evaluationNs?: number | undefined;
}

/** Estimates a turn: what the evaluation in the search took, with the samples of a turn in place of its own. */
export function expectTurn(
  { cellsPerSecond, samples, compileNs }: Pick<Measurement, "cellsPerSecond" | "samples" | "compileNs">,
  { updates, minBatchNs, evaluationNs = 0 }: TurnOptions,
): TurnTime {
  const runNs = updates / cellsPerSecond * 1e9;
  const batchNs = Math.max(runNs, minBatchNs);
  // there is always a run to verify
  const aroundNs = Math.max(runNs, evaluationNs - compileNs - samples.length * batchNs);
  const againNs = aroundNs + Math.max(batchNs, Math.min(TURN_SAMPLES * batchNs, TURN_NS));
  return { firstNs: againNs + compileNs, againNs };
}

/** Time of so many blocks in which each of the finalists has its turn, in nanoseconds. */
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

  /** The estimate with so many evaluators; 0 while nothing is known. */
  expectNs(evaluators: number): number {
    return this.#ended === 0 ? 0 : (this.#compileNs + evaluators * this.#turnNs) / this.#ended;
  }
}

/** Rates in cells per second. */
export interface ProbedRates {
  /** The CPU alone, probed; undefined if it was not. */
  readonly cpu: number | undefined;
  /** The best of the GPU so far; undefined if there is none. */
  readonly gpu: number | undefined;
}

/** Whether the CPU alone will not win: then it is measured only if time is left. */
export function isFarBehind({ cpu, gpu }: ProbedRates): boolean {
  return cpu !== undefined && gpu !== undefined && cpu < FAR_BEHIND * gpu;
}

/** Why sharing the grid is not worth a limited time; undefined if it may be. Together the two reach their sum at most. */
export function whySharingIsFutile({ cpu, gpu }: ProbedRates, isFallback: boolean): string | undefined {
  if (cpu === undefined) return undefined;
  if (isFallback && cpu >= (gpu ?? 0)) {
    return "the GPU is software, and the same cores are faster without it";
  }
  // a gain that no comparison of rates would notice is none
  if (gpu === undefined || cpu >= DISTINCT * gpu) return undefined;
  return `the CPU could add ${(100 * cpu / gpu).toPrecision(1)}% at most`;
}
