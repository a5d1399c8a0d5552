import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { heat1d } from "../../../kernels/stencils/heat_1d.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import { predictRate } from "../../../models/roofline.ts";
import { ANY_DEVICE } from "../../../tuner/profile/prediction.ts";
import type { Configuration } from "../../../tuner/configuration.ts";
import type { CpuPool, CpuProblem } from "../../../tuner/devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { expectedOf, longRunGain, makeParts, refuseCpuPart } from "../../../tuner/devices/shared/shares.ts";

const PROBLEM: Problem = { stencil: wave(4), grid: [24, 32, 9], boundary: "periodic", steps: 7 };

/** What the CPU's workers are given for a configuration. */
async function givenToWorkers({ share, ...way }: Pick<Configuration, "traversal" | "parameters"> & {
  readonly share: Partial<Configuration["share"]>;
}): Promise<CpuProblem> {
  let given: CpuProblem | undefined;
  const stop = new RunFailure("limits", "enough is known");
  const load = (problem: CpuProblem) => {
    given = problem;
    return Promise.reject(stop);
  };
  const whole = { cpuSlices: 10, gpuSlices: 14, exchangeEvery: 3, cpuWorkers: 2, ...share };
  await assertRejects(
    () =>
      makeParts(PROBLEM, {
        cpuPool: { workers: 2, load } as unknown as CpuPool,
        gpu: {} as GpuDevice,
        configuration: { ...way, share: whole },
      }),
    RunFailure,
    stop.message,
  );
  return given!;
}

Deno.test("the CPU traverses its share as the share says, and alone as the configuration says", async () => {
  const diamonds = { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 3, block: 2 } };
  const shape = { tiles: 2, band: 3, block: 2 };
  const onGpu = { traversal: "stepwise", parameters: { threadsZ: 8, threadsY: 4, threadsX: 1 } };
  const beside = await givenToWorkers({ ...onGpu, share: { cpu: diamonds } });
  // own slices and two ghost zones of R · reach = 6; x ends there
  assertEquals([beside.shape, beside.layout.grid, beside.boundary], [shape, [22, 32, 9], [
    "zero",
    "periodic",
    "periodic",
  ]]);
  assertEquals((await givenToWorkers({ ...onGpu, share: {} })).shape, { strip: 0 });
  const alone = await givenToWorkers({ ...diamonds, share: { cpuSlices: 24, gpuSlices: 0 } });
  assertEquals([alone.shape, alone.layout.grid, alone.boundary], [shape, [24, 32, 9], "periodic"]);
});

Deno.test("the CPU alone refuses what none of its traversals is, and on a grid those of lines", () => {
  const problem: Problem = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 4 };
  const share = { gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const why = (traversal: string, on = problem, parameters = {}) =>
    refuseCpuPart(on, { traversal, parameters, share: { ...share, cpuSlices: on.grid[0] } });
  assertEquals(why("stepwise"), undefined);
  assertEquals(why("marching"), "the CPU has no traversal marching");
  assertEquals(why("swept"), "the grid is 8x8x8: it sweeps one dimension, 1x1xN");
  const line: Problem = { stencil: heat1d(), grid: [1, 1, 80], boundary: "insulated", steps: 4 };
  assertEquals([why("swept", line), why("classic", line)], [undefined, undefined]);
  // parameters that a traversal does not have; of earlier profiles some may be missing
  const named = { stepwise: "strip", "diamond-wavefront": "tiles, levels, block" };
  for (const [name, names] of Object.entries(named)) {
    const others = { ...name === "stepwise" ? {} : { tiles: 1, levels: 1, block: 1 }, x: 1 };
    assertEquals(why(name, problem, others), `wanted no parameters but ${names}, fused: found x`);
  }
  assertEquals(why("swept", line, { points: 8 }), undefined);
  assertEquals(why("swept", line, { x: 1 }), "wanted no parameters but points: found x");
  const points = "nodes must have a whole number of points from 1 up, not 0";
  assertEquals(why("swept", line, { points: 0 }), points);
  assertEquals(why("classic", line, { points: 8 }), "wanted no parameters: found points");
  const part: Problem = { ...line, boundary: "zero" };
  assertEquals(why("swept", part), "the boundary is zero: ends of a line must be insulated or periodic");
  assertEquals(why("classic", part), undefined);
});

Deno.test("a short run has the order of dispatches that suits it, by the same shaders; a long one keeps its own", () => {
  const problem: Problem = { stencil: wave(2), grid: [512, 512, 512], boundary: "zero", steps: 3072 };
  const kernel = { dts: 4, zPerThread: 1, threads: 512, chunk: 4, unroll: 2, loads: "tier start" };
  const parameters = { ...kernel, nt: 192, bands: 2 },
    gpu = { limits: ANY_DEVICE, model: { copyBytesPerSecond: 3e12 } };
  const orderFor = (steps: number) => expectedOf(diamondTorre, problem, parameters, { steps, gpu }).order;
  const rateOf = (steps: number, order = {}) => {
    const on = { ...problem, steps }, device = { copyBytesPerSecond: 3e12 };
    return predictRate(diamondTorre.demand(on, { ...parameters, ...order }), device, { cells: 512 ** 3 });
  };
  const order = orderFor(96)!;
  assertEquals(Object.keys(order), ["nt", "bands"]);
  assert(Number(order.nt) <= 96 && Number(order.bands) >= 2);
  assertGreater(rateOf(96, order), 1.3 * rateOf(96));
  assertEquals([orderFor(3072), orderFor(1)], [undefined, undefined]);
  const simple = { threadsZ: 64, threadsY: 4, threadsX: 1 };
  assertEquals(expectedOf(stepwise, problem, simple, { steps: 8, gpu }).order, undefined);
  const small: Problem = { ...problem, grid: [512, 40, 512] };
  const [tuned, other] = [{}, order].map((its) => diamondTorre.plan(small, { ...parameters, ...its }));
  assertEquals(tuned!.shaders, other!.shaders);
  assertEquals(tuned!.dispatches(96, 0, undefined, order), other!.dispatches(96, 0));
});

Deno.test("the models know what long runs of torres gain, in the order that suits a few steps", () => {
  const problem: Problem = { stencil: wave(2), grid: [512, 512, 64], boundary: "zero", steps: 3072 };
  const onGpu = (traversal: string, parameters: Configuration["parameters"]): Configuration => ({
    traversal,
    parameters,
    share: { cpuSlices: 0, gpuSlices: 512, exchangeEvery: 1, cpuWorkers: 0 },
  });
  const kernel = { dts: 1, zPerThread: 1, threads: 64, chunk: 2, unroll: 2, loads: "tier start" };
  const torre = (nt: number, bands: number) => onGpu("diamond-torre", { ...kernel, nt, bands });
  const onCpu = {
    ...onGpu("stepwise", {}),
    share: { cpuSlices: 512, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
  };
  const gainOf = (configuration: Configuration, steps = 96): number =>
    longRunGain(problem, configuration, {
      steps,
      gpu: { limits: ANY_DEVICE, model: { copyBytesPerSecond: 3e12 } },
    });
  const plain = onGpu("stepwise", { threadsZ: 8, threadsY: 2, threadsX: 1 });
  assertEquals([gainOf(plain), gainOf(onCpu), gainOf(torre(96, 16), 3072)], [1, 1, 1]);
  // in 96 steps another order suits both better than sixteen bands of 96 tiers, of which one alone could run
  const [low, high] = [gainOf(torre(8, 16)), gainOf(torre(96, 16))];
  assert(low >= 1 && high > 1 && high < 1.5, `${low}, ${high}`);
});
