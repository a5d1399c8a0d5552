import type { FloatArray } from "../../../kernels/precision.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Grid, Problem, Stencil } from "../../../kernels/stencils/stencil.ts";
import { equation } from "../../../kernels/equation.ts";
import { SIGNAL } from "../../../kernels/expression.ts";
import { add, formula, multiply } from "../../../kernels/operations.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { WindowedField } from "../../../tuner/devices/gpu/windowed_field.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { stateLevels } from "../../../tuner/devices/reference.ts";
import { prepare } from "../../../tuner/devices/runners.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { wholeNumberCross, wholeNumberMedium, wholeNumberProfiles } from "../../kernels/whole_numbers.ts";
import { inSteps, inTorres, type Way } from "../../kernels/oracle_case.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { wholeNumberWave, wholeNumberYee } from "../../kernels/whole_numbers.ts";
import { assertPoints, awkwardPoints, SURVEY } from "../../kernels/point_case.ts";
import { SharedField } from "../../../tuner/devices/shared/shared_field.ts";
import { planGpuPart } from "../../../tuner/devices/shared/shares.ts";
import { configurationOf } from "../../../tuner/shares.ts";
import { gatherCells, readCells, readSharedCells } from "../cells.ts";

const start = { kind: "noise", seed: 4 } as const;
const STEPS = inSteps([8, 4, 2]), TORRE = inTorres([1, 4, 1, 1, 9, 2, 1, 99]);
const GRID = [43, 7, 9] as const, FEW = [17, 7, 9] as const, WAVE = wave(2);

/** The slices of each buffer of a window, and the sections and steps of a passage that this makes. */
type Case = readonly [Stencil, Grid, Way, slices: number, sections: number, passageSteps: number];
const CASES: readonly Case[] = [
  [WAVE, GRID, STEPS, 60, 1, 28],
  [WAVE, GRID, STEPS, 20, 4, 8],
  [WAVE, FEW, STEPS, 6, 6, 1],
  [heat(2), GRID, STEPS, 25, 3, 4],
  [WAVE, GRID, TORRE, 20, 4, 4],
  [WAVE, FEW, TORRE, 8, 10, 4],
  [WAVE, GRID, inTorres([1, 2, 3, 1, 9, 2, 1, 99]), 22, 6, 6],
  [heat(1), GRID, inTorres([1, 4, 2, 1, 9, 2, 1, 99]), 18, 10, 8],
  [wholeNumberProfiles(), GRID, STEPS, 20, 4, 8],
  [wholeNumberCross(), GRID, inTorres([1, 4, 1, 1, 9, 2, 1, 99, 0]), 20, 4, 4],
  [wholeNumberYee(), GRID, inTorres([1, 2, 3, 1, 9, 4, 1, 99, 1]), 30, 15, 6],
  [wholeNumberMedium(1), GRID, inTorres([1, 2, 3, 1, 9, 2, 1, 99, 0]), 22, 6, 6],
  [wholeNumberMedium(1), GRID, inTorres([1, 2, 3, 1, 9, 2, 1, 99, 1]), 22, 6, 6],
];

/** The window of a problem, with buffers of so many slices. */
async function windowOf(
  gpu: GpuDevice,
  { way: { traversal, parameters }, slices, ...problem }: Omit<Problem, "boundary" | "steps"> & {
    readonly way: Way;
    readonly slices: number;
  },
) {
  const whole: Problem = { ...problem, boundary: "zero", steps: 13 };
  const { layout } = traversal.plan(whole, parameters).storage;
  const windowBytes = 4 * 4 * (slices * layout.slice + layout.pad[2]);
  const its = { traversal: traversal.name, parameters, memory: windowBytes };
  const share = configurationOf([{ device: "gpu", slices: whole.grid[0], ...its }]);
  const plan = planGpuPart(whole, share, gpu);
  return { whole, window: await WindowedField.create(gpu, whole, plan) };
}

for (const [stencil, grid, way, slices, ...expected] of CASES) {
  const { traversal, parameters } = way;
  testOnGpu(
    `a window of ${slices} slices: ${stencil.title}, ${traversal.name} ${
      JSON.stringify(parameters)
    }: the resident run's bits`,
    async (gpu) => {
      const { whole, window } = await windowOf(gpu, { stencil, grid, way, slices });
      using field = window;
      assertEquals([field.plan.storage.sections!.length, field.plan.passageSteps], expected);
      using resident = await GpuField.create(gpu, whole, traversal.plan(whole, parameters));
      // twice: what the first run leaves in the window's memory must not be seen
      for (const runs of [[1], [13, 4]]) {
        await field.initialise(start);
        await resident.initialise(start);
        for (const steps of runs) {
          await field.run({ steps });
          await resident.run(steps);
        }
        for (const ago of stateLevels(whole)) {
          const cells = await readCells(resident, ago), [nx, ny, nz] = whole.grid;
          for (let x = 0; x < nx; x++) {
            const { cells: slice, layout: all } = field.slices()(ago, x);
            const layout = { ...all, grid: [1, ny, nz] as const };
            const perSlice = layout.planes * ny * nz;
            const expectedCells = cells.subarray(x * perSlice, (x + 1) * perSlice);
            assertEquals(
              gatherCells(slice, layout),
              expectedCells,
              `slice ${x} of F(t-${ago})`,
            );
          }
        }
      }
    },
  );
}

const quiet = wholeNumberWave(2), { update, update: { substeps: [[only] = []] } } = quiet;
const driven = {
  ...quiet,
  update: {
    ...update,
    substeps: [[{ ...only!, value: add(only!.value, SIGNAL) }]],
    signal: formula("step"),
  },
};

for (const [i, [, grid, way, slices]] of CASES.slice(1, 7).entries()) {
  const stencil = i % 2 === 0 ? quiet : driven, { traversal, parameters } = way;
  testOnGpu(
    `a window of ${slices} slices with points${i % 2 === 0 ? "" : " and a signal"}: ${traversal.name} ${
      JSON.stringify(parameters)
    }: the oracle's bits`,
    async (gpu) => {
      const { whole, window } = await windowOf(gpu, { stencil, grid, way, slices, survey: SURVEY });
      using field = window;
      const [nx, ny, nz] = whole.grid, most = field.plan.passageSteps!;
      // more than a passage, unless values would no longer be exact
      const runs = [1, Math.min(5, most + 1)];
      await assertPoints(field, { problem: whole, points: awkwardPoints(whole, 2), runs }, {
        run: (field, steps) => field.run({ steps }),
        read(field, ago) {
          const cells = new Float32Array(nx * ny * nz);
          for (let x = 0; x < nx; x++) {
            const { cells: slice, layout } = field.slices()(ago, x);
            cells.set(gatherCells(slice, { ...layout, grid: [1, ny, nz] }), x * ny * nz);
          }
          return Promise.resolve(cells);
        },
      });
    },
  );
}

testOnGpu("what no window holds is refused, with what it would take", async (gpu) => {
  const problem = { stencil: WAVE, grid: GRID, slices: 20 }, unrolled = inTorres([1, 4, 1, 1, 9, 2, 2, 99]);
  const message = await assertRejects(() => windowOf(gpu, { ...problem, way: TORRE, slices: 6 }), RunFailure);
  assert(
    /^diamond-torre: \d+ bytes in the 7 slices of a level that a passage touches at once, a window of \d+ bytes holds 6$/
      .test(
        message.message,
      ),
    message.message,
  );
  await assertRejects(
    () => windowOf(gpu, { ...problem, way: unrolled }),
    RunFailure,
    "unroll 2: a passage through a window",
  );
});

testOnGpu(
  "a window's records are verified with those of a reference that passed through one",
  async (gpu) => {
    const stencil = equation({
      name: "driven",
      fields: { u: [-1, 1] },
      sources: { s: [-1, 1] },
      step: ({ u, s }) => ({ u: multiply(0.2, add(u.at(1), u.at(-1), u.at(0, 1), u, u.at(0, 0, 1), s)) }),
    });
    const survey = { sources: 3, receivers: 20, every: 2 }, windowBytes = 150_000;
    const problem: Problem = { stencil, grid: [43, 7, 9], boundary: "zero", steps: 9, survey };
    const share = { cpuSlices: 0, gpuSlices: 43, exchangeEvery: 9, cpuWorkers: 0, deviceMemory: windowBytes };
    const reference = await makeReference({ gpu, problem, windowBytes, isChecked: true });
    const whole = await makeReference({ gpu, problem, isChecked: true });
    assertEquals(reference.traces!.length, 20);
    assertEquals(reference.traces, whole.traces);
    whole.dispose();
    const configuration = { traversal: "diamond-torre", parameters: TORRE.parameters, share };
    const verify = async (wanted: Problem) => {
      const runner = await prepare({ gpu, reference }, wanted, configuration);
      await runner.initialise();
      await runner.run();
      const { maxError, bound } = await runner.verify();
      runner.dispose();
      return maxError <= bound;
    };
    assert(await verify(problem));
    assert(!await verify({ ...problem, survey: { ...survey, sources: 0 } }), "without sources other values");
    assert(!await verify({ ...problem, survey: { ...survey, every: 1 } }), "more samples");
  },
);

testOnGpu("a window's runner is verified with a reference that passed through one too", async (gpu) => {
  const problem: Problem = { stencil: wave(2), grid: [43, 7, 9], boundary: "zero", steps: 9 };
  const windowBytes = 150_000;
  const share = { cpuSlices: 0, gpuSlices: 43, exchangeEvery: 9, cpuWorkers: 0, deviceMemory: windowBytes };
  const configuration = { traversal: "diamond-torre", parameters: TORRE.parameters, share };
  const reference = await makeReference({ gpu, problem, windowBytes, isChecked: true });
  const runner = await prepare({ gpu, reference }, problem, configuration);
  assertEquals(runner.isWarm, gpu.isSoftware, "what compiles at the first dispatch was dispatched");
  await runner.initialise();
  assert(await runner.run() > 0);
  const { maxError, bound, against } = await runner.verify();
  assert(maxError <= bound, `${maxError}`);
  assert(against.endsWith("through a window"), against);
  runner.dispose();
  // another state is noticed
  const elsewhere = { ...reference, start: { ...reference.start, seed: 9 } };
  const wrong = await prepare({ gpu, reference: elsewhere }, problem, configuration);
  await wrong.initialise();
  await wrong.run();
  assert((await wrong.verify()).maxError > bound);
  wrong.dispose();
  const shared = { ...share, cpuSlices: 20, gpuSlices: 23, cpuWorkers: 1 };
  await assertRejects(
    () => prepare({ gpu, reference }, problem, { ...configuration, share: shared }),
    RunFailure,
    "not shared with the CPU",
  );
  const whole = await makeReference({ gpu, problem, isChecked: true });
  const other = await prepare({ gpu, reference: whole }, problem, configuration);
  await other.initialise();
  await other.run();
  await assertRejects(
    async () => await other.verify(),
    RunFailure,
    "the reference lies on the GPU as a whole",
  );
  other.dispose();
  whole.dispose();
});

testOnGpu("cells come and go through a window's part as through any other", async (gpu) => {
  const problem: Problem = { stencil: wave(2), grid: [43, 7, 9], boundary: "zero", steps: 9 };
  const alone = { cpuSlices: 0, gpuSlices: 43, exchangeEvery: 9, cpuWorkers: 0 };
  const levels: FloatArray[][] = [];
  for (const share of [alone, { ...alone, deviceMemory: 150_000 }]) {
    const configuration = { traversal: "stepwise", parameters: STEPS.parameters, share };
    using field = await SharedField.create(problem, { gpu, configuration });
    await field.initialise(start);
    await field.run(4);
    const cells = (x: number) => Float32Array.from({ length: 7 * 9 }, (_, i) => Math.sin(x + i / 9));
    await field.write({ ago: 0, plane: 0, x: 11, slices: 20 }, cells);
    await field.run(3, 2);
    assertEquals(field.step, 10);
    levels.push([await readSharedCells(field, 0), await readSharedCells(field, 1)]);
  }
  assertEquals(levels[1], levels[0]);
});
