import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { Parameters } from "../../../kernels/traversals/traversal.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { openWindow } from "../../../tuner/devices/gpu/windowed_field.ts";
import { stateLevels } from "../../../tuner/devices/reference.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { gatherCells, readCells } from "../cells.ts";

const start = { kind: "noise", seed: 4 } as const;
const stepwise = { threadsZ: 8, threadsY: 4, threadsX: 2 };
const torre = { dts: 1, nt: 4, bands: 1, zPerThread: 1, threads: 9, chunk: 2, unroll: 1, lookahead: 99 };

interface Case {
  readonly problem: Omit<Problem, "boundary" | "steps">;
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Slices of each buffer of the window. */
  readonly slices: number;
  /** Sections and steps of a sweep that this makes. */
  readonly expected: readonly [sections: number, sweepSteps: number];
}

const waves = { stencil: wave(2), grid: [43, 7, 9] } as const;
const CASES: readonly Case[] = [
  { problem: waves, traversal: "stepwise", parameters: stepwise, slices: 60, expected: [1, 28] },
  { problem: waves, traversal: "stepwise", parameters: stepwise, slices: 20, expected: [4, 8] },
  { problem: waves, traversal: "stepwise", parameters: stepwise, slices: 6, expected: [14, 1] },
  {
    problem: { ...waves, stencil: heat(2) },
    traversal: "stepwise",
    parameters: stepwise,
    slices: 25,
    expected: [3, 4],
  },
  { problem: waves, traversal: "diamond-torre", parameters: torre, slices: 20, expected: [4, 4] },
  { problem: waves, traversal: "diamond-torre", parameters: torre, slices: 8, expected: [23, 4] },
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
];

async function planOf(gpu: GpuDevice, { problem, traversal, parameters, slices }: Case) {
  const whole: Problem = { ...problem, boundary: "zero", steps: 13 };
  const { layout } = traversalNamed(traversal).plan(whole, parameters);
  const windowBytes = 4 * 4 * (slices * layout.slice + layout.pad[2]);
  return { whole, window: await openWindow(gpu, whole, { traversal, parameters, windowBytes }) };
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
      assertEquals([field.plan.sections!.length, field.plan.sweepSteps], [...expected]);
      using resident = await GpuField.create(gpu, whole, traversalNamed(traversal).plan(whole, parameters));
      // twice: what the first run leaves in the window's memory must not be seen
      for (const runs of [[1], [13, 4]]) {
        await field.initialise(start);
        await resident.initialise(start);
        for (const steps of runs) {
          await field.run(steps);
          await resident.run(steps);
        }
        for (const ago of stateLevels(whole)) {
          const cells = await readCells(resident, ago), [nx, ny, nz] = whole.grid;
          for (let x = 0; x < nx; x++) {
            const layout = { ...field.sliceLayout, grid: [1, ny, nz] as const };
            const expectedCells = cells.subarray(x * ny * nz, (x + 1) * ny * nz);
            assertEquals(
              gatherCells(field.slice(ago, x), layout),
              expectedCells,
              `slice ${x} of F(t-${ago})`,
            );
          }
        }
      }
    },
  );
}

testOnGpu("what no window holds is refused, with what it would take", async (gpu) => {
  const message = await assertRejects(() => planOf(gpu, { ...CASES[4]!, slices: 6 }), RunFailure);
  assert(
    /^\d+ bytes in the 7 slices of a level that a sweep touches at once, a window of \d+ bytes holds 6$/.test(
      message.message,
    ),
    message.message,
  );
  await assertRejects(
    () => planOf(gpu, { ...CASES[4]!, parameters: { ...torre, unroll: 2 } }),
    RunFailure,
    "unroll 2: a sweep through a window",
  );
});
