/**
 * How much faster GPUs of several ranks are together than one, as the library computes:
 *
 *     mpirun -n 2 deno run -A bench/gpus_together.ts --grid 1024x1024x1024 [--equation acoustic] [--order 4] \
 *       [--points 1000] [--seconds 4] [--plans 1x2x1:32,1x2x1:32t]
 *
 * Rank 0 alone first (not with `--together`), then all ranks: a line of JSON each. `--plans` measures plans (parts, R, t: in turns) before.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { acoustic, wave } from "../mod.ts";
import { cellsOf, type Grid, type Problem } from "../kernels/stencils/stencil.ts";
import type { Source } from "../kernels/update.ts";
import { planOf } from "../models/rank_part.ts";
import { checkProblem } from "../tuner/problem/resolve_problem.ts";
import type { World } from "../tuner/devices/world.ts";
import { openWorld } from "../tuner/ranks/mpi_world.ts";
import { openRankDevice } from "../tuner/ranks/open_rank_device.ts";
import { chooseForRank, openOnRanks } from "../tuner/solver/open_on_ranks.ts";
import { measurePlan, planRanks } from "../tuner/solver/plan_ranks.ts";

const {
  grid = "",
  equation = "wave",
  order = "2",
  points = "0",
  seconds = "4",
  plans = "",
  gpu,
  together: isTogether,
} = parseArgs(
  Deno.args,
  { string: ["grid", "equation", "order", "points", "seconds", "plans", "gpu"], boolean: ["together"] },
);
const sizes = (text: string) => text.split("x").map(Number) as unknown as Grid;
const count = Number(points), cells = sizes(grid);
if (!cells.every((one) => one > 0) || !["wave", "acoustic"].includes(equation)) {
  console.error(
    "usage: mpirun -n 2 deno run -A bench/gpus_together.ts --grid XxYxZ [--equation wave|acoustic]",
  );
  Deno.exit(2);
}
const steps = 2048, kind = Number(order);
const asked = equation === "wave"
  ? { stencil: wave(kind), grid: cells, boundary: "zero", steps } as const
  : { stencil: acoustic({ order: kind }), grid: cells, boundary: "zero", steps } as const;
const problem: Problem = checkProblem("share the grid", {
  ...asked,
  ...(count > 0 && { survey: { sources: 1, receivers: count } }),
});
const world = await openWorld();
using device = await openRankDevice(world, { gpu });
if (device.note !== undefined) console.error(device.note);
const choose = (part: Problem) => chooseForRank([], part, device).configuration;
const { [Symbol.dispose]: _, ...its } = device;

/** Steps of a run of some seconds, and what it took. */
async function rateOn(world: World) {
  const beganMs = performance.now(), planned = await planRanks(world, device, problem, { choose });
  const planningMs = performance.now() - beganMs, { plan, stepNs: predictedNs } = planned;
  await using solver = await openOnRanks(problem, { world, device: its, profiles: [], plan });
  await solver.initialise("noise", 1);
  if (count > 0) {
    const place = (i: number): Grid => [i % cells[0], 5, (7 * i) % cells[2]];
    const [x, y, z] = cells, [{ name }] = problem.stencil.update.sources as [Source];
    await solver.addSources(
      name,
      [[x >> 1, y >> 1, z >> 1]],
      new Float32Array(4096).map(() => Math.random()),
    );
    await solver.addReceivers(
      problem.stencil.update.fields[0]!,
      Array.from({ length: count }, (_, i) => place(i)),
    );
  }
  const ofTime = (ns: number) =>
    Math.max(1, Math.round(ns / planned.measuredNs / plan.exchangeEvery)) * plan.exchangeEvery;
  await solver.run(ofTime(0.5e9));
  await world.meet();
  const startMs = performance.now(),
    { deviceNs, exchangeNs } = await solver.run(ofTime(Number(seconds) * 1e9));
  const ns = await world.most((performance.now() - startMs) * 1e6), ran = ofTime(Number(seconds) * 1e9);
  return {
    ranks: world.size,
    grid,
    equation: `${equation} ${order}`,
    gcells: cellsOf(cells) * ran / ns,
    stepMs: ns / ran / 1e6,
    predictedMs: predictedNs / 1e6,
    plan: `${plan.parts.join("x")}, R = ${plan.exchangeEvery}${plan.inTurns ? " in turns" : ""}`,
    exposed: 1 - deviceNs / ns,
    hidden: exchangeNs > 0 ? Math.max(0, 1 - (ns - deviceNs) / exchangeNs) : 0,
    planningMs: Math.round(planningMs),
    configuration: `${solver.configuration.traversal} ${JSON.stringify(solver.configuration.parameters)}`,
  };
}

const say = (one: unknown): void => {
  if (world.rank === 0) console.log(JSON.stringify(one));
};
const first = world.size > 1 && !isTogether ? await world.first(1) : undefined;
const alone = first && await rateOn(first);
await first?.close();
await world.meet();
if (alone) say({ ...alone, device: device.name });
for (const text of plans.split(",").filter(Boolean)) {
  const [parts = "", every = ""] = text.split(":"), rates = new Array<number>(world.size).fill(1);
  const plan = planOf(problem, { parts: sizes(parts), exchangeEvery: parseInt(every), rates });
  if (plan === undefined) continue;
  const inTurns = every.endsWith("t"), ofPlan = { plan: { ...plan, inTurns }, choose };
  const measured = await measurePlan(world, device, problem, ofPlan);
  say({ plan: text, grid, stepMs: measured.stepNs / 1e6, exchangeMs: measured.exchangeNs / 1e6 });
}
const together = await rateOn(world);
const names = await world.shareAll(device.name);
say({ ...together, devices: names, gain: alone && together.gcells / alone.gcells });
await world.close();
Deno.exit(0);
