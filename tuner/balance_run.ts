/**
 * The balance on the real devices: B2R's Eq. 8 decides how many slices each computes, from times of both computing
 * at once. The settled share is then verified and measured with a few R, by the host's clock: what counts is when
 * the slower device is done, exchanges included.
 *
 * @module
 */
import { stepReach } from "../kernels/update.ts";
import { cellsOf, type Problem } from "../kernels/stencils/stencil.ts";
import { balance, type BalanceIteration } from "../models/balance.ts";
import { exchangePeriods } from "../models/exchange_period.ts";
import type { GpuDevice } from "./backends/gpu_device.ts";
import type { Reference } from "./backends/reference.ts";
import { prepare } from "./backends/runners.ts";
import { SharedField } from "./backends/shared_field.ts";
import { ghostSlices } from "./backends/shares.ts";
import type { CpuPool } from "./backends/wasm_workers.ts";
import type { Configuration, Measurement } from "./configuration.ts";
import { evaluate, type Evaluation, isFailure } from "./evaluate.ts";
import { median } from "./measure/statistics.ts";

/** What {@linkcode balanceOnDevices} takes. */
export interface DeviceBalanceOptions {
  readonly gpu: GpuDevice;
  readonly cpuPool: CpuPool;
  readonly problem: Problem;
  /** How the GPU computes its share: its best configuration when alone. */
  readonly configuration: Configuration;
  readonly reference: Reference;
  /** Fraction of the slices that the CPU computes at first. @default {0.1} */
  readonly startShare?: number;
  /** Cells per second of each device alone, from which R is chosen; undefined where one failed or is unknown. */
  readonly alone?: { readonly cpu?: number; readonly gpu?: number };
  /** R to try, the one to balance with first. @default {the best predicted few} */
  readonly exchangeEvery?: readonly number[];
  /** When to stop, on the clock, in nanoseconds; a measurement that has begun is ended. @default {Infinity} */
  readonly deadlineNs?: number;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** What {@linkcode balanceOnDevices} found. */
export interface DeviceBalance {
  /** The fastest verified configuration that shares the grid; undefined where there is none. */
  readonly best: Measurement | undefined;
  /** Every step of the Eq. 8 iteration; times are those of a round of R steps. */
  readonly iterations: readonly BalanceIteration[];
  /** What was verified and measured, and what failed. */
  readonly evaluations: readonly Evaluation[];
  /** How the balance ended, in one line. */
  readonly message: string;
}

/** R to measure at the settled share. */
const PERIODS = 3;
/** An exchange waits for one tick of Deno's timer. */
const TICK_NS = 10e6;
/** Rounds timed together, and how often at most until both devices' medians stay within {@linkcode STEADY}. */
const ROUNDS = 4, BATCHES = 6, STEADY = 0.03;
/** Time for the samples of one R. */
const SAMPLING_NS = 1.5e9;
const MAX_ITERATIONS = 5;

/** Time is up, or the run was interrupted: leaves the iteration with what it has. */
class Stop extends Error {}

/**
 * Finds the shares of the CPU and the GPU that take equally long, and R.
 *
 * @param options the devices, the problem, the GPU's configuration
 * @returns the fastest verified shared configuration and every iteration; a device's failure is an evaluation
 */
export async function balanceOnDevices(options: DeviceBalanceOptions): Promise<DeviceBalance> {
  const { problem, now, onProgress } = options;
  const [slices] = problem.grid;
  const periods = options.exchangeEvery ?? choosePeriods(options);
  if (periods.length === 0) {
    const message = `${slices} slices can't hold two shares as wide as the stencil reaches`;
    return { best: undefined, iterations: [], evaluations: [], message };
  }
  const total = MAX_ITERATIONS + periods.length;
  const { cpuSlices, iterations, message, failed } = await settleShare(options, periods[0], total);
  const evaluations = [...failed];
  let best: Measurement | undefined;
  if (cpuSlices > 0 && cpuSlices < slices) {
    for (const [i, exchangeEvery] of periods.entries()) {
      const ghost = ghostSlices(problem, exchangeEvery);
      if (2 * ghost > slices) continue;
      if (options.signal?.aborted || options.gpu.lost !== undefined || (i > 0 && isOver(options))) break;
      onProgress?.(MAX_ITERATIONS + i, total);
      const clamped = Math.min(Math.max(cpuSlices, ghost), slices - ghost);
      const configuration = configurationOf(options, clamped, exchangeEvery);
      const evaluation = await evaluate(configuration, () => prepare(options, problem, configuration), {
        problem,
        best: best?.cellsPerSecond,
        samplingNs: SAMPLING_NS,
        now,
      });
      evaluations.push(evaluation);
      if (!("measurement" in evaluation)) continue;
      const { measurement } = evaluation;
      if (best === undefined || measurement.cellsPerSecond > best.cellsPerSecond) best = measurement;
    }
  }
  onProgress?.(total, total);
  return { best, iterations, evaluations, message };
}

/** What the Eq. 8 iteration came to. */
interface SettledShare {
  /** The CPU's slices; 0 where nothing could be timed. */
  readonly cpuSlices: number;
  readonly iterations: readonly BalanceIteration[];
  readonly message: string;
  readonly failed: readonly Evaluation[];
}

/** Iterates Eq. 8; a share that fails ends it with the fastest so far. */
async function settleShare(
  options: DeviceBalanceOptions,
  exchangeEvery: number,
  total: number,
): Promise<SettledShare> {
  const { problem, startShare, onProgress } = options;
  const [slices] = problem.grid;
  const iterations: BalanceIteration[] = [];
  let trying = options.configuration;
  const shares = {
    slices,
    ghost: ghostSlices(problem, exchangeEvery),
    startShare,
    maxIterations: MAX_ITERATIONS,
  };
  try {
    const { cpuSlices, message } = await balance(shares, async (cpuSlices, gpuSlices) => {
      if (isOver(options)) throw new Stop();
      onProgress?.(iterations.length, total);
      trying = configurationOf(options, cpuSlices, exchangeEvery);
      const times = await timeShare(trying, options);
      iterations.push({ cpuSlices, gpuSlices, ...times });
      return times;
    });
    return { cpuSlices, iterations, message, failed: [] };
  } catch (error) {
    const cpuSlices = fastestShare(iterations)?.cpuSlices ?? 0;
    if (error instanceof Stop) {
      return { cpuSlices, iterations, message: "no time left to balance", failed: [] };
    }
    if (!isFailure(error)) throw error;
    const { reason, message } = error;
    const failed = [{ configuration: trying, failure: { reason, message } }];
    return { cpuSlices, iterations, message: `the balance failed: ${reason}: ${message}`, failed };
  }
}

/** Time of a round on each device while both compute, once neither changes any more. */
async function timeShare(
  configuration: Configuration,
  { gpu, cpuPool, problem, reference, signal }: DeviceBalanceOptions,
): Promise<{ cpuTimeNs: number; gpuTimeNs: number }> {
  const field = await SharedField.create(problem, { gpu, cpuPool, configuration });
  try {
    await field.initialise(reference.start);
    let before = { cpuTimeNs: 0, gpuTimeNs: 0 };
    for (let batch = 0;; batch++) {
      // the first rounds are slow: shaders are compiled, and V8 replaces its first code
      const { cpuRoundsNs, gpuRoundsNs } = await field.run(configuration.share.exchangeEvery, ROUNDS);
      const times = { cpuTimeNs: roundOf(cpuRoundsNs), gpuTimeNs: roundOf(gpuRoundsNs) };
      const isSteady = isNear(times.cpuTimeNs, before.cpuTimeNs) && isNear(times.gpuTimeNs, before.gpuTimeNs);
      if (isSteady || batch + 1 === BATCHES || signal?.aborted) return times;
      before = times;
    }
  } finally {
    field[Symbol.dispose]();
  }
}

/** The median round; a device alone tells only the sum of its rounds. */
function roundOf(roundsNs: readonly number[]): number {
  return roundsNs.length === 0 ? 0 : median(roundsNs) * roundsNs.length / ROUNDS;
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= STEADY * Math.max(a, b);
}

function isOver({ signal, now, deadlineNs = Infinity }: DeviceBalanceOptions): boolean {
  return (signal?.aborted ?? false) || now() >= deadlineNs;
}

/** The GPU's configuration with a share for the CPU. */
function configurationOf(
  { configuration: { traversal, parameters }, cpuPool, problem: { grid: [slices] } }: DeviceBalanceOptions,
  cpuSlices: number,
  exchangeEvery: number,
): Configuration {
  const cpuWorkers = cpuSlices > 0 ? cpuPool.workers : 0;
  return {
    traversal,
    parameters,
    share: { cpuSlices, gpuSlices: slices - cpuSlices, exchangeEvery, cpuWorkers },
  };
}

/** The real share whose slower device was done first. */
function fastestShare(iterations: readonly BalanceIteration[]): BalanceIteration | undefined {
  const time = ({ cpuTimeNs, gpuTimeNs }: BalanceIteration): number => Math.max(cpuTimeNs, gpuTimeNs);
  return iterations.filter(({ cpuSlices, gpuSlices }) => cpuSlices > 0 && gpuSlices > 0)
    .toSorted((a, b) => time(a) - time(b))[0];
}

/** The best predicted R; where a device's rate is unknown, one whose ghost zone is an eighth of the grid. */
function choosePeriods({ problem, alone }: DeviceBalanceOptions): number[] {
  const { grid, stencil, boundary, steps } = problem;
  const [slices] = grid;
  const reach = Math.max(1, stepReach(stencil.update).x);
  if (alone?.cpu === undefined || alone.gpu === undefined) {
    if (2 * reach > slices) return [];
    return [2 ** Math.max(0, Math.floor(Math.log2(Math.min(steps, slices / 8 / reach))))];
  }
  const cellsPerSlice = cellsOf(grid) / slices;
  return exchangePeriods({
    slices,
    reach,
    interfaces: boundary === "periodic" ? 2 : 1,
    steps,
    cpuSliceNs: cellsPerSlice / alone.cpu * 1e9,
    gpuSliceNs: cellsPerSlice / alone.gpu * 1e9,
    exchangeNs: TICK_NS,
  }, PERIODS);
}
