import { quantileSorted } from "npm:simple-statistics@7.12.1";
import { meanInterval95 } from "../measuring/statistics.ts";
import type { Strategy } from "../search/strategy.ts";
import {
  bestRate,
  type RecordedConfiguration,
  type ReplayCandidate,
  replayCandidates,
  type ReplaySpace,
} from "./replay_space.ts";
import { type Baseline, randomBaseline, scoreOf } from "./score.ts";

/** When a search ends: after `evaluations`, or when they have taken `timeNs` by their recorded times. */
export type ReplayBudget = { readonly timeNs?: number; readonly evaluations?: number };

/** One search on a recorded space. */
export interface ReplayRun {
  /** Best rate after each evaluation; undefined before the first that did not fail. */
  readonly best: readonly (number | undefined)[];
  /** Why the strategy ended it; undefined where the budget or the candidates did. */
  readonly verdict: string | undefined;
  /** Time until the last evaluation ended, by the times that were recorded, ns. */
  readonly spentNs: number;
}

export interface ReplayOptions {
  readonly seed: number;
  readonly budget?: ReplayBudget | undefined;
  /** Evaluations after which it stops, without the strategy's knowledge. @default {Infinity} */
  readonly most?: number | undefined;
  /** Evaluations under way at once: the strategy proposes candidates before earlier results arrive. @default {1} */
  readonly workers?: number | undefined;
}

/** Host time that an evaluation took, compiling included, in ns; 0 where it was not recorded. */
function evaluationNsOf({ evaluationNs = 0, compileNs = 0 }: RecordedConfiguration): number {
  return evaluationNs || compileNs;
}

/** An evaluation under way: when it has compiled, and how long it has the device. */
interface UnderWay {
  readonly candidate: ReplayCandidate;
  readonly readyNs: number;
  readonly turnNs: number;
}

/**
 * Runs a strategy once. Several evaluations are under way at once as `evaluateSideBySide` makes them: all compile side
 * by side, then each waits for its turn on the device, where one at a time is measured.
 */
export function replayOnce(
  candidates: readonly ReplayCandidate[],
  strategy: Strategy,
  { seed, budget, most = Infinity, workers = 1 }: ReplayOptions,
): ReplayRun {
  const search = strategy.begin(candidates, { seed });
  const { timeNs = Infinity, evaluations = Infinity } = budget ?? {}, end = Math.min(most, evaluations);
  const underWay: UnderWay[] = [];
  const best: (number | undefined)[] = [];
  let fastest: number | undefined, nowNs = 0;
  while (true) {
    while (underWay.length < workers && best.length + underWay.length < end && nowNs < timeNs) {
      const candidate = search.next();
      if (candidate === undefined) break;
      const tookNs = evaluationNsOf(candidate.recorded);
      const compileNs = Math.min(candidate.recorded.compileNs ?? 0, tookNs);
      underWay.push({ candidate, readyNs: nowNs + compileNs, turnNs: tookNs - compileNs });
    }
    if (underWay.length === 0) return { best, verdict: search.verdict, spentNs: nowNs };
    // the one that compiled first is the next to end; of several the one that started first
    const next = underWay.reduce((a, b) => b.readyNs < a.readyNs ? b : a);
    underWay.splice(underWay.indexOf(next), 1);
    nowNs = Math.max(nowNs, next.readyNs) + next.turnNs;
    const { candidate } = next, { recorded } = candidate, { rate } = recorded;
    if (rate !== undefined && !(fastest !== undefined && fastest >= rate)) fastest = rate;
    best.push(fastest);
    search.tell(candidate, { rate, spentNs: evaluationNsOf(recorded) });
  }
}

export interface Quartiles {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** How far behind the optimum searches are after a number of evaluations. */
export interface RegretAt {
  readonly evaluations: number;
  /** optimum / best − 1: 0.01 is 1% slower than the optimum. Infinite before the first success. */
  readonly regret: Quartiles;
}

export interface ReplayResult {
  readonly strategy: string;
  readonly score: number;
  /** 95% interval of the score over seeds; null of a single search. */
  readonly score95: readonly [low: number, high: number] | null;
  /** At growing numbers of evaluations, up to the budget. */
  readonly regrets: readonly RegretAt[];
  /** Evaluations until within 1% of the optimum; infinite where it was not reached. */
  readonly within1Percent: Quartiles;
  /** Evaluations of a search, and its regret at the end. */
  readonly evaluations: Quartiles;
  readonly finalRegret: Quartiles;
  readonly spentNs: Quartiles;
}

export interface ReplayReport {
  readonly title: string;
  readonly configurations: number;
  readonly failed: number;
  /** Cells per second, or 1 / seconds of a run in another tuner's space. */
  readonly bestRate: number;
  readonly isFacet: boolean;
  /** Evaluations up to which the score looks. */
  readonly cutoff: number;
  readonly results: readonly ReplayResult[];
}

/** Parts of the space after which the regret is reported. */
const PARTS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

/** Evaluations of a search without a budget, at most. */
export const USUAL_EVALUATIONS = 200;

export interface ReplayRequest {
  readonly strategies: readonly Strategy[];
  /** Runs of each strategy; run i has the seed i, from 1. */
  readonly seeds: number;
  /** @default {as many evaluations as the report shows, {@linkcode USUAL_EVALUATIONS} at most} */
  readonly budget?: ReplayBudget | undefined;
  /** Evaluations under way at once. @default {1} */
  readonly workers?: number | undefined;
  /** Called before each search. */
  readonly onProgress?: (done: number, total: number) => void;
  /** The same kernel on another device, for a space of another tool. */
  readonly prior?: ReplaySpace | undefined;
}

export function replay(
  space: ReplaySpace,
  { strategies, seeds, budget, workers, prior, onProgress = () => {} }: ReplayRequest,
): ReplayReport {
  const candidates = replayCandidates(space, prior);
  const rates = space.configurations.map(({ rate }) => rate);
  const most = budget === undefined ? USUAL_EVALUATIONS : budget.evaluations ?? Infinity;
  const baseline = randomBaseline(rates, most);
  const at = [...new Set([...PARTS.map((part) => Math.ceil(part * rates.length)), baseline.cutoff])]
    .filter((count) => count <= most).sort((a, b) => a - b);
  const optimum = bestRate(space);
  // without a budget nobody looks further than this
  const furthest = budget === undefined ? Math.min(most, Math.max(baseline.cutoff, ...at)) : undefined;
  let done = 0;
  return {
    title: space.title,
    configurations: rates.length,
    failed: rates.filter((rate) => rate === undefined).length,
    bestRate: optimum,
    isFacet: space.facet !== undefined,
    cutoff: baseline.cutoff,
    results: strategies.map((strategy) => {
      const replaySeed = (_: unknown, i: number) => {
        onProgress(done++, strategies.length * seeds);
        return replayOnce(candidates, strategy, { seed: i + 1, budget, workers, most: furthest });
      };
      return resultOf(strategy, Array.from({ length: seeds }, replaySeed), { baseline, optimum, at });
    }),
  };
}

function resultOf(
  { name }: Strategy,
  runs: readonly ReplayRun[],
  { baseline, optimum, at }: { baseline: Baseline; optimum: number; at: readonly number[] },
): ReplayResult {
  const regretOf = (rate: number | undefined): number => rate === undefined ? Infinity : optimum / rate - 1;
  const regretAfter = ({ best }: ReplayRun, count: number): number =>
    regretOf(best[Math.min(count, best.length) - 1]);
  return {
    strategy: name,
    score: scoreOf(baseline, runs.map(({ best }) => best)),
    // the score of several searches is the mean of theirs
    score95: runs.length < 2 ? null : meanInterval95(runs.map(({ best }) => scoreOf(baseline, [best]))),
    regrets: at.map((evaluations) => ({
      evaluations,
      regret: quartiles(runs.map((run) => regretAfter(run, evaluations))),
    })),
    within1Percent: quartiles(runs.map(({ best }) => {
      const index = best.findIndex((rate) => regretOf(rate) <= 0.01);
      return index < 0 ? Infinity : index + 1;
    })),
    evaluations: quartiles(runs.map(({ best }) => best.length)),
    finalRegret: quartiles(runs.map((run) => regretAfter(run, Infinity))),
    spentNs: quartiles(runs.map(({ spentNs }) => spentNs)),
  };
}

function quartiles(values: readonly number[]): Quartiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => {
    const value = quantileSorted(sorted, part);
    return Number.isNaN(value) ? Infinity : value; // between two that are infinite
  };
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
}
