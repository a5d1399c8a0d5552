/**
 * A run whose field is not finite says so: on every device, on ranks, and before a file is written.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { combine } from "../../kernels/traversals/traversal.ts";
import { planeTorre } from "../../kernels/traversals/plane_torre/plane_torre.ts";
import {
  add,
  type Configuration,
  createSolver,
  equation,
  multiply,
  type Problem,
  subtract,
} from "../../mod.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { areFinite, isDue } from "../../tuner/solver/finite.ts";
import { SolverError } from "../../tuner/solver/solver_error.ts";
import { inDirectory, runCommand } from "../cli/run_task.ts";
import { onRanks } from "../ranks/rank_case.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import "../own_thread.ts";

/** Diffusion that is stable where c is at most a quarter. */
const heat = equation({
  name: "warmth",
  dimensions: 2,
  fields: { u: [0, 1] },
  materials: { c: [0.1, 0.2] },
  step: ({ u, c }) => ({
    u: add(u, multiply(c, subtract(add(u.at(1, 0), u.at(-1, 0), u.at(0, 1), u.at(0, -1)), multiply(4, u)))),
  }),
});
const PROBLEM: Problem = {
  stencil: heat,
  grid: [24, 20],
  boundary: "periodic",
  steps: 8,
} as unknown as Problem;
const share = { cpuSlices: 0, gpuSlices: 24, exchangeEvery: 1, cpuWorkers: 0 };
const threads = { threadsZ: 8, threadsY: 1, threadsX: 1 };
const CPU: Configuration = {
  traversal: "stepwise",
  parameters: {},
  share: { ...share, cpuSlices: 24, gpuSlices: 0, cpuWorkers: 1 },
};
const ON_GPU: Readonly<Record<string, Configuration>> = {
  GPU: { traversal: "stepwise", parameters: threads, share },
  "GPU and CPU": {
    traversal: "stepwise",
    parameters: threads,
    share: { cpuSlices: 10, gpuSlices: 14, exchangeEvery: 8, cpuWorkers: 1 },
  },
};

const WHY =
  /c is 9 at \(20, 11\), its range is 0\.1 to 0\.2; the time step exceeds .* grow 71\.0 times a step/;

async function assertSaid(device: GPUDevice | null, configuration: Configuration): Promise<void> {
  await using solver = await createSolver(device, PROBLEM, configuration);
  const begin = async (): Promise<void> => {
    await solver.reset();
    await solver.write("u", (x, y) => (x * 7 + y * 3) % 5 / 5);
  };
  const broken = async (work: () => Promise<unknown>): Promise<string> =>
    (await assertRejects(work, SolverError, "Cannot run: finite values wanted: found ")).message;
  await begin();
  await solver.run(600);
  await solver.write("c", (x, y) => x === 20 && y === 11 ? 9 : 0.1);
  await begin();
  assertMatch(
    await broken(() => solver.run(600)),
    /(NaN|Infinity) in u at .*: it broke at or before step 600, after step 0/,
  );
  // whoever looks for the place may read
  assert(!areFinite(await solver.read()));
  assertMatch(await broken(() => solver.run(1)), WHY);
  await begin();
  // short runs look from time to time
  const often = await broken(async () => {
    for (let i = 0; i < 200; i++) await solver.run(4);
  });
  const [, before, after] = /before step (\d+), after step (\d+)/.exec(often)!.map(Number);
  assert(before! - after! === 64 && after! >= 0, often);
  // and so does who reads, is handed a snapshot, or asks
  for (const ask of [() => solver.read(), () => solver.run(0), () => solver.run(1)]) {
    await begin();
    await solver.run(1);
    await solver.run(55);
    const seen: number[] = [];
    await solver.addSnapshots("u", { every: 57, onSnapshot: ({ step }) => void seen.push(step) });
    assertMatch(await broken(ask), /before step 5[67], after step 0/);
    assertEquals(seen, []);
  }
}

Deno.test("a field that is not finite is said: CPU", () => assertSaid(null, CPU));
for (const [name, configuration] of Object.entries(ON_GPU)) {
  testOnGpu(`a field that is not finite is said: ${name}`, ({ device }) => assertSaid(device, configuration));
}

testOnGpu(
  "and where cells lie in an order of a plan's own; what is right is never refused",
  async ({ device, limits }) => {
    for (const part of [0.25, 0.3]) {
      const stencil = equation({
        name: "own",
        dimensions: 2,
        fields: { u: [0, 1] },
        step: ({ u }) => ({
          u: add(
            u,
            multiply(part, subtract(add(u.at(1, 0), u.at(-1, 0), u.at(0, 1), u.at(0, -1)), multiply(4, u))),
          ),
        }),
      });
      const wide: Problem = { ...PROBLEM, stencil, grid: [24, 1, 20] };
      const parameters = [...combine(planeTorre.parameterLists(wide, limits))]
        .find((one) => planeTorre.infeasible(wide, one, limits) === undefined)!;
      const planes: Configuration = { traversal: "plane-torre", parameters, share };
      await using solver = await createSolver(device, { ...PROBLEM, stencil }, planes);
      await solver.write("u", (x, y) => (x * 7 + y * 3) % 5 / 5);
      if (part === 0.25) await solver.run(600);
      else await assertRejects(() => solver.run(600), SolverError, "in u at (");
    }
  },
);

Deno.test("on ranks all say it, and a run that is measured does not", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 });
  const one = { ...PROBLEM, grid: [24, 1, 20], parts: [2, 1, 1], exchangeEvery: 2, runs: [8] } as const;
  await onRanks(one, { gpu: undefined, cpuPool }, async (solvers) => {
    const each = (work: (solver: typeof solvers[number]) => Promise<unknown>) =>
      Promise.allSettled(solvers.map(work));
    await each((solver) => solver.write("u", () => 1));
    await each((solver) => solver.write("c", (x, y) => x === 20 && y === 11 ? 9 : 0.1));
    await each((solver) => solver.write("u", (x, y) => (x * 7 + y * 3) % 5 / 5));
    const measured = await each((solver) => solver.field.run(600));
    assert(measured.every(({ status }) => status === "fulfilled"));
    for (const result of await each((solver) => solver.run(0))) {
      assert(result.status === "rejected");
      assert(result.reason instanceof SolverError);
      assertMatch(result.reason.message, WHY);
    }
  });
  cpuPool.dispose();
});

Deno.test("solve writes nothing of it, and exits with 3", () =>
  inDirectory(async (directory) => {
    const module = `${directory}/unstable.ts`, checkpoint = `${directory}/state`;
    const root = new URL("../../mod.ts", import.meta.url);
    await Deno.writeTextFile(
      module,
      `import { add, equation, multiply, subtract } from "${root}";
      export default equation({ name: "unstable", dimensions: 2, fields: { u: [0, 1] }, step: ({ u }) => ({
        u: add(u, multiply(0.3, subtract(add(u.at(1, 0), u.at(-1, 0), u.at(0, 1), u.at(0, -1)), multiply(4, u)))),
      }) });`,
    );
    const args = ["--stencil", module, "--grid", "16x16", "--no-gpu", "--cpu-workers", "1", "--verify"];
    const files = ["--checkpoint", checkpoint, "--every", "100"];
    const { code, stdout, stderr } = await runCommand("solve", [...args, ...files, "--steps", "1000"]);
    assertEquals([code, stdout], [3, ""]);
    assertMatch(
      stderr,
      /^facet: Cannot run: finite values wanted: found .* before step 300, after step 200: .*\n$/,
    );
    // the last that was whole
    const header = new TextDecoder().decode((await Deno.readFile(checkpoint)).subarray(0, 4096));
    assertMatch(header, /"step":200/);
  }));

Deno.test("looks are few in long runs, and no run of a few steps has one each time", () => {
  let looks = 0;
  for (let step = 1, looked = 0; step <= 100_000; step++) {
    if (isDue(step, { looked, steps: 1 })) [looked, looks] = [step, looks + 1];
  }
  assert(looks < 250, `${looks} looks in 100,000 runs of a step`);
  assert(isDue(64, { looked: 0, steps: 64 }) && !isDue(63, { looked: 0, steps: 63 }));
  assert(isDue(1, { looked: 0, steps: 0 }) && !isDue(1, { looked: 1, steps: 0 }));
});

Deno.test("bits say what is finite", () => {
  const most = 3.4028234663852886e38, least = 1e-45;
  assert(areFinite(Float32Array.of(0, -0, most, -most, least, -least)));
  for (const odd of [NaN, -NaN, Infinity, -Infinity]) assert(!areFinite(Float32Array.of(1, odd, most)));
});
