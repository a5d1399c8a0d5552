import type { Dispatch } from "../../../kernels/traversals/traversal.ts";
import type { Bindable } from "./field_memory.ts";
import type { GpuDevice, Recorder, Submission, TimedWork } from "./gpu_device.ts";
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

export interface DispatchResources {
  /** Even and odd levels of each section. */
  readonly arrays: readonly (readonly Bindable[])[];
  /** The plan's, in the order of its shaders. */
  readonly pipelines: readonly Pipeline[];
  readonly uniforms: Uniforms;
  /** The scratch buffers that a shader binds, where its dispatch swaps levels and where it does not. @default {none} */
  scratch?(shader: number, flipped: boolean): readonly GPUBuffer[];
}

/**
 * Waits for submissions, for each once the next one is submitted: Deno 2.9.6 blocks in a wait until the queue is empty, and
 * what follows is then recorded at once.
 */
export class Waits {
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #begun: Promise<void>[] = [];

  /** Takes what waits for a submission; waits itself for what was begun one ago, while the device works on this one. */
  async add(wait: () => Promise<void>): Promise<void> {
    this.#waiting.push(wait);
    await this.#begun.shift();
    if (this.#waiting.length > 1) this.#begin();
  }

  /** Waits for all. */
  async end(): Promise<void> {
    while (this.#waiting.length > 0) this.#begin();
    await Promise.all(this.#begun);
  }

  #begin(): void {
    const ended = this.#waiting.shift()!();
    ended.catch(() => {}); // awaited by `add` or `end`
    this.#begun.push(ended);
  }
}

/**
 * Runs a plan's dispatches on a field's arrays: recorded for someone else's submission, or in as many submissions
 * as the time-out asks for.
 */
export class Dispatcher {
  /** The last batch's mean time of a dispatch. */
  #nsPerDispatch: number | undefined;
  /** Bind groups by what they bind; kept while the uniforms stay in the same buffer. */
  #bound: { readonly buffer: GPUBuffer; readonly groups: Map<number, GPUBindGroup> } | undefined;

  constructor(private readonly gpu: GpuDevice, private readonly resources: DispatchResources) {}

  /** The passes that run the dispatches, in pieces of growing size: how many, and how to record them. */
  async record(
    dispatches: readonly Dispatch[],
  ): Promise<TimedWork & { readonly record: readonly Recorder[] }> {
    const { pipelines, uniforms } = this.resources;
    const slots = await uniforms.place(dispatches.map((dispatch) => dispatch.uniforms));
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
   * Hands over dispatches. While the device works on a batch, the next is recorded and
   * submitted, and the one before is waited for: it never waits for the host if recording is faster than running.
   *
   * @returns when all is submitted; its time is as {@linkcode GpuDevice.timed} counts it
   */
  async begin(lists: Iterable<readonly Dispatch[]>): Promise<Submission> {
    const started = performance.now(), waits = new Waits();
    let elapsedNs = 0;
    try {
      for (const batch of this.#batches(lists)) {
        const submission = await this.gpu.submit(await this.record(batch));
        await waits.add(async () => {
          const timeNs = await submission.finish();
          elapsedNs += timeNs;
          this.#nsPerDispatch = timeNs / batch.length;
        });
      }
    } catch (error) {
      waits.end().catch(() => {}); // thrown here
      throw error;
    }
    const finish = async (): Promise<number> => {
      await waits.end();
      return this.gpu.hasTimestamps ? elapsedNs : (performance.now() - started) * 1e6;
    };
    return { finish };
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
    const mostNs = Math.min(BATCH_NS, BATCH_PART * this.gpu.timeoutMs * 1e6);
    return Math.min(LARGEST_BATCH, Math.max(1, Math.floor(mostNs / this.#nsPerDispatch)));
  }

  #bind(
    { shader, flipped, section = 0, copiesTo = -1, twins = [], others = [] }: Dispatch,
    groups: Map<number, GPUBindGroup>,
  ): GPUBindGroup {
    const { arrays, pipelines, uniforms } = this.resources;
    const level = flipped ? 1 : 0;
    const key = ((shader * arrays.length + section) * (arrays.length + 1) + copiesTo + 1) * 2 + level;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const other = copiesTo < 0 ? arrays[section]![1 - level]! : arrays[copiesTo]![level]!;
    const filled = [
      ...twins.map((twin) => arrays[twin]![1 - level]!),
      ...others.flatMap((array) => [arrays[array]![level]!, arrays[array]![1 - level]!]),
    ];
    const buffers = [
      arrays[section]![level]!,
      other,
      ...this.resources.scratch?.(shader, flipped) ?? [],
      ...filled,
    ];
    const group = uniforms.bind(pipelines[shader]!, buffers);
    groups.set(key, group);
    return group;
  }
}
