/**
 * What the tuner chooses and what it finds out: plain records that every part of it exchanges.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";

/** Workers of a CPU at most: more than any machine has cores. */
export const MAX_WORKERS = 1024;

/** How the slices of x are shared between the devices. */
export interface Share {
  /** Slices the CPU computes: x from 0 to cpuSlices − 1. */
  readonly cpuSlices: number;
  /** Slices the GPU computes: the rest. */
  readonly gpuSlices: number;
  /** R: steps between two exchanges of the ghost zones. */
  readonly exchangeEvery: number;
  /** CPU workers; 0 where the GPU computes alone. */
  readonly cpuWorkers: number;
  /**
   * Bytes that the levels may take on the GPU, which then holds a window of them; the host holds them whole.
   * @default {all lies on the GPU}
   */
  readonly deviceMemory?: number | undefined;
  /** How the workers traverse their slices beside a GPU; of a CPU alone the configuration says it. @default {stepwise} */
  readonly cpu?: Pick<Configuration, "traversal" | "parameters"> | undefined;
}

/** A traversal with its parameters, and how the slices are shared. */
export interface Configuration {
  /** The GPU's traversal; of a CPU alone, how its workers traverse ("stepwise"). */
  readonly traversal: string;
  /** Values of the traversal's parameters. */
  readonly parameters: Parameters;
  /** How the slices are shared. */
  readonly share: Share;
}

/** Why a configuration has no rate. */
export type FailureReason = "compile" | "limits" | "incorrect" | "timeout" | "device-lost" | "out-of-memory";

/** A failure as data; it never ends a run. */
export interface Failure {
  /** What kind of failure it is. */
  readonly reason: FailureReason;
  /** What was found, in one line. */
  readonly message: string;
}

/** How far a result lies from the reference. */
export interface Verification {
  /** Largest |result − reference| over the whole field, both time levels. */
  readonly maxError: number;
  /** What rounding can explain; a larger error is a wrong result. */
  readonly bound: number;
  /** What it was compared with, as "gpu stepwise 64x4x1" or "oracle f32". */
  readonly against: string;
}

/** Evidence for one configuration's rate. */
export interface Measurement {
  /** What was measured. */
  readonly configuration: Configuration;
  /** Cells per second of the grid's own cells: the median. */
  readonly cellsPerSecond: number;
  /** 95% interval: of the median of these samples; after the final round, of the rate that a later run finds. */
  readonly confidence95: readonly [low: number, high: number];
  /** Cells per second of each sample. */
  readonly samples: readonly number[];
  /** (largest − smallest) / median of the samples. */
  readonly spread: number;
  /** That its result is right. */
  readonly verification: Verification;
  /** Time from source text to pipelines, host clock. */
  readonly compileNs: number;
  /** The device's clock then, as a part of the fastest that it was seen at, if it is known. @default {1} */
  readonly clock?: number | undefined;
}

/** A configuration ready to run on some device(s): pipelines compiled, memory taken. */
export interface Runner {
  readonly configuration: Configuration;
  readonly compileNs: number;
  /**
   * Whose clock `run` reads. `device`: the device's own, which is exact for short runs too. `host`: the time
   * that passes, in which the host's waiting for the device is counted.
   */
  readonly clock: "device" | "host";
  /** Whether its first run is as fast as any other, so that it counts as a sample. @default {false} */
  readonly isWarm?: boolean;
  /** Runs that a long simulation makes at once, without beginning anew in between. @default {1} */
  readonly longRun?: number;
  /** Sets the initial field (both levels, frame and pads too) and time step 0. */
  initialise(): Promise<void>;
  /**
   * Advances the field by the problem's steps, `repetitions` times in one batch.
   * @param repetitions 1 unless given
   * @returns nanoseconds of the whole batch
   */
  run(repetitions?: number): Promise<number>;
  /**
   * The same without waiting, and as a long simulation makes them, without beginning anew in between: the device goes on
   * with it once it is done with what it was given before. Only of a device that lowers its clock while it waits; `clock`
   * is its lowest clock then, as a part of the fastest that it was seen at.
   */
  begin?(repetitions: number): Promise<{ finish(): Promise<{ timeNs: number; clock: number }> }>;
  /**
   * Compares both time levels of the whole field with the reference; only after one run.
   * @returns also a wrong result: its maxError is larger than its bound, infinite where the field is not finite
   */
  verify(): Promise<Verification>;
  dispose(): void;
}

/** A text that is equal for equal configurations only. */
export function configurationKey({ traversal, parameters, share }: Configuration): string {
  return orderless([traversal, parameters, share]);
}

/** A text that is equal for equal traversals with equal parameters only. */
export function traversalKey(
  { traversal, parameters }: Pick<Configuration, "traversal" | "parameters">,
): string {
  return orderless([traversal, parameters]);
}

/** JSON in which the order of names makes no difference, nor does one without a value. */
function orderless(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.entries(inner).filter(([, part]) => part !== undefined).sort(([a], [b]) => a < b ? -1 : 1);
  });
}
