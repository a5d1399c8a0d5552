import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { FailureReason } from "../../tuner/configuration.ts";
import { evaluateOn, type EvaluateOptions, type Evaluation } from "../../tuner/measuring/evaluate.ts";
import { refute } from "../../tuner/devices/reference.ts";
import { DEVICE_BATCH_NS, HOST_BATCH_NS } from "../../tuner/devices/gpu/gpu_clock.ts";
import { type Behaviour, configurationNamed, FakeRunner, PROBLEM, workbench } from "./fake_runner.ts";
import { isFailure, RunFailure } from "../../tuner/devices/run_failure.ts";

const CONFIGURATION = configurationNamed("fake");

/** Evaluates a fake; it must have been disposed of once, whatever became of it. */
async function evaluateFake(behaviour: Behaviour, options: Partial<EvaluateOptions> = {}) {
  const time = { nowNs: 0 };
  const runner = new FakeRunner(CONFIGURATION, behaviour, time);
  const evaluation = await evaluateOn(workbench(time, () => runner), CONFIGURATION, {
    problem: PROBLEM,
    ...options,
  }).finally(() => assertEquals(runner.disposals, 1));
  return { evaluation, runner };
}

function failureOf(evaluation: Evaluation) {
  assert("failure" in evaluation, "it was measured");
  assertEquals(evaluation.configuration, CONFIGURATION);
  return evaluation.failure;
}

function measurementOf(evaluation: Evaluation) {
  assert("measurement" in evaluation, JSON.stringify(evaluation));
  return evaluation.measurement;
}

Deno.test("a configuration is verified before it is timed", async () => {
  const { evaluation, runner } = await evaluateFake({});
  assertEquals(runner.calls.slice(0, 4), ["initialise", "run", "verify", "run"]);
  const { cellsPerSecond, samples, spread, verification, compileNs } = measurementOf(evaluation);
  assertEquals([cellsPerSecond, samples, spread], [1e9, [1e9, 1e9, 1e9], 0]);
  assertEquals([verification.maxError, verification.bound, compileNs], [1e-7, 1e-6, 1e6]);
});

Deno.test("a wrong result is a failure that tells both figures, and is never timed", async () => {
  const { evaluation, runner } = await evaluateFake({ verification: { maxError: 0.123456 } });
  const message = "differs from gpu stepwise 64x4x1 by 0.123, rounding explains 0.00000100";
  assertEquals(failureOf(evaluation), { reason: "incorrect", message });
  assertEquals(runner.batches, [1]);
});

Deno.test("an error that is infinite or no number is a wrong result, one at the bound is right", () => {
  const verification = { maxError: 1e-6, bound: 1e-6, against: "oracle f32" };
  assertEquals(refute(verification), undefined);
  assertEquals(refute({ ...verification, maxError: 0, bound: 0 }), undefined);
  for (const maxError of [NaN, Infinity, 1.0001e-6]) {
    assertEquals(refute({ ...verification, maxError })?.reason, "incorrect");
  }
  assertEquals(refute({ ...verification, bound: NaN })?.reason, "incorrect");
});

Deno.test("a clock that tells no time is a failure, at once", async () => {
  for (const timeNs of [0, NaN, -1, Infinity]) {
    const { evaluation, runner } = await evaluateFake({ batchNs: () => timeNs });
    const message = `the device's clock says that 1 runs took ${timeNs} ns`;
    assertEquals(failureOf(evaluation), { reason: "incorrect", message });
    assertEquals(runner.batches, [1]);
  }
});

Deno.test("failures of every reason become data, wherever they happen", async () => {
  const reasons: FailureReason[] = [
    "compile",
    "limits",
    "incorrect",
    "timeout",
    "device-lost",
    "out-of-memory",
  ];
  for (const reason of reasons) {
    const error = new RunFailure(reason, "so it\n  is");
    for (const at of ["initialise", "run", "verify"] as const) {
      const { evaluation } = await evaluateFake({ fails: { at, with: error } });
      assertEquals(failureOf(evaluation), { reason, message: "so it is" });
    }
    const session = workbench({ nowNs: 0 }, () => Promise.reject(error));
    const unprepared = await evaluateOn(session, CONFIGURATION, { problem: PROBLEM });
    assertEquals(failureOf(unprepared).reason, reason);
  }
});

Deno.test("a device lost between two samples is a failure, not half a measurement", async () => {
  const lose = (_: number, call: number): number => {
    if (call === 3) throw new RunFailure("device-lost", "gone");
    return 5e6;
  };
  const { evaluation } = await evaluateFake({ batchNs: lose });
  assertEquals(failureOf(evaluation).reason, "device-lost");
});

Deno.test("an error of our own is thrown, and the runner disposed of", async () => {
  const fails = { at: "run", with: new TypeError("a bug") } as const;
  await assertRejects(() => evaluateFake({ fails }), TypeError, "a bug");
  assertEquals([isFailure(new TypeError("a bug")), isFailure({ reason: "limits" })], [false, false]);
});

Deno.test("a first run far below the best is worth two samples", async () => {
  const noisy = (count: number, call: number): number => count * (call % 2 ? 4e6 : 6e6);
  const samplesAt = async (best: number): Promise<number> => {
    const { evaluation } = await evaluateFake({ batchNs: noisy }, { best, samplingNs: Infinity });
    return measurementOf(evaluation).samples.length;
  };
  assertEquals([await samplesAt(1e9), await samplesAt(0.25e9), await samplesAt(0.2e9)], [2, 2, 30]);
});

Deno.test("a warm first run is a sample, unless it is too short; far below the best it is enough", async () => {
  const runs = async (best: number, runNs = 4e6): Promise<[samples: number, batches: number]> => {
    const batchNs = (count: number): number => count * runNs;
    const { evaluation, runner } = await evaluateFake({ batchNs, isWarm: true }, { best });
    return [measurementOf(evaluation).samples.length, runner.batches.length];
  };
  // 1e6 updates in 4 ms
  assertEquals([await runs(0), await runs(0.4e9), await runs(0.6e9)], [[3, 3], [2, 2], [1, 1]]);
  assertEquals(await runs(0, DEVICE_BATCH_NS / 4), [3, 4]);
});

Deno.test("where the CPU ran it before, the run that is verified is a sample; on a GPU it may have compiled", async () => {
  const { share } = CONFIGURATION, batches: number[] = [];
  for (const gpuSlices of [0, share.gpuSlices]) {
    const configuration = { ...CONFIGURATION, share: { ...share, gpuSlices } };
    const runner = new FakeRunner(configuration, { batchNs: (count) => count * 4e6 });
    await evaluateOn(workbench(runner.time, () => runner), configuration, {
      problem: PROBLEM,
      isAgain: true,
    });
    batches.push(runner.batches.length);
  }
  assertEquals(batches, [3, 4]);
});

Deno.test("sampling ends with its time", async () => {
  const noisy = (count: number, call: number): number => count * (call % 2 ? 4e6 : 6e6);
  const { evaluation } = await evaluateFake({ batchNs: noisy }, { samplingNs: 40e6 });
  const { length } = measurementOf(evaluation).samples;
  assert(length >= 6 && length <= 10, `${length} samples`);
});

Deno.test("batches are as long as the clock needs", async () => {
  const short = (count: number): number => 1e4 * count;
  for (const [clock, leastNs] of [["device", DEVICE_BATCH_NS], ["host", HOST_BATCH_NS]] as const) {
    const { evaluation, runner } = await evaluateFake({ batchNs: short, clock });
    const wanted = Math.min(10_000, leastNs / 1e4);
    assertEquals(runner.batches, [1, wanted, wanted, wanted].slice(0, runner.batches.length));
    assertAlmostEquals(measurementOf(evaluation).cellsPerSecond, 1e11, 1);
  }
});

Deno.test("the host's tick in the first run does not make batches short", async () => {
  // 11 ms of waiting with every batch, 0.3 ms a run
  const { evaluation, runner } = await evaluateFake({
    clock: "host",
    batchNs: (count) => 11e6 + 3e5 * count,
  });
  const right = 1e6 / 3e-4;
  const { cellsPerSecond } = measurementOf(evaluation);
  assert(cellsPerSecond > 0.975 * right && cellsPerSecond < right, `${cellsPerSecond / right} of the rate`);
  assert(runner.batches.length <= 8, runner.batches.join());
});

Deno.test("a first run that compiles does not make batches short", async () => {
  const { evaluation, runner } = await evaluateFake({
    batchNs: (count, call) => call === 0 ? 800e6 : 1e5 * count,
  });
  assertEquals(runner.batches.slice(0, 3), [1, 1, 20]);
  assertStringIncludes(String(measurementOf(evaluation).cellsPerSecond), "10000000000");
});
