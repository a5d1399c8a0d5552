import type { Dispatch } from "../../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { RunFailure } from "../run_failure.ts";

/** Bytes between two dispatches' uniforms: WebGPU's default minUniformBufferOffsetAlignment. */
export const UNIFORM_STRIDE = 256;

/** Largest buffer, in bytes. */
const MOST_BYTES = 2 ** 26;

/** The numbers that a field's dispatches are given: one buffer, in which each dispatch has its offset. */
export class Uniforms {
  readonly #gpu: GpuDevice;
  #buffer: GPUBuffer;

  private constructor(gpu: GpuDevice, buffer: GPUBuffer) {
    this.#gpu = gpu;
    this.#buffer = buffer;
  }

  /** Takes memory for those of one dispatch. */
  static async create(gpu: GpuDevice): Promise<Uniforms> {
    return new Uniforms(gpu, await takeMemory(gpu, UNIFORM_STRIDE));
  }

  /** Storage buffers at their bindings, and the uniforms at binding 2. */
  bind(
    layout: GPUBindGroupLayout,
    storage: readonly (readonly [binding: number, buffer: GPUBuffer])[],
  ): GPUBindGroup {
    return this.#gpu.device.createBindGroup({
      layout,
      entries: [
        ...storage.map(([binding, buffer]) => ({ binding, resource: { buffer } })),
        { binding: 2, resource: { buffer: this.#buffer, offset: 0, size: UNIFORM_STRIDE } },
      ],
    });
  }

  /** Writes lists of whole numbers, one stride after another. */
  write(values: readonly (readonly number[])[]): void {
    const words = new Int32Array(values.length * UNIFORM_STRIDE / 4);
    values.forEach((list, i) => words.set(list.map((value) => value | 0), i * UNIFORM_STRIDE / 4));
    this.#gpu.write(this.#buffer, 0, words);
  }

  /** Writes the dispatches' distinct uniforms; returns each dispatch's byte offset. */
  async place(dispatches: readonly Dispatch[]): Promise<number[]> {
    const distinct = new Map<string, number>();
    const values: (readonly number[])[] = [];
    const offsets = dispatches.map(({ uniforms }) => {
      const key = uniforms.join();
      let offset = distinct.get(key);
      if (offset === undefined) {
        offset = values.length * UNIFORM_STRIDE;
        distinct.set(key, offset);
        values.push(uniforms);
      }
      return offset;
    });
    const bytes = Math.max(1, values.length) * UNIFORM_STRIDE;
    if (bytes > MOST_BYTES) {
      throw new RunFailure("limits", `${values.length} different dispatches in one run`);
    }
    if (bytes > this.#buffer.size) {
      this.#buffer.destroy();
      this.#buffer = await takeMemory(this.#gpu, bytes);
    }
    this.write(values.length === 0 ? [[]] : values);
    return offsets;
  }

  /** Gives the memory back. */
  destroy(): void {
    this.#buffer.destroy();
  }
}

function takeMemory(gpu: GpuDevice, bytes: number): Promise<GPUBuffer> {
  return gpu.buffer(bytes, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST, "uniforms");
}
