/**
 * B2R's Eq. 8 on the real devices: which shares take equally long, from times of both computing at once.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { balance, type BalanceIteration } from "../../models/balance.ts";
import type { GpuDevice } from "../devices/gpu/gpu_device.ts";
import type { Reference } from "../devices/reference.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { ghostSlices } from "../devices/shared/shares.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration } from "../configuration.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { shareConfiguration } from "./shared_problem.ts";
import { median } from "../measuring/statistics.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What {@linkcode settleShare} takes. */
export interface SettleOptions {
  readonly gpu: GpuDevice;
  readonly cpuPool: CpuPool;
  readonly problem: Problem;
  /** How the GPU computes its share. */
  readonly configuration: Configuration;
  readonly reference: Reference;
  /** Fraction of the slices that the CPU computes at first. @default {0.1} */
  readonly startShare?: number;
  /** When to stop, on the clock, in nanoseconds; a batch that has begun is ended. @default {Infinity} */
  readonly deadlineNs?: number;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
}

/** Measurements of one balance at most. */
export const MAX_ITERATIONS = 5;

/**
 * Rounds timed together, until both devices' medians stay within {@linkcode STEADY}; where they never do, so many
 * batches, and of short rounds as many as fit {@linkcode UNSTEADY_NS}.
 */
const ROUNDS = 4, BATCHES = 6, STEADY = 0.03, UNSTEADY_NS = 600e6, MOST_BATCHES = 100;

/** Time is up, or the run was interrupted: leaves the iteration with what it has. */
class Stop extends Error {}

/** What the Eq. 8 iteration came to. */
export interface SettledShare {
  /** The CPU's slices; 0 where nothing could be timed. */
  readonly cpuSlices: number;
  readonly iterations: readonly BalanceIteration[];
  readonly message: string;
  readonly isSettled: boolean;
  readonly failed: readonly Evaluation[];
}

/** Iterates Eq. 8; a share that fails ends it with the fastest so far. */
export async function settleShare(
  options: SettleOptions,
  exchangeEvery: number,
  onProgress: (done: number) => void,
): Promise<SettledShare> {
  const { problem, startShare } = options;
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
    const { cpuSlices, message, settled: isSettled } = await balance(shares, async (cpuSlices, gpuSlices) => {
      if (isOver(options)) throw new Stop();
      onProgress(iterations.length);
      trying = shareConfiguration(options, { exchangeEvery, cpuSlices });
      const times = await timeShare(trying, options);
      iterations.push({ cpuSlices, gpuSlices, ...times });
      return times;
    });
    return { cpuSlices, iterations, message, isSettled, failed: [] };
  } catch (error) {
    const cpuSlices = fastestShare(iterations)?.cpuSlices ?? 0;
    if (error instanceof Stop) {
      return { cpuSlices, iterations, message: "no time left to balance", isSettled: false, failed: [] };
    }
    if (!isFailure(error)) throw error;
    const { reason, message } = error;
    const failed = [{ configuration: trying, failure: { reason, message } }];
    const text = `the balance failed: ${reason}: ${message}`;
    return { cpuSlices, iterations, message: text, isSettled: false, failed };
  }
}

/** Time of a round on each device while both compute, once neither changes any more. */
async function timeShare(
  configuration: Configuration,
  options: SettleOptions,
): Promise<{ cpuTimeNs: number; gpuTimeNs: number }> {
  const { gpu, cpuPool, problem, reference } = options;
  const field = await SharedField.create(problem, { gpu, cpuPool, configuration });
  try {
    await field.initialise(reference.start);
    const cpuNs: number[] = [], gpuNs: number[] = [];
    let before = { cpuTimeNs: 0, gpuTimeNs: 0 };
    let spentNs = 0;
    for (let batch = 0;; batch++) {
      // the first rounds are slow: shaders are compiled, and V8 replaces its first code
      const { cpuRoundsNs, gpuRoundsNs, wallNs } = await field.run(configuration.share.exchangeEvery, ROUNDS);
      const times = { cpuTimeNs: roundOf(cpuRoundsNs), gpuTimeNs: roundOf(gpuRoundsNs) };
      const isSteady = isNear(times.cpuTimeNs, before.cpuTimeNs) && isNear(times.gpuTimeNs, before.gpuTimeNs);
      if (isSteady || isOver(options)) return times;
      if (batch > 0) {
        cpuNs.push(times.cpuTimeNs);
        gpuNs.push(times.gpuTimeNs);
      }
      spentNs += wallNs;
      // times that never settle: the middle of all but the first
      if (batch + 1 >= BATCHES && (spentNs >= UNSTEADY_NS || batch >= MOST_BATCHES)) {
        return { cpuTimeNs: median(cpuNs), gpuTimeNs: median(gpuNs) };
      }
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

/** Whether to begin nothing more. */
export function isOver({ signal, now, deadlineNs = Infinity }: SettleOptions): boolean {
  return (signal?.aborted ?? false) || now() >= deadlineNs;
}

/** The real share whose slower device was done first. */
function fastestShare(iterations: readonly BalanceIteration[]): BalanceIteration | undefined {
  const time = ({ cpuTimeNs, gpuTimeNs }: BalanceIteration): number => Math.max(cpuTimeNs, gpuTimeNs);
  return iterations.filter(({ cpuSlices, gpuSlices }) => cpuSlices > 0 && gpuSlices > 0)
    .toSorted((a, b) => time(a) - time(b))[0];
}
