import type { Start } from "../../kernels/initial_field.ts";
import { remembered } from "../../kernels/remembered.ts";
import { hashOf } from "../../kernels/definition.ts";
import { cellsOf, type Grid, type Problem, shortBoundary } from "../../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { errorBound } from "../../models/error_bound.ts";
import type { Failure, Verification } from "../configuration.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import { type CpuField, cpuLayoutOf } from "./cpu/cpu_field.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";
import { compareSlices, type Comparison, joinComparisons, type SliceCells } from "./comparison.ts";
import { GpuField } from "./gpu/gpu_field.ts";
import { WindowedField } from "./gpu/windowed_field.ts";
import { CpuPool } from "./cpu/wasm_workers.ts";
import { oracleOf, oracleProblem } from "./oracle.ts";
import { Survey } from "./survey.ts";
import { RunFailure, UnstableProblem } from "./run_failure.ts";

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
  readonly traces?: readonly Float32Array[] | undefined;
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

/**
 * Computes the reference of a problem.
 *
 * @throws {RunFailure} if it cannot be computed, or what computes it differs from the oracle
 */
export async function makeReference(
  { gpu, problem, start: given, isChecked = false, oracleOperations = 250e6, windowBytes }: {
    /** Computes the reference; without one the CPU does. */
    readonly gpu?: GpuDevice | undefined;
    readonly problem: Problem;
    /** @default {the stencil's, seed 1} */
    readonly start?: Start;
    /** Whether this device was compared with the oracle before. @default {false} */
    readonly isChecked?: boolean;
    /** What the levels may take on the GPU, where the host holds them. */
    readonly windowBytes?: number | undefined;
    /** What the oracle may do where there is no GPU: about 1 s (AMD EPYC, Zen 5, 2026-11-22). */
    readonly oracleOperations?: number;
  },
): Promise<Reference> {
  const start = given ?? { kind: problem.stencil.initialField ?? "noise", seed: 1 };
  if (gpu === undefined) return await cpuReference(problem, start, oracleOperations);
  if (!isChecked) await checkGpu(gpu, problem, start);
  return windowBytes === undefined
    ? await gpuReference(gpu, problem, start)
    : await windowReference(gpu, problem, start, windowBytes);
}

/** Judges a comparison of the whole state; one that is not finite, or not whole, has an infinite error. */
export function verificationOf(
  { maxError, maxValue, notFinite, cells }: Comparison,
  { problem, against, traces: expected = [] }: Pick<Reference, "problem" | "against" | "traces">,
  traces: readonly Float32Array[] = [],
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
function differenceOf(traces: readonly Float32Array[], expected: readonly Float32Array[]): number {
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

async function gpuReference(gpu: GpuDevice, problem: Problem, start: Start): Promise<Reference> {
  const survey = problem.survey && Survey.synthetic(problem, problem.steps);
  const field = await runOnGpu(gpu, problem, start, survey);
  if (!await (await field.look())()) {
    field[Symbol.dispose]();
    throw new UnstableProblem(problem);
  }
  return {
    problem,
    start,
    against: `gpu ${field.plan.label}`,
    traces: survey?.traces(),
    onGpu: field,
    slices: (ago, first, slices) => field.readSlices(ago, first, slices),
    dispose: () => field[Symbol.dispose](),
  };
}

/** Stepwise as well, its levels on the host. */
async function windowReference(
  gpu: GpuDevice,
  problem: Problem,
  start: Start,
  windowBytes: number,
): Promise<Reference> {
  const parameters = stepwiseShape({ limits: { ...gpu.limits, windowBytes } }, problem);
  const window = await WindowedField.open(gpu, problem, { traversal: "stepwise", parameters, windowBytes });
  const survey = problem.survey && Survey.synthetic(problem, problem.steps);
  try {
    await window.initialise(start);
    await survey?.watch(window);
    await window.run(problem);
  } finally {
    window[Symbol.dispose](); // the host keeps the levels
  }
  const sliceOf = window.slices();
  return {
    problem,
    start,
    against: `gpu ${window.plan.label} through a window`,
    traces: survey?.traces(),
    slices: (ago, first, slices) =>
      Array.from({ length: slices }, (_, i) => ({ ...sliceOf(ago, first + i), x: first + i, slices: 1 })),
    dispose: () => {},
  };
}

async function runOnGpu(gpu: GpuDevice, problem: Problem, start: Start, survey?: Survey): Promise<GpuField> {
  const plan = stepwise.plan(problem, stepwiseShape(gpu, problem), gpu.limits);
  const field = await GpuField.create(gpu, problem, plan);
  try {
    await field.initialise(start);
    await survey?.watch(field);
    await field.run(problem.steps);
    return field;
  } catch (error) {
    field[Symbol.dispose]();
    throw error;
  }
}

/** The reference's workgroups, where the device allows them; of slices of one row, in two dimensions, along it. */
export function referenceShape({ grid: [, ny] }: Pick<Problem, "grid">): Parameters {
  return ny === 1 ? { threadsZ: 256, threadsY: 1, threadsX: 1 } : { threadsZ: 64, threadsY: 4, threadsX: 1 };
}

/** The reference's shape, or the largest workgroup that the device allows. */
function stepwiseShape({ limits }: Pick<GpuDevice, "limits">, problem: Problem): Parameters {
  const usual = referenceShape(problem), refusal = stepwise.infeasible(problem, usual, limits);
  if (refusal === undefined) return usual;
  const sizeOf = (shape: Parameters): number => Object.values(shape).reduce((product, n) => product * n);
  const [largest] = [...combine(stepwise.parameterLists(problem, limits))]
    .filter((shape) => stepwise.infeasible(problem, shape, limits) === undefined)
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  if (largest === undefined) throw new RunFailure("limits", refusal.message);
  return largest;
}

/** The problem on which a GPU's kernel is checked, at most: some 0.05 s for the oracle. */
const CHECKED_GRID: Grid = [20, 16, 36], CHECKED_STEPS = 8;

/** Equations whose stepwise kernel on a GPU was right. */
const checkedOn = remembered((_: GpuDevice) => new Set<string>());

/** Compares what the GPU computes with the oracle, once for each equation and boundary, on a small grid. */
async function checkGpu(gpu: GpuDevice, problem: Problem, start: Start): Promise<void> {
  const { stencil: { update }, grid: [nx, ny, nz], boundary, steps } = problem;
  const known = checkedOn(gpu);
  const key = JSON.stringify([hashOf(update), update.ranges, shortBoundary(boundary), start.kind]);
  if (known.has(key)) return;
  const [mx, my, mz] = CHECKED_GRID;
  const grid: Grid = [Math.min(nx, mx), Math.min(ny, my), Math.min(nz, mz)];
  const { survey: _, ...plain } = problem;
  const small: Problem = { ...plain, grid, steps: Math.min(steps, CHECKED_STEPS) };
  using field = await runOnGpu(gpu, small, start);
  const oracle = oracleOf(small, start);
  if (!oracle[0].cells.every(Number.isFinite)) throw new UnstableProblem(small);
  const comparisons = stateLevels(small).map(async (ago) => {
    const { array, layout } = field.level(ago)[0]!;
    const cells = new Float32Array(await gpu.read(array.buffer, array.offset, array.size));
    return compareSlices({ cells, layout, slice: 0 }, oracle[ago], grid[0]);
  });
  const comparison = joinComparisons(await Promise.all(comparisons));
  const failure = refute(verificationOf(comparison, { problem: small, against: "oracle f32" }));
  if (failure !== undefined) {
    throw new RunFailure("incorrect", `gpu ${field.plan.label}, the reference itself, ${failure.message}`);
  }
  known.add(key);
}

async function cpuReference(problem: Problem, start: Start, oracleOperations: number): Promise<Reference> {
  const small = oracleProblem(problem, oracleOperations);
  const pool = await CpuPool.create({ workers: 1 });
  try {
    const field = await startOnCpu(pool, problem, start);
    const survey = problem.survey && Survey.synthetic(problem, problem.steps);
    await survey?.watch(field);
    const running = field.run({ steps: problem.steps });
    running.catch(() => {}); // awaited below
    // the worker begins before the oracle takes this thread
    await new Promise((resolve) => setTimeout(resolve));
    const oracle = oracleOf(small, start);
    await running;
    const [slices] = problem.grid, last = { ago: 0, slice: 0, slices } as const;
    const sliceOf = field.slices(), { notFinite } = await field.compare(sliceOf(1, 0), last);
    if (notFinite > 0) throw new UnstableProblem(problem);
    await checkCpu(pool, small, start, oracle);
    // what the workers that compute results share with these: the memory outlives its pool
    const levels = stateLevels(problem).map((ago) => sliceOf(ago, 0));
    const [nx] = problem.grid, [checkedSlices] = small.grid;
    const isChecked = small.steps === problem.steps && checkedSlices === nx;
    const extent = `${small.steps} of ${problem.steps} steps on ${checkedSlices} of ${nx} slices`;
    return {
      problem,
      start,
      traces: survey?.traces(),
      against: isChecked && survey === undefined
        ? "oracle f32"
        : `one CPU worker, checked by oracle f32: ${extent}`,
      slices: (ago, first, slices) => [{ ...levels[ago]!, slice: first, x: first, slices }],
      dispose: () => levels.splice(0),
    };
  } finally {
    pool.dispose();
  }
}

export async function startOnCpu(
  pool: Pick<CpuPool, "load">,
  { grid, boundary, stencil }: Problem,
  { kind, seed }: Start,
): Promise<CpuField> {
  const field = await pool.load({ update: stencil.update, layout: cpuLayoutOf({ stencil, grid }), boundary });
  await field.initialise({ kind, seed });
  return field;
}

/** One worker and the oracle give the same bits; anything else is a wrong kernel. */
async function checkCpu(
  pool: CpuPool,
  problem: Problem,
  start: Start,
  oracle: ReturnType<typeof oracleOf>,
): Promise<void> {
  const field = await startOnCpu(pool, problem, start);
  await field.run({ steps: problem.steps });
  for (const ago of stateLevels(problem)) {
    const { maxError, notFinite } = compareSlices(field.slices()(ago, 0), oracle[ago], problem.grid[0]);
    if (maxError > 0 || notFinite > 0) {
      const found = `differs from oracle f32 by ${maxError} after ${problem.steps} steps`;
      throw new RunFailure("incorrect", `the CPU's kernel ${found}`);
    }
  }
  await field.dispose();
}
