/**
 * Estimates a configuration's rate before anything is compiled, so that promising configurations are tried first.
 *
 * The roof is what memory bandwidth allows for the traversal's traffic (Williams, Waterman, Patterson,
 * "Roofline", CACM 2009, 52(4); Levchenko et al., Computation 2016, 4(3), 29, §5). What keeps a kernel below it is
 * counted by the traversal and priced by the GPU's record (`gpu_record.ts`): workgroups compute in rounds, and a round
 * takes instructions, barriers, rows of values, and waiting. The estimate has to **order** configurations, no more.
 *
 * @module
 */
import type { Demand } from "../kernels/traversals/traversal.ts";
import { type GpuRecord, H100 } from "./gpu_record.ts";

/** A device: its own bandwidth, and the record of the GPU that it is most like. */
export interface DeviceModel {
  /** Bytes read plus bytes written per second by a plain copy, measured. */
  readonly copyBytesPerSecond: number;
  /** @default {the H100's} */
  readonly record?: GpuRecord;
}

/** Counts of some kinds of work as one number, each times its price; what has no price of its own counts as it is. */
function priced<Name extends string>(
  counts: Readonly<Partial<Record<Name, number>>>,
  { prices }: GpuRecord,
): number {
  let sum = 0;
  for (const name in counts) sum += (counts[name] ?? 0) * ((prices as Record<string, number>)[name] ?? 1);
  return sum;
}

/** Values that a thread keeps alive at once, in 32-bit registers, estimated. */
export function registersOf({ registers }: Pick<Demand, "registers">, record: GpuRecord = H100): number {
  return priced(registers, record);
}

/** Threads as a SIMD machine runs them: a partly filled group takes as long as a full one. */
function simdGroupsOf({ threadsPerWorkgroup }: Demand, { simdWidth }: GpuRecord): number {
  return Math.ceil(threadsPerWorkgroup / simdWidth);
}

/** 32-bit registers that a thread can have. */
function registerLimitOf(demand: Demand, record: GpuRecord): number {
  const { registersPerThread, registersPerMultiprocessor, simdWidth, parts } = record;
  // the part that has most groups decides; registers are given out eight at a time
  const threads = Math.ceil(simdGroupsOf(demand, record) / parts) * simdWidth * parts;
  return Math.min(registersPerThread, Math.floor(registersPerMultiprocessor / threads / 8) * 8);
}

/** A thread's values over the registers that it can have, by the estimate of the demand; some spill from 0.93 on. */
export function registerPressure(demand: Demand, { record = H100 }: DeviceModel): number {
  return registersOf(demand, record) / registerLimitOf(demand, record);
}

/** Workgroups that a multiprocessor runs at the same time, by the registers that a thread wants and can have. */
function residentOf(demand: Demand, record: GpuRecord, held: number, limit: number): number {
  const { registersPerMultiprocessor, simdWidth, parts, prices } = record;
  const registers = Math.ceil(Math.min(held / prices.registerShare, limit) / 8) * 8;
  const groups = Math.floor(registersPerMultiprocessor / (registers * simdWidth) / parts) * parts;
  const threads = simdGroupsOf(demand, record) * simdWidth;
  const most = Math.min(
    groups * simdWidth / threads,
    record.threadsPerMultiprocessor / threads,
    record.sharedBytes / (demand.workgroupBytes + record.sharedBytesEach),
    record.workgroupsPerMultiprocessor,
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

/** Adds up times of which the longest hides most of the others. */
function overlapped(first: number, second: number, third: number): number {
  return Math.cbrt(first * first * first + second * second * second + third * third * third);
}

/**
 * Estimates a configuration's cells per second from what it asks of the device; `cells` share the fixed costs of a step.
 *
 * A dispatch ends with its last workgroup, so that what counts is how many times the multiprocessors are filled; one that
 * holds several workgroups computes them in turn while others wait for barriers and memory. The device's memory and its
 * cache serve all, most of it meanwhile.
 */
export function predictRate(
  demand: Demand,
  { copyBytesPerSecond, record = H100 }: DeviceModel,
  { cells }: { readonly cells: number },
): number {
  const { prices, multiprocessors, cacheBytes, parts, simdWidth } = record;
  const {
    instructions,
    operations,
    barriers,
    rows,
    exchanges,
    hits = 0,
    waits,
    nearWaits,
    nearBytes,
    again,
    strays = {},
  } = demand.rounds;
  const held = registersOf(demand, record), limit = registerLimitOf(demand, record);
  const groups = simdGroupsOf(demand, record), resident = residentOf(demand, record, held, limit);
  const spilled = Math.max(0, held - prices.registerShare * limit);
  const slowdown = (1 + prices.spillSlowdown * spilled * groups * simdWidth / 256) *
    (1 + prices.fetchSlowdown * Math.max(0, (demand.loopInstructions ?? 0) - prices.fetched)) *
    (1 + prices.idleSlowdown * (demand.threadsPerWorkgroup / demand.rounds.busyThreads - 1));
  // rows and exchanges of f64 are twice as long, and so count instructions beside its operations: of 227 recorded on an H200,
  // which computes half as many of these at once, half are off by more than 6%, a tenth by more than 20%
  const { bytesPerValue = 4 } = demand, words = bytesPerValue / 4;
  const issued = words * instructions + (words === 1 ? 0 : prices.doubleTimes - words) * operations;
  // levels that the cache holds are read from it, those of up to twice its size in part
  const missed = Math.min(1, Math.max(0, 2 * bytesPerValue * cells / cacheBytes - 1));
  // what is read again may have left the cache
  const begun = Math.min(multiprocessors * resident, demand.workgroupsPerDispatch);
  const lost = again === undefined ? 0 : priced(again.bytesPerUpdate, record) *
    Math.max(0, 1 - cacheBytes / (again.workgroupBytes * Math.max(again.workgroups, begun)));
  const bytes = missed * (demand.bytesPerUpdate + lost) + words * priced(strays, record);
  const latencyNs = slowdown * (prices.barrierNs * barriers + prices.threadNs * instructions) +
    priced(waits, record) * missed + prices.nearWaitNs * nearWaits;
  const movingNs = slowdown * groups * words *
    (prices.rowNs * rows + prices.exchangeNs * exchanges + prices.hitNs * hits);
  // each part of a multiprocessor computes its own SIMD groups
  const turnNs = (workgroups: number): number =>
    latencyNs + movingNs * workgroups +
    slowdown * parts * Math.ceil(groups * workgroups / parts) * prices.groupNs * issued;
  const memoryNs = 1e9 * bytes / record.copyBytesPerSecond;
  const nearNs = 1e9 * nearBytes / (prices.nearRatio * record.copyBytesPerSecond);
  const stepNs = demand.rounds.dispatches.reduce((sum, { count, workgroups, rounds, fills = 0 }) => {
    const each = workgroups / multiprocessors, full = Math.floor(each / resident);
    const last = Math.ceil(each - full * resident);
    const computing = full * turnNs(resident) + (last > 0 ? turnNs(last) : 0);
    const starting = prices.dispatchNs + prices.workgroupNs * workgroups +
      Math.ceil(each / resident) * prices.clearedByteNs * demand.workgroupBytes;
    const updated = demand.rounds.cells * workgroups * rounds;
    const computingNs = (rounds + prices.fillRound * fills) * computing;
    return sum + count * (overlapped(computingNs, updated * memoryNs, updated * nearNs) + starting);
  }, 0);
  // a device without a record of its own is as much slower in everything as its copy is
  return cells * copyBytesPerSecond / record.copyBytesPerSecond / stepNs * 1e9;
}
