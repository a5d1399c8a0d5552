/**
 * Solvers as cases want them: one of `mod.ts`, or ranks within this process, which also hold windows.
 *
 * @module
 */
import type { AnySolver } from "../../tuner/solver/solver.ts";
import { createSolver, openDevice, type OpenProblem, solverLayout, stencilOf } from "../../mod.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { deviceLimitsOf } from "../../tuner/devices/device.ts";
import { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { PIECE } from "../../tuner/devices/shared/boxes.ts";
import { planOf } from "../../models/rank_part.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { precisionOf } from "../../kernels/precision.ts";
import { type LocalWorld, localWorlds, openRank } from "../ranks/local_world.ts";
import { type Call, patternAt, type RandomCase } from "./random_case.ts";

/** What callbacks get. */
export type Take = (first: number, values: ArrayLike<number>, size?: readonly number[]) => void;

/** What runs a script. */
export interface Machine extends AsyncDisposable {
  write(call: Extract<Call, { call: "write" }>): Promise<void>;
  run(steps: number): Promise<unknown>;
  sources(call: Extract<Call, { call: "sources" }>): Promise<void>;
  receivers(call: Extract<Call, { call: "receivers" }>, take: Take): Promise<void>;
  snapshots(call: Extract<Call, { call: "snapshots" }>, take: Take): Promise<void>;
  reset(): Promise<void>;
  continue(): Promise<void>;
  initialise(kind: "noise" | "integers" | "binary" | "zero", seed: number): Promise<void>;
  read(name: string, ago?: 1, x?: number, slices?: number): Promise<ArrayLike<number>>;
  traces(): Promise<readonly ArrayLike<number>[]>;
  spectra(): Promise<readonly ArrayLike<number>[]>;
}

/** A submission may take so long: software that shares its cores is slow. */
export const TIMEOUT_MS = 600_000;

/** The GPU, whose limits can be lowered. */
export interface LimitedGpu {
  readonly device: GPUDevice;
  readonly isSoftware: boolean;
  /** Its own limits. */
  readonly limits: Readonly<Record<string, number>>;
  /** Lowers some until the next call. */
  lower(limits: Readonly<Record<string, number>>): void;
}

/** Opens the GPU; undefined where there is none. */
export async function openLimitedGpu(): Promise<LimitedGpu | undefined> {
  const device = await openDevice({ precision: "f64" }) ?? await openDevice();
  if (device === null) return undefined;
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(device.limits));
  const own = device.limits as unknown as Record<string, number>;
  const { subgroupSize } = deviceLimitsOf(device);
  const limits = {
    ...Object.fromEntries(
      names.filter((name) => typeof own[name] === "number").map((name) => [name, own[name]!]),
    ),
    ...(subgroupSize && { subgroupSize }),
  };
  let lowered: Readonly<Record<string, number>> = {};
  Object.defineProperty(device, "limits", { get: () => ({ ...limits, ...lowered }) });
  return {
    device,
    isSoftware: device.adapterInfo?.isFallbackAdapter ?? false,
    limits,
    lower: (limits) => void (lowered = limits),
  };
}

/** The problem of a case as users have it. */
export function problemOf({ definition, grid, boundary, steps, survey }: RandomCase): OpenProblem {
  const isSame = boundary.every((one) => one === boundary[0]);
  return {
    stencil: stencilOf(definition),
    grid: grid as unknown as OpenProblem["grid"],
    boundary: (isSame ? boundary[0] : boundary) as OpenProblem["boundary"],
    steps,
    ...(survey && { survey }),
  };
}

function placeOptions({ interpolation, slope }: { interpolation?: "linear" | "sinc"; slope?: number }) {
  return {
    ...(interpolation !== undefined && { interpolation }),
    ...(slope !== undefined && { weight: (x: number) => 1 + slope * x }),
  };
}

type Positions = Parameters<AnySolver["addReceivers"]>[1];

const USUAL_PIECE = PIECE.cells;

/** Makes what computes a case; throws what the product throws. */
export async function makeMachine(one: RandomCase, gpu: LimitedGpu | undefined): Promise<Machine> {
  gpu?.lower({});
  const { where, pieceCells = USUAL_PIECE } = one;
  PIECE.cells = pieceCells;
  if (where.on === "ranks") return await RankMachine.make(one, where, gpu);
  const { configuration, sections, hasBuffers = false } = where, problem = problemOf(one);
  const usesGpu = configuration.share.gpuSlices > 0;
  const buffers = hasBuffers ? makeBuffers(problem, configuration, gpu!) : undefined;
  const make = async (from?: Blob): Promise<AnySolver> => {
    if (sections !== undefined) {
      const { bytes, isBuffer } = sections;
      gpu!.lower({ maxStorageBufferBindingSize: bytes, ...(isBuffer && { maxBufferSize: bytes }) });
    }
    try {
      const options = { timeoutMs: TIMEOUT_MS, ...(buffers && { buffers }), ...(from && { from }) };
      return await createSolver(usesGpu ? gpu!.device : null, problem, configuration, options);
    } finally {
      gpu?.lower({});
    }
  };
  return new SolverMachine(await make(), make, buffers ?? []);
}

function makeBuffers(problem: OpenProblem, configuration: Configuration, { device }: LimitedGpu) {
  const layout = solverLayout(problem, configuration), { length } = layout, { bytes } = precisionOf(layout);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  return [0, 1].map(() => device.createBuffer({ size: bytes * length, usage })) as [GPUBuffer, GPUBuffer];
}

class SolverMachine implements Machine {
  #solver: AnySolver;
  readonly #make: (from: Blob) => Promise<AnySolver>;
  readonly #buffers: readonly GPUBuffer[];

  constructor(solver: AnySolver, make: (from: Blob) => Promise<AnySolver>, buffers: readonly GPUBuffer[]) {
    [this.#solver, this.#make, this.#buffers] = [solver, make, buffers];
  }

  write({ name, values, ago, x, slices, isList }: Parameters<Machine["write"]>[0]): Promise<void> {
    const solver = this.#solver, { problem: { grid, stencil: { dimensions } } } = solver;
    const options = {
      ...(ago !== undefined && { ago }),
      ...(x !== undefined && { x }),
      ...(slices !== undefined && { slices }),
    };
    if (values.kind === "same") return solver.write(name, values.value, options);
    // an axis profile's function gets the index
    const isProfile = solver.problem.stencil.update.profiles?.some((one) => one.name === name) ?? false;
    const at = (...cell: number[]) => patternAt(values, isProfile ? cell.slice(0, 1) : cell);
    if (isList !== true) return solver.write(name, at, options);
    const [, ny, nz] = grid, first = x ?? 0, count = slices ?? grid[0] - first;
    const list = precisionOf(solver.problem.stencil.update).Values.from(
      { length: count * ny * nz },
      (_, i) => {
        const [x, y, z] = [first + Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz] as const;
        return dimensions === 2 ? at(x, z) : at(x, y, z);
      },
    );
    return solver.write(name, list, options);
  }

  run(steps: number) {
    return this.#solver.run(steps);
  }

  sources({ name, positions, signatures, ...rest }: Parameters<Machine["sources"]>[0]): Promise<void> {
    const sent = signatures.length === 1 ? signatures[0]! : signatures;
    return this.#solver.addSources(name, positions as unknown as Positions, sent, placeOptions(rest));
  }

  receivers({ name, positions, every, takes, ...rest }: Parameters<Machine["receivers"]>[0], take: Take) {
    return this.#solver.addReceivers(name, positions as unknown as Positions, {
      every,
      ...placeOptions(rest),
      ...(takes === "samples" && { onSamples: take }),
      ...(typeof takes === "object" && { frequencies: takes }),
    });
  }

  snapshots({ name, every, stride, box }: Parameters<Machine["snapshots"]>[0], take: Take): Promise<void> {
    return this.#solver.addSnapshots(name, {
      every,
      stride,
      ...(box && { box: box as never }),
      onSnapshot: ({ step, values, size }) => take(step, values, size),
    });
  }

  reset(): Promise<void> {
    return this.#solver.reset();
  }

  async continue(): Promise<void> {
    await this.goOn(await this.save());
  }

  save(): Promise<Blob> {
    return this.#solver.save();
  }

  async goOn(from: Blob): Promise<void> {
    await this.#solver[Symbol.asyncDispose]();
    this.#solver = await this.#make(from);
  }

  initialise(...all: Parameters<Machine["initialise"]>): Promise<void> {
    return this.#solver.initialise(...all);
  }

  read(name: string, ago?: 1, x?: number, slices?: number) {
    return this.#solver.read(name, {
      ...(ago !== undefined && { ago }),
      ...(x !== undefined && { x }),
      ...(slices !== undefined && { slices }),
    });
  }

  traces() {
    return this.#solver.traces();
  }

  spectra() {
    return this.#solver.spectra();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#solver[Symbol.asyncDispose]();
    for (const buffer of this.#buffers) buffer.destroy();
  }
}

/** Ranks of one process, which share a device: the calls of each are the same, and rank 0 answers. */
class RankMachine implements Machine {
  readonly #ranks: readonly SolverMachine[];
  readonly #pool: CpuPool | undefined;
  readonly #world: LocalWorld;
  #calls = 0;

  private constructor(ranks: readonly SolverMachine[], pool: CpuPool | undefined, world: LocalWorld) {
    [this.#ranks, this.#pool, this.#world] = [ranks, pool, world];
  }

  static async make(
    one: RandomCase,
    { parts, exchangeEvery, rates, workers, configurations, inTurns }: Extract<
      RandomCase["where"],
      { on: "ranks" }
    >,
    gpu: LimitedGpu | undefined,
  ): Promise<RankMachine> {
    const open = problemOf(one), usesGpu = configurations.some(({ share }) => share.gpuSlices > 0);
    const plan = planOf(plannedProblem(open), {
      parts: parts as unknown as [number, number, number],
      exchangeEvery,
      rates,
    });
    if (plan === undefined) {
      throw new RangeError("Cannot share the grid: parts are thinner than their ghost zones");
    }
    const usesCpu = configurations.some(({ share }) => share.cpuWorkers > 0);
    const pool = usesCpu ? await CpuPool.create({ workers }) : undefined;
    try {
      const device = {
        gpu: usesGpu ? await GpuDevice.borrow(gpu!.device, { timeoutMs: TIMEOUT_MS }) : undefined,
        cpuPool: pool,
      };
      const worlds = localWorlds(rates.length, one);
      const make = (rank: number, from?: Blob): Promise<AnySolver> => {
        const options = { plan: { ...plan, inTurns }, choose: () => configurations[rank]!, from };
        return openRank(worlds[rank]!, device, open, [], options);
      };
      const made = await Promise.allSettled(rates.map((_, rank) => make(rank)));
      const failed = made.find((one) => one.status === "rejected");
      const ranks = made.flatMap((one, rank) =>
        one.status === "fulfilled" ? [new SolverMachine(one.value, (from) => make(rank, from), [])] : []
      );
      if (failed === undefined) return new RankMachine(ranks, pool, worlds[0]!);
      for (const rank of ranks) await rank[Symbol.asyncDispose]();
      throw failed.reason;
    } catch (error) {
      pool?.dispose();
      throw error;
    }
  }

  async #all<T>(of: (rank: Machine) => Promise<T>): Promise<T> {
    this.#calls++;
    const [first] = await Promise.all(this.#ranks.map(of)).finally(() => this.#calls--);
    const left = this.#world.left();
    if (this.#calls === 0 && left > 0) {
      throw new Error(`${left} messages are under way when a call has ended`);
    }
    return first!;
  }

  write(...all: Parameters<Machine["write"]>) {
    return this.#all((rank) => rank.write(...all));
  }

  run(steps: number) {
    return this.#all((rank) => rank.run(steps));
  }

  sources(...all: Parameters<Machine["sources"]>) {
    return this.#all((rank) => rank.sources(...all));
  }

  receivers(...all: Parameters<Machine["receivers"]>) {
    return this.#all((rank) => rank.receivers(...all));
  }

  snapshots(...all: Parameters<Machine["snapshots"]>) {
    return this.#all((rank) => rank.snapshots(...all));
  }

  reset() {
    return this.#all((rank) => rank.reset());
  }

  async continue(): Promise<void> {
    const [from] = await Promise.all(this.#ranks.map((rank) => rank.save()));
    await Promise.all(this.#ranks.map((rank) => rank.goOn(from!)));
  }

  initialise(...all: Parameters<Machine["initialise"]>) {
    return this.#all((rank) => rank.initialise(...all));
  }

  read(...all: Parameters<Machine["read"]>) {
    return this.#all((rank) => rank.read(...all));
  }

  traces() {
    return this.#all((rank) => rank.traces());
  }

  spectra() {
    return this.#all((rank) => rank.spectra());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rank of this.#ranks) await rank[Symbol.asyncDispose]();
    this.#pool?.dispose();
  }
}
