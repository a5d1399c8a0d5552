import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
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
  /** Of the shaders that enter and leave, of F(t) and of F(t − 1) if that lies otherwise. */
  readonly pipelines: readonly Pipeline[];
}

/**
 * The canonical copies of levels that a plan keeps in an order of its own. They are made anew when they are asked for and
 * the levels have advanced since; who writes into them lets the values enter. `now`: which level F(t) is, 0 or 1.
 */
export class OwnOrder {
  readonly #resources: OrderResources;
  #isCurrent = false;

  constructor(resources: OrderResources) {
    this.#resources = resources;
  }

  /** The copies, as the levels are once all that was submitted is done: it does not wait. */
  copies(now: number): readonly ArrayRange[] {
    const { gpu, copies } = this.#resources;
    // where it cannot be submitted, nothing can be that follows
    if (!this.#isCurrent) gpu.enqueue((encoder) => this.leave(encoder, now)).catch(() => {});
    return copies;
  }

  /** The levels have advanced. */
  advance(): void {
    this.#isCurrent = false;
  }

  /** Records what sets the levels from their copies. */
  enter(encoder: GPUCommandEncoder, now: number): void {
    this.#cross(encoder, now, 0);
  }

  /** Records what sets the copies from the levels. */
  leave(encoder: GPUCommandEncoder, now: number): void {
    this.#cross(encoder, now, 1);
    this.#isCurrent = true;
  }

  #cross(encoder: GPUCommandEncoder, now: number, direction: 0 | 1): void {
    const { plan, levels, copies, uniforms, pipelines, scratch: all } = this.#resources;
    const order = plan.storage.order!;
    for (const [i, level] of levels.entries()) {
      const its = i === now ? order : order.before ?? order;
      const { shader: { scratch = [] }, workgroups } = direction === 0 ? its.enter : its.leave;
      const on = [[level, copies[i]!, ...scratch.map((one) => all[one]!)]];
      uniforms.dispatch(encoder, pipelines[its === order ? direction : 2 + direction]!, { on, workgroups });
    }
  }
}
