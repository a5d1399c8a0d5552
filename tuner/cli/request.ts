/**
 * From options to what is computed where: the steps that `tune`, `space`, `record` and `balance` share.
 *
 * @module
 */
import type { Boundary, Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { reachOf } from "../../kernels/update.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { stepwiseLayout } from "../../kernels/traversals/stepwise.ts";
import type { DeviceLimits, Traversal } from "../../kernels/traversals/traversal.ts";
import { detectDevice, type DeviceDescription } from "../devices/device.ts";
import { defaultGrid, defaultSteps, defaultWorkers } from "../problem/default_problem.ts";
import { canRun, describeCut } from "../problem/left_out.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import type { ProblemOptions } from "./problem_options.ts";
import { UserError } from "./user_error.ts";

/** Bytes that a WebAssembly memory can hold. */
const WASM_BYTES = 2 ** 32;

/** What was asked for, on this machine. */
export interface Request {
  readonly stencil: Stencil;
  readonly traversals: readonly Traversal[];
  /** The devices that take part; a GPU that is left out is no part of it. */
  readonly device: DeviceDescription;
  readonly cpuWorkers: number;
}

/**
 * Looks at the machine and checks that it can do what is asked for, before any work.
 *
 * @throws {UserError} if nothing is left that could compute, the grid fits no buffer, or no traversal that was named
 * can compute it
 */
export async function resolveRequest(options: ProblemOptions): Promise<Request> {
  const detected = await detectDevice();
  const device = options.gpu ? detected : { ...detected, gpu: null };
  const cpuWorkers = options.cpuWorkers ?? defaultWorkers(device);
  if (device.gpu === null && cpuWorkers === 0) {
    throw new UserError("Cannot tune: there is no WebGPU adapter, and --cpu-workers 0 leaves the CPU out");
  }
  if (device.gpu === null && options.traversals.length > 0) {
    const why = options.gpu ? "there is no WebGPU adapter" : "--no-gpu leaves it out";
    throw new UserError(`Cannot use --traversal ${options.traversals[0]}: traversals are the GPU's: ${why}`);
  }
  const stencil = options.equation.create(options.variant, options.timeStep);
  if (options.grid !== undefined) {
    requireLength(stencil, options.grid);
    requireFit({ ...options, stencil, grid: options.grid }, device.gpu?.limits);
  }
  const traversals = TRAVERSALS.filter(({ name, dimensions }) =>
    options.traversals.length === 0
      ? dimensions === undefined || dimensions === stencil.dimensions
      : options.traversals.includes(name)
  );
  if (device.gpu !== null && options.traversals.length > 0) {
    const { boundary, steps = defaultSteps(stencil) } = options;
    const grid = options.grid ?? defaultGrid(stencil, device.gpu);
    requireTraversal({ stencil, grid, boundary, steps }, traversals, device.gpu.limits);
  }
  return { stencil, traversals, device, cpuWorkers };
}

/**
 * Refuses a problem that none of the named traversals can compute: of a line, the swept rule takes whole nodes.
 *
 * @throws {UserError} saying why, and which numbers of points nearest to it would do
 */
export function requireTraversal(
  problem: Problem,
  traversals: readonly Traversal[],
  limits: DeviceLimits,
): void {
  const willing = traversals.filter((traversal) => traversal.refuse(problem) === undefined);
  const named = (some: readonly Traversal[]): string => some.map(({ name }) => name).join(", ");
  if (willing.length === 0) {
    throw new UserError(`Cannot use --traversal ${named(traversals)}: ${traversals[0].refuse(problem)}`);
  }
  if (canRun(problem, willing, limits)) return;
  if (problem.stencil.dimensions === 1) {
    throw new UserError(
      `Cannot use --grid ${problem.grid[2]}: ${named(willing)} ${describeCut(problem, willing, limits)}`,
    );
  }
  const [traversal] = willing;
  const [first] = combine(traversal.parameterLists(problem, limits));
  const why = first === undefined
    ? "no parameters suit the grid"
    : traversal.infeasible(problem, first, limits);
  throw new UserError(
    `Cannot use --traversal ${traversal.name} on a grid of ${problem.grid.join("x")}: ${why}`,
  );
}

/**
 * Refuses a line so short that a tap at one end reaches beyond the other.
 *
 * @throws {UserError} saying how many points are wanted
 */
export function requireLength({ dimensions, update }: Stencil, grid: Grid): void {
  const points = grid[2], { z: reach } = reachOf(update);
  if (dimensions !== 1 || points > reach) return;
  throw new UserError(
    `Cannot use --grid ${points}: wanted at least ${
      reach + 1
    } points, as taps reach ${reach}: found ${points}`,
  );
}

/** What {@linkcode requireFit} checks. */
export interface FitRequest {
  readonly stencil: Stencil;
  readonly grid: Grid;
  readonly boundary: Boundary;
}

/**
 * Refuses a grid that no buffer holds.
 *
 * @param request the grid and what lies around it
 * @param limits the GPU's limits; undefined for the CPU alone
 * @throws {UserError} saying how many bytes are wanted, and how many there can be
 */
export function requireFit({ stencil, grid, boundary }: FitRequest, limits: DeviceLimits | undefined): void {
  const bytes = 4 * stepwiseLayout({ stencil, grid, boundary, steps: 1 }).length;
  const named = `Cannot use --grid ${grid.join("x")}: a time level takes ${bytes} bytes with its frame`;
  if (limits === undefined) {
    if (2 * bytes > WASM_BYTES) throw new UserError(`${named}: two must fit ${WASM_BYTES}`);
    return;
  }
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  if (bytes > most) throw new UserError(`${named}: this GPU binds at most ${most}`);
}
