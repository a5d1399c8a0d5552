/**
 * The time of a step on ranks, predicted and measured, over R and decompositions:
 *
 *     mpirun -n 2 deno run -A bench/rank_rates.ts --grid 128x128x128 --every 1,2,4,8,16,32 \
 *       --decompose 2x1x1,1x2x1 --passes 3
 *
 * Each pass fits the model and lets it choose, as `solve` does, then measures every plan of the table and the chosen
 * one. A row has the medians over the passes. One CPU worker a rank computes, or what `--gpu` names, with `--profile`; with
 * `--gpus` each rank has a GPU of its own, whose parts compute in turns too. `--order` is the wave's.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { wave } from "../kernels/stencils/wave.ts";
import type { Grid, Problem } from "../kernels/stencils/stencil.ts";
import { arrangements } from "../models/decomposition.ts";
import { planOf, type RankPlan, rowOf, turnsOf } from "../models/rank_part.ts";
import { predictPlan } from "../models/round.ts";
import { formatChange, formatDuration, formatPercent, formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { readProfile } from "../tuner/profile/store.ts";
import { chooseForRank } from "../tuner/solver/open_on_ranks.ts";
import { openWorld } from "../tuner/ranks/mpi_world.ts";
import { openRankDevice } from "../tuner/ranks/open_rank_device.ts";
import { measurePlan, planRanks } from "../tuner/solver/plan_ranks.ts";

const {
  grid = "128x128x128",
  every = "1,2,4,8,16,32",
  decompose,
  passes = "3",
  gpu,
  gpus,
  profile,
  order = "2",
} = parseArgs(Deno.args, {
  string: ["grid", "every", "decompose", "passes", "gpu", "profile", "order"],
  boolean: ["gpus"],
});
const world = await openWorld();
using device = await openRankDevice(world, gpu === undefined && !gpus ? { cpuWorkers: 1 } : { gpu });
const profiles = profile === undefined ? [] : [await readProfile(profile)];
const choose = (part: Problem) => chooseForRank(profiles, part, device).configuration;
const sizes = (text: string) => text.split("x").map(Number) as unknown as Grid;
const problem: Problem = { stencil: wave(Number(order)), grid: sizes(grid), boundary: "zero", steps: 1024 };

/** A plan, and what it took and should have taken in each pass. */
interface Row {
  readonly plan: RankPlan;
  readonly predicted: number[];
  readonly measured: number[];
}
const rates = new Array<number>(world.size).fill(1);
const rows: Row[] = (decompose?.split(",").map(sizes) ?? arrangements(world.size)).flatMap((parts) =>
  every.split(",").flatMap((steps) => {
    const plan = planOf(problem, { parts, exchangeEvery: Number(steps), rates });
    if (plan === undefined) return [];
    const inTurns = { ...plan, inTurns: true };
    const mayTurn = device.gpu && rowOf(plan) !== undefined && turnsOf(problem, inTurns);
    return (mayTurn ? [plan, inTurns] : [plan]).map((plan) => ({ plan, predicted: [], measured: [] }));
  })
);
const chosen: { readonly name: string; readonly ns: number }[] = [];
for (let pass = 0; pass < Number(passes); pass++) {
  const { plan: best, costs } = await planRanks(world, device, problem, { choose });
  for (const { plan, predicted, measured } of rows) {
    predicted.push(predictPlan(problem, plan, costs).stepNs);
    measured.push((await measurePlan(world, device, problem, { plan, choose })).stepNs);
  }
  const { stepNs: ns } = await measurePlan(world, device, problem, { plan: best, choose });
  chosen.push({
    name: `${best.parts.join("x")}, R = ${best.exchangeEvery}${best.inTurns ? " in turns" : ""}`,
    ns,
  });
}
if (world.rank === 0) {
  const errors = rows.map(({ predicted, measured }) => median(predicted) / median(measured) - 1);
  const cells = rows.map(({ plan, predicted, measured }, i) => [
    plan.parts.join("x"),
    `${plan.exchangeEvery}${plan.inTurns ? " in turns" : ""}`,
    formatDuration(median(predicted)),
    formatDuration(median(measured)),
    formatChange(errors[i]!),
  ]);
  console.log(`${grid}, ${world.size} × ${device.name}`);
  console.log(formatTable([["parts", "R", "predicted", "measured", "error"], ...cells]));
  const best = Math.min(...rows.map(({ measured }) => median(measured)));
  console.log(`Median error ${formatPercent(median(errors.map(Math.abs)))}; best ${formatDuration(best)}`);
  for (const { name, ns } of chosen) {
    console.log(`Chosen: ${name}: ${formatDuration(ns)}, ${formatPercent(ns / best)} of the best`);
  }
}
await world.close();
