/**
 * The oracle in f64, which everything in f64 is compared with, against numbers of 256 bits behind the point: every equation
 * on a small grid, whose results then differ by no more than rounding explains, and by something.
 *
 * @module
 */
import { assert, assertLessOrEqual } from "@std/assert";
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import { type Algebra, eachOperation, fold } from "../../kernels/expression.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { runReference } from "../../kernels/reference.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import {
  alongAxes,
  type Boundary,
  imageOf,
  type Problem,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { planesOf, signalAt } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import { fixed, fixedOver, fixedRoot, fixedTimes, numberOf } from "./exact_functions.ts";

/** F(t) after the steps, cell by cell. */
function exactly(
  { stencil: { update }, grid, boundary, steps }: Problem,
  start: readonly bigint[],
): bigint[] {
  const [nx, ny, nz] = grid, planes = planesOf(update), along = alongAxes(boundary);
  const profiles = initialProfiles(update, grid).map((values) => Array.from(values, fixed));
  const image = (axis: 0 | 1 | 2, i: number) => imageOf(i, grid[axis], along[axis]);
  let previous = [...start], current = [...start];
  for (let step = 0; step < steps; step++) {
    const next = [...current], signal = fixed(signalAt(update, step));
    for (const substep of update.substeps) {
      const made: [number, bigint][] = [];
      for (const { field, value } of substep) {
        for (let x = 0; x < nx; x++) {
          for (let y = 0; y < ny; y++) {
            for (let z = 0; z < nz; z++) {
              const cell = [x, y, z], one = fixed(1);
              const whole = (holds: boolean) => holds ? one : 0n;
              const algebra: Algebra<bigint> = {
                ...eachOperation<bigint>((kind) => () => {
                  throw new RangeError(`nothing exact is known of ${kind}`);
                }),
                tap({ ago, plane, offset }) {
                  const [i, j, k] = ([0, 1, 2] as const).map((axis) =>
                    image(axis, cell[axis]! + offset[axis])
                  );
                  if (i === undefined || j === undefined || k === undefined) return 0n;
                  const level = ago === 0 ? current : ago === 1 ? previous : next;
                  return level[((i * planes + plane) * ny + j) * nz + k]!;
                },
                profile({ profile, axis, offset }) {
                  const i = image(axis, cell[axis]! + offset);
                  return i === undefined ? 0n : profiles[profile]![i]!;
                },
                constant: fixed,
                signal: () => signal,
                add: (a, b) => a + b,
                subtract: (a, b) => a - b,
                multiply: fixedTimes,
                divide: fixedOver,
                squareRoot: fixedRoot,
                absolute: (a) => a < 0n ? -a : a,
                minimum: (a, b) => b < a ? b : a,
                maximum: (a, b) => a < b ? b : a,
                atLeast: (a, b) => whole(a >= b),
                greater: (a, b) => whole(a > b),
                choose: (condition, then, otherwise) => condition !== 0n ? then : otherwise,
              };
              made.push([((x * planes + field) * ny + y) * nz + z, fold(value, algebra)]);
            }
          }
        }
      }
      for (const [i, value] of made) next[i] = value;
    }
    [previous, current] = [current, next];
  }
  return current;
}

const CASES: readonly (readonly [Stencil, Boundary])[] = EQUATIONS.flatMap((equation) =>
  (equation.dimensions ?? [3]).map((dimensions) => {
    const stencil = equation.create(
      equation.variant?.default,
      undefined,
      dimensions === 1 ? undefined : dimensions,
    );
    return [stencil, (stencil.boundaries ?? ["zero"])[0]!] as const;
  })
);

for (const [given, boundary] of CASES) {
  Deno.test(`the oracle of f64 agrees with numbers of 256 bits: ${given.title}, ${given.dimensions ?? 3}D`, () => {
    const grid = given.dimensions === 1
      ? [1, 1, 14] as const
      : given.dimensions === 2
      ? [5, 6] as const
      : [3, 4, 5] as const;
    const problem = plannedProblem({ stencil: given, grid, boundary, steps: 3, precision: "f64" });
    const { stencil, stencil: { update }, steps } = problem;
    const start = initialCells(problem, { kind: stencil.initialField ?? "noise", seed: 3 });
    const run = { ...problem, update };
    const found = runReference({ current: start, previous: start }, run).current;
    const exact = exactly(problem, Array.from(start, fixed)).map(numberOf);
    const [nx, ny, nz] = problem.grid, planes = planesOf(update), perSlice = planes * ny * nz;
    let error = 0, largest = 0;
    for (let x = 0; x < nx; x++) {
      for (let i = 0; i < update.fields.length * ny * nz; i++) {
        const at = x * perSlice + i;
        error = Math.max(error, Math.abs(found[at]! - exact[at]!));
        largest = Math.max(largest, Math.abs(exact[at]!));
      }
    }
    assertLessOrEqual(error, errorBound({ ...problem, steps }, largest));
    assert(error > 0 || stencil.initialField === "binary", "nothing was rounded");
  });
}
