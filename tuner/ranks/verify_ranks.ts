import { layOut } from "../../kernels/layout.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { planOf } from "../../models/rank_part.ts";
import type { Verification } from "../configuration.ts";
import { compareSlices, type Comparison, joinComparisons } from "../devices/comparison.ts";
import { stateLevels, verificationOf } from "../devices/reference.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { chooseForRank } from "./create_rank_solver.ts";
import type { RankDevice } from "./open_rank_device.ts";
import { RankSolver, stateOf } from "./rank_solver.ts";
import { aloneWorld } from "./world.ts";

/**
 * Computes the same steps on rank 0 alone, and compares every plane of every level slice by slice: no rank ever holds
 * the whole grid of the others. Every rank calls it.
 *
 * @param solver at the problem's last step, from this start
 * @returns on rank 0; undefined on the others
 */
export async function verifyRanks(
  solver: RankSolver,
  device: RankDevice,
  start: Start,
): Promise<Verification | undefined> {
  const { problem, world } = solver;
  using alone = world.rank === 0 ? await solveAlone(device, problem, start) : undefined;
  const { grid: [nx, ny, nz], stencil: { update } } = problem;
  const layout = layOut([1, ny, nz], { pad: [0, 0, 0], align: 1 });
  const comparisons: Comparison[] = [];
  // materials count in each level
  const materials = stateLevels(problem).flatMap(() => update.materials.map(({ name }) => ({ name })));
  for (const cells of [...stateOf(problem), ...materials]) {
    for (let x = 0; x < nx; x++) {
      const slice = { x, slices: 1 };
      const found = await solver.gather(cells, slice), wanted = await alone?.gather(cells, slice);
      if (found === undefined || wanted === undefined) continue;
      comparisons.push(
        compareSlices({ cells: found, layout, slice: 0 }, { cells: wanted, layout, slice: 0 }, 1),
      );
    }
  }
  if (alone === undefined) return undefined;
  return verificationOf(joinComparisons(comparisons), { problem, against: "one rank" });
}

async function solveAlone(device: RankDevice, problem: Problem, start: Start): Promise<RankSolver> {
  const plan = planOf(problem, { parts: [1, 1, 1], exchangeEvery: problem.steps, rates: [1] })!;
  const choose = (part: Problem) => chooseForRank([], part, device).configuration;
  const alone = await RankSolver.create(aloneWorld(), device, problem, { plan, choose });
  await alone.initialise(start);
  await alone.run(problem.steps);
  return alone;
}
