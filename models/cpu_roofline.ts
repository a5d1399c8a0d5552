import type { CpuDemand } from "../kernels/cpu/cpu_demand.ts";

/** What the model needs to know of a CPU. */
export interface CpuModel {
  /** Bytes read plus bytes written per second by a copy of all workers, measured. */
  readonly copyBytesPerSecond: number;
  readonly workers: number;
}

/** Of a core: instructions a second, bytes a second from the cache beyond its own, bytes that stay in its own caches. */
const INSTRUCTIONS_PER_SECOND = 1.4e10, CACHE_BYTES_PER_SECOND = 2.5e10, OWN_CACHE_BYTES = 2 ** 20;

/** All workers wait for each other; one call of a kernel. */
const MEETING_SECONDS = 3e-6, CALL_SECONDS = 1.5e-7;

/**
 * Estimates cells per second of a configuration of the CPU before anything is compiled, so that promising ones are tried
 * first; `cells` of the grid share what a step costs once.
 *
 * A core's time is the sum of what it takes to move data from memory, to move data between its own caches, and to
 * compute: caches and units of a core overlap little for streams (the ECM model: Treibig, Hager, "Introducing a
 * performance model for bandwidth-limited loop kernels", PPAM 2009). The estimate has to **order** configurations of
 * one machine, no more: the constants are those of a current core.
 */
export function predictCpuRate(
  demand: CpuDemand,
  { copyBytesPerSecond, workers }: CpuModel,
  { cells }: { readonly cells: number },
): number {
  const { bytesPerUpdate, extraBytesPerUpdate, reusedBytes, reusedBytesPerUpdate } = demand;
  const computing = demand.instructionsPerUpdate / INSTRUCTIONS_PER_SECOND;
  const reloading = reusedBytes > OWN_CACHE_BYTES ? reusedBytesPerUpdate / CACHE_BYTES_PER_SECOND : 0;
  const calling = demand.callsPerStep * CALL_SECONDS / cells;
  const own = (computing + reloading + calling) * demand.imbalance / workers;
  const memory = (bytesPerUpdate + extraBytesPerUpdate) / copyBytesPerSecond;
  return 1 / (own + memory + demand.meetingsPerStep * MEETING_SECONDS / cells);
}
