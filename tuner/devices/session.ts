/**
 * What computes on this machine, behind one interface: the GPU, the CPU's workers, the reference of the problem at
 * hand, and the clock. Each is opened when it is first needed, and opened anew after a loss. Tests put a simulated
 * session in its place.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Failure } from "../configuration.ts";
import { measureCpuCopy } from "./cpu/cpu_bandwidth.ts";
import { CpuPool } from "./cpu/wasm_workers.ts";
import type { DeviceDescription } from "./device.ts";
import { measureCopyBandwidth } from "./gpu/copy_bandwidth.ts";
import { KeptMemory } from "./gpu/field_memory.ts";
import { GpuDevice } from "./gpu/gpu_device.ts";
import { makeReference, type Reference } from "./reference.ts";
import { isFailure, RunFailure } from "./run_failure.ts";
import { type Devices, type FieldRunner, prepare, type PrepareOptions } from "./runners.ts";

/** What configurations run on. */
export interface Session extends Disposable {
  readonly device: DeviceDescription;
  /** Whether the GPU takes part. */
  readonly hasGpu: boolean;
  /** The clock, in nanoseconds. */
  now(): number;
  /** Lets time pass, no longer than until the signal aborts. */
  pause(timeNs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Bytes per second of a plain copy on the GPU.
   * @throws {RunFailure} if there is no GPU, or it fails
   */
  copyBytesPerSecond(): Promise<number>;
  /**
   * Bytes per second that so many workers of the CPU move together, on arrays of the problem's size.
   * @throws {RunFailure} if they fail
   */
  cpuCopyBytesPerSecond(problem: Problem, cpuWorkers: number): Promise<number>;
  /**
   * Opens the devices and computes the reference, as far as that is not done.
   *
   * @param cpuWorkers so many; 0: none are started
   * @throws {RunFailure} if a device fails, or the reference is wrong
   */
  open(problem: Problem, cpuWorkers?: number): Promise<Devices>;
  /**
   * Compiles a configuration and takes its memory.
   * @throws {RunFailure} if it cannot run, or there is no reference to verify it with
   */
  prepare(problem: Problem, configuration: Configuration, options?: PrepareOptions): Promise<FieldRunner>;
  /** Gives back the reference's memory; it is computed again when it is needed. */
  releaseReference(): void;
  /** If this failure means that a device is lost, closes all, to be opened anew when needed; returns whether it did. */
  recover(failure: Failure): boolean;
  /** Goes on without the GPU. */
  leaveOutGpu(): void;
}

/** The reference of a problem. */
interface Known {
  readonly key: string;
  readonly isOnGpu: boolean;
  readonly reference: Reference;
}

/** The devices of this machine. */
export class DeviceSession implements Session {
  readonly device: DeviceDescription;
  readonly #timeoutMs: number;
  readonly #checksReference: boolean;
  #hasGpu: boolean;
  #gpu: GpuDevice | undefined;
  #gpuMemory: KeptMemory | undefined;
  #pool: CpuPool | undefined;
  #known: Known | undefined;

  /**
   * @param options `useGpu`: whether the GPU takes part and computes every reference; work on it that takes longer than
   *   `timeoutMs` is given up; `checksReference`: whether the GPU's is compared with the oracle: not where the process
   *   that started this one has done so
   */
  constructor(
    { device, useGpu = true, timeoutMs = 20_000, checksReference = true }: {
      readonly device: DeviceDescription;
      readonly useGpu?: boolean;
      readonly timeoutMs?: number;
      readonly checksReference?: boolean;
    },
  ) {
    this.device = device;
    this.#checksReference = checksReference;
    this.#hasGpu = useGpu && device.gpu !== null;
    this.#timeoutMs = timeoutMs;
  }

  get hasGpu(): boolean {
    return this.#hasGpu;
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

  async copyBytesPerSecond(): Promise<number> {
    const gpu = await this.openGpu();
    return await measureCopyBandwidth(gpu, { isFallback: this.device.gpu?.isFallback ?? false });
  }

  async cpuCopyBytesPerSecond(problem: Problem, cpuWorkers: number): Promise<number> {
    return await measureCpuCopy(await this.#openPool(cpuWorkers), problem, cpuWorkers);
  }

  /** Opens the GPU alone. */
  async openGpu(): Promise<GpuDevice> {
    if (!this.#hasGpu) throw new RunFailure("limits", "there is no GPU");
    if (this.#gpu !== undefined) return this.#gpu;
    const why = (error: unknown): string => error instanceof Error ? `: ${error.message}` : "";
    this.#gpu = await GpuDevice.open({ timeoutMs: this.#timeoutMs }).catch((error) => {
      throw new RunFailure("device-lost", `the GPU could not be opened${why(error)}`);
    });
    if (this.#gpu === undefined) throw new RunFailure("device-lost", "the GPU could not be opened");
    this.#gpuMemory = new KeptMemory(this.#gpu);
    return this.#gpu;
  }

  async open(problem: Problem, cpuWorkers = 0): Promise<Devices> {
    return await this.#open(problem, { cpuWorkers, needsGpu: this.#hasGpu });
  }

  async prepare(
    problem: Problem,
    configuration: Configuration,
    options: PrepareOptions = {},
  ): Promise<FieldRunner> {
    const { cpuSlices, gpuSlices, cpuWorkers } = configuration.share;
    const needs = { cpuWorkers: cpuSlices > 0 ? cpuWorkers : 0, needsGpu: gpuSlices > 0 };
    return await prepare(await this.#open(problem, needs), problem, configuration, options);
  }

  releaseReference(): void {
    this.#known?.reference.dispose();
    this.#known = undefined;
  }

  recover({ reason }: Failure): boolean {
    if (reason !== "device-lost" && this.#gpu?.lost === undefined) return false;
    this.#close();
    return true;
  }

  leaveOutGpu(): void {
    this.#close();
    this.#hasGpu = false;
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #close(): void {
    this.releaseReference();
    this.#pool?.dispose();
    this.#gpuMemory?.[Symbol.dispose]();
    this.#gpu?.[Symbol.dispose]();
    this.#pool = this.#gpuMemory = this.#gpu = undefined;
  }

  async #open(
    problem: Problem,
    { cpuWorkers, needsGpu }: { cpuWorkers: number; needsGpu: boolean },
  ): Promise<Devices> {
    const gpu = this.#hasGpu ? await this.openGpu() : undefined;
    const cpuPool = cpuWorkers > 0 ? await this.#openPool(cpuWorkers) : undefined;
    const reference = await this.#referenceOf(problem, { gpu, needsGpu });
    return { gpu, cpuPool, gpuMemory: this.#gpuMemory, reference };
  }

  async #openPool(workers: number): Promise<CpuPool> {
    if (this.#pool !== undefined && this.#pool.workers >= workers) return this.#pool;
    this.#pool?.dispose();
    this.#pool = undefined; // the next line may throw
    return this.#pool = await CpuPool.create({ workers });
  }

  /** The problem's reference; the CPU's where the GPU cannot hold it and is not needed otherwise. */
  async #referenceOf(
    problem: Problem,
    { gpu, needsGpu }: { gpu: GpuDevice | undefined; needsGpu: boolean },
  ): Promise<Reference> {
    const { stencil: { name, variant }, grid, boundary, steps } = problem;
    const key = JSON.stringify([name, variant, grid, boundary, steps]);
    if (this.#known?.key === key && (this.#known.isOnGpu || !needsGpu)) return this.#known.reference;
    this.releaseReference();
    let isOnGpu = gpu !== undefined;
    const reference = await makeReference({ gpu, problem, isChecked: !this.#checksReference }).catch(
      (error) => {
        const isTooLarge = isFailure(error) && ["limits", "out-of-memory"].includes(error.reason);
        if (needsGpu || gpu === undefined || !isTooLarge) throw error;
        isOnGpu = false;
        return makeReference({ problem });
      },
    );
    this.#known = { key, isOnGpu, reference };
    return reference;
  }
}
