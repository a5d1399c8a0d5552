import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import type { Crossing } from "../../../kernels/traversals/storage.ts";
import { RunFailure } from "../run_failure.ts";
import { LEVEL_USAGE, type LevelArrays } from "./field_memory.ts";
import type { GpuDevice } from "./gpu_device.ts";
import type { Pipeline } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";

interface OrderResources {
  /** The levels in the plan's own order. */
  readonly levels: LevelArrays;
  readonly scratch: readonly GPUBuffer[];
  readonly uniforms: Uniforms;
  /** Of the shaders that enter and leave. */
  readonly pipelines: readonly Pipeline[];
}

/**
 * The canonical copies of levels that a plan keeps in an order of its own. They are made when they are first asked for,
 * and again when the levels have advanced since; who writes into them lets the values enter.
 */
export class OwnOrder implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #plan: GpuPlan;
  readonly #resources: OrderResources;
  #copies: LevelArrays | undefined;
  #isCurrent = false;
  #made: Promise<unknown> = Promise.resolve();

  constructor(gpu: GpuDevice, plan: GpuPlan, resources: OrderResources) {
    this.#gpu = gpu;
    this.#plan = plan;
    this.#resources = resources;
  }

  /**
   * The copies, as the levels are once all that was submitted is done. It does not wait: {@linkcode made} does.
   *
   * @throws {RunFailure} "device-lost"
   */
  copies(): LevelArrays {
    const { label, storage: { layout } } = this.#plan, { device } = this.#gpu;
    if (this.#copies === undefined) {
      const size = 4 * layout.length;
      const make = (levels: string): GPUBuffer =>
        device.createBuffer({ size, usage: LEVEL_USAGE, label: `${label}: ${levels} levels, canonical` });
      this.#begin(this.#gpu.checked("out-of-memory", () => {
        this.#copies = [make("even"), make("odd")];
      }));
    }
    if (this.#copies === undefined) throw new RunFailure("device-lost", "the device was lost");
    if (!this.#isCurrent) this.#begin(this.#gpu.enqueue((encoder) => this.leave(encoder)));
    return this.#copies;
  }

  /** Waits until the copies' memory is taken. @throws {RunFailure} where it cannot be */
  async made(): Promise<void> {
    await this.#made;
  }

  /** The levels have advanced. */
  advance(): void {
    this.#isCurrent = false;
  }

  /** Records what sets the levels from their copies. */
  enter(encoder: GPUCommandEncoder): void {
    this.#cross(encoder, this.#plan.storage.order!.enter, 0);
  }

  /** Records what sets the copies from the levels. */
  leave(encoder: GPUCommandEncoder): void {
    this.#cross(encoder, this.#plan.storage.order!.leave, 1);
    this.#isCurrent = true;
  }

  [Symbol.dispose](): void {
    for (const copy of this.#copies ?? []) copy.destroy();
  }

  #begin(work: Promise<unknown>): void {
    this.#made = Promise.all([this.#made, work]);
    this.#made.catch(() => {}); // thrown by `made`
  }

  #cross(
    encoder: GPUCommandEncoder,
    { shader: { scratch = [] }, workgroups }: Crossing,
    direction: 0 | 1,
  ): void {
    const { levels, uniforms, pipelines } = this.#resources, pipeline = pipelines[direction]!;
    const others = scratch.map((i) => this.#resources.scratch[i]!);
    const on = levels.map((level, i) => [level, this.#copies![i]!, ...others]);
    uniforms.dispatch(encoder, pipeline, { on, workgroups });
  }
}
