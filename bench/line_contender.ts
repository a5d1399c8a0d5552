/**
 * What meets on the GPU in a comparison of lines: configurations, and dispatches that do nothing.
 *
 * @module
 */
import type { Problem } from "../kernels/stencils/stencil.ts";
import { classic } from "../kernels/traversals/classic.ts";
import type { GpuPlan, Parameters, Traversal } from "../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../tuner/devices/gpu/gpu_field.ts";
import type { makeReference } from "../tuner/devices/reference.ts";
import { type LineRate, lineRate } from "./line_rate.ts";
import { DEVICE_BATCH_NS } from "../tuner/devices/gpu/gpu_clock.ts";
import { repetitionsFor } from "../tuner/measuring/sampling.ts";

/** Steps of classic in the search. */
const PROBED_STEPS = 2048;

/** One configuration that is measured. */
export class Contender {
  readonly traversal: Traversal;
  readonly parameters: Parameters;
  readonly label: string;
  /** Nanoseconds a step in the search. */
  probedNs = Infinity;
  readonly #gpu: GpuDevice;
  readonly #problem: Problem;
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
    this.parameters = parameters;
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
    const { traversal: { name: traversal }, parameters } = this;
    return lineRate({ traversal, parameters, samples: this.#samples }, base.#samples);
  }

  dispose(): void {
    this.#field?.[Symbol.dispose]();
    this.#field = undefined;
  }

  async #open(): Promise<GpuField> {
    const plan = this.traversal.plan(this.#problem, this.parameters);
    return this.#field ??= await GpuField.create(this.#gpu, this.#problem, plan);
  }
}

/** Dispatches that do nothing, on the arrays of a field, so that the same fences lie between them. */
export class EmptyDispatches {
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
