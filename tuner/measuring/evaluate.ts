import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Failure, Measurement, Runner, Verification } from "../configuration.ts";
import { refute } from "../devices/reference.ts";
import {
  DEVICE_BATCH_NS,
  HOST_BATCH_NS,
  LONGEST_REPORTED_NS,
  REPORTED_BATCH_NS,
  STEADY_BATCH_NS,
} from "../devices/gpu/gpu_clock.ts";
import { isLongEnough, sampleUntilStable } from "./sampling.ts";
import { isFull, steadySampler } from "./steady_sampler.ts";
import { median, medianInterval95, relativeSpread } from "./statistics.ts";
import { isFailure, RunFailure } from "../devices/run_failure.ts";
import { uses } from "../shares.ts";

/** What became of a configuration. */
export type Evaluation =
  | { readonly configuration: Configuration; readonly measurement: Measurement }
  | { readonly configuration: Configuration; readonly failure: Failure };

/** Where configurations are evaluated: as a session does, it compiles them and takes their memory, and tells the time. */
export interface Workbench {
  prepare(problem: Problem, configuration: Configuration): Promise<Runner>;
  now(): number;
}

/** Options of {@linkcode evaluateOn}. */
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
}

/** Samples at most. */
export const MOST_SAMPLES = 30;
/** A first run slower than this fraction of the best will not win: two samples are enough to say so. */
const FAR_BELOW = 0.8;
/** Where the first run is a sample, it is the only one if it is slower than this fraction of the best. */
const HOPELESS = 0.5;
/**
 * The same at a steady clock, where runs differ by no more than clocks that count as the same. There the search takes one
 * sample of a run as long as a batch whose rate is reported, whatever its rate.
 */
const STEADILY_BELOW = 0.95;

/** Two samples of a rate that is reported fit into this, however long they and the clock's rise take. */
export const LEAST_REPORTED_NS = 4 * LONGEST_REPORTED_NS;

/** Runs a configuration once and compares its result, without timing it. */
export function verifyOn(
  session: Workbench,
  configuration: Configuration,
  problem: Problem,
): Promise<{ readonly verification: Verification } | { readonly failure: Failure }> {
  const prepare = () => session.prepare(problem, configuration);
  return runVerified(prepare, ({ verification }) => Promise.resolve({ verification }));
}

/**
 * One configuration from compiling to its record: verified, then timed until stable. What goes wrong is part of the
 * record; errors of other kinds than the device's are thrown.
 */
export async function evaluateOn(
  session: Workbench,
  configuration: Configuration,
  { problem, best = 0, samplingNs = 3e9, minSamples = 3, isAgain = false, isReported = false }:
    EvaluateOptions,
): Promise<Evaluation> {
  const prepare = () => session.prepare(problem, configuration), now = () => session.now();
  const found = await runVerified(prepare, async ({ runner, begin, first, verification }) => {
    const { timeNs: firstNs } = first;
    const updates = cellsOf(problem.grid) * problem.steps;
    const part = best > 0 ? updates / (firstNs * 1e-9) / best : Infinity;
    const { longRun = 1 } = runner, isKeptBusy = runner.begin !== undefined;
    const isLong = isReported && longRun * firstNs <= LONGEST_REPORTED_NS;
    const waitedForNs = runner.clock === "device" ? DEVICE_BATCH_NS : HOST_BATCH_NS;
    const minBatchNs = !isKeptBusy ? waitedForNs : isReported ? REPORTED_BATCH_NS : STEADY_BATCH_NS;
    const unit = isLong ? longRun : 1;
    const isWarm = isKeptBusy
      ? unit === 1 && isFull(first.clock)
      : runner.isWarm || (isAgain && !uses(configuration.share, "gpu"));
    const taken = isWarm && isLongEnough(firstNs, minBatchNs) ? [firstNs] : [];
    const isEnough = taken.length > 0 && part < (isKeptBusy ? STEADILY_BELOW : HOPELESS);
    const isAlone = isEnough || (isKeptBusy && !isReported && first.clock * firstNs >= REPORTED_BATCH_NS);
    const sampler = steadySampler(begin, {
      firstNs,
      firstClock: first.clock,
      minBatchNs,
      unit,
      isKeptBusy,
      now,
    });
    const samplesNs = await sampleUntilStable(
      (isFollowed) => sampler.sample(isFollowed),
      {
        now,
        budgetNs: isKeptBusy && isReported ? Math.max(samplingNs, LEAST_REPORTED_NS) : samplingNs,
        minSamples,
        maxSamples: isAlone ? 1 : part > FAR_BELOW ? MOST_SAMPLES : 2,
        hopelessNs: best > 0 ? updates / best * 1e9 : Infinity,
        taken,
      },
    ).finally(() => sampler.end());
    const rates = samplesNs.map((ns) => updates / (ns * 1e-9));
    const { compileNs } = runner;
    const lowest = taken.length > 0 ? Math.min(first.clock, sampler.clock()) : sampler.clock();
    const clock = isKeptBusy && { clock: lowest };
    return { measurement: measurementOf(configuration, rates, { verification, compileNs, ...clock }) };
  });
  return { configuration, ...found };
}

type Begin = NonNullable<Runner["begin"]>;

/** Prepares a configuration, runs it once, and goes on with it if its result is right. */
async function runVerified<T>(
  prepare: () => Promise<Runner>,
  goOn: (verified: {
    readonly runner: Runner;
    readonly begin: Begin;
    readonly first: Awaited<ReturnType<Awaited<ReturnType<Begin>>["finish"]>>;
    readonly verification: Verification;
  }) => Promise<T>,
): Promise<T | { readonly failure: Failure }> {
  let runner: Runner | undefined;
  try {
    runner = await prepare();
    await runner.initialise();
    const begin = batchesOf(runner);
    const first = await (await begin(1)).finish();
    const verification = await runner.verify();
    const failure = refute(verification);
    return failure === undefined ? await goOn({ runner, begin, first, verification }) : { failure };
  } catch (error) {
    if (isFailure(error)) return { failure: { reason: error.reason, message: error.message } };
    throw error;
  } finally {
    runner?.dispose();
  }
}

/**
 * Runs in batches whose time is one; a clock that tells none is a failure of the configuration's. A runner that does not
 * go on by itself runs when it is waited for, beside no other clock than the one that times it.
 */
function batchesOf(runner: Runner): Begin {
  return async (repetitions) => {
    const batch = await runner.begin?.(repetitions);
    return {
      async finish() {
        const timed = await batch?.finish() ?? { timeNs: await runner.run(repetitions), clock: 1 };
        if (timed.timeNs > 0 && Number.isFinite(timed.timeNs)) return timed;
        const found = `the ${runner.clock}'s clock says that ${repetitions} runs took ${timed.timeNs} ns`;
        throw new RunFailure("incorrect", found);
      },
    };
  };
}

/** The record of a configuration's samples, which are rates. */
export function measurementOf(
  configuration: Configuration,
  samples: readonly number[],
  { verification, compileNs, clock }: Pick<Measurement, "verification" | "compileNs" | "clock">,
): Measurement {
  return {
    configuration,
    cellsPerSecond: median(samples),
    confidence95: medianInterval95(samples),
    samples,
    spread: relativeSpread(samples),
    verification,
    compileNs,
    ...(clock !== undefined && { clock }),
  };
}
