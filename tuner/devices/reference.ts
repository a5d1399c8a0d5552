import type { FloatArray } from "../../kernels/precision.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import type { Failure, Verification } from "../configuration.ts";
import type { Comparison, SliceCells } from "./comparison.ts";
import type { GpuField } from "./gpu/gpu_field.ts";

/** Cells that begin with slice x of the grid, and how many slices they are. */
interface ReadSlices extends SliceCells {
  readonly x: number;
  readonly slices: number;
}

/**
 * The right result of a problem after its steps, with which every result is compared: a stepwise field that stays on
 * the GPU, or, without a GPU, one that a CPU worker computed. Either was checked against the oracle, the plain loops of
 * `kernels/reference.ts`: a driver that gets every kernel wrong alike would otherwise agree with itself.
 */
export interface Reference {
  readonly problem: Problem;
  readonly start: Start;
  /** How it was computed, as a {@linkcode Verification} says it. */
  readonly against: string;
  /** What its receivers recorded, if the problem has any. */
  readonly traces?: readonly FloatArray[] | undefined;
  /** It, where it lies on a GPU as a whole: fields there are compared with it there. */
  readonly onGpu?: GpuField;
  /** Slices of a level in the host's memory, a piece at a time. */
  slices(ago: 0 | 1, first: number, slices: number): AsyncIterable<ReadSlices> | Iterable<ReadSlices>;
  dispose(): void;
}

/** The levels that the next step needs: where F(t−1) is never read, a traversal need not keep it. */
export function stateLevels({ stencil }: Pick<Problem, "stencil">): readonly (0 | 1)[] {
  return readsPrevious(stencil.update) ? [0, 1] : [0];
}

/** Judges a comparison of the whole state; one that is not finite, or not whole, has an infinite error. */
export function verificationOf(
  { maxError, maxValue, notFinite, cells }: Comparison,
  { problem, against, traces: expected = [] }: Pick<Reference, "problem" | "against" | "traces">,
  traces: readonly FloatArray[] = [],
): Verification {
  const { stencil, grid } = problem, { layers = [] } = stencil.update;
  // where both have fields in layers as whole ones, they are compared, too
  const wanted = stateLevels(problem).length * (planesOf(stencil.update) - layers.length) * cellsOf(grid);
  const bound = errorBound(problem, Number.isFinite(maxValue) ? maxValue : 0);
  const isWhole = notFinite === 0 && cells >= wanted;
  return {
    maxError: isWhole ? Math.max(maxError, differenceOf(traces, expected)) : Infinity,
    bound,
    against,
  };
}

/** The largest difference of two records; infinite where one has what the other has not. */
function differenceOf(traces: readonly FloatArray[], expected: readonly FloatArray[]): number {
  if (traces.length !== expected.length) return Infinity;
  let most = 0;
  traces.forEach((trace, i) => {
    if (trace.length !== expected[i]!.length) most = Infinity;
    trace.forEach((value, j) => {
      const difference = Math.abs(value - expected[i]![j]!);
      if (!(difference <= most)) most = Number.isNaN(difference) ? Infinity : difference;
    });
  });
  return most;
}

/** Why a result is wrong; undefined where it is right. */
export function refute({ maxError, bound, against }: Verification): Failure | undefined {
  if (maxError <= bound) return undefined; // false for what is not a number
  const [error, explained] = [maxError, bound].map((value) => value.toPrecision(3));
  const message = `differs from ${against} by ${error}, rounding explains ${explained}`;
  return { reason: "incorrect", message };
}

/** The reference's workgroups, where the device allows them; of slices of one row, in two dimensions, along it. */
export function referenceShape({ grid: [, ny] }: Pick<Problem, "grid">): Parameters {
  return ny === 1 ? { threadsZ: 256, threadsY: 1, threadsX: 1 } : { threadsZ: 64, threadsY: 4, threadsX: 1 };
}
