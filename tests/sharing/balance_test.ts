import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { medianError } from "../../models/shared_fit.ts";
import { balancedShare, sharedGridOf } from "../../models/shared_step.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { makeReference } from "../../tuner/devices/reference.ts";
import { balance } from "../../tuner/sharing/balance.ts";
import { sharingDevices } from "../../tuner/sharing/shared_run.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { COSTS, PROBLEM, simulate } from "./simulated_devices.ts";

Deno.test("the balance picks an R within 3% of the best, and its model predicts every R within 10%", async () => {
  // the last CPU is so slow that Eq. 8 would leave it out
  for (const [waitNs, updateNs] of [[0, 0.5], [1e6, 0.5], [10e6, 0.5], [100e6, 0.5], [10e6, 20]] as const) {
    const costs = { ...COSTS, cpu: { ...COSTS.cpu, updateNs }, schedule: { ...COSTS.schedule, waitNs } };
    const { best, costModel, settled, message } = await balance(simulate({ costs }));
    if (updateNs < 1) assert(settled, message);
    const truth = Array.from({ length: 32 }, (_, i) => balancedShare(sharedGridOf(PROBLEM), i + 1, costs)!);
    const leastNs = Math.min(...truth.map(({ predictedNs }) => predictedNs));
    const stepNs = cellsOf(PROBLEM.grid) / best!.cellsPerSecond * 1e9;
    assert(stepNs <= 1.03 * leastNs, `wait ${waitNs}: ${stepNs / leastNs}`);
    const errors = costModel!.curve.map(({ exchangeEvery, predictedNs }) =>
      predictedNs / truth[exchangeEvery - 1]!.predictedNs - 1
    );
    assert(medianError(errors) < 0.1, `wait ${waitNs}: ${errors}`);
  }
});

Deno.test("the record: iterations whose slices add up, verified measurements, the curve with what was measured", async () => {
  const progress: number[] = [];
  const options = simulate();
  const { best, iterations, evaluations, costModel } = await balance({
    ...options,
    onProgress: (done, total) => progress.push(done / total),
  });
  assertEquals(iterations[0]!.cpuSlices, 26); // a tenth of 256 slices
  for (const { cpuSlices, gpuSlices } of iterations) assertEquals(cpuSlices + gpuSlices, 256);
  assertEquals(iterations.at(-1)!.exchangeEvery, best!.configuration.share.exchangeEvery);
  const { share, traversal } = best!.configuration;
  assertEquals([traversal, share.cpuSlices + share.gpuSlices, share.cpuWorkers], ["stepwise", 256, 2]);
  assert(evaluations.length >= 1 && evaluations.length <= 3);
  assert(evaluations.every((one) => "measurement" in one));
  assertEquals(progress, progress.toSorted((a, b) => a - b));
  assertEquals(progress.at(-1), 1);
  const { curve } = costModel!;
  assertEquals(curve.map(({ exchangeEvery }) => exchangeEvery), Array.from({ length: 32 }, (_, i) => i + 1));
  const measured = curve.filter(({ measuredNs }) => measuredNs !== null);
  for (const period of [1, 2, 4]) assert(measured.some(({ exchangeEvery }) => exchangeEvery === period));
  for (const { predictedNs, measuredNs } of measured) assertAlmostEquals(predictedNs / measuredNs!, 1, 0.05);
  const point = curve[share.exchangeEvery - 1]!;
  assertEquals([point.cpuSlices, point.measuredNs], [
    share.cpuSlices,
    cellsOf(PROBLEM.grid) / best!.cellsPerSecond * 1e9,
  ]);
});

Deno.test("with an R given, only that one is balanced, and there is no model", async () => {
  const options = simulate();
  const { best, iterations, costModel, settled } = await balance({ ...options, exchangeEvery: [3] });
  assert(settled);
  assertEquals(costModel, undefined);
  assert(options.opened.every(({ share }) => share.exchangeEvery === 3));
  assertEquals(iterations.at(-1)!.cpuSlices, best!.configuration.share.cpuSlices);
});

Deno.test("a wrong result is a failure on record, and the next candidate is measured", async () => {
  const right = await balance(simulate());
  const { exchangeEvery } = right.best!.configuration.share;
  const { best, evaluations } = await balance(
    simulate({ isWrong: ({ share }) => share.exchangeEvery === exchangeEvery }),
  );
  const wrong = evaluations.filter((one) => "failure" in one);
  assert(wrong.some((one) => "failure" in one && one.failure.reason === "incorrect"));
  assert(best?.configuration.share.exchangeEvery !== exchangeEvery);
});

Deno.test("without time, after an interruption, or on a grid too thin there is no share, and a reason", async () => {
  const late = await balance({ ...simulate(), deadlineNs: 0 });
  assertEquals([late.best, late.iterations, late.settled, late.message], [
    undefined,
    [],
    false,
    "no time left to balance",
  ]);
  const stopped = await balance({ ...simulate(), signal: AbortSignal.abort() });
  assertEquals([stopped.best, stopped.iterations, stopped.costModel], [undefined, [], undefined]);
  const thin = await balance(simulate({ problem: { ...PROBLEM, stencil: wave(8), grid: [7, 24, 32] } }));
  assertEquals([thin.best, thin.iterations], [undefined, []]);
  assertStringIncludes(thin.message, "7 slices cannot hold two shares");
});

Deno.test("devices that fail are evaluations on record; a lost device ends the balance", async () => {
  const { best, evaluations, message } = await balance(simulate({ fails: () => "out-of-memory" }));
  assertEquals([best, evaluations.length], [undefined, 1]);
  assertStringIncludes(message, "the balance failed: out-of-memory");
  const lost = simulate({ fails: ({ share }) => share.exchangeEvery > 1 ? "device-lost" : undefined });
  const result = await balance(lost);
  assertEquals(result.best, undefined);
  assertEquals(result.evaluations.map((one) => "failure" in one && one.failure.reason), ["device-lost"]);
  assertEquals(lost.opened.at(-1)!.share.exchangeEvery, 2);
});

testOnGpu("on real devices: slices add up, and what is measured is verified", async (gpu) => {
  const problem: Problem = { stencil: wave(2), grid: [24, 8, 16], boundary: "periodic", steps: 4 };
  const reference = await makeReference({ gpu, problem });
  const cpuPool = await CpuPool.create({ workers: 1 });
  const share = { cpuSlices: 0, gpuSlices: 24, exchangeEvery: 4, cpuWorkers: 0 };
  try {
    const { iterations, evaluations } = await balance({
      devices: sharingDevices({ gpu, cpuPool, reference }),
      problem,
      configuration: { traversal: "stepwise", parameters: { threadsZ: 16, threadsY: 2, threadsX: 1 }, share },
      exchangeEvery: [2],
      now: () => performance.now() * 1e6,
    });
    assertEquals(iterations[0]!.cpuSlices, 2);
    for (const { cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs } of iterations) {
      assertEquals(cpuSlices + gpuSlices, 24);
      assertEquals([cpuTimeNs > 0, gpuTimeNs > 0], [cpuSlices > 0, gpuSlices > 0]);
    }
    for (const evaluation of evaluations) assert("measurement" in evaluation, JSON.stringify(evaluation));
  } finally {
    cpuPool.dispose();
    reference.dispose();
  }
});
