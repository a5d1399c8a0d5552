import { initialRow, type Start } from "../../kernels/initial_field.ts";
import { layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { operationsOf, planesOf } from "../../kernels/update.ts";
import type { SliceCells } from "./comparison.ts";

/** Steps that the oracle does at least where it cannot do all: enough to cross tiles and levels. */
const ORACLE_STEPS = 12;

/** As much of a problem as the oracle can do in time: first slices, first steps. */
export function oracleProblem(problem: Problem, operations: number): Problem {
  const { grid: [nx, ny, nz], steps, stencil } = problem;
  const sliceSteps = operations / (Math.max(1, operationsOf(stencil.update)) * ny * nz);
  const atLeast = Math.min(steps, ORACLE_STEPS);
  const slices = Math.min(nx, Math.max(1, Math.floor(sliceSteps / atLeast)));
  const grid: Grid = [slices, ny, nz];
  return { ...problem, grid, steps: Math.min(steps, Math.max(1, Math.floor(sliceSteps / slices))) };
}

/** What the oracle makes of a problem, in the host's memory: all cells of each level, the newest first. */
export function oracleOf(problem: Problem, start: Start): readonly [SliceCells, SliceCells] {
  const { grid, stencil: { update }, boundary, steps } = problem;
  const initial = initialCells(problem, start);
  const levels = { current: initial, previous: initial };
  const { current, previous } = runReference(levels, { update, grid, boundary, steps });
  const dense = {
    layout: layOut(grid, {
      pad: [0, 0, 0],
      align: 1,
      planes: planesOf(update),
      fields: update.fields.length,
    }),
    slice: 0,
  };
  return [{ ...dense, cells: current }, { ...dense, cells: previous }];
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
