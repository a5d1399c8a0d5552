import { assert, assertEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import type { DeviceBalance } from "../../tuner/sharing/balance_run.ts";
import { type BalanceContext, differenceOf, renderBalance } from "../../tuner/cli/balance_report.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertRefused, runCommand, runTask } from "./run_task.ts";

const SMALL = ["--grid", "32x20x16", "--steps", "12", "--cpu-workers", "1", "--quiet"];

const CONTEXT: BalanceContext = {
  problem: { stencil: wave(2), grid: [100, 8, 8], boundary: "zero", steps: 12 },
  device: DEVICE,
  gpuAlone: undefined,
  cpuAlone: undefined,
};

Deno.test("the iterations are printed as Fig. 5a has them", () => {
  const result: DeviceBalance = {
    best: undefined,
    iterations: [
      { cpuSlices: 10, gpuSlices: 90, cpuTimeNs: 4e6, gpuTimeNs: 1e6 },
      { cpuSlices: 3, gpuSlices: 97, cpuTimeNs: 1e6, gpuTimeNs: 1.04e6 },
    ],
    evaluations: [],
    settled: true,
    message: "times agree within 3.8%",
    costModel: undefined,
  };
  const lines = renderBalance(result, CONTEXT).split("\n");
  assertEquals(lines.slice(6, 9).map((line) => line.trim().split(/ {2,}/)), [
    ["iteration", "CPU slices", "GPU slices", "CPU time", "GPU time", "difference"],
    ["1", "10", "90", "4.00 ms", "1.00 ms", "+75.0%"],
    ["2", "3", "97", "1.00 ms", "1.04 ms", "−3.8%"],
  ]);
  assertEquals(lines.at(-1), "Settled: times agree within 3.8%");
  assertEquals(differenceOf({ cpuSlices: 0, gpuSlices: 9, cpuTimeNs: 0, gpuTimeNs: 0 }), 0);
});

testOnGpu("balance prints the iterations, and verifies what it settled for", async () => {
  const { code, stdout, stderr } = await runTask("balance", [...SMALL, "--exchange-every", "2", "--json"]);
  assert(code === 0 || code === 1, stderr);
  const record = JSON.parse(stdout);
  assertEquals([record.settled, record.costModel], [code === 0, null]);
  assert(record.iterations.length >= 1 && record.iterations.length <= 5);
  record.iterations.forEach((one: Record<string, number>, i: number) => {
    assertEquals([one.iteration, one.cpuSlices + one.gpuSlices], [i + 1, 32]);
    assert(Math.abs(one.difference) <= 1);
  });
  assertEquals(record.iterations[0].cpuSlices, 3);
  for (const alone of [record.gpuAlone, record.cpuAlone]) {
    assert(alone.verification.maxError <= alone.verification.bound);
  }
  assertEquals(record.failures, []);
  if (record.together === null) return;
  assertEquals(record.together.configuration.share.exchangeEvery, 2);
  const { gpuAlone, cpuAlone, together, partOfSum } = record;
  assertEquals(partOfSum, together.cellsPerSecond / (gpuAlone.cellsPerSecond + cpuAlone.cellsPerSecond));
});

testOnGpu("a sweep measures every R that fits, and says what the model's choice costs", async () => {
  const args = [...SMALL, "--stencil", "heat", "--delta", "2", "--sweep-exchange", "1..20", "--passes", "2"];
  const { code, stdout, stderr } = await runCommand("balance", [...args, "--json"]);
  assertEquals(code, 0, stderr);
  const { points, failed, medianError, picked, fastest, regret } = JSON.parse(stdout);
  assertEquals(failed, []);
  // two ghost zones of 2R slices in 32, and no more than 12 steps
  assertEquals(points.map((point: { exchangeEvery: number }) => point.exchangeEvery), [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
  ]);
  for (const { samplesNs, measuredNs, predictedNs, error } of points) {
    assertEquals(samplesNs.length, 2);
    assertEquals([measuredNs, error], [
      Math.min(...samplesNs),
      predictedNs / measuredNs - 1,
    ]);
  }
  const of = (period: number) =>
    points.find(({ exchangeEvery }: { exchangeEvery: number }) => exchangeEvery === period);
  assertEquals(
    of(picked).predictedNs,
    Math.min(...points.map((p: { predictedNs: number }) => p.predictedNs)),
  );
  assertEquals(of(fastest).measuredNs, Math.min(...points.map((p: { measuredNs: number }) => p.measuredNs)));
  assertEquals(regret, of(picked).measuredNs / of(fastest).measuredNs - 1);
  assert(medianError >= 0);
});

testOnGpu("what cannot be balanced is refused", async () => {
  const thin = ["--grid", "3x20x16", "--order", "4", "--sweep-exchange", "1..4", "--quiet"];
  const torre = [...SMALL, "--traversal", "diamond-torre", "--boundary", "periodic"];
  await assertRefused("balance", [
    [thin, "Cannot use --sweep-exchange: no R fits: "],
    [torre, "Cannot balance: diamond-torre: torres advance"],
    [["--stencil", "heat-1d", "--grid", "2048"], "at least 2 slices"],
  ]);
});
