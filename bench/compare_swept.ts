/**
 * The swept rule against classic on the GPU, on lines of one length: a short search finds the best configurations of
 * each traversal, which are verified against the reference and then measured in turns. The launch of an empty dispatch
 * is timed beside them: classic pays it for each sub-step.
 *
 * @module
 */
import { refusalOf } from "../kernels/capability.ts";
import type { Problem, Stencil } from "../kernels/stencils/stencil.ts";
import { classic } from "../kernels/traversals/classic/classic.ts";
import {
  combine,
  type DeviceLimits,
  type GpuPlan,
  type Parameters,
  type Traversal,
} from "../kernels/traversals/traversal.ts";
import { swept } from "../kernels/traversals/swept/swept.ts";
import { sweptRegister } from "../kernels/traversals/swept/register.ts";
import { shaderOf } from "../kernels/wgsl/shader.ts";
import type { Verification } from "../tuner/configuration.ts";
import type { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../tuner/devices/gpu/gpu_field.ts";
import { ClockGauge } from "../tuner/devices/gpu/clock_gauge.ts";
import { DEVICE_BATCH_NS, STEADY_BATCH_NS } from "../tuner/devices/gpu/gpu_clock.ts";
import { gauged } from "../tuner/devices/runners.ts";
import { makeReference } from "../tuner/devices/make_reference.ts";
import { refute, stateLevels, verificationOf } from "../tuner/devices/reference.ts";
import { isFailure } from "../tuner/devices/run_failure.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { steadySampler } from "../tuner/measuring/steady_sampler.ts";
import { type LineRate, lineRate, takeTurns } from "./take_turns.ts";

/** What was found for one length on the GPU. */
export interface SweptComparison {
  readonly stencil: string;
  readonly variant: Readonly<Record<string, number | string>>;
  readonly points: number;
  /** Time steps of a run. */
  readonly steps: number;
  /** Nanoseconds that an empty dispatch takes among others. */
  readonly launchNs: number;
  /** The best of each traversal, classic first; then the runners-up. */
  readonly rates: readonly (LineRate & { readonly verification: Verification })[];
  /** Configurations that were timed in the search, and those that failed. */
  readonly searched: number;
  readonly failed: readonly string[];
}

/** Options of {@linkcode compareSwept}. */
export interface SweptComparisonOptions {
  readonly stencil: Stencil;
  readonly points: number;
  /** Time for this length. */
  readonly timeMs: number;
  /** Time steps of a run. */
  readonly steps: number;
  /** Only kernels within these limits are tried. @default {the device's} */
  readonly limits?: Partial<DeviceLimits> | undefined;
}

/** Rows after which results are verified: more than a cycle of the largest node, before errors have grown. */
const VERIFIED_ROWS = 4600;

/** Steps of classic in the search: fewer show as much, and cost the host less. */
const PROBED_STEPS = 2048;

/** The part of the time for the search; the rest is for the turns. */
const SEARCH_PART = 0.6;

const MOST_TURNS = 25;

/** Configurations that are measured in turns besides the best of each traversal. */
const RUNNERS_UP = 2;

/** Empty dispatches of a run, and about how long one takes. */
const EMPTY_DISPATCHES = 2000, LAUNCH_NS = 2e3;

/** The points a thread to try first; others come last. */
const FIRST_POINTS = [16, 8, 1, 32, 24, 2, 12, 4];

/** A configuration that is measured. */
interface Contender {
  readonly traversal: Traversal;
  readonly parameters: Parameters;
  readonly field: GpuField;
  /** Nanoseconds a step in the search. */
  readonly probedNs: number;
}

/**
 * Compares on the GPU.
 *
 * @throws {RunFailure} where not even classic runs
 */
export async function compareSwept(
  gpu: GpuDevice,
  { stencil, points, timeMs, steps, limits }: SweptComparisonOptions,
): Promise<SweptComparison> {
  const began = performance.now();
  const [boundary = "zero"] = stencil.boundaries ?? [];
  const problem: Problem = { stencil, grid: [1, 1, points], boundary, steps };
  const verifiedSteps = Math.min(steps, Math.ceil(VERIFIED_ROWS / stencil.update.substeps.length));
  const reference = await makeReference({ gpu, problem: { ...problem, steps: verifiedSteps } });
  const found: Contender[] = [], failed: string[] = [];
  const fail = ({ traversal, parameters }: Candidate, failure: { reason: string; message: string }): void => {
    const label = `${traversal.name} ${JSON.stringify(parameters)}`;
    failed.push(`${label}: ${failure.reason}: ${failure.message}`);
  };
  try {
    // classic in full: all others are measured against it
    for (const traversals of [[classic], [sweptRegister, swept]]) {
      for (const candidate of candidatesOf(traversals, problem, { ...gpu.limits, ...limits })) {
        const { traversal } = candidate;
        const isLate = performance.now() - began > SEARCH_PART * timeMs;
        if (isLate && traversal !== classic && found.some((one) => one.traversal === traversal)) continue;
        try {
          found.push(await probe(gpu, problem, candidate));
        } catch (error) {
          if (!isFailure(error)) throw error;
          fail(candidate, error);
        }
      }
    }
    const finalists: (Contender & { readonly verification: Verification })[] = [];
    for (const one of finalistsOf(found)) {
      await one.field.initialise(reference.start);
      await one.field.run(verifiedSteps);
      const difference = await one.field.compare(reference.onGpu!, {
        levels: stateLevels(problem),
        slices: 1,
      });
      const verification = verificationOf(difference, reference);
      const failure = refute(verification);
      if (failure === undefined) finalists.push({ ...one, verification });
      else fail(one, failure);
    }
    using empty = await GpuField.create(gpu, problem, emptyPlan(problem));
    const launch = () => timeStep(gpu, empty, EMPTY_DISPATCHES, LAUNCH_NS);
    const samplers = finalists.map(({ field, probedNs }) => () => timeStep(gpu, field, steps, probedNs));
    const options = { untilMs: began + timeMs, mostTurns: MOST_TURNS };
    const [launches = [], ...samples] = await takeTurns([launch, ...samplers], options);
    return {
      stencil: stencil.name,
      variant: stencil.variant,
      points,
      steps,
      launchNs: median(launches),
      rates: finalists.map(({ traversal, parameters, verification }, i) => ({
        ...lineRate({ traversal: traversal.name, parameters }, samples[i]!, samples[0]!),
        verification,
      })),
      searched: found.length,
      failed,
    };
  } finally {
    for (const { field } of found) field[Symbol.dispose]();
    reference.dispose();
  }
}

type Candidate = Pick<Contender, "traversal" | "parameters">;

/** Feasible configurations, the most promising first. */
function* candidatesOf(
  traversals: readonly Traversal[],
  problem: Problem,
  limits: DeviceLimits,
): Generator<Candidate> {
  const all = traversals.filter((traversal) => refusalOf(traversal, problem) === undefined).flatMap((
    traversal,
  ) =>
    [...combine(traversal.parameterLists(problem, limits))].map((parameters) => ({ traversal, parameters }))
  );
  const place = ({ parameters: { points = 0, threads = 0 } }: Candidate): number => {
    const preferred = FIRST_POINTS.indexOf(Number(points));
    return (preferred < 0 ? FIRST_POINTS.length : preferred) + Math.abs(Math.log2(Number(threads) / 64));
  };
  for (const one of all.sort((a, b) => place(a) - place(b))) {
    if (one.traversal.infeasible(problem, one.parameters, limits) === undefined) yield one;
  }
}

/** Compiles, warms up and times one batch. */
async function probe(gpu: GpuDevice, problem: Problem, candidate: Candidate): Promise<Contender> {
  const { traversal, parameters } = candidate;
  const field = await GpuField.create(gpu, problem, traversal.plan(problem, parameters));
  try {
    await field.initialise({ kind: "noise", seed: 1 });
    const steps = traversal === classic ? Math.min(PROBED_STEPS, problem.steps) : problem.steps;
    const probedNs = await timeStep(gpu, field, steps, await field.run(steps) / steps);
    return { ...candidate, field, probedNs };
  } catch (error) {
    field[Symbol.dispose]();
    throw error;
  }
}

/** Nanoseconds of a step in a batch of runs, at the device's full clock; `aboutNs`: what is known of it. */
async function timeStep(gpu: GpuDevice, field: GpuField, steps: number, aboutNs: number): Promise<number> {
  const gauge = await ClockGauge.of(gpu), now = () => performance.now() * 1e6;
  const begin = (runs: number) => field.begin(steps, runs);
  const ungauged = async (runs: number) => {
    const timeNs = await (await begin(runs)).finish();
    return { finish: () => Promise.resolve({ timeNs, clock: 1 }) };
  };
  const sampler = steadySampler((runs) => gauge ? gauged(gauge, () => begin(runs)) : ungauged(runs), {
    firstNs: aboutNs * steps,
    minBatchNs: gauge ? STEADY_BATCH_NS : DEVICE_BATCH_NS,
    isKeptBusy: gauge !== undefined,
    now,
  });
  try {
    return await sampler.sample(false) / steps;
  } finally {
    await sampler.end();
  }
}

/** The best of each traversal, classic first, then the runners-up. */
function finalistsOf(found: readonly Contender[]): Contender[] {
  const ordered = [...found].sort((a, b) => a.probedNs - b.probedNs);
  const best = [classic, sweptRegister, swept].map((traversal) =>
    ordered.find((one) => one.traversal === traversal)
  ).filter((one) => one !== undefined);
  const others = ordered.filter((one) => !best.includes(one) && one.traversal !== classic);
  return [...best, ...others.slice(0, RUNNERS_UP)];
}

/** Dispatches that do nothing, on the arrays of a field, with the same fences between them. */
function emptyPlan(problem: Problem): GpuPlan {
  return {
    label: "empty",
    storage: classic.plan(problem, { threads: 64, points: 1 }).storage,
    shaders: [shaderOf("empty", "@compute @workgroup_size(32) fn main() {}", {})],
    dispatches: (steps) =>
      Array.from({ length: steps }, (_, step) => ({
        shader: 0,
        workgroups: [1, 1, 1],
        flipped: step % 2 === 1,
        uniforms: [],
      })),
  };
}
