import type { GpuDevice } from "./gpu_device.ts";

/** Arrays of even and odd levels. */
export type LevelArrays = readonly [even: GPUBuffer, odd: GPUBuffer];

/** Where a field's arrays come from: taken anew for each field, kept from one to the next, or someone else's. */
export interface FieldMemory {
  /**
   * Arrays of at least so many bytes each, with anything in them; GPU debuggers show the label.
   *
   * @throws {RunFailure} "out-of-memory" or "device-lost"
   */
  take(bytes: number, label: string): Promise<LevelArrays>;
  /** The field is gone. */
  giveBack(arrays: LevelArrays): void;
}

/** Memory of a field's own, free when the field is gone. */
export function ownMemory(gpu: GpuDevice): FieldMemory {
  return { take: (bytes, label) => makeArrays(gpu, bytes, label), giveBack: destroy };
}

/** Someone else's arrays, who has made them large enough; they are not destroyed. */
export function borrowedMemory(arrays: LevelArrays): FieldMemory {
  return { take: () => Promise.resolve(arrays), giveBack: () => {} };
}

/**
 * Memory for one field after another. To take the memory of a large field and to free it takes as long as four of its
 * runs: 0.1 s each on an H100, with 3.2 GB, of a turn of 0.5 s (2026-11-21). A second field at the same time gets
 * memory of its own.
 */
export class KeptMemory implements FieldMemory, Disposable {
  readonly #gpu: GpuDevice;
  #kept: LevelArrays | [] = [];
  #isDisposed = false;

  /** @param gpu the device; one that is lost takes its memory with it */
  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
  }

  async take(bytes: number, label: string): Promise<LevelArrays> {
    const kept = this.#kept;
    this.#kept = [];
    if (kept.length > 0 && kept.every(({ size }) => size >= bytes)) return kept as LevelArrays;
    destroy(kept);
    return await makeArrays(this.#gpu, bytes, label);
  }

  giveBack(arrays: LevelArrays): void {
    if (this.#isDisposed) return destroy(arrays);
    destroy(this.#kept);
    this.#kept = arrays;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    destroy(this.#kept);
    this.#kept = [];
  }
}

async function makeArrays(gpu: GpuDevice, bytes: number, label: string): Promise<LevelArrays> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const even = await gpu.buffer(bytes, usage, `${label}: even levels`);
  const odd = await gpu.buffer(bytes, usage, `${label}: odd levels`).catch((error) => {
    even.destroy();
    throw error;
  });
  return [even, odd];
}

function destroy(arrays: readonly GPUBuffer[]): void {
  for (const array of arrays) array.destroy();
}
