/**
 * What a qualification runs on: the devices of this machine, opened when they are first needed and anew after
 * they were lost, with the reference of the problem at hand.
 *
 * @module
 */
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { makeReference, type Reference } from "../devices/reference.ts";
import { prepare } from "../devices/runners.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration, Runner } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { refute } from "../measuring/evaluate.ts";
import { measureCopyBandwidth } from "../measuring/copy_bandwidth.ts";
import { isFailure, RunFailure } from "../devices/run_failure.ts";

/** What configurations are run on; tests put a fake in its place. */
export interface Bench {
  readonly device: DeviceDescription;
  /** The clock, in nanoseconds. */
  now(): number;
  /** Lets time pass, no longer than until the signal aborts. */
  pause(timeNs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Compiles a configuration and takes its memory, with the reference that its result is compared with.
   *
   * @throws {RunFailure} if it cannot run, or the reference is wrong or cannot be had
   */
  prepare(problem: Problem, configuration: Configuration): Promise<Runner>;
  /** Bytes per second of a plain copy on the GPU; undefined where it cannot be measured. */
  copyBytesPerSecond(): Promise<number | undefined>;
  /** Gives up what may be lost: it is opened anew when it is needed. */
  recover(): void;
  [Symbol.dispose](): void;
}

/** Options of {@linkcode DeviceBench}. */
export interface DeviceBenchOptions {
  readonly device: DeviceDescription;
  /** Whether some configuration needs the GPU, which then computes every reference. */
  readonly needsGpu: boolean;
  /** Work on the GPU that takes longer is given up. @default {20 000} */
  readonly timeoutMs?: number;
}

/** Cells along each axis, and steps, of the small problem on which the GPU's reference is checked. */
const CHECKED_GRID: Grid = [24, 20, 36], CHECKED_STEPS = 12;

/** The devices of this machine. */
export class DeviceBench implements Bench {
  readonly device: DeviceDescription;
  readonly #options: DeviceBenchOptions;
  #gpu: GpuDevice | undefined;
  #pool: CpuPool | undefined;
  #reference: { readonly of: string; readonly made: Reference } | undefined;
  /** Stencils whose reference on this GPU was right. */
  readonly #checked = new Set<string>();

  constructor(options: DeviceBenchOptions) {
    this.#options = options;
    this.device = options.device;
  }

  now(): number {
    return performance.now() * 1e6;
  }

  async pause(timeNs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, timeNs / 1e6);
      signal?.addEventListener("abort", end);
    });
  }

  async prepare(problem: Problem, configuration: Configuration): Promise<Runner> {
    const { cpuSlices, gpuSlices, cpuWorkers } = configuration.share;
    const gpu = this.#options.needsGpu && this.device.gpu !== null ? await this.#openGpu() : undefined;
    const cpuPool = cpuSlices > 0 ? await this.#openPool(cpuWorkers) : undefined;
    const reference = await this.#referenceOf(problem, gpu, gpuSlices > 0);
    return await prepare({ gpu, cpuPool, reference }, problem, configuration);
  }

  async copyBytesPerSecond(): Promise<number | undefined> {
    if (this.device.gpu === null) return undefined;
    try {
      return await measureCopyBandwidth(await this.#openGpu(), this.device.gpu);
    } catch (error) {
      if (!isFailure(error)) throw error;
      this.recover();
      return undefined;
    }
  }

  recover(): void {
    this.#reference?.made.dispose();
    this.#pool?.dispose();
    this.#gpu?.[Symbol.dispose]();
    this.#checked.clear();
    this.#reference = this.#pool = this.#gpu = undefined;
  }

  [Symbol.dispose](): void {
    this.recover();
  }

  async #openGpu(): Promise<GpuDevice> {
    if (this.#gpu?.lost !== undefined) this.recover();
    this.#gpu ??= await GpuDevice.open({ timeoutMs: this.#options.timeoutMs }).catch((error) => {
      throw new RunFailure("device-lost", `the GPU could not be opened: ${messageOf(error)}`);
    });
    if (this.#gpu === undefined) throw new RunFailure("device-lost", "the GPU could not be opened");
    return this.#gpu;
  }

  async #openPool(workers: number): Promise<CpuPool> {
    if (this.#pool?.workers !== workers) {
      this.#pool?.dispose();
      this.#pool = undefined; // the next line may throw
      this.#pool = await CpuPool.create({ workers });
    }
    return this.#pool;
  }

  /** The reference of the problem; where only the CPU needs it and no GPU can hold it, the CPU's. */
  async #referenceOf(problem: Problem, gpu: GpuDevice | undefined, onGpu: boolean): Promise<Reference> {
    const { stencil, grid, boundary, steps } = problem;
    const of = JSON.stringify([stencil.name, stencil.variant, grid, boundary, steps, onGpu]);
    if (this.#reference?.of === of) return this.#reference.made;
    this.#reference?.made.dispose();
    this.#reference = undefined;
    if (gpu !== undefined) await this.#checkReference(gpu, problem);
    const made = await makeReference({ gpu, problem }).catch((error) => {
      const isTooLarge = isFailure(error) && ["limits", "out-of-memory"].includes(error.reason);
      if (onGpu || gpu === undefined || !isTooLarge) throw error;
      return makeReference({ problem });
    });
    this.#reference = { of, made };
    return made;
  }

  /**
   * A driver that gets the stepwise kernel wrong as well would agree with itself. So what the reference computes
   * on the GPU is compared with the CPU once for each equation, on a small grid; the CPU's kernels give the
   * oracle's bits.
   */
  async #checkReference(gpu: GpuDevice, { stencil, grid, boundary, steps }: Problem): Promise<void> {
    const key = JSON.stringify([stencil.name, stencil.variant, boundary]);
    if (this.#checked.has(key)) return;
    const small: Problem = {
      stencil,
      grid: [0, 1, 2].map((axis) => Math.min(grid[axis], CHECKED_GRID[axis])) as [number, number, number],
      boundary,
      steps: Math.min(steps, CHECKED_STEPS),
    };
    const share = { cpuSlices: small.grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
    const reference = await makeReference({ gpu, problem: small });
    let cpuPool: CpuPool | undefined, runner: Runner | undefined;
    try {
      cpuPool = await CpuPool.create({ workers: 1 });
      const configuration = { traversal: "stepwise", parameters: {}, share };
      runner = await prepare({ cpuPool, reference }, small, configuration);
      await runner.initialise();
      await runner.run();
      const verification = await runner.verify();
      const failure = refute({ ...verification, against: "the CPU" });
      if (failure !== undefined) {
        throw new RunFailure(
          "incorrect",
          `${verification.against}, the reference itself, ${failure.message}`,
        );
      }
    } finally {
      runner?.dispose();
      cpuPool?.dispose();
      reference.dispose();
    }
    this.#checked.add(key);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
