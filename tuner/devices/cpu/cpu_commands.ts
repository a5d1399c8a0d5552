/**
 * What the pool tells its workers, what they answer, and what they know of a field.
 *
 * @module
 */
import type { Part } from "../../../kernels/cpu/cpu_order.ts";
import type { CpuShape } from "../../../kernels/cpu/cpu_traversals.ts";
import type { LineWork, NodeShape } from "../../../kernels/cpu/line_order.ts";
import type { PartStart } from "../../../kernels/initial_field.ts";
import type { Layout } from "../../../kernels/layout.ts";
import type { Points } from "../../../kernels/points.ts";
import type { FloatArray } from "../../../kernels/precision.ts";
import type { AxisBoundaries } from "../../../kernels/stencils/stencil.ts";
import type { Update } from "../../../kernels/update.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import type { WasmExports } from "../../../kernels/wasm/write_wasm.ts";
import type { Comparison, SliceCells } from "../comparison.ts";
import type { Barrier } from "./barrier.ts";
import type { PointSeries, RowPoints } from "./row_points.ts";

/** Byte offsets of the arrays that hold F at even and at odd steps after the load. */
export type ArrayPair = readonly [number, number];

/** The first message to a worker. */
export interface StartCommand {
  readonly kind: "start";
  readonly part: number;
  readonly memory: WebAssembly.Memory;
}

/** How workers visit a field: whole rows in strips or diamonds, or a line. */
export type CpuWork = Exclude<CpuShape, NodeShape> | LineWork;

/** Makes a field known and zeroes its arrays. */
export interface LoadCommand {
  readonly kind: "load";
  /** How many workers share the field: the first ones. */
  readonly parts: number;
  /** Where they meet. */
  readonly barrier: SharedArrayBuffer;
  readonly layout: Layout;
  readonly boundaries: AxisBoundaries;
  readonly field: number;
  readonly module: WebAssembly.Module;
  readonly arrays: ArrayPair;
  readonly update: Update;
  readonly work: CpuWork;
  /** Byte offsets of a line's lanes at even and at odd steps of a run, where it is swept. */
  readonly laneArrays: ArrayPair;
}

/** Sets both time levels to initial values. */
export interface InitialCommand {
  readonly kind: "initial";
  readonly field: number;
  readonly start: Required<PartStart>;
}

/** Advances a field. */
export interface RunCommand {
  readonly kind: "run";
  readonly field: number;
  readonly steps: number;
  /** F(t), and F(t−1) to be overwritten; twice the same where F(t+1) takes the place of F(t). */
  readonly arrays: ArrayPair;
  /** Whether each sub-step leaves out as many slices more as it reaches, at low and at high x. */
  readonly shrink: readonly [low: boolean, high: boolean];
  /** The update's signal at each step; empty where it has none. */
  readonly signals: FloatArray;
  /** What is added to points, a row a step, and where they are recorded, a row a sample; in memory that all share. */
  readonly points?: PointSeries;
}

/** Makes points known: each run adds to them and records them. */
export interface WatchCommand {
  readonly kind: "watch";
  readonly field: number;
  readonly points: Points | undefined;
}

/** Compares slices of a level. */
export interface CompareCommand {
  readonly kind: "compare";
  readonly field: number;
  /** Byte offset of the level. */
  readonly array: number;
  readonly slice: number;
  readonly slices: number;
  readonly expected: SliceCells;
}

/** Forgets a field. */
interface UnloadCommand {
  readonly kind: "unload";
  readonly field: number;
}

export type FieldCommand =
  | LoadCommand
  | InitialCommand
  | RunCommand
  | WatchCommand
  | CompareCommand
  | UnloadCommand;

export type Command = StartCommand | FieldCommand;

/** A command done: the time from the first barrier to the last, and what was found in the worker's part. */
export interface Done {
  readonly timeNs: number;
  readonly comparison?: Comparison | undefined;
}

/** What a worker answers to each command. */
export type Reply = Done | { readonly error: string };

/** A field as a worker knows it, and the worker's part of it. */
export interface LoadedField extends Part {
  readonly load: LoadCommand;
  /** The exports of the module that was loaded, a grid's or a line's. */
  readonly exports: WasmExports & LineExports;
  readonly memory: WebAssembly.Memory;
  readonly barrier: Barrier;
  /** Points, by the rows that have them. */
  points?: RowPoints | undefined;
}
