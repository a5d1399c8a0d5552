/**
 * The devices of a run: the GPU, which may be lost and is then opened anew, the CPU's workers, and the reference
 * that results are held against.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { KeptMemory } from "../devices/gpu/field_memory.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { makeReference, type Reference } from "../devices/reference.ts";
import { prepare } from "../devices/runners.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration, Failure, Runner } from "../configuration.ts";
import { defaultGrid, defaultSteps } from "../problem/default_problem.ts";
import { DeviceError } from "../devices/device_error.ts";
import { measureCopyBandwidth } from "../measuring/copy_bandwidth.ts";
import type { TuneRequest } from "./tune_request.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What a run computes on. */
export class RunDevices implements Disposable {
  #gpu: GpuDevice | undefined;
  #gpuMemory: KeptMemory | undefined;
  #pool: CpuPool | undefined;
  #reference: Reference | undefined;
  #problem!: Problem;

  constructor(gpu: GpuDevice | undefined) {
    this.#gpu = gpu;
    this.#gpuMemory = gpu && new KeptMemory(gpu);
  }

  /** The GPU; undefined where there is none, or it was lost and cannot be opened any more. */
  get gpu(): GpuDevice | undefined {
    return this.#gpu;
  }

  /** The CPU's workers; undefined where none were asked for. */
  get pool(): CpuPool | undefined {
    return this.#pool;
  }

  /** The right result; undefined where it could not be computed again. */
  get reference(): Reference | undefined {
    return this.#reference;
  }

  /** What is computed. */
  get problem(): Problem {
    return this.#problem;
  }

  /** Measures the GPU, starts the workers. */
  async start({ cpuWorkers }: TuneRequest, { isFallback }: { isFallback: boolean }): Promise<number | null> {
    const copyBytesPerSecond = this.#gpu === undefined
      ? null
      : await measureCopyBandwidth(this.#gpu, { isFallback }).catch(deviceFailed);
    if (cpuWorkers > 0) this.#pool = await CpuPool.create({ workers: cpuWorkers });
    return copyBytesPerSecond;
  }

  /** Fixes the problem: a default grid shrinks until the reference fits into the memory. */
  async fixProblem(request: TuneRequest, { isFallback }: { isFallback: boolean }): Promise<Problem> {
    const { stencil, boundary, steps = defaultSteps(stencil) } = request;
    for (let halvings = 0;; halvings++) {
      const grid = request.grid ?? defaultGrid(stencil, { limits: this.#gpu?.limits, isFallback, halvings });
      this.#problem = { stencil, grid, boundary, steps };
      try {
        this.#reference = await makeReference({ gpu: this.#gpu, problem: this.#problem });
        return this.#problem;
      } catch (error) {
        if (!isFailure(error)) throw error;
        const canShrink = request.grid === undefined && error.reason === "out-of-memory" && grid[0] > 16;
        if (!canShrink) {
          throw new DeviceError(`Cannot compute the reference: ${error.reason}: ${error.message}`);
        }
      }
    }
  }

  /** Compiles a configuration and takes its memory. */
  prepare(configuration: Configuration): Promise<Runner> {
    const devices = {
      gpu: this.#gpu,
      cpuPool: this.#pool,
      gpuMemory: this.#gpuMemory,
      reference: this.#reference!,
    };
    return prepare(devices, this.#problem, configuration);
  }

  /** Gives the reference's memory back to whoever measures meanwhile. */
  releaseReference(): void {
    this.#reference?.dispose();
  }

  /** Computes the reference again; where the device has been lost since, on one that is opened anew. */
  async renewReference(): Promise<void> {
    try {
      if (this.#gpu === undefined) return;
      this.#reference = await makeReference({ gpu: this.#gpu, problem: this.#problem });
    } catch (error) {
      if (!isFailure(error)) throw error;
      await this.#reopen();
    }
  }

  /** A lost device is opened anew, and its reference computed again; what cannot be is left out from now on. */
  async afterFailure({ reason }: Failure): Promise<void> {
    if (this.#gpu === undefined || (this.#gpu.lost === undefined && reason !== "device-lost")) return;
    this.#reference?.dispose();
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    if (this.#gpu === undefined) return;
    this.#gpuMemory?.[Symbol.dispose]();
    this.#gpu[Symbol.dispose]();
    try {
      this.#gpu = await GpuDevice.open({ timeoutMs: this.#gpu.timeoutMs });
      this.#gpuMemory = this.#gpu && new KeptMemory(this.#gpu);
      this.#reference = await makeReference({ gpu: this.#gpu, problem: this.#problem });
    } catch (error) {
      if (!isFailure(error)) throw error;
      this.#gpu = undefined;
    }
    // without a GPU the CPU goes on alone, with a reference of its own
    if (this.#gpu !== undefined || this.#pool === undefined) return;
    this.#reference = undefined;
    this.#reference = await makeReference({ problem: this.#problem }).catch((error) => {
      if (!isFailure(error)) throw error;
      return undefined;
    });
  }

  [Symbol.dispose](): void {
    this.#reference?.dispose();
    this.#gpuMemory?.[Symbol.dispose]();
    this.#pool?.dispose();
    this.#gpu?.[Symbol.dispose]();
  }
}

function deviceFailed(error: unknown): never {
  if (isFailure(error)) throw new DeviceError(`The GPU failed: ${error.reason}: ${error.message}`);
  throw error;
}
