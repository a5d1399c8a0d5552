import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { type PartWork, predictPlan, predictRound, workOf } from "../../models/round.ts";
import {
  partCosts,
  planOfPair,
  predictCurve,
  type SharedCosts,
  type SharePoint,
} from "../../models/shared_fit.ts";

/** Twenty slices of 6 cells. */
const GRID: Problem = { stencil: wave(2), grid: [20, 2, 3], boundary: "zero", steps: 12 };

const SCHEDULE: SharedCosts["schedule"] = {
  waitNs: 0,
  starvation: 0,
};

/** 1 ns an update on both devices, nothing else. */
const COSTS: SharedCosts = {
  cpu: { updateNs: 1, stepNs: 0 },
  gpu: { updateNs: 1, stepNs: 0, passNs: 0, byteNs: 0 },
  unpack: { a: 0, b: 0 },
  pack: { a: 0, b: 0 },
  schedule: SCHEDULE,
};

function withWait(waitNs: number, starvation = 0): SharedCosts {
  return { ...COSTS, schedule: { ...SCHEDULE, waitNs, starvation } };
}

/** Work of both parts. */
function worksOf(
  shared: Problem,
  point: SharePoint,
  steps?: number,
): readonly [cpu: PartWork, gpu: PartWork] {
  const plan = planOfPair(shared, point);
  return [
    workOf(shared, plan, { number: 0, shrinks: true, steps }),
    workOf(shared, plan, { number: 1, shrinks: false, steps }),
  ];
}

/** Times of both parts in a round. */
function timesOf(shared: Problem, point: SharePoint, costs: SharedCosts) {
  const [cpu, gpu] = predictRound(shared, planOfPair(shared, point), partCosts(costs));
  return {
    cpu: cpu!,
    gpu: gpu!,
    cpuNs: cpu!.computeNs + cpu!.exchangeNs,
    gpuNs: gpu!.computeNs + gpu!.exchangeNs,
  };
}

/** The R with the shortest predicted step. */
function bestPeriod(shared: Problem, costs: SharedCosts): number {
  const [best] = predictCurve(shared, costs).toSorted((a, b) => a.predictedNs - b.predictedNs);
  return best!.exchangeEvery;
}

Deno.test("the work of a round: Eq. 2 on the CPU, Eq. 3 on the GPU, the slices of both ghost zones", () => {
  const exchange = [1, 4 * 6 * (3 + 2), 2 * (3 + 2)] as const; // of F(t−1) one reach less
  assertEquals(worksOf(GRID, { exchangeEvery: 3, cpuSlices: 8 }), [
    { steps: 3, updates: 6 * (10 + 9 + 8), cells: 6 * 11, exchange },
    { steps: 3, updates: 3 * 6 * (12 + 3), cells: 6 * 15, exchange },
  ]);
  const periodic: Problem = { ...GRID, stencil: heat(2), boundary: "periodic" };
  const [cpu, gpu] = worksOf(periodic, { exchangeEvery: 2, cpuSlices: 8 });
  assertEquals([cpu.updates, gpu.cells, gpu.exchange[1]], [6 * (12 + 8), 6 * (12 + 8), 4 * 6 * 2 * 4]);
});

Deno.test("Eq. 2 and 3 in general: each step of the CPU leaves out what the steps before made invalid", () => {
  const shares = fc.record({
    cpuSlices: fc.integer({ min: 1, max: 500 }),
    reach: fc.integer({ min: 1, max: 7 }),
    exchangeEvery: fc.integer({ min: 1, max: 40 }),
    isPeriodic: fc.boolean(),
    steps: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(fc.property(shares, ({ cpuSlices, reach, exchangeEvery: R, isPeriodic, steps: wanted }) => {
    const boundary = isPeriodic ? "periodic" : "zero", interfaces = isPeriodic ? 2 : 1;
    const shared: Problem = { stencil: wave(2 * reach), grid: [1000, 6, 7], boundary, steps: 96 };
    const steps = Math.min(wanted, R);
    let slices = 0;
    for (let i = 1; i <= steps; i++) slices += cpuSlices + interfaces * reach * (R - i);
    const [cpu, gpu] = worksOf(shared, { exchangeEvery: R, cpuSlices }, steps);
    assertEquals(cpu.updates, 42 * slices);
    assertEquals(gpu.updates, 42 * steps * (1000 - cpuSlices + interfaces * reach * R));
    assertEquals(gpu.exchange[1], 4 * 42 * interfaces * reach * (2 * R - 1));
  }));
});

Deno.test("a shorter last round keeps the ghost zones of R", () => {
  const point = { exchangeEvery: 5, cpuSlices: 8 }, [cpu, gpu] = worksOf(GRID, point, 2);
  assertEquals(cpu.updates, 6 * (12 + 11)); // of 8 + 5 slices each step leaves one out
  assertEquals(gpu.updates, 2 * 6 * (12 + 5));
  assertEquals(gpu.exchange, worksOf(GRID, point)[1].exchange);
  // 12 steps with R = 5: three waits
  assertEquals(predictPlan(GRID, planOfPair(GRID, point), partCosts(withWait(1e6))).stepNs, 3e6 / 12);
});

Deno.test("an exchange moves the fields, without materials, as far as a full step reaches", () => {
  const problem: Problem = { ...GRID, stencil: elastic() };
  const [{ cells, exchange: [, bytes] }] = worksOf(problem, { exchangeEvery: 1, cpuSlices: 8 });
  // two sub-steps of 2; F(t−1) is not read
  assertEquals([cells, bytes], [6 * (8 + 4), 4 * 6 * 9 * 4]);
});

Deno.test("a round takes as long as the slower device, or a wait and what does not hide behind it", () => {
  const point = { exchangeEvery: 1, cpuSlices: 10 };
  const roundNs = (costs: SharedCosts): number =>
    predictPlan(GRID, planOfPair(GRID, point), partCosts(costs)).round.roundNs;
  const { cpuNs, gpuNs } = timesOf(GRID, point, COSTS);
  assertEquals([cpuNs, gpuNs, roundNs(COSTS)], [60, 66, 66]);
  assertEquals(roundNs(withWait(50)), 66);
  assertEquals(roundNs(withWait(50, 0.5)), 50 + 30);
  const copies = timesOf(GRID, point, { ...COSTS, unpack: { a: 0.5, b: 10 }, pack: { a: 1, b: 20 } });
  assertEquals([copies.cpu.exchangeNs, copies.cpuNs], [66, 126]);
  const gpu = { updateNs: 1, stepNs: 3, passNs: 2, byteNs: 0.5 };
  assertEquals(timesOf(GRID, point, { ...COSTS, gpu }).gpuNs, 66 + 3 + 2 * 66 + 0.5 * 2 * 24);
});

Deno.test("without waits R = 1 is best, and the longer the wait, the larger the best R", () => {
  assertEquals(predictCurve(GRID, COSTS, [1]), [{ exchangeEvery: 1, cpuSlices: 10, predictedNs: 66 }]);
  const large: Problem = { ...GRID, grid: [200, 2, 3], steps: 96 };
  const periods = [0, 2000, 8000, 32000].map((waitNs) => bestPeriod(large, withWait(waitNs)));
  assertEquals(periods[0], 1);
  assertEquals(periods, periods.toSorted((a, b) => a - b));
  assert(periods[3]! > 1);
});

Deno.test("shares whose ghost zones do not fit are left out", () => {
  assertEquals(predictCurve({ ...GRID, steps: 4 }, COSTS).length, 4);
  assertEquals(predictCurve(GRID, COSTS).map(({ exchangeEvery }) => exchangeEvery), [
    ...Array.from({ length: 10 }, (_, i) => i + 1),
  ]);
  assertEquals(predictCurve({ ...GRID, grid: [3, 2, 3], stencil: wave(4) }, COSTS), []);
});

Deno.test("the balanced share is the one whose slower device is done first", () => {
  const cases = fc.record({
    slices: fc.integer({ min: 2, max: 300 }),
    exchangeEvery: fc.integer({ min: 1, max: 12 }),
    cpuNs: fc.double({ min: 0.01, max: 100, noNaN: true }),
    stepNs: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(cases, ({ slices, exchangeEvery, cpuNs, stepNs }) => {
      const shared: Problem = { ...GRID, grid: [slices, 2, 3] };
      const costs: SharedCosts = { ...COSTS, cpu: { ...COSTS.cpu, updateNs: cpuNs, stepNs } };
      const [best] = predictCurve(shared, costs, [exchangeEvery]);
      assertEquals(best !== undefined, 2 * exchangeEvery <= slices);
      if (best === undefined) return;
      const longer = (cpuSlices: number): number => {
        const times = timesOf(shared, { exchangeEvery, cpuSlices }, costs);
        return Math.max(times.cpuNs, times.gpuNs);
      };
      const all = Array.from({ length: slices - 2 * exchangeEvery + 1 }, (_, i) => longer(exchangeEvery + i));
      assertAlmostEquals(longer(best.cpuSlices), Math.min(...all), 1e-6);
    }),
    { numRuns: 60 },
  );
});
