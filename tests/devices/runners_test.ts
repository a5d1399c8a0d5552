import { inPrecision } from "../../kernels/planned_problem.ts";
import { FLOATS } from "../../kernels/wasm/instructions.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import { divide, multiply, subtract } from "../../kernels/operations.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { makeReference } from "../../tuner/devices/make_reference.ts";
import { verificationOf } from "../../tuner/devices/reference.ts";
import { prepare } from "../../tuner/devices/runners.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { RunFailure, UnstableProblem } from "../../tuner/devices/run_failure.ts";

const PROBLEM: Problem = { stencil: wave(4), grid: [20, 7, 11], boundary: "periodic", steps: 9 };

/** Stepwise, with so many slices on the CPU. */
function sharing(cpuSlices: number): Configuration {
  const cpuWorkers = cpuSlices > 0 ? 2 : 0;
  const share = { cpuSlices, gpuSlices: 20 - cpuSlices, exchangeEvery: 2, cpuWorkers };
  const parameters = cpuSlices === 20 ? {} : { threadsZ: 16, threadsY: 4, threadsX: 1 };
  return { traversal: "stepwise", parameters, share };
}

testOnGpu("GPU, CPU and both run and verify through one interface", async (gpu) => {
  const reference = await makeReference({ gpu, problem: PROBLEM });
  assertEquals(reference.against, "gpu stepwise 64x4x1");
  const cpuPool = await CpuPool.create({ workers: 2 });
  try {
    const clocks: string[] = [], warm: (boolean | undefined)[] = [];
    for (const cpuSlices of [0, 20, 8]) {
      const runner = await prepare({ gpu, cpuPool, reference }, PROBLEM, sharing(cpuSlices));
      await runner.initialise();
      assert(await runner.run() > 0);
      const { maxError, bound, against } = await runner.verify();
      assert(maxError <= bound && bound < 1e-4, `${cpuSlices} slices: error ${maxError}, bound ${bound}`);
      assertEquals(against, reference.against);
      assert(await runner.run(3) > 0);
      await assertRejects(() => runner.verify(), RangeError, "must be at step 9: it is at 36");
      await runner.initialise();
      await runner.run();
      assertEquals(await runner.verify(), { maxError, bound, against });
      clocks.push(runner.clock);
      warm.push(runner.isWarm);
      runner.dispose();
    }
    assertEquals(clocks, [gpu.hasTimestamps ? "device" : "host", "device", "host"]);
    assertEquals(warm, [gpu.isSoftware, false, false]); // it compiles when it is prepared
  } finally {
    cpuPool.dispose();
    reference.dispose();
  }
});

testOnGpu("results of another problem are wrong, and of fewer cells incomplete", async (gpu) => {
  const reference = await makeReference({ gpu, problem: PROBLEM, start: { kind: "noise", seed: 2 } });
  const other = await makeReference({ gpu, problem: PROBLEM, start: { kind: "noise", seed: 3 } });
  const runner = await prepare({ gpu, reference: { ...other, start: reference.start } }, PROBLEM, sharing(0));
  await runner.initialise();
  await runner.run();
  const { maxError, bound } = await runner.verify();
  assert(maxError > bound);
  runner.dispose();
  for (const one of [reference, other]) one.dispose();
  const whole = { maxError: 0, maxValue: 1, notFinite: 0, cells: 2 * 20 * 7 * 11 };
  assertEquals(verificationOf(whole, reference).maxError, 0);
  assertEquals(verificationOf({ ...whole, cells: whole.cells - 1 }, reference).maxError, Infinity);
  assertEquals(verificationOf({ ...whole, notFinite: 1 }, reference).maxError, Infinity);
});

Deno.test("without a GPU the CPU is compared with the oracle, on the whole grid", async () => {
  const reference = await makeReference({ problem: PROBLEM });
  assertEquals(reference.against, "oracle f32");
  const cpuPool = await CpuPool.create({ workers: 2 });
  const runner = await prepare({ cpuPool, reference }, PROBLEM, sharing(20));
  await runner.initialise();
  await runner.run();
  assertEquals((await runner.verify()).maxError, 0);
  runner.dispose();
  await assertRejects(
    () => prepare({ cpuPool, reference }, PROBLEM, sharing(8)),
    RunFailure,
    "there is no GPU for its slices",
  );
  cpuPool.dispose();
  reference.dispose();
});

Deno.test("where the oracle is too slow, it checks one worker in boxes, and the reference says so", async () => {
  const grid = [40, 30, 100] as const;
  const extents = [
    [PROBLEM, 160_000, "2 of 9 steps in 6 boxes"],
    [PROBLEM, 1, "2 of 9 steps in 6 boxes"],
    [{ ...PROBLEM, grid, survey: { sources: 0, receivers: 3, every: 4 } }, 1e7, "8 of 9 steps in 6 boxes"],
  ] as const;
  for (const [problem, oracleOperations, extent] of extents) {
    const reference = await makeReference({ problem, oracleOperations });
    assertEquals(reference.against, `one CPU worker, checked by oracle f32: ${extent}`);
    reference.dispose();
  }
});

Deno.test("CPU kernels of f64 that round one operation to f32 are refused, as results and as references", async () => {
  const problem = { ...PROBLEM, stencil: inPrecision(PROBLEM.stencil, "f64") };
  const reference = await makeReference({ problem });
  assertEquals(reference.against, "oracle f64");
  // to f32 and back
  const its = FLOATS.f64 as { sub: typeof FLOATS.f64.sub }, { sub } = its;
  its.sub = (left, right) => [...sub(left, right), 0xfd, 94, 0xfd, 95];
  try {
    const changed = { ...problem, stencil: { ...problem.stencil, update: { ...problem.stencil.update } } };
    await assertRejects(
      () => makeReference({ problem: changed }),
      RunFailure,
      "the reference is wrong: one CPU worker differs from oracle f64 by",
    );
    const cpuPool = await CpuPool.create({ workers: 2 });
    const runner = await prepare({ cpuPool, reference }, changed, sharing(20));
    await runner.initialise();
    await runner.run();
    const { maxError, bound } = await runner.verify();
    assert(maxError > 1000 * bound, `${maxError}, bound ${bound}`);
    runner.dispose();
    cpuPool.dispose();
  } finally {
    its.sub = sub;
    reference.dispose();
  }
});

const DIVIDES = equation({
  name: "divides",
  fields: { u: [0, 1] },
  step: ({ u }) => ({ u: divide(1, subtract(u, u)) }),
});
const GROWS = equation({
  name: "grows",
  fields: { u: [1, 2] },
  step: ({ u }) => ({ u: multiply(100, u.at(0, 0, 1)) }),
});

testOnGpu("values that do not stay finite are the problem's fault, whatever computes them", async (gpu) => {
  // beyond f32 after 19 steps, which the oracle's 8 on a GPU do not see
  const problem: Problem = { stencil: GROWS, grid: [3, 2, 40], boundary: "periodic", steps: 24 };
  for (const device of [gpu, undefined]) {
    (await makeReference({ gpu: device, problem: { ...problem, steps: 12 } })).dispose();
    const failure = await assertRejects(() => makeReference({ gpu: device, problem }), UnstableProblem);
    assertEquals(
      failure.message,
      "Cannot compute grows: after 24 steps on 3x2x40, periodic boundary, values are infinite or no numbers: " +
        "another boundary, other coefficients or ranges of initial values may help",
    );
  }
  const early = { ...problem, stencil: DIVIDES, steps: 2 };
  await assertRejects(() => makeReference({ gpu, problem: early }), UnstableProblem, "after 2 steps");
});

Deno.test("no worker is left that keeps the process alive", async () => {
  const runners = new URL("../../tuner/devices/", import.meta.url);
  const code = `
    import { makeReference } from "${runners}make_reference.ts";
    import { wave } from "${new URL("../../kernels/stencils/wave.ts", import.meta.url)}";
    const reference = await makeReference({ problem: { stencil: wave(2), grid: [4, 4, 4], boundary: "zero", steps: 2 } });
    console.log(reference.against);
  `;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--ext=ts", code],
    signal: AbortSignal.timeout(20_000),
    stderr: "inherit",
  }).output();
  assertEquals([success, new TextDecoder().decode(stdout)], [true, "oracle f32\n"]);
});
