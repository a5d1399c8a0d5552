import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { describeProblem, problemOf } from "../../tuner/profile/profile_problem.ts";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { inPrecision } from "../../kernels/planned_problem.ts";
import { whyInvalid, whyNotHere } from "../../tuner/qualify/check_entry.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { entryOf } from "./sample_entries.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

const TORRE = { ...SMALL_TORRE, dts: 2, zPerThread: 2, threads: 5, chunk: 8, unroll: 1 };
const LIMITS = DEVICE.gpu!.limits;

/** The verdict on a torre with changes. */
function torre(
  parameters: Readonly<Record<string, number | undefined>> = {},
  share: Parameters<typeof entryOf>[0] = {},
): string | undefined {
  const given = Object.entries({ ...TORRE, ...parameters }).filter(([, value]) => value !== undefined);
  const entry = entryOf({
    traversal: "diamond-torre",
    parameters: Object.fromEntries(given as [string, number][]),
    ...share,
  });
  return whyInvalid(problemOf(entry.problem)!, entry.configuration, DEVICE);
}

Deno.test("what tune recorded is valid, and cannot run where it does not fit or there is no GPU", async () => {
  for (const name of ["wave", "heat"]) {
    const profile = parseProfile(await Deno.readTextFile(`fixtures/h100/${name}.json`), name);
    for (const { problem: named, configuration } of profile.entries) {
      const problem = problemOf(named)!;
      assertEquals(whyInvalid(problem, configuration, profile.device), undefined);
      const gpu = profile.device.gpu!, { limits } = gpu;
      assertEquals(whyNotHere(problem, configuration, gpu), undefined);
      const small = { ...limits, maxStorageBufferBindingSize: 2 ** 27 };
      const reason = whyNotHere(problem, configuration, { ...gpu, limits: small });
      // a dispatch of torres touches many slices; what marches finds its own in sections
      if (configuration.traversal === "marching") assertEquals(reason, undefined);
      else assertMatch(reason!, /^this GPU cannot: .* maxStorageBufferBindingSize is 134217728$/);
      const narrow = { ...gpu, limits: { ...limits, maxComputeInvocationsPerWorkgroup: 32 } };
      assertMatch(whyNotHere(problem, configuration, narrow)!, /^this GPU cannot: .*threads in a workgroup/);
      assertEquals(whyNotHere(problem, configuration, null), "there is no WebGPU adapter here");
      const precise = { ...problem, stencil: inPrecision(problem.stencil, "f64") };
      const lacking = "this GPU cannot: f64 needs wgpu-shader-f64 and wgpu-shader-int64: found neither";
      assertEquals(whyNotHere(precise, configuration, gpu), lacking);
    }
  }
});

Deno.test("a configuration that no device could have run is named with its fault", () => {
  assertEquals(torre(), undefined);
  assertMatch(torre({ threads: 33 })!, /33 threads are more/);
  assertMatch(torre({ dts: 10 ** 9 })!, /^dts must be a whole number from 1 to \d+: found 1000000000$/);
  assertMatch(torre({ dts: 2.5 })!, /dts must be a whole number/);
  for (const name of ["dts", "nt", "bands", "zPerThread", "threads", "chunk", "unroll"]) {
    assertMatch(torre({ [name]: 0 })!, new RegExp(`^${name} must be`));
  }
  assertMatch(torre({ frob: 1 })!, /^wanted no parameters but dts, nt, .*: found frob$/);
  assertMatch(torre({ chunk: undefined })!, /no value of chunk, and diamond-torre has no default$/);
  assert(torre({ nt: undefined, loads: undefined }) !== undefined);
  assertMatch(torre({}, { traversal: "zigzag" })!, /^wanted one of stepwise, .*: found traversal "zigzag"$/);
  assertMatch(torre({}, { problem: { boundary: "periodic" } })!, /periodic/);
  // of the recorded device's limits
  const wide = entryOf({ parameters: { threadsZ: 64, threadsY: 4, threadsX: 8 } });
  assertMatch(
    whyInvalid(problemOf(wide.problem)!, wide.configuration, DEVICE)!,
    /2048 threads in a workgroup/,
  );
  assertMatch(whyInvalid(problemOf(wide.problem)!, wide.configuration, { gpu: null })!, /has none/);
  // a parameter that needs what a device grants is known on those that do not
  const plane = {
    stencil: heat(1, { dimensions: 2 }),
    grid: [64, 1, 64],
    boundary: "zero",
    steps: 8,
  } as const;
  const deep = { zPerThread: 4, threadsZ: 32, threadsY: 1, pieces: 2, tile: 0, ahead: 1, depth: 4 };
  const march = (exchange: number) =>
    entryOf({
      problem: describeProblem(plane),
      traversal: "marching",
      parameters: { ...deep, exchange },
      share: { gpuSlices: 64 },
    }).configuration;
  assertEquals(whyNotHere(plane, march(0), DEVICE.gpu), undefined);
  assertEquals(
    whyNotHere(plane, march(1), DEVICE.gpu),
    "this GPU cannot: shuffles need subgroups, all of one size: this device grants none",
  );
  assertMatch(whyNotHere(plane, march(2), DEVICE.gpu)!, /exchange must be one of 0, 1: found 2$/);
});

Deno.test("shares that cannot be are refused", () => {
  const shared = (share: object): string | undefined => torre({}, { share });
  assertEquals(shared({ cpuSlices: 10, gpuSlices: 90, exchangeEvery: 4, cpuWorkers: 2 }), undefined);
  assertMatch(shared({ cpuSlices: 10, gpuSlices: 91, cpuWorkers: 2 })!, /do not make up 100/);
  assertMatch(
    shared({ cpuSlices: 10, gpuSlices: 90, exchangeEvery: 11, cpuWorkers: 2 })!,
    /thinner than the ghost zone of 11/,
  );
  assertMatch(shared({ cpuSlices: 10, gpuSlices: 90, cpuWorkers: 0 })!, /without a worker/);
  assertMatch(shared({ cpuSlices: 100, gpuSlices: 0, cpuWorkers: 20000 })!, /20000 CPU workers/);
  const onCpu = (traversal: string, parameters: object): string | undefined =>
    shared({
      cpuSlices: 10,
      gpuSlices: 90,
      exchangeEvery: 4,
      cpuWorkers: 2,
      cpu: { traversal, parameters },
    });
  assertEquals(onCpu("diamond-wavefront", { tiles: 2, levels: 3, block: 2 }), undefined);
  assertMatch(onCpu("diamond-wavefront", { tiles: 2, levels: 99, block: 2 })!, /^99 levels narrow/);
  assertMatch(onCpu("diamond-wavefront", { tiles: 1e9, levels: 1, block: 2 })!, /^1000000000 tiles along y/);
  assertEquals(onCpu("zigzag", {}), "the CPU has no traversal zigzag");
  assertEquals(onCpu("stepwise", { x: 1 }), "wanted no parameters but strip, fused: found x");
});

Deno.test("a device known by its name alone has no limits to hold against its profile", () => {
  const zeros = Object.fromEntries(Object.keys(LIMITS).map((name) => [name, 0])) as unknown as typeof LIMITS;
  const { problem, configuration } = entryOf();
  const named = { gpu: { ...DEVICE.gpu!, limits: zeros } };
  assertEquals(whyInvalid(problemOf(problem)!, configuration, named), undefined);
});

Deno.test("whatever the parameters, the check ends and says something or nothing", () => {
  const value = fc.oneof(fc.integer({ min: -2, max: 130 }), fc.double(), fc.constant(undefined));
  const model = Object.fromEntries(
    [...Object.keys(TORRE), "threadsZ", "threadsY", "threadsX", "pieces", "tile", "ahead"].map((name) => [
      name,
      value,
    ]),
  );
  const names = fc.constantFrom("stepwise", "marching", "diamond-torre", "__proto__");
  fc.assert(
    fc.property(names, fc.record(model, { requiredKeys: [] }), fc.boolean(), (traversal, changes, keep) => {
      const usual: Record<string, Configuration["parameters"]> = {
        stepwise: { threadsZ: 64, threadsY: 4, threadsX: 1 },
        marching: { zPerThread: 1, threadsZ: 16, threadsY: 4, pieces: 2, tile: 0, ahead: 0 },
        "diamond-torre": TORRE,
      };
      const of = (Object.hasOwn(usual, traversal) ? usual[traversal] : undefined) ?? {};
      const mine = keep ? Object.entries(changes).filter(([name]) => name in of) : Object.entries(changes);
      const parameters = Object.fromEntries(
        Object.entries({ ...of, ...Object.fromEntries(mine) }).filter(([, one]) => one !== undefined),
      ) as Configuration["parameters"];
      const { problem, configuration } = entryOf({ traversal, parameters });
      const reason = whyInvalid(problemOf(problem) as Problem, configuration, DEVICE);
      assert(reason === undefined || (reason.length > 0 && !reason.includes("\n")));
    }),
    { numRuns: 300 },
  );
});
