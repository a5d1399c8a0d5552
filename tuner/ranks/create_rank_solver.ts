import { alongAxes, BOUNDARIES, type Problem, shortBoundary } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import { chooseConfiguration } from "../profile/choose.ts";
import type { Profile } from "../profile/profile_types.ts";
import { failingAs } from "../solver/solver_error.ts";
import { makeRankField, type RankDevice } from "./rank_field.ts";
import { localPart, type RankPlan, RankSolver } from "./rank_solver.ts";
import type { World } from "./world.ts";

/** Options of {@linkcode createRankSolver}. */
export interface RankSolverOptions {
  readonly plan: RankPlan;
  /** This rank's, of its device. @default {none: the best predictions} */
  readonly profiles?: readonly Profile[];
  /** How a rank computes its part, alone on its device. @default {as the profiles say} */
  readonly choose?: (part: Problem) => Configuration;
}

/** The part of a rank as a problem of its own. */
export function localProblem(
  problem: Problem,
  plan: RankPlan,
  rank: number,
): Problem {
  const { stencil } = problem;
  const { grid, neighbours } = localPart(problem, plan, rank);
  const along = alongAxes(problem.boundary).map((boundary, axis) => {
    const open = neighbours[axis]!.filter((neighbour) => neighbour !== undefined).length;
    // what lies beyond a ghost zone makes as much of it invalid whatever it is
    return open === 2 || (open > 0 && boundary === "periodic") ? "zero" : boundary;
  });
  return {
    grid,
    stencil: {
      ...stencil,
      boundaries: [...BOUNDARIES, ...stencil.boundaries ?? []],
    },
    boundary: shortBoundary([along[0]!, along[1]!, along[2]!]),
    steps: plan.exchangeEvery,
  };
}

/** How a rank computes its part: by its device's profile, alone on that device. */
export function chooseForRank(
  profiles: readonly Profile[],
  part: Problem,
  { gpu, cpuPool }: RankDevice,
): Configuration {
  const device = gpu === undefined ? null : { limits: gpu.limits, adapterInfo: gpu.device.adapterInfo };
  return chooseConfiguration(profiles, part, device, { cpuWorkers: gpu ? 0 : cpuPool!.workers })
    .configuration;
}

/**
 * Makes this rank's part of a solver that all ranks of a world compute together; every rank calls it with the same
 * problem and plan, and with its own device and profiles.
 */
export async function createRankSolver(
  world: World,
  device: RankDevice,
  problem: Problem,
  { plan, profiles = [], choose = (part) => chooseForRank(profiles, part, device) }: RankSolverOptions,
): Promise<RankSolver> {
  const local = localProblem(problem, plan, world.rank);
  const configuration = choose(local);
  const part = localPart(problem, plan, world.rank);
  const field = await failingAs("create the solver", () => makeRankField(local, device, configuration));
  return new RankSolver({ problem, world, plan, part, configuration, field });
}
