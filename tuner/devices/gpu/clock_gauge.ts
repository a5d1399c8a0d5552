import type { GpuDevice, Recorder, Submission } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { UNIFORM_STRIDE, Uniforms } from "./gpu_uniforms.ts";

/** Rounds of the chain: some 0.2 ms at 2 GHz. */
const ROUNDS = 20_000;
/** Chains that last longer than the host's wait; and of a look where timestamps are rounded to this, as in pages. */
const MANY = 100, ROUNDED_NS = 100_000;
/** A clock that has risen by no more than this, for so long, while the device was busy will not rise any more. */
const NEAR = 0.02, PATIENCE_MS = 300;

/**
 * Shows how fast the device's clock runs, whatever is measured beside it: a chain of operations, each of which needs the
 * one before, takes a fixed number of cycles. A GPU that waits lowers its clock; the chain then takes longer by the same
 * factor.
 */
export class ClockGauge {
  #chainNs = Infinity;
  /** Chains of a look. */
  #chains = 1;

  private constructor(
    private readonly gpu: GpuDevice,
    private readonly record: (chains: number) => Recorder,
  ) {}

  /**
   * The gauge of a device that lowers its clock while it waits, made once for each. Where the time of a chain at the
   * fastest clock is not given, it keeps the device busy until its clock does not rise any more. Undefined for software,
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
    const chain = await compile(gpu, CHAIN, "clock", [0]), uniforms = await Uniforms.create(gpu);
    const buffer = await gpu.buffer(UNIFORM_STRIDE, GPUBufferUsage.STORAGE, "clock");
    const work = { on: [[buffer]], workgroups: [1, 1, 1] } as const;
    const gauge = new ClockGauge(
      gpu,
      (times) => (encoder, timestamps) =>
        uniforms.dispatch(encoder, chain, { ...work, times, pass: timestamps() }),
    );
    const firstNs = await gpu.timed({ passes: 1, record: gauge.record(1) });
    if (firstNs % ROUNDED_NS === 0) gauge.#chains = MANY;
    if (chainNs === undefined) await gauge.#warmUp();
    else gauge.#chainNs = chainNs;
    return gauge;
  }

  /** Nanoseconds of a chain at the fastest clock that the device was seen at. */
  get chainNs(): number {
    return this.#chainNs;
  }

  /** Runs the chain after whatever was submitted before; tells the clock as a part of the fastest that was seen. */
  async begin(chains = this.#chains): Promise<Submission> {
    const submission = await this.gpu.submit({ passes: 1, record: this.record(chains) });
    return {
      finish: async () => {
        const timeNs = Math.max(1, await submission.finish() / chains);
        this.#chainNs = Math.min(this.#chainNs, timeNs);
        return this.#chainNs / timeNs;
      },
    };
  }

  async #warmUp(): Promise<void> {
    let next = await this.begin(MANY), beforeNs = Infinity, risenMs = performance.now();
    while (performance.now() - risenMs < PATIENCE_MS) {
      const ended = next.finish();
      ended.catch(() => {}); // awaited below
      next = await this.begin(MANY);
      await ended;
      if (this.#chainNs >= (1 - NEAR) * beforeNs) continue;
      beforeNs = this.#chainNs;
      risenMs = performance.now();
    }
    await next.finish();
  }
}

/** Each round needs the one before. */
const CHAIN = `
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

const gauges = new WeakMap<GpuDevice, Promise<ClockGauge>>();
