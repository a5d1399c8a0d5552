import type { PointTable } from "../../../kernels/traversals/storage.ts";
import { samplesIn } from "../../../kernels/points.ts";
import { type Precision, precisionOf } from "../../../kernels/precision.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { signalAt, type Update } from "../../../kernels/update.ts";
import { HEAD_VECTORS, POINT_BUFFERS } from "../../../kernels/wgsl/points.ts";
import type { WatchedPoints } from "../points.ts";
import { BufferPool } from "./buffer_pool.ts";
import type { GpuDevice } from "./gpu_device.ts";

/** Bytes of what is added or recorded in one list of dispatches at most: as many as a level has, between these. */
const FEW_BYTES = 2 ** 24, MOST_BYTES = 2 ** 27;

/** What is recorded in a list of dispatches, on its way to the host. */
interface Leaving {
  /** Copies it, behind the dispatches. */
  readonly copy: (encoder: GPUCommandEncoder) => void;
  /** Where it goes, to be mapped; undefined where nothing is recorded. */
  readonly buffer: GPUBuffer | undefined;
  /** Hands the values over, once the buffer is mapped. */
  take(): void;
}

/** Points where there are none, but a signal. */
export const NOTHING: WatchedPoints = {
  added: [],
  recorded: [],
  every: 1,
  amplitudes: () => new Float32Array(),
  take: () => {},
};

/** The points of a field on a GPU: the buffers of a plan's shaders, what goes up before a list and what comes back after it. */
export class GpuPoints implements Disposable {
  readonly #readable = new BufferPool((bytes) => this.gpu.readable(bytes, "what was recorded"));

  private constructor(
    private readonly gpu: GpuDevice,
    private readonly watched: WatchedPoints,
    /** Where the plan finds the points. */
    readonly table: PointTable,
    /** Steps of a list at most. */
    readonly mostSteps: number,
    /** In the order of {@linkcode POINT_BUFFERS}. */
    readonly buffers: readonly GPUBuffer[],
    private readonly precision: Precision,
    /** Whose signal ends each row of what is added. */
    private readonly update: Update | undefined,
  ) {}

  /** A plan's scratch buffers with these. */
  among(scratch: readonly GPUBuffer[], { storage }: GpuPlan): GPUBuffer[] {
    const named = new Map(POINT_BUFFERS.map(({ name }, i) => [name, this.buffers[i]!]));
    return scratch.map((buffer, i) => named.get(storage.scratch![i]!.name) ?? buffer);
  }

  /**
   * Takes memory for points.
   *
   * @param most steps of a list of dispatches at most, if memory allows
   */
  static async create(
    gpu: GpuDevice,
    { plan, problem }: { readonly plan: GpuPlan; readonly problem: Problem },
    watched: WatchedPoints,
    most: number,
  ): Promise<GpuPoints> {
    const { added, recorded, every } = watched, table = plan.points!.tabulate(watched);
    const precision = precisionOf(plan.storage.layout), { bytes } = precision;
    const update = plan.points!.hasSignal ? problem.stencil.update : undefined;
    const row = added.length + (update === undefined ? 0 : 1);
    const bytesPerStep = bytes * Math.max(1, row, recorded.length / every);
    const room = Math.min(MOST_BYTES, Math.max(FEW_BYTES, bytes * plan.storage.layout.length));
    const mostSteps = Math.max(1, Math.min(most, Math.floor(room / bytesPerStep)));
    const samples = Math.ceil(mostSteps / every);
    const sizes = [
      16 * HEAD_VECTORS + 4 * table.words.length,
      bytes * mostSteps * row,
      bytes * samples * recorded.length,
    ];
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffers: GPUBuffer[] = [];
    try {
      for (const [i, { name }] of POINT_BUFFERS.entries()) {
        buffers.push(await gpu.buffer(Math.max(bytes, sizes[i]!), usage, `${plan.label}: ${name}`));
      }
    } catch (error) {
      for (const buffer of buffers) buffer.destroy();
      throw error;
    }
    gpu.write(buffers[0]!, 16 * HEAD_VECTORS, table.words);
    return new GpuPoints(gpu, watched, table, mostSteps, buffers, precision, update);
  }

  /** Sets what is added in the steps from `start` on, before whatever is submitted later. */
  prepare(start: number, steps: number): void {
    const [table, added] = this.buffers, { every, recorded } = this.watched, update = this.update;
    const values = this.watched.amplitudes(start, steps), width = this.watched.added.length;
    const row = width + (update === undefined ? 0 : 1);
    this.gpu.write(table!, 0, Int32Array.of(row, recorded.length, every, start % every));
    if (update === undefined) return this.gpu.write(added!, 0, values);
    const rows = new this.precision.Values(steps * row);
    for (let step = 0; step < steps; step++) {
      rows.set(values.subarray(step * width, (step + 1) * width), step * row);
      rows[(step + 1) * row - 1] = signalAt(update, start + step);
    }
    this.gpu.write(added!, 0, rows);
  }

  /** What is recorded in these steps. */
  async leave(start: number, steps: number): Promise<Leaving> {
    const { every, recorded } = this.watched;
    const bytes = this.precision.bytes * samplesIn(start, steps, every) * recorded.length;
    if (bytes === 0) return { copy: () => {}, buffer: undefined, take: () => {} };
    const [buffer] = await this.#readable.take([bytes]) as [GPUBuffer];
    return {
      copy: (encoder) => encoder.copyBufferToBuffer(this.buffers[2]!, 0, buffer, 0, bytes),
      buffer,
      take: () => {
        const values = new this.precision.Values(this.gpu.mapped(buffer, 0, bytes));
        this.watched.take(Math.floor(start / every) + 1, values);
        this.gpu.unmap(buffer);
        this.#readable.give([buffer]);
      },
    };
  }

  /** Hands over what was just recorded, and waits for it. */
  async settle(start: number, steps: number): Promise<void> {
    const { copy, buffer, take } = await this.leave(start, steps);
    await this.gpu.enqueue(copy);
    await this.gpu.map(buffer ? [buffer] : [], "what was recorded");
    take();
  }

  [Symbol.dispose](): void {
    for (const buffer of this.buffers) buffer.destroy();
    this.#readable.destroy();
  }
}
