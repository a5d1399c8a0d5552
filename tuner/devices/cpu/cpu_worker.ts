import { pieceOf, shareRows } from "../../../kernels/cpu/cpu_order.ts";
import { initialRow } from "../../../kernels/initial_field.ts";
import { indexOf, type Layout } from "../../../kernels/layout.ts";
import { type FloatArray, precisionOf } from "../../../kernels/precision.ts";
import { imageOf } from "../../../kernels/stencils/stencil.ts";
import { compareSlices, type Comparison } from "../comparison.ts";
import { Barrier } from "./barrier.ts";
import type {
  Command,
  CompareCommand,
  FieldCommand,
  InitialCommand,
  LoadCommand,
  LoadedField,
  Reply,
  StartCommand,
} from "./cpu_commands.ts";
import { runLine } from "./line_worker.ts";
import { RowPoints } from "./row_points.ts";
import { runRows } from "./row_worker.ts";

/**
 * What one CPU worker runs. All workers get the same commands in the same order and
 * compute their own share of the rows, step by step, meeting at a barrier.
 */
class CpuWorker {
  readonly #fields = new Map<number, LoadedField>();

  constructor(private readonly start: StartCommand) {}

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
    const { memory, part } = this.start, { parts } = load;
    const { exports } = new WebAssembly.Instance(load.module, { facet: { memory } });
    const barrier = new Barrier(load.barrier, parts);
    const field = { load, memory, barrier, part, parts };
    this.#fields.set(load.field, { ...field, exports: exports as unknown as LoadedField["exports"] });
  }

  #execute(field: LoadedField, command: FieldCommand): Comparison | undefined {
    if (command.kind === "compare") return this.#compare(field, command);
    if (command.kind === "load") this.#clear(field);
    else if (command.kind === "initial") this.#initialise(field, command);
    else if (command.kind === "run") {
      const { work } = field.load;
      if ("ends" in work) runLine(field, command, work);
      else runRows(field, command, work);
    } else if (command.kind === "watch") {
      const { layout, update } = field.load;
      field.points = command.points && new RowPoints(command.points, layout, update);
    } else this.#fields.delete(command.field);
    return undefined;
  }

  #clear({ load: { layout, arrays }, ...mine }: LoadedField): void {
    for (const array of arrays) this.#cells(array, layout).fill(0, ...pieceOf(layout.length, mine));
  }

  #compare(
    { load: { layout }, ...mine }: LoadedField,
    { array, slice, slices, expected }: CompareCommand,
  ): Comparison {
    const [first, end] = pieceOf(slices, mine);
    return compareSlices(
      { cells: this.#cells(array, layout), layout, slice: slice + first },
      { ...expected, slice: expected.slice + first },
      end - first,
    );
  }

  #initialise(
    { load: { layout, arrays, update }, ...mine }: LoadedField,
    { start: { kind, seed, first, whole } }: InitialCommand,
  ): void {
    const [nx, ny, nz] = layout.grid;
    const [even, odd] = arrays.map((array) => this.#cells(array, layout));
    const inWhole = (axis: 0 | 1 | 2, cell: number): number =>
      imageOf(cell + first[axis], whole[axis], "periodic")!;
    for (const { x0, x1, y0, y1 } of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], mine)) {
      for (let x = x0; x < x1; x++) {
        for (let y = y0; y < y1; y++) {
          for (let plane = 0; plane < layout.planes; plane++) {
            const start = indexOf(layout, [x, y, 0], plane);
            const row = even!.subarray(start, start + nz);
            for (let z = 0; z < nz;) {
              const wholeZ = inWhole(2, z), count = Math.min(nz - z, whole[2] - wholeZ);
              const cell = [inWhole(0, x), inWhole(1, y), wholeZ] as const;
              initialRow({ ...update, kind, seed }, cell, plane, row.subarray(z, z + count));
              z += count;
            }
            odd!.set(row, start);
          }
        }
      }
    }
  }

  #cells(array: number, layout: Layout): FloatArray {
    return new (precisionOf(layout).Values)(this.start.memory.buffer, array, layout.length);
  }
}

/** Answers the commands of a pool, the first of which starts the worker. */
export function answering(): (command: Command) => Reply | undefined {
  let worker: CpuWorker | undefined;
  return (command) => {
    if (command.kind !== "start") return worker?.obey(command);
    worker = new CpuWorker(command);
    return { timeNs: 0 };
  };
}
