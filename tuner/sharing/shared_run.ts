import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { SharedSample, SharePoint } from "../../models/shared_fit.ts";
import type { Configuration, Share } from "../configuration.ts";
import type { FieldRunner } from "../devices/runners.ts";
import type { Session } from "../devices/session.ts";
import { configurationOf, isShared, STEPWISE } from "../shares.ts";

export interface SharingOptions {
  /** The devices, and the clock. */
  readonly session: Session;
  readonly problem: Problem;
  /** How the GPU computes its share. */
  readonly configuration: Configuration;
  readonly cpuWorkers: number;
  /** How they traverse their share, if rounds are long enough for that. @default {stepwise} */
  readonly cpu?: Share["cpu"];
  /** Cells per second of each device alone, as far as known. */
  readonly alone?: { readonly cpu: number | undefined; readonly gpu: number | undefined };
  /** Fraction of the slices that the CPU computes at first. @default {by the rates alone; 0.1 if one is not known} */
  readonly startShare?: number | undefined;
  /** When to stop, on the session's clock; one iteration is made whatever the time. @default {Infinity} */
  readonly deadlineNs?: number;
  /** Stops after the measurement under way. */
  readonly signal?: AbortSignal;
}

/** Times of one round of R steps, in nanoseconds; 0 for a device without slices. */
interface ShareTimes extends Omit<SharedSample, keyof SharePoint> {
  /** The CPU's part: computing, and the host's copies. */
  readonly cpuNs: number;
}

/** Rounds timed together: ROUNDS at most, and fewer where they last longer than BATCH together. */
const ROUNDS = 4, BATCH_NS = 200e6;
/** Batches are repeated until the times of both devices differ by no more than STEADY, and for UNSTEADY_NS at most. */
const STEADY = 0.03, UNSTEADY_NS = 400e6;
/** A time that no clock resolves. */
const LEAST_NS = 1000;

/**
 * Levels of a round from which on diamonds are faster than stepwise. A core with 80 slices of 256×256, wave of order 2:
 * 0.8 times as fast with R = 4, 1.2 with R = 8, 1.4 with R = 16 (AMD EPYC, 2026-11-22).
 */
const DIAMOND_LEVELS = 8;

/** Both devices' configurations with a share for each; where the CPU has all slices, its own. */
export function shareConfiguration(options: SharingOptions, point: SharePoint): Configuration {
  const { configuration: { traversal, parameters }, cpu, cpuWorkers, problem: { grid: [slices] } } = options;
  const { exchangeEvery, cpuSlices } = point, isAll = cpuSlices === slices;
  const onCpu = (isAll ? cpu : besideGpu(options, exchangeEvery)) ?? STEPWISE;
  return configurationOf([
    { device: "cpu", slices: cpuSlices, workers: cpuWorkers, ...onCpu },
    { device: "gpu", slices: slices - cpuSlices, traversal, parameters },
  ], exchangeEvery);
}

/** How the CPU traverses its share beside the GPU: as alone, but stepwise in rounds that are too short for diamonds. */
function besideGpu({ cpu, problem }: SharingOptions, exchangeEvery: number): Share["cpu"] {
  if (cpu === undefined) return undefined;
  const { traversal, parameters } = cpu, { fused } = parameters;
  const levels = exchangeEvery * problem.stencil.update.substeps.length;
  if (traversal === STEPWISE.traversal || levels >= DIAMOND_LEVELS) return { traversal, parameters };
  return fused === undefined ? undefined : { ...STEPWISE, parameters: { fused } };
}

/**
 * Times rounds of R steps while both devices compute. Other work on the machine only adds time: the fastest batch
 * counts, without the first, in which shaders are compiled and V8 replaces its first code.
 */
export async function timeShare(options: SharingOptions, configuration: Configuration): Promise<ShareTimes> {
  const runner = await options.session.prepare(options.problem, configuration);
  try {
    await runner.initialise();
    let before = await timeBatch(runner, 1);
    const rounds = Math.min(Math.max(1, Math.floor(BATCH_NS / before.roundNs)), ROUNDS);
    let best: ShareTimes | undefined;
    for (let spentNs = 0; best === undefined || (spentNs < UNSTEADY_NS && !isOver(options));) {
      const times = await timeBatch(runner, rounds);
      if (best === undefined || times.roundNs < best.roundNs) best = times;
      if (isNear(times.cpuNs, before.cpuNs) && isNear(times.gpuNs, before.gpuNs)) break;
      spentNs += rounds * times.roundNs;
      before = times;
    }
    return best;
  } finally {
    runner.dispose();
  }
}

async function timeBatch(runner: FieldRunner, rounds: number): Promise<ShareTimes> {
  const { share, share: { exchangeEvery } } = runner.configuration;
  const { computeNs, gpuNs, unpackNs, packNs, wallNs } = await runner.runSteps(exchangeEvery, rounds);
  const leastNs = isShared(share) ? LEAST_NS : 0;
  const ofRound = (timeNs: number): number => Math.max(leastNs, timeNs / rounds);
  return {
    cpuNs: ofRound(computeNs + unpackNs + packNs),
    gpuNs: ofRound(gpuNs),
    computeNs: ofRound(computeNs),
    unpackNs: ofRound(unpackNs),
    packNs: ofRound(packNs),
    roundNs: wallNs / rounds,
  };
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= STEADY * Math.max(a, b);
}

/** Whether to begin nothing more. */
export function isOver({ signal, session, deadlineNs = Infinity }: SharingOptions): boolean {
  return (signal?.aborted ?? false) || session.now() >= deadlineNs;
}
