import type { Bindable } from "./field_memory.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { RunFailure } from "../run_failure.ts";

/** Bytes between two dispatches' uniforms: WebGPU's default minUniformBufferOffsetAlignment. */
export const UNIFORM_STRIDE = 256;

/** First and largest buffer, in bytes. */
const FIRST_BYTES = 64 * UNIFORM_STRIDE, MOST_BYTES = 2 ** 26;

/** Where a dispatch's uniforms lie: its byte offset, as `setBindGroup` takes it. Equal lists have one slot. */
export type Slot = Uint32Array;

const NO_UNIFORMS: Slot = Uint32Array.of(0);

/** The numbers that a field's dispatches are given: one buffer, in which each list has its slot from call to call. */
export class Uniforms {
  #buffer: GPUBuffer;
  #before: GPUBuffer | undefined;
  readonly #slots = new Map<string, Slot>();
  /** The slots of lists that were given before, so that a list is read once. */
  #known = new WeakMap<readonly number[], Slot>();

  private constructor(private readonly gpu: GpuDevice, buffer: GPUBuffer) {
    this.#buffer = buffer;
  }

  /** Takes memory for a few lists. */
  static async create(gpu: GpuDevice): Promise<Uniforms> {
    return new Uniforms(gpu, await takeMemory(gpu, FIRST_BYTES));
  }

  /** The buffer that the slots given last lie in: another one where it had become too small. */
  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  /** Storage buffers at a pipeline's bindings, in their order, and the uniforms at binding 2. */
  bind(
    { bindings, storage }: { readonly bindings: GPUBindGroupLayout; readonly storage: readonly number[] },
    buffers: readonly Bindable[],
  ): GPUBindGroup {
    return this.gpu.device.createBindGroup({
      layout: bindings,
      entries: [
        ...storage.map((binding, i) => {
          const buffer = buffers[i]!;
          return { binding, resource: "buffer" in buffer ? buffer : { buffer } };
        }),
        { binding: 2, resource: { buffer: this.#buffer, offset: 0, size: UNIFORM_STRIDE } },
      ],
    });
  }

  /** Records a pass that runs a pipeline on each of these lists of storage buffers, `times` times, with the same uniforms. */
  dispatch(
    encoder: GPUCommandEncoder,
    compiled: Parameters<Uniforms["bind"]>[0] & { readonly pipeline: GPUComputePipeline },
    { on, workgroups, slot = NO_UNIFORMS, times = 1, pass: descriptor }: {
      readonly on: readonly (readonly Bindable[])[];
      readonly workgroups: readonly [number, number, number];
      /** @default {any: the shader has none} */
      readonly slot?: Slot | undefined;
      /** @default {1} */
      readonly times?: number;
      readonly pass?: GPUComputePassDescriptor;
    },
  ): void {
    const pass = encoder.beginComputePass(descriptor);
    pass.setPipeline(compiled.pipeline);
    for (const buffers of on) {
      pass.setBindGroup(0, this.bind(compiled, buffers), slot, 0, 1);
      for (let i = 0; i < times; i++) pass.dispatchWorkgroups(...workgroups);
    }
    pass.end();
  }

  /** Writes those lists of whole numbers that are new, before whatever is submitted later; returns the slot of each. */
  async place(lists: readonly (readonly number[])[]): Promise<Slot[]> {
    const added = new Map<string, readonly number[]>();
    for (const list of lists) {
      if (this.#known.has(list)) continue;
      const key = list.join(), slot = this.#slots.get(key);
      if (slot === undefined) added.set(key, list);
      else this.#known.set(list, slot);
    }
    const first = this.#slots.size * UNIFORM_STRIDE, bytes = added.size * UNIFORM_STRIDE;
    if (first + bytes > this.#buffer.size) {
      await this.#clear(first + bytes);
      return await this.place(lists);
    }
    const words = new Int32Array(bytes / 4);
    let at = 0;
    for (const [key, list] of added) {
      words.set(list.map((value) => value | 0), at / 4);
      this.#slots.set(key, Uint32Array.of(first + at));
      at += UNIFORM_STRIDE;
    }
    if (bytes > 0) this.gpu.write(this.#buffer, first, words);
    return lists.map((list) => this.#known.get(list) ?? this.#slots.get(list.join())!);
  }

  destroy(): void {
    this.#buffer.destroy();
    this.#before?.destroy();
  }

  /** Begins anew, with room for `bytes` and as many again. What was recorded with the buffer before stays valid. */
  async #clear(bytes: number): Promise<void> {
    if (this.#slots.size === 0 && bytes > MOST_BYTES) {
      throw new RunFailure("limits", `${bytes / UNIFORM_STRIDE} different dispatches in one run`);
    }
    const buffer = await takeMemory(this.gpu, Math.min(2 * bytes, MOST_BYTES));
    this.#before?.destroy();
    this.#before = this.#buffer;
    this.#buffer = buffer;
    this.#slots.clear();
    this.#known = new WeakMap();
  }
}

function takeMemory(gpu: GpuDevice, bytes: number): Promise<GPUBuffer> {
  return gpu.buffer(bytes, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST, "uniforms");
}
