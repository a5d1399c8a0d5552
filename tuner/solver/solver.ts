import type { FloatArray } from "../../kernels/precision.ts";
import type { InitialField } from "../../kernels/initial_field.ts";
import type { Layout } from "../../kernels/layout.ts";
import type { OwnGrid, Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import type { World } from "../devices/world.ts";
import type { Choice } from "../profile/choose.ts";
import type { Profile } from "../profile/profile_types.ts";
import type { Refined } from "./refined.ts";
import type { SnapshotOptions } from "./snapshots.ts";
import type { PlaceOptions, Position, ReceiverOptions } from "../devices/survey.ts";

/** Options of {@linkcode createSolver}. */
export interface SolverOptions {
  /**
   * Your own device, with any limits; null: the CPU alone.
   * @default {the system's fastest GPU with all its limits, where there is one; it ends with the solver}
   */
  readonly device?: GPUDevice | null;
  /**
   * One profile or several, of any devices, from which the configuration is chosen.
   * @default {what `tune` wrote on this machine, where it may be read: the file that the environment variable FACET_PROFILE
   * names, else `profiles/<device>.json` in the folder where the program runs, and from Facet's own what that one lacks}
   */
  readonly profile?: Profile | readonly Profile[];
  /**
   * How to compute it, as {@linkcode chooseConfiguration} returns it; of CPU workers no more are started than there are
   * cores. @default {chosen; {@linkcode Solver.choice} says why}
   */
  readonly configuration?: Configuration;
  /**
   * Bytes of the GPU's memory that both time levels may take, for a choice: a larger grid stays in the host's memory and
   * passes through a window of that size, some 0.5 to 0.6 times as fast in long runs. Each run waits for whole passages.
   * @default {all there is; where that is too little for the grid, a half of what it takes, or less}
   */
  readonly deviceMemory?: number;
  /**
   * The ranks that compute the grid together, each a part: what `openWorld` of `@facet/facet/ranks` returns. Every rank makes
   * the same calls with the same arguments; what they return is rank 0's, and empty on the others. `configuration` then says
   * how each computes its part; `buffers` and `refine` are not wanted. @default {this process alone}
   */
  readonly world?: World;
  /** Of several ranks, parts along each axis. @default {those that are measured and predicted to be fastest} */
  readonly decompose?: OwnGrid;
  /** Of several ranks, R: steps between two exchanges. @default {measured and predicted to be fastest} */
  readonly exchangeEvery?: number;
  /**
   * Your own arrays for even and odd time levels, used in place: F(t) lies in the first if t is even, else in the
   * second; F(t−1) in the other. They are where the solver starts, F(0) and F(−1), and are never destroyed. Each holds
   * {@linkcode solverLayout}'s `length` f32 values, with zeros in the pads, and has the usages STORAGE, COPY_SRC and
   * COPY_DST. Only with your device and a configuration of which the GPU computes all, in the canonical order of cells.
   * @default {undefined} the solver creates its own, filled with zeros
   */
  readonly buffers?: readonly [even: GPUBuffer, odd: GPUBuffer];
  /** Milliseconds that one submission may take, up to 2³¹ − 1; after that the device counts as lost. @default {20000} */
  readonly timeoutMs?: number;
  /**
   * The module of the CPU workers, for bundles that do not have the package's `wasm_worker.js` beside them.
   * @default {undefined} the file in this package
   */
  readonly workerUrl?: URL;
  /**
   * What {@linkcode Solver.save} gave, or the bytes of its file: the solver goes on from there. Its equation, grid and boundary
   * must be the problem's. @default {undefined} all fields start at zero
   */
  readonly from?: Blob | Uint8Array<ArrayBuffer> | undefined;
  /**
   * Measures other configurations in the first runs, and goes on with the fastest; results stay the same but for
   * rounding. With true it tries the runners-up of the choice, or beside your own configuration the models' best
   * predictions. Until
   * {@linkcode Solver.refined} is done it takes memory for a second field, `layout` and `level` may change with each
   * run, and runs take about twice as long. Runs of fewer steps than the problem's, if it names any, begin no measurement. In Deno up to
   * four threads, each with a device of its own on the same GPU, compile what is tried next. Not with `buffers`.
   * @default {false}
   */
  readonly refine?: boolean | readonly Configuration[];
}

/** Which cells to read or write. */
export interface CellsOptions {
  /** The time level. 0: F(t), the newest; 1: F(t−1), if the equation reads it. @default {0} */
  readonly ago?: 0 | 1;
  /** The first slice. @default {0} */
  readonly x?: number;
  /** Number of slices. @default {all from x on} */
  readonly slices?: number;
}

/**
 * Values of some slices: dense (x, y, z; z fastest), one number for all, or a function of the cell. It is called once for a
 * cell of this process; among ranks it has to give the same each time, since the cells around a rank's own are others' own.
 */
export type CellValues = ArrayLike<number> | number | ((x: number, y: number, z: number) => number);

/** A solver of either precision. */
export type AnySolver = Solver<FloatArray<ArrayBuffer>>;

/** What a run took. */
export interface SolverRun {
  /** Steps of this run. */
  readonly steps: number;
  /** Nanoseconds, what `refine` measured included: by the device's own clock if one device computed alone and has a clock, else by the host's. */
  readonly timeNs: number;
  /**
   * Nanoseconds that this process's slowest device computed, in the meantime; what is missing to `timeNs` where several
   * share the grid is the part of their exchange that does not hide behind the computing.
   */
  readonly deviceNs: number;
  /**
   * Nanoseconds from the ends of rounds until what ranks exchanged then was there, hidden or not; 0 of a device alone. What
   * `deviceNs` lacks to `timeNs`, divided by this, did not hide.
   */
  readonly exchangeNs: number;
  /** Updates per second of the grid's own cells. */
  readonly cellsPerSecond: number;
}

/**
 * A problem ready to run, any number of steps, with your initial values and materials, on a device and in buffers of
 * yours or of its own; {@linkcode createSolver} creates one. You may call its methods without waiting for the
 * previous call: each begins when the one before has ended. Values are `Float64Array`s where the problem's precision is f64.
 */
export interface Solver<Values extends FloatArray<ArrayBuffer> = Float32Array<ArrayBuffer>>
  extends Disposable, AsyncDisposable {
  /** What is computed. */
  readonly problem: Problem;
  /** How it is computed now. */
  readonly configuration: Configuration;
  /** Why it was chosen, and the rate that was expected; undefined where `configuration` was given. */
  readonly choice: Choice | undefined;
  /** Time steps since the initial state. */
  readonly step: number;
  /** What `refine` has found so far; undefined without it. */
  readonly refined: Refined | undefined;
  /** Where the cells lie in {@linkcode Solver.level}; undefined if the GPU has no share, or a window of the grid. */
  readonly layout: Layout | undefined;

  /**
   * The GPU's array of F(t) or F(t−1), for your own shaders to read, for example to draw it. After an odd number of
   * steps it is the other array. If the traversal keeps cells in an order of its own, it is a canonical copy, made on the
   * device by this call, which takes memory for both levels at the first: call it again after each run.
   *
   * @param ago 0, F(t), unless given
   * @throws {RangeError} if the GPU has no share, or the level exceeds a binding and lies in several buffers
   */
  level(ago?: 0 | 1): GPUBuffer;

  /**
   * Sets both time levels of all fields to values made from a hash of the coordinates, or to zero; materials to the
   * stencil's values, those given as a function of the cell's place to its values there; and the time step to 0.
   *
   * @param kind which values; the stencil's own unless given
   * @param seed selects other values of the same kind, a whole number from 0 to 2³² − 1; 1 unless given
   */
  initialise(kind?: InitialField | "zero", seed?: number): Promise<void>;

  /**
   * Sets cells of a field or a material; ghost zones and periodic images follow.
   *
   * @param name the field ("F" if there is only one) or material, as in the stencil's update
   * @param values dense values, one for all, or a function of the cell; rounded to the problem's precision
   * @param options time level (materials have only one) and slices
   * @throws {RangeError} if the name, the level, the slices or the number of values is wrong, a value is not finite in that,
   *   or one lies beyond the range that the material has
   */
  write(name: string, values: CellValues, options?: CellsOptions): Promise<void>;

  /**
   * Reads cells of a field or a material.
   *
   * @param name the field ("F" if there is only one) or material; the first field unless given
   * @param options time level and slices
   * @returns dense values: x, y, z, the last fastest
   * @throws {RangeError} if the name, the level or the slices are wrong
   */
  read(name?: string, options?: CellsOptions): Promise<Values>;

  /**
   * Adds sources: in the step from t to t + 1 each adds its signature's value for t, times what the equation says, to the
   * field at its place. They stay until {@linkcode Solver.reset}. If the problem has no `survey`, the first ones take
   * memory for a second field and compile the kernels again, and `layout` and `level` change.
   *
   * @param name the source, as in the equation's `sources`
   * @param positions where they are, in cells along x, y, z; fractions lie between cells
   * @param signatures one list of values, by step, for all, or one for each position, as {@linkcode Solver.traces}
   *   returns them; 0 after its end
   * @param options how a place between cells is made of them
   * @throws {RangeError} if the equation has no such source, or a position lies outside the grid
   * @throws {SolverError} if the traversal can have no sources
   */
  addSources(
    name: string,
    positions: readonly Position[],
    signatures: ArrayLike<number> | readonly ArrayLike<number>[],
    options?: PlaceOptions,
  ): Promise<void>;

  /**
   * Adds receivers: each records the field at its place, at t = 0 and then after every `every` steps. They stay until
   * {@linkcode Solver.reset}.
   *
   * @param name the field
   * @param positions where they are, in cells along x, y, z; fractions lie between cells
   * @param options steps from one sample to the next, what takes them, and how a place between cells is made of them
   * @throws {RangeError} if there is no such field, or a position lies outside the grid
   * @throws {SolverError} if the traversal can have no receivers
   */
  addReceivers(name: string, positions: readonly Position[], options?: ReceiverOptions): Promise<void>;

  /**
   * What each receiver without `onSamples` and `frequencies` has recorded, in the order in which they were added: sample j
   * is the field at t = j · every.
   */
  traces(): Promise<Values[]>;

  /**
   * The sums Σ p(t) e^(−2πift) over the samples of each receiver with `frequencies`, in the order in which they were added:
   * for each frequency f its real part, then its imaginary part.
   */
  spectra(): Promise<Float64Array<ArrayBuffer>[]>;

  /**
   * Hands over a field's cells at t = 0 and after every `every` steps, until {@linkcode Solver.reset}. A run ends its
   * kernels' work there and waits for the cells.
   *
   * @param name the field
   * @param options which cells, how often, and what takes them; if that throws, the run ends at this step
   * @throws {RangeError} if there is no such field, or the box does not lie within the grid
   */
  addSnapshots(name: string, options: SnapshotOptions): Promise<void>;

  /**
   * What `createSolver` goes on from with `from`, on any device and with any configuration; with the same ones the result has
   * the bits of an undisturbed run. It holds all fields, materials and axis profiles, the time step, the sources, and the receivers
   * with what they recorded; not snapshots and receivers with `onSamples`, which you add again. Its format, with a checksum,
   * is that of the checkpoints of `solve`.
   *
   * @throws {SolverError} if a field is not finite
   */
  save(): Promise<Blob>;

  /** Sets all fields to zero and the time step to 0, and ends all sources, receivers and snapshots; materials stay. */
  reset(): Promise<void>;

  /**
   * Advances all fields. Long runs look at their end whether all fields are finite; of short ones, one looks in 64 to 512
   * steps. Whatever `read` and snapshots hand over is looked at. `run(0)` looks at once.
   *
   * @param steps time steps, a whole number >= 0
   * @throws {RangeError} for any other number
   * @throws {SolverError} if the device fails; the fields are then undefined. Also if a field is infinite or not a number:
   *   the message says which, the steps between which it broke, and what may be the reason
   */
  run(steps: number): Promise<SolverRun>;

  /**
   * Releases everything that the solver created: buffers, pipelines, workers, the device that it opened. Your own device
   * and buffers stay as they are. A call under way has half a second to end, then it is refused as those are that wait; among ranks, which
   * wait for each other, all are done that were made before. `using` calls this; `await using` also waits.
   */
  dispose(): void;
}
