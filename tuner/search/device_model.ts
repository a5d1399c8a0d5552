import type { DeviceModel } from "../../models/roofline.ts";
import type { CpuDescription, GpuDescription } from "../devices/device.ts";

/** Lanes of 32 bits that a software driver computes at once (llvmpipe's name says: `LLVM 15.0.6, 256 bits`). */
const SOFTWARE_LANES = 8;

/**
 * A barrier leaves every thread of a workgroup and comes back, and each access goes lane by lane: marching order 4 with
 * tiles takes 2 to 3 ns more an access, 10 to 18 bytes of a copy (llvmpipe on 2 cores, 6.1 GB/s, 2026-11-21).
 */
const SOFTWARE_BYTES_PER_EXCHANGE = 16;

/** A thread's values that find no register lie in the core's own cache: no number of them is too many. */
const UNLIMITED = 1e6;

/**
 * Instructions of a kernel's loop that a software driver is given at most. Of the 1,192 torres of `fixtures/llvmpipe`
 * (orders 2 and 4, heat), those with fewer than 800 were all evaluated within two seconds, most in 0.2; the fastest has
 * 1,176, and one with 272 is 9% slower. But on a CPU without AVX-512, LLVM 15 passes every value through the stack, and
 * compiles for 3 to 5 ms an instruction (two cores, 2026-11-22).
 */
const SOFTWARE_LOOP_INSTRUCTIONS = 400;

/**
 * Bytes of workgroup memory that a software driver is given at most. It clears them value by value, and compiles in the
 * square of a kernel's accesses and these values: 1.8 s for 517 of both, 5.9 s for 1,109, more than 30 s for 4,577
 * (llvmpipe on 2 cores, torres of order 2, 2026-11-22).
 */
const SOFTWARE_WORKGROUP_BYTES = 2560;

/**
 * What the models should know of a device beside its bandwidth. A driver that computes in software runs workgroups on
 * the CPU's cores, a vector of threads at a time.
 *
 * @param copyBytesPerSecond measured copy bandwidth
 */
export function deviceModelOf(
  { gpu, cpu }: {
    readonly gpu: Pick<GpuDescription, "isFallback"> | null;
    readonly cpu: Pick<CpuDescription, "cores">;
  },
  copyBytesPerSecond: number,
): DeviceModel {
  if (!gpu?.isFallback) return { copyBytesPerSecond };
  return {
    copyBytesPerSecond,
    simdWidth: SOFTWARE_LANES,
    cacheBytes: 0, // the copy is one from cache to cache
    saturationWorkgroups: cpu.cores,
    bytesPerExchange: SOFTWARE_BYTES_PER_EXCHANGE,
    // threads are lanes of a vector, and a branch only switches them off: marching order 4 in pieces of 3 slices, after
    // 4 slices that fill the queues, takes 2.3 times as long as in one piece (same device)
    stepsThroughBranches: true,
    mostLoopInstructions: SOFTWARE_LOOP_INSTRUCTIONS,
    mostWorkgroupBytes: SOFTWARE_WORKGROUP_BYTES,
    registersPerThreadLimit: UNLIMITED,
    registersPerMultiprocessor: UNLIMITED * 1024,
  };
}
