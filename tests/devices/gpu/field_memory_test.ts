import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { heat } from "../../../kernels/stencils/heat.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { KeptMemory, type SectionArrays } from "../../../tuner/devices/gpu/field_memory.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { prepare } from "../../../tuner/devices/runners.ts";
import type { Configuration } from "../../../tuner/configuration.ts";
import { testOnGpu } from "../../test_on_gpu.ts";

/** Kept memory in which every field finds numbers that are not finite. */
class PoisonedMemory extends KeptMemory {
  readonly taken: SectionArrays[] = [];

  constructor(readonly poisoned: GpuDevice) {
    super(poisoned);
  }

  override async take(bytes: readonly number[], label: string): Promise<SectionArrays> {
    const arrays = await super.take(bytes, label);
    for (const array of arrays.flat()) {
      this.poisoned.write(array, 0, new Float32Array(array.size / 4).fill(NaN));
    }
    this.taken.push(arrays);
    return arrays;
  }
}

const SHARE = { cpuSlices: 0, gpuSlices: 21, exchangeEvery: 8, cpuWorkers: 0 };
/** Layouts of several sizes, the largest neither first nor last. */
const configurationsOf = (dts: number): readonly Configuration[] => [
  { traversal: "stepwise", parameters: { threadsZ: 16, threadsY: 4, threadsX: 1 }, share: SHARE },
  {
    traversal: "diamond-torre",
    parameters: {
      dts,
      nt: 8,
      bands: 1,
      zPerThread: 1,
      threads: 17,
      chunk: 2,
      unroll: 1,
      loads: "tier start",
    },
    share: SHARE,
  },
  {
    traversal: "marching",
    parameters: { zPerThread: 2, threadsZ: 8, threadsY: 4, pieces: 2, tile: 0, ahead: 0 },
    share: SHARE,
  },
];

// tiles of the same width: the tile of a stencil that reaches further is smaller
for (const [stencil, dts] of [[wave(2), 2], [heat(2), 1]] as const) {
  testOnGpu(
    `${stencil.title}: what an earlier field has left in kept memory reaches no result`,
    async (gpu) => {
      const problem: Problem = { stencil, grid: [21, 13, 17], boundary: "zero", steps: 8 };
      using gpuMemory = new PoisonedMemory(gpu);
      const reference = await makeReference({ gpu, problem });
      for (const configuration of [...configurationsOf(dts), ...configurationsOf(dts)]) {
        const runner = await prepare({ gpu, gpuMemory, reference }, problem, configuration);
        await runner.initialise();
        await runner.run();
        const { maxError, bound } = await runner.verify();
        assert(maxError <= bound, `${configuration.traversal}: ${maxError}`);
        runner.dispose();
      }
      // once the largest has come, nothing new is taken
      assertEquals(new Set(gpuMemory.taken.slice(2)).size, 1);
      reference.dispose();
    },
  );
}

testOnGpu("two fields at the same time have memory of their own, and none is lost", async (gpu) => {
  const memory = new KeptMemory(gpu);
  const one = await memory.take([64], "one"), two = await memory.take([64], "two");
  assert(new Set([...one, ...two].flat()).size === 4);
  memory.giveBack(one);
  memory.giveBack(two);
  assertStrictEquals(await memory.take([32], "three"), two);
  const larger = await memory.take([128, 64], "four");
  assertEquals(larger.flat().map(({ size }) => size), [128, 128, 64, 64]);
  // what is large enough stays, what is not is taken anew
  memory.giveBack(larger);
  const [first, second, third] = await memory.take([100, 96, 64], "sections");
  assertStrictEquals(first, larger[0]);
  assertEquals([second, third].map((pair) => pair!.map(({ size }) => size)), [[128, 128], [64, 64]]);
  memory[Symbol.dispose]();
  memory.giveBack([first!, second!, third!]);
  const anew = await memory.take([128], "five"); // what was given back late was not kept
  assert(anew !== larger);
  for (const array of anew.flat()) array.destroy();
});
