import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../../tuner/devices/reference.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import {
  balanceOnDevices,
  type DeviceBalance,
  type DeviceBalanceOptions,
} from "../../tuner/sharing/balance_run.ts";
import { testOnGpu } from "../test_on_gpu.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [64, 24, 32], boundary: "zero", steps: 16 };

async function balanceWith(
  gpu: GpuDevice,
  change: Partial<DeviceBalanceOptions>,
  memoryBytes?: number,
): Promise<DeviceBalance> {
  const problem = change.problem ?? PROBLEM;
  const reference = await makeReference({ gpu, problem });
  const cpuPool = await CpuPool.create({ workers: 1, memoryBytes });
  const share = { cpuSlices: 0, gpuSlices: problem.grid[0], exchangeEvery: problem.steps, cpuWorkers: 0 };
  const parameters = { threadsZ: 32, threadsY: 4, threadsX: 1 };
  try {
    return await balanceOnDevices({
      gpu,
      cpuPool,
      problem,
      configuration: { traversal: "stepwise", parameters, share },
      reference,
      exchangeEvery: [2],
      now: () => performance.now() * 1e6,
      ...change,
    });
  } finally {
    cpuPool.dispose();
    reference.dispose();
  }
}

for (const boundary of ["zero", "periodic"] as const) {
  testOnGpu(
    `${boundary}: the devices settle in at most 5 iterations, and what is told is verified`,
    async (gpu) => {
      const progress: number[] = [];
      const { best, iterations, evaluations, message } = await balanceWith(gpu, {
        problem: { ...PROBLEM, boundary },
        onProgress: (done, total) => progress.push(done / total),
      });
      assert(iterations.length >= 1 && iterations.length <= 5, message);
      assertEquals(iterations[0].cpuSlices, 6); // a tenth of 64 slices
      for (const { cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs } of iterations) {
        assertEquals(cpuSlices + gpuSlices, 64);
        assertEquals([cpuTimeNs > 0, gpuTimeNs > 0], [cpuSlices > 0, gpuSlices > 0]);
      }
      assertEquals(progress, progress.toSorted((a, b) => a - b));
      assertEquals(progress.at(-1), 1);
      // which device is faster here is not ours to say; what was measured must be right
      for (const evaluation of evaluations) assert("measurement" in evaluation, JSON.stringify(evaluation));
      if (best === undefined) return;
      const { maxError, bound } = best.verification;
      assert(maxError <= bound);
      const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = best.configuration.share;
      assertEquals([cpuSlices + gpuSlices, exchangeEvery, cpuWorkers], [64, 2, 1]);
      assert(Math.min(cpuSlices, gpuSlices) >= 2);
    },
  );
}

testOnGpu("time that runs out leaves a share that was measured, or none", async (gpu) => {
  const none = await balanceWith(gpu, { deadlineNs: 0 });
  assertEquals([none.iterations.length, none.best], [0, undefined]);
  assertStringIncludes(none.message, "no time left");
  let calls = 0;
  const now = (): number => calls++ < 1 ? 0 : performance.now() * 1e6; // past the deadline after one iteration
  const one = await balanceWith(gpu, { now, deadlineNs: 1, startShare: 0.5 });
  assertEquals(one.iterations.length, 1);
  assertEquals(one.best?.configuration.share.cpuSlices, 32);
});

testOnGpu("an interrupted balance ends at once", async (gpu) => {
  const { best, iterations } = await balanceWith(gpu, { signal: AbortSignal.abort() });
  assertEquals([best, iterations], [undefined, []]);
});

testOnGpu("a share that does not fit the memory is a failure on record", async (gpu) => {
  const { best, iterations, evaluations, message } = await balanceWith(gpu, { startShare: 0.5 }, 100_000);
  assertEquals([best, iterations], [undefined, []]);
  assertStringIncludes(message, "limits");
  const [evaluation] = evaluations;
  assert("failure" in evaluation);
  assertEquals([evaluation.failure.reason, evaluation.configuration.share.cpuSlices], ["limits", 32]);
});

testOnGpu("a grid too thin to share is left alone", async (gpu) => {
  const problem: Problem = { stencil: wave(8), grid: [7, 24, 32], boundary: "zero", steps: 4 };
  const { best, iterations, message } = await balanceWith(gpu, {
    problem,
    exchangeEvery: undefined,
    alone: { cpu: 1e9, gpu: 1e9 },
  });
  assertEquals([best, iterations], [undefined, []]);
  assertStringIncludes(message, "7 slices can't hold two shares");
});

testOnGpu("without an R given, costs are measured and R is chosen by them", async (gpu) => {
  const progress: number[] = [];
  const { iterations, evaluations, costModel, message } = await balanceWith(gpu, {
    exchangeEvery: undefined,
    alone: undefined,
    onProgress: (done, total) => progress.push(done / total),
  });
  assert(iterations.length >= 1 && iterations.length <= 5, message);
  assert(costModel !== undefined);
  const { curve, costs, residuals, samples } = costModel;
  assertEquals(curve.map(({ exchangeEvery }) => exchangeEvery), Array.from({ length: 16 }, (_, i) => i + 1));
  assert(curve.every(({ predictedNs }) => predictedNs > 0 && Number.isFinite(predictedNs)));
  assert(costs.schedule.waitNs > 1e6); // Deno's sleep
  assertEquals(residuals.cpu.length, samples.length);
  assertEquals(progress.at(-1), 1);
  // what was measured is in the curve, with the share that it was measured with
  const measured = curve.filter(({ measuredNs }) => measuredNs !== null);
  for (const evaluation of evaluations) {
    assert("measurement" in evaluation, JSON.stringify(evaluation));
    const { exchangeEvery } = evaluation.configuration.share;
    assert(measured.some((point) => point.exchangeEvery === exchangeEvery));
  }
  for (const { exchangeEvery, cpuSlices, measuredNs } of measured) {
    const fastest = Math.max(
      ...evaluations.flatMap((one) =>
        "measurement" in one && one.configuration.share.exchangeEvery === exchangeEvery
          ? [one.measurement.cellsPerSecond]
          : []
      ),
    );
    assertEquals(measuredNs, 64 * 24 * 32 / fastest * 1e9);
    assert(Math.min(cpuSlices, 64 - cpuSlices) >= exchangeEvery);
  }
});

testOnGpu("costs that cannot be measured are a failure on record", async (gpu) => {
  const { best, evaluations, message } = await balanceWith(gpu, { exchangeEvery: undefined }, 100_000);
  assertEquals(best, undefined);
  assertStringIncludes(message, "costs could not be measured: limits");
  const [evaluation] = evaluations;
  assert("failure" in evaluation);
  assertEquals(evaluation.failure.reason, "limits");
});

testOnGpu("a balance that is out of time or interrupted before its costs are known says so", async (gpu) => {
  const late = await balanceWith(gpu, { exchangeEvery: undefined, deadlineNs: 0 });
  assertEquals([late.settled, late.message], [false, "no time left to balance"]);
  // a clock that runs so fast that a visit takes all of the time
  let nowNs = 0;
  const short = await balanceWith(gpu, {
    exchangeEvery: undefined,
    deadlineNs: 20e9,
    now: () => nowNs += 7e9,
  });
  assertStringIncludes(short.message, "no time left to balance: sharing is too slow");
  assertEquals([short.best, short.iterations, short.evaluations, short.costModel], [
    undefined,
    [],
    [],
    undefined,
  ]);
  const stopped = await balanceWith(gpu, { exchangeEvery: undefined, signal: AbortSignal.abort() });
  assertEquals([stopped.best, stopped.costModel, stopped.settled], [undefined, undefined, false]);
});
