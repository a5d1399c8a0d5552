import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import type { EdgeWidths } from "../../kernels/stencils/edges.ts";
import { maxwell, maxwellLimit } from "../../kernels/stencils/maxwell.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { stepReach } from "../../kernels/update.ts";
import {
  inMarches,
  inSteps,
  inTorres,
  type Special,
  testRows,
  type TorreValues,
  type Way,
} from "./oracle_case.ts";
import { wholeNumberMaxwell } from "./whole_numbers.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { verificationOf } from "../../tuner/devices/reference.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";

/** All that may be a material is an array, and there are edges. */
const FULL = { permittivity: [1, 4], permeability: [1, 2], conductivity: [0, 10], edges: 2 } as const;

/** Memories along two axes. */
const PML = { edges: [2, 0, 1], absorber: "pml" } as const;

/** Ways to run, each with the grid and the ends of one case. */
const WAYS: readonly (readonly [Grid, Way, Special?])[] = [
  [[7, 5, 11], inSteps([8, 2, 1])],
  [[6, 5, 7], inMarches([1, 6, 5, 2, 0, 0]), { boundary: ["periodic", "zero", "periodic"] }],
  [[9, 7, 11], inMarches([2, 4, 5, 2, 0, 1])],
  [[6, 11, 29], inMarches([4, 3, 5, 4, 1, 0]), { boundary: "periodic" }],
];

for (const [grid, way, special] of WAYS) {
  for (const options of [{}, FULL, PML]) {
    // real weights change no index: one shape of each traversal runs them
    const isSlow = Number(way.parameters.zPerThread ?? 1) > 1;
    testRows([
      [wholeNumberMaxwell(options), grid, way, [1, 1], special],
      [maxwell(options), grid, way, [4, 3], { ...special, isReal: true, isSlow }],
    ]);
  }
}

for (const [mode, options] of [["tm", FULL], ["te", { ...PML, edges: [2, 3] }]] as const) {
  const planar = wholeNumberMaxwell({ ...options, mode });
  testRows([
    [planar, [7, 11], inSteps([8, 1, 2]), [1, 1]],
    [planar, [11, 29], inMarches([2, 8, 1, 2, 0, 0]), [1, 1], { boundary: ["periodic", "zero"] }],
  ]);
}

// passes of two steps, also with materials and edges
for (const mode of ["tm", "te"] as const) {
  const deep = inMarches([2, 16, 1, 3, 0, 1, 2]);
  testRows([
    [wholeNumberMaxwell({ mode }), [19, 37], deep, [3]],
    [maxwell({ ...FULL, mode }), [19, 37], deep, [5, 4], { isReal: true }],
  ]);
}

/** Layers that overlap, of one cell, of whole vectors, in sections; and the ends of each. */
const LAYERED: readonly (readonly [edges: EdgeWidths, Grid, Way, Special?])[] = [
  [4, [5, 6, 7], inSteps([4, 2, 2])],
  [[0, 1, 5], [6, 5, 9], inMarches([1, 6, 5, 2, 0, 0]), { boundary: ["zero", "periodic", "zero"] }],
  [[3, 2, 4], [13, 7, 16], inMarches([2, 8, 5, 3, 0, 1]), { sections: 2 }],
  // workgroups that lie wholly between the layers
  ...(THOROUGH ? [1, 2] : [2]).map((sections) =>
    [[2, 3, 4], [23, 17, 26], inMarches([2, 5 - sections, 5, 4 * sections, 0, 0]), { sections }] as const
  ),
  [1, [11, 5, 7], inSteps([8, 2, 1]), { boundary: "periodic", sections: 3 }],
];

for (const [edges, grid, way, special] of LAYERED) {
  testRows([[wholeNumberMaxwell({ edges, absorber: "pml" }), grid, way, [1, 1], special]]);
}

/** Torres whose tiles lie in all layers, in those along z alone, in none, across the ends, in sections. */
const LAYERED_TORRES: readonly (readonly [edges: EdgeWidths, Grid, TorreValues, Special?])[] = [
  [[3, 2, 4], [19, 13, 12], [1, 4, 1, 1, 12, 4, 1, 99, 0]],
  // a software device compiles this one for fifteen seconds, and of layers along one axis alone for three
  [[3, 2, 4], [19, 13, 12], [2, 4, 1, 2, 6, 4, 1, 99, 0], { isSlow: true }],
  [[0, 2, 0], [9, 13, 5], [2, 4, 1, 1, 5, 4, 1, 99, 0]],
  [[2, 0, 1], [17, 11, 7], [1, 4, 1, 1, 7, 4, 1, 100, 1], { sections: 2 }],
  [[0, 3, 0], [9, 14, 5], [1, 4, 1, 1, 32, 2, 1, 99, 0]],
  [[3, 0, 4], [5, 6, 12], [1, 6, 1, 2, 6, 4, 1, 0, 0]],
  [[3, 0, 4], [5, 6, 12], [1, 6, 1, 4, 3, 4, 1, 0, 0], { isSlow: true }],
];

for (const [i, [edges, grid, values, special]] of LAYERED_TORRES.entries()) {
  const absorber = "pml", way = inTorres(values);
  testRows([
    [wholeNumberMaxwell({ edges, absorber }), grid, way, [1, 1], special],
    // one of them in every run
    [maxwell({ edges, absorber }), grid, way, [7, 4], { ...special, isReal: true, isSlow: i !== 4 }],
  ]);
}

testOnGpu(
  "fields in layers equal whole ones, are carried over to others, and count as many bytes as they have cells",
  async (gpu) => {
    const stencil = maxwell({ edges: [2, 3, 1], absorber: "pml" }),
      parameters = { threadsZ: 8, threadsY: 2, threadsX: 1 };
    const problem: Problem = { stencil, grid: [9, 5, 7], boundary: "zero", steps: 5 },
      whole = { ...problem, isPart: true };
    const make = async (its: Problem, seed: number, plan = stepwise.plan(its, parameters)) => {
      const field = await GpuField.create(gpu, its, plan);
      await field.initialise({ kind: "noise", seed });
      await field.run(5);
      return field;
    };
    const verified = async (one: GpuField, reference: GpuField) => {
      const comparison = await one.compare(reference, { levels: [0] });
      return verificationOf(comparison, { problem, against: "another" }).maxError;
    };
    using layered = await make(problem, 3);
    using full = await make(whole, 3);
    using other = await make(problem, 4);
    assertEquals([await verified(layered, full), await verified(full, layered)], [0, 0]);
    assert(await verified(other, layered) > 0.1);
    await other.copyFrom(layered);
    for (const field of [layered, other, full]) await field.run(3);
    assertEquals([await verified(other, full), await verified(layered, full)], [0, 0]);
    // a torre goes on from an odd step, and is gone on from
    using torre = await make(
      problem,
      5,
      diamondTorre.plan(problem, inTorres([1, 4, 1, 1, 7, 4, 1, 99, 0]).parameters),
    );
    await torre.copyFrom(layered);
    for (const field of [torre, layered]) await field.run(5);
    assert(await verified(torre, layered) < 1e-6);
    await other.copyFrom(torre);
    for (const field of [other, layered]) await field.run(4);
    assert(await verified(other, layered) < 1e-6);
    await assertRejects(() => full.copyFrom(layered), RunFailure, "carried over only to where it does");
    const bytes = (its: Problem) => stepwise.demand(its, parameters).bytesPerUpdate;
    // of 4 fields along each axis one value is read and one is written in each layer
    assertAlmostEquals(
      bytes(problem) - bytes({ ...problem, stencil: maxwell() }),
      8 * 4 * (4 / 9 + 1 + 2 / 7),
      1e-9,
    );
  },
);

Deno.test("torres that layers do not fit are refused; those of a window hold whole fields", () => {
  const stencil = maxwell({ edges: [3, 2, 3], absorber: "pml" });
  const problem: Problem = { stencil, grid: [19, 13, 12], boundary: "zero", steps: 8 };
  const small: Problem = { ...problem, grid: [8, 13, 12] };
  const torres = inTorres([2, 4, 1, 2, 6, 4, 1, 99, 0]).parameters;
  const whyNot = (its: Problem, others: Readonly<Record<string, number>>) =>
    diamondTorre.infeasible(its, { ...torres, ...others }, H100_LIMITS)?.message ?? "";
  assertEquals(whyNot(problem, { zPerThread: 1, threads: 12 }), "");
  assertStringIncludes(whyNot(problem, {}), "zPerThread 2: a multiple is wanted of 3 cells in layers");
  assertStringIncludes(whyNot(problem, { unroll: 2 }), "unroll 2: fields in layers");
  const narrow = whyNot(small, { zPerThread: 1, threads: 12 });
  assertStringIncludes(narrow, "tiles of 4 cells touch layers at both ends, which are 2 apart");
  const planes = (limits?: { windowBytes: number }) =>
    diamondTorre.plan(problem, torres, { ...H100_LIMITS, ...limits }).storage.layout.planes;
  assertEquals([planes(), planes({ windowBytes: 1e9 })], [7, 19]);
});

Deno.test("layers that make no sense are refused in one line", () => {
  const definition = definitionOf(maxwell({ edges: 2, absorber: "pml" })), { layers = [] } = definition;
  const refusals: [unknown, string][] = [
    [[{ axis: 3, cells: 2 }], "layers: for some of the fields an axis and a number of cells are wanted"],
    [[{ axis: 0, cells: 0 }], "layers: for some of the fields"],
    [Array.from({ length: 18 }, () => layers[0]), "layers: for some of the fields"],
    [
      Array.from({ length: 13 }, () => layers[0]),
      "of a field in layers only the cell itself, now, is wanted",
    ],
  ];
  for (const [wrong, message] of refusals) {
    assertThrows(() => stencilOf({ ...definition, layers: wrong }), RangeError, message);
  }
  assertEquals(stencilOf(JSON.parse(JSON.stringify(definition))).update.layers, layers);
});

Deno.test("a range makes a material, a number a constant, and the time step follows from the fastest light", () => {
  assertEquals(maxwell(FULL).update.materials.map(({ name }) => name), [
    "permittivity",
    "permeability",
    "conductivity",
  ]);
  assertEquals(maxwell({ permittivity: 2 }).update.materials, []);
  const { x, y, z } = stepReach(maxwell().update);
  assertEquals([x, y, z], [2, 2, 2]);
  assertEquals(maxwellLimit({ permittivity: [2, 8], permeability: 1.5 }), 1);
  assertThrows(
    () => maxwell({ permittivity: [2, 8], permeability: 1.5, courant: 1.01 }),
    RangeError,
    "the Courant number cΔt/h must be above 0 and at most 1.00000, the stability limit: current value is 1.01",
  );
});

Deno.test("a definition makes the same equation again", () => {
  const stencil = maxwell(FULL);
  const read = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
  assertEquals(hashOf(read.update), hashOf(stencil.update));
});

Deno.test("a medium that makes no sense is refused in one line", () => {
  const refusals: [Parameters<typeof maxwell>[0], string][] = [
    [
      { permittivity: 0 },
      "permittivity must be a number above 0, or the lowest and the highest: current value is 0",
    ],
    [
      { permeability: [2, 1] },
      "permeability must be a number above 0, or the lowest and the highest: current value is 2,1",
    ],
    [
      { conductivity: -1 },
      "conductivity must be a number from 0 up, or the lowest and the highest: current value is -1",
    ],
    [{ conductivity: [-1, 1] }, "current value is -1,1"],
    [{ permittivity: NaN }, "permittivity must be"],
    [{ mode: "tem" as "te" }, "mode must be te or tm: current value is tem"],
    [
      { mode: "te", edges: [1, 2, 3] },
      "edges must be whole numbers of cells, one or two: current value is 1,2,3",
    ],
    [{ mode: "te", courant: 1.5 }, "at most 0.707107, the stability limit"],
    [{ absorber: "wall" as "pml" }, "absorber must be matched or pml: current value is wall"],
    [{ spacing: 0 }, "spacing must be above 0: current value is 0"],
  ];
  for (const [options, message] of refusals) assertThrows(() => maxwell(options), RangeError, message);
});
