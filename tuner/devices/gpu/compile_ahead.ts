import type { Precise } from "../../../kernels/precision.ts";
import { countCores, mayRead, startThread, type Thread } from "../../platform.ts";
import type { CompileCommand, ShaderSource } from "./compile_worker.ts";

/** Threads at most: each has a device of its own, which takes memory. */
const MOST_THREADS = 4;

/**
 * Longer than a thread takes to end. Ending, it frees what libEGL keeps for it, with which WebGPU looks for adapters; a
 * process that ends frees that of all threads. Where both happen at once, the heap is corrupted (`tests/late_exit.ts`).
 * A thread that is compiling ends only after that: its kernel is waited for, so long at most.
 */
const ENDING_MS = 500, COMPILING_MS = 10_000;

/** A kernel that is to be compiled. */
interface Job {
  /** Asked for when its turn comes; undefined where there is nothing to do. */
  readonly command: () => CompileCommand | undefined;
  readonly done: () => unknown;
}

/** A job whose turn it is. */
interface Task {
  readonly job: Job;
  readonly command: CompileCommand;
}

/** A job that a thread is at. */
interface Work {
  readonly job: Job;
  /** 1 until it is done, for a thread that is blocked. */
  readonly busy: Int32Array;
}

/**
 * Threads that compile, each with a device of its own. A driver keeps what it has compiled for any device of the process:
 * whoever compiles the same later finds it there. Threads are started when there is work and live as long as the process,
 * which does not wait for them.
 */
export class CompileThreads {
  readonly #most: number;
  readonly #jobs: Job[] = [];
  /** Threads with what they are at. */
  readonly #threads = new Map<Thread, Work | undefined>();
  #failed = 0;

  constructor(most = Math.min(MOST_THREADS, countCores() - 1), private readonly url = moduleUrl()) {
    this.#most = mayLoad(url) ? most : 0;
  }

  /** Takes a job, to be done after those before; `done` is called also where it cannot be done. */
  add(job: Job): void {
    this.#jobs.push(job);
    const idle = [...this.#threads].find(([, at]) => at === undefined)?.[0];
    if (idle !== undefined) this.#next(idle);
    else if (this.#threads.size + this.#failed < this.#most) this.#start();
    else if (this.#threads.size === 0) this.#giveUp();
  }

  #start(): void {
    const first = this.#take();
    if (first === undefined) return;
    const end = (): void => {
      this.#failed++;
      this.#threads.get(thread)?.job.done();
      this.#threads.delete(thread);
      if (this.#threads.size === 0) this.#giveUp();
    };
    const make = (Worker: typeof globalThis.Worker): Worker => new Worker(this.url, { type: "module" });
    const thread: Thread = startThread<true>(make, {
      onMessage: () => {
        this.#threads.get(thread)?.job.done();
        this.#next(thread);
      },
      onError: end,
    });
    if (this.#threads.size + this.#failed === 0) addEventListener("unload", () => this.#end());
    this.#next(thread, first);
  }

  /** The next job that there is something to do for. */
  #take(): Task | undefined {
    for (let job; (job = this.#jobs.shift()) !== undefined; job.done()) {
      const command = job.command();
      if (command !== undefined) return { job, command };
    }
    return undefined;
  }

  /** Hands a thread that has nothing to do the next job. */
  #next(thread: Thread, task = this.#take()): void {
    const busy = new Int32Array(new SharedArrayBuffer(4)).fill(1);
    this.#threads.set(thread, task && { job: task.job, busy });
    if (task !== undefined) thread.postMessage({ ...task.command, busy });
  }

  #giveUp(): void {
    for (const { done } of this.#jobs.splice(0)) done();
  }

  /** When the process ends: threads end before it. */
  #end(): void {
    const until = performance.now() + COMPILING_MS;
    for (const work of this.#threads.values()) {
      if (work) Atomics.wait(work.busy, 0, 1, Math.max(0, until - performance.now()));
    }
    for (const thread of this.#threads.keys()) thread.terminate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ENDING_MS);
  }
}

/** Those of this process. */
let usual: CompileThreads | undefined;

/**
 * Compiles kernels one after another on other threads. Deno compiles on the thread that asks, which can do nothing else
 * for up to a second.
 */
export class CompileAhead<Kernel> implements Disposable {
  readonly #waiting: Set<Kernel>;
  /** Texts that each kernel waits for, from its turn on: some are compiled for another. */
  readonly #texts = new Map<Kernel, readonly string[]>();
  /** Whether a text that is begun is compiled. */
  readonly #compiled = new Map<string, boolean>();

  /**
   * @param kernels those that are wanted first, first
   * @param shadersOf its shaders, asked for when its turn comes; none where there is nothing to compile
   */
  constructor(
    kernels: readonly Kernel[],
    { gpu, precision, shadersOf, threads = usual ??= new CompileThreads() }: {
      /** The GPU's name. */
      readonly gpu: string;
      readonly shadersOf: (kernel: Kernel) => readonly ShaderSource[];
      /** @default {those of this process} */
      readonly threads?: CompileThreads;
    } & Precise,
  ) {
    this.#waiting = new Set(kernels);
    for (const kernel of kernels) {
      let sources: readonly ShaderSource[] = [];
      threads.add({
        command: () => {
          const shaders = this.#waiting.has(kernel) ? shadersOf(kernel) : [];
          this.#texts.set(kernel, shaders.map(({ code }) => code));
          sources = shaders.filter(({ code }) => !this.#compiled.has(code));
          for (const { code } of sources) this.#compiled.set(code, false);
          return sources.length > 0 ? { shaders: sources, gpu, precision } : undefined;
        },
        done: () => {
          for (const { code } of sources) this.#compiled.set(code, true);
          this.#waiting.delete(kernel);
        },
      });
    }
  }

  /** Whether there is nothing to wait for: it is compiled, or will not be. */
  isReady(kernel: Kernel): boolean {
    const texts = this.#texts.get(kernel) ?? [];
    return !this.#waiting.has(kernel) && texts.every((text) => this.#compiled.get(text) === true);
  }

  /** What is not begun will not be. */
  [Symbol.dispose](): void {
    this.#waiting.clear();
  }
}

/** Where the threads' module is; not in words that bundlers look for: only Deno needs it. */
function moduleUrl(): URL {
  const file = "./compile_worker.ts";
  return new URL(file, import.meta.url);
}

/** Whether the module is there, can be loaded without asking for a permission, and threads share memory. */
function mayLoad(url: URL): boolean {
  if (typeof Deno === "undefined" || typeof SharedArrayBuffer === "undefined") return false;
  if (url.protocol !== "file:") return true;
  try {
    return mayRead(url) && Deno.statSync(url).isFile;
  } catch {
    return false;
  }
}
