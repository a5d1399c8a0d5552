import {
  assertEquals,
  assertGreater,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import type { OwnGrid, Stencil } from "../../kernels/stencils/stencil.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { add } from "../../kernels/operations.ts";
import { hashOf } from "../../kernels/definition.ts";
import { importForeignSpace } from "../../tuner/interchange/foreign_import.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { problemDistance } from "../../tuner/profile/profile_index.ts";
import { describeProblem, familyKey, problemKey, problemOf } from "../../tuner/profile/profile_problem.ts";
import { parseProfile, type ProfileEntry } from "../../tuner/profile/schema.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

const PLANE = { dimensions: 2 } as const;
const on = (stencil: Stencil, grid: OwnGrid, boundary: "zero" | readonly ["zero", "periodic"] = "zero") =>
  plannedProblem({ stencil, grid, boundary, steps: 96 });

Deno.test("a problem of two dimensions is stored with two numbers, and comes back as plans have it", () => {
  for (
    const { dimensions = [3], create, variant, modes } of EQUATIONS.filter((one) =>
      one.dimensions?.includes(2)
    )
  ) {
    const stencil = create(variant?.planar ?? variant?.default, undefined, 2);
    for (const boundary of ["zero", ["zero", "periodic"]] as const) {
      const problem = on(stencil, [300, 260], boundary), stored = describeProblem(problem);
      assertEquals([stored.grid, stored.boundary], [[300, 260], boundary]);
      // no variant says which mode
      assertEquals(stored.definition === undefined, modes === undefined);
      const back = problemOf(JSON.parse(JSON.stringify(stored)))!;
      assertEquals([back.grid, back.boundary], [problem.grid, problem.boundary]);
      assertEquals([hashOf(back.stencil.update), back.stencil.dimensions], [hashOf(stencil.update), 2]);
      assertEquals(describeProblem(back), stored);
    }
    // the same name in three dimensions is another equation
    assertEquals(dimensions[0], 3);
    const space = describeProblem(on(create(variant?.default), [300, 1, 260]));
    assertEquals(space.definition, undefined);
    assertNotEquals(familyKey(space), familyKey(describeProblem(on(stencil, [300, 260]))));
  }
  const courant = describeProblem(on(wave(2, { ...PLANE, courant: 0.5 }), [30, 20]));
  assertEquals(problemOf(courant)?.stencil.dimensions, 2);
  const named = { stencil: "heat-1d", grid: [30, 20], boundary: "zero", precision: "f32", steps: 1 } as const;
  assertEquals(problemOf(named), undefined);
});

Deno.test("an equation that is written alike for a plane and for space has two families and keys", () => {
  const make = (dimensions: 2 | 3) =>
    equation({
      name: "alike",
      dimensions,
      fields: { u: [0, 1] },
      step: ({ u }) => ({ u: add(u.at(1), u.at(-1)) }),
    });
  const [plane, space] = [on(make(2), [30, 20]), on(make(3), [30, 1, 20])].map(describeProblem);
  assertEquals(plane!.hash, space!.hash);
  assertNotEquals(familyKey(plane!), familyKey(space!));
  assertNotEquals(problemKey(plane!), problemKey(space!));
});

/** A profile with one entry for a problem. */
function profileOf(problem: ReturnType<typeof on>, threadsZ: number) {
  const configuration = {
    traversal: "stepwise",
    parameters: { threadsZ, threadsY: 1, threadsX: 1 },
    share: { cpuSlices: 0, gpuSlices: problem.grid[0], exchangeEvery: 96, cpuWorkers: 0 },
  };
  const { costModel: _, calibration: __, ...rest } = ENTRY;
  const entry: ProfileEntry = {
    ...rest,
    problem: describeProblem(problem),
    configuration,
    tieSet: [],
    bestOfEach: [],
    balance: [],
  };
  return parseProfile(JSON.stringify({ ...PROFILE, entries: [entry] }), "p.json");
}

Deno.test("a profile of two dimensions serves two, whatever the size, and not three; and the reverse", () => {
  const { limits, vendor, architecture, device, description } = PROFILE.device.gpu!;
  const gpu = { limits, adapterInfo: { vendor, architecture, device, description } };
  const chosen = (profile: ReturnType<typeof profileOf>, stencil: Stencil, grid: OwnGrid) =>
    chooseConfiguration(profile, { stencil, grid, boundary: "zero", steps: 96 }, gpu, {
      cpuWorkers: 0,
      shipped: () => false,
    });
  const plane = profileOf(on(heat(1, PLANE), [100, 90]), 64),
    space = profileOf(on(heat(1), [100, 1, 90]), 64);
  const exact = chosen(plane, heat(1, PLANE), [100, 90]);
  assertEquals([exact.match, exact.configuration.parameters.threadsZ], ["exact", 64]);
  const other = chosen(plane, heat(1, PLANE), [512, 1024]);
  assertEquals(other.match, "same-device");
  assertStringIncludes(other.message, "the nearest: 100x90");
  assertEquals(chosen(plane, heat(1), [100, 1, 90]).match, "default");
  assertEquals(chosen(space, heat(1, PLANE), [100, 90]).match, "default");
  assertEquals(chosen(space, heat(1), [100, 1, 90]).match, "exact");
});

Deno.test("a plane that is twice as long along both axes has no other shape", () => {
  const [small, large, long] = ([[100, 90], [200, 180], [400, 90]] as const).map((grid) =>
    describeProblem(on(heat(1, PLANE), grid))
  );
  assertEquals(problemDistance(small!, large!), 2);
  assertGreater(problemDistance(small!, long!), 2.5);
});

Deno.test("a profile whose grid does not suit its definition is refused", () => {
  const plane = describeProblem(on(heat(1, { ...PLANE, fourier: 0.1 }), [100, 90]));
  const { costModel: _, calibration: __, ...rest } = ENTRY;
  const entry = { ...rest, problem: { ...plane, grid: [100, 1, 90] } };
  const read = () => parseProfile(JSON.stringify({ ...PROFILE, entries: [entry] }), "p.json");
  assertThrows(read, Error, "problem.grid: wanted two numbers in two dimensions, else three");
});

Deno.test("another tool's problem of two numbers is a plane", () => {
  const space = {
    kernel: "blur",
    device: "X",
    problemSize: [64, 48],
    objectives: ["time"],
    parameters: [{ name: "block", values: [8] }],
    records: [{
      values: [8],
      timestamp: "2026-11-21T10:00:00Z",
      failure: null,
      timeMs: 1,
      timesMs: [1],
      overheadMs: {},
      measurements: [],
      correctness: 1,
    }],
    facet: null,
    other: { cacheHeader: {}, t4Metadata: {} },
  } as unknown as Parameters<typeof importForeignSpace>[0];
  const options = {
    source: "x.json",
    run: "r",
    tool: { name: "facet", version: "0.1.0" },
    now: "2026-11-21T10:00:00Z",
  };
  const { profile } = importForeignSpace(space, options);
  const [{ problem, result }] = profile.entries as [ProfileEntry];
  assertEquals([problem.grid, result.cellsPerSecond], [[64, 48], 64 * 48 * 1000]);
  assertEquals(parseProfile(JSON.stringify(profile), "p").entries[0]!.problem.grid, [64, 48]);
});
