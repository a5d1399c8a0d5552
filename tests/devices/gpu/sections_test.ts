import type { FloatArray } from "../../../kernels/precision.ts";
import { assert, assertEquals } from "@std/assert";
import { runReference } from "../../../kernels/reference.ts";
import type { Boundary, Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import type { Parameters } from "../../../kernels/traversals/traversal.ts";
import type { Configuration } from "../../../tuner/configuration.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { prepare } from "../../../tuner/devices/runners.ts";
import { SharedField } from "../../../tuner/devices/shared/shared_field.ts";
import { initialCells } from "../../kernels/oracle_case.ts";
import { wholeNumberWave } from "../../kernels/whole_numbers.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { SMALL_TORRE } from "../../kernels/small_torre.ts";

/** Runs something on a device that binds no more than so many bytes. */
async function withBinding(gpu: GpuDevice, bytes: number, use: () => Promise<void>): Promise<void> {
  const changed = gpu as { limits: GpuDevice["limits"] }, { limits } = gpu;
  changed.limits = { ...limits, maxStorageBufferBindingSize: bytes };
  try {
    await use();
  } finally {
    changed.limits = limits;
  }
}

const STEPWISE: Parameters = { threadsZ: 8, threadsY: 4, threadsX: 1 };
const TORRE = { ...SMALL_TORRE, nt: 4, threads: 9, unroll: 1 };
/** Bytes of some ten slices, in either layout. */
const BYTES = { stepwise: 4 * 10 * 9 * 16, "diamond-torre": 4 * 12 * 13 * 64 };

function configurationOf(traversal: keyof typeof BYTES, cpuSlices: number): Configuration {
  const share = { cpuSlices, gpuSlices: 23 - cpuSlices, exchangeEvery: 2, cpuWorkers: cpuSlices > 0 ? 1 : 0 };
  return {
    traversal,
    parameters: share.gpuSlices === 0 ? {} : traversal === "stepwise" ? STEPWISE : TORRE,
    share,
  };
}

for (const boundary of ["zero", "periodic"] as const) {
  testOnGpu(
    `sections, ${boundary}: results and references in several buffers agree with those in one`,
    async (gpu) => {
      const problem: Problem = { stencil: wave(2), grid: [23, 7, 9], boundary, steps: 9 };
      const cpuPool = await CpuPool.create({ workers: 1 });
      const whole = await makeReference({ gpu, problem });
      let cut = whole;
      await withBinding(gpu, BYTES.stepwise, async () => {
        cut = await makeReference({ gpu, problem, isChecked: true });
      });
      const verify = async (reference: typeof whole, configuration: Configuration): Promise<void> => {
        const runner = await prepare({ gpu, cpuPool, reference }, problem, configuration);
        try {
          await runner.initialise();
          await runner.run();
          const { maxError, bound } = await runner.verify();
          assert(maxError <= bound, `${JSON.stringify(configuration)}: ${maxError}`);
        } finally {
          runner.dispose();
        }
      };
      try {
        for (
          const traversal of boundary === "zero"
            ? ["stepwise", "diamond-torre"] as const
            : ["stepwise"] as const
        ) {
          for (const cpuSlices of [0, 6]) {
            const configuration = configurationOf(traversal, cpuSlices);
            await verify(cut, configuration);
            for (const reference of [whole, cut]) {
              await withBinding(gpu, BYTES[traversal], () => verify(reference, configuration));
            }
          }
        }
        await verify(cut, configurationOf("stepwise", 23));
      } finally {
        for (const reference of [whole, cut]) reference.dispose();
        cpuPool.dispose();
      }
    },
  );
}

for (const boundary of ["zero", "periodic"] as const) {
  testOnGpu(`sections, ${boundary}: cells written, read and cleared lie in all buffers`, async (gpu) => {
    const stencil = wholeNumberWave(4), grid = [23, 7, 9] as const;
    const problem = { stencil, grid, boundary: boundary as Boundary, steps: 4 };
    await withBinding(gpu, 4 * 14 * 11 * 16, async () => {
      using field = await SharedField.create(problem, { gpu, configuration: configurationOf("stepwise", 0) });
      assert(field.onGpu!.plan.storage.sections!.length > 1);
      await field.initialise({ kind: "zero", seed: 3 });
      const cells = initialCells(grid, "integers", 5, stencil), perSlice = 7 * 9;
      const source = (x: number): FloatArray => cells.subarray(x * perSlice, (x + 1) * perSlice);
      for (const [x, slices] of [[0, 7], [7, 9], [16, 7]] as const) {
        await field.write({ ago: 0, plane: 0, x, slices }, source);
      }
      await field.run(problem.steps);
      const { current } = runReference({ current: cells, previous: cells.map(() => 0) }, {
        update: stencil.update,
        grid,
        boundary,
        steps: problem.steps,
      });
      const read = new Float32Array(23 * perSlice), [, ...rows] = grid;
      const boxOf = (x: number, slices: number) =>
        ({ ago: 0, plane: 0, planes: 1, low: [x, 0, 0], size: [slices, ...rows] }) as const;
      await field.readBox(boxOf(0, 5), read);
      await field.readBox(boxOf(5, 18), read.subarray(5 * perSlice));
      assertEquals(read, current);
      await field.clear();
      await field.run(problem.steps);
      await field.readBox(boxOf(0, 23), read);
      assertEquals([field.step, read.every((value) => value === 0)], [problem.steps, true]);
    });
  });
}

testOnGpu(
  "sections: what fills them is compiled beforehand, and nothing for the level as a whole",
  async (gpu) => {
    const problem: Problem = { stencil: wave(2), grid: [25, 7, 9], boundary: "zero", steps: 2 };
    const { device } = gpu, make = device.createShaderModule.bind(device), codes: string[] = [];
    const share = { cpuSlices: 0, gpuSlices: 25, exchangeEvery: 2, cpuWorkers: 0 };
    await withBinding(gpu, BYTES["diamond-torre"], async () => {
      const reference = await makeReference({ gpu, problem, isChecked: true });
      device.createShaderModule = (descriptor) => {
        codes.push(descriptor.code);
        return make(descriptor);
      };
      try {
        const configuration: Configuration = { traversal: "diamond-torre", parameters: TORRE, share };
        const runner = await prepare({ gpu, reference }, problem, configuration);
        const lengths = codes.flatMap((code) => code.match(/const LENGTH = (\d+)/)?.[1] ?? []).map(Number);
        assert(
          lengths.length > 0 && lengths.every((length) => 4 * length <= BYTES["diamond-torre"]),
          `${lengths}`,
        );
        const before = codes.length;
        await runner.initialise();
        assertEquals(codes.length, before);
        runner.dispose();
      } finally {
        device.createShaderModule = make;
        reference.dispose();
      }
    });
  },
);
