import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Configuration, Verification } from "../../tuner/configuration.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { DeviceSession } from "../../tuner/devices/session.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { miscompiled } from "./miscompiled.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [20, 12, 10], boundary: "zero", steps: 8 };

/** So many slices on the CPU. */
function sharing(cpuSlices: number, traversal = "stepwise"): Configuration {
  const gpuSlices = PROBLEM.grid[0] - cpuSlices, cpuWorkers = cpuSlices === 0 ? 0 : 2;
  const parameters: Parameters = gpuSlices === 0
    ? {}
    : traversal === "stepwise"
    ? { threadsZ: 16, threadsY: 4, threadsX: 1 }
    : { zPerThread: 1, threadsZ: 16, threadsY: 4, pieces: 2, tile: 0, ahead: 0 };
  return { traversal, parameters, share: { cpuSlices, gpuSlices, exchangeEvery: 2, cpuWorkers } };
}

async function openSession(options: { useGpu?: boolean; timeoutMs?: number } = {}): Promise<DeviceSession> {
  return new DeviceSession({ device: await detectDevice(), timeoutMs: 120_000, ...options });
}

async function verify(
  session: DeviceSession,
  configuration: Configuration,
  problem = PROBLEM,
): Promise<Verification> {
  const runner = await session.prepare(problem, configuration);
  try {
    await runner.initialise();
    await runner.run();
    return await runner.verify();
  } finally {
    runner.dispose();
  }
}

testOnGpu(
  "GPU, CPU and both are verified against one reference; without the GPU the CPU goes on",
  async () => {
    using session = await openSession();
    for (const cpuSlices of [0, 20, 12]) {
      const { maxError, bound, against } = await verify(session, sharing(cpuSlices));
      assert(maxError <= bound);
      assertEquals(against, "gpu stepwise 64x4x1");
    }
    session.leaveOutGpu();
    assertEquals((await verify(session, sharing(20))).against, "oracle f32");
    await assertRejects(() => verify(session, sharing(0)), RunFailure, "there is no GPU");
  },
);

Deno.test("the CPU alone needs no GPU, not even for its reference", async () => {
  using session = await openSession({ useGpu: false });
  const { against, maxError } = await verify(session, sharing(20));
  assertEquals([against, maxError], ["oracle f32", 0]);
  await assertRejects(() => session.copyBytesPerSecond(), RunFailure, "there is no GPU");
});

Deno.test("equations of one name have references of their own: by what they compute, and start from", async () => {
  using session = await openSession({ useGpu: false });
  const { update } = wave(2), slow = wave(2, { courant: 0.1 });
  const stencils = [wave(2), slow, { ...wave(2), update: { ...update, ranges: [[0, 1]] as const } }];
  for (const stencil of stencils) {
    assertEquals((await verify(session, sharing(20), { ...PROBLEM, stencil })).maxError, 0);
  }
});

Deno.test("problems that differ in their surveys alone have references of their own", async () => {
  using session = await openSession({ useGpu: false });
  for (const receivers of [3, 5]) {
    const survey = { sources: 0, receivers };
    assertEquals((await verify(session, sharing(20), { ...PROBLEM, survey })).maxError, 0);
  }
});

testOnGpu("a kernel that the driver gets wrong differs from the reference", async () => {
  const changed = await miscompiled(/^marching/, async () => {
    using session = await openSession();
    const { maxError, bound } = await verify(session, sharing(0, "marching"));
    assert(maxError > bound);
    assert((await verify(session, sharing(0))).maxError <= bound);
  });
  assert(changed > 0);
});

testOnGpu("a driver that gets the reference wrong as well is found out by the oracle", async () => {
  const changed = await miscompiled(/^(marching|stepwise)/, async () => {
    using session = await openSession();
    const failure = await assertRejects(() => verify(session, sharing(0, "marching")), RunFailure);
    assertEquals(failure.reason, "incorrect");
    assertStringIncludes(
      failure.message,
      "the reference is wrong: gpu stepwise 64x4x1 differs from oracle f32 by",
    );
  });
  assert(changed > 0);
});

testOnGpu("a device that is lost is opened anew once its failure is known", async () => {
  using session = await openSession();
  const { gpu } = await session.open(PROBLEM);
  gpu!.device.destroy();
  const failure = await assertRejects(() => verify(session, sharing(0)), RunFailure);
  assertEquals(failure.reason, "device-lost");
  assertEquals(session.recover({ reason: "incorrect", message: "" }), gpu!.lost !== undefined);
  session.recover(failure);
  const { maxError, bound } = await verify(session, sharing(0));
  assert(maxError <= bound);
});

Deno.test("a pause ends when it is aborted", async () => {
  using session = await openSession({ useGpu: false });
  await session.pause(1e15, AbortSignal.abort());
  const stop = new AbortController();
  const pause = session.pause(1e15, stop.signal);
  stop.abort();
  await pause;
});
