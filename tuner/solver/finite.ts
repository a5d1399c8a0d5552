/**
 * Whether what a solver computes stays finite, and why it may not. Infinite values and NaN stay and spread, so that it is
 * enough to look from time to time.
 *
 * @module
 */
import { constant } from "../../kernels/expression.ts";
import { evaluatorOf } from "../../kernels/operations.ts";
import { type FloatArray, precisionOf } from "../../kernels/precision.ts";
import { wholeFields } from "../../kernels/layers.ts";
import { runReference } from "../../kernels/reference.ts";
import { axesOf, cellsOf, type Grid, namedCell, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";
import { type Extent, gridOf } from "../../models/decomposition.ts";
import { SolverError } from "./solver_error.ts";

/** Steps from one look to the next where runs are short; a look takes about as long as a step. */
const LEAST_STEPS = 64, MOST_STEPS = 512;

/** Whether a run of some steps, which ends at `step`, ends with a look: one of 0 steps, and one long after the last look. */
export function isDue(step: number, { looked, steps }: { looked: number; steps: number }): boolean {
  const after = Math.min(MOST_STEPS, Math.max(LEAST_STEPS, step / 8));
  return step > looked && (steps === 0 || step - looked >= after);
}

/** Whether all values are finite, by their high words' bits: an exponent of ones alone overflows into the sign. */
export function areFinite({ buffer, byteOffset, byteLength, BYTES_PER_ELEMENT }: FloatArray): boolean {
  const words = BYTES_PER_ELEMENT / 4, bits = new Int32Array(buffer, byteOffset, byteLength / 4);
  let any = 0;
  const least = words === 1 ? 0x800000 : 0x100000;
  for (let i = words - 1; i < bits.length; i += words) any |= (bits[i]! & 0x7fffffff) + least;
  return any >= 0;
}

/** What a solver holds of a grid. */
export interface HeldCells {
  readonly problem: Problem;
  /** Its own cells of the whole grid. */
  readonly own: Extent;
  /** Reads cells of F(t), or of a material, of the whole grid: x, y, z. */
  readCells(plane: number, cells: Extent): Promise<FloatArray>;
}

/** A value that is not finite, and why that may be. */
export interface Broken {
  readonly found: string;
  readonly why: readonly string[];
}

/** Finds a value of F(t) that is not finite; undefined where all are finite. */
export async function findBroken(held: HeldCells): Promise<Broken | undefined> {
  const { problem, problem: { stencil } } = held;
  for (const [plane, name] of wholeFields(stencil.update).entries()) {
    for await (const { cells: [cells = new Float32Array()], cellAt } of slicesOf(held, plane)) {
      if (areFinite(cells)) continue;
      const i = cells.findIndex((value) => !Number.isFinite(value));
      const found = `${cells[i]} in ${name} at (${namedCell(problem, cellAt(i)).join(", ")})`;
      return { found, why: await reasonsOf(held) };
    }
  }
}

/** The error of a run that broke: by what those who compute it found, and the last step at which they looked and saw nothing. */
export function brokenError(all: readonly (Broken | null)[], step: number, looked: number): SolverError {
  const { found } = all.find((one) => one !== null)!, why = new Set(all.flatMap((one) => one?.why ?? []));
  const reasons = why.size > 0 ? [...why].join("; ") : "a smaller time step may help";
  const when = `it broke at or before step ${step}, after step ${looked}`;
  return new SolverError(
    "incorrect",
    `Cannot run: finite values wanted: found ${found}: ${when}: ${reasons}`,
  );
}

/** The slices of planes, one after another: for each plane its cells, and where they lie in the grid. */
async function* slicesOf({ own: { low, size }, readCells }: HeldCells, ...planes: readonly number[]) {
  const [first, y, z] = low, [slices, ny, nz] = size;
  for (let x = first; x < first + slices; x++) {
    const box: Extent = { low: [x, y, z], size: [1, ny, nz] }, cells: FloatArray[] = [];
    for (const plane of planes) cells.push(await readCells(plane, box));
    yield { cells, cellAt: (i: number): Grid => [x, y + Math.floor(i / nz), z + i % nz] };
  }
}

/** What is wrong with the first cell whose materials make no sense together, by the stencil; undefined where all do. */
export async function misfitIn(held: HeldCells): Promise<string | undefined> {
  const { problem, problem: { stencil: { misfit, update } } } = held, materials: Record<string, number> = {};
  if (misfit === undefined) return undefined;
  const planes = update.materials.map((_, i) => update.fields.length + i);
  for await (const { cells, cellAt } of slicesOf(held, ...planes)) {
    for (let i = 0; i < cells[0]!.length; i++) {
      update.materials.forEach(({ name }, index) => materials[name] = cells[index]![i]!);
      const wrong = misfit(materials);
      if (wrong !== undefined) return `${wrong} at (${namedCell(problem, cellAt(i)).join(", ")})`;
    }
  }
}

/** What the materials and the equation itself say. */
async function reasonsOf(held: HeldCells): Promise<string[]> {
  const { problem, problem: { stencil, stencil: { update } }, own } = held, reasons: string[] = [];
  const cells = new Map([[`${own.low}`, own.low]]);
  for (const [i, { name, values, formula, packed, within = packed }] of update.materials.entries()) {
    let [least, most] = [Infinity, -Infinity], [low, high] = [own.low, own.low];
    for await (const { cells: [cells], cellAt } of slicesOf(held, update.fields.length + i)) {
      cells!.forEach((value, i) => {
        if (value < least) [least, low] = [value, cellAt(i)];
        if (value > most) [most, high] = [value, cellAt(i)];
      });
    }
    // as cells hold it
    const range = (within ?? [Math.min(...values), Math.max(...values)]).map(precisionOf(update).round);
    for (const [value, cell] of [[least, low], [most, high]] as const) {
      cells.set(`${cell}`, cell);
      if ((formula && !within) || (value >= range[0]! && value <= range[1]!)) continue;
      const [is, from, to] = [value, ...range].map((number) => Number(number.toPrecision(6)));
      reasons.push(
        `${name} is ${is} at (${namedCell(problem, cell).join(", ")}), its range is ${from} to ${to}`,
      );
    }
  }
  let fastest = 1;
  for (const cell of cells.values()) {
    const materials: number[] = [];
    for (const i of update.materials.keys()) {
      materials.push(...await held.readCells(update.fields.length + i, { low: cell, size: [1, 1, 1] }));
    }
    fastest = Math.max(fastest, growthOf(stencil, materials));
  }
  if (fastest < GROWING) return reasons;
  const growth = `waves of two cells grow ${fastest.toPrecision(3)} times a step in f64, too`;
  return [...reasons, `the time step exceeds the largest stable one: ${growth}`];
}

/** Growth in a step from which on a scheme counts as unstable: what rises steadily grows less in so many rounds of steps. */
const GROWING = 1.01, ROUND_STEPS = 16, ROUNDS = 16;

/** What f64 may not hold after another round. */
const BEYOND = 1e150;

/**
 * By how much the oracle's waves of two cells along the axes grow in a step, where all cells have the same materials, and are
 * far from walls and edges.
 */
function growthOf(stencil: Problem["stencil"], materials: readonly number[]): number {
  const profiles = stencil.update.profiles?.map(({ formula, ...rest }) =>
    formula ? { ...rest, formula: constant(evaluatorOf(formula)({ i: 500, n: 1000 })) } : rest
  );
  const update = { ...stencil.update, ...(profiles && { profiles }) },
    { fields: { length } } = update,
    axes = axesOf(stencil);
  const planes = planesOf(update);
  const grid = gridOf((axis) => axes.includes(axis) ? 2 : 1), row = grid[1] * grid[2];
  const planeOf = (i: number): number => Math.floor(i / row) % planes;
  const start = Float64Array.from({ length: planes * cellsOf(grid) }, (_, i) => {
    return planeOf(i) < length ? 1e-3 * Math.sin(1 + 17 * i) : materials[planeOf(i) - length]!;
  });
  let levels = { current: start, previous: start }, first = 0, growth = 1;
  for (let round = 0; round < ROUNDS; round++) {
    levels = runReference(levels, { update, grid, boundary: "periodic", steps: ROUND_STEPS });
    const largest = Math.max(...levels.current.map((value, i) => planeOf(i) < length ? Math.abs(value) : 0));
    if (!(largest < BEYOND)) break;
    if (round === 0) first = largest;
    else growth = (largest / first) ** (1 / (round * ROUND_STEPS));
  }
  return growth;
}
