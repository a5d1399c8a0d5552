import { assert, assertEquals } from "@std/assert";
import { cellsOf, type Stencil } from "../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { combine, type DeviceLimits } from "../../kernels/traversals/traversal.ts";
import { misfitOf } from "../../tuner/problem/resolve_problem.ts";
import {
  DEFAULT_STEPS,
  defaultGrid,
  defaultSteps,
  SOFTWARE_STEPS,
  withSuitedSteps,
} from "../../tuner/problem/default_problem.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { DEVICE } from "../profile/sample_profile.ts";

/** A common GPU but for the size of its bindings. */
function limitsOf(bindingBytes: number): DeviceLimits {
  return {
    maxStorageBufferBindingSize: bindingBytes,
    maxBufferSize: bindingBytes,
    maxComputeWorkgroupStorageSize: 32768,
    maxComputeInvocationsPerWorkgroup: 1024,
    maxComputeWorkgroupSizeX: 1024,
    maxComputeWorkgroupSizeY: 1024,
    maxComputeWorkgroupSizeZ: 64,
    maxComputeWorkgroupsPerDimension: 65535,
  };
}

const SIZES: [name: string, bytes: number][] = [
  ["128 MiB", 2 ** 27],
  ["256 MiB", 2 ** 28],
  ["1 GiB", 2 ** 30],
  ["2 GiB - 4", 2 ** 31 - 4],
  ["4 GiB", 2 ** 32],
];

for (const [name, bytes] of SIZES) {
  Deno.test(`the default grid fits bindings of ${name}, for torres and stepwise of every order`, () => {
    for (const isFallback of [false, true]) {
      for (const order of WAVE_ORDERS) {
        const limits = limitsOf(bytes), stencil = wave(order);
        const grid = defaultGrid(stencil, { limits, isFallback });
        const problem = { stencil, grid, boundary: "zero", steps: DEFAULT_STEPS } as const;
        assertEquals(misfitOf(problem, limits), undefined);
        for (const traversal of [stepwise, diamondTorre]) {
          const isFeasible = [...combine(traversal.parameterLists(problem, limits))]
            .some((parameters) => traversal.infeasible(problem, parameters, limits) === undefined);
          assert(isFeasible, `${traversal.name}, order ${order}, ${grid.join("x")}`);
        }
        // large enough to leave any cache: an eighth of what fits, or what a software device can take
        if (!isFallback) assert(4 * cellsOf(grid) > Math.min(bytes / 8, 2 ** 28), grid.join("x"));
      }
    }
  });
}

Deno.test("the default grid of an H100 is a cube, and a software device's is small", () => {
  const limits = limitsOf(2 ** 31 - 4);
  assertEquals(defaultGrid(wave(2), { limits, isFallback: false }), [512, 512, 512]);
  assertEquals(defaultGrid(wave(2), { limits, isFallback: true }), [64, 64, 64]);
  assertEquals(defaultGrid(wave(2), null), [192, 192, 256]);
});

Deno.test("a software device gets a short run, on a line as long as any", () => {
  const steps = (stencil: Stencil) =>
    [null, { isFallback: false }, { isFallback: true }].map((gpu) => defaultSteps(stencil, gpu));
  assertEquals(steps(wave(2)), [DEFAULT_STEPS, DEFAULT_STEPS, SOFTWARE_STEPS]);
  assertEquals(new Set(steps(heat1d())).size, 1);
});

Deno.test("each halving halves x", () => {
  const limits = limitsOf(2 ** 31 - 4);
  const sizes = [0, 1, 2, 3].map((halvings) =>
    defaultGrid(wave(4), { limits, isFallback: false }, halvings)[0]
  );
  for (const [i, x] of sizes.slice(1).entries()) {
    assert(x % 8 === 0 && Math.abs(x - sizes[i]! / 2) <= 8, sizes.join());
  }
});

Deno.test("steps that were left open suit the length of a run on a GPU in hardware", () => {
  const problem = { stencil: wave(2), grid: [256, 256, 256], boundary: "zero", steps: 96 } as const;
  const stepsOf = (
    isDefaultSteps: boolean,
    isFallback: boolean,
    bytesPerSecond = 3e12,
    windowBytes?: number,
  ): number => {
    const limits = { ...DEVICE.gpu!.limits, ...(windowBytes && { windowBytes }) };
    const device = { ...DEVICE, gpu: { ...DEVICE.gpu!, limits, isFallback } };
    return withSuitedSteps({ problem, isDefaultSteps, device }, bytesPerSecond).steps;
  };
  assertEquals([stepsOf(true, false), stepsOf(false, false), stepsOf(true, true)], [1536, 96, 96]);
  assertEquals(stepsOf(true, false, 0.2e12), 384);
  // a run of 96 steps takes 1.4 s, and 28 s
  assertEquals([2e10, 1e9].map((rate) => stepsOf(true, false, rate)), [48, 24]);
  assertEquals([stepsOf(false, false, 1e9), stepsOf(true, true, 1e9)], [96, 96]);
  // through a window, many steps share a transfer; in software that costs no more than a step
  assertEquals([stepsOf(true, false, 1e9, 1e6), stepsOf(true, true, 1e9, 1e6)], [96, 24]);
  // where half of a section is computed again in the next
  assertEquals([3e12, 8e10].map((rate) => stepsOf(true, true, rate, 1e6)), [96, 48]);
});
