/**
 * What every result is compared with: the stepwise field on the GPU, kept there; without a GPU a field that one
 * CPU worker computed, checked against the oracle as far as there is time.
 *
 * @module
 */
import { AMPLITUDE, type InitialField, initialRow } from "../../kernels/initial_field.ts";
import { indexOf, type Layout, layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import { cellsOf, type Grid, type Problem } from "../../kernels/stencils/stencil.ts";
import { arithmeticOf, planesOf, reachOf, readsPrevious } from "../../kernels/update.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { errorBound } from "../../models/error_bound.ts";
import type { Verification } from "../configuration.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import type { CpuField } from "./cpu/cpu_field.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";
import type { Comparison } from "./gpu/gpu_comparison.ts";
import { GpuField } from "./gpu/gpu_field.ts";
import { levelOf } from "./shared/slice_exchange.ts";
import { CpuPool } from "./cpu/wasm_workers.ts";
import { RunFailure } from "./run_failure.ts";

/** What a field starts from. */
export interface Start {
  readonly kind: InitialField;
  readonly seed: number;
}

/** Slices of a field, and where they lie in the reference. */
export interface ComparedSlices {
  readonly slice: number;
  readonly slices: number;
  readonly referenceSlice: number;
}

/** Slices of one level. */
export interface ComparedLevel extends ComparedSlices {
  /** 0: the newest level, 1: the one before. */
  readonly ago: 0 | 1;
}

/** The right result of a problem, after its steps. */
export interface Reference {
  readonly problem: Problem;
  readonly start: Start;
  /** How it was computed, as a {@linkcode Verification} says it. */
  readonly against: string;
  /** Compiles what a field's start and {@linkcode compareGpu} will run, before there is the field. */
  prepareGpu(problem: Problem, layout: Layout): Promise<void>;
  /** Compares every level of the state. */
  compareGpu(field: GpuField, slices: ComparedSlices): Promise<Comparison>;
  /** Compares one level. */
  compareCpu(field: CpuField, slices: ComparedLevel): Promise<Comparison>;
  dispose(): void;
}

/** What {@linkcode makeReference} takes. */
export interface ReferenceOptions {
  /** Computes the reference; without one the CPU does. */
  readonly gpu?: GpuDevice;
  readonly problem: Problem;
  /** @default {the stencil's, seed 1} */
  readonly start?: Start;
  /**
   * Operations that the oracle may do where there is no GPU.
   * @default {250 million} some 3 s: 12 ns each (AMD EPYC, Zen 5, 2026-11-21)
   */
  readonly oracleOperations?: number;
}

/** The levels that the next step needs: where F(t−1) is never read, a traversal need not keep it. */
export function stateLevels({ stencil }: Pick<Problem, "stencil">): readonly (0 | 1)[] {
  return readsPrevious(stencil.update) ? [0, 1] : [0];
}

/**
 * Computes the reference of a problem.
 *
 * @throws {RunFailure} if it cannot be computed, or differs from the oracle
 */
export async function makeReference(
  { gpu, problem, start: given, oracleOperations = 250e6 }: ReferenceOptions,
): Promise<Reference> {
  const start = given ?? { kind: problem.stencil.initialField ?? "noise", seed: 1 };
  return gpu === undefined
    ? await cpuReference(problem, start, oracleOperations)
    : await gpuReference(gpu, problem, start);
}

/**
 * Judges a comparison with the reference.
 *
 * @param comparison all own cells of every level of the state
 * @param reference what they were compared with
 * @returns the verification; a field that is not finite, or was not compared as a whole, has an infinite error
 */
export function verificationOf(
  { maxError, maxValue, notFinite, cells }: Comparison,
  { problem: { stencil, grid, steps, boundary }, start, against }: Pick<
    Reference,
    "problem" | "start" | "against"
  >,
): Verification {
  const isWhole = notFinite === 0 &&
    cells === stateLevels({ stencil }).length * planesOf(stencil.update) * cellsOf(grid);
  const bound = errorBound({
    stencil,
    steps,
    maxField: Math.max(AMPLITUDE[start.kind], Number.isFinite(maxValue) ? maxValue : 0),
    kernels: 2,
    periodicCells: boundary === "zero" ? undefined : cellsOf(grid),
  });
  return { maxError: isWhole ? maxError : Infinity, bound, against };
}

async function gpuReference(gpu: GpuDevice, problem: Problem, start: Start): Promise<Reference> {
  const parameters = stepwiseShape(gpu, problem);
  const field = await GpuField.create(gpu, problem, stepwise.plan(problem, parameters));
  try {
    await field.initialise(start);
    await field.run(problem.steps);
  } catch (error) {
    field[Symbol.dispose]();
    throw error;
  }
  return {
    problem,
    start,
    against: `gpu ${field.plan.label}`,
    prepareGpu: (part, layout) => field.compileComparison(start.kind, part, layout),
    compareGpu: (result, slices) => result.compare(field, { levels: stateLevels(problem), ...slices }),
    compareCpu(result, slices) {
      const { cells, layout } = levelOf(result, slices.ago);
      return field.compareCells(cells, { layout, ...slices });
    },
    dispose: () => field[Symbol.dispose](),
  };
}

/** 64x4x1, or the largest workgroup that the device allows. */
function stepwiseShape({ limits }: GpuDevice, problem: Problem): Parameters {
  const usual = { threadsZ: 64, threadsY: 4, threadsX: 1 };
  const reason = stepwise.infeasible(problem, usual, limits);
  if (reason === undefined) return usual;
  const size = ({ threadsZ, threadsY, threadsX }: Parameters): number => threadsZ * threadsY * threadsX;
  const [largest] = [...combine(stepwise.parameterLists(problem, limits))]
    .filter((shape) => stepwise.infeasible(problem, shape, limits) === undefined)
    .sort((a, b) => size(b) - size(a));
  if (largest === undefined) throw new RunFailure("limits", reason);
  return largest;
}

/** Steps that the oracle should do at least where it cannot do all: enough to cross tiles and levels. */
const ORACLE_STEPS = 12;

/** As much of a problem as the oracle can do in time: first slices, first steps. */
function oracleProblem(problem: Problem, operations: number): Problem {
  const { grid: [nx, ny, nz], steps, stencil } = problem;
  const sliceSteps = operations / (Math.max(1, arithmeticOf(stencil.update).operations) * ny * nz);
  const atLeast = Math.min(steps, ORACLE_STEPS);
  const slices = Math.min(nx, Math.max(1, Math.floor(sliceSteps / atLeast)));
  const grid: Grid = [slices, ny, nz];
  return { ...problem, grid, steps: Math.min(steps, Math.max(1, Math.floor(sliceSteps / slices))) };
}

async function cpuReference(problem: Problem, start: Start, oracleOperations: number): Promise<Reference> {
  const small = oracleProblem(problem, oracleOperations);
  const pool = await CpuPool.create({ workers: 1 });
  try {
    await checkWithOracle(small, start, pool);
    const field = await runOnCpu(problem, start, pool);
    // copies, since the pool ends here
    const levels = stateLevels(problem).map((ago) => levelOf(field, ago).cells.slice());
    const [nx] = problem.grid;
    const isChecked = small.steps === problem.steps && small.grid[0] === nx;
    const extent = `${small.steps} of ${problem.steps} steps on ${small.grid[0]} of ${nx} slices`;
    return {
      problem,
      start,
      against: isChecked ? "oracle f32" : `one CPU worker, checked by oracle f32: ${extent}`,
      prepareGpu: () => Promise.resolve(),
      compareGpu: () => Promise.reject(new RunFailure("limits", "the reference is not on this GPU")),
      compareCpu: (result, slices) =>
        Promise.resolve(
          compareOnHost(levelOf(result, slices.ago), { ...slices, layout: field.layout, levels }),
        ),
      dispose: () => levels.splice(0),
    };
  } finally {
    pool.dispose();
  }
}

async function runOnCpu(
  { grid, boundary, stencil: { update }, steps }: Problem,
  { kind, seed }: Start,
  pool: CpuPool,
): Promise<CpuField> {
  const { x, y, z } = reachOf(update);
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const field = await pool.load({ update, layout: layout, boundary });
  await field.setInitial(kind, { seed });
  await field.run({ steps });
  return field;
}

/** One worker and the oracle give the same bits; anything else is a wrong kernel. */
async function checkWithOracle(problem: Problem, start: Start, pool: CpuPool): Promise<void> {
  const { grid: [nx], stencil: { update }, boundary, steps } = problem;
  const initial = initialCells(problem, start);
  const oracle = runReference({ current: initial, previous: initial }, {
    update,
    grid: problem.grid,
    boundary,
    steps,
  });
  const field = await runOnCpu(problem, start, pool);
  const dense = layOut(problem.grid, { pad: [0, 0, 0], align: 1, planes: planesOf(update) });
  const levels = [oracle.current, oracle.previous];
  for (const ago of stateLevels(problem)) {
    const slices = { ago, slice: 0, slices: nx, referenceSlice: 0 };
    const { maxError, notFinite } = compareOnHost(levelOf(field, ago), { ...slices, layout: dense, levels });
    if (maxError > 0 || notFinite > 0) {
      throw new RunFailure(
        "incorrect",
        `the CPU's kernel differs from oracle f32 by ${maxError} after ${steps} steps`,
      );
    }
  }
  await field.dispose();
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

/** Compares slices with the levels of a reference in the host's memory. */
function compareOnHost(
  { cells, layout }: { cells: Float32Array; layout: Layout },
  { ago, slice, slices, referenceSlice, ...reference }: ComparedLevel & {
    readonly layout: Layout;
    readonly levels: readonly Float32Array[];
  },
): Comparison {
  const [, ny, nz] = layout.grid;
  const expected = reference.levels[ago];
  let maxError = 0, maxValue = 0, notFinite = 0;
  const rows = layout.planes * ny;
  for (let x = 0; x < slices; x++) {
    for (let row = 0; row < rows; row++) {
      const y = row % ny, plane = Math.floor(row / ny);
      const mine = indexOf(layout, [slice + x, y, 0], plane);
      const other = indexOf(reference.layout, [referenceSlice + x, y, 0], plane);
      for (let z = 0; z < nz; z++) {
        const value = expected[other + z], error = Math.abs(cells[mine + z] - value);
        if (!(error < Infinity)) notFinite++;
        else if (error > maxError) maxError = error;
        if (Math.abs(value) > maxValue) maxValue = Math.abs(value);
      }
    }
  }
  return { maxError, maxValue, notFinite, cells: slices * rows * nz };
}
