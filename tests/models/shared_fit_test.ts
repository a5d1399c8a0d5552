import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { predictPlan, predictRound, workOf } from "../../models/round.ts";
import {
  fitShared,
  medianError,
  partCosts,
  planOfPair,
  predictCurve,
  type PredictedPoint,
  type SharedCosts,
  type SharedIteration,
  type SharePoint,
} from "../../models/shared_fit.ts";

const GRID: Problem = { stencil: wave(2), grid: [512, 64, 64], boundary: "zero", steps: 96 };
const PERIODS = [1, 2, 4, 8, 16, 32];

/** A pair of devices about as fast as each other, with Deno's wait. */
const COSTS: SharedCosts = {
  cpu: { updateNs: 0.4, stepNs: 20e3 },
  gpu: { updateNs: 0.3, stepNs: 8e3, passNs: 0.2, byteNs: 0.05 },
  unpack: { a: 0.5, b: 60e3 },
  pack: { a: 0.4, b: 120e3 },
  schedule: { waitNs: 13e6, starvation: 0.35 },
};

/** What a search over R measures: two shares each; `noise` changes every time. */
function samplesOf(costs: SharedCosts, noise: () => number = () => 1): SharedIteration[] {
  return predictCurve(GRID, costs, PERIODS).flatMap(({ exchangeEvery, cpuSlices }) => {
    return [cpuSlices, Math.max(exchangeEvery, Math.round(0.8 * cpuSlices))].map((slices) =>
      sampleAt({ exchangeEvery, cpuSlices: slices }, costs, noise)
    );
  });
}

function sampleAt(point: SharePoint, costs: SharedCosts, noise: () => number): SharedIteration {
  const plan = planOfPair(GRID, point);
  const { exchange: [, bytes] } = workOf(GRID, plan, { number: 1, shrinks: false });
  const [cpu, gpu] = predictRound(GRID, plan, partCosts(costs)),
    roundNs = Math.max(cpu!.roundNs, gpu!.roundNs);
  const unpackNs = (costs.unpack.a * bytes + costs.unpack.b) * noise();
  const packNs = (costs.pack.a * bytes + costs.pack.b) * noise();
  return {
    ...point,
    gpuSlices: GRID.grid[0] - point.cpuSlices,
    cpuTimeNs: cpu!.computeNs * noise() + unpackNs + packNs,
    gpuTimeNs: gpu!.roundNs * noise(),
    unpackNs,
    packNs,
    roundNs: roundNs * noise(),
  };
}

Deno.test("coefficients are found again where times are exact", () => {
  const { costs, residuals } = fitShared(GRID, samplesOf(COSTS));
  assertAlmostEquals(costs.cpu.updateNs, 0.4, 1e-6);
  assertAlmostEquals(costs.cpu.stepNs, 20e3, 1);
  assertAlmostEquals(costs.unpack.a, 0.5, 1e-6);
  assertAlmostEquals(costs.schedule.waitNs, 13e6, 1);
  assertAlmostEquals(costs.schedule.starvation, 0.35, 1e-9);
  for (const part of Object.values(residuals)) assert(medianError(part) < 1e-6);
});

Deno.test("from times with noise of 10% the model predicts every R within 10%, and the best within 3%", () => {
  const random = seededRandom(3);
  const { costs } = fitShared(GRID, samplesOf(COSTS, () => 1 + 0.2 * (random() - 0.5)));
  const predictStepNs = (point: PredictedPoint): number =>
    predictPlan(GRID, planOfPair(GRID, point), partCosts(costs)).stepNs;
  const curve = predictCurve(GRID, COSTS);
  assertEquals(curve.length, 64);
  const errors = curve.map((point) => predictStepNs(point) / point.predictedNs - 1);
  assert(medianError(errors) < 0.1, `${errors}`);
  const least = Math.min(...curve.map(({ predictedNs }) => predictedNs));
  const picked = curve.reduce((best, one) => predictStepNs(one) < predictStepNs(best) ? one : best);
  assert(picked.predictedNs <= 1.03 * least, `R = ${picked.exchangeEvery}: ${picked.predictedNs / least}`);
});

Deno.test("a round that no wait ends is explained by the slower device", () => {
  const costs = { ...COSTS, schedule: { ...COSTS.schedule, waitNs: 0, starvation: 0 } };
  const { residuals } = fitShared(GRID, samplesOf(costs));
  assert(medianError(residuals.together) < 1e-6);
});

Deno.test("samples that cannot be fitted are refused; the median error of none is 0", () => {
  assertThrows(() => fitShared(GRID, []), RangeError, "there is no measurement");
  const [first] = samplesOf(COSTS);
  assertThrows(() => fitShared(GRID, [{ ...first!, gpuTimeNs: 0 }]), RangeError, "above 0");
  assertEquals(medianError([]), 0);
});
