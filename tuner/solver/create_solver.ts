/**
 * Makes solvers: checks the request against the device, compiles, takes the memory.
 *
 * @module
 */
import type { Layout } from "../../kernels/layout.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { borrowedMemory } from "../devices/gpu/field_memory.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { gpuPartOf } from "../devices/shared/shares.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import type { Configuration } from "../configuration.ts";
import { FieldSolver } from "./field_solver.ts";
import { whyNot } from "../profile/adapt.ts";
import type { Solver, SolverOptions } from "./solver.ts";
import { failingAs, SolverError } from "./solver_error.ts";

/**
 * Where the cells lie in a solver's GPU arrays: x slowest, z fastest, `pad` cells of frame around the grid. Cell
 * (x, y, z) of plane p (fields, then materials) is at index `origin + x·slice + p·plane + y·pitch + z`; the array has
 * `length` f32. Where the grid is shared with the CPU, it is the GPU's part with its ghost zones.
 *
 * @throws {RangeError} where the GPU has no share, or there is no such traversal
 *
 * @example
 * ```ts
 * import { solverLayout } from "./create_solver.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * const problem = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 10 } as const;
 * const layout = solverLayout(problem, {
 *   traversal: "stepwise",
 *   parameters: { threadsZ: 8, threadsY: 4, threadsX: 1 },
 *   share: { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 10, cpuWorkers: 0 },
 * });
 * assert(layout.length >= 8 * 8 * 8);
 * ```
 */
export function solverLayout(problem: Problem, { traversal, parameters, share }: Configuration): Layout {
  if (share.gpuSlices === 0) {
    throw new RangeError("Cannot lay out the GPU's arrays: a share of the GPU is wanted: it has 0 slices");
  }
  return traversalNamed(traversal).plan(gpuPartOf(problem, share), parameters).layout;
}

/**
 * Compiles a configuration for a problem and takes its memory. All fields are zero, materials those of the stencil,
 * the time step is 0.
 *
 * @param device the caller's own device, of whatever limits; null where the CPU computes alone
 * @param problem what is computed; its `steps` is the run that the configuration was tuned for, runs may be shorter
 *   or longer
 * @param configuration how, as `chooseConfiguration` gives it
 * @param options the caller's buffers, time-out
 * @throws {RangeError} where the request makes no sense
 * @throws {SolverError} where the device cannot run it, in one line
 *
 * @example
 * ```ts
 * import { createSolver } from "./create_solver.ts";
 * import { chooseConfiguration } from "../profile/choose.ts";
 * import { openDevice } from "../devices/open_device.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const problem = { stencil: wave(4), grid: [16, 16, 16], boundary: "periodic", steps: 10 } as const;
 * const exact = problem.stencil.planeWave!(problem.grid, [1, 0, 2]);
 * const device = await openDevice();
 * const { configuration } = chooseConfiguration([], problem, device);
 * {
 *   using solver = await createSolver(device, problem, configuration);
 *   await solver.write("F", (...cell) => exact.at(cell, 0));
 *   await solver.write("F", (...cell) => exact.at(cell, -1), { ago: 1 });
 *   await solver.run(25);
 *   const slice = await solver.read("F", { x: 3, slices: 1 });
 *   assertAlmostEquals(slice[5 * 16 + 7], exact.at([3, 5, 7], 25), 1e-4);
 * }
 * device?.destroy();
 * ```
 */
export async function createSolver(
  device: GPUDevice | null,
  problem: Problem,
  configuration: Configuration,
  options: SolverOptions = {},
): Promise<Solver> {
  checkProblem("create the solver", problem);
  const { share: { cpuSlices, gpuSlices, cpuWorkers } } = configuration;
  const { buffers, timeoutMs, workerUrl } = options;
  if (gpuSlices > 0 && device === null) {
    throw new RangeError(
      `Cannot create the solver: a GPUDevice is wanted for the GPU's ${gpuSlices} slices: found none`,
    );
  }
  return await failingAs("create the solver", async () => {
    const gpu = gpuSlices > 0
      ? await GpuDevice.borrow(device!, timeoutMs === undefined ? {} : { timeoutMs })
      : undefined;
    if (gpu !== undefined) checkParameters(problem, configuration, gpu);
    if (buffers !== undefined) checkBuffers(problem, configuration, buffers);
    const worker = workerUrl === undefined ? {} : { workerUrl };
    const cpuPool = cpuSlices > 0 ? await CpuPool.create({ workers: cpuWorkers, ...worker }) : undefined;
    let solver: FieldSolver | undefined;
    try {
      const field = await SharedField.create(problem, {
        configuration,
        ...(gpu && { gpu }),
        ...(cpuPool && { cpuPool }),
        ...(buffers && { gpuMemory: borrowedMemory(buffers) }),
      });
      const isBorrowed = buffers !== undefined;
      solver = new FieldSolver({ configuration, field, gpu, cpuPool, isBorrowed });
      // without materials, all is zero already
      if (!isBorrowed && problem.stencil.update.materials.length > 0) await solver.initialise("zero");
      return solver;
    } catch (error) {
      solver?.dispose();
      cpuPool?.dispose();
      throw error;
    }
  });
}

/** Refuses what the device cannot run, and says what might help. */
function checkParameters(
  problem: Problem,
  { traversal: name, parameters, share }: Configuration,
  { limits }: GpuDevice,
): void {
  const traversal = traversalNamed(name);
  const part = gpuPartOf(problem, share);
  const reason = traversal.refuse(part) ?? whyNot(traversal, part, parameters, limits);
  if (reason === undefined) return;
  const isLimit = Object.keys(limits).some((limit) => reason.includes(limit));
  const advice = isLimit ? "; requestDevice's requiredLimits may have more" : "";
  throw new SolverError("limits", `Cannot create the solver: ${name}: ${reason}${advice}`);
}

function checkBuffers(
  problem: Problem,
  configuration: Configuration,
  [even, odd]: readonly [GPUBuffer, GPUBuffer],
): void {
  const wrong = (wanted: string, found: string): RangeError =>
    new RangeError(`Cannot create the solver: of the buffers ${wanted} wanted: found ${found}`);
  const { cpuSlices } = configuration.share;
  if (cpuSlices > 0) throw wrong("a GPU that computes all slices is", `${cpuSlices} on the CPU`);
  if (even === odd) throw wrong("two different ones are", "one twice");
  const bytes = 4 * solverLayout(problem, configuration).length;
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  for (const { size, usage } of [even, odd]) {
    if (size < bytes) throw wrong(`at least ${bytes} bytes are`, `${size}`);
    if ((usage & STORAGE) === 0 || (usage & COPY_SRC) === 0 || (usage & COPY_DST) === 0) {
      throw wrong("the usages STORAGE, COPY_SRC and COPY_DST are", `the bits ${usage}`);
    }
  }
}
