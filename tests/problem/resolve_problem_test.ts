import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { PRECISIONS } from "../../kernels/precision.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { DeviceDescription } from "../../tuner/devices/device.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { checkProblem, type ProblemWish, resolveProblem } from "../../tuner/problem/resolve_problem.ts";
import { DEVICE } from "../profile/sample_profile.ts";

const CPU_ALONE: DeviceDescription = { ...DEVICE, gpu: null };

/** The message with which a request is refused, after `Cannot tune: `. */
function messageOf(wish: Partial<ProblemWish>, device: DeviceDescription = DEVICE): string {
  const error = assertThrows(
    () => resolveProblem("tune", { stencil: wave(2), ...wish }, device),
    RequestError,
  );
  assert(error instanceof RangeError && !error.message.includes("\n"), error.message);
  assert(error.message.startsWith("Cannot tune: "), error.message);
  return error.message.slice("Cannot tune: ".length);
}

Deno.test("what is left open is filled in for the device", () => {
  const { problem, isDefaultGrid, traversals, cpuWorkers, device } = resolveProblem(
    "tune",
    { stencil: wave(2) },
    DEVICE,
  );
  assertEquals([problem.boundary, problem.steps, isDefaultGrid, cpuWorkers], ["zero", 96, true, 7]);
  assertEquals(traversals.map(({ name }) => name), ["stepwise", "marching", "diamond-torre", "volume-torre"]);
  assertEquals(device, DEVICE);
  const line = resolveProblem("tune", { stencil: heat1d(), gpu: false }, DEVICE);
  assertEquals([line.problem.boundary, line.problem.grid, line.problem.steps], [
    "insulated",
    [1, 1, 2 ** 14],
    2048,
  ]);
  assertEquals([line.device.gpu, line.cpuWorkers], [null, 8]);
  assert(line.traversals.some(({ name }) => name === "swept"));
});

Deno.test("of f64 a GPU that does not grant it is left out, which is said", () => {
  const { features } = PRECISIONS.f64, wish = { stencil: wave(2), precision: "f64" } as const;
  const able = { ...DEVICE, gpu: { ...DEVICE.gpu!, features } };
  const here = resolveProblem("tune", wish, able), there = resolveProblem("tune", wish, DEVICE);
  assertEquals([here.device, here.note, here.problem.stencil.update.precision], [able, undefined, "f64"]);
  assertEquals([there.device.gpu, there.cpuWorkers], [null, 8]);
  assertMatch(
    there.note!,
    /^.+ is left out: f64 needs wgpu-shader-f64 and wgpu-shader-int64: found neither$/,
  );
  assertMatch(messageOf({ ...wish, traversals: ["stepwise"] }), /f64 needs wgpu-shader-f64/);
});

Deno.test("through a window a run is as long as a passage, on a software device as any other", () => {
  const wish = { stencil: wave(2), grid: [256, 64, 64], deviceMemory: 2 ** 22 } as const;
  const stepsOn = (isFallback: boolean, given: Partial<ProblemWish> = {}) => {
    const device = { ...DEVICE, gpu: { ...DEVICE.gpu!, isFallback } };
    const { problem, isDefaultSteps } = resolveProblem("tune", { ...wish, ...given }, device);
    return { steps: problem.steps, isDefaultSteps };
  };
  const deviceMemory = 2 ** 24, { steps, isDefaultSteps } = stepsOn(false, { deviceMemory });
  assert(steps > 96 && !isDefaultSteps, `${steps}`);
  assertEquals(stepsOn(true, { deviceMemory }), { steps: 24, isDefaultSteps: true });
  for (const isFallback of [true, false]) {
    assertEquals(stepsOn(isFallback, { steps: 7 }), { steps: 7, isDefaultSteps: false });
  }
});

Deno.test("what is given is kept", () => {
  const grid = [24, 20, 16] as const;
  const { problem, isDefaultGrid, traversals, cpuWorkers } = resolveProblem("tune", {
    stencil: wave(4),
    grid,
    boundary: "periodic",
    steps: 12,
    traversals: ["marching"],
    cpuWorkers: 0,
  }, DEVICE);
  assertEquals([problem.grid, problem.boundary, problem.steps], [grid, "periodic", 12]);
  assertEquals([isDefaultGrid, cpuWorkers, traversals.map(({ name }) => name)], [false, 0, ["marching"]]);
});

Deno.test("a problem that makes no sense is refused", () => {
  const cases: [wish: Partial<ProblemWish>, message: string][] = [
    [{ grid: [8, 0, 8] }, "a grid of three whole numbers, at least 1, is wanted: found 8x0x8"],
    [{ grid: [8, NaN, 8] }, "a grid of three whole numbers, at least 1, is wanted: found 8xNaNx8"],
    [
      { grid: [8, 8, 2 ** 31] },
      "at most 2147483647 cells along each axis are wanted: found 8x8x2147483648",
    ],
    [{ steps: 0 }, "steps must be a whole number, at least 1: found 0"],
    [{ steps: 10_001 }, "at most 10000 steps are wanted: found 10001"],
    ...([["endless", "endless"], [["zero", "endless", "zero"], "zero,endless,zero"], [
      ["zero"],
      "zero",
    ]] as const)
      .map(([boundary, found]): [wish: Partial<ProblemWish>, message: string] => [
        { boundary: boundary as never },
        `the boundary must be one of zero, periodic, insulated, or one for each axis, such as zero,periodic,insulated, or walls: found ${found}`,
      ]),
    [
      { stencil: wave(2, { dimensions: 2 }), grid: [8, 8], boundary: ["zero", "periodic", "zero"] },
      "the boundary must be one of zero, periodic, insulated, or one for each axis, such as zero,insulated, or walls: found zero,periodic,zero",
    ],
    [
      { stencil: { ...wave(2), surface: "free" }, boundary: ["zero", "zero", "periodic"] },
      "the boundary along the depth must be zero below a free surface: found periodic",
    ],
    [{ cpuWorkers: -2 }, "a whole number of CPU workers from 0 to 1024 is wanted: found -2"],
    [{ cpuWorkers: 1.5 }, "a whole number of CPU workers from 0 to 1024 is wanted: found 1.5"],
    [
      { gpu: false, cpuWorkers: 0 },
      "a GPU or CPU workers are wanted: the GPU is left out, and there are 0 workers",
    ],
    [
      { stencil: heat1d(), grid: [1, 1, 1] },
      "heat conduction in a rod needs a grid of 1x1xN, N at least 2, as its taps reach 1: found 1x1x1",
    ],
    [
      { stencil: ks(5), grid: [1, 1, 2] },
      "Kuramoto-Sivashinsky equation, 5 points needs a grid of 1x1xN, N at least 3, as its taps reach 2: found 1x1x2",
    ],
  ];
  for (const [wish, message] of cases) assertEquals(messageOf(wish), message);
  const smallest = { boundary: "periodic", steps: 1 } as const;
  checkProblem("run", { stencil: heat1d(), grid: [1, 1, 2], ...smallest });
  checkProblem("run", { stencil: ks(5), grid: [1, 1, 3], ...smallest });
  checkProblem("run", { stencil: wave(8), grid: [1, 1, 1], ...smallest });
});

Deno.test("a grid that no buffers hold is refused with the bytes it takes", () => {
  const grid = [1200, 1200, 1200] as const;
  assertEquals(
    messageOf({ grid: [3, 20_000, 20_000] }).replace(/\d+ bytes/, "N bytes"),
    "a time level of 3x20000x20000 takes 7.5 GiB with its frame: N bytes in the 3 slices that a dispatch touches, " +
      `maxStorageBufferBindingSize is ${DEVICE.gpu!.limits.maxStorageBufferBindingSize}`,
  );
  const software = { ...DEVICE, gpu: { ...DEVICE.gpu!, isFallback: true } };
  assertMatch(
    messageOf({ stencil: elastic(), grid: [1000, 1400, 1400] }, software),
    /^a result and its reference on 1000x1400x1400 take [\d.]+ GiB, [\d.]+ GiB are available$/,
  );
  assertEquals(
    messageOf({ grid }, CPU_ALONE),
    "a time level of 1200x1200x1200 takes 6.5 GiB with its frame: WebAssembly holds two of at most 2 GiB",
  );
});

Deno.test("a line that the named traversals cannot cut is refused with the nearest that they can", () => {
  const line = { stencil: heat1d(), steps: 100 };
  assertEquals(
    messageOf({ ...line, grid: [1, 1, 1000], traversals: ["swept-register"] }),
    "swept-register cannot cut 1000 points into nodes: the nearest that work: 992 and 1008",
  );
  for (const points of [992, 1008]) {
    resolveProblem("tune", { ...line, grid: [1, 1, points], traversals: ["swept-register"] }, DEVICE);
  }
  resolveProblem("tune", { ...line, grid: [1, 1, 1000], traversals: ["swept-register", "classic"] }, DEVICE);
});

Deno.test("a named traversal that cannot compute the problem is refused, unless another one can", () => {
  const cases: [wish: ProblemWish, traversal: string, reason: string][] = [
    [
      { stencil: wave(2), boundary: "periodic" },
      "diamond-torre",
      "the boundary is periodic: torres advance from one end of x to the other through zeros",
    ],
    [{ stencil: wave(2) }, "swept", "the grid is 64x64x64: it sweeps one dimension, 1x1xN"],
    [
      { stencil: elastic() },
      "classic",
      "the grid is 64x64x64: it sweeps one dimension, 1x1xN",
    ],
  ];
  for (const [wish, name, reason] of cases) {
    const named = { ...wish, grid: [64, 64, 64] as const };
    assertEquals(messageOf({ ...named, traversals: [name] }), `${name}: ${reason}`);
    resolveProblem("tune", { ...named, traversals: [name, "stepwise"] }, DEVICE);
  }
});

Deno.test("traversals run on a GPU: without one they cannot be asked for", () => {
  assertEquals(
    messageOf({ traversals: ["stepwise"] }, CPU_ALONE),
    "the traversal stepwise runs on a GPU: there is no WebGPU adapter",
  );
  assertEquals(
    messageOf({ traversals: ["stepwise"], gpu: false }),
    "the traversal stepwise runs on a GPU: the GPU is left out",
  );
  assertThrows(
    () => resolveProblem("tune", { stencil: wave(2), traversals: ["zigzag"] }, DEVICE),
    RangeError,
  );
});
