import { zeros } from "../../kernels/precision.ts";
import { layOut } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";
import { planOf } from "../../models/rank_part.ts";
import type { Verification } from "../configuration.ts";
import { compareSlices, type Comparison, joinComparisons } from "../devices/comparison.ts";
import { stateLevels, verificationOf } from "../devices/reference.ts";
import { aloneWorld, type RankDevice } from "../devices/world.ts";
import type { Start } from "../../kernels/initial_field.ts";
import type { FieldSolver } from "../solver/field_solver.ts";
import { openOnRanks } from "../solver/open_on_ranks.ts";

/**
 * Computes the same steps on rank 0 alone, and compares every plane of every level slice by slice: no rank ever holds
 * the whole grid of the others. Every rank calls it.
 *
 * @param solver at the problem's last step, from this start
 * @returns on rank 0; undefined on the others
 */
export async function verifyRanks(
  { field: { problem, world }, field }: FieldSolver,
  device: RankDevice,
  start: Start,
): Promise<Verification | undefined> {
  using alone = world.rank === 0 ? await solveAlone(device, problem, start) : undefined;
  const { grid: [nx, ny, nz], stencil: { update } } = problem;
  const layout = layOut([1, ny, nz], { pad: [0, 0, 0], align: 1 });
  const comparisons: Comparison[] = [];
  // materials count in each level
  for (const ago of stateLevels(problem)) {
    for (let plane = 0; plane < planesOf(update); plane++) {
      for (let x = 0; x < nx; x++) {
        const box = { ago, plane, planes: 1, low: [x, 0, 0], size: [1, ny, nz] } as const;
        const [found, wanted] = [0, 1].map(() => zeros(update, cellsOf(box.size)));
        await field.readBox(box, found!);
        if (alone === undefined) continue;
        await alone.field.readBox(box, wanted!);
        const [own, other] = [found!, wanted!].map((cells) => ({ cells, layout, slice: 0 }));
        comparisons.push(compareSlices(own!, other!, 1));
      }
    }
  }
  if (alone === undefined) return undefined;
  return verificationOf(joinComparisons(comparisons), { problem, against: "one rank" });
}

async function solveAlone(
  { [Symbol.dispose]: _, ...device }: RankDevice & Partial<Disposable>,
  problem: Problem,
  start: Start,
): Promise<FieldSolver> {
  const plan = planOf(problem, { parts: [1, 1, 1], exchangeEvery: problem.steps, rates: [1] })!;
  const alone = await openOnRanks(problem, { world: aloneWorld(), device, profiles: [], plan });
  await alone.initialise(start.kind, start.seed);
  await alone.run(problem.steps);
  return alone;
}
