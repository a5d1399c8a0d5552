/**
 * What a solver is and takes: a problem on the caller's own device, any number of steps at the speed that was tuned,
 * with the caller's initial values and materials, in the caller's buffers or in its own.
 *
 * @module
 */
import type { InitialField } from "../../kernels/initial_field.ts";
import type { Layout } from "../../kernels/layout.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";

/** Options of {@linkcode createSolver}. */
export interface SolverOptions {
  /**
   * The caller's arrays of even and odd time levels, used in place: F(t) lies in the first if t is even, else in the
   * second; F(t−1) in the other. Both hold {@linkcode solverLayout}'s `length` f32, with zeros in the pads, and have
   * the usages STORAGE, COPY_SRC and COPY_DST. Only where the GPU computes alone. They are never destroyed, and what
   * they hold is where the solver starts: F(0) and F(−1).
   * @default {undefined} the solver makes its own, all zero
   */
  readonly buffers?: readonly [even: GPUBuffer, odd: GPUBuffer];
  /**
   * Milliseconds that one submission may take; after that the device counts as lost.
   * @default {20000}
   */
  readonly timeoutMs?: number;
  /**
   * The module that CPU workers run, where a bundle cannot find `tuner/devices/cpu/wasm_worker.ts` beside itself.
   * @default {undefined} the file in this package
   */
  readonly workerUrl?: URL;
}

/** Which cells of which time level. */
export interface CellsOptions {
  /** 0: F(t), the newest level; 1: F(t−1), where the equation reads it. @default {0} */
  readonly ago?: 0 | 1;
  /** First slice. @default {0} */
  readonly x?: number;
  /** How many. @default {all from x on} */
  readonly slices?: number;
}

/** Values of some slices: dense (x, y, z; z fastest), one number for all, or a function of the cell. */
export type CellValues = ArrayLike<number> | number | ((x: number, y: number, z: number) => number);

/** What a run took. */
export interface SolverRun {
  /** Steps of this run. */
  readonly steps: number;
  /** Nanoseconds: by the device's clock where one device computed alone and has one, else by the host's. */
  readonly timeNs: number;
  /** The grid's own cells times steps, a second. */
  readonly cellsPerSecond: number;
}

/**
 * A problem ready to run; made by {@linkcode createSolver}. Its methods may be called without waiting for each
 * other: each begins when the one before has ended.
 */
export interface Solver extends Disposable, AsyncDisposable {
  /** What is computed. */
  readonly problem: Problem;
  /** How. */
  readonly configuration: Configuration;
  /** Time steps since the initial state. */
  readonly step: number;
  /** Where the cells lie in {@linkcode Solver.level}; undefined where the GPU has no share. */
  readonly layout: Layout | undefined;

  /**
   * The GPU's array of F(t) or F(t−1), to be read by the caller's own shaders, as one that draws it. Another one
   * after every odd number of steps.
   *
   * @param ago 0, F(t), unless given
   * @throws {RangeError} where the GPU has no share
   */
  level(ago?: 0 | 1): GPUBuffer;

  /**
   * Sets all fields, both time levels, to values made from a hash of the coordinates, or to zero; the materials to
   * those of the stencil; and the time step to 0.
   *
   * @param kind which values; the stencil's own unless given
   * @param seed other values of the same kind; 1 unless given
   */
  initialise(kind?: InitialField | "zero", seed?: number): Promise<void>;

  /**
   * Sets cells of a field or a material; ghost zones and periodic images follow.
   *
   * @param name of the field ("F" where there is one) or material, as the stencil's update has it
   * @param values dense values, one for all, or a function of the cell; rounded to f32
   * @param options time level (of a material there is only one) and slices
   * @throws {RangeError} for a name, level or number of values that there is not
   */
  write(name: string, values: CellValues, options?: CellsOptions): Promise<void>;

  /**
   * Reads cells of a field or a material.
   *
   * @param name of the field ("F" where there is one) or material; the first field unless given
   * @param options time level and slices
   * @returns dense values: x, y, z, the last fastest
   * @throws {RangeError} for a name, level or slices that there are not
   */
  read(name?: string, options?: CellsOptions): Promise<Float32Array<ArrayBuffer>>;

  /**
   * Advances all fields.
   *
   * @param steps time steps, any whole number from 0 up; multiples of the problem's own run at the tuned speed
   * @throws {RangeError} for any other number
   * @throws {SolverError} where the device fails; the fields are then undefined
   */
  run(steps: number): Promise<SolverRun>;

  /**
   * Gives back everything that the solver made: buffers, pipelines, workers. The device and the caller's buffers stay
   * as they are. What is under way ends first; what waits is refused. `using` calls it, `await using` waits as well.
   */
  dispose(): void;
}
