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
 * Sweeps on an H100 and 12 workers (wave of order 2, 512×256×128 and 128³, 2026-11-22): median error 4.0% and 1.1%.
 *
 * @module
 */
import { cellsOf, type Problem } from "../kernels/stencils/stencil.ts";
import { stepReach } from "../kernels/update.ts";
import { partOfRank, planAlongX } from "./rank_part.ts";
import { exchangeOf, updatesOf } from "./rank_step.ts";

/** Time as a straight line over the work: y = a·x + b (Eq. 1; for messages and copies Eq. 4). */
export interface LinearCost {
  /** Time of one unit of work; of a message, the inverse of the bandwidth. */
  readonly a: number;
  /** Time besides; of a message, the latency. */
  readonly b: number;
}

/** R and the CPU's slices. */
export interface SharePoint {
  readonly exchangeEvery: number;
  readonly cpuSlices: number;
}

/** Fitted coefficients. */
export interface SharedCosts {
  /** Eq. 2: time of a cell update, and of a step (the workers' barrier). */
  readonly cpu: Readonly<Record<"updateNs" | "stepNs", number>>;
  /** Eq. 3: time of a cell update, of a step (its dispatches), of a pass over a cell a round, of a copied byte. */
  readonly gpu: Readonly<Record<"updateNs" | "stepNs" | "passNs" | "byteNs", number>>;
  /** Eq. 4: the host's copies of the GPU's slices; work in bytes. */
  readonly unpack: LinearCost;
  /** The same of the CPU's slices. */
  readonly pack: LinearCost;
  /** How the parts of a round follow each other. */
  readonly schedule: {
    /** The host's wait in every round. */
    readonly waitNs: number;
    /** Part of the CPU's round that does not hide behind the wait. */
    readonly starvation: number;
  };
}

export interface RoundWork {
  readonly steps: number;
  readonly cpuUpdates: number;
  /** Cells of its part, ghost zones included. */
  readonly cpuCells: number;
  readonly gpuUpdates: number;
  readonly gpuCells: number;
  /** Bytes that go each way. */
  readonly bytes: number;
}

export interface PredictedRound {
  /** The CPU's part: computing and the host's copies. */
  readonly cpuNs: number;
  /** The GPU's part, its copies included. */
  readonly gpuNs: number;
  /** The host's copies alone, which are in the CPU's part. */
  readonly copyNs: number;
  readonly roundNs: number;
}

export interface PredictedPoint extends SharePoint {
  readonly predictedNs: number;
}

/** The largest R of the curve. */
export const LONGEST_PERIOD = 32;

/** The thinnest share: as wide as a ghost zone, and at least one slice. */
export function thinnestShare(
  { stencil: { update } }: Pick<Problem, "stencil">,
  exchangeEvery: number,
): number {
  return Math.max(1, exchangeEvery * stepReach(update).x);
}

/** Whether two shares fit: each as wide as a ghost zone, and no round longer than a run. */
export function fits(problem: Problem, exchangeEvery: number): boolean {
  return exchangeEvery <= problem.steps && 2 * thinnestShare(problem, exchangeEvery) <= problem.grid[0];
}

/** Work of a round of `steps` steps. In a round shorter than R the ghost zones stay as wide as R makes them. */
export function roundWork(
  problem: Problem,
  { exchangeEvery, cpuSlices }: SharePoint,
  steps: number = exchangeEvery,
): RoundWork {
  const plan = planAlongX(problem, [cpuSlices, problem.grid[0] - cpuSlices], exchangeEvery);
  const cpu = partOfRank(problem, plan, 0), gpu = partOfRank(problem, plan, 1);
  return {
    steps,
    cpuUpdates: updatesOf(problem, cpu, steps, true),
    cpuCells: cellsOf(cpu.grid),
    gpuUpdates: updatesOf(problem, gpu, steps, false),
    gpuCells: cellsOf(gpu.grid),
    bytes: exchangeOf(problem, plan, gpu)[1],
  };
}

export function roundTimes(
  { steps, cpuUpdates, gpuUpdates, gpuCells, bytes }: RoundWork,
  { cpu, gpu, unpack, pack, schedule }: SharedCosts,
): PredictedRound {
  const copyNs = (unpack.a + pack.a) * bytes + unpack.b + pack.b;
  const cpuNs = cpu.updateNs * cpuUpdates + cpu.stepNs * steps + copyNs;
  const gpuNs = gpu.updateNs * gpuUpdates + gpu.stepNs * steps + gpu.passNs * gpuCells +
    gpu.byteNs * 2 * bytes;
  const roundNs = Math.max(cpuNs, gpuNs, schedule.waitNs + schedule.starvation * cpuNs);
  return { cpuNs, gpuNs, copyNs, roundNs };
}

/** Predicted time of one step of a long run, in nanoseconds; infinite where the ghost zones do not fit the shares. */
export function predictStepNs(problem: Problem, point: SharePoint, costs: SharedCosts): number {
  const { exchangeEvery, cpuSlices } = point;
  const { grid: [slices], steps } = problem;
  const isThin = Math.min(cpuSlices, slices - cpuSlices) < thinnestShare(problem, exchangeEvery);
  if (isThin || !fits(problem, exchangeEvery)) return Infinity;
  const roundNs = (count: number): number => roundTimes(roundWork(problem, point, count), costs).roundNs;
  const last = steps % exchangeEvery;
  const runNs = Math.floor(steps / exchangeEvery) * roundNs(exchangeEvery) + (last > 0 ? roundNs(last) : 0);
  return runNs / steps;
}

/** Eq. 8 by the model: the share with which both devices take equally long; undefined where two do not fit. */
export function balancedShare(
  problem: Problem,
  exchangeEvery: number,
  costs: SharedCosts,
): PredictedPoint | undefined {
  if (!fits(problem, exchangeEvery)) return undefined;
  const times = (cpuSlices: number): PredictedRound =>
    roundTimes(roundWork(problem, { exchangeEvery, cpuSlices }), costs);
  // the largest share at which the CPU is done first, between `low` and `high`
  const thinnest = thinnestShare(problem, exchangeEvery);
  let low = thinnest, high = problem.grid[0] - thinnest;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const { cpuNs, gpuNs } = times(middle);
    if (cpuNs <= gpuNs) low = middle;
    else high = middle - 1;
  }
  const next = Math.min(low + 1, problem.grid[0] - thinnest);
  const longer = (cpuSlices: number): number => Math.max(times(cpuSlices).cpuNs, times(cpuSlices).gpuNs);
  const point = { exchangeEvery, cpuSlices: longer(next) < longer(low) ? next : low };
  return { ...point, predictedNs: predictStepNs(problem, point, costs) };
}

/** The predicted time over R at balanced shares; R whose ghost zones do not fit are left out. */
export function predictCurve(
  problem: Problem,
  costs: SharedCosts,
  periods: readonly number[] = Array.from({ length: LONGEST_PERIOD }, (_, i) => i + 1),
): PredictedPoint[] {
  return periods.flatMap((exchangeEvery) => balancedShare(problem, exchangeEvery, costs) ?? []);
}
