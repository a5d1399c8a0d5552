import type { CpuDemand } from "../kernels/cpu/cpu_demand.ts";

export interface CpuModel {
  /** Bytes read plus bytes written per second by a copy of all workers, measured. */
  readonly copyBytesPerSecond: number;
  readonly workers: number;
}

/**
 * A core's instructions a second, its bytes a second from the shared cache, and the bytes that stay in its own cache while
 * others pass through; the bytes that stay in the shared cache, and the memory's bytes a second for all cores; the seconds
 * of a call. To begin with another slice's rows takes half a call.
 */
const INSTRUCTIONS_PER_SECOND = 8e9, CACHE_BYTES_PER_SECOND = 7e10, OWN_CACHE_BYTES = 2 ** 19;
const SHARED_CACHE_BYTES = 2 ** 24, MEMORY_BYTES_PER_SECOND = 2e10;
const CALL_SECONDS = 1e-7;

/** What it takes several workers to wait for each other, and what each of them adds. */
const MEETING_SECONDS = 1e-6, ARRIVAL_SECONDS = 1e-7;

/**
 * What a copy of all workers should reach on data of this size, where it was not measured. Of a field
 * larger than a cache that replaces nearly at random, about the square of its part stays: stepwise is hardly
 * slower on one that is a little larger.
 */
export function usualCpuBandwidth(bytes: number, workers: number): number {
  if (bytes <= workers * OWN_CACHE_BYTES) return Infinity;
  const kept = keptOf(bytes);
  return 1 / (kept / (workers * CACHE_BYTES_PER_SECOND) + (1 - kept) / MEMORY_BYTES_PER_SECOND);
}

/** How much of a field or a wave stays in the shared cache, as a part of its bytes. */
function keptOf(bytes: number): number {
  return Math.min(1, SHARED_CACHE_BYTES / bytes) ** 2;
}

/**
 * Estimates cells per second of a configuration of the CPU before anything is compiled, so that promising ones are tried
 * first; `cells` of the grid share what a step costs once.
 *
 * A core computes and begins calls; meanwhile data move from memory, or from wherever a field of this size lies, at the
 * copy's rate, and into its own caches. The two overlap but for what the third root of their cubes' sum adds: stepwise
 * on a field that fits a cache takes hardly longer than computing it, so that diamonds gain nothing there and lose by
 * their short calls, and where memory takes most of the time it remains the bound. The estimate has to **order**
 * configurations of one machine, no more: the constants are those of a current core.
 */
export function predictCpuRate(
  demand: CpuDemand,
  { copyBytesPerSecond, workers }: CpuModel,
  { cells }: { readonly cells: number },
): number {
  const { bytesPerUpdate, extraBytesPerUpdate, reusedBytes, reusedBytesPerUpdate } = demand;
  const calling = demand.callsPerStep * CALL_SECONDS / cells;
  const computing = demand.instructionsPerUpdate / INSTRUCTIONS_PER_SECOND;
  const reloading = reusedBytes > OWN_CACHE_BYTES ? reusedBytesPerUpdate / CACHE_BYTES_PER_SECOND : 0;
  const share = demand.imbalance / workers;
  const lostBytes = (1 - keptOf(reusedBytes)) * reusedBytesPerUpdate;
  const moving = (bytesPerUpdate + extraBytesPerUpdate + lostBytes) / copyBytesPerSecond + reloading * share;
  const meeting = workers === 1 ? 0 : MEETING_SECONDS + workers * ARRIVAL_SECONDS;
  return 1 /
    (Math.cbrt(((computing + calling) * share) ** 3 + moving ** 3) +
      demand.meetingsPerStep * meeting / cells);
}
