/**
 * What one CPU worker runs; started by {@linkcode CpuPool}. All workers get the same commands in the same
 * order and compute their own share of the rows, step by step, meeting at a barrier.
 *
 * @module
 */
import { type InitialField, initialRow } from "../../../kernels/initial_field.ts";
import { indexOf } from "../../../kernels/layout.ts";
import type { Update } from "../../../kernels/update.ts";
import type { WasmExports } from "../../../kernels/wasm/write_wasm.ts";
import type { LineExports } from "../../../kernels/wasm/write_line.ts";
import { Barrier } from "./barrier.ts";
import { type Box, padRows, type PadSource, shareRows, stripsOf } from "./boxes.ts";
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
export interface LoadCommand extends PadSource {
  readonly kind: "load";
  readonly field: number;
  readonly module: WebAssembly.Module;
  readonly arrays: ArrayPair;
  readonly planes: Pick<Update, "fields" | "materials">;
  /** Cells along x that each sub-step reaches. */
  readonly substepReach: readonly number[];
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
    const [nx, ny] = load.layout.grid;
    let [current, next] = arrays;
    if (load.boundaries.includes("periodic")) {
      // whoever wrote into the field since the last run need not have known of the pads
      const grid = { x0: 0, x1: nx, y0: 0, y1: ny };
      for (const { x0, x1, y0, y1 } of shareRows([grid], this.#start)) {
        exports.wrapRows(current, x0, x1, y0, y1);
      }
      this.#fillPads({ load, exports }, current, grid);
      this.#barrier.wait();
    }
    const last = load.substepReach.length - 1;
    let invalid = 0; // slices at each ghosted end that are no longer known
    for (let step = 0; step < steps; step++) {
      for (const [index, reach] of load.substepReach.entries()) {
        invalid += reach;
        const slices = { x0: low ? invalid : 0, x1: nx - (high ? invalid : 0), y0: 0, y1: ny };
        const substep = exports[`step${index}`];
        for (const { x0, x1, y0, y1 } of shareRows(stripsOf(slices, load), this.#start)) {
          substep!(current, next, signals[step] ?? 0, x0, x1, y0, y1);
        }
        this.#fillPads({ load, exports }, next, slices);
        if (step + 1 < steps || index < last) this.#barrier.wait();
      }
      [current, next] = [next, current];
    }
  }

  /** Fills the pad rows around the slices, once all workers have finished the rows they are images of. */
  #fillPads({ load, exports }: LoadedField, array: number, slices: Box): void {
    const pads = padRows(load, slices.x0, slices.x1);
    if (pads.length === 0) return;
    this.#barrier.wait();
    for (const { x0, x1, y0, y1 } of shareRows(pads, this.#start)) exports.copyRows(array, x0, x1, y0, y1);
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
