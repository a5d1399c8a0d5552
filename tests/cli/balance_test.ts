import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { type BalanceContext, differenceOf, renderBalance } from "../../tuner/cli/balance.ts";
import type { Balance } from "../../tuner/sharing/balance.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import type { Measurement } from "../../tuner/configuration.ts";
import { DEVICE, ENTRY } from "../profile/sample_profile.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertRefused, runTask } from "./run_task.ts";

const SMALL = ["--grid", "16x8x16", "--steps", "4", "--cpu-workers", "1", "--quiet"];

const CONTEXT: BalanceContext = {
  problem: { stencil: wave(2), grid: [100, 8, 8], boundary: "zero", steps: 12 },
  device: DEVICE,
  gpuAlone: undefined,
  cpuAlone: undefined,
};

const COPIES = { unpackNs: 1e5, packNs: 1e5 };

Deno.test("the iterations are printed as Fig. 5a shows them", () => {
  const result: Balance = {
    best: undefined,
    iterations: [
      {
        exchangeEvery: 1,
        cpuSlices: 10,
        gpuSlices: 90,
        cpuTimeNs: 4e6,
        gpuTimeNs: 1e6,
        roundNs: 12e6,
        ...COPIES,
      },
      {
        exchangeEvery: 4,
        cpuSlices: 3,
        gpuSlices: 97,
        cpuTimeNs: 1e6,
        gpuTimeNs: 1.04e6,
        roundNs: 12e6,
        ...COPIES,
      },
    ],
    evaluations: [],
    settled: true,
    message: "times agree within 3.8%",
    costModel: undefined,
  };
  const lines = fitLines(renderBalance(result, CONTEXT), Infinity).split("\n");
  assertEquals(lines.slice(7, 10).map((line) => line.trim().split(/ {2,}/)), [
    ["iteration", "R", "CPU slices", "GPU slices", "CPU time", "GPU time", "difference", "a step"],
    ["1", "1", "10", "90", "4.00 ms", "1.00 ms", "+75%", "12.0 ms"],
    ["2", "4", "3", "97", "1.00 ms", "1.04 ms", "−3.8%", "3.00 ms"],
  ]);
  assertEquals(lines.at(-1), "Settled: times agree within 3.8%");
  const alone = (cellsPerSecond: number): Measurement => ({
    ...ENTRY,
    cellsPerSecond,
    confidence95: [cellsPerSecond, cellsPerSecond],
    samples: [cellsPerSecond],
    spread: 0,
    compileNs: 1e9,
  });
  const text = (cpu: number): string => {
    const context = { ...CONTEXT, cpuAlone: alone(cpu), gpuAlone: alone(3e9) };
    return fitLines(renderBalance({ ...result, best: alone(4e9) }, context), Infinity);
  };
  // 6400 cells
  assertStringIncludes(
    text(8e9),
    "\nResult: 4.00 Gcells/s, 1.60 µs a step with the exchange and the waits, verified",
  );
  assertStringIncludes(text(8e9), "Sharing loses: the CPU alone reaches 8.00 Gcells/s, 2.0× as much\n");
  assert(!text(2e9).includes("loses"));
  assertEquals(differenceOf({ cpuSlices: 0, gpuSlices: 9, cpuTimeNs: 0, gpuTimeNs: 0 }), 0);
});

testOnGpu(
  "balance prints the iterations, and verifies what it settled for; that sharing loses is no failure",
  async () => {
    const { code, stdout, stderr } = await runTask("balance", [...SMALL, "--exchange-every", "2", "--json"]);
    const record = JSON.parse(stdout);
    const rates = [record.together, record.cpuAlone, record.gpuAlone].map((one) => one?.cellsPerSecond);
    const loses = Math.max(rates[1], rates[2]) >= 1.01 * rates[0];
    assertEquals([code, record.costModel], [record.settled || loses ? 0 : 1, null], stderr);
    assert(record.iterations.length >= 1 && record.iterations.length <= 5);
    record.iterations.forEach((one: Record<string, number>, i: number) => {
      assertEquals([one.iteration, one.exchangeEvery, one.cpuSlices! + one.gpuSlices!], [i + 1, 2, 16]);
      assert(one.roundNs! > 0);
    });
    for (const alone of [record.gpuAlone, record.cpuAlone]) {
      assert(alone.verification.maxError <= alone.verification.bound);
    }
    assertEquals(record.failures, []);
  },
);

testOnGpu("what cannot be balanced is refused", async () => {
  const torre = [...SMALL, "--traversal", "diamond-torre", "--boundary", "periodic"];
  await assertRefused("balance", [
    [torre, "Cannot balance: diamond-torre: the boundary is periodic: torres advance"],
    [["--stencil", "heat-1d", "--grid", "2048"], "at least 2 slices"],
  ]);
});
