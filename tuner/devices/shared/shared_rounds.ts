/**
 * The rounds in which two shares of a grid advance: R steps of both at the same time, then an exchange. Ghost zones,
 * and what R and S are: `shared_field.ts`.
 *
 * **Exchange.** After R steps the outermost R·S own slices of F(t), and (R−1)·S of F(t−1), replace the other's
 * ghost zone: the first of the R steps needs F(t−1) only where it computes a valid F(t+1).
 *
 * **What hides behind what.** A round of the GPU is one submission: copy in, R steps, copy out. It needs nothing
 * but the CPU's slices of the round before, so it is submitted before the GPU's own slices of that round have
 * reached the host. The host's wait for the mapping (at least one 10 ms tick of Deno's poll timer) and the
 * unpacking of the GPU's slices then overlap with the GPU's next round. The CPU begins its round once it has the
 * GPU's slices; packing its own hides behind the GPU where that takes longer. What cannot hide is the tick when
 * the GPU is done last, and the packing when the CPU is: a large R makes both small. The workers are told to begin
 * before the host waits for the GPU: on llvmpipe that wait blocks the host, and the devices would take turns
 * (2026-11-21, 512×256×128, R = 8: 0.71 instead of 1.14 Gcells/s).
 *
 * @module
 */
import type { Submission } from "../gpu/gpu_device.ts";
import type { CpuPart, GpuPart, Shares } from "./shares.ts";
import { copySlices, levelOf, type SliceCells, type Transfer, withoutPadX } from "./slice_exchange.ts";

/** How long the parts of a run took, all rounds together. */
export interface RoundTimes {
  /** The workers' computing. */
  readonly computeNs: number;
  /** The GPU's part: computing and copies by the device's clock, where it has one. */
  readonly gpuNs: number;
  /** The host's copies: the GPU's slices to the CPU's memory, and the CPU's to the GPU. */
  readonly unpackNs: number;
  readonly packNs: number;
}

/** What the shares exchange, and whether they meet at the ends of the grid too. */
type Exchange = Pick<Shares, "toCpu" | "toGpu"> & { readonly isPeriodic: boolean };

/** A round of the GPU, and the buffer that it hands its slices over in. */
interface GpuRound {
  readonly submission: Submission;
  readonly slices: GPUBuffer;
  /** Its time; undefined until someone waits for it. */
  timeNs?: Promise<number>;
}

/** The rounds of two shares, and the slices that wait for the next one. */
export class SharedRounds {
  /** The CPU's slices with which the GPU's next round begins. */
  #packed: GPUBuffer | undefined;

  constructor(
    private readonly cpu: CpuPart,
    private readonly gpu: GpuPart,
    private readonly exchange: Exchange,
  ) {}

  /** Advances both shares by so many steps in each round. */
  async run(rounds: readonly number[]): Promise<RoundTimes> {
    const { field } = this.cpu;
    const times = { computeNs: 0, gpuNs: 0, unpackNs: 0, packNs: 0 };
    const ghost = { low: this.exchange.isPeriodic, high: true };
    let last: GpuRound | undefined;
    /** Waits for the GPU's round before this one. */
    const receive = async (): Promise<void> => {
      if (last === undefined) return;
      times.gpuNs += await last.timeNs!;
      times.unpackNs += this.#unpack(last.slices);
    };
    try {
      for (const steps of rounds) {
        const next = await this.#submit(steps);
        await receive().finally(() => {
          last?.slices.destroy();
          last = next;
        });
        const computing = field.run({ steps, ghost });
        computing.catch(() => {}); // awaited below
        // the workers begin first: on a software device the host's wait for the GPU blocks it
        await new Promise((resolve) => setTimeout(resolve));
        next.timeNs = next.submission.finish();
        next.timeNs.catch(() => {}); // awaited a round later
        times.computeNs += await computing;
        times.packNs += await this.#pack();
      }
      await receive();
      return times;
    } finally {
      // where the CPU failed, the GPU's round is left over
      if (last !== undefined && last.timeNs === undefined) last.submission.finish().catch(() => {});
      last?.slices.destroy();
    }
  }

  /** Brings the GPU's ghost zones up to date, so that slices may be written from outside. */
  async settle(): Promise<void> {
    const buffer = this.#packed;
    if (buffer === undefined) return;
    this.#packed = undefined;
    try {
      await this.gpu.field.receive({ buffer, transfers: this.exchange.toGpu });
    } finally {
      buffer.destroy();
    }
  }

  /** Drops the slices that wait: the shares start anew, or end. */
  forget(): void {
    this.#packed?.destroy();
    this.#packed = undefined;
  }

  /** Hands a round to the GPU, which begins it as soon as it is done with the one before. */
  async #submit(steps: number): Promise<GpuRound> {
    const { field } = this.gpu, { device } = field;
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    const bytes = this.#bytesOf(this.exchange.toCpu);
    const slices = await device.buffer(bytes, usage, "the GPU's slices for the CPU");
    const incoming = this.#packed;
    const submission = await field.exchange(steps, {
      ...(incoming && { incoming: { buffer: incoming, transfers: this.exchange.toGpu } }),
      outgoing: { buffer: slices, transfers: this.exchange.toCpu },
    });
    this.#packed = undefined;
    incoming?.destroy(); // once the device has read it
    return { submission, slices };
  }

  /** Copies the GPU's slices from the mapped buffer into the CPU's ghost zones; returns the host's time. */
  #unpack(buffer: GPUBuffer): number {
    const started = performance.now();
    const { device } = this.gpu.field;
    const cells = new Float32Array(device.mapped(buffer));
    this.#copy(this.exchange.toCpu, cells, (staged, { ago, cpuSlice, slices }) => {
      copySlices(staged, { ...levelOf(this.cpu.field, ago), slice: cpuSlice }, slices);
    });
    device.unmap(buffer);
    return (performance.now() - started) * 1e6;
  }

  /**
   * Copies the CPU's slices into a buffer for the GPU's next round; returns the host's time. By `writeBuffer`: a
   * buffer mapped for writing is first read by Deno, from memory that no cache holds, at 29 MB/s on an H100
   * (2026-11-21).
   */
  async #pack(): Promise<number> {
    const started = performance.now();
    const { device } = this.gpu.field;
    const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const bytes = this.#bytesOf(this.exchange.toGpu);
    this.#packed = await device.buffer(bytes, usage, "the CPU's slices");
    const cells = new Float32Array(bytes / 4);
    this.#copy(this.exchange.toGpu, cells, (staged, { ago, cpuSlice, slices }) => {
      copySlices({ ...levelOf(this.cpu.field, ago), slice: cpuSlice }, staged, slices);
    });
    device.write(this.#packed, 0, cells);
    return (performance.now() - started) * 1e6;
  }

  #bytesOf(transfers: readonly Transfer[]): number {
    return 4 * this.gpu.field.plan.layout.slice * transfers.reduce((sum, { slices }) => sum + slices, 0);
  }

  /** Calls `copy` with the place of each transfer in the staged cells. */
  #copy(
    transfers: readonly Transfer[],
    cells: Float32Array,
    copy: (staged: SliceCells, transfer: Transfer) => void,
  ): void {
    const layout = withoutPadX(this.gpu.field.plan.layout);
    let slice = 0;
    for (const transfer of transfers) {
      copy({ cells, layout, slice }, transfer);
      slice += transfer.slices;
    }
  }
}
