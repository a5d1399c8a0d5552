import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Failure, Measurement, Runner, Verification } from "../configuration.ts";
import type { Session } from "../devices/session.ts";
import { refute } from "../devices/reference.ts";
import {
  DEVICE_BATCH_NS,
  HOST_BATCH_NS,
  LONGEST_REPORTED_NS,
  REPORTED_BATCH_NS,
  STEADY_BATCH_NS,
} from "../devices/gpu/gpu_clock.ts";
import { isLongEnough, sampleUntilStable } from "./sampling.ts";
import { steadySampler } from "./steady_sampler.ts";
import { summarize } from "./statistics.ts";
import { isFailure, RunFailure } from "../devices/run_failure.ts";

/** What became of a configuration. */
export type Evaluation =
  | { readonly configuration: Configuration; readonly measurement: Measurement }
  | { readonly configuration: Configuration; readonly failure: Failure };

/** Options of {@linkcode evaluate}. */
export interface EvaluateOptions {
  readonly problem: Problem;
  /** Best rate so far: clearly slower configurations are timed only roughly. @default {0} */
  readonly best?: number;
  /** Time for the samples, in nanoseconds. @default {3e9} */
  readonly samplingNs?: number;
  /** Samples at least, time permitting. @default {3} */
  readonly minSamples?: number;
  /** Whether it ran in this process before, so that the CPU's code is optimised. @default {false} */
  readonly isAgain?: boolean;
  /** Whether the rate is reported, so that batches last as long as that takes. @default {false} */
  readonly isReported?: boolean;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
}

/** Samples at most. */
export const MOST_SAMPLES = 30;
/**
 * A first run slower than this fraction of the best will not win: two samples are enough to say so. Where the first run
 * is a sample, it is enough if it is slower than the other fraction.
 */
const FAR_BELOW = 0.8, HOPELESS = 0.5;

/** Two samples of a rate that is reported fit into this, however long they and the clock's rise take. */
const LEAST_REPORTED_NS = 4 * LONGEST_REPORTED_NS;

/** Verifies and times a configuration in a session. */
export function evaluateOn(
  session: Session,
  configuration: Configuration,
  options: Omit<EvaluateOptions, "now">,
): Promise<Evaluation> {
  const prepare = () => session.prepare(options.problem, configuration);
  return evaluate(configuration, prepare, { ...options, now: () => session.now() });
}

/** Runs a configuration once in a session and compares its result, without timing it. */
export function verifyOn(
  session: Session,
  configuration: Configuration,
  problem: Problem,
): Promise<{ readonly verification: Verification } | { readonly failure: Failure }> {
  const prepare = () => session.prepare(problem, configuration);
  return runVerified(prepare, ({ verification }) => Promise.resolve({ verification }));
}

/**
 * One configuration from compiling to its record: verified, then timed until stable. What goes wrong is part of the
 * record; errors of other kinds than the device's are thrown.
 *
 * @param prepare compiles it and takes the memory
 */
export async function evaluate(
  configuration: Configuration,
  prepare: () => Promise<Runner>,
  { problem, best = 0, samplingNs = 3e9, minSamples = 3, isAgain = false, isReported = false, now }:
    EvaluateOptions,
): Promise<Evaluation> {
  const found = await runVerified(prepare, async ({ runner, run, firstNs, verification }) => {
    const updates = cellsOf(problem.grid) * problem.steps;
    const part = best > 0 ? updates / (firstNs * 1e-9) / best : Infinity;
    const { longRun = 1 } = runner, isKeptBusy = runner.begin !== undefined;
    const isLong = isReported && longRun * firstNs <= LONGEST_REPORTED_NS;
    const waitedForNs = runner.clock === "device" ? DEVICE_BATCH_NS : HOST_BATCH_NS;
    const minBatchNs = !isKeptBusy ? waitedForNs : isReported ? REPORTED_BATCH_NS : STEADY_BATCH_NS;
    const isWarm = runner.isWarm || (isAgain && configuration.share.gpuSlices === 0);
    const taken = isWarm && isLongEnough(firstNs, minBatchNs) ? [firstNs] : [];
    const sampler = steadySampler((runs) => runner.begin?.(runs, isLong) ?? ranAlready(run(runs)), {
      firstNs,
      minBatchNs,
      unit: isLong ? longRun : 1,
      isKeptBusy,
      now,
    });
    const samplesNs = await sampleUntilStable(
      (isFollowed) => sampler.sample(isFollowed),
      {
        now,
        budgetNs: isKeptBusy && isReported ? Math.max(samplingNs, LEAST_REPORTED_NS) : samplingNs,
        minSamples,
        maxSamples: part > FAR_BELOW ? MOST_SAMPLES : taken.length > 0 && part < HOPELESS ? 1 : 2,
        hopelessNs: best > 0 ? updates / best * 1e9 : Infinity,
        taken,
      },
    ).finally(() => sampler.end());
    const rates = samplesNs.map((ns) => updates / (ns * 1e-9));
    const { compileNs } = runner;
    const clock = isKeptBusy && { clock: sampler.clock() };
    return { measurement: measurementOf(configuration, rates, { verification, compileNs, ...clock }) };
  });
  return { configuration, ...found };
}

/** A batch that was waited for, beside no other clock than the one that timed it. */
async function ranAlready(timed: Promise<number>): ReturnType<NonNullable<Runner["begin"]>> {
  const timeNs = await timed;
  return { finish: () => Promise.resolve({ timeNs, clock: 1 }) };
}

/** Prepares a configuration, runs it once, and goes on with it if its result is right. */
async function runVerified<T>(
  prepare: () => Promise<Runner>,
  goOn: (verified: {
    readonly runner: Runner;
    readonly run: (repetitions: number) => Promise<number>;
    readonly firstNs: number;
    readonly verification: Verification;
  }) => Promise<T>,
): Promise<T | { readonly failure: Failure }> {
  let runner: Runner | undefined;
  try {
    runner = await prepare();
    await runner.initialise();
    const run = timedRun(runner);
    const firstNs = await run(1);
    const verification = await runner.verify();
    const failure = refute(verification);
    return failure === undefined ? await goOn({ runner, run, firstNs, verification }) : { failure };
  } catch (error) {
    if (isFailure(error)) return { failure: { reason: error.reason, message: error.message } };
    throw error;
  } finally {
    runner?.dispose();
  }
}

/** Runs in batches whose time is one; a clock that tells none is a failure of the configuration's. */
function timedRun(runner: Runner): (repetitions: number) => Promise<number> {
  return async (repetitions) => {
    const timeNs = await runner.run(repetitions);
    if (timeNs > 0 && Number.isFinite(timeNs)) return timeNs;
    const found = `the ${runner.clock}'s clock says that ${repetitions} runs took ${timeNs} ns`;
    throw new RunFailure("incorrect", found);
  };
}

/** The record of a configuration's samples. */
export function measurementOf(
  configuration: Configuration,
  rates: readonly number[],
  { verification, compileNs, clock }: Pick<Measurement, "verification" | "compileNs" | "clock">,
): Measurement {
  const { median: cellsPerSecond, interval95: confidence95, spread } = summarize(rates);
  const found = { cellsPerSecond, confidence95, samples: rates, spread, verification, compileNs };
  return { configuration, ...found, ...(clock !== undefined && { clock }) };
}
