/**
 * A field in the memory of the CPU's workers, and what they are told to do with it.
 *
 * @module
 */
import type { InitialField } from "../../../kernels/initial_field.ts";
import type { Layout } from "../../../kernels/layout.ts";
import { stepReach, type Update } from "../../../kernels/update.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";
import type { SliceCells } from "../shared/slice_exchange.ts";
import type { CpuMemory } from "./cpu_memory.ts";
import type { ArrayPair, Command, Done, LoadCommand } from "./wasm_worker.ts";

/** Options of {@linkcode CpuField.setInitial}. */
export interface InitialOptions {
  /** @default {0} */
  seed?: number;
  /**
   * The slice of the whole grid that is this field's slice 0.
   * @default {0}
   */
  xOffset?: number;
  /**
   * Slices of the whole grid, where it repeats beyond them.
   * @default {no repetition}
   */
  xPeriod?: number;
}

/** Options of {@linkcode CpuField.run}. */
export interface RunOptions {
  readonly steps: number;
  /**
   * Ghost zones at low and at high x. There step i = 1, 2, … leaves out the outermost i·(reach of a step along x)
   * slices, whose neighbours are unknown (B2R, Eq. 2). After R steps the slices further than R·reach from that side
   * are right.
   * @default {neither}
   */
  readonly ghost?: { readonly low?: boolean; readonly high?: boolean };
}

/** Slices of one level. */
export interface FieldSlices {
  /** 0: F(t), 1: F(t−1). */
  readonly ago: 0 | 1;
  /** First slice. */
  readonly slice: number;
  readonly slices: number;
}

/** A field loaded into the pool's memory. Views of it become stale when the pool's memory grows: ask again. */
export interface CpuField {
  readonly layout: Layout;
  /** F(t), all planes, in the padded layout. */
  readonly current: Float32Array<SharedArrayBuffer>;
  /** F(t−1) in the padded layout; the next step overwrites it with F(t+1). */
  readonly previous: Float32Array<SharedArrayBuffer>;
  /** Sets both time levels to the same initial values, and the materials. */
  setInitial(kind: InitialField, options?: InitialOptions): Promise<void>;
  /**
   * Advances the field. Periodic pads need not be right before; frames of zeros must be.
   *
   * @returns nanoseconds from the moment all workers had begun to the moment all had ended, workers' clock
   * @throws {RangeError} when the ghost zones are thicker than the field, or meet a periodic x
   */
  run(options: RunOptions): Promise<number>;
  /**
   * Compares slices of a level with others, each worker its part of them.
   *
   * @param expected cells in memory that workers can share
   */
  compare(expected: SliceCells, slices: FieldSlices): Promise<Comparison>;
  /** Gives the memory back to the pool. */
  dispose(): Promise<void>;
}

/**
 * The field that a command has loaded.
 *
 * @param command where it lies, and its name among the workers
 * @param parts its update, the memory it lies in, how to tell all workers once they have done what came before, and
 *   how to give the field back
 */
export function fieldOf(
  { field, layout, arrays, boundaries }: LoadCommand,
  { update, memory, send, dispose }: {
    readonly update: Update;
    readonly memory: CpuMemory;
    readonly send: (commandOf: () => Command) => Promise<readonly Done[]>;
    readonly dispose: () => Promise<void>;
  },
): CpuField {
  const { x: reach } = stepReach(update);
  let step = 0;
  let [current, previous] = arrays;
  return {
    layout,
    get current() {
      return memory.view(current, layout.length);
    },
    get previous() {
      return memory.view(previous, layout.length);
    },
    setInitial: async (initial, { seed = 0, xOffset = 0, xPeriod = 2 ** 31 } = {}) => {
      step = 0;
      await send(() => ({ kind: "initial", field, initial, seed, xOffset, xPeriod }));
    },
    run: async ({ steps, ghost: { low = false, high = false } = {} }) => {
      if (!(Number.isInteger(steps) && steps >= 0)) {
        throw new RangeError(
          `Cannot run the CPU field: steps must be whole and >= 0: current value is ${steps}`,
        );
      }
      const used = (Number(low) + Number(high)) * reach * steps;
      if (used > layout.grid[0]) {
        throw new RangeError(
          `Cannot run the CPU field: ${steps} steps use up ${used} ghost slices: ` +
            `the field has ${layout.grid[0]} slices`,
        );
      }
      if ((low || high) && boundaries[0] === "periodic") {
        throw new RangeError(
          "Cannot run the CPU field: ghost zones need boundary zero along x: it is periodic",
        );
      }
      const done = await send(() => {
        const pair: ArrayPair = [current, previous];
        if (steps % 2 === 1) [current, previous] = [previous, current];
        const { signal } = update;
        const signals = Float32Array.from({ length: signal ? steps : 0 }, (_, i) => signal!(step + i));
        step += steps;
        return { kind: "run", field, steps, arrays: pair, shrink: [low, high], signals };
      });
      return Math.max(...done.map(({ timeNs }) => timeNs));
    },
    compare: async (expected, { ago, slice, slices }) => {
      const compared = await send(() => {
        return { kind: "compare", field, array: [current, previous][ago]!, slice, slices, expected };
      });
      return joinComparisons(compared.flatMap(({ comparison }) => comparison ?? []));
    },
    dispose,
  };
}
