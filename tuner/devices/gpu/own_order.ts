import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { scratchNamed, shadersOf } from "../../../kernels/traversals/storage.ts";
import { buffersIn } from "../../../kernels/wgsl/shader.ts";
import { type ArrayRange, boundScratch } from "./field_memory.ts";
import type { GpuDevice } from "./gpu_device.ts";
import type { Pipeline } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";

interface OrderResources {
  readonly gpu: GpuDevice;
  readonly plan: GpuPlan;
  /** The levels in the plan's own order, by parts, and their canonical copies, by sections: even and odd ones. */
  readonly levels: readonly (readonly ArrayRange[])[];
  readonly copies: readonly (readonly ArrayRange[])[];
  readonly scratch: readonly GPUBuffer[];
  readonly uniforms: Uniforms;
  /** Pipelines of the shaders that enter and leave: of F(t), and of F(t − 1) if that lies in another order. */
  readonly pipelines: readonly Pipeline[];
}

/**
 * The canonical copies of levels that a plan keeps in an order of its own. They are made anew when they are asked for and
 * the levels have advanced since; who writes into them lets the values enter. `now`: which level F(t) is, 0 or 1.
 */
export class OwnOrder {
  #isCurrent = false;

  constructor(private readonly resources: OrderResources) {}

  /** The copies, as the levels are once all that was submitted is done: it does not wait; `now` is undefined to set all of them. */
  copies(now?: number): readonly (readonly ArrayRange[])[] {
    const { gpu, copies } = this.resources;
    // where it cannot be submitted, nothing can be that follows
    if (now !== undefined && !this.#isCurrent) {
      gpu.enqueue((encoder) => this.leave(encoder, now)).catch(() => {});
    }
    return copies;
  }

  /** The parts of a level as they lie, each with the values that it has, how a shader finds them and what it binds for that. */
  parts(level: number) {
    const { levels, scratch, plan: { storage } } = this.resources,
      { values, length, parts = [length] } = storage.order!;
    const buffers = buffersIn(values.declarations).map((name) => scratch[scratchNamed(storage, name)]!);
    return parts.map((own, i) => {
      const begin = i * parts[0]!;
      return { array: levels[i]![level]!, begin, end: begin + own, values, buffers };
    });
  }

  /** The levels have changed. */
  advance(): void {
    this.#isCurrent = false;
  }

  /** Records what sets the levels from their copies. */
  enter(encoder: GPUCommandEncoder, now: number): void {
    this.#cross(encoder, now, "enter");
    this.#isCurrent = true;
  }

  /** Records what sets the copies from the levels. */
  leave(encoder: GPUCommandEncoder, now: number): void {
    this.#cross(encoder, now, "leave");
    this.#isCurrent = true;
  }

  #cross(encoder: GPUCommandEncoder, now: number, direction: "enter" | "leave"): void {
    const { plan, levels, copies, uniforms, pipelines, scratch: all } = this.resources;
    const order = plan.storage.order!, scratch = boundScratch(plan, all);
    const shaders = shadersOf(plan).slice(plan.shaders.length);
    for (const level of [0, 1] as const) {
      const crossings = (level === now ? order : order.before ?? order)[direction];
      for (const { part = 0, section = 0, shader, workgroups } of crossings) {
        const nth = shaders.indexOf(shader);
        const on = [[levels[part]![level]!, copies[section]![level]!, ...scratch(plan.shaders.length + nth)]];
        uniforms.dispatch(encoder, pipelines[nth]!, { on, workgroups });
      }
    }
  }
}
