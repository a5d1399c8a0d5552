import type { Precise } from "../../../kernels/precision.ts";
import type { DeviceLimits } from "../../../kernels/traversals/traversal.ts";
import type { FailureReason } from "../../configuration.ts";
import { H100, LLVMPIPE } from "../../../models/gpu_record.ts";
import type { DeviceModel } from "../../../models/roofline.ts";
import { countCores } from "../../platform.ts";
import { nextTurn } from "../next_turn.ts";
import { deviceLimitsOf } from "../device.ts";
import { deviceModelOf } from "../device_model.ts";
import { openDevice } from "../open_device.ts";
import { RunFailure } from "../run_failure.ts";
import { tickOf } from "./gpu_clock.ts";

/** How wgpu's errors tell that the device is lost; Deno 2.9.6 does not always settle `device.lost`. */
const LOST = /\bdevice is lost\b/i;

/** The event loop has a turn as often, however short the waits are. */
const TURN_MS = 10;

/** Bytes of a buffer that is mapped when it is made, which takes the host as much memory. */
const MOST_MAPPED = 2 ** 24;

/** Records compute passes; each must be begun with the descriptor that `timestamps` returns. */
export type Recorder = (encoder: GPUCommandEncoder, timestamps: () => GPUComputePassDescriptor) => void;

/** What {@linkcode GpuDevice.timed} was asked to run. */
export interface TimedWork {
  /** One after another, each submitted as soon as it is recorded: the device works while the next is recorded. */
  record: Recorder | readonly Recorder[];
  passes: number;
  /** Buffers that `record` copies into: mapped for reading in the same wait, unmapped by the caller. @default {[]} */
  outgoing?: readonly GPUBuffer[];
  /** Counts the time between the passes as well: that of copies. @default {false} */
  countGaps?: boolean;
  /** Waits before the first submission, when all is recorded. @default {submitted at once} */
  turn?: (() => Promise<void>) | undefined;
}

/**
 * Who is told that a device is lost. Each device is asked once: what waits for `lost` is kept as long as the device, and
 * a listener for each run took a gigabyte an hour.
 */
const LISTENERS = new WeakMap<GPUDevice, Set<(info: GPUDeviceLostInfo) => void>>();

/** Work that was handed to the device. */
export interface Submission {
  /** Waits for its end, and maps its outgoing buffers; to be called once. Returns what {@linkcode GpuDevice.timed} does. */
  finish(): Promise<number>;
}

/**
 * The GPU as the tuner sees it: one `GPUDevice`, its limits, and errors as data. Everything that can fail on a device
 * fails here as a {@linkcode RunFailure}: shaders that do not compile, memory that is not there, work that does not end,
 * a device that is lost.
 */
export class GpuDevice implements Disposable {
  readonly limits: DeviceLimits;
  readonly hasTimestamps: boolean;
  /** Whether it computes on the CPU, whose clock does not fall while it waits. */
  readonly isSoftware: boolean;
  /** What the models know of it: of a bandwidth that nobody measured, that of a GPU like it. */
  readonly model: DeviceModel;
  #lost: string | undefined;
  #closed = false;
  /** Ends the waits under way. */
  readonly #waits = new Set<(failure: RunFailure) => void>();
  readonly #onLost = ({ reason, message }: GPUDeviceLostInfo): void => {
    this.#lost = `${reason ?? "unknown"}: ${message}`;
    this.#endWaits(`the device was lost: ${message || reason}`);
  };
  /** Nanoseconds per tick of the device's clock. */
  #nsPerTick = 1;
  /** Buffers that have been mapped. */
  readonly #mapped = new WeakSet<GPUBuffer>();
  /** When the event loop last had a turn in a wait. */
  #turnMs = 0;
  #lastMap: Promise<void> = Promise.resolve();

  private constructor(
    readonly device: GPUDevice,
    /** Work that takes longer than this is given up, and the device with it. */
    readonly timeoutMs: number,
    /** Whether it is a caller's own device, whose limits the caller chose. */
    readonly isBorrowed: boolean,
  ) {
    this.hasTimestamps = device.features.has("timestamp-query");
    const { isFallbackAdapter: isFallback = false, description = "" } = device.adapterInfo ?? {};
    this.isSoftware = isFallback;
    const { copyBytesPerSecond } = isFallback ? LLVMPIPE : H100;
    this.model = deviceModelOf(
      { gpu: { isFallback, description }, cpu: { cores: countCores() } },
      copyBytesPerSecond,
    );
    this.limits = deviceLimitsOf(device);
    const known = LISTENERS.get(device), listeners = known ?? new Set();
    listeners.add(this.#onLost);
    LISTENERS.set(device, listeners);
    if (known === undefined) {
      device.lost.then((info) => {
        LISTENERS.delete(device);
        for (const listener of listeners) listener(info);
      });
    }
    // Errors outside of any scope are caught by the scopes around what follows; nothing is printed.
    if (!isBorrowed) device.addEventListener("uncapturederror", (event) => event.preventDefault());
  }

  /** Opens the system's GPU with all of its limits, for a precision; undefined where there is none. */
  static async open(
    { timeoutMs = 20_000, ...of }: { timeoutMs?: number } & Precise = {},
  ): Promise<GpuDevice | undefined> {
    const device = await openDevice(of);
    if (device === null) return undefined;
    const gpu = new GpuDevice(device, timeoutMs, false);
    await gpu.#calibrate();
    return gpu;
  }

  /**
   * Works on a device that may belong to someone else, within the limits it was made with. Disposing then leaves it open.
   *
   * @throws {RunFailure} "device-lost", if it is
   */
  static async borrow(
    device: GPUDevice,
    { timeoutMs = 20_000, isBorrowed = true }: { timeoutMs?: number; isBorrowed?: boolean } = {},
  ): Promise<GpuDevice> {
    const gpu = new GpuDevice(device, timeoutMs, isBorrowed);
    await gpu.checked("device-lost", () => gpu.#calibrate());
    return gpu;
  }

  /** Why the device can no longer be used; undefined while it can. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Runs `make` and turns the errors that WebGPU reports for it into a {@linkcode RunFailure}. */
  async checked<T>(reason: FailureReason, make: () => T | Promise<T>): Promise<T> {
    this.#requireDevice();
    for (const filter of ["validation", "out-of-memory", "internal"] as const) {
      this.device.pushErrorScope(filter);
    }
    let thrown: unknown, result: T | undefined;
    try {
      result = await make();
    } catch (error) {
      thrown = error;
    }
    // all popped at once: between two awaits another caller could push its own
    const scopes = Array.from({ length: 3 }, () => this.device.popErrorScope().catch(() => null));
    const errors = await Promise.all(scopes);
    const error = errors.find((error) => error !== null);
    const lost = [error, thrown].find((reason) => reason && LOST.test((reason as Error).message));
    if (lost) this.#lost ??= (lost as Error).message;
    this.#requireDevice();
    if (error instanceof GPUOutOfMemoryError) {
      throw new RunFailure("out-of-memory", error.message || "not enough memory on the device");
    }
    if (error) throw new RunFailure(reason, error.message);
    if (thrown instanceof RunFailure) throw thrown;
    if (thrown !== undefined) throw new RunFailure(reason, messageOf(thrown));
    return result!;
  }

  /** A buffer of `bytes`, a multiple of 4. */
  buffer(bytes: number, usage: number, label: string): Promise<GPUBuffer> {
    const size = Math.ceil(bytes / 4) * 4;
    return this.checked("out-of-memory", () => this.device.createBuffer({ size, usage, label }));
  }

  /** A buffer of `bytes` that the host reads: see {@linkcode map}. */
  readable(bytes: number, label: string): Promise<GPUBuffer> {
    return this.checked("out-of-memory", () => this.#readable(Math.ceil(bytes / 4) * 4, label));
  }

  #readable(size: number, label = ""): GPUBuffer {
    const { COPY_DST, MAP_READ } = GPUBufferUsage, mappedAtCreation = size <= MOST_MAPPED;
    const buffer = this.device.createBuffer({ size, label, usage: COPY_DST | MAP_READ, mappedAtCreation });
    try {
      if (mappedAtCreation) {
        buffer.unmap();
        this.#mapped.add(buffer);
      }
    } catch {
      // there is no such memory, or no device: whoever uses it says so
    }
    return buffer;
  }

  /**
   * Waits for what `begin` promises, no longer than the time-out; then the device counts as lost. A driver may
   * block the whole thread until the work is done, as Mesa's software drivers do (Vulkan's in the wait, OpenGL's
   * in the submission): then the work ends too late, but the device is free again.
   *
   * @param spentMs time that the work has already taken
   */
  async within<T>(begin: () => Promise<T>, what: string, spentMs = 0): Promise<T> {
    this.#requireDevice();
    const late = new RunFailure("timeout", `${what} did not end within ${this.timeoutMs / 1000} s`);
    const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
    given.catch(() => {});
    const started = performance.now();
    const timer = setTimeout(() => {
      this.#lost ??= `gave up waiting for ${what}`;
      giveUp(late);
    }, this.timeoutMs);
    this.#waits.add(giveUp);
    let promise: Promise<T> | undefined;
    try {
      promise = begin();
      const value = await Promise.race([promise, given]);
      if (spentMs + performance.now() - started > this.timeoutMs) throw late;
      return value;
    } catch (error) {
      if (error instanceof RunFailure) throw error;
      // Deno 2.9.6 does not always settle `device.lost`: what can no longer be waited for is lost as well
      throw this.#lose(error);
    } finally {
      clearTimeout(timer);
      this.#waits.delete(giveUp);
      promise?.catch(() => {});
    }
  }

  /** Submits what nobody has to wait for, if anything: whatever is submitted later runs after it. */
  async enqueue(...records: readonly ((encoder: GPUCommandEncoder) => void)[]): Promise<void> {
    if (records.length === 0) return;
    await this.checked("incorrect", () => {
      const encoder = this.device.createCommandEncoder();
      for (const record of records) record(encoder);
      this.device.queue.submit([encoder.finish()]);
    });
  }

  /**
   * Submits compute passes and waits for their end.
   *
   * @returns nanoseconds that the passes took: by the device's clock, without the gaps in which it waits for the host's
   *   next submission; by the host's from beginning to end where that is missing
   */
  async timed(recording: TimedWork): Promise<number> {
    return await (await this.submit(recording)).finish();
  }

  /** Submits compute passes; the caller says when to wait for them: on a software device the wait blocks the host. */
  async submit(recording: TimedWork): Promise<Submission> {
    const { passes, outgoing = [], countGaps = false, turn } = recording;
    const count = 2 * passes;
    const size = 8 * count, { QUERY_RESOLVE, COPY_SRC } = GPUBufferUsage;
    const queries = this.hasTimestamps ? this.device.createQuerySet({ type: "timestamp", count }) : undefined;
    const resolved = this.device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC });
    const readable = this.#readable(size);
    const release = (): void => {
      for (const buffer of [resolved, readable]) buffer.destroy();
      queries?.destroy();
    };
    let started = performance.now(), pass = 0;
    const timestamps = (): GPUComputePassDescriptor => {
      const beginningOfPassWriteIndex = 2 * pass++, endOfPassWriteIndex = beginningOfPassWriteIndex + 1;
      if (queries === undefined) return {};
      return { timestampWrites: { querySet: queries, beginningOfPassWriteIndex, endOfPassWriteIndex } };
    };
    const read: Recorder = (encoder) => {
      if (queries !== undefined) encoder.resolveQuerySet(queries, 0, count, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, readable, 0, size);
    };
    const encode = (record: Recorder): GPUCommandBuffer => {
      const encoder = this.device.createCommandEncoder();
      record(encoder, timestamps);
      return encoder.finish();
    };
    const { queue } = this.device;
    const handOver = async (records: readonly Recorder[], turn?: () => Promise<void>): Promise<void> => {
      let recorded: GPUCommandBuffer[] | undefined;
      if (turn) {
        recorded = await this.checked("incorrect", () => records.map(encode));
        await turn();
        started = performance.now();
      }
      await this.checked("incorrect", () => {
        if (recorded) queue.submit(recorded);
        else for (const record of records) queue.submit([encode(record)]);
      });
    };
    // of passes that were refused no time is ever written, for which hardware would wait
    await handOver([recording.record].flat(), turn).then(() => handOver([read])).catch((error) => {
      release();
      throw error;
    });
    const submissionMs = performance.now() - started;
    return {
      finish: async () => {
        try {
          await this.map([readable, ...outgoing], "the kernel", submissionMs);
          const hostNs = (performance.now() - started) * 1e6;
          if (queries === undefined) return hostNs;
          const ticks = new BigUint64Array(this.mapped(readable));
          if (countGaps) return Number(ticks[2 * passes - 1]! - ticks[0]!) * this.#nsPerTick;
          let sum = 0;
          for (let pass = 0; pass < passes; pass++) sum += Number(ticks[2 * pass + 1]! - ticks[2 * pass]!);
          return sum * this.#nsPerTick;
        } finally {
          release();
        }
      },
    };
  }

  /**
   * Waits for what was submitted, and maps buffers for reading, all in one wait. Deno 2.9 blocks in `mapAsync` until the
   * queue is empty and has mapped them then, though it settles only at the next tick of a timer, 10 ms later. A buffer that
   * was never mapped has to wait: asked for its range before, Deno aborts. So most are mapped once when they are made.
   */
  async map(buffers: readonly GPUBuffer[], what: string, spentMs?: number): Promise<void> {
    const before = this.#lastMap;
    const map = async (): Promise<void> => {
      const settled = Promise.all(buffers.map((buffer) => buffer.mapAsync(GPUMapMode.READ)));
      settled.catch(() => {}); // awaited below, unless all is there
      const isThere = buffers.every((buffer) => this.#mapped.has(buffer)) && isMapped(buffers);
      if (!isThere || performance.now() - this.#turnMs > TURN_MS) {
        await (isThere ? nextTurn() : settled);
        this.#turnMs = performance.now();
      }
      for (const buffer of buffers) this.#mapped.add(buffer);
      await before; // whoever asked first goes on first
    };
    const mapping = this.within(map, what, spentMs);
    this.#lastMap = mapping.catch(() => {});
    await mapping;
  }

  /**
   * The contents of a buffer that a finished submission has mapped.
   *
   * @throws {RunFailure} "device-lost", if the device is gone since
   */
  mapped(buffer: GPUBuffer, offset = 0, bytes: number = buffer.size - offset): ArrayBuffer {
    return this.#unlessLost(() => buffer.getMappedRange(offset, bytes));
  }

  /** Gives a mapped buffer back to the device. @throws {RunFailure} "device-lost", if it is */
  unmap(buffer: GPUBuffer): void {
    this.#unlessLost(() => buffer.unmap());
  }

  /**
   * Writes the host's values into a buffer, before whatever is submitted later.
   * @throws {RunFailure} "device-lost", if it is
   */
  write(buffer: GPUBuffer, byteOffset: number, values: ArrayBufferView<ArrayBuffer>): void {
    if (values.byteLength === 0) return; // Deno 2.9 aborts
    this.#unlessLost(() => this.device.queue.writeBuffer(buffer, byteOffset, values));
  }

  async read(buffer: GPUBuffer, offset = 0, bytes: number = buffer.size): Promise<ArrayBuffer> {
    const readable = await this.readable(bytes, "read back");
    try {
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, offset, readable, 0, bytes);
      this.device.queue.submit([encoder.finish()]);
      await this.map([readable], "reading back");
      return this.mapped(readable).slice(0);
    } finally {
      readable.destroy();
    }
  }

  /** Ends what is waited for, too. */
  [Symbol.dispose](): void {
    this.#closed = true;
    LISTENERS.get(this.device)?.delete(this.#onLost);
    this.#endWaits("the device is closed");
    if (!this.isBorrowed) return this.device.destroy();
    if (this.#lost !== undefined) return;
    // what was written into a destroyed buffer, and not yet submitted, holds its memory until the next submission ends
    this.device.queue.submit([]);
    this.device.queue.onSubmittedWorkDone().catch(() => {});
  }

  /** What throws outside of any error scope does so because the device is gone. */
  #unlessLost<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** The device counts as lost from now on; returns the failure that says why. */
  #lose(error: unknown): RunFailure {
    this.#lost ??= messageOf(error);
    return new RunFailure("device-lost", `the device was lost: ${this.#lost}`);
  }

  async #calibrate(): Promise<void> {
    if (this.hasTimestamps) this.#nsPerTick = await tickOf(this);
  }

  #endWaits(why: string): void {
    for (const end of this.#waits) end(new RunFailure("device-lost", why));
  }

  #requireDevice(): void {
    if (this.#closed) throw new RunFailure("device-lost", "the device is closed");
    if (this.#lost !== undefined) throw new RunFailure("device-lost", `the device was lost: ${this.#lost}`);
  }
}

/** Ends a mapped range that was read: new memory for the next takes longer than reading it. */
export function giveBack(range: ArrayBuffer): void {
  try {
    range.transfer(0);
  } catch {
    // it is the device's own memory, but in Deno
  }
}

/** Whether buffers are mapped, though nothing says so yet. */
function isMapped(buffers: readonly GPUBuffer[]): boolean {
  try {
    for (const buffer of buffers) buffer.getMappedRange(0, 0);
    return true;
  } catch {
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
