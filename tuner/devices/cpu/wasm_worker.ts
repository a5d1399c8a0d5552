/**
 * What one CPU worker runs; started by {@linkcode CpuPool}. All workers get the same commands in the same
 * order and compute their own share of the rows, step by step, meeting at a barrier.
 *
 * @module
 */
import { type Box, type CpuRun, forEachImage, shareRows } from "../../../kernels/cpu/cpu_order.ts";
import type { CpuShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { diamondOrder } from "../../../kernels/cpu/diamond_order.ts";
import { stepwiseOrder } from "../../../kernels/cpu/stepwise_order.ts";
import { type InitialField, initialRow } from "../../../kernels/initial_field.ts";
import { indexOf, type Layout } from "../../../kernels/layout.ts";
import type { Update } from "../../../kernels/update.ts";
import type { AxisBoundaries } from "../../../kernels/wasm/rows.ts";
import type { WasmExports } from "../../../kernels/wasm/write_wasm.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import { Barrier } from "./barrier.ts";
import { type LineLoad, runLine } from "./line_worker.ts";

/** Byte offsets of the arrays that hold F at even and at odd steps after the load. */
export type ArrayPair = readonly [number, number];

/** The first message to a worker. */
export interface StartCommand {
  readonly kind: "start";
  readonly part: number;
  readonly parts: number;
  readonly memory: WebAssembly.Memory;
  readonly barrier: SharedArrayBuffer;
}

/** Makes a field known and zeroes its arrays. */
export interface LoadCommand {
  readonly kind: "load";
  readonly layout: Layout;
  readonly boundaries: AxisBoundaries;
  readonly field: number;
  readonly module: WebAssembly.Module;
  readonly arrays: ArrayPair;
  readonly planes: Pick<Update, "fields" | "materials">;
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
export interface InitialCommand {
  readonly kind: "initial";
  readonly field: number;
  readonly initial: InitialField;
  readonly seed: number;
  /** Where the field's slice 0 lies in the whole grid, and after how many slices that repeats. */
  readonly xOffset: number;
  readonly xPeriod: number;
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

/** Forgets a field. */
export interface UnloadCommand {
  readonly kind: "unload";
  readonly field: number;
}

/** What a worker is told. */
export type Command = StartCommand | LoadCommand | InitialCommand | RunCommand | UnloadCommand;

/** What a worker answers to each command: the time from the first barrier to the last, or what failed. */
export type Reply = { readonly timeNs: number } | { readonly error: string };

/** A field as a worker knows it. */
interface LoadedField {
  readonly load: LoadCommand;
  readonly exports: WasmExports;
}

/** One worker: its share of the rows, and its side of the barrier. */
class CpuWorker {
  readonly #start: StartCommand;
  readonly #barrier: Barrier;
  readonly #fields = new Map<number, LoadedField>();

  constructor(start: StartCommand) {
    this.#start = start;
    this.#barrier = new Barrier(start.barrier, start.parts);
  }

  /** Executes a command together with the other workers. When one fails the pool ends those who wait for it. */
  obey(command: Exclude<Command, StartCommand>): Reply {
    try {
      this.#barrier.wait();
      const start = performance.now();
      this.#execute(command);
      this.#barrier.wait();
      return { timeNs: (performance.now() - start) * 1e6 };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  #execute(command: Exclude<Command, StartCommand>): void {
    if (command.kind === "load") {
      const imports = { facet: { memory: this.#start.memory } };
      const exports = new WebAssembly.Instance(command.module, imports).exports as unknown as WasmExports;
      this.#fields.set(command.field, { load: command, exports });
      return this.#clear(command);
    }
    if (command.kind === "unload") return void this.#fields.delete(command.field);
    const field = this.#fields.get(command.field);
    if (field === undefined) {
      throw new Error(`Cannot ${command.kind} field ${command.field}: it is not loaded`);
    }
    if (command.kind === "initial") this.#initialise(field.load, command);
    else this.#run(field, command);
  }

  #clear({ layout: { length }, arrays }: LoadCommand): void {
    const { part, parts } = this.#start;
    const first = Math.floor(length * part / parts), end = Math.floor(length * (part + 1) / parts);
    for (const array of arrays) this.#cells(array, length).fill(0, first, end);
  }

  #initialise(
    { layout, arrays, planes }: LoadCommand,
    { initial: kind, seed, xOffset, xPeriod }: InitialCommand,
  ): void {
    const [nx, ny, nz] = layout.grid;
    const [even, odd] = arrays.map((array) => this.#cells(array, layout.length));
    for (const { x0, x1, y0, y1 } of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], this.#start)) {
      for (let x = x0; x < x1; x++) {
        const globalX = (((x + xOffset) % xPeriod) + xPeriod) % xPeriod;
        for (let y = y0; y < y1; y++) {
          for (let plane = 0; plane < layout.planes; plane++) {
            const first = indexOf(layout, [x, y, 0], plane);
            const row = even!.subarray(first, first + nz);
            initialRow({ ...planes, kind, seed }, [globalX, y], plane, row);
            odd!.set(row, first);
          }
        }
      }
    }
  }

  #run({ load, exports }: LoadedField, { steps, arrays, shrink: [low, high], signals }: RunCommand): void {
    const { layout, line, laneArrays } = load;
    if (line !== undefined) {
      const { memory, part, parts } = this.#start;
      const meet = (): void => this.#barrier.wait();
      const rows = exports as unknown as LineExports;
      return runLine({ layout, line, laneArrays, exports: rows, memory, part, parts, meet }, {
        steps,
        arrays,
      });
    }
    const [nx, ny] = layout.grid, { boundaries, reach, substepReach, shape } = load;
    const wraps = [boundaries[0] === "periodic", boundaries[1] === "periodic"] as const;
    const around = { grid: [nx, ny], wraps, reach } as const;
    const fillImages = (array: number, box: Box): void => {
      if (!wraps[0] && !wraps[1]) return;
      forEachImage(box, around, ({ x0, x1, y0, y1 }) => exports.copyRows(array, x0, x1, y0, y1));
    };
    if (boundaries.includes("periodic")) {
      // whoever wrote into the field since the last run need not have known of the pads
      for (const box of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], this.#start)) {
        exports.wrapRows(arrays[0], box.x0, box.x1, box.y0, box.y1);
        fillImages(arrays[0], box);
      }
      this.#barrier.wait();
    }
    const substeps = substepReach.length;
    /** Slices at each ghosted end that are no longer known once the level is reached. */
    const lostAt = (level: number): number => {
      const inStep = substepReach.slice(0, level % substeps + 1).reduce((sum, slices) => sum + slices, 0);
      return Math.floor(level / substeps) * substepReach.reduce((sum, slices) => sum + slices, 0) + inStep;
    };
    const run: CpuRun = {
      ...around,
      ...this.#start,
      levels: steps * substeps,
      slicesAt: low || high
        ? (level) => [low ? lostAt(level) : 0, nx - (high ? lostAt(level) : 0)]
        : () => [0, nx],
    };
    const order = "strip" in shape ? stepwiseOrder(run, shape) : diamondOrder(run, shape);
    for (let round = 0; round < order.rounds; round++) {
      if (round > 0) this.#barrier.wait();
      order.visitRound(round, (level, box) => {
        const step = Math.floor(level / substeps);
        const current = arrays[step % 2]!, next = arrays[1 - step % 2]!;
        const substep = exports[`step${level % substeps}`]!;
        substep(current, next, signals[step] ?? 0, box.x0, box.x1, box.y0, box.y1);
        fillImages(next, box);
      });
    }
  }

  #cells(array: number, length: number): Float32Array {
    return new Float32Array(this.#start.memory.buffer, array, length);
  }
}

/** The part of the worker's global scope that is used; the checker knows only the window's. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Command>) => void) | null;
  postMessage(reply: Reply): void;
}

const scope = globalThis as unknown as WorkerScope;
let worker: CpuWorker | undefined;
scope.onmessage = ({ data }) => {
  if (data.kind === "start") {
    worker = new CpuWorker(data);
    scope.postMessage({ timeNs: 0 });
  } else if (worker !== undefined) {
    scope.postMessage(worker.obey(data));
  }
};
