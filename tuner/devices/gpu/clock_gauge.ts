import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { GpuDevice, Recorder } from "./gpu_device.ts";

/** Rounds of the chain: some 0.2 ms at 2 GHz. */
const ROUNDS = 20_000;
/** Chains between two looks at the clock, longer than the host's wait. */
const CHAINS = 100;
/** A clock that has risen by no more than this, for so long, while the device was busy will not rise any more. */
const NEAR = 0.02, PATIENCE_MS = 300;

/**
 * Shows how fast the device's clock runs, whatever is measured beside it: a chain of operations, each of which needs the
 * one before, takes so many cycles. A GPU that waits lowers its clock; the chain then takes longer by the same factor.
 */
export class ClockGauge {
  readonly #gpu: GpuDevice;
  readonly #record: Recorder;
  #chainNs = Infinity;

  private constructor(gpu: GpuDevice, record: Recorder) {
    this.#gpu = gpu;
    this.#record = record;
  }

  /**
   * The gauge of a device that lowers its clock while it waits, made once for each. Where the time of a chain at the
   * fastest clock is not known, it keeps the device busy until its clock does not rise any more. Undefined for software,
   * and where nothing can be timed.
   *
   * @throws {RunFailure} if the device fails
   */
  static of(gpu: GpuDevice, chainNs?: number): Promise<ClockGauge | undefined> {
    if (gpu.isSoftware || !gpu.hasTimestamps) return Promise.resolve(undefined);
    const known = gauges.get(gpu) ?? ClockGauge.#create(gpu, chainNs);
    gauges.set(gpu, known);
    known.catch(() => gauges.delete(gpu));
    return known;
  }

  static async #create(gpu: GpuDevice, chainNs: number | undefined): Promise<ClockGauge> {
    const code = wgsl`
      // A chain of dependent operations.
      @group(0) @binding(0) var<storage, read_write> result: array<u32>;
      @compute @workgroup_size(32)
      fn main(@builtin(local_invocation_index) lane: u32) {
        var x = result[lane] | 1u;
        for (var i = 0u; i < ${ROUNDS}u; i++) {
          x ^= x << 13u;
          x ^= x >> 17u;
          x ^= x << 5u;
        }
        result[lane] = x;
      }
    `;
    const gauge = await gpu.checked("compile", () => {
      const { device } = gpu;
      const compute = { module: device.createShaderModule({ code, label: "clock" }), entryPoint: "main" };
      const pipeline = device.createComputePipeline({ layout: "auto", compute });
      const buffer = device.createBuffer({ size: 4 * 32, usage: GPUBufferUsage.STORAGE, label: "clock" });
      const entries = [{ binding: 0, resource: { buffer } }];
      const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
      return new ClockGauge(gpu, (encoder, timestamps) => {
        const pass = encoder.beginComputePass(timestamps());
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(1);
        pass.end();
      });
    });
    if (chainNs === undefined) await gauge.#warmUp();
    else gauge.#chainNs = chainNs;
    return gauge;
  }

  /** Nanoseconds of a chain at the fastest clock that the device was seen at. */
  get chainNs(): number {
    return this.#chainNs;
  }

  /** Runs the chain after whatever was submitted before; tells the clock as a part of the fastest that was seen. */
  async begin(chains = 1): Promise<{ finish(): Promise<number> }> {
    const record = Array<Recorder>(chains).fill(this.#record);
    const submission = await this.#gpu.submit({ passes: chains, record });
    return {
      finish: async () => {
        const timeNs = await submission.finish() / chains;
        this.#chainNs = Math.min(this.#chainNs, timeNs);
        return this.#chainNs / timeNs;
      },
    };
  }

  async #warmUp(): Promise<void> {
    let next = await this.begin(CHAINS), beforeNs = Infinity, risenMs = performance.now();
    while (performance.now() - risenMs < PATIENCE_MS) {
      const ended = next.finish();
      ended.catch(() => {}); // awaited below
      next = await this.begin(CHAINS);
      await ended;
      if (this.#chainNs >= (1 - NEAR) * beforeNs) continue;
      beforeNs = this.#chainNs;
      risenMs = performance.now();
    }
    await next.finish();
  }
}

/** The gauges of open devices. */
const gauges = new WeakMap<GpuDevice, Promise<ClockGauge>>();
