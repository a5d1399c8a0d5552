/**
 * One grid on the GPU and the CPU together (B2R, §3.2–3.5). The CPU computes slices x < `cpuSlices`, the GPU the
 * others, both at the same time.
 *
 * **Ghost zones.** Where the shares meet, each carries R·S slices of the other's: S is the reach of a full step
 * along x, R the number of steps between two exchanges. Every step makes S of these slices invalid, from the outside
 * in, so that after R steps a share's own slices are still right. The CPU leaves the invalid ones out (Eq. 2); the
 * GPU runs an unmodified plan over its own slices and the ghost zone, with zeros beyond, and what it computes in
 * the ghost zone is thrown away (Eq. 3). On a zero boundary the shares meet once, at x = `cpuSlices`. On a
 * periodic one they meet at the ends of the grid too: each share then has a ghost zone at both ends.
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
import { indexOf } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";
import { type Comparison, joinComparisons } from "./gpu_comparison.ts";
import type { Submission } from "./gpu_device.ts";
import { bytesOf, rangesOf } from "./gpu_slices.ts";
import { type Reference, type Start, stateLevels } from "./reference.ts";
import {
  type CpuPart,
  disposeShares,
  type GpuPart,
  makeShares,
  type ShareOptions,
  type Shares,
} from "./shares.ts";
import { copySlices, levelOf, type SliceCells, type Transfer, withoutPadX } from "./slice_exchange.ts";

/** How long a run took. */
export interface SharedTimes {
  /** By the host's clock, from beginning to end. */
  readonly wallNs: number;
  /** The CPU's part of each round: its workers' computing, and the host's copies to and from its memory. */
  readonly cpuRoundsNs: readonly number[];
  /** The GPU's part of each round: computing and copies by the device's clock, where it has one. */
  readonly gpuRoundsNs: readonly number[];
  /** Of these, the host's copies: the GPU's slices to the CPU's memory, and the CPU's to the GPU. */
  readonly unpackRoundsNs: readonly number[];
  readonly packRoundsNs: readonly number[];
}

/** A round of the GPU, and the buffer that it hands its slices over in. */
interface GpuRound {
  readonly submission: Submission;
  readonly slices: GPUBuffer;
  /** Its time; undefined until someone waits for it. */
  timeNs?: Promise<number>;
}

/** A field whose slices the CPU and the GPU share. */
export class SharedField implements Disposable {
  readonly problem: Problem;
  /** Host time from the configuration to both devices' code. */
  readonly compileNs: number;
  readonly #exchangeEvery: number;
  readonly #shares: Shares;
  /** The CPU's slices with which the GPU's next round begins. */
  #packed: GPUBuffer | undefined;
  #step = 0;

  private constructor(problem: Problem, made: { exchangeEvery: number; shares: Shares; compileNs: number }) {
    this.problem = problem;
    this.compileNs = made.compileNs;
    this.#exchangeEvery = made.exchangeEvery;
    this.#shares = made.shares;
  }

  /**
   * Compiles both shares' code and takes their memory. A share of 0 slices leaves its device out; then there are
   * neither ghost zones nor exchanges.
   *
   * @throws {RunFailure | CpuFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: ShareOptions): Promise<SharedField> {
    const { exchangeEvery } = options.configuration.share;
    const shares = await makeShares(problem, options);
    const { cpu, gpu } = shares;
    const compileNs = (cpu?.compileNs ?? 0) + (gpu?.field.compileNs ?? 0);
    return new SharedField(problem, { exchangeEvery, shares, compileNs });
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels of both shares, ghost zones too, and time step 0. */
  async initialise({ kind, seed }: Start): Promise<void> {
    const [wholeX] = this.problem.grid;
    this.#step = 0;
    this.#packed?.destroy();
    this.#packed = undefined;
    const { cpu, gpu } = this.#shares;
    await cpu?.field.setInitial(kind, { seed, xOffset: -cpu.first, xPeriod: wholeX });
    await gpu?.field.initialise({ kind, seed, firstX: (cpu?.slices ?? 0) - gpu.first, wholeX });
  }

  /**
   * Advances the field. Shared, it does so in rounds of R steps, each ended by an exchange; where the steps are no
   * multiple of R the last round is shorter. One device alone has a single round.
   *
   * @param steps time steps of one run
   * @param repetitions runs, one after another in one batch
   */
  async run(steps: number, repetitions = 1): Promise<SharedTimes> {
    const started = performance.now();
    const { cpu, gpu } = this.#shares;
    const rounds = cpu !== undefined && gpu !== undefined
      ? await this.#runRounds(roundsOf(steps, this.#exchangeEvery, repetitions), cpu, gpu)
      : {
        cpuRoundsNs: cpu === undefined ? [] : [await cpu.field.run({ steps: steps * repetitions })],
        gpuRoundsNs: gpu === undefined ? [] : [await gpu.field.run(steps, repetitions)],
        unpackRoundsNs: [],
        packRoundsNs: [],
      };
    this.#step += steps * repetitions;
    return { wallNs: (performance.now() - started) * 1e6, ...rounds };
  }

  /** Compares all own cells of both shares, every level of the state, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const { cpu, gpu } = this.#shares;
    const parts: Comparison[] = [];
    if (cpu !== undefined) {
      const { field, first: slice, slices } = cpu;
      for (const ago of stateLevels(this.problem)) {
        parts.push(await reference.compareCpu(field, { ago, slice, slices, referenceSlice: 0 }));
      }
    }
    if (gpu !== undefined) {
      const { field, first: slice, slices } = gpu;
      parts.push(await reference.compareGpu(field, { slice, slices, referenceSlice: cpu?.slices ?? 0 }));
    }
    return joinComparisons(parts);
  }

  /** The whole grid's own cells of a level, dense: x, planes, y, z. */
  async readCells(ago: 0 | 1): Promise<Float32Array> {
    const { grid: [, ny, nz], stencil: { update } } = this.problem;
    const { cpu, gpu } = this.#shares;
    const planes = planesOf(update);
    const cells = new Float32Array(planes * cellsOf(this.problem.grid));
    if (cpu !== undefined) {
      const { cells: level, layout } = levelOf(cpu.field, ago);
      for (let row = 0; row < cpu.slices * planes * ny; row++) {
        const x = Math.floor(row / (planes * ny)), plane = Math.floor(row / ny) % planes;
        const from = indexOf(layout, [cpu.first + x, row % ny, 0], plane);
        cells.set(level.subarray(from, from + nz), row * nz);
      }
    }
    if (gpu !== undefined) {
      const { field, first, slices } = gpu;
      const perSlice = planes * ny * nz;
      const own = (await field.readCells(ago)).subarray(first * perSlice, (first + slices) * perSlice);
      cells.set(own, (cpu?.slices ?? 0) * perSlice);
    }
    return cells;
  }

  /** Whether the host computes a part of the GPU's share. */
  get usesHost(): boolean {
    return this.#shares.gpu?.field.usesHost ?? false;
  }

  /** The CPU's field and its own slices in it; undefined where the CPU has none. */
  get cpuShare(): CpuPart | undefined {
    return this.#shares.cpu;
  }

  /** The GPU's field and its own slices in it; undefined where the GPU has none. */
  get gpuShare(): GpuPart | undefined {
    return this.#shares.gpu;
  }

  /** Brings the GPU's ghost zones up to date, so that slices may be written from outside. */
  async settle(): Promise<void> {
    const buffer = this.#packed;
    if (buffer === undefined) return;
    this.#packed = undefined;
    try {
      await this.#shares.gpu!.field.receive({ buffer, ranges: rangesOf(this.#shares.toGpu) });
    } finally {
      buffer.destroy();
    }
  }

  [Symbol.dispose](): void {
    this.#packed?.destroy();
    disposeShares(this.#shares);
  }

  async #runRounds(
    rounds: readonly number[],
    cpu: CpuPart,
    gpu: GpuPart,
  ): Promise<Omit<SharedTimes, "wallNs">> {
    const cpuRoundsNs: number[] = [], gpuRoundsNs: number[] = [];
    const unpackRoundsNs: number[] = [], packRoundsNs: number[] = [];
    const ghost = { low: this.problem.boundary === "periodic", high: true };
    let last: GpuRound | undefined;
    /** Waits for the GPU's round before this one; returns the host's time to unpack its slices. */
    const receive = async (): Promise<number> => {
      if (last === undefined) return 0;
      gpuRoundsNs.push(await last.timeNs!);
      const unpackNs = this.#unpack(last.slices, cpu, gpu);
      unpackRoundsNs.push(unpackNs);
      return unpackNs;
    };
    try {
      for (const steps of rounds) {
        const next = await this.#submitRound(steps, gpu);
        const unpackNs = await receive().finally(() => {
          last?.slices.destroy();
          last = next;
        });
        const computing = cpu.field.run({ steps, ghost });
        computing.catch(() => {}); // awaited below
        // the workers begin first: on a software device the host's wait for the GPU blocks it
        await new Promise((resolve) => setTimeout(resolve));
        next.timeNs = next.submission.finish();
        next.timeNs.catch(() => {}); // awaited a round later
        const computingNs = await computing, packNs = await this.#pack(cpu, gpu);
        cpuRoundsNs.push(unpackNs + computingNs + packNs);
        packRoundsNs.push(packNs);
      }
      await receive();
      return { cpuRoundsNs, gpuRoundsNs, unpackRoundsNs, packRoundsNs };
    } finally {
      // where the CPU failed, the GPU's round is left over
      if (last !== undefined && last.timeNs === undefined) last.submission.finish().catch(() => {});
      last?.slices.destroy();
    }
  }

  /** Hands a round to the GPU, which begins it as soon as it is done with the one before. */
  async #submitRound(steps: number, { device, field }: GpuPart): Promise<GpuRound> {
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    const bytes = bytesOf(this.#shares.toCpu, field.plan.layout);
    const slices = await device.buffer(bytes, usage, "the GPU's slices for the CPU");
    const incoming = this.#packed;
    const submission = await field.exchange(steps, {
      incoming: incoming && { buffer: incoming, ranges: rangesOf(this.#shares.toGpu) },
      outgoing: { buffer: slices, ranges: rangesOf(this.#shares.toCpu) },
    });
    this.#packed = undefined;
    incoming?.destroy(); // once the device has read it
    return { submission, slices };
  }

  /** Copies the GPU's slices from the mapped buffer into the CPU's ghost zones; returns the host's time. */
  #unpack(buffer: GPUBuffer, cpu: CpuPart, gpu: GpuPart): number {
    const started = performance.now();
    const cells = new Float32Array(gpu.device.mapped(buffer));
    this.#copy(this.#shares.toCpu, { cells, gpu }, (staged, { ago, cpuSlice, slices }) => {
      copySlices(staged, { ...levelOf(cpu.field, ago), slice: cpuSlice }, slices);
    });
    gpu.device.unmap(buffer);
    return (performance.now() - started) * 1e6;
  }

  /**
   * Copies the CPU's slices into a buffer for the GPU's next round; returns the host's time. By `writeBuffer`: a
   * buffer mapped for writing is first read by Deno, from memory that no cache holds, at 29 MB/s on an H100
   * (2026-11-21).
   */
  async #pack(cpu: CpuPart, gpu: GpuPart): Promise<number> {
    const started = performance.now();
    const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const bytes = bytesOf(this.#shares.toGpu, gpu.field.plan.layout);
    this.#packed = await gpu.device.buffer(bytes, usage, "the CPU's slices");
    const cells = new Float32Array(bytes / 4);
    this.#copy(this.#shares.toGpu, { cells, gpu }, (staged, { ago, cpuSlice, slices }) => {
      copySlices({ ...levelOf(cpu.field, ago), slice: cpuSlice }, staged, slices);
    });
    gpu.device.write(this.#packed, 0, cells);
    return (performance.now() - started) * 1e6;
  }

  /** Calls `copy` with the place of each transfer in the staged cells. */
  #copy(
    transfers: readonly Transfer[],
    { cells, gpu }: { cells: Float32Array; gpu: GpuPart },
    copy: (staged: SliceCells, transfer: Transfer) => void,
  ): void {
    const layout = withoutPadX(gpu.field.plan.layout);
    let slice = 0;
    for (const transfer of transfers) {
      copy({ cells, layout, slice }, transfer);
      slice += transfer.slices;
    }
  }
}

/** The steps of each round. */
function roundsOf(steps: number, exchangeEvery: number, repetitions: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  const once = [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
  return new Array<number[]>(repetitions).fill(once).flat();
}
