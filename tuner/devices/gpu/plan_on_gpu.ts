import type { PartStart } from "../../../kernels/initial_field.ts";
import { precisionOf } from "../../../kernels/precision.ts";
import type { Section } from "../../../kernels/sections.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { scratchNamed, shadersOf } from "../../../kernels/traversals/storage.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { linearWorkgroups } from "../../../kernels/wgsl/declare.ts";
import { HeldProfiles } from "../held_profiles.ts";
import type { WatchedPoints } from "../points.ts";
import { type Bindable, LEVEL_USAGE } from "./field_memory.ts";
import type { GpuDevice, Recorder } from "./gpu_device.ts";
import { Dispatcher } from "./gpu_dispatcher.ts";
import { compileFill, type compilePlan } from "./gpu_pipelines.ts";
import { GpuPoints, NOTHING } from "./gpu_points.ts";
import { Uniforms } from "./gpu_uniforms.ts";

/** What a plan works with that was made before. */
interface Given extends Awaited<ReturnType<typeof compilePlan>> {
  /** Even and odd levels of each section. */
  readonly arrays: readonly (readonly Bindable[])[];
  /** Steps of a list of dispatches at most. */
  readonly mostSteps: number;
}

/** A compiled plan on a device: its scratch buffers and uniforms, the points that it adds to and records, and its profiles. */
export class PlanOnGpu implements Disposable {
  /** The update's axis profiles, carried to the scratch buffer that the plan has for them. */
  readonly profiles: HeldProfiles;
  #dispatcher: Dispatcher;
  #points: GpuPoints | undefined;

  private constructor(
    readonly gpu: GpuDevice,
    readonly problem: Problem,
    readonly plan: GpuPlan,
    readonly given: Given,
    /** In the order of the plan's. */
    readonly scratch: readonly GPUBuffer[],
    readonly uniforms: Uniforms,
  ) {
    this.#dispatcher = this.dispatcherWith();
    const held = scratchNamed(plan.storage, "profiles");
    this.profiles = new HeldProfiles(problem, (packed) => gpu.write(scratch[held]!, 0, packed));
  }

  /** Takes the memory of a plan that is compiled. */
  static async create(gpu: GpuDevice, problem: Problem, plan: GpuPlan, given: Given): Promise<PlanOnGpu> {
    const { label, storage } = plan, { bytes } = precisionOf(storage.layout), scratch: GPUBuffer[] = [];
    try {
      for (const { name, length, holds } of storage.scratch ?? []) {
        const usage = GPUBufferUsage.UNIFORM | LEVEL_USAGE, size = (holds ? 4 : bytes) * length;
        scratch.push(await gpu.buffer(size, usage, `${label}: ${name}`));
        if (holds !== undefined) gpu.write(scratch.at(-1)!, 0, holds);
      }
      return new PlanOnGpu(gpu, problem, plan, given, scratch, await Uniforms.create(gpu));
    } catch (error) {
      for (const buffer of scratch) buffer.destroy();
      throw error;
    }
  }

  /** What runs the plan's dispatches. */
  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  /** The same with other points. */
  dispatcherWith(points?: GpuPoints): Dispatcher {
    const { uniforms, given: { pipelines, arrays } } = this;
    const scratch = (shader: number, isFlipped: boolean) => this.bound(shader, isFlipped, points);
    return new Dispatcher(this.gpu, { pipelines, arrays, uniforms, scratch });
  }

  /** The scratch buffers of one of the plan's shaders; `isFlipped`: where its dispatch swaps levels. */
  bound(shader: number, isFlipped = false, points?: GpuPoints): GPUBuffer[] {
    const { plan, plan: { storage } } = this, all = points?.among(this.scratch, plan) ?? this.scratch;
    return shadersOf(plan)[shader]!.buffers.map((name) => all[scratchNamed(storage, name, isFlipped)]!);
  }

  /** From now on adds to these points and records them, of a problem that has points. */
  async watch(watched: WatchedPoints | undefined): Promise<void> {
    this.#points?.[Symbol.dispose]();
    this.#points = undefined;
    this.#points = watched && await GpuPoints.create(this.gpu, this, watched, this.given.mostSteps);
    this.#dispatcher = this.dispatcherWith(this.#points);
  }

  /** The points of a plan that has any: its shaders read a table also where nothing is added or recorded. */
  async points(): Promise<GpuPoints | undefined> {
    if (this.#points === undefined && this.plan.points !== undefined) await this.watch(NOTHING);
    return this.#points;
  }

  /** What sets a section of these levels, pads too, to what a field starts from. */
  async filling(
    { kind, seed, first: [x, y, z] = [0, 0, 0], whole = this.problem.grid }: PartStart,
    section: Pick<Section, "layout" | "x">,
    levels: readonly Bindable[],
  ): Promise<Recorder> {
    const { layout } = section, { uniforms } = this;
    const fill = await compileFill(this.gpu, this.problem, layout, kind);
    const [slot] = await uniforms.place([[seed, x + section.x, y, z, ...whole]]);
    const on = levels.map((level) => [level]), workgroups = linearWorkgroups(layout.length);
    return (encoder, timestamps) =>
      uniforms.dispatch(encoder, fill, { on, slot, workgroups, pass: timestamps() });
  }

  [Symbol.dispose](): void {
    this.#points?.[Symbol.dispose]();
    for (const buffer of this.scratch) buffer.destroy();
    this.uniforms.destroy();
  }
}
