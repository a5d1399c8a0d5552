import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { equation } from "../../../kernels/equation.ts";
import { SIGNAL } from "../../../kernels/expression.ts";
import { add, formula, multiply } from "../../../kernels/operations.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { Parameters } from "../../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { WindowedField } from "../../../tuner/devices/gpu/windowed_field.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { stateLevels } from "../../../tuner/devices/reference.ts";
import { prepare } from "../../../tuner/devices/runners.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { wholeNumberCross, wholeNumberMedium, wholeNumberProfiles } from "../../kernels/whole_numbers.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { wholeNumberWave, wholeNumberYee } from "../../kernels/whole_numbers.ts";
import { assertPoints, awkwardPoints, SURVEY } from "../../kernels/point_case.ts";
import { SharedField } from "../../../tuner/devices/shared/shared_field.ts";
import { gatherCells, readCells, readSharedCells } from "../cells.ts";

const start = { kind: "noise", seed: 4 } as const;
const stepwise = { threadsZ: 8, threadsY: 4, threadsX: 2 };
const torre = { dts: 1, nt: 4, bands: 1, zPerThread: 1, threads: 9, chunk: 2, unroll: 1, lookahead: 99 };

interface Case {
  readonly problem: Omit<Problem, "boundary" | "steps">;
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Slices of each buffer of the window. */
  readonly slices: number;
  /** Sections and steps of a passage that this makes. */
  readonly expected: readonly [sections: number, passageSteps: number];
}

const waves = { stencil: wave(2), grid: [43, 7, 9] } as const;
const few = { ...waves, grid: [17, 7, 9] } as const;
const CASES: readonly Case[] = [
  { problem: waves, traversal: "stepwise", parameters: stepwise, slices: 60, expected: [1, 28] },
  { problem: waves, traversal: "stepwise", parameters: stepwise, slices: 20, expected: [4, 8] },
  { problem: few, traversal: "stepwise", parameters: stepwise, slices: 6, expected: [6, 1] },
  {
    problem: { ...waves, stencil: heat(2) },
    traversal: "stepwise",
    parameters: stepwise,
    slices: 25,
    expected: [3, 4],
  },
  { problem: waves, traversal: "diamond-torre", parameters: torre, slices: 20, expected: [4, 4] },
  { problem: few, traversal: "diamond-torre", parameters: torre, slices: 8, expected: [10, 4] },
  {
    problem: waves,
    traversal: "diamond-torre",
    parameters: { ...torre, nt: 2, bands: 3 },
    slices: 22,
    expected: [6, 6],
  },
  {
    problem: { ...waves, stencil: heat(1) },
    traversal: "diamond-torre",
    parameters: { ...torre, bands: 2 },
    slices: 18,
    expected: [10, 8],
  },
  {
    problem: { ...waves, stencil: wholeNumberProfiles() },
    traversal: "stepwise",
    parameters: stepwise,
    slices: 20,
    expected: [4, 8],
  },
  {
    problem: { ...waves, stencil: wholeNumberCross() },
    traversal: "diamond-torre",
    parameters: { ...torre, materials: 0 },
    slices: 20,
    expected: [4, 4],
  },
  {
    problem: { ...waves, stencil: wholeNumberYee() },
    traversal: "diamond-torre",
    parameters: { ...torre, chunk: 4, nt: 2, bands: 3, materials: 1 },
    slices: 30,
    expected: [15, 6],
  },
  ...[0, 1].map((materials): Case => ({
    problem: { ...waves, stencil: wholeNumberMedium(1) },
    traversal: "diamond-torre",
    parameters: { ...torre, nt: 2, bands: 3, materials },
    slices: 22,
    expected: [6, 6],
  })),
];

async function planOf(gpu: GpuDevice, { problem, traversal, parameters, slices }: Case) {
  const whole: Problem = { ...problem, boundary: "zero", steps: 13 };
  const { layout } = traversalNamed(traversal).plan(whole, parameters).storage;
  const windowBytes = 4 * 4 * (slices * layout.slice + layout.pad[2]);
  return { whole, window: await WindowedField.open(gpu, whole, { traversal, parameters, windowBytes }) };
}

for (const one of CASES) {
  const { problem: { stencil }, traversal, parameters, slices, expected } = one;
  testOnGpu(
    `a window of ${slices} slices: ${stencil.title}, ${traversal} ${
      JSON.stringify(parameters)
    }: the resident run's bits`,
    async (gpu) => {
      const { whole, window } = await planOf(gpu, one);
      using field = window;
      assertEquals([field.plan.storage.sections!.length, field.plan.passageSteps], [...expected]);
      using resident = await GpuField.create(gpu, whole, traversalNamed(traversal).plan(whole, parameters));
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

for (const [i, { problem, traversal, parameters, slices, expected }] of CASES.slice(1, 7).entries()) {
  const survey = SURVEY,
    stencil = i % 2 === 0 ? quiet : driven,
    one = { traversal, parameters, slices };
  testOnGpu(
    `a window of ${slices} slices with points${i % 2 === 0 ? "" : " and a signal"}: ${traversal} ${
      JSON.stringify(parameters)
    }: the oracle's bits`,
    async (gpu) => {
      const { whole, window } = await planOf(gpu, {
        ...one,
        problem: { ...problem, stencil, survey },
        expected,
      });
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
  const message = await assertRejects(() => planOf(gpu, { ...CASES[4]!, slices: 6 }), RunFailure);
  assert(
    /^\d+ bytes in the 7 slices of a level that a passage touches at once, a window of \d+ bytes holds 6$/
      .test(
        message.message,
      ),
    message.message,
  );
  await assertRejects(
    () => planOf(gpu, { ...CASES[4]!, parameters: { ...torre, unroll: 2 } }),
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
    const configuration = { traversal: "diamond-torre", parameters: torre, share };
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
  const configuration = { traversal: "diamond-torre", parameters: torre, share };
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
  const levels: Float32Array[][] = [];
  for (const share of [alone, { ...alone, deviceMemory: 150_000 }]) {
    const configuration = { traversal: "stepwise", parameters: stepwise, share };
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
