/**
 * The CPU as a device: workers that stay alive share one WebAssembly memory and run SIMD code written from the
 * stencil's expression. The main thread only posts commands and awaits replies; it never blocks.
 *
 * @module
 */
import type { InitialField } from "../../kernels/initial_field.ts";
import type { Layout } from "../../kernels/layout.ts";
import type { Boundary } from "../../kernels/stencils/stencil.ts";
import { reachOf, stepReach, type Update } from "../../kernels/update.ts";
import type { AxisBoundaries } from "../../kernels/wasm/wasm_source.ts";
import { GUARD_BYTES, writeWasm } from "../../kernels/wasm/write_wasm.ts";
import type { Failure, FailureReason } from "../configuration.ts";
import { writeLine } from "../../kernels/wasm/write_line.ts";
import { BARRIER_BYTES } from "./barrier.ts";
import { lineLoad } from "./line_load.ts";
import type { ArrayPair, Command, Reply } from "./wasm_worker.ts";

/** Bytes of a WebAssembly page, and of the largest 32-bit memory. */
const PAGE = 65536, ADDRESSABLE = 65536 * PAGE;

/**
 * The second array starts this much past a page boundary from the first, so that a cell's places in both differ
 * modulo 4096: order 2 on 128×128×256 lost a tenth where they did not (2026-11-21).
 */
const STAGGER = 2112;

/** A failure of the CPU's workers or memory; `reason` and `message` are the record that a search keeps. */
export class CpuFailure extends Error implements Failure {
  override readonly name = "CpuFailure";
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Options of {@linkcode CpuPool.create}. */
export interface CpuPoolOptions {
  /** Threads, at least 1. */
  workers: number;
  /**
   * Most bytes the fields may take together.
   * @default {4 GiB, or what the machine has free where `--allow-sys=systemMemoryInfo` lets us ask}
   */
  memoryBytes?: number;
  /**
   * The workers' module; tests name one that fails.
   * @default {"./wasm_worker.ts"}
   */
  workerUrl?: URL;
}

/** What {@linkcode CpuPool.load} takes. */
export interface CpuProblem {
  readonly update: Update;
  /** Where the cells lie; the pads hold at least the update's reach. */
  readonly layout: Layout;
  /** One for all axes, or each its own: the CPU's share of a periodic grid is `zero` along x. */
  readonly boundary: Boundary | AxisBoundaries;
  /**
   * Of a line of 1×1×N points: about how many of them a node of the swept rule has.
   * @default {0} classic: the workers meet after every sub-step
   */
  readonly nodePoints?: number;
}

/** Options of {@linkcode CpuField.setInitial}. */
export interface InitialOptions {
  /** @default {0} */
  seed?: number;
  /**
   * The slice of the whole grid that is this field's slice 0.
   * @default {0}
   */
  xOffset?: number;
  /**
   * Slices of the whole grid, where it repeats beyond them.
   * @default {no repetition}
   */
  xPeriod?: number;
}

/** Options of {@linkcode CpuField.run}. */
export interface RunOptions {
  readonly steps: number;
  /**
   * Ghost zones at low and at high x. There step i = 1, 2, … leaves out the outermost i·(reach of a step along x) slices,
   * whose neighbours are unknown (B2R, Eq. 2). After R steps the slices further than R·reach from that side
   * are right.
   * @default {neither}
   */
  readonly ghost?: { readonly low?: boolean; readonly high?: boolean };
}

/** A field loaded into the pool's memory. Views of it become stale when the pool's memory grows: ask again. */
export interface CpuField {
  readonly layout: Layout;
  /** F(t), all planes, in the padded layout. */
  readonly current: Float32Array<SharedArrayBuffer>;
  /** F(t−1) in the padded layout; the next step overwrites it with F(t+1). */
  readonly previous: Float32Array<SharedArrayBuffer>;
  /** Sets both time levels to the same initial values, and the materials. */
  setInitial(kind: InitialField, options?: InitialOptions): Promise<void>;
  /**
   * Advances the field. Periodic pads need not be right before; frames of zeros must be.
   *
   * @returns nanoseconds from the moment all workers had begun to the moment all had ended, workers' clock
   * @throws {RangeError} when the ghost zones are thicker than the field, or meet a periodic x
   */
  run(options: RunOptions): Promise<number>;
  /** Gives the memory back to the pool. */
  dispose(): Promise<void>;
}

/** One waiting command: a reply from each worker settles it. */
interface Pending {
  readonly replies: number[];
  resolve(timeNs: number): void;
  reject(failure: CpuFailure): void;
}

/** Bytes of the memory in use by one field. */
interface Region {
  readonly start: number;
  readonly end: number;
}

/**
 * Workers over one shared memory.
 *
 * @example
 * ```ts
 * import { CpuPool } from "./wasm_workers.ts";
 * import { layOut } from "../../kernels/layout.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * const pool = await CpuPool.create({ workers: 2 });
 * const layout = layOut([8, 8, 8], { pad: [1, 1, 1] });
 * const field = await pool.load({ update: wave(2).update, layout, boundary: "zero" });
 * await field.setInitial("noise");
 * assert(await field.run({ steps: 5 }) > 0);
 * pool.dispose();
 * ```
 */
export class CpuPool {
  /** Threads. */
  readonly workers: number;
  readonly #threads: Worker[];
  readonly #memory = new WebAssembly.Memory({ initial: 1, maximum: ADDRESSABLE / PAGE, shared: true });
  readonly #memoryBytes: number;
  readonly #regions = new Set<Region>();
  #pending: Pending | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #fields = 0;
  #end: CpuFailure | undefined;

  private constructor({ workers, memoryBytes, workerUrl }: CpuPoolOptions) {
    this.workers = workers;
    this.#memoryBytes = Math.min(memoryBytes ?? freeBytes(), ADDRESSABLE);
    const url = workerUrl ?? new URL("./wasm_worker.ts", import.meta.url);
    this.#threads = Array.from({ length: workers }, (_, part) => {
      const thread = new Worker(url, { type: "module", name: `cpu ${part}` });
      thread.onmessage = ({ data }: MessageEvent<Reply>) => this.#receive(data);
      thread.onerror = (event) => {
        event.preventDefault();
        this.#fail(new CpuFailure("device-lost", `CPU worker ${part} failed: ${firstLine(event.message)}`));
      };
      return thread;
    });
  }

  /**
   * Starts the workers.
   *
   * @throws {RangeError} when `workers` is not a whole number from 1 up
   * @throws {CpuFailure} when a worker does not start
   */
  static async create(options: CpuPoolOptions): Promise<CpuPool> {
    if (!(Number.isInteger(options.workers) && options.workers >= 1)) {
      throw new RangeError(
        `Cannot start the CPU workers: workers must be >= 1: current value is ${options.workers}`,
      );
    }
    const pool = new CpuPool(options);
    const barrier = new SharedArrayBuffer(BARRIER_BYTES);
    const start = { kind: "start", parts: options.workers, memory: pool.#memory, barrier } as const;
    await pool.#enqueue((part) => ({ ...start, part }));
    return pool;
  }

  /**
   * Takes memory for a field, both levels zero, and compiles its update.
   *
   * @throws {RangeError} when the update cannot be written for the layout
   * @throws {CpuFailure} `limits`: the field does not fit the memory; `device-lost`: a worker failed
   */
  async load({ update, layout, boundary, nodePoints = 0 }: CpuProblem): Promise<CpuField> {
    const boundaries: AxisBoundaries = typeof boundary === "string"
      ? [boundary, boundary, boundary]
      : boundary;
    const line = lineLoad({ update, layout, boundary: boundaries[2], nodePoints }, this.workers);
    const lanes = line?.swept?.lanes;
    const { region, arrays, laneArrays } = this.#allocate(layout, lanes?.bytes ?? 0);
    const bytes = line === undefined
      ? writeWasm({ update, layout, boundaries })
      : writeLine({ update, layout, ends: line.ends, lanes });
    const module = await bytes.then(WebAssembly.compile).catch(
      (error) => {
        this.#regions.delete(region);
        throw error;
      },
    );
    const field = this.#fields++;
    const { x, y } = reachOf(update);
    const { fields, materials } = update;
    const load = {
      kind: "load",
      field,
      module,
      layout,
      arrays,
      reach: { x, y },
      boundaries,
      planes: { fields, materials },
      substepReach: update.substeps.map((substep) => reachOf(substep).x),
      line,
      laneArrays,
    } as const;
    await this.#enqueue(() => load);
    return this.#fieldOf(load, region, update);
  }

  /** Ends the workers. What still runs is rejected. */
  dispose(): void {
    this.#fail(new CpuFailure("device-lost", "The CPU pool was disposed"));
  }

  #fieldOf(
    { field, layout, arrays, boundaries }: Command & { kind: "load" },
    region: Region,
    update: Update,
  ): CpuField {
    const { x: reach } = stepReach(update);
    let step = 0;
    const view = (array: number) =>
      new Float32Array(this.#memory.buffer as unknown as SharedArrayBuffer, array, layout.length);
    let [current, previous] = arrays;
    return {
      layout,
      get current() {
        return view(current);
      },
      get previous() {
        return view(previous);
      },
      setInitial: async (initial, { seed = 0, xOffset = 0, xPeriod = 2 ** 31 } = {}) => {
        step = 0;
        await this.#enqueue(() => ({ kind: "initial", field, initial, seed, xOffset, xPeriod }));
      },
      run: async ({ steps, ghost: { low = false, high = false } = {} }) => {
        if (!(Number.isInteger(steps) && steps >= 0)) {
          throw new RangeError(
            `Cannot run the CPU field: steps must be whole and >= 0: current value is ${steps}`,
          );
        }
        const used = (Number(low) + Number(high)) * reach * steps;
        if (used > layout.grid[0]) {
          throw new RangeError(
            `Cannot run the CPU field: ${steps} steps use up ${used} ghost slices: ` +
              `the field has ${layout.grid[0]} slices`,
          );
        }
        if ((low || high) && boundaries[0] === "periodic") {
          throw new RangeError(
            "Cannot run the CPU field: ghost zones need boundary zero along x: it is periodic",
          );
        }
        return await this.#enqueue(() => {
          const pair: ArrayPair = [current, previous];
          if (steps % 2 === 1) [current, previous] = [previous, current];
          const { signal } = update;
          const signals = Float32Array.from({ length: signal ? steps : 0 }, (_, i) => signal!(step + i));
          step += steps;
          return { kind: "run", field, steps, arrays: pair, shrink: [low, high], signals };
        });
      },
      dispose: async () => {
        if (!this.#regions.delete(region) || this.#end !== undefined) return;
        await this.#enqueue(() => ({ kind: "unload", field }));
      },
    };
  }

  /** Finds the lowest gap that holds both levels, and those in lanes; the memory grows only when there is none. */
  #allocate(
    { length }: Layout,
    laneBytes: number,
  ): { region: Region; arrays: ArrayPair; laneArrays: ArrayPair } {
    const bytes = 4 * length;
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
    const have = this.#memory.buffer.byteLength;
    if (end > Math.max(have, this.#memoryBytes)) throw tooLarge(size, this.#memoryBytes);
    if (end > have) {
      try {
        this.#memory.grow(Math.ceil((end - have) / PAGE));
      } catch {
        throw tooLarge(size, have);
      }
    }
    const region = { start, end };
    this.#regions.add(region);
    return {
      region,
      arrays: [start, start + second],
      laneArrays: [start + firstLanes, start + secondLanes],
    };
  }

  /** Posts a command to every worker once those before it are done. */
  #enqueue(commandOf: (part: number) => Command): Promise<number> {
    const done = this.#queue.then(() =>
      new Promise<number>((resolve, reject) => {
        if (this.#end !== undefined) return reject(this.#end);
        this.#pending = { replies: [], resolve, reject };
        const command = commandOf(0);
        this.#threads.forEach((thread, part) =>
          thread.postMessage(command.kind === "start" ? commandOf(part) : command)
        );
      })
    );
    this.#queue = done.catch(() => {});
    return done;
  }

  #receive(reply: Reply): void {
    if ("error" in reply) {
      return this.#fail(new CpuFailure("device-lost", `A CPU worker failed: ${firstLine(reply.error)}`));
    }
    const pending = this.#pending;
    if (pending === undefined || pending.replies.push(reply.timeNs) < this.workers) return;
    this.#pending = undefined;
    pending.resolve(Math.max(...pending.replies));
  }

  #fail(failure: CpuFailure): void {
    this.#end ??= failure;
    for (const thread of this.#threads) thread.terminate();
    this.#pending?.reject(this.#end);
    this.#pending = undefined;
    this.#regions.clear();
  }
}

function tooLarge(size: number, limit: number): CpuFailure {
  const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  return new CpuFailure(
    "limits",
    `The field needs ${mebibytes(size)} of CPU memory: ${mebibytes(limit)} can be had`,
  );
}

/** What the machine has free, where asking needs no prompt. */
function freeBytes(): number {
  if (typeof Deno === "undefined") return ADDRESSABLE;
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" });
  return state === "granted" ? Deno.systemMemoryInfo().available : ADDRESSABLE;
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0];
}
