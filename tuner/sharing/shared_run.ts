/**
 * What the balance needs of the devices: shared configurations that can be started, run, timed and verified.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { SharePoint } from "../../models/shared_step.ts";
import type { Configuration } from "../configuration.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../devices/gpu/gpu_device.ts";
import type { Reference } from "../devices/reference.ts";
import { type FieldRunner, prepare } from "../devices/runners.ts";
import { median } from "../measuring/statistics.ts";

/** The pair of devices. */
export interface SharingDevices {
  readonly cpuWorkers: number;
  /** @throws {RunFailure} if the configuration cannot run */
  open(problem: Problem, configuration: Configuration): Promise<FieldRunner>;
}

/** What a search for the best share takes. */
export interface SharingOptions {
  readonly devices: SharingDevices;
  readonly problem: Problem;
  /** How the GPU computes its share. */
  readonly configuration: Configuration;
  /** Cells per second of the faster device alone, if known. */
  readonly alone?: number | undefined;
  /** Fraction of the slices that the CPU computes at first. @default {0.1} */
  readonly startShare?: number;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** When to stop, on the clock; a batch that has begun is ended. @default {Infinity} */
  readonly deadlineNs?: number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
}

/** Times of one round of R steps, in nanoseconds; 0 for a device without slices. */
export interface ShareTimes {
  /** The CPU's part: computing, and the host's copies. */
  readonly cpuNs: number;
  readonly gpuNs: number;
  /** The workers alone, and the host's copies in both directions. */
  readonly computeNs: number;
  readonly unpackNs: number;
  readonly packNs: number;
  /** The whole round, by the host's clock. */
  readonly roundNs: number;
}

/** Rounds timed together. */
export const ROUNDS = 4;
/** Batches are repeated until the times of both devices stay within this part, and for so long at most. */
const STEADY = 0.03, UNSTEADY_NS = 400e6;
/** A time that no clock resolves. */
const LEAST_NS = 1000;

/** The real devices. */
export function sharingDevices(
  devices: { gpu: GpuDevice; cpuPool: CpuPool; reference: Reference },
): SharingDevices {
  return {
    cpuWorkers: devices.cpuPool.workers,
    open: (problem, configuration) => prepare(devices, problem, configuration),
  };
}

/** The GPU's configuration with a share for the CPU. */
export function shareConfiguration(
  { configuration: { traversal, parameters }, devices, problem: { grid: [slices] } }: SharingOptions,
  { exchangeEvery, cpuSlices }: SharePoint,
): Configuration {
  const cpuWorkers = cpuSlices > 0 ? devices.cpuWorkers : 0;
  const share = { cpuSlices, gpuSlices: slices - cpuSlices, exchangeEvery, cpuWorkers };
  return { traversal, parameters, share };
}

/**
 * Times rounds of R steps while both devices compute. Other work on the machine only adds time: the fastest batch
 * counts, without the first, in which shaders are compiled and V8 replaces its first code.
 */
export async function timeShare(options: SharingOptions, configuration: Configuration): Promise<ShareTimes> {
  const runner = await options.devices.open(options.problem, configuration);
  try {
    await runner.initialise();
    let before = await timeBatch(runner, configuration), best: ShareTimes | undefined;
    for (let spentNs = 0; spentNs < UNSTEADY_NS && !isOver(options);) {
      const times = await timeBatch(runner, configuration);
      if (best === undefined || times.roundNs < best.roundNs) best = times;
      if (isNear(times.cpuNs, before.cpuNs) && isNear(times.gpuNs, before.gpuNs)) break;
      spentNs += ROUNDS * times.roundNs;
      before = times;
    }
    return best ?? before;
  } finally {
    runner.dispose();
  }
}

async function timeBatch(runner: FieldRunner, { share }: Configuration): Promise<ShareTimes> {
  const times = await runner.runSteps(share.exchangeEvery, ROUNDS);
  const middle = (roundsNs: readonly number[]): number =>
    roundsNs.length === 0 ? 0 : Math.max(LEAST_NS, median(roundsNs));
  // a device alone reports only the sum of its rounds
  const rounds = share.cpuSlices === 0 || share.gpuSlices === 0 ? ROUNDS : 1;
  return {
    cpuNs: middle(times.cpuRoundsNs) / rounds,
    gpuNs: middle(times.gpuRoundsNs) / rounds,
    computeNs: middle(times.computeRoundsNs),
    unpackNs: middle(times.unpackRoundsNs),
    packNs: middle(times.packRoundsNs),
    roundNs: times.wallNs / ROUNDS,
  };
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= STEADY * Math.max(a, b);
}

/** Whether to begin nothing more. */
export function isOver({ signal, now, deadlineNs = Infinity }: SharingOptions): boolean {
  return (signal?.aborted ?? false) || now() >= deadlineNs;
}
