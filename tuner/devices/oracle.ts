/**
 * The oracle's result of a problem, in the host's memory, and the comparison with it.
 *
 * @module
 */
import { initialRow } from "../../kernels/initial_field.ts";
import { indexOf, type Layout, layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { arithmeticOf, planesOf } from "../../kernels/update.ts";
import type { Comparison } from "./gpu/gpu_comparison.ts";
import type { ComparedLevel, Start } from "./reference.ts";

/** Steps that the oracle does at least where it cannot do all: enough to cross tiles and levels. */
const ORACLE_STEPS = 12;

/** As much of a problem as the oracle can do in time: first slices, first steps. */
export function oracleProblem(problem: Problem, operations: number): Problem {
  const { grid: [nx, ny, nz], steps, stencil } = problem;
  const sliceSteps = operations / (Math.max(1, arithmeticOf(stencil.update).operations) * ny * nz);
  const atLeast = Math.min(steps, ORACLE_STEPS);
  const slices = Math.min(nx, Math.max(1, Math.floor(sliceSteps / atLeast)));
  const grid: Grid = [slices, ny, nz];
  return { ...problem, grid, steps: Math.min(steps, Math.max(1, Math.floor(sliceSteps / slices))) };
}

/** What the oracle makes of a problem: dense levels, the newest first. */
export function oracleOf(problem: Problem, start: Start): HostLevels {
  const { grid, stencil: { update }, boundary, steps } = problem;
  const initial = initialCells(problem, start);
  const { current, previous } = runReference({ current: initial, previous: initial }, {
    update,
    grid,
    boundary,
    steps,
  });
  return {
    layout: layOut(grid, { pad: [0, 0, 0], align: 1, planes: planesOf(update) }),
    levels: [current, previous],
  };
}

/** All slices of a level. */
export function wholeLevel({ grid: [slices] }: Problem, ago: 0 | 1): ComparedLevel {
  return { ago, slice: 0, slices, referenceSlice: 0 };
}

/** A dense level of initial values: x, planes, y, z. */
export function initialCells(
  { grid: [nx, ny, nz], stencil: { update } }: Pick<Problem, "grid" | "stencil">,
  start: Start,
): Float32Array<ArrayBuffer> {
  const planes = planesOf(update);
  const cells = new Float32Array(nx * planes * ny * nz);
  for (let row = 0; row < nx * planes * ny; row++) {
    const x = Math.floor(row / (planes * ny)), plane = Math.floor(row / ny) % planes;
    initialRow({ ...update, ...start }, [x, row % ny], plane, cells.subarray(row * nz, (row + 1) * nz));
  }
  return cells;
}

/** Levels of a reference in the host's memory, the newest first. */
interface HostLevels {
  readonly layout: Layout;
  readonly levels: readonly Float32Array[];
}

/** Compares slices with those of a reference in the host's memory. */
export function compareOnHost(
  { cells, layout }: { readonly cells: Float32Array; readonly layout: Layout },
  { ago, slice, slices, referenceSlice, ...reference }: ComparedLevel & HostLevels,
): Comparison {
  const [, ny, nz] = layout.grid;
  const expected = reference.levels[ago]!;
  let maxError = 0, maxValue = 0, notFinite = 0;
  const rows = layout.planes * ny;
  for (let x = 0; x < slices; x++) {
    for (let row = 0; row < rows; row++) {
      const y = row % ny, plane = Math.floor(row / ny);
      const mine = indexOf(layout, [slice + x, y, 0], plane);
      const other = indexOf(reference.layout, [referenceSlice + x, y, 0], plane);
      for (let z = 0; z < nz; z++) {
        const value = expected[other + z]!, error = Math.abs(cells[mine + z]! - value);
        if (!(error < Infinity)) notFinite++;
        else if (error > maxError) maxError = error;
        if (Math.abs(value) > maxValue) maxValue = Math.abs(value);
      }
    }
  }
  return { maxError, maxValue, notFinite, cells: slices * rows * nz };
}
