import { type Crossing, crossingsOf, scratchNamed } from "../../../kernels/traversals/storage.ts";
import { buffersIn } from "../../../kernels/wgsl/shader.ts";
import type { ArrayRange } from "./field_memory.ts";
import type { PlanOnGpu } from "./plan_on_gpu.ts";

/**
 * The canonical copies of levels that a plan keeps in an order of its own. They are made anew when they are asked for and
 * the levels have advanced since; who writes into them lets the values enter. `now`: which level F(t) is, 0 or 1.
 */
export class OwnOrder {
  #isCurrent = false;

  /** @param levels in the plan's own order, by parts, and their canonical copies, by sections: even and odd ones */
  constructor(
    private readonly on: PlanOnGpu,
    private readonly levels: readonly (readonly ArrayRange[])[],
    private readonly canonical: readonly (readonly ArrayRange[])[],
  ) {}

  /** The copies, as the levels are once all that was submitted is done: it does not wait; `now` is undefined to set all of them. */
  copies(now?: number): readonly (readonly ArrayRange[])[] {
    // where it cannot be submitted, nothing can be that follows
    if (now !== undefined && !this.#isCurrent) {
      this.on.gpu.enqueue((encoder) => this.leave(encoder, now)).catch(() => {});
    }
    return this.canonical;
  }

  /** The parts of a level as they lie, each with the values that it has, how a shader finds them and what it binds for that. */
  parts(level: number) {
    const { levels, on: { scratch, plan: { storage } } } = this,
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

  #cross(encoder: GPUCommandEncoder, now: number, wanted: Crossing["direction"]): void {
    const { levels, canonical, on: { plan, uniforms, given: { pipelines } } } = this;
    if (wanted === "enter") {
      for (const { buffer, offset, size } of levels.flat()) encoder.clearBuffer(buffer, offset, size);
    }
    for (
      const [i, { direction, ago, part = 0, section = 0, workgroups }] of crossingsOf(plan.storage).entries()
    ) {
      if (direction !== wanted) continue;
      const nth = plan.shaders.length + i;
      for (const level of ago === undefined ? [0, 1] : [(now + ago) % 2]) {
        const buffers = [levels[part]![level]!, canonical[section]![level]!, ...this.on.bound(nth)];
        uniforms.dispatch(encoder, pipelines[nth]!, { on: [buffers], workgroups });
      }
    }
  }
}
