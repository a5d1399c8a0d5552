import type { Layout } from "../../../kernels/layout.ts";
import { precisionOf } from "../../../kernels/precision.ts";
import type { Section } from "../../../kernels/sections.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { isFailure } from "../run_failure.ts";
import type { GpuDevice } from "./gpu_device.ts";

/** STORAGE, COPY_SRC and COPY_DST: what levels are used for. Without WebGPU these names do not exist. */
export const LEVEL_USAGE = 0x80 | 0x4 | 0x8;

/** Kept arrays are up to 1 / 2^ROOM_BITS larger than what they are taken for. */
const ROOM_BITS = 5;

/** Arrays of even and odd levels, or of one section of them. */
export type LevelArrays = readonly [even: GPUBuffer, odd: GPUBuffer];

/** Those of all sections. */
export type SectionArrays = readonly LevelArrays[];

/** What shaders bind of a buffer. */
export type ArrayRange = Readonly<Required<GPUBufferBinding>>;

/** A buffer as a whole, or a range of it. */
export type Bindable = GPUBuffer | ArrayRange;

/** Takes the memory of a plan's levels; `arrays`: what shaders bind of it, of each section its even and odd levels. */
export async function takeLevels(
  memory: FieldMemory,
  { label, storage }: Pick<GpuPlan, "label" | "storage">,
) {
  const { layout, order } = storage, { bytes } = precisionOf(layout);
  const sections: readonly Pick<Section, "layout" | "begin">[] = storage.sections ?? [{ layout }];
  const lengths = order === undefined
    ? sections.map(({ layout }) => layout.length)
    : order.parts ?? [order.length];
  const begins = order === undefined ? sections.flatMap(({ begin }) => begin ?? []) : [];
  const areRanges = begins.length > 0;
  const taken = await memory.take(
    (areRanges ? [layout.length] : lengths).map((length) => bytes * length),
    label,
  );
  const arrays = lengths.map((length, i) =>
    taken[areRanges ? 0 : i]!.map((buffer): ArrayRange => {
      return { buffer, offset: bytes * (begins[i] ?? 0), size: bytes * length };
    })
  );
  return { taken, arrays };
}

/** Slices of a level, from slice x of the grid on. */
export interface LevelPart {
  readonly array: ArrayRange;
  readonly layout: Layout;
  readonly x: number;
}

/** Where a field's arrays come from: taken anew for each field, kept from one to the next, or someone else's. */
export interface FieldMemory {
  /**
   * Arrays of at least `bytes` each, a pair for every section, with anything in them; there may be more pairs. GPU
   * debuggers show the label.
   *
   * @throws {RunFailure} "out-of-memory" or "device-lost"
   */
  take(bytes: readonly number[], label: string): Promise<SectionArrays>;
  /** The field is gone. */
  giveBack(arrays: SectionArrays): void;
}

/** Memory of a field's own, free when the field is gone. */
export function ownMemory(gpu: GpuDevice): FieldMemory {
  return { take: (bytes, label) => makeArrays(gpu, bytes, label), giveBack: destroy };
}

/** Someone else's arrays, who has made them large enough for all in one section; they are not destroyed. */
export function borrowedMemory(arrays: LevelArrays): FieldMemory {
  return { take: () => Promise.resolve([arrays]), giveBack: () => {} };
}

/**
 * Memory for one field after another. To take the memory of a large field and to free it takes as long as four of its
 * runs: 0.1 s each on an H100, with 3.2 GB, of a turn of 0.5 s (2026-11-21), and some 3 s with 29 GB, whose runs take one
 * (2026-11-23). So sections that are large enough stay. A second field at the same time gets memory of its own.
 */
export class KeptMemory implements FieldMemory, Disposable {
  #kept: SectionArrays = [];
  #isDisposed = false;

  /** @param gpu the device; one that is lost takes its memory with it */
  constructor(private readonly gpu: GpuDevice) {}

  async take(bytes: readonly number[], label: string): Promise<SectionArrays> {
    const kept = this.#kept;
    this.#kept = [];
    const fits = bytes.map((least, i) => kept[i]?.every(({ size }) => size >= least) ?? false);
    if (fits.every(Boolean)) return kept;
    destroy(kept.filter((_, i) => !fits[i]));
    const rest = kept.filter((_, i) => fits[i]);
    const missing = bytes.filter((_, i) => !fits[i]).map((least) => spacious(least, this.gpu));
    try {
      const made = [...await makeArrays(this.gpu, missing, label)], old = [...rest];
      return fits.map((isOld) => (isOld ? old : made).shift()!);
    } catch (error) {
      destroy(rest);
      if (!isFailure(error) || error.reason !== "out-of-memory") throw error;
      return await makeArrays(this.gpu, bytes, label);
    }
  }

  giveBack(arrays: SectionArrays): void {
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

async function makeArrays(gpu: GpuDevice, bytes: readonly number[], label: string): Promise<SectionArrays> {
  const made: GPUBuffer[] = [];
  const make = async (size: number, levels: string): Promise<GPUBuffer> => {
    made.push(await gpu.buffer(roundedSize(size, gpu), LEVEL_USAGE, `${label}: ${levels} levels`));
    return made.at(-1)!;
  };
  try {
    const arrays: LevelArrays[] = [];
    for (const size of bytes) arrays.push([await make(size, "even"), await make(size, "odd")]);
    return arrays;
  } catch (error) {
    for (const array of made) array.destroy();
    throw error;
  }
}

/**
 * Whole cache lines: the C library of Debian 12 (glibc 2.36) cannot use the memory again that a software driver frees
 * of any other size, and forty fields of 128³, one after another, took 515 MiB.
 */
function roundedSize(
  bytes: number,
  { limits: { maxBufferSize, maxStorageBufferBindingSize } }: GpuDevice,
): number {
  const whole = Math.ceil(bytes / 64) * 64;
  return whole <= Math.min(maxBufferSize, maxStorageBufferBindingSize) ? whole : bytes;
}

/** With room for pads that are a little larger. */
function spacious(bytes: number, { limits: { maxBufferSize } }: GpuDevice): number {
  const unit = 2 ** Math.floor(Math.log2(bytes) - ROOM_BITS);
  return Math.max(bytes, Math.min(Math.ceil(bytes / unit) * unit, maxBufferSize));
}

function destroy(arrays: SectionArrays): void {
  for (const array of arrays.flat()) array.destroy();
}
