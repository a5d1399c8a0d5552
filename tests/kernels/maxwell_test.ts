import { assertEquals, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { maxwell, maxwellLimit } from "../../kernels/stencils/maxwell.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { stepReach } from "../../kernels/update.ts";
import {
  assertExact,
  assertWithinBound,
  describeCase,
  type OracleCase,
  wholeNumberMaxwell,
} from "./oracle_case.ts";
import { testOnGpu } from "../test_on_gpu.ts";

const march = { zPerThread: 1, threadsZ: 6, threadsY: 5, pieces: 2, tile: 0, ahead: 0 };

/** All that may be a material is an array, and there are edges. */
const FULL = { permittivity: [1, 4], permeability: [1, 2], conductivity: [0, 10], edges: 2 } as const;

/** Memories along two axes. */
const PML = { edges: [2, 0, 1], absorber: "pml" } as const;

/** Ways to run, each with the ends and the medium of one case. */
const WAYS: readonly Omit<OracleCase, "stencil" | "runs">[] = [
  { traversal: stepwise, grid: [7, 5, 11], parameters: { threadsZ: 8, threadsY: 2, threadsX: 1 } },
  { traversal: marching, grid: [6, 5, 7], boundary: ["periodic", "zero", "periodic"], parameters: march },
  { traversal: marching, grid: [9, 7, 11], parameters: { ...march, zPerThread: 2, threadsZ: 4, ahead: 1 } },
  {
    traversal: marching,
    grid: [6, 11, 29],
    boundary: "periodic",
    parameters: { ...march, zPerThread: 4, threadsZ: 3, pieces: 4, tile: 1 },
  },
];

for (const way of WAYS) {
  for (const options of [{}, FULL, PML]) {
    const exact: OracleCase = { ...way, stencil: wholeNumberMaxwell(options), runs: [1, 1] };
    const real: OracleCase = { ...way, stencil: maxwell(options), runs: [4, 3] };
    for (const [cases, check] of [[exact, assertExact], [real, assertWithinBound]] as const) {
      const name = `${cases === exact ? "bit for bit" : "except for rounding"}: ${describeCase(cases)}`;
      testOnGpu(
        `equals the oracle ${name}, edges ${cases.stencil.variant.edges}`,
        (gpu) => check(gpu, cases),
      );
    }
  }
}

const PLANES: typeof WAYS = [
  { traversal: stepwise, grid: [7, 1, 11], parameters: { threadsZ: 8, threadsY: 1, threadsX: 2 } },
  {
    traversal: marching,
    grid: [11, 1, 29],
    boundary: ["periodic", "periodic", "zero"],
    parameters: { ...march, zPerThread: 2, threadsZ: 8, threadsY: 1 },
  },
];

for (const way of PLANES) {
  for (const [mode, options] of [["tm", FULL], ["te", { ...PML, edges: [2, 3] }]] as const) {
    const planar: OracleCase = { ...way, stencil: wholeNumberMaxwell({ ...options, mode }), runs: [1, 1] };
    testOnGpu(
      `equals the oracle bit for bit in two dimensions, ${mode}: ${describeCase(planar)}`,
      (gpu) => assertExact(gpu, planar),
    );
  }
}

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
