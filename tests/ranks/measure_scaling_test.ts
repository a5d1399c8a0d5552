import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { life } from "../../kernels/stencils/life.ts";
import { drawScaling, renderScaling } from "../../tuner/cli/scaling.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { chooseForRank } from "../../tuner/solver/open_on_ranks.ts";
import { localWorlds } from "./local_world.ts";
import { measureScaling, type Scaling } from "../../tuner/ranks/measure_scaling.ts";
import "../own_thread.ts";

Deno.test("scaling is measured as far as there are ranks, and predicted to 1,000", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const problem = { stencil: life(), grid: [12, 10, 8], boundary: "zero", steps: 2 } as const;
  const all = await Promise.all(
    localWorlds(2).map((world) =>
      measureScaling(world, device, problem, (part) => chooseForRank([], part, device).configuration)
    ),
  );
  cpuPool.dispose();
  const [{ costs, periods, weak, strong }] = all as [typeof all[number]];
  assertEquals(all[1], all[0]);
  assertEquals([costs.length, periods.map(({ exchangeEvery }) => exchangeEvery)], [2, [1, 2]]);
  assertEquals(weak.map(({ ranks }) => ranks), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]);
  assertEquals(weak.at(-1)!.grid, [120, 100, 80]);
  // 1000 parts of 960 cells do not exist
  assert(strong.every(({ ranks, grid }) => ranks < 1000 && `${grid}` === "12,10,8"));
  for (const { ranks, measuredNs } of [...weak, ...strong]) assertEquals(measuredNs !== null, ranks <= 2);
  const text = fitLines(renderScaling(problem, all[0]!, { names: ["a", "b"], out: "x.svg" }), 100);
  assertStringIncludes(text, "2 ranks: a, b");
  assertEquals(text.match(/predicted only/g)?.length, weak.length + strong.length - 4);
  assertStringIncludes(text, "f32, 2 steps");
  // the first of two ranks was disturbed
  const point = { grid: problem.grid, parts: [1, 1, 1], exchangeEvery: 1, predictedNs: 1e6 } as const;
  const slow = { ...point, ranks: 1, measuredNs: 5e6 }, fast = { ...point, ranks: 2, measuredNs: 2e6 };
  const odd = {
    costs,
    periods: [fast, { ...fast, measuredNs: 1e6 }],
    weak: [slow, fast],
    strong: [slow, fast],
  };
  const render = (scaling: Scaling): string =>
    fitLines(renderScaling({ ...problem, steps: 1 }, scaling, { names: ["a", "b"], out: "x.svg" }), 100);
  for (const words of ["f32, 1 step\n", "2.0×", "250%", "125%", "Above 100%: "]) {
    assertStringIncludes(render(odd), words);
  }
  assert(!render({ ...odd, weak: [], strong: [fast] }).includes("Above"));
  assert(!render(odd).includes("loses"));
  const late = {
    ...odd,
    strong: [{ ...slow, measuredNs: 1e6 }, fast, { ...fast, ranks: 4, measuredNs: null }],
  };
  assertStringIncludes(
    render(late),
    "\nSharing loses: one rank alone, measured on 12x10x8, reaches 0.960 Mcells/s, 2.0× as much\n",
  );
  const svg = drawScaling(all[0]!);
  assertEquals(svg.match(/<circle/g)?.length, 2 + 4);
});
