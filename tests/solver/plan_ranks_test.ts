import { assert, assertEquals } from "@std/assert";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { chooseForRank } from "../../tuner/solver/open_on_ranks.ts";
import { localWorlds } from "../ranks/local_world.ts";
import { planRanks } from "../../tuner/solver/plan_ranks.ts";

/** Steps of the parts that each plan tried, on the first rank. */
async function trialsOf(ranks: number, steps: number, timePart?: number) {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const problem: Problem = { stencil: life(), grid: [24, 20, 8], boundary: "zero", steps };
  const tried: number[] = [];
  const plans = await Promise.all(
    localWorlds(ranks).map((world) => {
      const choose = (part: Problem) => {
        if (world.rank === 0) tried.push(part.steps);
        return chooseForRank([], part, device).configuration;
      };
      return planRanks(world, device, problem, { choose, timePart });
    }),
  );
  cpuPool.dispose();
  for (const plan of plans) assertEquals(plan, plans[0]);
  assert(plans[0]!.stepNs > 0);
  return tried;
}

Deno.test("planning takes a part of the run: one plan at least", async () => {
  const all = await trialsOf(2, 8);
  assert(all.length > 3, all.join());
  assertEquals(await trialsOf(2, 8, 0), all.slice(0, 1));
  // a rank alone has one plan, and no more steps of it than there is time for
  assertEquals([await trialsOf(1, 100), await trialsOf(1, 100, 0.1), await trialsOf(1, 100, 0)], [
    [64],
    [10],
    [1],
  ]);
});
