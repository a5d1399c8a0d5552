import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { designPoints } from "../../models/shared_design.ts";
import { fitShared, medianError, type SharedSample } from "../../models/shared_fit.ts";
import { scheduleRounds } from "../../models/shared_schedule.ts";
import {
  predictCurve,
  predictStepNs,
  roundCosts,
  roundWork,
  type SharedCosts,
  type SharedGrid,
} from "../../models/shared_step.ts";

const GRID: SharedGrid = { grid: [256, 64, 64], reach: 1, interfaces: 1, values: [1, 1], steps: 96 };

/** Devices much like two cores and a software GPU on them. */
const TRUE: SharedCosts = {
  cpu: { updateNs: 0.16, stepNs: 20e3, missNs: 0, cachedCells: 0 },
  gpu: { updateNs: 5, stepNs: 30e3, passNs: 2, byteNs: 0.1 },
  unpack: { a: 0.2, b: 20e3 },
  pack: { a: 0.3, b: 80e3 },
  schedule: { submitNs: 0.4e6, timerNs: 1.1e6, waitNs: 11e6, contention: 1, starvation: 0.5 },
};

/** What would be measured at the design's points, each time multiplied by a number near 1. */
function measure(costs: SharedCosts, noise: () => number = () => 1): SharedSample[] {
  const points = designPoints(GRID, {
    cpuCellsPerSecond: 1e9 / costs.cpu.updateNs,
    gpuCellsPerSecond: 1e9 / costs.gpu.updateNs,
    ...costs.schedule,
  });
  return points.map(({ together, ...point }): SharedSample => {
    const round = roundCosts(roundWork(GRID, point), costs);
    const { cpuNs, gpuNs, unpackNs, packNs } = round;
    const sample = { ...point, cpuNs: cpuNs * noise(), gpuNs: gpuNs * noise() };
    if (!together) return sample;
    const { wallNs } = scheduleRounds(new Array(8).fill(round), costs.schedule);
    return {
      ...sample,
      together: {
        rounds: 8,
        wallNs: wallNs * noise(),
        unpackNs: unpackNs * noise(),
        packNs: packNs * noise(),
      },
    };
  });
}

/** Largest error of the predicted curve. */
function worstError(costs: SharedCosts, truth: SharedCosts): number {
  const errors = predictCurve(GRID, truth).map((point) =>
    Math.abs(predictStepNs(GRID, point, costs) / point.predictedNs - 1)
  );
  return Math.max(...errors);
}

Deno.test("exact measurements at a handful of R predict every R", () => {
  const { costs, residuals } = fitShared(GRID, measure(TRUE), TRUE.schedule);
  assert(worstError(costs, TRUE) < 0.01, `${worstError(costs, TRUE)}`);
  for (const part of Object.values(residuals)) assert(medianError(part) < 0.01);
  assertAlmostEquals(costs.cpu.updateNs, TRUE.cpu.updateNs, 1e-6);
});

Deno.test("devices that do not disturb each other are found not to", () => {
  const apart: SharedCosts = {
    ...TRUE,
    gpu: { ...TRUE.gpu, updateNs: 0.2 },
    schedule: { ...TRUE.schedule, contention: 0, starvation: 0 },
  };
  const { costs } = fitShared(GRID, measure(apart), apart.schedule);
  assert(worstError(costs, apart) < 0.01, `${worstError(costs, apart)}`);
});

Deno.test("measurements that are 3% off predict within some percent", () => {
  let which = 0;
  const { costs } = fitShared(
    GRID,
    measure(TRUE, () => [1, 1.03, 0.97, 1.01, 0.99][which++ % 5]),
    TRUE.schedule,
  );
  assert(worstError(costs, TRUE) < 0.08, `${worstError(costs, TRUE)}`);
});

Deno.test("a share that outgrows the cache is told from one that does not", () => {
  const [slices] = GRID.grid;
  const cached: SharedCosts = {
    ...TRUE,
    cpu: { updateNs: 0.05, stepNs: 0, missNs: 0.2, cachedCells: 12 * 64 * 64 },
    gpu: { ...TRUE.gpu, updateNs: 0.001 },
  };
  const samples = measure(cached);
  assert(samples.some(({ cpuSlices }) => cpuSlices < 12) && samples.some(({ cpuSlices }) => cpuSlices > 30));
  const { costs, residuals } = fitShared(GRID, samples, cached.schedule);
  assert(costs.cpu.missNs > 0 && costs.cpu.cachedCells < slices * 64 * 64);
  assert(medianError(residuals.cpu) < 0.05, `${residuals.cpu}`);
  const plain = fitShared(GRID, measure(TRUE), TRUE.schedule);
  assertEquals([plain.costs.cpu.missNs, plain.costs.cpu.cachedCells], [0, 0]);
});

Deno.test("one run of both tells one coefficient; none tells nothing", () => {
  const samples = measure(TRUE);
  const { costs: { schedule } } = fitShared(GRID, samples.slice(0, 1), TRUE.schedule);
  assertEquals([schedule.contention, schedule.starvation], [0, 0]);
  const alone = samples.map(({ together: _, ...sample }) => sample);
  assertThrows(() => fitShared(GRID, alone, TRUE.schedule), RangeError, "wanted a run of both devices");
  assertThrows(() => fitShared(GRID, [], TRUE.schedule), RangeError, "found none");
  assertEquals(medianError([]), 0);
});
