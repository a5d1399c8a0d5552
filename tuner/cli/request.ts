/**
 * From options to what is computed where: the steps that `tune` and `space` share.
 *
 * @module
 */
import type { Boundary, Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { stepwiseLayout } from "../../kernels/traversals/stepwise.ts";
import type { DeviceLimits, Traversal } from "../../kernels/traversals/traversal.ts";
import { detectDevice, type DeviceDescription } from "../device.ts";
import { defaultSteps } from "../default_problem.ts";
import { combine } from "../search/space.ts";
import type { SpaceOptions } from "./tune_options.ts";
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
 * @throws {UserError} if nothing is left that could compute, or the grid fits no buffer
 */
export async function resolveRequest(options: Omit<SpaceOptions, "json">): Promise<Request> {
  const detected = await detectDevice();
  const device = options.gpu ? detected : { ...detected, gpu: null };
  const cpuWorkers = options.cpuWorkers ?? defaultWorkers(device);
  if (device.gpu === null && cpuWorkers === 0) {
    throw new UserError("Cannot tune: there is no WebGPU adapter, and --cpu-workers 0 leaves the CPU out");
  }
  const stencil = options.equation.create(options.variant, options.timeStep);
  if (options.grid !== undefined) requireFit({ ...options, stencil, grid: options.grid }, device.gpu?.limits);
  const traversals = TRAVERSALS.filter(({ name, dimensions }) =>
    options.traversals.length === 0
      ? dimensions === undefined || dimensions === stencil.dimensions
      : options.traversals.includes(name)
  );
  if (options.grid !== undefined && stencil.dimensions === 1 && device.gpu !== null) {
    const { grid, boundary, steps = defaultSteps(stencil) } = options;
    requireTraversal({ stencil, grid, boundary, steps }, traversals, device.gpu.limits);
  }
  return { stencil, traversals, device, cpuWorkers };
}

/** How far from the wanted number of points to look for numbers that work. */
const FURTHEST = 8192;

/**
 * Refuses a line that none of the traversals can compute: the swept rule takes whole nodes.
 *
 * @throws {UserError} saying why, and which numbers of points nearest to it would do
 */
export function requireTraversal(
  problem: Problem,
  traversals: readonly Traversal[],
  limits: DeviceLimits,
): void {
  const willing = traversals.filter((traversal) => traversal.refuse(problem) === undefined);
  const works = (points: number): boolean => {
    const other: Problem = { ...problem, grid: [1, 1, points] };
    return willing.some((traversal) =>
      combine(traversal.parameterLists(other, limits)).some((parameters) =>
        traversal.infeasible(other, parameters, limits) === undefined
      )
    );
  };
  const points = problem.grid[2];
  if (works(points)) return;
  const names = traversals.map(({ name }) => name).join(", ");
  if (willing.length === 0) {
    throw new UserError(`Cannot use --traversal ${names}: ${traversals[0].refuse(problem)}`);
  }
  const near = [-1, 1].flatMap((side) => {
    for (let distance = 1; distance <= FURTHEST; distance++) {
      const other = points + side * distance;
      if (other < 1) break;
      if (works(other)) return [other];
    }
    return [];
  });
  throw new UserError(
    `Cannot use --grid ${points}: ${names} cannot cut it into nodes: the nearest that work: ${
      near.length === 0 ? `none within ${FURTHEST} points` : near.join(" and ")
    }`,
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

/** One a core; beside a GPU, the process that feeds it keeps a core of more than two to itself (B2R, §4.1). */
function defaultWorkers({ gpu, cpu: { cores } }: DeviceDescription): number {
  return gpu !== null && cores > 2 ? cores - 1 : cores;
}
