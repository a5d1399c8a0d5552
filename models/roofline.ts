/**
 * Estimates a configuration's rate before anything is compiled, so that promising configurations are tried first.
 *
 * The roof is what memory bandwidth allows for the traversal's traffic (Williams, Waterman, Patterson,
 * "Roofline", CACM 2009, 52(4); Levchenko et al., Computation 2016, 4(3), 29, §5). What keeps a kernel below
 * it is added as **equivalent bytes**: bytes of device memory that take as long to move. So every constant below
 * is a ratio and holds for devices of other speeds. The constants fit rates measured on an NVIDIA H100
 * (2,995 GB/s, Deno 2.9.6, Vulkan, 2026-11-21). The estimate has to **order** configurations, no more.
 *
 * @module
 */
import type { Demand } from "../kernels/traversals/traversal.ts";

export interface DeviceModel {
  /** Bytes read plus bytes written per second by a plain copy, measured. */
  readonly copyBytesPerSecond: number;
  /** @default {255} 32-bit registers that a thread can have */
  readonly registersPerThreadLimit?: number;
  /** @default {65536} 32-bit registers of a multiprocessor */
  readonly registersPerMultiprocessor?: number;
  /** @default {32} threads that execute together */
  readonly simdWidth?: number;
  /** @default {100} workgroups that fill the device to 1 − 1/e; 100 suits 132 multiprocessors */
  readonly saturationWorkgroups?: number;
  /** @default {21.6 MB} bytes that a cache of the whole device serves: nearly half of an H100's 50 MB */
  readonly cacheBytes?: number;
  /** @default {0.8} bytes of device memory that take as long as one access to workgroup memory */
  readonly bytesPerExchange?: number;
  /** Whether threads step through branches that none of them takes. @default {false} */
  readonly stepsThroughBranches?: boolean;
  /** @default {Infinity} instructions of a kernel's loop that are worth compiling */
  readonly mostLoopInstructions?: number;
  /** @default {Infinity} bytes of workgroup memory that are worth compiling: a driver may clear them one by one */
  readonly mostWorkgroupBytes?: number;
}

/**
 * Equivalent bytes of one access to workgroup memory, and of one read that the caches serve. Fitted with what marching
 * and stepwise ask to 941 of their shapes of orders 2 to 8 and heat on 22 grids (H100, 2026-11-22): half of them are off
 * by less than 6%.
 */
const BYTES_PER_EXCHANGE = 0.8, BYTES_PER_READ = 0.26;

/**
 * Equivalent bytes of one spilled register, per update. Measured beyond the roof, over estimated registers: 5 B at
 * 310 (order 2, DTS 8), 9 B at 348 (order 4, DTS 4), 13 B at 420 and 24 B at 488 (2 z a thread).
 */
const BYTES_PER_SPILL = 0.08;

/** One dispatch with its memory barrier; 2.05 µs measured with tiny grids. */
const DISPATCH_NS = 2000;

/** Starting a workgroup. */
const WORKGROUP_NS = 0.03;

/** The estimate leaves out addresses and counters: a thread spills a little before its values fill the registers. */
export const REGISTER_TOLERANCE = 0.93;

/** What runs workgroups independently of each other, in a large GPU. */
const MULTIPROCESSORS = 132;

/** Threads and workgroups that a multiprocessor keeps in flight at most. */
const THREADS_PER_MULTIPROCESSOR = 2048, WORKGROUPS_PER_MULTIPROCESSOR = 32;

/** While one workgroup waits at a barrier, another computes: with r resident, r / (r + this) of the time is used. */
const BARRIER_STALL = 0.1;

/**
 * What a round of a long workgroup takes, in ns on the H100: a barrier, a thread's instruction if nothing else runs, waiting
 * for the device's memory and for its cache; of a multiprocessor, an instruction of a SIMD group, a row that it reads, and
 * a value that it exchanges; and what starting a dispatch takes, and a workgroup, whose memory is set to zero first, for
 * each byte of it. Fitted to 1,254 torres and 1,107 marches of orders 2 to 8 and heat on 34 grids (2026-11-22), but for the
 * cache's latency, which is known: half of them are off by more than 8%, a tenth by more than 23%.
 */
const BARRIER_NS = 10.2, THREAD_NS = 1.08, WAIT_NS = 547, NEAR_WAIT_NS = 160, GROUP_NS = 0.093;
const ROW_NS = 0.722, EXCHANGE_NS = 0.355, ROUNDS_DISPATCH_NS = 1700, CLEARED_BYTE_NS = 0.106;

/** How many times as many bytes the cache of the whole device moves as its memory. */
const NEAR_RATIO = 2.35;

/**
 * By how much a spilled register of 256 threads slows a round (they share the cache that it goes to), and an instruction
 * beyond those that fit the cache; by which part of their number threads slow it that have no cells.
 */
const SPILL_SLOWDOWN = 0.0212, FETCHED = 1984, FETCH_SLOWDOWN = 1.03e-4, IDLE_SLOWDOWN = 0.3;

/** Parts of a multiprocessor, each with its own registers: SIMD groups take turns among them. */
const PARTS = 4;

/** The H100's copy: other devices are taken to be faster or slower in everything. */
const REFERENCE_BYTES_PER_SECOND = 3e12;

/** Bytes of workgroup memory that a multiprocessor shares among its workgroups, of which each takes some more. */
const SHARED_BYTES = 227 * 1024, OWN_BYTES = 1024;

/** The cache of a large GPU, and the time that bytes from it take over that of others (128³: 248 Gcells/s, order 2). */
const CACHE_BYTES = 21.6e6, CACHED = 0.6;

/** Threads as a SIMD machine runs them: a partly filled group takes as long as a full one. */
function groupThreadsOf({ threadsPerWorkgroup }: Demand, { simdWidth = 32 }: DeviceModel): number {
  return Math.ceil(threadsPerWorkgroup / simdWidth) * simdWidth;
}

/** 32-bit registers that a thread can have. */
function registerLimitOf(demand: Demand, device: DeviceModel): number {
  const { registersPerThreadLimit = 255, registersPerMultiprocessor = 65536, simdWidth = 32 } = device;
  // the part that has most groups decides; registers are given out eight at a time
  const threads = Math.ceil(demand.threadsPerWorkgroup / simdWidth / PARTS) * simdWidth * PARTS;
  const shared = Math.floor(registersPerMultiprocessor / threads / 8) * 8;
  return Math.min(registersPerThreadLimit, shared);
}

/** A thread's values over the registers that it can have, by the estimate of the demand; some spill from 0.93 on. */
export function registerPressure(demand: Demand, device: DeviceModel): number {
  return demand.registersPerThread / registerLimitOf(demand, device);
}

/** Values of a thread that find no register. */
function spilledOf(demand: Demand, device: DeviceModel): number {
  return Math.max(0, demand.registersPerThread - REGISTER_TOLERANCE * registerLimitOf(demand, device));
}

/** Workgroups that a multiprocessor runs at the same time. */
function residentOf(demand: Demand, device: DeviceModel): number {
  const { registersPerMultiprocessor = 65536, simdWidth = 32 } = device;
  const threads = groupThreadsOf(demand, device);
  const wanted = demand.registersPerThread / REGISTER_TOLERANCE;
  const registers = Math.ceil(Math.min(wanted, registerLimitOf(demand, device)) / 8) * 8;
  const groups = Math.floor(registersPerMultiprocessor / (registers * simdWidth) / PARTS) * PARTS;
  const most = Math.min(
    groups * simdWidth / threads,
    THREADS_PER_MULTIPROCESSOR / threads,
    SHARED_BYTES / (demand.workgroupBytes + OWN_BYTES),
    WORKGROUPS_PER_MULTIPROCESSOR,
  );
  return Math.max(1, Math.floor(most));
}

/** Cells per second that bandwidth, bytes read plus bytes written, allows for the traversal's traffic. */
export function roofOf(
  { bytesPerUpdate }: Pick<Demand, "bytesPerUpdate">,
  copyBytesPerSecond: number,
): number {
  return copyBytesPerSecond / bytesPerUpdate;
}

/** Estimates a configuration's cells per second from what it asks of the device; `cells` share the fixed costs of a step. */
export function predictRate(
  demand: Demand,
  device: DeviceModel,
  { cells }: { readonly cells: number },
): number {
  if (demand.rounds !== undefined && !device.stepsThroughBranches) {
    return 1 / roundsSeconds(demand, device, cells);
  }
  const {
    copyBytesPerSecond,
    saturationWorkgroups = 100,
    bytesPerExchange = BYTES_PER_EXCHANGE,
  } = device;
  const groupThreads = groupThreadsOf(demand, device), resident = residentOf(demand, device);
  // two time levels that fit the cache stay there
  const fromCache = 8 * cells <= (device.cacheBytes ?? CACHE_BYTES) ? CACHED : 1;
  const bytes = fromCache * demand.bytesPerUpdate + (demand.extraBytesPerUpdate ?? 0) +
    bytesPerExchange * (demand.exchangesPerUpdate ?? 0) +
    BYTES_PER_READ * (demand.cachedReadsPerUpdate ?? 0) +
    BYTES_PER_SPILL * spilledOf(demand, device);
  const rounds = device.stepsThroughBranches ? 1 + (demand.warmUp ?? 0) : 1;
  const equivalentBytes = bytes * rounds;
  const stall = demand.workgroupBytes > 0 ? resident / (resident + BARRIER_STALL) : 1;
  const turns = demand.workgroupsPerDispatch / saturationWorkgroups, filled = -Math.expm1(-turns);
  // of workgroups that take long, the last ones to run leave cores idle: a quarter of a turn on average
  const busy = demand.rounds === undefined ? 1 : turns / (turns + 0.25);
  const utilisation = demand.threadsPerWorkgroup / groupThreads * stall * filled * busy;

  const updateSeconds = equivalentBytes / (copyBytesPerSecond * utilisation);
  const stepOverheadNs = demand.dispatchesPerStep *
    (DISPATCH_NS + demand.workgroupsPerDispatch * WORKGROUP_NS);
  return 1 / (updateSeconds + stepOverheadNs * 1e-9 / cells);
}

/** Adds up times of which the longest hides most of the others. */
function overlapped(one: number, other: number, third: number): number {
  return Math.cbrt(one * one * one + other * other * other + third * third * third);
}

/**
 * Seconds per cell update of workgroups that compute in rounds. A dispatch ends with its last workgroup, so that what
 * counts is how many times the multiprocessors are filled; one that holds several workgroups computes them in turn while
 * others wait for barriers and memory. The device's memory and its cache serve all, most of it meanwhile.
 */
function roundsSeconds(demand: Demand, device: DeviceModel, cells: number): number {
  const { copyBytesPerSecond, simdWidth = 32, cacheBytes = CACHE_BYTES } = device;
  const { instructions, barriers, rows, exchanges, waits, nearWaits } = demand.rounds!;
  const { nearBytes, cells: ofRound, busyThreads, again, dispatches } = demand.rounds!;
  const groups = Math.ceil(demand.threadsPerWorkgroup / simdWidth), resident = residentOf(demand, device);
  const slowdown = (1 + SPILL_SLOWDOWN * spilledOf(demand, device) * groups * simdWidth / 256) *
    (1 + FETCH_SLOWDOWN * Math.max(0, (demand.loopInstructions ?? 0) - FETCHED)) *
    (1 + IDLE_SLOWDOWN * (demand.threadsPerWorkgroup / busyThreads - 1));
  const scale = REFERENCE_BYTES_PER_SECOND / copyBytesPerSecond;
  // levels that the cache holds are read from it, those of up to twice its size in part
  const missed = Math.min(1, Math.max(0, 8 * cells / cacheBytes - 1));
  // what is read again may have left the cache
  const begun = Math.min(MULTIPROCESSORS * resident, demand.workgroupsPerDispatch);
  const lost = again === undefined ? 0 : again.bytesPerUpdate *
    Math.max(0, 1 - cacheBytes / (again.workgroupBytes * Math.max(again.workgroups, begun)));
  const bytes = missed * (demand.bytesPerUpdate + lost);
  const latencyNs = slowdown * (BARRIER_NS * barriers + THREAD_NS * instructions) +
    WAIT_NS * waits * missed + NEAR_WAIT_NS * nearWaits;
  const movingNs = slowdown * groups * (ROW_NS * rows + EXCHANGE_NS * exchanges);
  // each part of a multiprocessor computes its own SIMD groups
  const turnNs = (workgroups: number): number =>
    latencyNs + movingNs * workgroups +
    slowdown * PARTS * Math.ceil(groups * workgroups / PARTS) * GROUP_NS * instructions;
  const memoryNs = ofRound * bytes / REFERENCE_BYTES_PER_SECOND * 1e9;
  const nearNs = ofRound * nearBytes / (NEAR_RATIO * REFERENCE_BYTES_PER_SECOND) * 1e9;
  const sumNs = dispatches.reduce((sum, { count, workgroups, rounds }) => {
    const each = workgroups / MULTIPROCESSORS, full = Math.floor(each / resident);
    const last = Math.ceil(each - full * resident);
    const computing = full * turnNs(resident) + (last > 0 ? turnNs(last) : 0);
    const starting = ROUNDS_DISPATCH_NS +
      Math.ceil(each / resident) * CLEARED_BYTE_NS * demand.workgroupBytes;
    const roundNs = overlapped(computing, workgroups * memoryNs, workgroups * nearNs);
    return sum + count * (rounds * roundNs + starting);
  }, 0);
  return scale * sumNs * 1e-9 / cells;
}
