import type { Dispatch } from "../../../kernels/traversals/traversal.ts";
import type { GpuDevice, Recording } from "./gpu_device.ts";
import type { LevelArrays } from "./field_memory.ts";
import type { Pipeline } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";

/** Dispatches recorded into one pass; a long run is cut into passes so that command buffers stay small. */
const DISPATCHES_PER_PASS = 4096;

/** How long one submission should take at most. */
const SUBMISSION_NS = 3e9;

/** What dispatches run with. */
export interface DispatchResources {
  readonly arrays: LevelArrays;
  /** The plan's, in the order of its shaders. */
  readonly pipelines: readonly Pipeline[];
  readonly uniforms: Uniforms;
}

/**
 * Runs a plan's dispatches on a field's two arrays: recorded for someone else's submission, in as many submissions as
 * the time-out asks for, or in turn with what the host computes.
 */
export class Dispatcher {
  readonly #gpu: GpuDevice;
  readonly #resources: DispatchResources;
  /** Of the last submission. */
  #nsPerDispatch: number | undefined;

  constructor(gpu: GpuDevice, resources: DispatchResources) {
    this.#gpu = gpu;
    this.#resources = resources;
  }

  /** The passes that run the dispatches: how many, and how to record them. */
  async record(dispatches: readonly Dispatch[]): Promise<Recording> {
    const { arrays: [even, odd], pipelines, uniforms } = this.#resources;
    const offsets = await uniforms.place(dispatches);
    const groups = pipelines.map(({ bindings }) => [
      uniforms.bind(bindings, [[0, even], [1, odd]]),
      uniforms.bind(bindings, [[0, odd], [1, even]]),
    ]);
    const passes = Math.ceil(dispatches.length / DISPATCHES_PER_PASS);
    const record = (encoder: GPUCommandEncoder, timestamps: () => GPUComputePassDescriptor): void => {
      for (let p = 0; p < passes; p++) {
        const pass = encoder.beginComputePass(timestamps());
        const end = Math.min(dispatches.length, (p + 1) * DISPATCHES_PER_PASS);
        for (let i = p * DISPATCHES_PER_PASS; i < end; i++) {
          const { shader, workgroups, flipped } = dispatches[i]!;
          pass.setPipeline(pipelines[shader]!.pipeline);
          pass.setBindGroup(0, groups[shader]![flipped ? 1 : 0]!, [offsets[i]!]);
          pass.dispatchWorkgroups(...workgroups);
        }
        pass.end();
      }
    };
    return { passes, record };
  }

  /** Runs dispatches that leave the host alone; returns nanoseconds as {@linkcode GpuDevice.timed} counts them. */
  async run(dispatches: readonly Dispatch[]): Promise<number> {
    let elapsedNs = 0;
    for (let done = 0; done < dispatches.length;) {
      const part = dispatches.slice(done, done + this.#submissionSize(dispatches.length));
      const partNs = await this.#gpu.timed(await this.record(part));
      this.#nsPerDispatch = partNs / part.length;
      elapsedNs += partNs;
      done += part.length;
    }
    return elapsedNs;
  }

  /**
   * Runs dispatches beside some of which the host works: it waits for what it reads, no longer, so that it computes
   * while the device does.
   *
   * @returns nanoseconds from beginning to end, host's clock
   */
  async runWithHost(dispatches: readonly Dispatch[]): Promise<number> {
    const gpu = this.#gpu, started = performance.now();
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    let waiting: Dispatch[] = [];
    for (const dispatch of dispatches) {
      const { host, flipped } = dispatch;
      if (host === undefined) {
        waiting.push(dispatch);
        continue;
      }
      const array = this.#resources.arrays[flipped ? 0 : 1];
      const bytes = 4 * host.reads.reduce((sum, { count }) => sum + count, 0);
      const staged = await gpu.buffer(bytes, usage, "what the host reads");
      try {
        const { passes, record } = await this.record(waiting);
        const reading = await gpu.submit({
          passes,
          outgoing: [staged],
          record: (encoder, timestamps) => {
            record(encoder, timestamps);
            let offset = 0;
            for (const { at, count } of host.reads) {
              encoder.copyBufferToBuffer(array, 4 * at, staged, offset, 4 * count);
              offset += 4 * count;
            }
          },
        });
        const computing = await gpu.submit(await this.record([dispatch]));
        await reading.finish();
        const values = new Float32Array(gpu.mapped(staged));
        let first = 0;
        const inputs = host.reads.map(({ count }) => values.slice(first, first += count));
        for (const { at, values } of host.compute(inputs)) {
          if (values.length > 0) gpu.write(array, 4 * at, new Float32Array(values));
        }
        await computing.finish();
      } finally {
        staged.destroy();
      }
      waiting = [];
    }
    const { passes, record } = await this.record(waiting);
    await gpu.timed({
      passes: passes + 1,
      record: (encoder, timestamps) => {
        record(encoder, timestamps);
        encoder.beginComputePass(timestamps()).end(); // waits for the host's last values too
      },
    });
    return (performance.now() - started) * 1e6;
  }

  /**
   * Dispatches for the next submission. A submission that outlasts the time-out counts as hung, so that a long run
   * on a slow device needs several; how many is known once a few dispatches were timed.
   */
  #submissionSize(dispatches: number): number {
    if (this.#nsPerDispatch === undefined) return Math.ceil(dispatches / 16);
    return Math.max(1, Math.floor(SUBMISSION_NS / this.#nsPerDispatch));
  }
}
