import { type CpuShape, usualShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { lineWork } from "../../../kernels/cpu/line_order.ts";
import { layProfiles } from "../../../kernels/axis_profiles.ts";
import type { Layout } from "../../../kernels/layout.ts";
import { precisionOf } from "../../../kernels/precision.ts";
import { alongAxes, type Boundaries } from "../../../kernels/stencils/stencil.ts";
import type { Update } from "../../../kernels/update.ts";
import { MAX_WORKERS } from "../../configuration.ts";
import { reasonOf, shareable, startThread, type Thread } from "../../platform.ts";
import { RunFailure } from "../run_failure.ts";
import { BARRIER_BYTES, endBarrier } from "./barrier.ts";
import { compileOnce } from "./compiled_modules.ts";
import type { Command, Done, Reply } from "./cpu_commands.ts";
import { CpuField } from "./cpu_field.ts";
import { CpuMemory } from "./cpu_memory.ts";
import { answering } from "./cpu_worker.ts";
import { detectWasmFeatures } from "./wasm_features.ts";

interface CpuPoolOptions {
  /** Threads, from 1 to {@linkcode MAX_WORKERS}. */
  workers: number;
  /** Most bytes of all fields. @default {4 GiB, or what is free where `--allow-sys=systemMemoryInfo` lets us ask} */
  memoryBytes?: number;
  /** The workers' module; tests name one that fails. @default {"./wasm_worker.ts"} */
  workerUrl?: URL;
}

/** What {@linkcode CpuPool.load} takes. */
export interface CpuProblem {
  readonly update: Update;
  /** Where the cells lie; the pads hold at least the update's reach. */
  readonly layout: Layout;
  /** What lies around it: a share of a grid that is periodic along x has `zero` there. */
  readonly boundary: Boundaries;
  /** How the grid is visited. @default {a line classic, any other stepwise in strips that suit it} */
  readonly shape?: CpuShape | undefined;
  /** Whether products and sums are fused: needs relaxed SIMD. @default {false} */
  readonly fused?: boolean;
  /** Workers that share the field, at most the pool's. @default {all} */
  readonly workers?: number;
}

/** What a page lacks whose workers may share no memory. */
const NOT_ISOLATED =
  "CPU workers share memory, which this page may not: take one, or serve it with the headers " +
  "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";

/** Whether threads may share memory here; where they may not, one worker computes in its starter's own. */
const mayShare = (): boolean => typeof SharedArrayBuffer !== "undefined";

/** One waiting command: as many replies as workers settle it. */
interface Pending {
  readonly replies: Done[];
  readonly workers: number;
  resolve(replies: readonly Done[]): void;
  reject(failure: RunFailure): void;
}

/**
 * The CPU as a device: workers that stay alive share one WebAssembly memory and run SIMD code written from the
 * stencil's expression. The main thread only posts commands and awaits replies; it never blocks.
 *
 * @example
 * ```ts
 * import { CpuPool } from "./wasm_workers.ts";
 * import { layOut } from "../../../kernels/layout.ts";
 * import { wave } from "../../../kernels/stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * const pool = await CpuPool.create({ workers: 2 });
 * const layout = layOut([8, 8, 8], { pad: [1, 1, 1] });
 * const field = await pool.load({ update: wave(2).update, layout, boundary: "zero" });
 * await field.initialise({ kind: "noise", seed: 0 });
 * assert(await field.run({ steps: 5 }) > 0);
 * pool.dispose();
 * ```
 */
export class CpuPool {
  readonly workers: number;
  readonly #threads: Thread[];
  readonly #memory: CpuMemory;
  #pending: Pending | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #fields = 0;
  /** Where the workers meet, of each field. */
  readonly #barriers = new Set<SharedArrayBuffer>();
  #end: RunFailure | undefined;

  private constructor({ workers, memoryBytes, workerUrl }: CpuPoolOptions) {
    this.workers = workers;
    this.#memory = new CpuMemory(memoryBytes);
    this.#threads = Array.from({ length: workers }, (_, part) => {
      if (!mayShare()) return withinThisThread((reply) => this.#receive(reply));
      const make = (Worker: typeof globalThis.Worker): Worker =>
        workerUrl === undefined
          ? new Worker(new URL("./wasm_worker.ts", import.meta.url), { type: "module" })
          : new Worker(workerUrl, { type: "module", name: `cpu ${part}` });
      return startThread<Reply>(make, {
        onMessage: (reply) => this.#receive(reply),
        onError: (why) => this.#fail(new RunFailure("device-lost", `CPU worker ${part} failed: ${why}`)),
      });
    });
  }

  /**
   * Starts the workers.
   *
   * @throws {RangeError} when `workers` is no such number
   * @throws {RunFailure} when a worker does not start
   */
  static async create(options: CpuPoolOptions): Promise<CpuPool> {
    const { workers } = options;
    if (!(Number.isInteger(workers) && workers >= 1 && workers <= MAX_WORKERS)) {
      const wanted = `workers must be a whole number from 1 to ${MAX_WORKERS}`;
      throw new RangeError(`Cannot start the CPU workers: ${wanted}: current value is ${workers}`);
    }
    if (!mayShare() && workers > 1) throw new RunFailure("limits", NOT_ISOLATED);
    let pool: CpuPool;
    try {
      pool = new CpuPool(options);
    } catch (error) { // Deno reads a worker's module only where it may
      throw new RunFailure("limits", `the CPU workers cannot be started: ${reasonOf(error)}`);
    }
    await pool.#enqueue(options.workers, (part) => ({ kind: "start", memory: pool.#memory.shared, part }));
    return pool;
  }

  /**
   * Takes memory for a field, both levels zero, and compiles its update.
   *
   * @throws {RangeError} when the update cannot be written for the layout
   * @throws {RunFailure} `limits`: the field does not fit the memory; `device-lost`: a worker failed
   */
  async load(
    { update, layout, boundary, shape, fused = false, workers = this.workers }: CpuProblem,
  ): Promise<CpuField> {
    const boundaries = alongAxes(boundary), started = performance.now();
    if (fused && !detectWasmFeatures().relaxedSimd) {
      throw new RunFailure("limits", "fused products need relaxed SIMD, which this engine does not have");
    }
    const problem = { stencil: { update }, grid: layout.grid, boundary };
    const chosen = shape ?? usualShape(problem, precisionOf(layout).bytes * layout.slice);
    const work = "points" in chosen ? lineWork(problem, chosen, workers) : chosen;
    const laneBytes = "ends" in work ? work.swept?.lanes.bytes ?? 0 : 0;
    const region = this.#memory.take(layout, laneBytes, layProfiles(update, layout.grid).length);
    const module = await compileOnce({ update, layout, boundaries, fused, work }).catch((error) => {
      this.#memory.free(region);
      throw error;
    });
    const field = this.#fields++, barrier = shareable(BARRIER_BYTES);
    this.#barriers.add(barrier);
    const load = {
      kind: "load",
      field,
      parts: workers,
      barrier,
      module,
      layout,
      arrays: region.arrays,
      boundaries,
      update,
      work,
      laneArrays: region.laneArrays,
    } as const;
    await this.#enqueue(workers, () => load);
    return new CpuField(load, {
      memory: this.#memory,
      send: (commandOf) => this.#enqueue(workers, commandOf),
      dispose: async () => {
        if (!this.#memory.free(region) || this.#end !== undefined) return;
        await this.#enqueue(workers, () => ({ kind: "unload", field }));
        this.#barriers.delete(barrier);
      },
    }, (performance.now() - started) * 1e6);
  }

  /** Ends the workers. What still runs is rejected. */
  dispose(): void {
    this.#fail(new RunFailure("device-lost", "The CPU pool was disposed"));
  }

  /** Posts a command to the first workers once those before it are done. */
  #enqueue(workers: number, commandOf: (part: number) => Command): Promise<readonly Done[]> {
    const done = this.#queue.then(() =>
      new Promise<readonly Done[]>((resolve, reject) => {
        if (this.#end !== undefined) return reject(this.#end);
        this.#pending = { replies: [], workers, resolve, reject };
        this.#threads[0]!.ref?.();
        const command = commandOf(0);
        this.#threads.slice(0, workers).forEach((thread, part) =>
          thread.postMessage(command.kind === "start" ? commandOf(part) : command)
        );
      })
    );
    this.#queue = done.catch(() => {});
    return done;
  }

  #receive(reply: Reply): void {
    if ("error" in reply) {
      return this.#fail(new RunFailure("device-lost", `A CPU worker failed: ${firstLine(reply.error)}`));
    }
    const pending = this.#pending;
    if (pending === undefined || pending.replies.push(reply) < pending.workers) return;
    this.#pending = undefined;
    // nobody waits: a program that has failed may end without dispose
    this.#threads[0]!.unref?.();
    pending.resolve(pending.replies);
  }

  #fail(failure: RunFailure): void {
    this.#end ??= failure;
    // Deno lets a worker that computes go on after it was terminated (2.9)
    for (const barrier of this.#barriers) endBarrier(barrier);
    for (const thread of this.#threads) thread.terminate();
    this.#pending?.reject(this.#end);
    this.#pending = undefined;
    this.#memory.freeAll();
  }
}

/** A worker without a thread of its own. */
function withinThisThread(receive: (reply: Reply) => void): Thread {
  const answer = answering();
  return {
    postMessage(command) {
      queueMicrotask(() => {
        const reply = answer(command as Command);
        if (reply !== undefined) receive(reply);
      });
    },
    terminate() {},
  };
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0]!;
}
