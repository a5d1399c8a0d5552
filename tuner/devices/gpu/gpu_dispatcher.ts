import type { Dispatch } from "../../../kernels/traversals/traversal.ts";
import type { SectionArrays } from "./field_memory.ts";
import type { GpuDevice, Recorder, Recording, Submission } from "./gpu_device.ts";
import type { Pipeline } from "./gpu_pipelines.ts";
import type { Slot, Uniforms } from "./gpu_uniforms.ts";

/**
 * Dispatches of a submission: few at first, so that the device begins at once, then twice as many each time; it works on
 * one while the host records the next.
 */
const FIRST_PIECE = 32, LARGEST_PIECE = 1024;

/** Dispatches that one wait is for: what is recorded takes memory until the device has done it. */
const LARGEST_BATCH = 2 ** 15;

/** Time that one wait is for, and its part of the time-out: three batches may be under way. */
const BATCH_NS = 3e9, BATCH_PART = 1 / 6;

/** What dispatches run with. */
export interface DispatchResources {
  readonly arrays: SectionArrays;
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
  /** Of the last batch. */
  #nsPerDispatch: number | undefined;
  /** Bind groups by what they bind; kept while the uniforms stay in the same buffer. */
  #bound: { readonly buffer: GPUBuffer; readonly groups: Map<number, GPUBindGroup> } | undefined;

  constructor(gpu: GpuDevice, resources: DispatchResources) {
    this.#gpu = gpu;
    this.#resources = resources;
  }

  /** The passes that run the dispatches, in pieces of growing size: how many, and how to record them. */
  async record(
    dispatches: readonly Dispatch[],
  ): Promise<Recording & { readonly record: readonly Recorder[] }> {
    const { pipelines, uniforms } = this.#resources;
    const slots = await uniforms.place(dispatches.map((one) => one.uniforms));
    const groups = this.#bound?.buffer === uniforms.buffer ? this.#bound.groups : new Map();
    this.#bound = { buffer: uniforms.buffer, groups };
    const bound = dispatches.map((dispatch) => this.#bind(dispatch, groups));
    const record: Recorder[] = [];
    for (let first = 0, size = FIRST_PIECE; first < dispatches.length; first += size) {
      if (first > 0) size = Math.min(2 * size, LARGEST_PIECE);
      const begin = first, end = Math.min(dispatches.length, begin + size);
      record.push((encoder, timestamps) => {
        const pass = encoder.beginComputePass(timestamps());
        // every call takes the host longer than a short dispatch takes the device
        let pipeline: GPUComputePipeline | undefined, group: GPUBindGroup | undefined, slot: Slot | undefined;
        for (let i = begin; i < end; i++) {
          const { shader, workgroups: [x, y, z] } = dispatches[i]!;
          const next = pipelines[shader]!.pipeline, nextGroup = bound[i]!;
          if (pipeline !== next) pass.setPipeline(pipeline = next);
          if (group !== nextGroup || slot !== slots[i]) {
            pass.setBindGroup(0, group = nextGroup, slot = slots[i]!, 0, 1);
          }
          pass.dispatchWorkgroups(x, y, z);
        }
        pass.end();
      });
    }
    return { passes: record.length, record };
  }

  /**
   * Hands over dispatches that leave the host alone. While the device works on a batch, the next is recorded and
   * submitted, and the one before is waited for: it never waits for the host if recording is faster than running.
   *
   * @returns when all is submitted; its time is as {@linkcode GpuDevice.timed} counts it
   */
  async begin(lists: Iterable<readonly Dispatch[]>): Promise<Submission> {
    const started = performance.now();
    const submitted: { readonly submission: Submission; readonly count: number }[] = [];
    const waits: Promise<void>[] = [];
    let elapsedNs = 0;
    const beginWait = (): void => {
      const { submission, count } = submitted.shift()!;
      const ended = submission.finish().then((timeNs) => {
        elapsedNs += timeNs;
        this.#nsPerDispatch = timeNs / count;
      });
      ended.catch(() => {}); // awaited below
      waits.push(ended);
    };
    try {
      for (const batch of this.#batches(lists)) {
        submitted.push({ submission: await this.#gpu.submit(await this.record(batch)), count: batch.length });
        // what was begun a batch ago ends while the device works on this one
        await waits.shift();
        // Deno 2.9.6 blocks here until the queue is empty, but settles 10 ms later: by then the next batch is submitted
        if (submitted.length > 1) beginWait();
      }
    } catch (error) {
      while (submitted.length > 0) beginWait();
      throw error;
    }
    const finish = async (): Promise<number> => {
      while (submitted.length > 0) beginWait();
      await Promise.all(waits);
      return this.#gpu.hasTimestamps ? elapsedNs : (performance.now() - started) * 1e6;
    };
    return { finish };
  }

  /**
   * Runs dispatches beside some of which the host works: it waits for what it reads, no longer, so that it computes
   * while the device does.
   *
   * @returns when all is done; its time is from beginning to end by the host's clock
   */
  async beginWithHost(dispatches: readonly Dispatch[]): Promise<Submission> {
    const gpu = this.#gpu, started = performance.now();
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    let waiting: Dispatch[] = [];
    for (const dispatch of dispatches) {
      const { host, flipped } = dispatch;
      if (host === undefined) {
        waiting.push(dispatch);
        continue;
      }
      const array = this.#resources.arrays[0]![flipped ? 0 : 1];
      const bytes = 4 * host.reads.reduce((sum, { count }) => sum + count, 0);
      const staged = await gpu.buffer(bytes, usage, "what the host reads");
      try {
        const { passes, record } = await this.record(waiting);
        const read: Recorder = (encoder) => {
          let offset = 0;
          for (const { at, count } of host.reads) {
            encoder.copyBufferToBuffer(array, 4 * at, staged, offset, 4 * count);
            offset += 4 * count;
          }
        };
        const reading = await gpu.submit({ passes, outgoing: [staged], record: [...record, read] });
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
    // waits for the host's last values too
    const last: Recorder = (encoder, timestamps) => encoder.beginComputePass(timestamps()).end();
    await gpu.timed({ passes: passes + 1, record: [...record, last] });
    const timeNs = (performance.now() - started) * 1e6;
    return { finish: () => Promise.resolve(timeNs) };
  }

  /**
   * Cuts what is to run. What outlasts the time-out counts as hung, so that a long run on a slow device needs several
   * batches; how large these may be is known once the first of the small ones has been timed.
   */
  *#batches(lists: Iterable<readonly Dispatch[]>): Generator<readonly Dispatch[]> {
    let batch: Dispatch[] = [];
    for (const list of lists) {
      for (const dispatch of list) {
        batch.push(dispatch);
        if (batch.length < this.#batchSize(list.length)) continue;
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  }

  #batchSize(dispatches: number): number {
    if (this.#nsPerDispatch === undefined) return Math.ceil(dispatches / 16);
    const mostNs = Math.min(BATCH_NS, BATCH_PART * this.#gpu.timeoutMs * 1e6);
    return Math.min(LARGEST_BATCH, Math.max(1, Math.floor(mostNs / this.#nsPerDispatch)));
  }

  /** The arrays that a dispatch binds. */
  #bind(
    { shader, flipped, section = 0, copiesTo = -1 }: Dispatch,
    groups: Map<number, GPUBindGroup>,
  ): GPUBindGroup {
    const { arrays, pipelines, uniforms } = this.#resources;
    const level = flipped ? 1 : 0;
    const key = ((shader * arrays.length + section) * (arrays.length + 1) + copiesTo + 1) * 2 + level;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const other = copiesTo < 0 ? arrays[section]![1 - level]! : arrays[copiesTo]![level];
    const group = uniforms.bind(pipelines[shader]!.bindings, [[0, arrays[section]![level]], [1, other]]);
    groups.set(key, group);
    return group;
  }
}
