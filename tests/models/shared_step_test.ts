import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import {
  balancedShare,
  fits,
  predictCurve,
  predictStepNs,
  roundTimes,
  roundWork,
  type SharedCosts,
} from "../../models/shared_step.ts";

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

/** The R with the shortest predicted step. */
function bestPeriod(shared: Problem, costs: SharedCosts): number {
  const [best] = predictCurve(shared, costs).toSorted((a, b) => a.predictedNs - b.predictedNs);
  return best!.exchangeEvery;
}

Deno.test("the work of a round: Eq. 2 on the CPU, Eq. 3 on the GPU, the slices of both ghost zones", () => {
  assertEquals(roundWork(GRID, { exchangeEvery: 3, cpuSlices: 8 }), {
    steps: 3,
    cpuUpdates: 6 * (10 + 9 + 8),
    cpuCells: 6 * 11,
    gpuUpdates: 3 * 6 * (12 + 3),
    gpuCells: 6 * 15,
    bytes: 4 * 6 * (3 + 2), // of F(t−1) one reach less
  });
  const periodic: Problem = { ...GRID, stencil: heat(2), boundary: "periodic" };
  const { cpuUpdates, gpuCells, bytes } = roundWork(periodic, { exchangeEvery: 2, cpuSlices: 8 });
  assertEquals([cpuUpdates, gpuCells, bytes], [6 * (12 + 8), 6 * (12 + 8), 4 * 6 * 2 * 4]);
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
    const work = roundWork(shared, { exchangeEvery: R, cpuSlices }, steps);
    assertEquals(work.cpuUpdates, 42 * slices);
    assertEquals(work.gpuUpdates, 42 * steps * (1000 - cpuSlices + interfaces * reach * R));
    assertEquals(work.bytes, 4 * 42 * interfaces * reach * (2 * R - 1));
  }));
});

Deno.test("a shorter last round keeps the ghost zones of R", () => {
  const { cpuUpdates, gpuUpdates, bytes } = roundWork(GRID, { exchangeEvery: 5, cpuSlices: 8 }, 2);
  assertEquals(cpuUpdates, 6 * (12 + 11)); // of 8 + 5 slices each step leaves one out
  assertEquals(gpuUpdates, 2 * 6 * (12 + 5));
  assertEquals(bytes, roundWork(GRID, { exchangeEvery: 5, cpuSlices: 8 }).bytes);
  // 12 steps with R = 5: three waits
  assertEquals(predictStepNs(GRID, { exchangeEvery: 5, cpuSlices: 8 }, withWait(1e6)), 3e6 / 12);
});

Deno.test("an exchange moves the fields, without materials, as far as a full step reaches", () => {
  const problem: Problem = { ...GRID, stencil: elastic() };
  const { bytes, cpuCells } = roundWork(problem, { exchangeEvery: 1, cpuSlices: 8 });
  // two sub-steps of 2; F(t−1) is not read
  assertEquals([cpuCells, bytes], [6 * (8 + 4), 4 * 6 * 9 * 4]);
});

Deno.test("a round takes as long as the slower device, or a wait and what does not hide behind it", () => {
  const work = roundWork(GRID, { exchangeEvery: 1, cpuSlices: 10 });
  const { cpuNs, gpuNs, roundNs } = roundTimes(work, COSTS);
  assertEquals([cpuNs, gpuNs, roundNs], [60, 66, 66]);
  assertEquals(roundTimes(work, withWait(50)).roundNs, 66);
  assertEquals(roundTimes(work, withWait(50, 0.5)).roundNs, 50 + 30);
  const copies = { ...COSTS, unpack: { a: 0.5, b: 10 }, pack: { a: 1, b: 20 } };
  assertEquals([roundTimes(work, copies).copyNs, roundTimes(work, copies).cpuNs], [66, 126]);
});

Deno.test("without waits R = 1 is best, and the longer the wait, the larger the best R", () => {
  assertEquals(balancedShare(GRID, 1, COSTS), { exchangeEvery: 1, cpuSlices: 10, predictedNs: 66 });
  const large: Problem = { ...GRID, grid: [200, 2, 3], steps: 96 };
  const periods = [0, 2000, 8000, 32000].map((waitNs) => bestPeriod(large, withWait(waitNs)));
  assertEquals(periods[0], 1);
  assertEquals(periods, periods.toSorted((a, b) => a - b));
  assert(periods[3]! > 1);
});

Deno.test("shares whose ghost zones do not fit are left out", () => {
  for (const cpuSlices of [2, 18]) {
    assertEquals(predictStepNs(GRID, { exchangeEvery: 3, cpuSlices }, COSTS), Infinity);
  }
  assert(Number.isFinite(predictStepNs(GRID, { exchangeEvery: 3, cpuSlices: 3 }, COSTS)));
  assertEquals([fits(GRID, 10), fits(GRID, 11), fits({ ...GRID, steps: 4 }, 5)], [true, false, false]);
  assertEquals(balancedShare(GRID, 11, COSTS), undefined);
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
      const best = balancedShare(shared, exchangeEvery, costs);
      assertEquals(best !== undefined, fits(shared, exchangeEvery));
      if (best === undefined) return;
      const longer = (cpuSlices: number): number => {
        const times = roundTimes(roundWork(shared, { exchangeEvery, cpuSlices }), costs);
        return Math.max(times.cpuNs, times.gpuNs);
      };
      const all = Array.from({ length: slices - 2 * exchangeEvery + 1 }, (_, i) => longer(exchangeEvery + i));
      assertAlmostEquals(longer(best.cpuSlices), Math.min(...all), 1e-6);
    }),
    { numRuns: 60 },
  );
});
