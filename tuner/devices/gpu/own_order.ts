import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import type { Crossing } from "../../../kernels/traversals/storage.ts";
import type { ArrayRange } from "./field_memory.ts";
import type { GpuDevice } from "./gpu_device.ts";
import type { Pipeline } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";

interface OrderResources {
  readonly gpu: GpuDevice;
  readonly plan: GpuPlan;
  /** The levels in the plan's own order, and their canonical copies. */
  readonly levels: readonly ArrayRange[];
  readonly copies: readonly ArrayRange[];
  readonly scratch: readonly GPUBuffer[];
  readonly uniforms: Uniforms;
  /** Of the shaders that enter and leave. */
  readonly pipelines: readonly Pipeline[];
}

/**
 * The canonical copies of levels that a plan keeps in an order of its own. They are made anew when they are asked for and
 * the levels have advanced since; who writes into them lets the values enter.
 */
export class OwnOrder {
  readonly #resources: OrderResources;
  #isCurrent = false;

  constructor(resources: OrderResources) {
    this.#resources = resources;
  }

  /** The copies, as the levels are once all that was submitted is done: it does not wait. */
  copies(): readonly ArrayRange[] {
    const { gpu, copies } = this.#resources;
    // where it cannot be submitted, nothing can be that follows
    if (!this.#isCurrent) gpu.enqueue((encoder) => this.leave(encoder)).catch(() => {});
    return copies;
  }

  /** The levels have advanced. */
  advance(): void {
    this.#isCurrent = false;
  }

  /** Records what sets the levels from their copies. */
  enter(encoder: GPUCommandEncoder): void {
    this.#cross(encoder, this.#resources.plan.storage.order!.enter, 0);
  }

  /** Records what sets the copies from the levels. */
  leave(encoder: GPUCommandEncoder): void {
    this.#cross(encoder, this.#resources.plan.storage.order!.leave, 1);
    this.#isCurrent = true;
  }

  #cross(
    encoder: GPUCommandEncoder,
    { shader: { scratch = [] }, workgroups }: Crossing,
    direction: 0 | 1,
  ): void {
    const { levels, copies, uniforms, pipelines } = this.#resources, pipeline = pipelines[direction]!;
    const others = scratch.map((i) => this.#resources.scratch[i]!);
    const on = levels.map((level, i) => [level, copies[i]!, ...others]);
    uniforms.dispatch(encoder, pipeline, { on, workgroups });
  }
}
