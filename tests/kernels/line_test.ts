import type { FloatArray } from "../../kernels/precision.ts";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertGreater,
  assertLess,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { refusalOf } from "../../kernels/capability.ts";
import { runReference } from "../../kernels/reference.ts";
import { FOURIER_LIMIT_1D, heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks, ksTimeStepLimit } from "../../kernels/stencils/ks.ts";
import { imageOf, type Problem, type Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { lineShape, refusePoints, SWEEP } from "../../kernels/traversals/line.ts";
import { nodesOf } from "../../kernels/traversals/swept/plan.ts";
import { linearWorkgroups } from "../../kernels/wgsl/declare.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { errorBound } from "../../models/error_bound.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { bitHeat, rodMode } from "./line_stencils.ts";
import { assertWithinBound } from "./oracle_case.ts";
import { readCells, writeCells } from "../devices/cells.ts";

function lineOf(stencil: Stencil, points: number): Problem {
  return { stencil, grid: [1, 1, points], boundary: stencil.boundaries?.[0] ?? "zero", steps: 100 };
}

/** ½T_0 + T_1 + … + ½T_{n−1} */
function trapezoid(cells: FloatArray | Float64Array): number {
  return [...cells].reduce((sum, value) => sum + value) - (cells[0]! + cells.at(-1)!) / 2;
}

Deno.test("the oracle carries the modes of an insulated rod exactly", () => {
  const fourier = 0.375; // f32 holds it
  for (const [points, mode] of [[2, 1], [17, 0], [65, 7], [64, 63]] as const) {
    const exact = rodMode({ points, mode, fourier });
    const at = (step: number) => Float64Array.from({ length: points }, (_, z) => exact.at([0, 0, z], step));
    const { update } = heat1d({ fourier });
    const run = { update, grid: [1, 1, points], boundary: "insulated", steps: 50 } as const;
    const { current } = runReference({ current: at(0), previous: at(0) }, run);
    const wanted = at(50);
    assert(
      current.every((value, z) => Math.abs(value - wanted[z]!) < 1e-13),
      `${points} points, mode ${mode}`,
    );
  }
});

Deno.test("imageOf about the outermost cells, any number of times", () => {
  assertEquals([-2, -1, 0, 1, 2, 3, 4, 5, 6].map((i) => imageOf(i, 4, "insulated")), [
    2,
    1,
    0,
    1,
    2,
    3,
    2,
    1,
    0,
  ]);
  assertEquals([-3, 0, 5].map((i) => imageOf(i, 1, "insulated")), [0, 0, 0]);
  assertEquals([-3, -2, -1, 0, 1, 2].map((i) => imageOf(i, 2, "insulated")), [1, 0, 1, 0, 1, 0]);
});

Deno.test("a rod keeps its trapezoid sum, the Kuramoto-Sivashinsky field its sum, in f64", () => {
  const points = 128, grid = [1, 1, points] as const;
  const start = (stencil: Stencil) =>
    Float64Array.from(initialCells({ grid, stencil }, { kind: "noise", seed: 3 }));
  const rod = start(heat1d());
  const heat = runReference({ current: rod, previous: rod }, {
    update: heat1d().update,
    grid,
    boundary: "insulated",
    steps: 300,
  });
  assertAlmostEquals(trapezoid(heat.current), trapezoid(rod), 1e-12);
  assert(Math.abs(trapezoid(rod)) > 0.1 && heat.current.some((value, z) => Math.abs(value - rod[z]!) > 0.1));
  for (const form of [5, 3]) {
    const field = start(ks(form));
    const { update } = ks(form);
    const { current } = runReference({ current: field, previous: field }, {
      update,
      grid,
      boundary: "periodic",
      steps: 500,
    });
    const sum = (cells: Float64Array) => cells.subarray(0, points).reduce((a, b) => a + b);
    assertAlmostEquals(sum(current), sum(field), 1e-11);
  }
});

Deno.test("both forms of the Kuramoto-Sivashinsky scheme are the same scheme, and their waves grow as they should", () => {
  const points = 96, grid = [1, 1, points] as const, mode = 5, amplitude = 1e-9;
  const timeStep = 5 / 1024; // its weights are exact in f32
  const theta = 2 * Math.PI * mode / points;
  const results = [5, 3].map((form) => {
    const { update } = ks(form, { timeStep });
    const field = new Float64Array(points * update.fields.length);
    for (let z = 0; z < points; z++) field[z] = amplitude * Math.cos(theta * z);
    return runReference({ current: field, previous: field }, {
      update,
      grid,
      boundary: "periodic",
      steps: 200,
    })
      .current.subarray(0, points);
  });
  // so small a wave is linear: every step multiplies it by 1 + z + ½z², z = Δt (G − G²), G = (2 − 2 cos θ)/Δx²
  const g = (2 - 2 * Math.cos(theta)) / 0.25, z = timeStep * (g - g * g);
  const factor = (1 + z + z * z / 2) ** 200;
  for (const result of results) {
    assert(
      result.every((value, i) => Math.abs(value / amplitude - factor * Math.cos(theta * i)) < 1e-6),
      "not the linear growth",
    );
  }
});

Deno.test("time steps beyond stability and unknown forms are refused, naming the limit", () => {
  assertThrows(() => heat1d({ fourier: 0.51 }), RangeError, `at most ${FOURIER_LIMIT_1D}`);
  assertThrows(() => heat1d({ fourier: 0 }), RangeError, "current value is 0");
  assertThrows(() => ks(4), RangeError, "points must be 5, 3: current value is 4");
  assertThrows(() => ks(5, { timeStep: 0.0084 }), RangeError, ksTimeStepLimit().toFixed(6));
});

Deno.test("rows of the equations: sub-steps, reach, pad, edge, rows kept", () => {
  assertEquals(lineShape(heat1d().update), { substeps: 1, reach: 1, pad: 1, edge: 2, rows: 2 });
  assertEquals(lineShape(ks(5).update), { substeps: 2, reach: 2, pad: 2, edge: 4, rows: 2 });
  // "four values per tier": the paper's Fig. 3b
  assertEquals(lineShape(ks(3).update), { substeps: 4, reach: 1, pad: 1, edge: 4, rows: 4 });
});

Deno.test("each traversal refuses the dimensions it cannot sweep, as data", () => {
  const cube: Problem = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 4 };
  for (const name of ["classic", "swept", "swept-register"]) {
    assertEquals(refusalOf(traversalNamed(name), cube), {
      kind: "dimensions",
      message: "the grid is 8x8x8: it sweeps one dimension, 1x1xN",
    }, name);
    assertEquals(refusalOf(traversalNamed(name), lineOf(heat1d(), 2048)), undefined, name);
    assertStringIncludes(
      refusalOf(traversalNamed(name), { ...lineOf(heat1d(), 64), boundary: "zero" })!.message,
      "insulated",
    );
  }
  assert(refusalOf(traversalNamed("diamond-torre"), lineOf(ks(5), 2048)) !== undefined);
  // fused sub-steps hold zeros beyond the grid, not its mirror image
  assertStringIncludes(
    refusalOf(traversalNamed("marching"), { ...lineOf(ks(5), 2048), boundary: "insulated" })!.message,
    "insulated",
  );
  assertStringIncludes(
    refusalOf({ capabilities: SWEEP }, {
      ...lineOf(wave(2), 64),
      stencil: heat1d(),
      boundary: "zero",
    })!.message,
    "ends of a line must be",
  );
});

Deno.test("a number of points that no node fits is answered with the nearest", () => {
  assertEquals(refusePoints(2048, 512), undefined);
  assertEquals(
    refusePoints(2049, 512)?.message,
    "2049 points do not divide into nodes of 512: the nearest lengths are 2048 and 2560",
  );
  assertEquals(
    refusePoints(100, 512)?.message,
    "100 points do not divide into nodes of 512: the nearest length is 512",
  );
  const { infeasible } = traversalNamed("swept-register");
  const why = (parameters: Parameters) =>
    infeasible(lineOf(heat1d(), 2048), parameters, H100_LIMITS)?.message;
  assertEquals(why({ threads: 64, points: 8, steps: 256 }), undefined);
  assertEquals(
    why({ threads: 64, points: 8, steps: 512 }),
    "512 steps a dispatch: a node of 512 points can make at most 256",
  );
  assertEquals(
    why({ threads: 64, points: 8, steps: 255 }),
    "255 steps a dispatch: they must be a multiple of 4",
  );
  assertStringIncludes(why({ threads: 64, points: 64, steps: 32 })!, "2048 updates between two barriers");
  assertStringIncludes(
    infeasible(lineOf(heat1d(), 2 ** 14), { threads: 512, points: 16, steps: 4096 }, H100_LIMITS)!.message,
    "bytes of workgroup memory",
  );
});

Deno.test("every feasible configuration's nodes cover the line once", () => {
  let feasible = 0;
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(heat1d(), ks(5), ks(3)),
    (multiple, stencil) => {
      const problem = lineOf(stencil, multiple * 96);
      for (const name of ["swept", "swept-register"]) {
        const traversal = traversalNamed(name);
        for (
          const parameters of [{ threads: 64, points: 8, steps: 32 }, { threads: 96, points: 8, steps: 16 }]
        ) {
          if (traversal.infeasible(problem, parameters, H100_LIMITS) !== undefined) continue;
          const { workgroupsPerDispatch, bytesPerUpdate } = traversal.demand(problem, parameters);
          const { threads, points, steps } = parameters;
          const { pitch, count } = nodesOf(problem, { threads, points, steps });
          assertEquals([count * pitch, workgroupsPerDispatch], [multiple * 96, count]);
          assert(bytesPerUpdate > 0 && bytesPerUpdate < 8);
          feasible++;
        }
      }
    },
  ));
  assert(feasible > 0);
});

Deno.test("more nodes than one dimension of a dispatch takes", () => {
  assertEquals(linearWorkgroups(1, 1), [1, 1, 1]);
  assertEquals(linearWorkgroups(65_535, 1), [65_535, 1, 1]);
  const [x, y] = linearWorkgroups(200_001, 1);
  assert(x <= 65_535 && y <= 65_535 && x * y >= 200_001);
});

/** Ways to sweep both equations, on {@linkcode POINTS} points. */
const WAYS: readonly [name: string, parameters: Parameters][] = [
  ["classic", { threads: 32, points: 2 }],
  ["swept", { threads: 16, points: 2, steps: 4 }],
  ["swept-register", { threads: 4, points: 8, steps: 4 }],
];
const POINTS = 384;

/** Lozenges of this scheme have 32 updates of four kinds: they take long to compile on a software device. */
const isLarge = (name: string, stencil: Stencil): boolean =>
  name === "swept-register" && stencil.variant.points === 3;

for (const [name, parameters] of WAYS) {
  const traversal = traversalNamed(name);
  testOnGpu(`${name}: a rod, but for rounding`, (gpu) => {
    // a whole diamond of heat has more steps, and needs fewer points a thread
    const ofHeat = { classic: parameters, "swept-register": { threads: 8, points: 4, steps: 16 } }[name] ??
      { threads: 16, points: 2, steps: 16 };
    const rod = { stencil: heat1d(), grid: [1, 1, POINTS], boundary: "insulated" } as const;
    return assertWithinBound(gpu, { ...rod, traversal, parameters: ofHeat, runs: [35, 50] });
  });
  for (const stencil of [ks(5), ks(3)]) {
    testOnGpu(
      `${name}: ${stencil.title}, but for rounding, and its sum stays`,
      async (gpu) => {
        const field = { stencil, grid: [1, 1, POINTS], boundary: "periodic" } as const;
        await assertWithinBound(gpu, { ...field, traversal, parameters, runs: [17, 24] });
        await assertKeepsSum(gpu, stencil, [name, parameters]);
      },
      { ignore: isLarge(name, stencil) && !THOROUGH },
    );
  }
}

async function assertKeepsSum(
  gpu: GpuDevice,
  stencil: Stencil,
  [name, parameters]: (typeof WAYS)[number],
): Promise<void> {
  const steps = 200, problem = lineOf(stencil, POINTS);
  const start = initialCells(problem, { kind: "noise", seed: 3 });
  const sum = (cells: FloatArray): number => [...cells.subarray(0, POINTS)].reduce((a, b) => a + b, 0);
  const maxAbs = (cells: FloatArray): number =>
    [...cells].reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  using field = await GpuField.create(gpu, problem, traversalNamed(name).plan(problem, parameters));
  await writeCells(field, start, start);
  await field.run(steps);
  const found = (await readCells(field, 0)).subarray(0, POINTS);
  // each of a step's roundings moves the mean by half a unit at most, and most cancel
  const largest = Math.max(maxAbs(start), maxAbs(found));
  assertLess(Math.abs(sum(found) - sum(start)) / POINTS, steps * largest * 2 ** -24);
  assertGreater(maxAbs(found.map((value, z) => value - start[z]!)), 0.1 * maxAbs(start));
}

testOnGpu("an insulated mode decays exactly as it should, and the trapezoid sum stays", async (gpu) => {
  const steps = 500, fourier = 0.45;
  const exact = rodMode({ points: POINTS, mode: 21, fourier });
  const start = Float32Array.from({ length: POINTS }, (_, z) => 1 + exact.at([0, 0, z], 0));
  const problem = lineOf(heat1d({ fourier }), POINTS);
  const bound = errorBound({ ...problem, steps }, 2);
  const ways: (typeof WAYS)[number][] = [
    ["classic", { threads: 32, points: 2 }],
    ["swept-register", { threads: 8, points: 4, steps: 16 }],
  ];
  for (const [name, parameters] of ways) {
    using field = await GpuField.create(gpu, problem, traversalNamed(name).plan(problem, parameters));
    await writeCells(field, start, start);
    await field.run(steps);
    const found = await readCells(field, 0);
    const error = [...found].reduce(
      (most, value, z) => Math.max(most, Math.abs(value - 1 - exact.at([0, 0, z], steps))),
      0,
    );
    assertLess(error, bound + 2 ** -24, name);
    assertLess(Math.abs(trapezoid(found) - trapezoid(start)) / POINTS, bound, name);
  }
});

/** Longer than the oracle can do in time, so the traversals are compared with each other. */
testOnGpu(
  "more nodes than one dimension of a dispatch takes: swept equals classic bit for bit",
  async (gpu) => {
    const points = 2 ** 20, steps = 6;
    const problem: Problem = { ...lineOf(bitHeat, points), steps };
    const run = async (name: string, parameters: Parameters): Promise<GpuField> => {
      const field = await GpuField.create(gpu, problem, traversalNamed(name).plan(problem, parameters));
      await field.initialise({ kind: "binary", seed: 5 });
      await field.run(steps);
      return field;
    };
    const small = { threads: 4, points: 2, steps: 4 };
    assertGreater(nodesOf(problem, small).count, 65_535);
    using expected = await run("classic", { threads: 256, points: 4 });
    for (const [name, parameters] of [["swept", small], ["classic", { threads: 8, points: 1 }]] as const) {
      using found = await run(name, parameters);
      const { maxError, maxValue, notFinite, cells } = await found.compare(expected, { levels: [0] });
      assertEquals([maxError, maxValue, notFinite, cells], [0, 1, 0, points], name);
    }
  },
);
