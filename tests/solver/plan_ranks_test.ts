import { assert, assertEquals } from "@std/assert";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { chooseForRank } from "../../tuner/solver/open_on_ranks.ts";
import { localWorlds } from "../ranks/local_world.ts";
import { fasterAlone, planRanks } from "../../tuner/solver/plan_ranks.ts";
import "../own_thread.ts";

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

Deno.test("a rank alone is measured only if its updates suggest that it is faster, and taken only if it is", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const problem: Problem = { stencil: life(), grid: [24, 20, 8], boundary: "zero", steps: 8 },
    asked: number[] = [];
  const alone = (ns: number, stepNs: number, fails = false) =>
    Promise.all(
      localWorlds(2).map((world) => {
        const choose = (part: Problem) => {
          asked.push(world.rank);
          if (fails) throw new RangeError("the grid does not fit");
          return chooseForRank([], part, device).configuration;
        };
        const costs = [{
          updates: [{ steps: 4, ns }],
          shapes: {},
          shrinks: true,
          exchange: [0, 0, 0] as const,
        }];
        return fasterAlone(world, device, problem, { costs, measuredNs: stepNs, choose });
      }),
    );
  // a second, and a picosecond, of a step on both ranks
  const [found, same] = await alone(1, 1e9);
  assert(found! > 0 && found! < 1e9 && same === found, `${found} ${same}`);
  assertEquals([await alone(1e-9, 1e-3), await alone(1, 3840), await alone(1, 1e9, true)], [
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ]);
  assertEquals(asked, [0, 0, 0]);
  cpuPool.dispose();
});
