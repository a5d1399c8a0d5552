/**
 * One grid on the GPU and the CPU together (B2R, §3.2–3.5). The CPU computes slices x < `cpuSlices`, the GPU the
 * others, both at the same time.
 *
 * **Ghost zones.** Where the shares meet, each carries R·S slices of the other's: S is the reach of a step along
 * x, R the number of steps between two exchanges. Every step makes S of these slices invalid, from the outside
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
 * the GPU is done last, and the packing when the CPU is: a large R makes both small.
 *
 * @module
 */
import { reachOf, readsPrevious } from "../../kernels/expression.ts";
import { indexOf, layOut } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Configuration } from "../configuration.ts";
import { type GpuDevice, RunFailure } from "./gpu_device.ts";
import {
  type Comparison,
  GpuField,
  type InitialState,
  joinComparisons,
  type SliceBuffer,
} from "./gpu_field.ts";
import { levelOf, type Reference } from "./reference.ts";
import {
  copySlices,
  type OwnSlices,
  type Transfer,
  transfersBetween,
  withoutPadX,
} from "./slice_exchange.ts";
import type { CpuField, CpuPool } from "./wasm_workers.ts";

/** What {@linkcode SharedField.create} takes. */
export interface SharedFieldOptions {
  /** May be missing where the CPU computes all slices. */
  readonly gpu?: GpuDevice;
  /** May be missing where the GPU computes all slices. */
  readonly cpuPool?: CpuPool;
  readonly configuration: Configuration;
  /**
   * Slices of a ghost zone; only tests choose another number, to see it fail.
   * @default {R·S}
   */
  readonly ghost?: number;
}

/** How long a run took. */
export interface SharedTimes {
  /** By the host's clock, from beginning to end. */
  readonly wallNs: number;
  /** The CPU's part of each round: its workers' computing, and the host's copies to and from its memory. */
  readonly cpuRoundsNs: readonly number[];
  /** The GPU's part of each round: computing and copies by the device's clock, where it has one. */
  readonly gpuRoundsNs: readonly number[];
}

/** One device's share. */
interface CpuPart extends OwnSlices {
  readonly field: CpuField;
}

/** One device's share. */
interface GpuPart extends OwnSlices {
  readonly device: GpuDevice;
  readonly field: GpuField;
}

/** A round of the GPU under way, and the buffer that it hands its slices over in. */
interface GpuRound {
  readonly timeNs: Promise<number>;
  readonly slices: GPUBuffer;
}

/** A field whose slices the CPU and the GPU share. */
export class SharedField implements Disposable {
  readonly problem: Problem;
  /** Host time from the configuration to both devices' code. */
  readonly compileNs: number;
  readonly #exchangeEvery: number;
  readonly #cpu: CpuPart | undefined;
  readonly #gpu: GpuPart | undefined;
  readonly #toCpu: readonly Transfer[] = [];
  readonly #toGpu: readonly Transfer[] = [];
  /** The CPU's slices with which the GPU's next round begins. */
  #packed: GPUBuffer | undefined;
  #step = 0;

  private constructor(
    problem: Problem,
    made: { exchangeEvery: number; ghost: number; compileNs: number; cpu?: CpuPart; gpu?: GpuPart },
  ) {
    const { exchangeEvery, ghost, compileNs, cpu, gpu } = made;
    this.problem = problem;
    this.compileNs = compileNs;
    this.#exchangeEvery = exchangeEvery;
    this.#cpu = cpu;
    this.#gpu = gpu;
    if (cpu === undefined || gpu === undefined) return;
    const { update } = problem.stencil;
    const transfers = transfersBetween(cpu, gpu, {
      ghost,
      reach: reachOf(update).x,
      isPeriodic: problem.boundary === "periodic",
      readsPrevious: readsPrevious(update),
    });
    this.#toCpu = transfers.toCpu;
    this.#toGpu = transfers.toGpu;
  }

  /**
   * Compiles both shares' code and takes their memory. A share of 0 slices leaves its device out; then there are
   * neither ghost zones nor exchanges.
   *
   * @throws {RunFailure | CpuFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: SharedFieldOptions): Promise<SharedField> {
    const { configuration: { share } } = options;
    checkShare(problem, options);
    const started = performance.now();
    const isShared = share.cpuSlices > 0 && share.gpuSlices > 0;
    const { ghost = ghostSlices(problem, share.exchangeEvery) } = options;
    const inner = isShared ? ghost : 0;
    const outer = isShared && problem.boundary === "periodic" ? ghost : 0;
    const cpu = share.cpuSlices === 0
      ? undefined
      : await makeCpuPart(problem, options, { before: outer, after: inner });
    try {
      const gpu = share.gpuSlices === 0
        ? undefined
        : await makeGpuPart(problem, options, { before: inner, after: outer });
      const compileNs = (performance.now() - started) * 1e6;
      return new SharedField(problem, { exchangeEvery: share.exchangeEvery, ghost, compileNs, cpu, gpu });
    } catch (error) {
      release(cpu);
      throw error;
    }
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels of both shares, ghost zones too, and time step 0. */
  async initialise({ kind, seed }: Pick<InitialState, "kind" | "seed">): Promise<void> {
    const [wholeX] = this.problem.grid;
    this.#step = 0;
    this.#packed?.destroy();
    this.#packed = undefined;
    const cpu = this.#cpu, gpu = this.#gpu;
    await cpu?.field.setInitial(kind, { seed, xOffset: -cpu.first, xPeriod: wholeX });
    await gpu?.field.initialise({ kind, seed, firstX: (cpu?.slices ?? 0) - gpu.first, wholeX });
  }

  /**
   * Advances the field in rounds of R steps, each ended by an exchange. Where the steps are no multiple of R the
   * last round is shorter.
   */
  async run(steps: number): Promise<SharedTimes> {
    const started = performance.now();
    const cpu = this.#cpu, gpu = this.#gpu;
    const rounds = cpu !== undefined && gpu !== undefined ? await this.#runRounds(steps, cpu, gpu) : {
      cpuRoundsNs: cpu === undefined ? [] : [await cpu.field.run({ steps })],
      gpuRoundsNs: gpu === undefined ? [] : [await gpu.field.run(steps)],
    };
    this.#step += steps;
    return { wallNs: (performance.now() - started) * 1e6, ...rounds };
  }

  /** Compares all own cells of both shares, both levels, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const parts: Comparison[] = [];
    for (const ago of [0, 1] as const) {
      if (this.#cpu !== undefined) {
        const { field, first: slice, slices } = this.#cpu;
        parts.push(await reference.compareCpu(field, { ago, slice, slices, referenceSlice: 0 }));
      }
      if (this.#gpu !== undefined) {
        const { field, first: slice, slices } = this.#gpu;
        const referenceSlice = this.#cpu?.slices ?? 0;
        parts.push(await reference.compareGpu(field, { ago, slice, slices, referenceSlice }));
      }
    }
    return joinComparisons(parts);
  }

  /** The whole grid's own cells of a level, dense. */
  async readCells(ago: 0 | 1): Promise<Float32Array> {
    const { grid: [, ny, nz] } = this.problem;
    const cells = new Float32Array(cellsOf(this.problem.grid));
    if (this.#cpu !== undefined) {
      const { field, first, slices } = this.#cpu;
      const level = levelOf(field, ago);
      for (let row = 0; row < slices * ny; row++) {
        const from = indexOf(field.layout, [first + Math.floor(row / ny), row % ny, 0]);
        cells.set(level.subarray(from, from + nz), row * nz);
      }
    }
    if (this.#gpu !== undefined) {
      const { field, first, slices } = this.#gpu;
      const own = (await field.readCells(ago)).subarray(first * ny * nz, (first + slices) * ny * nz);
      cells.set(own, (this.#cpu?.slices ?? 0) * ny * nz);
    }
    return cells;
  }

  /** The CPU's field and its own slices in it; undefined where the CPU has none. */
  get cpuShare(): CpuPart | undefined {
    return this.#cpu;
  }

  [Symbol.dispose](): void {
    this.#packed?.destroy();
    this.#gpu?.field[Symbol.dispose]();
    release(this.#cpu);
  }

  async #runRounds(steps: number, cpu: CpuPart, gpu: GpuPart): Promise<Omit<SharedTimes, "wallNs">> {
    const cpuRoundsNs: number[] = [], gpuRoundsNs: number[] = [];
    const ghost = { low: this.problem.boundary === "periodic", high: true };
    let last: GpuRound | undefined;
    /** Waits for the GPU's round before this one; returns the host's time to unpack its slices. */
    const receive = async (): Promise<number> => {
      if (last === undefined) return 0;
      const { timeNs, slices } = last;
      try {
        gpuRoundsNs.push(await timeNs);
        return this.#unpack(slices, cpu, gpu);
      } finally {
        slices.destroy();
        last = undefined;
      }
    };
    try {
      for (let done = 0; done < steps; done += this.#exchangeEvery) {
        const round = Math.min(this.#exchangeEvery, steps - done);
        const next = await this.#submitRound(round, gpu);
        const unpackNs = await receive().finally(() => last = next);
        const computeNs = await cpu.field.run({ steps: round, ghost });
        cpuRoundsNs.push(unpackNs + computeNs + await this.#pack(cpu, gpu));
      }
      await receive();
      return { cpuRoundsNs, gpuRoundsNs };
    } finally {
      // Left over where something failed: nobody else waits for it.
      last?.timeNs.catch(() => {});
      last?.slices.destroy();
    }
  }

  /** Hands a round to the GPU, which begins it as soon as it is done with the one before. */
  async #submitRound(steps: number, { device, field }: GpuPart): Promise<GpuRound> {
    const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
    const slices = await device.buffer(bytesOf(this.#toCpu, field), usage, "the GPU's slices for the CPU");
    const incoming = this.#packed;
    const timeNs = field.exchange(steps, {
      incoming: incoming && { buffer: incoming, ranges: rangesOf(this.#toGpu) },
      outgoing: { buffer: slices, ranges: rangesOf(this.#toCpu) },
    }).finally(() => incoming?.destroy());
    timeNs.catch(() => {}); // it is awaited a round later
    this.#packed = undefined;
    return { timeNs, slices };
  }

  /** Copies the GPU's slices from the mapped buffer into the CPU's ghost zones. */
  #unpack(buffer: GPUBuffer, cpu: CpuPart, gpu: GpuPart): number {
    return timed(() => {
      const cells = new Float32Array(buffer.getMappedRange());
      this.#forEachTransfer(this.#toCpu, cells, gpu, ({ ago, cpuSlice, slices }, staged) => {
        copySlices(staged, { ...cellsOfLevel(cpu, ago), slice: cpuSlice }, { slices, rim: this.#rim });
      });
      buffer.unmap();
    });
  }
}
