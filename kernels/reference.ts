/**
 * The oracle: any stencil in plain loops, one operation after another over a whole row of cells, f64 or f32. Everything
 * faster is compared with it.
 *
 * @module
 */
import type { FloatArray } from "./precision.ts";
import { initialProfiles, type ProfileValues } from "./axis_profiles.ts";
import { type Algebra, eachOperation, foldShared, type ProfileTap, type Tap } from "./expression.ts";
import { type FunctionName, FUNCTIONS } from "./functions.ts";
import { planesOf, signalAt, type Substep, type Update } from "./update.ts";
import { alongAxes, cellsOf, imageOf, type Problem } from "./stencils/stencil.ts";

/**
 * The two newest time levels, dense (no pads): x slowest, then the planes (fields, then materials), y, and z
 * fastest. Both hold the materials.
 */
export interface FieldLevels<T extends FloatArray = FloatArray> {
  /** F(t). */
  current: T;
  /** F(t−1). */
  previous: T;
}

/** What {@linkcode runReference} computes: `steps` steps. */
export interface ReferenceRun extends Pick<Problem, "grid" | "boundary" | "steps"> {
  /** A full step. */
  readonly update: Update;
  /**
   * Time step of the levels given, for the update's signal.
   * @default {0}
   */
  readonly start?: number;
  /**
   * The values of the update's axis profiles.
   * @default {those that they start from}
   */
  readonly profiles?: ProfileValues;
  /**
   * Called after each sub-step with what it made, the level that it made so far, and the time step: adds what sources send.
   * @default {nothing is added}
   */
  readonly onMade?: (made: Substep, level: FloatArray, step: number) => void;
}

/**
 * Advances a field by `steps` steps. The precision is that of the arrays: in Float32Array every operation is
 * rounded to f32, one by one and never fused.
 *
 * @param levels F(t) and F(t−1), each of x·planes·y·z cells; left as they are
 * @returns F(t+steps) and F(t+steps−1)
 *
 * @example
 * ```ts
 * import { runReference } from "./reference.ts";
 * import { tap } from "./expression.ts";
 * import { updateOf } from "./update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const levels = { current: Float64Array.of(1, 2, 3), previous: Float64Array.of(0, 0, 0) };
 * const shift = { update: updateOf(tap(0, 0, 1)), grid: [1, 1, 3], boundary: "periodic", steps: 1 } as const;
 * assertEquals([...runReference(levels, shift).current], [2, 3, 1]);
 * ```
 */
export function runReference<T extends FloatArray>(
  levels: FieldLevels<T>,
  { update, grid, boundary, steps, start = 0, profiles = initialProfiles(update, grid), onMade }:
    ReferenceRun,
): FieldLevels<T> {
  const [nx, ny, nz] = grid;
  const planes = planesOf(update);
  const length = planes * cellsOf(grid);
  if (levels.current.length !== length || levels.previous.length !== length) {
    throw new RangeError(
      `Cannot run the reference: both levels must hold ${length} cells: they hold ` +
        `${levels.current.length} and ${levels.previous.length}`,
    );
  }
  /** By `ago`: t − 1, t, and t + 1 as far as it is made. */
  let previous = levels.previous.slice() as T, current = levels.current.slice() as T, next = current;
  const newRow = (): T => current.slice(0, nz) as T;
  const [alongX, alongY, alongZ] = alongAxes(boundary);
  let x = 0, y = 0, rows = 0, signal = 0;
  const read = ({ offset: [dx, dy, dz], ago, plane }: Tap) => {
    const row = newRow();
    const outside = [...row.keys()].filter((z) => z + dz < 0 || z + dz >= nz);
    const first = Math.min(nz, Math.max(0, -dz)), end = Math.max(first, Math.min(nz, nz - dz));
    return (): T => {
      const i = imageOf(x + dx, nx, alongX), j = imageOf(y + dy, ny, alongY);
      if (i === undefined || j === undefined) return row.fill(0) as T;
      const level = ago === 0 ? current : ago === 1 ? previous : next;
      const start = ((i * planes + plane) * ny + j) * nz;
      row.set(level.subarray(start + first + dz, start + end + dz), first);
      for (const z of outside) {
        const k = imageOf(z + dz, nz, alongZ);
        row[z] = k === undefined ? 0 : level[start + k]!;
      }
      return row;
    };
  };
  const profile = ({ profile, axis, offset }: ProfileTap) => {
    const row = newRow(), values = profiles[profile]!, boundaries = [alongX, alongY, alongZ] as const;
    const valueAt = (i: number): number => {
      const image = imageOf(i + offset, grid[axis], boundaries[axis]);
      return image === undefined ? 0 : values[image]!;
    };
    if (axis < 2) return (): T => row.fill(valueAt(axis === 0 ? x : y)) as T;
    row.forEach((_, z) => row[z] = valueAt(z));
    return (): T => row;
  };
  /** Rounds when it stores: every operation once, since what f64 makes of f32 values rounds to f32 as the exact result. */
  const join = (operate: (row: T, left: T, right: T, third?: T) => void) => (...operands: (() => T)[]) => {
    const row = newRow(), [first, second, third] = operands;
    let found = -1;
    return (): T => {
      if (found === rows) return row; // what is used again
      found = rows;
      const left = first!();
      operate(row, left, second?.() ?? left, third?.());
      return row;
    };
  };
  const byCell = (operate: (...values: number[]) => number) =>
    join((row, left, right, third) => {
      for (let z = 0; z < nz; z++) row[z] = operate(left[z]!, right[z]!, third?.[z] ?? 0);
    });
  const algebra: Algebra<() => T> = {
    tap: read,
    profile,
    constant(value) {
      const row = newRow().fill(value) as T;
      return () => row;
    },
    signal() {
      const row = newRow();
      return () => row.fill(signal) as T;
    },
    ...eachOperation((_, operate) => byCell(operate)),
    formula: current instanceof Float64Array
      ? (name, operands) => byCell(FUNCTIONS[name as FunctionName])(...operands)
      : undefined,
    // the most frequent ones again, as loops without calls
    add: join((row, left, right) => {
      for (let z = 0; z < nz; z++) row[z] = left[z]! + right[z]!;
    }),
    subtract: join((row, left, right) => {
      for (let z = 0; z < nz; z++) row[z] = left[z]! - right[z]!;
    }),
    multiply: join((row, left, right) => {
      for (let z = 0; z < nz; z++) row[z] = left[z]! * right[z]!;
    }),
  };
  const substeps = update.substeps.map((made) => ({
    made,
    assignments: made.map(({ field, value }) => ({
      field,
      evaluate: foldShared([value], algebra, (find) => find)[0]!,
    })),
  }));

  for (let step = start; step < start + steps; step++) {
    signal = signalAt(update, step);
    next = current.slice() as T; // with the materials
    for (const { made, assignments } of substeps) {
      for (const { field, evaluate } of assignments) {
        for (x = 0; x < nx; x++) {
          for (y = 0; y < ny; y++, rows++) next.set(evaluate(), ((x * planes + field) * ny + y) * nz);
        }
      }
      onMade?.(made, next, step);
    }
    [previous, current] = [current, next];
  }
  return { current, previous };
}
