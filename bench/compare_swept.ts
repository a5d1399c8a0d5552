/**
 * The swept rule against classic on lines of one length: the best configuration of each traversal from a short
 * search, then all of them in turns, so that whatever else the machine does meets each alike. Every finalist is
 * verified against the reference. The launch of an empty dispatch is timed beside them: it is what classic pays a
 * sub-step.
 *
 * @module
 */
import type { Problem, Stencil } from "../kernels/stencils/stencil.ts";
import { classic } from "../kernels/traversals/classic.ts";
import { swept } from "../kernels/traversals/swept.ts";
import { sweptRegister } from "../kernels/traversals/swept_register.ts";
import type { DeviceLimits, Parameters, Traversal } from "../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { makeReference, refute, verificationOf } from "../tuner/devices/reference.ts";
import type { Verification } from "../tuner/configuration.ts";
import { combine } from "../kernels/traversals/combine.ts";
import { Contender, EmptyDispatches } from "./line_contender.ts";
import type { LineRate } from "./line_rate.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { isFailure } from "../tuner/devices/run_failure.ts";

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
  readonly timeNs: number;
  /** Time steps of a run. */
  readonly steps: number;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Kernels to try stay within these limits. @default {the device's} */
  readonly limits?: Partial<DeviceLimits> | undefined;
}

/** Rows that a result is verified after: more than the cycle of the largest node, where errors have not grown yet. */
const VERIFIED_ROWS = 4600;

/** Parts of the time for the search, the rest is for the turns. */
const SEARCH_PART = 0.6;

/** Turns at least: order statistics give an interval from six samples on. */
export const MIN_TURNS = 7, MAX_TURNS = 25;

/** Configurations of the best traversal that meet again in the turns. */
const FINALISTS = 3;

/** What each traversal is searched for first, by points a thread; what is missing comes last. */
const FIRST_POINTS = [16, 8, 1, 32, 24, 2, 12, 4];

/**
 * Compares on the GPU.
 *
 * @throws {RunFailure} where not even classic runs
 */
export async function compareSwept(
  gpu: GpuDevice,
  { stencil, points, timeNs, steps, now, limits }: SweptComparisonOptions,
): Promise<SweptComparison> {
  const begun = now();
  const [boundary] = stencil.boundaries ?? ["zero"];
  const problem: Problem = { stencil, grid: [1, 1, points], boundary, steps };
  const verified = {
    ...problem,
    steps: Math.min(steps, Math.ceil(VERIFIED_ROWS / stencil.update.substeps.length)),
  };
  const reference = await makeReference({ gpu, problem: verified });
  const found: Contender[] = [];
  const failed: string[] = [];
  try {
    // classic in full: it is what all others are measured against
    for (const traversals of [[classic], [sweptRegister, swept]]) {
      for (
        const { traversal, parameters } of candidatesOf(traversals, problem, { ...gpu.limits, ...limits })
      ) {
        const isLate = now() - begun > SEARCH_PART * timeNs;
        if (isLate && traversal !== classic && found.some((one) => one.traversal === traversal)) continue;
        const contender = new Contender(gpu, problem, { traversal, parameters });
        try {
          await contender.probe();
          found.push(contender);
        } catch (error) {
          contender.dispose();
          if (!isFailure(error)) throw error;
          failed.push(`${contender.label}: ${error.reason}: ${error.message}`);
        }
      }
    }
    const finalists: Contender[] = [];
    const verifications: Verification[] = [];
    for (const contender of finalistsOf(found)) {
      const verification = verificationOf(await contender.result(verified.steps, reference), reference);
      const failure = refute(verification);
      if (failure !== undefined) {
        failed.push(`${contender.label}: ${failure.reason}: ${failure.message}`);
        continue;
      }
      finalists.push(contender);
      verifications.push(verification);
    }
    const empty = await EmptyDispatches.create(gpu, problem);
    const launches: number[] = [];
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (turn >= MIN_TURNS && now() - begun > timeNs) break;
      for (const contender of finalists) await contender.sample();
      launches.push(await empty.sample());
    }
    empty.dispose();
    const base = finalists[0];
    return {
      stencil: stencil.name,
      variant: stencil.variant,
      points,
      steps,
      launchNs: median(launches),
      rates: finalists.map((one, i) => ({ ...one.rate(base), verification: verifications[i] })),
      searched: found.length,
      failed,
    };
  } finally {
    for (const contender of found) contender.dispose();
    reference.dispose();
  }
}

/** Feasible configurations, the most promising first. */
function* candidatesOf(
  traversals: readonly Traversal[],
  problem: Problem,
  limits: DeviceLimits,
): Generator<{ traversal: Traversal; parameters: Parameters }> {
  const all = traversals.flatMap((traversal) =>
    traversal.refuse(problem) !== undefined
      ? []
      : [...combine(traversal.parameterLists(problem, limits))].map((parameters) => ({
        traversal,
        parameters,
      }))
  );
  const place = ({ points, threads }: Parameters): number => {
    const preferred = FIRST_POINTS.indexOf(points);
    return (preferred < 0 ? FIRST_POINTS.length : preferred) + Math.abs(Math.log2(threads / 64));
  };
  for (const one of all.sort((a, b) => place(a.parameters) - place(b.parameters))) {
    if (one.traversal.infeasible(problem, one.parameters, limits) === undefined) yield one;
  }
}

/** The best of each traversal, classic first, then the next best. */
function finalistsOf(found: readonly Contender[]): Contender[] {
  const ordered = [...found].sort((a, b) => a.probedNs - b.probedNs);
  const best = [classic, sweptRegister, swept].map((traversal) =>
    ordered.find((one) => one.traversal === traversal)
  ).filter((one) => one !== undefined);
  const others = ordered.filter((one) => !best.includes(one) && one.traversal !== classic);
  return [...best, ...others.slice(0, FINALISTS - 1)];
}
