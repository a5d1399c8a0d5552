import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { designPoints } from "../../models/shared_design.ts";
import {
  bestShare,
  fits,
  predictBatch,
  predictCurve,
  predictStepNs,
  promising,
  roundsOfRun,
  roundWork,
  type SharedCosts,
  type SharedGrid,
} from "../../models/shared_step.ts";

/** Ten slices of 6 cells on either side of the middle. */
const GRID: SharedGrid = { grid: [20, 2, 3], reach: 1, interfaces: 1, values: [1, 1], steps: 12 };

/** 1 ns an update on both devices, nothing else. */
const COSTS: SharedCosts = {
  cpu: { updateNs: 1, stepNs: 0, missNs: 0, cachedCells: 0 },
  gpu: { updateNs: 1, stepNs: 0, passNs: 0, byteNs: 0 },
  unpack: { a: 0, b: 0 },
  pack: { a: 0, b: 0 },
  schedule: { submitNs: 0, timerNs: 0, waitNs: 0, contention: 0, starvation: 0 },
};

function withWait(waitNs: number): SharedCosts {
  return { ...COSTS, schedule: { ...COSTS.schedule, waitNs } };
}

Deno.test("the work of a round: Eq. 2 on the CPU, Eq. 3 on the GPU, both ghost zones' slices", () => {
  assertEquals(roundWork(GRID, { exchangeEvery: 3, cpuSlices: 8 }), {
    steps: 3,
    cpuUpdates: 6 * (10 + 9 + 8),
    cpuCells: 6 * 11,
    gpuUpdates: 3 * 6 * (12 + 3),
    gpuCells: 6 * 15,
    bytes: 4 * 6 * (3 + 2), // of F(t−1) one reach less
  });
  const periodic = roundWork({ ...GRID, interfaces: 2, reach: 2, values: [1, 0] }, {
    exchangeEvery: 2,
    cpuSlices: 8,
  });
  assertEquals(periodic.cpuUpdates, 6 * (12 + 8));
  assertEquals(periodic.gpuCells, 6 * (12 + 8));
  assertEquals(periodic.bytes, 4 * 6 * 2 * 4);
});

Deno.test("the last round of a run, where it is shorter, keeps its zones", () => {
  assertEquals(roundsOfRun(12, 5), [5, 5, 2]);
  assertEquals(roundsOfRun(12, 4), [4, 4, 4]);
  const { cpuUpdates, gpuUpdates, bytes } = roundWork(GRID, { exchangeEvery: 5, cpuSlices: 8 }, 2);
  assertEquals(cpuUpdates, 6 * (12 + 11)); // of 8 + 5 slices a step leaves one out
  assertEquals(gpuUpdates, 2 * 6 * (12 + 5));
  assertEquals(bytes, roundWork(GRID, { exchangeEvery: 5, cpuSlices: 8 }).bytes);
});

Deno.test("without waits the smallest R and equal times are best", () => {
  const best = bestShare(GRID, 1, COSTS)!;
  // 20 slices and one ghost slice of the GPU's, on two devices of equal speed
  assertEquals([best.cpuSlices, best.predictedNs], [10, 66]);
  assertEquals(predictCurve(GRID, COSTS)[0].exchangeEvery, 1);
  const [fastest] = promising(predictCurve(GRID, COSTS), { within: 0.1, most: 3 });
  assertEquals(fastest.exchangeEvery, 1);
});

Deno.test("the longer the wait, the larger is the best R", () => {
  const bestPeriod = (waitNs: number): number => {
    const large: SharedGrid = { ...GRID, grid: [200, 2, 3], steps: 96 };
    return promising(predictCurve(large, withWait(waitNs)), { within: 0, most: 1 })[0].exchangeEvery;
  };
  const periods = [0, 2000, 8000, 32000].map(bestPeriod);
  assertEquals(periods, periods.toSorted((a, b) => a - b));
  assert(periods[3] > periods[0]);
});

Deno.test("shares that the ghost zones do not fit are no shares", () => {
  assertEquals(predictStepNs(GRID, { exchangeEvery: 3, cpuSlices: 2 }, COSTS), Infinity);
  assertEquals(predictStepNs(GRID, { exchangeEvery: 3, cpuSlices: 18 }, COSTS), Infinity);
  assert(Number.isFinite(predictStepNs(GRID, { exchangeEvery: 3, cpuSlices: 3 }, COSTS)));
  assertEquals([fits(GRID, 10), fits(GRID, 11), fits({ ...GRID, steps: 4 }, 5)], [true, false, false]);
  assertEquals(bestShare(GRID, 11, COSTS), undefined);
  assertEquals(predictCurve(GRID, COSTS).map(({ exchangeEvery }) => exchangeEvery), [
    ...Array.from({ length: 10 }, (_, i) => i + 1),
  ]);
  assertEquals(predictCurve({ ...GRID, grid: [3, 2, 3], reach: 2 }, COSTS), []);
});

Deno.test("behind a long wait all shares are as good: then the devices take equally long", () => {
  const quick: SharedCosts = { ...withWait(1e6), cpu: { ...COSTS.cpu, updateNs: 4 } };
  const { cpuSlices } = bestShare(GRID, 2, quick)!;
  assertEquals(cpuSlices, 4); // 4·(4 + ½) against 16 + 2 slices a step
});

Deno.test("a grid of very many slices, and a run of very many steps, take no longer to predict", () => {
  const long: SharedGrid = { ...GRID, grid: [1_000_000, 1, 1], steps: 10_000 };
  const costs: SharedCosts = { ...withWait(1e6), cpu: { ...COSTS.cpu, updateNs: 3 } };
  const { cpuSlices, predictedNs } = bestShare(long, 4, costs)!;
  // the CPU's round follows the wait, the GPU's does not: 4·3·x + 1e6 = 4·(1e6 − x)
  assert(Math.abs(cpuSlices - 187_500) < 2500, `${cpuSlices}`);
  assertAlmostEquals(predictedNs, 812_500, 0.01 * 812_500);
});

Deno.test("a batch of runs takes about what its steps are predicted to take", () => {
  const points = fc.record({
    exchangeEvery: fc.integer({ min: 1, max: 10 }),
    waitNs: fc.integer({ min: 0, max: 5000 }),
    contention: fc.constantFrom(0, 0.5, 1),
  });
  fc.assert(fc.property(points, ({ exchangeEvery, waitNs, contention }) => {
    const costs: SharedCosts = { ...COSTS, schedule: { ...COSTS.schedule, waitNs, contention } };
    const { cpuSlices, predictedNs } = bestShare(GRID, exchangeEvery, costs)!;
    const { wallNs } = predictBatch(GRID, { exchangeEvery, cpuSlices }, costs, 100);
    assertAlmostEquals(wallNs / (100 * GRID.steps), predictedNs, 0.02 * predictedNs + 0.02 * waitNs / 12);
  }));
});

Deno.test("a design spans R and shares that fit, and tells slices apart", () => {
  const guess = { cpuCellsPerSecond: 5e9, gpuCellsPerSecond: 800e9, waitNs: 11e6, timerNs: 1e6 };
  const problems = fc.record({
    slices: fc.integer({ min: 2, max: 600 }),
    reach: fc.integer({ min: 1, max: 8 }),
    interfaces: fc.constantFrom(1 as const, 2 as const),
    steps: fc.integer({ min: 1, max: 200 }),
  });
  fc.assert(
    fc.property(problems, ({ slices, ...rest }) => {
      const shared: SharedGrid = { grid: [slices, 64, 64], values: [1, 1], ...rest };
      const points = designPoints(shared, guess);
      assertEquals(points.length > 0, fits(shared, 1));
      for (const { exchangeEvery, cpuSlices } of points) {
        assert(fits(shared, exchangeEvery));
        assert(Math.min(cpuSlices, slices - cpuSlices) >= Math.max(1, exchangeEvery * shared.reach));
      }
      const together = points.filter((point) => point.together).map(({ exchangeEvery }) => exchangeEvery);
      assertEquals(together.length, new Set(together).size);
      if (points.length > 0) assert(together.includes(1));
    }),
    { numRuns: 40 },
  );
});
