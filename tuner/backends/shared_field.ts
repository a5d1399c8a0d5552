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
import { type Boundary, cellsOf, periodicAxes, type Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Configuration } from "../configuration.ts";
import { type GpuDevice, RunFailure } from "./gpu_device.ts";
import { type Comparison, GpuField, joinComparisons, type SliceRange } from "./gpu_field.ts";
import { type Reference, type Start, stateLevels } from "./reference.ts";
import {
  copySlices,
  levelOf,
  type OwnSlices,
  type SliceCells,
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
  async initialise({ kind, seed }: Start): Promise<void> {
    const [wholeX] = this.problem.grid;
    this.#step = 0;
    this.#packed?.destroy();
    this.#packed = undefined;
    const cpu = this.#cpu, gpu = this.#gpu;
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
    const cpu = this.#cpu, gpu = this.#gpu;
    const rounds = cpu !== undefined && gpu !== undefined
      ? await this.#runRounds(roundsOf(steps, this.#exchangeEvery, repetitions), cpu, gpu)
      : {
        cpuRoundsNs: cpu === undefined ? [] : [await cpu.field.run({ steps: steps * repetitions })],
        gpuRoundsNs: gpu === undefined ? [] : [await gpu.field.run(steps, repetitions)],
      };
    this.#step += steps * repetitions;
    return { wallNs: (performance.now() - started) * 1e6, ...rounds };
  }

  /** Compares all own cells of both shares, every level of the state, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const parts: Comparison[] = [];
    for (const ago of stateLevels(this.problem)) {
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
      const { cells: level } = levelOf(field, ago);
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

  async #runRounds(
    rounds: readonly number[],
    cpu: CpuPart,
    gpu: GpuPart,
  ): Promise<Omit<SharedTimes, "wallNs">> {
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
      for (const steps of rounds) {
        const next = await this.#submitRound(steps, gpu);
        const unpackNs = await receive().finally(() => last = next);
        const computeNs = await cpu.field.run({ steps, ghost });
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

  /** Copies the GPU's slices from the mapped buffer into the CPU's ghost zones; returns the host's time. */
  #unpack(buffer: GPUBuffer, cpu: CpuPart, gpu: GpuPart): number {
    const started = performance.now();
    this.#copy(this.#toCpu, { staged: buffer, gpu }, (staged, { ago, cpuSlice, slices }) => {
      copySlices(staged, { ...levelOf(cpu.field, ago), slice: cpuSlice }, { slices, rim: this.#rim });
    });
    return (performance.now() - started) * 1e6;
  }

  /** Copies the CPU's slices into a buffer for the GPU's next round; returns the host's time. */
  async #pack(cpu: CpuPart, gpu: GpuPart): Promise<number> {
    const started = performance.now();
    const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.MAP_WRITE;
    const bytes = bytesOf(this.#toGpu, gpu.field);
    const buffer = await gpu.device.checked(
      "out-of-memory",
      () =>
        gpu.device.device.createBuffer({
          size: bytes,
          usage,
          label: "the CPU's slices",
          mappedAtCreation: true,
        }),
    );
    this.#packed = buffer;
    this.#copy(this.#toGpu, { staged: buffer, gpu }, (staged, { ago, cpuSlice, slices }) => {
      copySlices({ ...levelOf(cpu.field, ago), slice: cpuSlice }, staged, { slices, rim: this.#rim });
    });
    return (performance.now() - started) * 1e6;
  }

  /** Calls `copy` with the place of each transfer in a mapped buffer, then unmaps it. */
  #copy(
    transfers: readonly Transfer[],
    { staged, gpu }: { staged: GPUBuffer; gpu: GpuPart },
    copy: (staged: SliceCells, transfer: Transfer) => void,
  ): void {
    const cells = new Float32Array(staged.getMappedRange());
    const layout = withoutPadX(gpu.field.plan.layout);
    let slice = 0;
    for (const transfer of transfers) {
      copy({ cells, layout, slice }, transfer);
      slice += transfer.slices;
    }
    staged.unmap();
  }

  /** Pads that a share of a periodic grid gets with its slices: on the GPU nobody else renews them. */
  get #rim(): readonly [y: number, z: number] {
    if (this.problem.boundary === "zero") return [0, 0];
    const { y, z } = reachOf(this.problem.stencil.update);
    return [y, z];
  }
}

/** Slices of a ghost zone: R times the reach of a step along x. */
export function ghostSlices({ stencil }: Pick<Problem, "stencil">, exchangeEvery: number): number {
  return exchangeEvery * reachOf(stencil.update).x;
}

/** The steps of each round. */
function roundsOf(steps: number, exchangeEvery: number, repetitions: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  const once = [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
  return new Array<number[]>(repetitions).fill(once).flat();
}

/** Refuses what no share can be. */
function checkShare(
  { grid, stencil, boundary }: Problem,
  { gpu, cpuPool, configuration, ghost }: SharedFieldOptions,
): void {
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = configuration.share;
  const isNatural = [cpuSlices, gpuSlices].every((slices) => Number.isSafeInteger(slices) && slices >= 0);
  if (!isNatural || cpuSlices + gpuSlices !== grid[0]) {
    throw new RunFailure(
      "limits",
      `shares of ${cpuSlices} and ${gpuSlices} slices do not make up ${grid[0]}`,
    );
  }
  if (cpuSlices > 0 && cpuPool?.workers !== cpuWorkers) {
    throw new RunFailure("limits", `${cpuWorkers} CPU workers wanted, there are ${cpuPool?.workers ?? 0}`);
  }
  if (gpuSlices > 0 && gpu === undefined) throw new RunFailure("limits", "there is no GPU for its slices");
  if (cpuSlices === 0 || gpuSlices === 0) return;
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    throw new RunFailure(
      "limits",
      `steps between exchanges must be a whole number from 1 up, not ${exchangeEvery}`,
    );
  }
  if (boundary === "periodic-yz") throw new RunFailure("limits", "a share cannot be shared again");
  const thinnest = ghost ?? ghostSlices({ stencil }, exchangeEvery);
  if (Math.min(cpuSlices, gpuSlices) < thinnest) {
    const shares = `shares of ${cpuSlices} and ${gpuSlices} slices`;
    throw new RunFailure("limits", `${shares}: one is thinner than the ghost zone of ${thinnest}`);
  }
}

/** Slices of the ghost zones at the two ends of a share. */
interface GhostZones {
  readonly before: number;
  readonly after: number;
}

async function makeCpuPart(
  { grid: [, ny, nz], boundary, stencil }: Problem,
  { cpuPool, configuration: { share: { cpuSlices, gpuSlices } } }: SharedFieldOptions,
  { before, after }: GhostZones,
): Promise<CpuPart> {
  const { x, y, z } = reachOf(stencil.update);
  const layout = layOut([before + cpuSlices + after, ny, nz], { pad: [x, y, z] });
  const [wrapsX, wrapsY, wrapsZ] = periodicAxes(boundary);
  const along = (wraps: boolean): Boundary => wraps ? "periodic" : "zero";
  const boundaries = [along(wrapsX && gpuSlices === 0), along(wrapsY), along(wrapsZ)] as const;
  const field = await cpuPool!.load({ update: stencil.update, layout, boundary: boundaries });
  return { field, first: before, slices: cpuSlices };
}

async function makeGpuPart(
  problem: Problem,
  { gpu, configuration: { traversal: name, parameters, share: { cpuSlices, gpuSlices } } }:
    SharedFieldOptions,
  { before, after }: GhostZones,
): Promise<GpuPart> {
  const { grid: [, ny, nz] } = problem;
  const boundary = cpuSlices > 0 && problem.boundary === "periodic" ? "periodic-yz" : problem.boundary;
  const part: Problem = { ...problem, boundary, grid: [before + gpuSlices + after, ny, nz] };
  const traversal = traversalNamed(name);
  const reason = traversal.refuse(part) ?? traversal.infeasible(part, parameters, gpu!.limits);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const field = await GpuField.create(gpu!, part, traversal.plan(part, parameters));
  return { device: gpu!, field, first: before, slices: gpuSlices };
}

function release(cpu: CpuPart | undefined): void {
  // the memory is free at once; a pool that has ended needs no word
  cpu?.field.dispose().catch(() => {});
}

/** Bytes that the transfers' slices take in the GPU's layout. */
function bytesOf(transfers: readonly Transfer[], { plan: { layout } }: GpuField): number {
  return 4 * layout.slice * transfers.reduce((sum, { slices }) => sum + slices, 0);
}

function rangesOf(transfers: readonly Transfer[]): SliceRange[] {
  return transfers.map(({ ago, gpuSlice, slices }) => ({ ago, slice: gpuSlice, slices }));
}
