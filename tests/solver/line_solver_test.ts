/**
 * The solver on lines: bit for bit the oracle, on whole numbers.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { runReference } from "../../kernels/reference.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { tune } from "../../tuner/tune/library_tune.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { reweighted } from "../kernels/reweighted.ts";
import "../own_thread.ts";

/** T(t+1) = T₋ + T₊ − T: whole numbers stay whole, and small for a while. */
const WHOLE_ROD: Stencil = { ...heat1d(), update: reweighted(heat1d().update, [1, -1]) };

const POINTS = 256, STEPS = 13;
const PROBLEM: Problem = {
  stencil: WHOLE_ROD,
  grid: [1, 1, POINTS],
  boundary: "insulated",
  steps: 64,
};

const startAt = (z: number): number => (z * 7) % 5 - 2;

/** A software device compiles at the first dispatch, and shares its cores with other tests. */
const TIMEOUT_MS = 600_000;

const onGpu = { cpuSlices: 0, gpuSlices: 1, exchangeEvery: 64, cpuWorkers: 0 };
const onCpu = { cpuSlices: 1, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };

const WAYS: Configuration[] = [
  { traversal: "stepwise", parameters: { threadsZ: 32, threadsY: 1, threadsX: 1 }, share: onGpu },
  { traversal: "classic", parameters: { threads: 32, points: 1 }, share: onGpu },
  { traversal: "swept", parameters: { threads: 16, points: 2, steps: 16 }, share: onGpu },
  { traversal: "swept-register", parameters: { threads: 16, points: 2, steps: 16 }, share: onGpu },
  { traversal: "classic", parameters: {}, share: onCpu },
  { traversal: "swept", parameters: { points: 64 }, share: onCpu },
];

for (const configuration of WAYS) {
  const where = configuration.share.gpuSlices > 0 ? "the GPU" : "the CPU";
  testOnGpu(
    `a solver of a line: ${configuration.traversal} on ${where} is the oracle's, bit for bit`,
    async (gpu) => {
      const start = Float32Array.from({ length: POINTS }, (_, z) => startAt(z));
      const run = { ...PROBLEM, update: PROBLEM.stencil.update, steps: 2 * STEPS };
      const { current } = runReference({ current: start, previous: start.slice() }, run);
      using solver = await createSolver(gpu.device, PROBLEM, configuration, {
        timeoutMs: TIMEOUT_MS,
      });
      await solver.write("T", (_x, _y, z) => startAt(z));
      await solver.run(STEPS); // no multiple of a cycle
      await solver.run(STEPS);
      assertEquals(await solver.read("T"), current);
    },
  );
}

testOnGpu("a configuration for a line is chosen that the solver runs", async (gpu) => {
  // so little workgroup memory leaves only small kernels, which compile quickly on a software device
  const limits = {
    ...gpu.limits,
    maxComputeInvocationsPerWorkgroup: 32,
    maxComputeWorkgroupStorageSize: 3072,
  };
  const device = { limits, adapterInfo: { vendor: "", architecture: "", device: "", description: "" } };
  for (const stencil of [heat1d(), ks(5)]) {
    const problem: Problem = { stencil, grid: [1, 1, 1024], boundary: stencil.boundaries![0]!, steps: 64 };
    const { configuration } = chooseConfiguration([], problem, device);
    assert(configuration.traversal.startsWith("swept"));
    using solver = await createSolver(gpu.device, problem, configuration, { timeoutMs: TIMEOUT_MS });
    const { steps } = await solver.run(5);
    assertEquals(steps, 5);
  }
});

Deno.test("tune as a function takes a line with insulated ends", async () => {
  const { profile } = await tune({
    stencil: heat1d(),
    grid: [1, 1, 256],
    steps: 16,
    gpu: false,
    cpuWorkers: 1,
    budgetMs: 1,
  });
  assert(profile !== undefined);
  assertEquals(profile.entries[0]!.problem.boundary, "insulated");
  assert(profile.entries[0]!.result.cellsPerSecond > 0);
});

Deno.test("a problem that makes no sense is refused wherever a program gives one", async () => {
  const configuration = WAYS[0]!;
  const cases: [change: Partial<Problem>, message: string][] = [
    [{ boundary: "zero" }, "the boundary must be one of insulated, periodic, or walls: found zero"],
    [{ grid: [2, 1, 128] }, "needs a grid of 1x1xN, N at least 2, as its taps reach 1: found 2x1x128"],
    [{ grid: [1, 1, 1] }, "needs a grid of 1x1xN, N at least 2, as its taps reach 1: found 1x1x1"],
    [{ grid: [1, 1, 2.5] }, "a grid of three whole numbers, at least 1, is wanted: found 1x1x2.5"],
    [{ grid: [1, 1, NaN] }, "a grid of three whole numbers, at least 1, is wanted: found 1x1xNaN"],
    [{ steps: 0 }, "steps must be a whole number, at least 1: found 0"],
  ];
  for (const [change, message] of cases) {
    const problem = { ...PROBLEM, ...change };
    await assertRejects(() => createSolver(null, problem, configuration), RangeError, message);
    assertThrows(() => chooseConfiguration([], problem, null), RangeError, message);
    await assertRejects(() => tune({ ...problem, gpu: false, cpuWorkers: 1 }), RangeError, message);
  }
});
