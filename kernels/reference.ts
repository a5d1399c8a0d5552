/**
 * The oracle: any stencil in plain loops, f64 or f32. Slow on purpose; everything faster is compared with it.
 *
 * @module
 */
import { type Expression, fold, type Tap } from "./expression.ts";
import { type Boundary, cellsOf, type Grid, periodicAxes } from "./stencils/stencil.ts";

/** The two newest time levels of a field, dense (no pads), x slowest and z fastest. */
export interface FieldLevels<T extends Float32Array | Float64Array = Float32Array | Float64Array> {
  /** F(t). */
  current: T;
  /** F(t−1). */
  previous: T;
}

/** What {@linkcode runReference} computes. */
export interface ReferenceRun {
  /** The new value of a cell. */
  readonly update: Expression;
  /** Cells along x, y, z. */
  readonly grid: Grid;
  /** What lies around the grid. */
  readonly boundary: Boundary;
  /** Time steps to advance. */
  readonly steps: number;
}

/**
 * Advances a field by `steps` steps. The precision is that of the arrays: in Float32Array every operation is
 * rounded to f32, one by one and never fused.
 *
 * @param levels F(t) and F(t−1), each of x·y·z cells; left as they are
 * @returns F(t+steps) and F(t+steps−1)
 *
 * @example
 * ```ts
 * import { runReference } from "./reference.ts";
 * import { tap } from "./expression.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const levels = { current: Float64Array.of(1, 2, 3), previous: Float64Array.of(0, 0, 0) };
 * const shift = { update: tap(0, 0, 1), grid: [1, 1, 3], boundary: "periodic", steps: 1 } as const;
 * assertEquals([...runReference(levels, shift).current], [2, 3, 1]);
 * ```
 */
export function runReference<T extends Float32Array | Float64Array>(
  levels: FieldLevels<T>,
  { update, grid, boundary, steps }: ReferenceRun,
): FieldLevels<T> {
  const [nx, ny, nz] = grid;
  if (levels.current.length !== cellsOf(grid) || levels.previous.length !== cellsOf(grid)) {
    throw new RangeError(
      `Cannot run the reference: both levels must hold ${cellsOf(grid)} cells: they hold ` +
        `${levels.current.length} and ${levels.previous.length}`,
    );
  }
  let current = levels.current.slice() as T;
  let previous = levels.previous.slice() as T;
  const round = current instanceof Float32Array ? Math.fround : (value: number) => value;
  const [periodicX, periodicY, periodicZ] = periodicAxes(boundary);
  const wrap = (i: number, n: number): number => ((i % n) + n) % n;
  let x = 0, y = 0, z = 0;
  const read = ({ offset: [dx, dy, dz], ago }: Tap) => (): number => {
    let i = x + dx, j = y + dy, k = z + dz;
    if (periodicX) i = wrap(i, nx);
    if (periodicY) j = wrap(j, ny);
    if (periodicZ) k = wrap(k, nz);
    if (i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz) return 0;
    return (ago === 0 ? current : previous)[(i * ny + j) * nz + k];
  };
  type Value = () => number;
  const evaluate = fold<Value>(update, {
    tap: read,
    constant: (value) => {
      const rounded = round(value);
      return () => rounded;
    },
    add: (left, right) => () => round(left() + right()),
    subtract: (left, right) => () => round(left() - right()),
    multiply: (left, right) => () => round(left() * right()),
  });
  for (let step = 0; step < steps; step++) {
    const next = new (current.constructor as { new (length: number): T })(current.length);
    let index = 0;
    for (x = 0; x < nx; x++) {
      for (y = 0; y < ny; y++) {
        for (z = 0; z < nz; z++) next[index++] = evaluate();
      }
    }
    previous = current;
    current = next;
  }
  return { current, previous };
}
