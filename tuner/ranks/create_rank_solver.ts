/**
 * A grid on several devices, from other programs: `@facet/facet/ranks`. Apart from `mod.ts`, because MPI is called by
 * Deno's foreign function interface, which pages and Node.js do not have.
 *
 * @module
 */
import { checkOptions } from "../../kernels/check_options.ts";
import { type OpenProblem, type OwnGrid, planned, type Problem } from "../../kernels/stencils/stencil.ts";
import type { RankPlan } from "../../models/rank_part.ts";
import type { Configuration } from "../configuration.ts";
import { checkProblem, windowOf } from "../problem/resolve_problem.ts";
import { type Choice, chooseConfiguration } from "../profile/choose.ts";
import type { Profile } from "../profile/profile_types.ts";
import { failingAs } from "../solver/solver_error.ts";
import { checkParts, planRanks, type RankWishes } from "./plan_ranks.ts";
import type { RankDevice } from "./open_rank_device.ts";
import { RankSolver } from "./rank_solver.ts";
import type { World } from "./world.ts";

export { openWorld, type Patience } from "./mpi_world.ts";
export { type DeviceWishes, type OpenedDevice, openRankDevice, type RankDevice } from "./open_rank_device.ts";
export type { FieldStart as RankStart } from "../../kernels/initial_field.ts";
export type { RankCells, RankRun, RankSolver } from "./rank_solver.ts";
export type { Message, World } from "./world.ts";
export type { Extent, Parts } from "../../models/decomposition.ts";
export type { Pattern, Start } from "../../kernels/initial_field.ts";
export type { RankPlan, RankWishes };

/** Options of {@linkcode createRankSolver}. */
export interface RankSolverOptions extends Omit<RankWishes, "parts"> {
  /** Parts along x, y, z, in two dimensions along x, y. @default {those predicted to be fastest} */
  readonly parts?: OwnGrid | undefined;
  /** How the ranks share the grid. @default {measured and predicted: {@linkcode planRanks}} */
  readonly plan?: RankPlan;
  /** How this rank computes its part, alone on its device. @default {as its profiles say} */
  readonly choose?: (part: Problem) => Configuration;
}

/** How a rank computes its part: by its device's profiles, alone on that device. */
export function chooseForRank(
  profiles: readonly Profile[],
  part: Problem,
  { gpu, cpuPool, deviceMemory }: RankDevice,
): Choice {
  const windowBytes = windowOf(part, deviceMemory),
    limits = { ...gpu?.limits!, ...(windowBytes && { windowBytes }) };
  const device = gpu === undefined ? null : { limits, adapterInfo: gpu.device.adapterInfo };
  const cpuWorkers = gpu === undefined ? cpuPool!.workers : 0;
  return chooseConfiguration(profiles, part, device, { cpuWorkers });
}

/**
 * Makes this rank's part of a solver that all ranks of a world run together. Every rank calls it with the same problem
 * and plan, and with its own device and profiles. All fields start at zero, materials
 * with the stencil's values.
 *
 * @param profiles of this rank's device; an empty list gives the best predictions
 * @throws {RangeError} if the parts cannot hold the ghost zones, or no configuration can run a part
 * @throws {SolverError} if the device cannot run it
 *
 * @example
 * ```ts
 * import { createRankSolver } from "./create_rank_solver.ts";
 * import { CpuPool } from "../devices/cpu/wasm_workers.ts";
 * import { openWorld } from "./mpi_world.ts";
 * import { life } from "../../kernels/stencils/life.ts";
 *
 * const world = await openWorld(); // the ranks of mpirun, or this process alone
 * const cpuPool = await CpuPool.create({ workers: 1 });
 * const problem = { stencil: life(), grid: [16, 16, 16], boundary: "periodic", steps: 8 } as const;
 * {
 *   using solver = await createRankSolver(world, { gpu: undefined, cpuPool }, problem, []);
 *   await solver.initialise({ kind: "binary", seed: 1 });
 *   await solver.run(20);
 *   const own = await solver.read();
 *   console.assert(own.length <= 16 ** 3);
 * }
 * cpuPool.dispose();
 * await world.close();
 * ```
 */
export async function createRankSolver(
  world: World,
  device: RankDevice,
  asked: OpenProblem,
  profiles: readonly Profile[],
  options: RankSolverOptions = {},
): Promise<RankSolver> {
  checkOptions("create the solver", options, ["parts", "exchangeEvery", "plan", "choose"]);
  const { plan: given, choose = (part) => chooseForRank(profiles, part, device).configuration, ...rest } =
    options;
  const problem = checkProblem("share the grid", asked);
  const wishes = { ...rest, parts: rest.parts && planned<number>(problem.stencil, rest.parts, 1) };
  if (given !== undefined) checkParts(problem, world.size, given);
  const plan = given ?? (await planRanks(world, device, problem, { choose, ...wishes })).plan;
  return await failingAs("create the solver", async () => {
    const solver = await RankSolver.create(world, device, problem, { plan, choose });
    // without materials, all is zero already
    const { materials, profiles = [] } = problem.stencil.update;
    if (materials.length + profiles.length > 0) await solver.clear();
    return solver;
  });
}
