import { type Constants, isRecorded } from "../../models/gpu_record.ts";
import { hashOf } from "../../kernels/definition.ts";
import { type Problem, shortBoundary } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Failure } from "../configuration.ts";
import { measureCpuCopy } from "./cpu/cpu_bandwidth.ts";
import { CpuPool } from "./cpu/wasm_workers.ts";
import { type DeviceDescription, whyNoPrecision } from "./device.ts";
import { ClockGauge } from "./gpu/clock_gauge.ts";
import { measureCopyBandwidth } from "./gpu/copy_bandwidth.ts";
import { measureConstants } from "./gpu/device_constants.ts";
import { KeptMemory } from "./gpu/field_memory.ts";
import { GpuDevice } from "./gpu/gpu_device.ts";
import { makeReference } from "./make_reference.ts";
import type { Reference } from "./reference.ts";
import { isFailure, RunFailure } from "./run_failure.ts";
import { type Devices, type FieldRunner, prepare } from "./runners.ts";
import { uses, withinCores } from "../shares.ts";

/** What configurations run on; tests put a simulated session in its place. */
export type Session = Omit<DeviceSession, "openGpu">;

/**
 * What computes on this machine: the GPU, the CPU's workers, the reference of the problem at hand, and the clock. Each
 * is opened when it is first needed, and opened anew after a loss.
 */
export class DeviceSession implements Disposable {
  readonly device: DeviceDescription;
  readonly #timeoutMs: number;
  readonly #checksReference: boolean;
  #hasGpu: boolean;
  #chainNs: number | undefined;
  #constants: Constants | undefined;
  #gpu: GpuDevice | undefined;
  #gpuMemory: KeptMemory | undefined;
  #pool: CpuPool | undefined;
  #known: { readonly key: string; readonly isOnGpu: boolean; readonly reference: Reference } | undefined;

  constructor(
    { device, useGpu = true, timeoutMs = 20_000, checksReference = true, chainNs }: {
      readonly device: DeviceDescription;
      /** Whether the GPU takes part and computes every reference. */
      readonly useGpu?: boolean;
      /** Work on the GPU that takes longer is given up. */
      readonly timeoutMs?: number;
      /** Whether the GPU's reference is compared with the oracle; a process that started this one may have done so. */
      readonly checksReference?: boolean;
      /** As {@linkcode DeviceSession.chainNs}, where another process has found it. */
      readonly chainNs?: number | undefined;
    },
  ) {
    this.device = device;
    this.#checksReference = checksReference;
    this.#hasGpu = useGpu && device.gpu !== null;
    this.#timeoutMs = timeoutMs;
    this.#chainNs = chainNs;
  }

  get hasGpu(): boolean {
    return this.#hasGpu;
  }

  /** The time of a {@linkcode ClockGauge}'s chain at the GPU's fastest clock, in nanoseconds; undefined until it is known. */
  get chainNs(): number | undefined {
    return this.#chainNs;
  }

  /** The clock, in nanoseconds. */
  now(): number {
    return performance.now() * 1e6;
  }

  /** Lets time pass, no longer than until the signal aborts. */
  async pause(timeNs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    const timer = setTimeout(end, timeNs / 1e6);
    signal?.addEventListener("abort", end);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }

  /** Bytes per second of a plain copy on the GPU; a {@linkcode RunFailure} if there is no GPU, or it fails. */
  async copyBytesPerSecond(): Promise<number> {
    const gpu = await this.openGpu();
    await this.#gaugeOf(gpu);
    return await measureCopyBandwidth(gpu, { isFallback: this.device.gpu?.isFallback ?? false });
  }

  /** What kinds of work take on a GPU that no record describes, measured once; nothing of others. */
  async constants(): Promise<Constants> {
    const { isFallback = true, description = "" } = this.device.gpu ?? {};
    if (isFallback || isRecorded(description)) return {};
    return this.#constants ??= await measureConstants(await this.openGpu());
  }

  /** Bytes per second that `cpuWorkers` workers of the CPU move together, on arrays of the problem's size. */
  async cpuCopyBytesPerSecond(problem: Problem, cpuWorkers: number): Promise<number> {
    return await measureCpuCopy(await this.#openPool(cpuWorkers), problem, cpuWorkers);
  }

  async openGpu(): Promise<GpuDevice> {
    if (!this.#hasGpu) throw new RunFailure("limits", "there is no GPU");
    if (this.#gpu !== undefined) return this.#gpu;
    const { device: { gpu } } = this;
    // what was asked for when it was described
    const precision = gpu && whyNoPrecision(gpu, { precision: "f64" }) === undefined ? "f64" : "f32";
    const why = (error: unknown): string => error instanceof Error ? `: ${error.message}` : "";
    this.#gpu = await GpuDevice.open({ timeoutMs: this.#timeoutMs, precision }).catch((error) => {
      throw new RunFailure("device-lost", `the GPU could not be opened${why(error)}`);
    });
    if (this.#gpu === undefined) throw new RunFailure("device-lost", "the GPU could not be opened");
    this.#gpuMemory = new KeptMemory(this.#gpu);
    return this.#gpu;
  }

  /**
   * Opens the devices and computes the reference, as far as that is not done.
   *
   * @param cpuWorkers how many are started
   * @throws {RunFailure} if a device fails, or the reference is wrong
   */
  async open(problem: Problem, cpuWorkers = 0): Promise<Devices> {
    return await this.#open(problem, { cpuWorkers, needsGpu: this.#hasGpu });
  }

  /**
   * Compiles a configuration, with a CPU worker for each core at most, and takes its memory; `onCompiled` is called in between.
   *
   * @throws {RunFailure} if it cannot run, or there is no reference to verify it with
   */
  async prepare(
    problem: Problem,
    given: Configuration,
    onCompiled?: () => Promise<void>,
  ): Promise<FieldRunner> {
    const configuration = withinCores(given), { share, share: { deviceMemory } } = configuration;
    const cpuWorkers = uses(share, "cpu") ? share.cpuWorkers : 0;
    const needs = { cpuWorkers, needsGpu: uses(share, "gpu"), deviceMemory };
    return await prepare(await this.#open(problem, needs), problem, configuration, onCompiled);
  }

  /** Gives back the reference's memory; it is computed again when it is needed. */
  releaseReference(): void {
    this.#known?.reference.dispose();
    this.#known = undefined;
  }

  /** If this failure means that a device is lost, closes all, to be opened anew when needed; returns whether it did. */
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
    { cpuWorkers, needsGpu, deviceMemory = this.device.gpu?.limits.windowBytes }: {
      cpuWorkers: number;
      needsGpu: boolean;
      deviceMemory?: number | undefined;
    },
  ): Promise<Devices> {
    const gpu = this.#hasGpu ? await this.openGpu() : undefined;
    const cpuPool = cpuWorkers > 0 ? await this.#openPool(cpuWorkers) : undefined;
    const gauge = gpu && await this.#gaugeOf(gpu);
    const reference = await this.#referenceOf(problem, { gpu, needsGpu, windowBytes: deviceMemory });
    return { gpu, gauge, cpuPool, gpuMemory: this.#gpuMemory, reference };
  }

  async #gaugeOf(gpu: GpuDevice): Promise<ClockGauge | undefined> {
    const gauge = await ClockGauge.of(gpu, this.#chainNs);
    this.#chainNs = gauge?.chainNs;
    return gauge;
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
    { gpu, needsGpu, windowBytes }: {
      gpu: GpuDevice | undefined;
      needsGpu: boolean;
      windowBytes: number | undefined;
    },
  ): Promise<Reference> {
    const { stencil: { update, initialField }, grid, boundary, steps, survey } = problem;
    const start = [hashOf(update), update.ranges, initialField];
    const key = JSON.stringify([...start, grid, shortBoundary(boundary), steps, survey, windowBytes]);
    if (this.#known?.key === key && (this.#known.isOnGpu || !needsGpu)) return this.#known.reference;
    this.releaseReference();
    let isOnGpu = gpu !== undefined;
    const made = makeReference({ gpu, problem, windowBytes, isChecked: !this.#checksReference });
    const reference = await made.catch((error) => {
      const isTooLarge = isFailure(error) && ["limits", "out-of-memory"].includes(error.reason);
      if (needsGpu || gpu === undefined || !isTooLarge) throw error;
      isOnGpu = false;
      return makeReference({ problem });
    });
    this.#known = { key, isOnGpu, reference };
    return reference;
  }
}
