/**
 * The swept rule against classic on lines of one length: the best configuration of each traversal from a short
 * search, then all of them in turns, so that whatever else the machine does meets each alike. Every finalist is
 * verified against the reference. The launch of an empty dispatch is timed beside them: it is what classic pays a
 * sub-step.
 *
 * @module
 */
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { classic } from "../../kernels/traversals/classic.ts";
import { swept } from "../../kernels/traversals/swept.ts";
import { sweptRegister } from "../../kernels/traversals/swept_register.ts";
import type { GpuPlan, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../backends/gpu_device.ts";
import { GpuField } from "../backends/gpu_field.ts";
import { makeReference, verificationOf } from "../backends/reference.ts";
import { hashBits } from "../../kernels/c/write_c.ts";
import { layOut } from "../../kernels/layout.ts";
import { planesOf, reachOf } from "../../kernels/update.ts";
import type { CpuField, CpuPool } from "../backends/wasm_workers.ts";
import type { Verification } from "../configuration.ts";
import { cpuConfigurations } from "../cpu_configurations.ts";
import { isFailure, refute } from "../evaluate.ts";
import { combine } from "../search/space.ts";
import { DEVICE_BATCH_NS, repetitionsFor } from "./sampling.ts";
import { median, summarize } from "./statistics.ts";

/** How fast one configuration is. */
export interface LineRate {
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Nanoseconds a time step: the median of the samples, and its 95% interval. */
  readonly stepNs: number;
  readonly confidence95: readonly [low: number, high: number];
  readonly samples: number;
  /** Median over the turns of classic's time by this one's. */
  readonly overClassic: number;
}

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
}

/** Rows that a result is verified after: more than the cycle of the largest node, where errors have not grown yet. */
const VERIFIED_ROWS = 4600;

/** Parts of the time for the search, the rest is for the turns. */
const SEARCH_PART = 0.6;

/** Steps of classic in the search. */
const PROBED_STEPS = 2048;

/** Turns at least: order statistics give an interval from six samples on. */
const MIN_TURNS = 7, MAX_TURNS = 25;

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
  { stencil, points, timeNs, steps, now }: SweptComparisonOptions,
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
      for (const { traversal, parameters } of candidatesOf(traversals, problem, gpu)) {
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
  { limits }: GpuDevice,
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

/** One configuration that is measured. */
class Contender {
  readonly traversal: Traversal;
  readonly label: string;
  /** Nanoseconds a step in the search. */
  probedNs = Infinity;
  readonly #gpu: GpuDevice;
  readonly #problem: Problem;
  readonly #parameters: Parameters;
  readonly #samples: number[] = [];
  #field: GpuField | undefined;

  constructor(
    gpu: GpuDevice,
    problem: Problem,
    { traversal, parameters }: { traversal: Traversal; parameters: Parameters },
  ) {
    this.traversal = traversal;
    this.label = `${traversal.name} ${JSON.stringify(parameters)}`;
    this.#gpu = gpu;
    this.#problem = problem;
    this.#parameters = parameters;
  }

  /** Compiles, warms up and times one batch. */
  async probe(): Promise<void> {
    const field = await this.#open();
    await field.initialise({ kind: "noise", seed: 1 });
    // classic takes a dispatch a sub-step: fewer tell as much, and cost the host less
    const steps = this.traversal === classic
      ? Math.min(PROBED_STEPS, this.#problem.steps)
      : this.#problem.steps;
    await field.run(1); // tells how long a dispatch takes: what follows is one submission each
    this.probedNs = Math.min(await field.run(steps), await field.run(steps)) / steps;
  }

  /** The difference to the reference after its steps. */
  async result(steps: number, reference: Awaited<ReturnType<typeof makeReference>>) {
    const field = await this.#open();
    await field.initialise(reference.start);
    await field.run(steps);
    return await reference.compareGpu(field, { slice: 0, slices: 1, referenceSlice: 0 });
  }

  /** Times one batch of at least {@linkcode DEVICE_BATCH_NS}. */
  async sample(): Promise<void> {
    const { steps } = this.#problem;
    const repetitions = repetitionsFor(this.probedNs * steps, { minBatchNs: DEVICE_BATCH_NS });
    const field = await this.#open();
    this.#samples.push(await field.run(steps, repetitions) / (steps * repetitions));
  }

  rate(base: Contender): LineRate {
    const { median: stepNs, interval95 } = summarize(this.#samples);
    return {
      traversal: this.traversal.name,
      parameters: this.#parameters,
      stepNs,
      confidence95: interval95,
      samples: this.#samples.length,
      overClassic: median(this.#samples.map((sample, i) => base.#samples[i] / sample)),
    };
  }

  dispose(): void {
    this.#field?.[Symbol.dispose]();
    this.#field = undefined;
  }

  async #open(): Promise<GpuField> {
    const plan = this.traversal.plan(this.#problem, this.#parameters);
    return this.#field ??= await GpuField.create(this.#gpu, this.#problem, plan);
  }
}

/** Dispatches that do nothing, on the arrays of a field, so that the same fences lie between them. */
class EmptyDispatches {
  readonly #field: GpuField;
  /** Dispatches of a batch. */
  static readonly #COUNT = 2000;

  private constructor(field: GpuField) {
    this.#field = field;
  }

  static async create(gpu: GpuDevice, problem: Problem): Promise<EmptyDispatches> {
    const plan: GpuPlan = {
      label: "empty",
      layout: classic.plan(problem, { threads: 64, points: 1 }).layout,
      shaders: [{ label: "empty", code: "@compute @workgroup_size(32) fn main() {}" }],
      dispatches: (steps) =>
        Array.from({ length: steps }, (_, step) => ({
          shader: 0,
          workgroups: [1, 1, 1] as const,
          flipped: step % 2 === 1,
          uniforms: [],
        })),
    };
    return new EmptyDispatches(await GpuField.create(gpu, problem, plan));
  }

  /** Nanoseconds a dispatch. */
  async sample(): Promise<number> {
    return await this.#field.run(EmptyDispatches.#COUNT) / EmptyDispatches.#COUNT;
  }

  dispose(): void {
    this.#field[Symbol.dispose]();
  }
}

/** What was found for one length on the CPU's workers. */
export interface CpuSweptComparison {
  readonly stencil: string;
  readonly variant: Readonly<Record<string, number | string>>;
  readonly points: number;
  readonly workers: number;
  /** Classic first. */
  readonly rates: readonly LineRate[];
  /** Whether all gave the same bits. */
  readonly sameBits: boolean;
}

/** Turns before the first sample that counts: V8 replaces its first code within them. */
const WARM_UP_TURNS = 3;

/** Cell updates of one sample. */
const SAMPLE_UPDATES = 6e7;

/**
 * Compares on the CPU's workers.
 *
 * @throws {CpuFailure} if a worker fails, or a line does not fit the memory
 */
export async function compareSweptOnCpu(
  pool: CpuPool,
  { stencil, points, timeNs, now }: Omit<SweptComparisonOptions, "steps">,
): Promise<CpuSweptComparison> {
  const { update } = stencil;
  const [boundary] = stencil.boundaries ?? ["zero"];
  const grid = [1, 1, points] as const;
  const layout = layOut(grid, { pad: [0, 0, reachOf(update).z], planes: planesOf(update) });
  const steps = Math.ceil(SAMPLE_UPDATES / points);
  const contenders: {
    configuration: { traversal: string; parameters: Parameters };
    field: CpuField;
    samples: number[];
  }[] = [];
  try {
    for (const configuration of cpuConfigurations({ stencil, grid, boundary, steps }, pool.workers)) {
      const nodePoints = configuration.traversal === "swept" ? configuration.parameters.points : 0;
      const field = await pool.load({ update, layout, boundary, nodePoints });
      await field.setInitial("noise", { seed: 1 });
      contenders.push({ configuration, field, samples: [] });
    }
    const begun = now();
    for (let turn = 0; turn < WARM_UP_TURNS + MAX_TURNS; turn++) {
      if (turn >= WARM_UP_TURNS + MIN_TURNS && now() - begun > timeNs) break;
      for (const { field, samples } of contenders) {
        const timeNs = await field.run({ steps });
        if (turn >= WARM_UP_TURNS) samples.push(timeNs / steps);
      }
    }
    const hashes = contenders.map(({ field }) => hashBits(field.current, layout));
    const [{ samples: base }] = contenders;
    return {
      stencil: stencil.name,
      variant: stencil.variant,
      points,
      workers: pool.workers,
      rates: contenders.map(({ configuration: { traversal, parameters }, samples }): LineRate => {
        const { median: stepNs, interval95 } = summarize(samples);
        return {
          traversal,
          parameters,
          stepNs,
          confidence95: interval95,
          samples: samples.length,
          overClassic: median(samples.map((sample, i) => base[i] / sample)),
        };
      }),
      sameBits: hashes.every((hash) => hash === hashes[0]),
    };
  } finally {
    for (const { field } of contenders) await field.dispose().catch(() => {});
  }
}
