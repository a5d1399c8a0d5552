/**
 * Time of a step of a shared grid as a function of R and the share, from costs that were fitted on this pair of
 * devices: B2R's Eq. 2 for the CPU, Eq. 3 for the GPU and Eq. 4 for the copies, put together as the rounds really
 * follow each other (`shared_schedule.ts`), where Eq. 7 would add them up. The slices of x are shared; where the
 * shares meet each has a ghost zone of R·δ slices.
 *
 * @module
 */
import { expandedCells, linearTime, shrinkingUpdates, type Subdomain } from "./ghost_zone_cost.ts";
import type { LinearCost } from "./ghost_zone_cost.ts";
import { type RoundCosts, type ScheduleCosts, type ScheduledRun, scheduleRounds } from "./shared_schedule.ts";

/** The grid that is shared. */
export interface SharedGrid {
  /** Own cells along x, y, z. */
  readonly grid: readonly [x: number, y: number, z: number];
  /** δ: slices that one full step makes invalid; 2δ' for an update of two sub-steps that reach δ' each. */
  readonly reach: number;
  /** Places where the shares meet: 1, on a periodic grid 2. */
  readonly interfaces: 1 | 2;
  /** Values of a cell that an exchange moves, of the levels F(t) and F(t−1); 0 where the update does not read one. */
  readonly values: readonly [now: number, previous: number];
  /** Steps of a run: no round is longer, and the last of each run may be shorter. */
  readonly steps: number;
}

/** Time of the CPU's part, Eq. 2 with the step's barrier and the cache. */
export interface CpuCosts {
  /** Time of a cell update. */
  readonly updateNs: number;
  /** Time of a step besides: the workers' barrier. */
  readonly stepNs: number;
  /** Time of a cell update besides, for the part of the cells that no cache keeps from step to step. */
  readonly missNs: number;
  /** Cells that a cache keeps. */
  readonly cachedCells: number;
}

/** Time of the GPU's part, Eq. 3 with what its copies and passes over memory take. */
export interface GpuCosts {
  /** Time of a cell update. */
  readonly updateNs: number;
  /** Time of a step besides: its dispatches. */
  readonly stepNs: number;
  /** Time of a round for each cell: a torre reads and writes the field once, however few steps it makes. */
  readonly passNs: number;
  /** Time of a byte that is copied in or out. */
  readonly byteNs: number;
}

/** Everything that was fitted. */
export interface SharedCosts {
  readonly cpu: CpuCosts;
  readonly gpu: GpuCosts;
  /** Eq. 4: host time of unpacking and of packing; work in bytes. */
  readonly unpack: LinearCost;
  readonly pack: LinearCost;
  readonly schedule: ScheduleCosts;
}

/** R and the CPU's slices. */
export interface SharePoint {
  readonly exchangeEvery: number;
  readonly cpuSlices: number;
}

/** Amounts of work in one round of `steps` steps. */
export interface RoundWork {
  readonly steps: number;
  /** Cell updates of the CPU, and the cells it works on. */
  readonly cpuUpdates: number;
  readonly cpuCells: number;
  /** Cell updates of the GPU, and the cells it works on. */
  readonly gpuUpdates: number;
  readonly gpuCells: number;
  /** Bytes that go each way. */
  readonly bytes: number;
}

/** Slices of a ghost zone. */
function ghostWidth({ reach }: Pick<SharedGrid, "reach">, exchangeEvery: number): number {
  return exchangeEvery * reach;
}

/** Whether two shares fit: each as wide as a ghost zone, and no round longer than a run. */
export function fits(shared: SharedGrid, exchangeEvery: number): boolean {
  return exchangeEvery <= shared.steps &&
    2 * Math.max(1, ghostWidth(shared, exchangeEvery)) <= shared.grid[0];
}

/**
 * Work of a round. In the last round of a run, where it is shorter, the zones stay as wide as R makes them: the CPU
 * then computes more than it needs, and as much is exchanged.
 *
 * @param shared the grid
 * @param point R and the share
 * @param steps steps of the round, at most R
 */
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
  const ghost = exchangeEvery * reach;
  // Eq. 2 for a round shorter than R: the outermost (R − steps) reaches stay, as own cells would
  const cpu = share(cpuSlices + interfaces * (exchangeEvery - steps) * reach);
  const gpuCells = expandedCells(share(slices - cpuSlices), exchangeEvery);
  const exchanged = now * ghost + previous * (ghost - reach);
  return {
    steps,
    cpuUpdates: shrinkingUpdates(cpu, steps),
    cpuCells: expandedCells(share(cpuSlices), exchangeEvery),
    gpuUpdates: steps * gpuCells,
    gpuCells,
    bytes: 4 * interfaces * exchanged * ny * nz,
  };
}

/** Part of the CPU's cells that no cache keeps. */
export function missedPart(cells: number, cachedCells: number): number {
  return Math.max(0, 1 - cachedCells / cells);
}

/** Times of a round's parts, undisturbed. */
export function roundCosts(
  work: RoundWork,
  { cpu, gpu, unpack, pack }: Omit<SharedCosts, "schedule">,
): RoundCosts {
  const { steps, cpuUpdates, cpuCells, gpuUpdates, gpuCells, bytes } = work;
  const cellNs = cpu.updateNs + cpu.missNs * missedPart(cpuCells, cpu.cachedCells);
  return {
    steps,
    cpuNs: cellNs * cpuUpdates + cpu.stepNs * steps,
    gpuNs: gpu.updateNs * gpuUpdates + gpu.stepNs * steps + gpu.passNs * gpuCells + gpu.byteNs * 2 * bytes,
    unpackNs: linearTime(unpack, bytes),
    packNs: linearTime(pack, bytes),
  };
}

/** Rounds of a run, in steps; the last is shorter where the steps are no multiple of R. */
export function roundsOfRun(steps: number, exchangeEvery: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  return [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
}

/**
 * Predicts a batch of runs.
 *
 * @param shared the grid
 * @param point R and the share
 * @param costs what was fitted
 * @param repetitions runs in the batch
 */
export function predictBatch(
  shared: SharedGrid,
  point: SharePoint,
  costs: SharedCosts,
  repetitions: number,
): ScheduledRun {
  const once = roundsOfRun(shared.steps, point.exchangeEvery)
    .map((steps) => roundCosts(roundWork(shared, point, steps), costs));
  return scheduleRounds(new Array(repetitions).fill(once).flat(), costs.schedule);
}

/** Rounds after which a run's beginning and end, and a last shorter round, no longer matter. */
const ENOUGH_ROUNDS = 12, LONG_RUN = 36;

/**
 * Predicted time of one step, run after run: what another run adds to a batch.
 *
 * @param shared the grid
 * @param point R and the share
 * @param costs what was fitted
 * @returns nanoseconds; infinite where the ghost zones do not fit the shares
 *
 * @example
 * ```ts
 * import { predictStepNs } from "./shared_step.ts";
 * import { assertAlmostEquals } from "@std/assert";
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
 * // four steps a round: 5 + 4 slices on the GPU hide behind the wait, the CPU's 5 and fewer ghost slices too
 * assertAlmostEquals(predictStepNs(shared, { exchangeEvery: 4, cpuSlices: 5 }, costs), 100 / 4, 1e-9);
 * ```
 */
export function predictStepNs(shared: SharedGrid, point: SharePoint, costs: SharedCosts): number {
  const { exchangeEvery, cpuSlices } = point;
  const thinnest = Math.max(1, ghostWidth(shared, exchangeEvery));
  if (!fits(shared, exchangeEvery) || Math.min(cpuSlices, shared.grid[0] - cpuSlices) < thinnest) {
    return Infinity;
  }
  const steps = Math.min(shared.steps, LONG_RUN * exchangeEvery);
  const run: SharedGrid = { ...shared, steps };
  const warm = Math.ceil(ENOUGH_ROUNDS / Math.ceil(steps / exchangeEvery));
  const before = predictBatch(run, point, costs, warm).wallNs;
  const after = predictBatch(run, point, costs, warm + 2).wallNs;
  return (after - before) / (2 * steps);
}

/** A predicted point of the curve. */
export interface PredictedPoint extends SharePoint {
  /** Time of one step. */
  readonly predictedNs: number;
}

/** Shares whose time is within this of the best are as good: among them the devices take equally long. */
const AS_GOOD = 0.002;
/** Shares that are compared at once: of more slices every so many, then those around the best. */
const SHARES = 512;

/**
 * The best share for R: the shortest predicted time; where a wait hides many shares alike, the one whose slower
 * device is done first.
 *
 * @returns undefined where two shares do not fit
 */
export function bestShare(
  shared: SharedGrid,
  exchangeEvery: number,
  costs: SharedCosts,
): PredictedPoint | undefined {
  if (!fits(shared, exchangeEvery)) return undefined;
  const thinnest = Math.max(1, ghostWidth(shared, exchangeEvery));
  let first = thinnest, last = shared.grid[0] - thinnest;
  while (true) {
    const stride = Math.ceil((last - first + 1) / SHARES);
    const slices = Array.from(
      { length: Math.floor((last - first) / stride) + 1 },
      (_, i) => first + i * stride,
    );
    const best = bestOf(shared, slices.map((cpuSlices) => ({ exchangeEvery, cpuSlices })), costs);
    if (stride === 1) return best;
    [first, last] = [Math.max(first, best.cpuSlices - stride), Math.min(last, best.cpuSlices + stride)];
  }
}

function bestOf(
  shared: SharedGrid,
  shares: readonly SharePoint[],
  costs: SharedCosts,
): PredictedPoint {
  const points = shares.map((point) => {
    const { cpuNs, gpuNs } = roundCosts(roundWork(shared, point), costs);
    const predictedNs = predictStepNs(shared, point, costs);
    return { ...point, predictedNs, longer: Math.max(cpuNs, gpuNs) };
  });
  const least = Math.min(...points.map(({ predictedNs }) => predictedNs));
  const good = points.filter(({ predictedNs }) => predictedNs <= (1 + AS_GOOD) * least);
  const { longer: _, ...best } = good.reduce((best, one) => one.longer < best.longer ? one : best);
  return best;
}

/** R of which the profile has the curve. */
export const LONGEST_CURVE = 32;

/**
 * Predicted time over R, each at its best share.
 *
 * @param shared the grid
 * @param costs what was fitted
 * @param periods R to predict; those whose ghost zones do not fit are left out
 */
export function predictCurve(
  shared: SharedGrid,
  costs: SharedCosts,
  periods: readonly number[] = allPeriods(),
): PredictedPoint[] {
  return periods.map((exchangeEvery) => bestShare(shared, exchangeEvery, costs))
    .filter((point) => point !== undefined);
}

/**
 * Points worth measuring: those predicted to be within some percent of the best, the best first.
 *
 * @param curve predicted points
 * @param options within which fraction of the best, and how many at most
 */
export function promising<T extends PredictedPoint>(
  curve: readonly T[],
  { within, most }: { within: number; most: number },
): T[] {
  const ordered = curve.toSorted((a, b) => a.predictedNs - b.predictedNs);
  return ordered.filter(({ predictedNs }) => predictedNs <= (1 + within) * ordered[0].predictedNs)
    .slice(0, most);
}

function allPeriods(): number[] {
  return Array.from({ length: LONGEST_CURVE }, (_, i) => i + 1);
}
