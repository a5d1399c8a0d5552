import type { Layout } from "../../../kernels/layout.ts";
import { type FloatArray, type Precise, precisionOf } from "../../../kernels/precision.ts";
import { GUARD_BYTES } from "../../../kernels/wasm/write_wasm.ts";
import type { ArrayPair } from "./cpu_commands.ts";
import { freeMemory } from "../../platform.ts";
import { RunFailure } from "../run_failure.ts";

/** Bytes of a WebAssembly page, and of the largest 32-bit memory. */
const PAGE = 65536, ADDRESSABLE = 65536 * PAGE;

/**
 * The second array starts this much past a page boundary from the first, so that a cell's places in both differ
 * modulo 4096: order 2 on 128×128×256 lost a tenth where they did not (2026-11-21).
 */
const STAGGER = 2112;

/** The part of the memory that one field takes, in bytes from the beginning. */
export interface Region {
  readonly start: number;
  readonly end: number;
  /** Both levels. */
  readonly arrays: ArrayPair;
  /** Both levels in lanes, where the field has any. */
  readonly laneArrays: ArrayPair;
}

/** The memory that the CPU's workers share: where each field's arrays lie in it, and how far it may grow. */
export class CpuMemory {
  shared: WebAssembly.Memory = new WebAssembly.Memory({
    initial: 1,
    maximum: ADDRESSABLE / PAGE,
    shared: true,
  });
  readonly #mostBytes: number;
  readonly #regions = new Set<Region>();

  /** @param mostBytes that fields may take together; what the machine has free where it is not given */
  constructor(mostBytes: number = freeMemory() ?? ADDRESSABLE) {
    this.#mostBytes = Math.min(mostBytes, ADDRESSABLE);
  }

  /**
   * Finds the lowest gap that holds both levels, and those in lanes; the memory grows only when there is none.
   *
   * @param laneBytes of a level in lanes; 0 where there are none
   * @param behind values that lie behind each level
   * @throws {RunFailure} `limits`: it does not fit
   */
  take(layout: Layout, laneBytes: number, behind = 0): Region {
    const bytes = precisionOf(layout).bytes * (layout.length + behind);
    const pages = (size: number): number => Math.ceil((size + GUARD_BYTES) / 4096) * 4096;
    const second = pages(bytes) + STAGGER, firstLanes = second + pages(bytes);
    const secondLanes = firstLanes + pages(laneBytes) + STAGGER;
    const size = laneBytes === 0 ? second + bytes + GUARD_BYTES : secondLanes + laneBytes;
    let start = 4096;
    for (const region of [...this.#regions].sort((a, b) => a.start - b.start)) {
      if (start + size <= region.start) break;
      start = Math.ceil(region.end / 4096) * 4096;
    }
    const end = start + size;
    const have = this.shared.buffer.byteLength;
    if (end > Math.max(have, this.#mostBytes)) throw tooLarge(size, this.#mostBytes);
    if (end > have) {
      try {
        this.shared.grow(Math.ceil((end - have) / PAGE));
      } catch {
        throw tooLarge(size, have);
      }
    }
    const laneArrays = [start + firstLanes, start + secondLanes] as const;
    const region = { start, end, arrays: [start, start + second], laneArrays } as const;
    this.#regions.add(region);
    return region;
  }

  /** Gives a region back; false where that was done before. */
  free(region: Region): boolean {
    return this.#regions.delete(region);
  }

  /** Gives all regions back, for good: whoever still holds a field of it holds no memory. */
  freeAll(): void {
    this.#regions.clear();
    this.shared = new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true });
  }

  /**
   * `length` values from byte `start` on, as they lie now: stale once the memory grows.
   *
   * @throws {RunFailure} "device-lost" if the memory was given back
   */
  view(start: number, length: number, precise: Precise): FloatArray<SharedArrayBuffer> {
    if (this.shared.buffer.byteLength === 0) throw new RunFailure("device-lost", "The CPU pool was disposed");
    const { Values } = precisionOf(precise);
    return new Values(this.shared.buffer as unknown as SharedArrayBuffer, start, length);
  }
}

function tooLarge(size: number, limit: number): RunFailure {
  const [needed, had] = [size, limit].map((bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`);
  return new RunFailure("limits", `The field needs ${needed} of CPU memory: ${had} can be had`);
}
