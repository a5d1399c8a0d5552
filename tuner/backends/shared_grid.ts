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
 * **Exchange.** After R steps the outermost R·S own slices of F(t), and (R−1)·S of F(t−1), replace the other's ghost
 * zone: the first of the R steps needs F(t−1) only where it computes a valid F(t+1).
 *
 * **What hides behind what.** A round of the GPU is one submission: copy in, R steps, copy out. It waits for
 * nothing but the CPU's slices of the round before; so it is submitted before the GPU's own slices of that round
 * have been read. The host's wait for the mapping (at least one 10 ms tick of Deno's poll timer), the unpacking of
 * the GPU's slices, and the rest of the CPU's round then overlap with the GPU's computing. The CPU starts its round
 * when it has the GPU's slices; packing its own is hidden where the GPU takes longer. What cannot hide: the tick
 * when the GPU is done last, and packing when the CPU is. R large enough makes both small.
 *
 * @module
 */
import { reachOf, readsPrevious } from "../../kernels/expression.ts";
import { indexOf, type Layout, layOut } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { GpuPlan } from "../../kernels/traversals/traversal.ts";
import type { Configuration } from "../configuration.ts";
import { type GpuDevice, RunFailure } from "./gpu_device.ts";
import {
  type Comparison,
  GpuField,
  type InitialState,
  joinComparisons,
  type SliceRange,
} from "./gpu_field.ts";
import type { Reference } from "./reference.ts";
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
  /** The CPU's part of each round: its workers' computing, and the host's copies from and to its memory. */
  readonly cpuRoundsNs: readonly number[];
  /** The GPU's part of each round: computing and its copies by the device's clock, where it has one. */
  readonly gpuRoundsNs: readonly number[];
}

/** Slices that go from one share to the other. */
interface Transfer {
  readonly ago: 0 | 1;
  readonly cpuSlice: number;
  readonly gpuSlice: number;
  readonly slices: number;
}

/** A share: the device's field, where its own slices begin in it, how many they are. */
interface Part<Field> {
  readonly field: Field;
  readonly first: number;
  readonly slices: number;
}

/** A field whose slices are shared by the CPU and the GPU. */
export class SharedField implements Disposable {
  readonly problem: Problem;
  readonly compileNs: number;
  readonly #device: GpuDevice | undefined;
  readonly #cpu: Part<CpuField> | undefined;
  readonly #gpu: Part<GpuField> | undefined;
  readonly #exchangeEvery: number;
  readonly #toCpu: readonly Transfer[];
  readonly #toGpu: readonly Transfer[];
  /** The CPU's slices that the GPU's next round begins with. */
  #packed: GPUBuffer | undefined;
  #step = 0;

  private constructor(
    problem: Problem,
    options: SharedFieldOptions,
    parts: { cpu?: Part<CpuField>; gpu?: Part<GpuField>; compileNs: number },
  ) {
    const { ghost = ghostSlices(problem, options.configuration) } = options;
    this.problem = problem;
    this.compileNs = parts.compileNs;
    this.#device = options.gpu;
    this.#cpu = parts.cpu;
    this.#gpu = parts.gpu;
    this.#exchangeEvery = options.configuration.share.exchangeEvery;
    const transfers = parts.cpu === undefined || parts.gpu === undefined
      ? { toCpu: [], toGpu: [] }
      : transfersBetween(parts.cpu, parts.gpu, { problem, ghost });
    this.#toCpu = transfers.toCpu;
    this.#toGpu = transfers.toGpu;
  }

  /**
   * Compiles and takes the memory of both shares. A share of 0 slices leaves its device out, and then there are
   * neither ghost zones nor exchanges.
   *
   * @throws {RunFailure | CpuFailure} if a device or the share does not allow it
   */
  static async create(problem: Problem, options: SharedFieldOptions): Promise<SharedField> {
    const { gpu: device, cpuPool, configuration } = options;
    const { share: { cpuSlices, gpuSlices } } = configuration;
    const { ghost = checkShare(problem, configuration) } = options;
    const started = performance.now();
    const isShared = cpuSlices > 0 && gpuSlices > 0;
    const low = isShared && problem.boundary === "periodic" ? ghost : 0;
    const high = isShared ? ghost : 0;
    let cpu: Part<CpuField> | undefined;
    try {
      if (cpuSlices > 0) cpu = await cpuPart(problem, { cpuPool, cpuSlices, low, high });
      const gpu = gpuSlices === 0
        ? undefined
        : await gpuPart(problem, { device, configuration, low: high, high: low });
      return new SharedField(problem, options, { cpu, gpu, compileNs: (performance.now() - started) * 1e6 });
    } catch (error) {
      cpu?.field.dispose().catch(() => {});
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
    const cpuSlices = this.#cpu?.slices ?? 0;
    await this.#cpu?.field.setInitial(kind, { seed, xOffset: -this.#cpu.first, xPeriod: wholeX });
    await this.#gpu?.field.initialise({ kind, seed, firstX: cpuSlices - this.#gpu.first, wholeX });
  }

  /**
   * Advances the field: rounds of R steps, the last one shorter where the steps are no multiple of R; an exchange
   * ends every round.
   */
  async run(steps: number): Promise<SharedTimes> {
    const started = performance.now();
    const rounds = this.#cpu === undefined || this.#gpu === undefined
      ? await this.#runAlone(steps)
      : await this.#runRounds(steps, this.#cpu, this.#gpu);
    this.#step += steps;
    return { wallNs: (performance.now() - started) * 1e6, ...rounds };
  }

  /** Compares all own cells of both shares, both levels, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const comparisons: Comparison[] = [];
    for (const ago of [0, 1] as const) {
      if (this.#cpu !== undefined) {
        const { field, first: slice, slices } = this.#cpu;
        comparisons.push(await reference.compareCpu(field, { ago, slice, slices, referenceSlice: 0 }));
      }
      if (this.#gpu !== undefined) {
        const { field, first: slice, slices } = this.#gpu;
        const referenceSlice = this.#cpu?.slices ?? 0;
        comparisons.push(await reference.compareGpu(field, { ago, slice, slices, referenceSlice }));
      }
    }
    return joinComparisons(comparisons);
  }

  /** The whole grid's own cells of a level, dense. */
  async readCells(ago: 0 | 1): Promise<Float32Array> {
    const [, ny, nz] = this.problem.grid;
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

  [Symbol.dispose](): void {
    this.#packed?.destroy();
    this.#gpu?.field[Symbol.dispose]();
    this.#cpu?.field.dispose().catch(() => {});
  }

  async #runAlone(steps: number): Promise<Omit<SharedTimes, "wallNs">> {
    return {
      cpuRoundsNs: this.#cpu === undefined ? [] : [await this.#cpu.field.run({ steps })],
      gpuRoundsNs: this.#gpu === undefined ? [] : [await this.#gpu.field.run(steps)],
    };
  }

  async #runRounds(
    steps: number,
    cpu: Part<CpuField>,
    gpu: Part<GpuField>,
  ): Promise<Omit<SharedTimes, "wallNs">> {
    const cpuRoundsNs: number[] = [], gpuRoundsNs: number[] = [];
    const ghost = { low: this.problem.boundary === "periodic", high: true };
    /** The GPU's round under way. */
    let ahead: { done: Promise<number>; slices: GPUBuffer } | undefined;
    const receive = async (): Promise<number> => {
      if (ahead === undefined) return 0;
      const { done, slices } = ahead;
      gpuRoundsNs.push(await done);
      return timeNs(() => this.#unpack(slices, cpu, gpu));
    };
    try {
      for (let done = 0; done < steps; done += this.#exchangeEvery) {
        const round = Math.min(this.#exchangeEvery, steps - done);
        const next = await this.#submit(round, gpu);
        const unpackNs = await receive().finally(() => ahead?.slices.destroy());
        ahead = next;
        const computeNs = await cpu.field.run({ steps: round, ghost });
        const slices = await this.#bufferFor(this.#toGpu, gpu, "the CPU's slices");
        const packNs = timeNs(() => this.#pack(slices, cpu, gpu));
        this.#packed = slices;
        cpuRoundsNs.push(unpackNs + computeNs + packNs);
      }
      const unpackNs = await receive();
      if (cpuRoundsNs.length > 0) cpuRoundsNs[cpuRoundsNs.length - 1] += unpackNs;
      return { cpuRoundsNs, gpuRoundsNs };
    } finally {
      ahead?.done.catch(() => {}); // where the CPU failed first
      ahead?.slices.destroy();
    }
  }
}
