/**
 * The oracle: any stencil in plain loops, f64 or f32. Slow on purpose; everything faster is compared with it.
 *
 * @module
 */
import { type Algebra, fold, type Tap } from "./expression.ts";
import { planesOf, type Update } from "./update.ts";
import { type Boundary, cellsOf, type Grid, mirrored, periodicAxes } from "./stencils/stencil.ts";

/**
 * The two newest time levels, dense (no pads): x slowest, then the planes (fields, then materials), y, and z
 * fastest. Both hold the materials.
 */
export interface FieldLevels<T extends Float32Array | Float64Array = Float32Array | Float64Array> {
  /** F(t). */
  current: T;
  /** F(t−1). */
  previous: T;
}

/** What {@linkcode runReference} computes. */
export interface ReferenceRun {
  /** A full step. */
  readonly update: Update;
  /** Cells along x, y, z. */
  readonly grid: Grid;
  /** What lies around the grid. */
  readonly boundary: Boundary;
  /** Time steps to advance. */
  readonly steps: number;
  /**
   * Time step of the levels given, for the update's signal.
   * @default {0}
   */
  readonly start?: number;
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
export function runReference<T extends Float32Array | Float64Array>(
  levels: FieldLevels<T>,
  { update, grid, boundary, steps, start = 0 }: ReferenceRun,
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
  const round = current instanceof Float32Array ? Math.fround : (value: number) => value;
  const [periodicX, periodicY, periodicZ] = periodicAxes(boundary);
  const wrap = (i: number, n: number): number => ((i % n) + n) % n;
  let x = 0, y = 0, z = 0, signal = 0;
  const read = ({ offset: [dx, dy, dz], ago, plane }: Tap) => (): number => {
    let i = x + dx, j = y + dy, k = z + dz;
    if (boundary === "insulated") i = mirrored(i, nx), j = mirrored(j, ny), k = mirrored(k, nz);
    if (periodicX) i = wrap(i, nx);
    if (periodicY) j = wrap(j, ny);
    if (periodicZ) k = wrap(k, nz);
    if (i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz) return 0;
    const level = ago === 0 ? current : ago === 1 ? previous : next;
    return level[((i * planes + plane) * ny + j) * nz + k]!;
  };
  const algebra = roundedAlgebra(round, read, () => signal);
  const substeps = update.substeps.map((substep) =>
    substep.map(({ field, value }) => ({ field, evaluate: fold(value, algebra) }))
  );

  for (let step = start; step < start + steps; step++) {
    signal = round(update.signal?.(step) ?? 0);
    next = current.slice() as T; // with the materials
    for (const { field, evaluate } of substeps.flat()) {
      for (x = 0; x < nx; x++) {
        for (y = 0; y < ny; y++) {
          const row = ((x * planes + field) * ny + y) * nz;
          for (z = 0; z < nz; z++) next[row + z] = evaluate();
        }
      }
    }
    [previous, current] = [current, next];
  }
  return { current, previous };
}

/** Turns an expression into a function that rounds after every operation. */
export function roundedAlgebra(
  round: (value: number) => number,
  tap: (tap: Tap) => () => number,
  signal: () => number,
): Algebra<() => number> {
  return {
    tap,
    constant: (value) => {
      const rounded = round(value);
      return () => rounded;
    },
    signal: () => signal,
    add: (left, right) => () => round(left() + right()),
    subtract: (left, right) => () => round(left() - right()),
    multiply: (left, right) => () => round(left() * right()),
    atLeast: (left, right) => () => left() >= right() ? 1 : 0,
  };
}
