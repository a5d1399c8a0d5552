import {
  type Box,
  type CpuRun,
  forEachImage,
  type Part,
  shareRows,
  stepwiseOrder,
} from "../../../kernels/cpu/cpu_order.ts";
import type { CpuShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { diamondOrder } from "../../../kernels/cpu/diamond_order.ts";
import { initialRow, type Pattern } from "../../../kernels/initial_field.ts";
import { indexOf, type Layout } from "../../../kernels/layout.ts";
import type { Grid } from "../../../kernels/stencils/stencil.ts";
import type { Update } from "../../../kernels/update.ts";
import { type AxisBoundaries, isAllZero } from "../../../kernels/stencils/stencil.ts";
import type { WasmExports } from "../../../kernels/wasm/write_wasm.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import { compareSlices, type Comparison, type SliceCells } from "../comparison.ts";
import { answerMessages } from "../../platform.ts";
import { Barrier } from "./barrier.ts";
import { type LineLoad, runLine } from "./line_worker.ts";

/** Byte offsets of the arrays that hold F at even and at odd steps after the load. */
export type ArrayPair = readonly [number, number];

/** The first message to a worker. */
interface StartCommand {
  readonly kind: "start";
  readonly part: number;
  readonly memory: WebAssembly.Memory;
}

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
  readonly planes: Pick<Update, "fields" | "materials" | "ranges">;
  /** Time levels whose pads a run must find filled: materials have some in both. */
  readonly paddedLevels: 1 | 2;
  /** The furthest that any sub-step reaches along x and y; and slices that each of them reaches. */
  readonly reach: readonly [x: number, y: number];
  readonly substepReach: readonly number[];
  /** How a grid is visited. */
  readonly shape: CpuShape;
  /** Of a line; undefined for any other grid. */
  readonly line?: LineLoad | undefined;
  /** Byte offsets of the line's lanes at even and at odd steps of a run, where it is swept. */
  readonly laneArrays: ArrayPair;
}

/** Sets both time levels to initial values. */
interface InitialCommand {
  readonly kind: "initial";
  readonly field: number;
  readonly initial: Pattern;
  readonly seed: number;
  /** Where the field's cell (0, 0, 0) lies in the whole grid, and after how many cells that repeats. */
  readonly first: Grid;
  readonly whole: Grid;
}

/** Advances a field. */
export interface RunCommand {
  readonly kind: "run";
  readonly field: number;
  readonly steps: number;
  /** F(t), and F(t−1) to be overwritten. */
  readonly arrays: ArrayPair;
  /** Whether each sub-step leaves out as many slices more as it reaches, at low and at high x. */
  readonly shrink: readonly [low: boolean, high: boolean];
  /** The update's signal at each step; empty where it has none. */
  readonly signals: Float32Array;
}

/** Compares slices of a level. */
interface CompareCommand {
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

type FieldCommand = LoadCommand | InitialCommand | RunCommand | CompareCommand | UnloadCommand;

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
  /** Of a grid's module or a line's: whichever was loaded. */
  readonly exports: WasmExports & LineExports;
  readonly memory: WebAssembly.Memory;
  readonly barrier: Barrier;
}

/**
 * What one CPU worker runs; started by {@linkcode CpuPool}. All workers get the same commands in the same order and
 * compute their own share of the rows, step by step, meeting at a barrier.
 */
class CpuWorker {
  readonly #start: StartCommand;
  readonly #fields = new Map<number, LoadedField>();

  constructor(start: StartCommand) {
    this.#start = start;
  }

  /** Executes a command together with the other workers. When one fails the pool ends those who wait for it. */
  obey(command: FieldCommand): Reply {
    try {
      if (command.kind === "load") this.#load(command);
      const field = this.#fields.get(command.field);
      if (field === undefined) {
        throw new Error(`Cannot ${command.kind} field ${command.field}: it is not loaded`);
      }
      field.barrier.wait();
      const start = performance.now();
      const comparison = this.#execute(field, command);
      field.barrier.wait();
      return { timeNs: (performance.now() - start) * 1e6, comparison };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  #load(load: LoadCommand): void {
    const { memory, part } = this.#start, { parts } = load;
    const { exports } = new WebAssembly.Instance(load.module, { facet: { memory } });
    const barrier = new Barrier(load.barrier, parts);
    const field = { load, memory, barrier, part, parts };
    this.#fields.set(load.field, { ...field, exports: exports as unknown as LoadedField["exports"] });
  }

  #execute(field: LoadedField, command: FieldCommand): Comparison | undefined {
    if (command.kind === "compare") return this.#compare(field, command);
    if (command.kind === "load") this.#clear(field);
    else if (command.kind === "initial") this.#initialise(field, command);
    else if (command.kind === "run") this.#run(field, command);
    else this.#fields.delete(command.field);
    return undefined;
  }

  #clear({ load: { layout: { length }, arrays }, part, parts }: LoadedField): void {
    const first = Math.floor(length * part / parts), end = Math.floor(length * (part + 1) / parts);
    for (const array of arrays) this.#cells(array, length).fill(0, first, end);
  }

  #compare(
    { load: { layout }, part, parts }: LoadedField,
    { array, slice, slices, expected }: CompareCommand,
  ): Comparison {
    const first = Math.floor(slices * part / parts), end = Math.floor(slices * (part + 1) / parts);
    return compareSlices(
      { cells: this.#cells(array, layout.length), layout, slice: slice + first },
      { ...expected, slice: expected.slice + first },
      end - first,
    );
  }

  #initialise(
    { load: { layout, arrays, planes }, ...mine }: LoadedField,
    { initial: kind, seed, first, whole }: InitialCommand,
  ): void {
    const [nx, ny, nz] = layout.grid;
    const [even, odd] = arrays.map((array) => this.#cells(array, layout.length));
    const inWhole = (axis: 0 | 1 | 2, cell: number): number => {
      const count = whole[axis];
      return ((cell + first[axis]) % count + count) % count;
    };
    for (const { x0, x1, y0, y1 } of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], mine)) {
      for (let x = x0; x < x1; x++) {
        for (let y = y0; y < y1; y++) {
          for (let plane = 0; plane < layout.planes; plane++) {
            const start = indexOf(layout, [x, y, 0], plane);
            const row = even!.subarray(start, start + nz);
            for (let z = 0; z < nz;) {
              const wholeZ = inWhole(2, z), count = Math.min(nz - z, whole[2] - wholeZ);
              const cell = [inWhole(0, x), inWhole(1, y), wholeZ] as const;
              initialRow({ ...planes, kind, seed }, cell, plane, row.subarray(z, z + count));
              z += count;
            }
            odd!.set(row, start);
          }
        }
      }
    }
  }

  #run(field: LoadedField, command: RunCommand): void {
    const { load, exports, barrier, part, parts } = field;
    const { layout, line, boundaries, reach, paddedLevels, substepReach, shape } = load;
    if (line !== undefined) return runLine(field, command, line);
    const { steps, arrays, shrink: [low, high], signals } = command;
    const [nx, ny] = layout.grid;
    const [alongX, alongY] = boundaries;
    const around = { grid: [nx, ny], boundaries: [alongX, alongY], reach } as const;
    const fillImages = (array: number, box: Box): void => {
      if (alongX === "zero" && alongY === "zero") return;
      forEachImage(box, around, ({ x0, x1, y0, y1 }) => exports.copyRows(array, x0, x1, y0, y1));
    };
    if (!isAllZero(boundaries)) {
      // whoever wrote into the field since the last run need not have known of the pads
      for (const box of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], field)) {
        for (const array of arrays.slice(0, paddedLevels)) {
          exports.wrapRows(array, box.x0, box.x1, box.y0, box.y1);
          fillImages(array, box);
        }
      }
      barrier.wait();
    }
    const substeps = substepReach.length;
    const lostIn = (count: number): number =>
      substepReach.slice(0, count).reduce((sum, slices) => sum + slices, 0);
    /** Slices at each ghosted end that are no longer known once the level is reached. */
    const lostAt = (level: number): number =>
      Math.floor(level / substeps) * lostIn(substeps) + lostIn(level % substeps + 1);
    const slicesAt: CpuRun["slicesAt"] = low || high
      ? (level) => [low ? lostAt(level) : 0, nx - (high ? lostAt(level) : 0)]
      : () => [0, nx];
    const run = { ...around, part, parts, levels: steps * substeps, slicesAt };
    const kernels = substepReach.map((_, index) => exports[`step${index}`]!);
    const order = "strip" in shape ? stepwiseOrder(run, shape) : diamondOrder(run, shape);
    for (let round = 0; round < order.rounds; round++) {
      if (round > 0) barrier.wait();
      order.visitRound(round, (level, box) => {
        const step = Math.floor(level / substeps);
        const current = arrays[step % 2]!, next = arrays[1 - step % 2]!;
        kernels[level % substeps]!(current, next, signals[step] ?? 0, box.x0, box.x1, box.y0, box.y1);
        fillImages(next, box);
      });
    }
  }

  #cells(array: number, length: number): Float32Array {
    return new Float32Array(this.#start.memory.buffer, array, length);
  }
}

let worker: CpuWorker | undefined;
answerMessages<Command>((command) => {
  if (command.kind !== "start") return worker?.obey(command);
  worker = new CpuWorker(command);
  return { timeNs: 0 } satisfies Done;
});
