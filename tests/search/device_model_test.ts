import { assert, assertEquals } from "@std/assert";
import { deviceModelOf } from "../../tuner/search/device_model.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { predictRate } from "../../models/roofline.ts";
import { PROFILE } from "../profile/sample_profile.ts";

const { gpu, cpu } = PROFILE.device;

Deno.test("a GPU keeps the models' own constants; so does a machine without one", () => {
  assertEquals(deviceModelOf({ gpu: { ...gpu!, isFallback: false }, cpu }, 1e12), {
    copyBytesPerSecond: 1e12,
  });
  assertEquals(deviceModelOf({ gpu: null, cpu }, 1e9), { copyBytesPerSecond: 1e9 });
});

Deno.test("in software a march has few pieces and no tiles: cores are few, and barriers dear", () => {
  const problem = { stencil: life(), grid: [48, 48, 64], boundary: "zero", steps: 24 } as const;
  const rate = (isFallback: boolean, { pieces, tile }: { pieces: number; tile: number }): number => {
    const device = deviceModelOf({ gpu: { ...gpu!, isFallback }, cpu: { ...cpu, cores: 2 } }, 6e9);
    const parameters = { zPerThread: 4, threadsZ: 16, threadsY: 8, pieces, tile, ahead: 0 };
    return predictRate(marching.demand(problem, parameters), device, { cells: 48 * 48 * 64 });
  };
  assert(rate(true, { pieces: 1, tile: 0 }) > 1.1 * rate(true, { pieces: 16, tile: 0 }));
  assert(rate(true, { pieces: 1, tile: 0 }) > 2 * rate(true, { pieces: 1, tile: 1 }));
  // what has many multiprocessors wants many pieces
  assert(rate(false, { pieces: 16, tile: 0 }) > 4 * rate(false, { pieces: 1, tile: 0 }));
});

Deno.test("in software, vectors are short, few workgroups are enough, and nothing spills", () => {
  const software = deviceModelOf({ gpu: { ...gpu!, isFallback: true }, cpu: { ...cpu, cores: 2 } }, 1e10);
  const problem = { stencil: wave(2), grid: [48, 48, 64], boundary: "zero", steps: 24 } as const;
  const parameters = {
    dts: 2,
    nt: 8,
    bands: 1,
    zPerThread: 4,
    threads: 16,
    chunk: 4,
    unroll: 1,
    lookahead: 99,
  };
  const torre = { ...diamondTorre.demand(problem, parameters), registers: { plain: 600 } };
  const rate = (threadsPerWorkgroup: number, device = software): number =>
    predictRate({ ...torre, threadsPerWorkgroup }, device, { cells: 1e6 });
  const small = { ...torre, registers: { plain: 1 } };
  assertEquals(predictRate(small, software, { cells: 1e6 }), predictRate(torre, software, { cells: 1e6 }));
  assert(rate(16) > 0.9 * rate(32)); // half a vector of a GPU, two whole ones here
  assert(rate(16, { copyBytesPerSecond: 1e10 }) < 0.2 * rate(16));
});

Deno.test("an H200 has an H100's multiprocessors: faster memory helps what moves, not what computes", () => {
  const named = (description: string) =>
    deviceModelOf({ gpu: { ...gpu!, isFallback: false, description }, cpu }, 4.27e12);
  const problem = { stencil: wave(2), grid: [512, 512, 512], boundary: "zero", steps: 96 } as const;
  const gain = (demand: ReturnType<typeof stepwise.demand>): number => {
    const [h200, h100] = [named("NVIDIA H200"), { copyBytesPerSecond: 3e12 }]
      .map((device) => predictRate(demand, device, { cells: 512 ** 3 }));
    return h200! / h100!;
  };
  const torre = { dts: 5, nt: 48, bands: 2, zPerThread: 2, threads: 256, chunk: 4, unroll: 1, lookahead: 99 };
  assert(gain(stepwise.demand(problem, { threadsZ: 64, threadsY: 4, threadsX: 1 })) > 1.15);
  assert(gain(diamondTorre.demand(problem, torre)) < 1.15);
  assertEquals(named("another"), { copyBytesPerSecond: 4.27e12 });
});
