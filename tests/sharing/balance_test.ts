import { assert, assertAlmostEquals, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { medianError, predictCurve } from "../../models/shared_fit.ts";
import { formatPeriod } from "../../tuner/format.ts";
import { balance } from "../../tuner/sharing/balance.ts";
import { COSTS } from "../devices/simulated_times.ts";
import { PROBLEM, simulate } from "./simulated_devices.ts";

Deno.test("the balance picks an R within 3% of the best, and its model predicts every R within 10%", async () => {
  let proposals = 0;
  // the last CPU is so slow that Eq. 8 would leave it out
  for (const [waitNs, updateNs] of [[0, 0.5], [1e6, 0.5], [10e6, 0.5], [100e6, 0.5], [10e6, 20]] as const) {
    const costs = { ...COSTS, cpu: { ...COSTS.cpu, updateNs }, schedule: { ...COSTS.schedule, waitNs } };
    const { best, costModel, settled, message, iterations } = await balance(simulate({ costs }));
    // what is said leads to the one result
    const { exchangeEvery } = best!.configuration.share,
      period = `exchanging every ${formatPeriod(exchangeEvery)}`;
    if (!Number.isInteger(Math.log2(exchangeEvery))) proposals++;
    assert(message.startsWith(period), message);
    assert(iterations.some((one) => one.exchangeEvery === exchangeEvery));
    assert(settled, message);
    const truth = predictCurve(PROBLEM, costs);
    const leastNs = Math.min(...truth.map(({ predictedNs }) => predictedNs));
    const stepNs = cellsOf(PROBLEM.grid) / best!.cellsPerSecond * 1e9;
    assert(stepNs <= 1.03 * leastNs, `wait ${waitNs}: ${stepNs / leastNs}`);
    const errors = costModel!.curve.map(({ exchangeEvery, predictedNs }) =>
      predictedNs / truth[exchangeEvery - 1]!.predictedNs - 1
    );
    assert(medianError(errors) < 0.1, `wait ${waitNs}: ${errors}`);
  }
  assert(proposals > 0);
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
  assertEquals(curve.map(({ exchangeEvery }) => exchangeEvery), Array.from({ length: 64 }, (_, i) => i + 1));
  const measured = curve.filter(({ measuredNs }) => measuredNs !== null);
  for (const period of [4, 16]) assert(measured.some(({ exchangeEvery }) => exchangeEvery === period));
  // the search counts a shorter last round as a whole one
  const whole = measured.filter(({ exchangeEvery }) => PROBLEM.steps % exchangeEvery === 0);
  for (const { predictedNs, measuredNs } of whole) assertAlmostEquals(predictedNs / measuredNs!, 1, 0.05);
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
  assert(options.session.prepared.every(({ share }) => share.exchangeEvery === 3));
  // the fastest of what is printed, which need not be the last: while the host waits, a smaller share hides
  const fastest = iterations.reduce((a, b) => b.roundNs < a.roundNs ? b : a);
  assertEquals(fastest.cpuSlices, best!.configuration.share.cpuSlices);
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

Deno.test("after an interruption, or on a grid too thin there is no share, and a reason", async () => {
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
  const lost = simulate({ fails: ({ share }) => share.exchangeEvery > 4 ? "device-lost" : undefined });
  const result = await balance(lost);
  assertEquals(result.best, undefined);
  assertEquals(result.evaluations.map((one) => "failure" in one && one.failure.reason), ["device-lost"]);
  assertEquals(lost.session.prepared.at(-1)!.share.exchangeEvery, 16);
});

/** Devices that hardly wait, and rates of the simulated devices alone, in cells per second. */
const FAST = { ...COSTS, schedule: { ...COSTS.schedule, waitNs: 1e6 } };
const ALONE = { cpu: 1e9 / COSTS.cpu.updateNs, gpu: 1e9 / COSTS.gpu.updateNs };

Deno.test("however little time there is, one share is timed on both devices, and its slices add up", async () => {
  for (const grid of [[96, 96, 64], [512, 528, 128], [5, 24, 32]] as const) {
    for (const deadlineNs of [0, 1, 1e9]) {
      for (const cpu of [ALONE.cpu, 1e-3 * ALONE.cpu, 1e3 * ALONE.cpu, undefined]) {
        const updateNs = 1e9 / (cpu ?? ALONE.cpu);
        const costs = { ...COSTS, cpu: { ...COSTS.cpu, updateNs } };
        const options = simulate({ costs, problem: { ...PROBLEM, grid } });
        const { iterations, best } = await balance({ ...options, alone: { ...ALONE, cpu }, deadlineNs });
        const what = `${grid}, ${deadlineNs}, ${cpu}`;
        assert(iterations.length >= 1, what);
        for (const { cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs } of iterations) {
          assertEquals(cpuSlices + gpuSlices, grid[0], what);
          assertEquals([cpuTimeNs > 0, gpuTimeNs > 0], [cpuSlices > 0, gpuSlices > 0], what);
        }
        if (deadlineNs <= 1) assertEquals([iterations.length, best], [1, undefined], what);
      }
    }
  }
});

Deno.test("the first share is what the rates alone promise, and later ones end before the deadline", async () => {
  const { iterations } = await balance({ ...simulate(), alone: ALONE });
  assertEquals(iterations[0]!.cpuSlices, Math.round(256 * ALONE.cpu / (ALONE.cpu + ALONE.gpu)));
  assertEquals(
    (await balance({ ...simulate(), alone: ALONE, startShare: 0.25 })).iterations[0]!.cpuSlices,
    64,
  );
  for (const seconds of [0.1, 0.3, 1, 3, 10]) {
    const options = simulate({ costs: FAST });
    const { best } = await balance({ ...options, alone: ALONE, deadlineNs: seconds * 1e9 });
    const spent = options.session.now() / 1e9;
    assert(spent <= 1.1 * seconds, `${spent} of ${seconds}`);
    assertEquals(best !== undefined, seconds > 0.3, `${seconds}`);
  }
});

Deno.test("in a limited time what is slower than one device alone is not verified, and the message says so", async () => {
  const slower = await balance({
    ...simulate(),
    alone: { cpu: ALONE.cpu, gpu: 1e3 * ALONE.gpu },
    deadlineNs: 60e9,
  });
  assertEquals([slower.best, slower.evaluations, slower.iterations.length > 0], [undefined, [], true]);
  assertMatch(
    slower.message,
    /^sharing with the CPU would take [\d,]+× as long \([\d.]+ ms a step; the GPU alone: 419 ns\)$/,
  );
  const late = await balance({ ...simulate({ costs: FAST }), alone: ALONE, deadlineNs: 0.1e9 });
  assertMatch(late.message, /^no time was left to verify a shared step of [\d.]+ µs$/);
});

Deno.test("the CPU traverses its share as it does alone, stepwise only in short rounds", async () => {
  const cpu = { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 4, block: 2 } };
  const options = { ...simulate(), cpu };
  const { best } = await balance(options);
  assertEquals(best?.configuration.share.cpu, cpu);
  const periods = new Set(options.session.prepared.map(({ share }) => share.exchangeEvery));
  assert(periods.has(4) && periods.has(16));
  for (const { share } of options.session.prepared) {
    assertEquals(share.cpu, share.gpuSlices > 0 && share.exchangeEvery >= 8 ? cpu : undefined);
  }
  const fused = {
    ...simulate(),
    cpu: { ...cpu, parameters: { ...cpu.parameters, fused: 1 } },
    exchangeEvery: [1],
  };
  assertEquals((await balance(fused)).best?.configuration.share.cpu, {
    traversal: "stepwise",
    parameters: { fused: 1 },
  });
  const strips = {
    ...simulate(),
    cpu: { traversal: "stepwise", parameters: { strip: 8 } },
    exchangeEvery: [1],
  };
  assertEquals((await balance(strips)).best?.configuration.share.cpu, strips.cpu);
});
