import { assertAlmostEquals, assertEquals } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Parts } from "../../models/decomposition.ts";
import { fitRanks, type PlanTimes } from "../../models/rank_fit.ts";
import { planOf } from "../../models/rank_part.ts";
import { fastestOf, type PartCosts, predictPlan, updateNs } from "../../models/round.ts";

Deno.test("from exact times each rank's costs are found again, of other shapes by how much longer an update takes", () => {
  const problem: Problem = { stencil: heat(1), grid: [64, 64, 64], boundary: "zero", steps: 64 };
  const updates = [{ steps: 1, ns: 3 }, { steps: 4, ns: 2 }, { steps: 16, ns: 1 }];
  const truth = [1, 2].map((factor): PartCosts => ({
    updates: updates.map(({ steps, ns }) => ({ steps, ns: factor * ns })),
    shapes: { "1x1x2": 1.5 },
    shrinks: false,
    exchange: [1e5, 0.5, 0],
  }));
  const timesOf = (parts: Parts, exchangeEvery: number): PlanTimes => {
    const plan = planOf(problem, { parts, exchangeEvery, rates: [1, 1] })!;
    const { stepNs, round } = predictPlan(problem, plan, truth);
    const times = truth.map((costs) => updateNs(costs, plan));
    return { plan, exchangeEvery, stepNs, exchangeNs: round.exchangeNs, updateNs: times };
  };
  const timed = [
    timesOf([1, 1, 2], 4),
    ...[4, 16, 1].map((R) => timesOf([2, 1, 1], R)),
    // between two R that were measured in the usual shape
    timesOf([1, 1, 2], 8),
  ];
  const found = fitRanks(problem, timed, [false, false]);
  for (const [rank, costs] of found.entries()) {
    assertEquals(costs.updates, truth[rank]!.updates);
    assertAlmostEquals(costs.shapes["1x1x2"]!, 1.5, 1e-9);
    assertAlmostEquals(costs.exchange[0], 1e5, 1);
    assertAlmostEquals(costs.exchange[1], 0.5, 1e-6);
  }
  const fastest = fastestOf(timed)!;
  assertAlmostEquals(predictPlan(problem, fastest.plan, found).stepNs / fastest.stepNs, 1, 1e-9);
});
