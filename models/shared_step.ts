/**
 * Time of a step of a grid that the CPU and the GPU share, as a function of R and the share: B2R's Eq. 2 for the CPU,
 * Eq. 3 for the GPU and Eq. 4 for the copies, with coefficients fitted to this pair of devices
 * (`shared_fit.ts`). Slices of x are shared; where the shares meet, each has a ghost zone of R·δ slices.
 *
 * Eq. 7 adds computing, messages and copies up. Here both devices compute at once, and the host waits for a mapping
 * at the end of each round (Deno polls every 10 ms), while the GPU's next round and a part of the CPU's are under way
 * (`tuner/devices/shared/shared_rounds.ts`). So a round takes
 *
 *     max(CPU, GPU, wait + starvation · CPU)
 *
 * On an H100 with 8 and 15 workers (2026-11-22; 128³, 512×256×128, R = 1…32) this explains the measured rounds within
 * 2% (median), with starvation 0.25 and 0.4; on 256³ heat δ = 2 within 3%.
 *
 * @module
 */
import type { Problem } from "../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious, stepReach } from "../kernels/update.ts";
import {
  expandedCells,
  ghostCells,
  type LinearCost,
  linearTime,
  shrinkingUpdates,
  type StepTerms,
  type Subdomain,
} from "./ghost_zone_cost.ts";

/** The grid that is shared. */
export interface SharedGrid {
  /** Cells along x, y, z. */
  readonly grid: readonly [x: number, y: number, z: number];
  /** δ: slices that one full step makes invalid. */
  readonly reach: number;
  /** Places where the shares meet: 1, on a periodic grid 2. */
  readonly interfaces: 1 | 2;
  /** Values of a cell that an exchange moves, of the levels F(t) and F(t−1); 0 where the update does not read one. */
  readonly values: readonly [now: number, previous: number];
  /** Steps of a run: no round is longer, and the last of each run may be shorter. */
  readonly steps: number;
}

/** R and the CPU's slices. */
export interface SharePoint {
  readonly exchangeEvery: number;
  readonly cpuSlices: number;
}

/** Fitted coefficients, as a profile records them. Those that only earlier versions fitted are 0 today. */
export interface SharedCosts {
  /** Eq. 2: time of a cell update, and of a step (the workers' barrier). */
  readonly cpu: {
    readonly updateNs: number;
    readonly stepNs: number;
    /** Time of a cell update besides, for cells beyond the cached ones; earlier versions only. */
    readonly missNs: number;
    readonly cachedCells: number;
  };
  /** Eq. 3: time of a cell update, of a step (its dispatches), of a pass over a cell a round, of a copied byte. */
  readonly gpu: {
    readonly updateNs: number;
    readonly stepNs: number;
    readonly passNs: number;
    readonly byteNs: number;
  };
  /** Eq. 4: the host's copies of the GPU's slices, and of the CPU's; work in bytes. */
  readonly unpack: LinearCost;
  readonly pack: LinearCost;
  readonly schedule: {
    /** The host's wait in every round. */
    readonly waitNs: number;
    /** Part of the CPU's round that does not hide behind the wait. */
    readonly starvation: number;
    /** Further parts of the wait, and how much the devices slow each other down; earlier versions only. */
    readonly submitNs: number;
    readonly timerNs: number;
    readonly contention: number;
  };
}

/** Amounts of work in one round. */
export interface RoundWork {
  readonly steps: number;
  readonly cpuUpdates: number;
  readonly cpuCells: number;
  readonly gpuUpdates: number;
  readonly gpuCells: number;
  /** Bytes that go each way. */
  readonly bytes: number;
}

/** Predicted times of one round, in nanoseconds. */
export interface RoundTimes {
  /** The CPU's part: computing and the host's copies. */
  readonly cpuNs: number;
  /** The GPU's part, its copies included. */
  readonly gpuNs: number;
  /** The host's wait for the mapping. */
  readonly waitNs: number;
  /** Of the CPU's part, the host's copies. */
  readonly copyNs: number;
  /** The whole round. */
  readonly roundNs: number;
}

/** A predicted point of the curve over R. */
export interface PredictedPoint extends SharePoint {
  /** Time of one step. */
  readonly predictedNs: number;
}

/** The largest R of the curve. */
export const LONGEST_PERIOD = 32;

/** A problem as the model sees it. */
export function sharedGridOf({ grid, stencil: { update }, boundary, steps }: Problem): SharedGrid {
  return {
    grid,
    reach: stepReach(update).x,
    interfaces: boundary === "periodic" ? 2 : 1,
    values: [planesOf(update), readsPrevious(update) ? planesOf(update) : 0],
    steps,
  };
}

/** The thinnest share: as wide as a ghost zone, and at least one slice. */
export function thinnestShare({ reach }: Pick<SharedGrid, "reach">, exchangeEvery: number): number {
  return Math.max(1, exchangeEvery * reach);
}

/** Whether two shares fit: each as wide as a ghost zone, and no round longer than a run. */
export function fits(shared: SharedGrid, exchangeEvery: number): boolean {
  return exchangeEvery <= shared.steps && 2 * thinnestShare(shared, exchangeEvery) <= shared.grid[0];
}

/** Work of a round of `steps` steps. In a round shorter than R the ghost zones stay as wide as R makes them. */
export function roundWork(
  { grid: [slices, ny, nz], reach, interfaces, values: [now, previous] }: SharedGrid,
  { exchangeEvery, cpuSlices }: SharePoint,
  steps: number = exchangeEvery,
): RoundWork {
  const share = (own: number): Subdomain => ({
    cells: [own, ny, nz],
    reach: [reach, 0, 0],
    sides: [interfaces, 0, 0],
  });
  const cpu = share(cpuSlices), gpu = share(slices - cpuSlices);
  const unused = interfaces * (exchangeEvery - steps) * reach;
  const gpuCells = expandedCells(gpu, exchangeEvery);
  // F(t−1) is needed one reach less far
  const exchanged = now * ghostCells(cpu, exchangeEvery) + previous * ghostCells(cpu, exchangeEvery - 1);
  return {
    steps,
    cpuUpdates: shrinkingUpdates(share(cpuSlices + unused), steps),
    cpuCells: expandedCells(cpu, exchangeEvery),
    gpuUpdates: steps * gpuCells,
    gpuCells,
    bytes: 4 * exchanged,
  };
}

/** Times of the parts of a round, and of the round. */
export function roundTimes(
  { steps, cpuUpdates, cpuCells, gpuUpdates, gpuCells, bytes }: RoundWork,
  { cpu, gpu, unpack, pack, schedule }: SharedCosts,
): RoundTimes {
  const missed = Math.max(0, 1 - cpu.cachedCells / cpuCells);
  const copyNs = linearTime(unpack, bytes) + linearTime(pack, bytes);
  const cpuNs = (cpu.updateNs + cpu.missNs * missed) * cpuUpdates + cpu.stepNs * steps + copyNs;
  const gpuNs = gpu.updateNs * gpuUpdates + gpu.stepNs * steps + gpu.passNs * gpuCells +
    gpu.byteNs * 2 * bytes;
  const waitNs = schedule.submitNs + schedule.timerNs + schedule.waitNs;
  const roundNs = Math.max(cpuNs, gpuNs, waitNs + schedule.starvation * cpuNs);
  return { cpuNs, gpuNs, waitNs, copyNs, roundNs };
}

/**
 * Predicted time of one step of a long run, in nanoseconds; infinite where the ghost zones do not fit the shares.
 *
 * @example
 * ```ts
 * import { predictStepNs } from "./shared_step.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const shared = { grid: [10, 1, 1], reach: 1, interfaces: 1, values: [1, 0], steps: 4 } as const;
 * const none = { a: 0, b: 0 };
 * const costs = {
 *   cpu: { updateNs: 1, stepNs: 0, missNs: 0, cachedCells: 0 },
 *   gpu: { updateNs: 1, stepNs: 0, passNs: 0, byteNs: 0 },
 *   unpack: none,
 *   pack: none,
 *   schedule: { submitNs: 0, timerNs: 0, waitNs: 100, contention: 0, starvation: 0 },
 * };
 * // four steps a round: the work of both devices hides behind the wait
 * assertEquals(predictStepNs(shared, { exchangeEvery: 4, cpuSlices: 5 }, costs), 100 / 4);
 * ```
 */
export function predictStepNs(shared: SharedGrid, point: SharePoint, costs: SharedCosts): number {
  const { exchangeEvery, cpuSlices } = point;
  const { grid: [slices], steps } = shared;
  const isThin = Math.min(cpuSlices, slices - cpuSlices) < thinnestShare(shared, exchangeEvery);
  if (isThin || !fits(shared, exchangeEvery)) return Infinity;
  const roundNs = (count: number): number => roundTimes(roundWork(shared, point, count), costs).roundNs;
  const last = steps % exchangeEvery;
  const runNs = Math.floor(steps / exchangeEvery) * roundNs(exchangeEvery) + (last > 0 ? roundNs(last) : 0);
  return runNs / steps;
}

/** Eq. 8 by the model: the share with which both devices take equally long; undefined where two do not fit. */
export function balancedShare(
  shared: SharedGrid,
  exchangeEvery: number,
  costs: SharedCosts,
): PredictedPoint | undefined {
  if (!fits(shared, exchangeEvery)) return undefined;
  const times = (cpuSlices: number): RoundTimes =>
    roundTimes(roundWork(shared, { exchangeEvery, cpuSlices }), costs);
  // the largest share at which the CPU is done first, between `low` and `high`
  const thinnest = thinnestShare(shared, exchangeEvery);
  let low = thinnest, high = shared.grid[0] - thinnest;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const { cpuNs, gpuNs } = times(middle);
    if (cpuNs <= gpuNs) low = middle;
    else high = middle - 1;
  }
  const next = Math.min(low + 1, shared.grid[0] - thinnest);
  const longer = (cpuSlices: number): number => Math.max(times(cpuSlices).cpuNs, times(cpuSlices).gpuNs);
  const point = { exchangeEvery, cpuSlices: longer(next) < longer(low) ? next : low };
  return { ...point, predictedNs: predictStepNs(shared, point, costs) };
}

/** The predicted time over R at balanced shares; R whose ghost zones do not fit are left out. */
export function predictCurve(
  shared: SharedGrid,
  costs: SharedCosts,
  periods: readonly number[] = Array.from({ length: LONGEST_PERIOD }, (_, i) => i + 1),
): PredictedPoint[] {
  return periods.flatMap((exchangeEvery) => balancedShare(shared, exchangeEvery, costs) ?? []);
}

/**
 * The terms of Eq. 7 in nanoseconds a step: computing (the slower device), the wait for a message, the host's copies.
 * Their sum is the time without overlap.
 */
export function sharedStepTerms(shared: SharedGrid, point: SharePoint, costs: SharedCosts): StepTerms {
  const { cpuNs, gpuNs, waitNs, copyNs } = roundTimes(roundWork(shared, point), costs);
  const steps = point.exchangeEvery;
  return {
    compute: Math.max(cpuNs - copyNs, gpuNs) / steps,
    network: waitNs / steps,
    transfer: copyNs / steps,
  };
}
