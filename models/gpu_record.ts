/**
 * What is known of a kind of GPU: its parts, and what each kind of work takes there. Traversals count work (`Demand`), a
 * record prices it (`roofline.ts`). Everything that differs between GPUs is named here, so that another GPU gets a
 * record of its own: its parts from its data sheet, its prices from a recording, with the record's command.
 *
 * A GPU without a record has an H100's prices, scaled by constants that are measured of both; where none were measured, it is
 * taken for an H100 that is slower or faster in everything, by its copy.
 *
 * @module
 */

/** What the work of a kernel takes; `bench/fit_gpu_model.ts` fits all of it to recorded rates. */
export type Price =
  // registers of a value: kept in place by two tiers in the loop's body, or repeated by them; at rest in workgroup memory
  | "swapped"
  | "repeated"
  | "resting"
  // registers that tell the steps of a deep march which values lie in the grid
  | "masks"
  // a part of the registers that is free for values: the rest holds addresses and counters that are not counted
  | "registerShare"
  // slowdown of a round by a spilled register of 256 threads
  | "spillSlowdown"
  // instructions of a loop that the cache of instructions holds, and the slowdown by each beyond
  | "fetched"
  | "fetchSlowdown"
  // slowdown by a thread without cells, per thread with cells
  | "idleSlowdown"
  // ns of a round: a barrier; an instruction of a thread if nothing else runs; one of a SIMD group
  | "barrierNs"
  | "threadNs"
  | "groupNs"
  // how many times as long as one of f32 an operation of f64 takes
  | "doubleTimes"
  // ns of a SIMD group: a row of values that it reads or writes; a value that it exchanges through workgroup memory
  | "rowNs"
  | "exchangeNs"
  // and one that it reads again from the nearest cache
  | "hitNs"
  // ns that a round waits for memory: for a cell's or a slice's values; for all values of a tier; for them one by one
  | "waitNs"
  | "tierWaitNs"
  | "spreadWaitNs"
  // ns that a round waits for the device's cache
  | "nearWaitNs"
  // ns of starting a dispatch, a workgroup, and setting a byte of its workgroup memory to zero
  | "dispatchNs"
  | "workgroupNs"
  | "clearedByteNs"
  // of the time of a round that computes, what one takes that only fills queues
  | "fillRound"
  // of the bytes that two workgroups read, what is read so much later that a full cache has lost it
  | "drift"
  // bytes per update that come from further away than the nearest cache: for each slice that taps reach, for each row (by
  // the square of the rows, as the further ones lie further away), for the ends of rows, and for each slice of a workgroup
  // beyond its first and each of its threads
  | "sliceBytes"
  | "rowBytes"
  | "endBytes"
  | "thickBytes"
  | "threadBytes"
  // bandwidth of the device's cache over that of its memory
  | "nearRatio";

/**
 * What is measured of a GPU that has no record, in nanoseconds (`tuner/devices/gpu/device_constants.ts`): multiply-adds,
 * those of f64 where it is granted, exchanges through workgroup memory and reads from the cache, of all that it computes
 * at once; of one workgroup an operation that needs the one before, a read from memory, a barrier; a dispatch.
 */
export type Constant =
  | "arithmeticNs"
  | "doubleNs"
  | "latencyNs"
  | "exchangeNs"
  | "cacheNs"
  | "waitNs"
  | "barrierNs"
  | "dispatchNs";

/** Those that were measured. */
export type Constants = Readonly<Partial<Record<Constant, number>>>;

export interface GpuRecord {
  readonly name: string;
  /** The date of the recordings that the prices were fitted to. */
  readonly date: string;
  /** The device and the driver that were measured. */
  readonly device: string;
  /** The command that fits the prices again. */
  readonly command: string;
  /** Bytes read plus bytes written per second by a plain copy. */
  readonly copyBytesPerSecond: number;
  /** What runs workgroups independently of each other: multiprocessors, cores. */
  readonly multiprocessors: number;
  /** Parts of a multiprocessor, each with its own registers: SIMD groups take turns among them. */
  readonly parts: number;
  /** Threads that execute together. */
  readonly simdWidth: number;
  /** 32-bit registers that a thread can have. */
  readonly registersPerThread: number;
  /** 32-bit registers of a multiprocessor. */
  readonly registersPerMultiprocessor: number;
  /** Threads that a multiprocessor keeps in flight at most. */
  readonly threadsPerMultiprocessor: number;
  /** Workgroups that it keeps in flight at most. */
  readonly workgroupsPerMultiprocessor: number;
  /** Bytes of workgroup memory of a multiprocessor. */
  readonly sharedBytes: number;
  /** Bytes of it that each workgroup takes beside its own. */
  readonly sharedBytesEach: number;
  /** Bytes that the cache of the whole device serves. */
  readonly cacheBytes: number;
  /** @default {Infinity} instructions of a kernel's loop that are worth compiling */
  readonly mostLoopInstructions?: number;
  /** @default {Infinity} bytes of workgroup memory that are worth compiling */
  readonly mostWorkgroupBytes?: number;
  readonly prices: Readonly<Record<Price, number>>;
  readonly corrections: Corrections;
}

/**
 * How far apart configurations are that have little in common: in powers of two of a parameter (of one that only orders
 * dispatches, whose effect the models know, further), of the row's cells, the grid's cells, workgroups, instructions of the
 * loop and of an update, its bytes, and cells of a round; of registers as a part of all.
 */
const LENGTHS = {
  ...{ parameter: 1.2, ordering: 3, row: 4, cells: 5, workgroups: 2.4 },
  ...{ instructions: 0.8, work: 1.4, bytes: 1, round: 2, registers: 0.4 },
};

/** How predictions are wrong, by which measurements correct them (`cost_model.ts`). */
export interface Corrections {
  /** Standard deviation of the logarithms of rates over predictions. */
  readonly variation: number;
  /** The part of the variation that changes abruptly from one configuration to the next. */
  readonly abrupt: number;
  /** Standard deviation of the logarithm of a configuration's rate from run to run. */
  readonly noise: number;
  /** Standard deviation of the logarithm by which everything is faster on one device than on another of the record. */
  readonly apart: number;
  /** Correlation of what is off on two devices beside that, and of two equations. */
  readonly alike: number;
  /** Deviation of what another equation's measurement says beside that. */
  readonly foreignNoise: number;
  /** A traversal that was never measured may be slower than predicted by a factor of e to this; one with a new parameter: */
  readonly unknown: number;
  readonly newParameter: number;
  /** With this part of its registers no kernel was much slower than predicted. */
  readonly safePressure: number;
  /** And with this part none is known to be by what was measured of other equations. */
  readonly foreignPressure: number;
  /** Above the safe part, and above that of any that was as fast as others, the expected rate falls by e^(risk × excess). */
  readonly risk: number;
  /** What is as fast as others reaches this part of their rate over their prediction. */
  readonly asFast: number;
  readonly lengths: typeof LENGTHS;
}

/**
 * The prices fit 1,570 torres, 1,107 marches and 447 stepwise kernels of orders 2 to 8 and heat on 34 grids: half of the
 * predictions are off by more than 8%, a tenth by more than 23%. Fitted further they are off by less there (7%), but with
 * values of registers by which choices for unseen grids lose twice as much (`deno task replay --unseen`).
 */
export const H100: GpuRecord = {
  name: "H100",
  date: "2026-11-23",
  device: "NVIDIA H100 80GB HBM3, driver 580.159.04, Vulkan",
  command: "deno run -A bench/fit_gpu_model.ts H100 fixtures/h100/grids.jsonl.gz",
  copyBytesPerSecond: 3e12,
  multiprocessors: 132,
  parts: 4,
  simdWidth: 32,
  registersPerThread: 255,
  registersPerMultiprocessor: 65_536,
  threadsPerMultiprocessor: 2048,
  workgroupsPerMultiprocessor: 32,
  sharedBytes: 227 * 1024,
  sharedBytesEach: 1024,
  // nearly half of its 50 MB
  cacheBytes: 21.6e6,
  prices: {
    swapped: 7 / 8,
    repeated: 1.1,
    resting: -1 / 3,
    masks: 7,
    registerShare: 0.93,
    spillSlowdown: 0.0212,
    fetched: 1984,
    fetchSlowdown: 1.03e-4,
    idleSlowdown: 0.3,
    barrierNs: 10.2,
    threadNs: 1.08,
    groupNs: 0.093,
    doubleTimes: 2,
    rowNs: 0.722,
    exchangeNs: 0.355,
    hitNs: 0.5,
    waitNs: 547,
    tierWaitNs: 427,
    spreadWaitNs: 1176,
    nearWaitNs: 160,
    dispatchNs: 1700,
    workgroupNs: 0.03,
    clearedByteNs: 0.106,
    fillRound: 0.5,
    drift: 0.59,
    sliceBytes: 1.5,
    rowBytes: 0.2,
    endBytes: 64,
    thickBytes: 0.2,
    threadBytes: 1 / 768,
    nearRatio: 2.35,
  },
  // fit 136 recorded problems, each predicted from the others: `deno task replay --unseen` judges them
  corrections: {
    variation: 0.2,
    abrupt: 0.5,
    noise: 0.02,
    apart: 0.15,
    alike: 0.8,
    foreignNoise: 0.2,
    unknown: 1.2,
    newParameter: 0.1,
    safePressure: 0.5,
    foreignPressure: 0.9,
    risk: 2,
    asFast: 0.8,
    lengths: LENGTHS,
  },
};

/**
 * The constants of the record's chip, and the prices that grow with them. They are an H200's (2026-11-23), which differs from
 * an H100 by its memory alone; in two processes they came out alike within 1%, dispatches and the cache within 6%. That of f64
 * is of 2026-11-29, when the others were those of before, but for the cache's (833).
 */
export const MEASURED: Readonly<Record<Constant, readonly [ns: number, prices: readonly Price[]]>> = {
  arithmeticNs: [70.3, ["groupNs"]],
  doubleNs: [116.4, ["doubleTimes"]],
  latencyNs: [4.36, ["threadNs"]],
  exchangeNs: [139, ["exchangeNs", "clearedByteNs"]],
  cacheNs: [728, ["rowNs", "hitNs"]],
  waitNs: [663, ["waitNs", "tierWaitNs", "spreadWaitNs", "nearWaitNs"]],
  barrierNs: [21.2, ["barrierNs"]],
  dispatchNs: [1940, ["dispatchNs", "workgroupNs"]],
};

/** GPUs that the H100's record describes. */
export const isRecorded = (name: string): boolean => /\bH[12]00\b/.test(name);

/**
 * The record of a GPU by what was measured of it: the H100's, with prices as many times higher as its constants. Of an H200
 * they are the same: what computes does not gain by faster memory.
 */
export function measuredRecord(
  copyBytesPerSecond: number,
  constants: Readonly<Partial<Record<Constant, number | null>>>,
): GpuRecord {
  const prices = { ...H100.prices };
  for (const [name, [ns, grown]] of Object.entries(MEASURED)) {
    const times = (constants[name as Constant] ?? ns) / ns;
    for (const price of grown) prices[price] *= times;
    if (name === "arithmeticNs" && constants.doubleNs) prices.doubleTimes /= times;
    if (name === "cacheNs") prices.nearRatio *= H100.copyBytesPerSecond / copyBytesPerSecond / times;
  }
  return { ...H100, name: "measured", copyBytesPerSecond, prices };
}

/** Registers that are never too few: a thread's values that find none lie in the core's own cache. */
const UNLIMITED = 1e6;

/**
 * A driver that computes in software: cores for multiprocessors, vectors for SIMD groups (llvmpipe's name says how wide:
 * `LLVM 15.0.6, 256 bits`). A barrier leaves every thread of a workgroup and comes back, and each access to workgroup
 * memory goes value by value: marches of order 4 with tiles take 2 to 3 ns more an access. Threads are lanes of a vector,
 * which a branch only switches off: what fills queues takes as long as what computes. Half of 1,242 recorded predictions
 * are off by more than 36%, and 24% of the pairs are in the wrong order: two cores that others use, too, are never quiet.
 */
export const LLVMPIPE: GpuRecord = {
  name: "llvmpipe",
  date: "2026-11-21",
  device: "llvmpipe, Mesa 22.3, LLVM 15.0.6, 256 bits, two cores of an AMD EPYC",
  command: "deno run -A bench/fit_gpu_model.ts llvmpipe fixtures/llvmpipe/*.jsonl.gz",
  copyBytesPerSecond: 6.1e9,
  multiprocessors: 2,
  parts: 1,
  simdWidth: 8,
  registersPerThread: UNLIMITED,
  registersPerMultiprocessor: 1024 * UNLIMITED,
  threadsPerMultiprocessor: Infinity,
  workgroupsPerMultiprocessor: 1,
  sharedBytes: Infinity,
  sharedBytesEach: 0,
  // the copy is one from cache to cache
  cacheBytes: 0,
  // Of the 1,192 torres recorded (orders 2 and 4, heat), those with fewer than 800 were all evaluated within two seconds,
  // most in 0.2; the fastest has 1,176, and one with 272 is 9% slower. But on a CPU without AVX-512, LLVM 15 passes every
  // value through the stack, and compiles for 3 to 5 ms an instruction (two cores, 2026-11-22).
  mostLoopInstructions: 400,
  // It clears them value by value, and compiles in the square of a kernel's accesses and these values: 1.8 s for 517 of
  // both, 5.9 s for 1,109, more than 30 s for 4,577 (torres of order 2, 2026-11-22). The least tiles of volume-torre have 875 and 1,000.
  mostWorkgroupBytes: 4000,
  prices: {
    swapped: 1,
    repeated: 1,
    resting: 0,
    masks: 0,
    registerShare: 1,
    spillSlowdown: 0,
    fetched: UNLIMITED,
    fetchSlowdown: 0,
    idleSlowdown: 0.041,
    barrierNs: 500,
    threadNs: 0,
    groupNs: 2.98,
    doubleTimes: 2,
    rowNs: 1.3,
    exchangeNs: 18,
    hitNs: 0.511,
    waitNs: 0,
    tierWaitNs: 0,
    spreadWaitNs: 0,
    nearWaitNs: 0,
    dispatchNs: 1810,
    workgroupNs: 0,
    clearedByteNs: 7.85,
    fillRound: 1,
    drift: 0.695,
    sliceBytes: 1.76,
    rowBytes: 0.2,
    endBytes: 109,
    thickBytes: 0.186,
    threadBytes: 0.00125,
    nearRatio: 4.68,
  },
  // not fitted: an H100's
  corrections: H100.corrections,
};
