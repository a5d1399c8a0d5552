import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import * as fc from "fast-check";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { life } from "../../kernels/stencils/life.ts";
import { type Grid, planned, type Problem, type Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters } from "../../kernels/traversals/traversal.ts";
import { registerPressure } from "../../models/roofline.ts";
import { partOf } from "../../tuner/devices/shared/shares.ts";
import { thinnestPart } from "../../models/rank_part.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { adaptConfiguration, describeChanges } from "../../tuner/profile/adapt.ts";
import { type Choice, chooseConfiguration as chooseWithAll } from "../../tuner/profile/choose.ts";
import type { TargetDevice } from "../../tuner/profile/match_device.ts";
import { problemDistance } from "../../tuner/profile/profile_index.ts";
import type { Profile, ProfileEntry } from "../../tuner/profile/profile_types.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { describeProblem } from "../../tuner/profile/profile_problem.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { bestRate } from "../../tuner/replay/replay_space.ts";
import { THOROUGH } from "../thorough.ts";

/** What a choice learns from the profile alone. */
const chooseConfiguration: typeof chooseWithAll = (profiles, problem, device, options) =>
  chooseWithAll(profiles, problem, device, { shipped: noneShipped, ...options });
const noneShipped = () => false;

const FIXTURES = new URL("../../fixtures/h100/", import.meta.url);
const WAVE = await readProfile(new URL("wave.json", FIXTURES));
const HEAT = await readProfile(new URL("heat.json", FIXTURES));

const H100_LIMITS: DeviceLimits = WAVE.device.gpu!.limits;
/** What WebGPU promises every device. */
const LEAST_LIMITS: DeviceLimits = {
  maxStorageBufferBindingSize: 134217728,
  maxBufferSize: 268435456,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65535,
};

const H100 = { vendor: "4318", architecture: "", device: "9008", description: "NVIDIA H100 80GB HBM3" };

function deviceOf(adapterInfo: TargetDevice["adapterInfo"], limits = H100_LIMITS): TargetDevice {
  return { limits, ...(adapterInfo && { adapterInfo }) };
}

function problemOf(grid: Grid, changed: Partial<Problem> = {}): Problem {
  return { stencil: wave(2), grid, boundary: "zero", steps: 96, ...changed };
}

/** A boundary that torres refuse: the space that a default is chosen from is then small. */
const FEW = { boundary: "periodic" } as const;

/** An entry of a profile, measured with this configuration. */
function entryOf(problem: Problem, configuration: Configuration, cellsPerSecond = 1e9): ProfileEntry {
  const confidence95 = [cellsPerSecond, cellsPerSecond] as const;
  const result = { cellsPerSecond, confidence95, samples: [cellsPerSecond] };
  const { bestOfEach: _, calibration: __, ...entry } = WAVE.entries[0]!;
  return {
    ...entry,
    problem: describeProblem(problem),
    configuration,
    result: { ...result, roofFraction: null, speedupOverStepwise: null },
    tieSet: [{ configuration, cellsPerSecond, confidence95 }],
  };
}

function profileOf(entries: readonly ProfileEntry[], gpu: Partial<Profile["device"]["gpu"]> = {}): Profile {
  const device = { ...WAVE.device, gpu: gpu && { ...WAVE.device.gpu!, ...gpu } };
  return { ...WAVE, device, entries };
}

function gpuAlone([slices]: Grid, traversal: string, parameters: Parameters): Configuration {
  return {
    traversal,
    parameters,
    share: { cpuSlices: 0, gpuSlices: slices, exchangeEvery: 8, cpuWorkers: 0 },
  };
}

const STEPWISE = { threadsZ: 64, threadsY: 4, threadsX: 1 };
const MARCHING = { zPerThread: 1, threadsZ: 32, threadsY: 8, pieces: 4, tile: 1, ahead: 0 };

/** Why a configuration cannot run; undefined where it can. Asked of the traversals, as the solver does. */
function whyNot(
  { traversal: name, parameters, share }: Configuration,
  problem: Problem,
  limits?: DeviceLimits,
) {
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = share;
  if (cpuSlices + gpuSlices !== problem.grid[0]) return "the shares do not add up";
  if ((cpuSlices > 0) !== (cpuWorkers > 0)) return "workers without slices, or slices without workers";
  if (gpuSlices === 0) return undefined;
  if (cpuSlices > 0 && Math.min(cpuSlices, gpuSlices) < thinnestPart(problem, exchangeEvery)) {
    return "a share is thinner than its ghost zone";
  }
  const part = partOf(problem, share, "gpu"), traversal = traversalNamed(name);
  return (refusalOf(traversal, part) ?? traversal.infeasible(part, parameters, limits!))?.message;
}

Deno.test("the profile's own device and problem: its configuration, unchanged", () => {
  for (const { problem: { order, grid, steps }, configuration } of WAVE.entries) {
    const choice = chooseConfiguration(
      WAVE,
      problemOf(planned(wave(2), grid, 1), { stencil: wave(order!), steps }),
      deviceOf(H100),
    );
    assertEquals([choice.match, choice.configuration.parameters], ["exact", configuration.parameters]);
    assertEquals([choice.changes, choice.passedOver], [[], []]);
    assertStringIncludes(choice.message, "measured for this problem on this device");
  }
});

Deno.test("grades: device, architecture, vendor, and nothing in common", () => {
  const problem = problemOf([64, 64, 64], FEW);
  const own = gpuAlone([64, 64, 64], "stepwise", STEPWISE);
  const gpu = { vendor: "nvidia", architecture: "hopper", device: "", description: "" };
  const profile = profileOf([entryOf(problem, own)], { ...gpu, description: "H100" });
  const match = (info: TargetDevice["adapterInfo"]) =>
    chooseConfiguration(profile, problem, deviceOf(info)).match;
  assertEquals(match({ ...gpu, description: "H100" }), "exact");
  assertEquals(match({ ...gpu, description: "H200" }), "same-architecture");
  assertEquals(match(gpu), "same-architecture"); // a browser that gives no names proves no identity
  assertEquals(match({ ...gpu, architecture: "ampere" }), "same-vendor");
  assertEquals(match({ ...gpu, vendor: "4318", architecture: "" }), "same-vendor"); // 0x10de, as wgpu says it
  assertEquals(match({ ...gpu, vendor: "amd" }), "default");
  assertEquals(match({ ...gpu, description: "H100", isFallbackAdapter: true }), "default");
  assertEquals(match({ vendor: "", architecture: "", device: "", description: "" }), "default");
  assertEquals(match(undefined), "default");
});

Deno.test("of several profiles the most alike device counts, whatever its problem", () => {
  const grid: Grid = [64, 64, 64];
  const mine = profileOf([
    entryOf(problemOf([128, 128, 128]), gpuAlone([128, 128, 128], "stepwise", STEPWISE)),
  ]);
  const other = profileOf([entryOf(problemOf(grid), gpuAlone(grid, "stepwise", STEPWISE))], {
    description: "NVIDIA A100",
  });
  const choice = chooseConfiguration([other, mine], problemOf(grid), deviceOf(H100));
  assertEquals([choice.match, choice.entry], ["same-device", mine.entries[0]]);
  assertEquals(chooseConfiguration([other], problemOf(grid), deviceOf(H100)).match, "same-vendor");
});

Deno.test("the nearest problem: stencil and variant, boundary, cells, shape, steps", () => {
  const of = (problem: Problem) => describeProblem(problem);
  const here = of(problemOf([128, 128, 128]));
  const distances = [
    problemOf([128, 128, 128]),
    problemOf([128, 128, 128], { steps: 48 }),
    problemOf([128, 128, 64]),
    problemOf([512, 64, 64]),
    problemOf([256, 256, 256]),
    problemOf([128, 128, 128], { boundary: "periodic" }),
  ].map((problem) => problemDistance(of(problem), here));
  assertEquals(distances[0], 0);
  assertEquals(distances, distances.toSorted((a, b) => a - b));
  const entries = [
    entryOf(
      problemOf([64, 64, 64], { stencil: life("5/2-7"), ...FEW }),
      gpuAlone([64, 64, 64], "stepwise", STEPWISE),
    ),
    entryOf(
      problemOf([64, 64, 64], { stencil: heat(2), ...FEW }),
      gpuAlone([64, 64, 64], "stepwise", STEPWISE),
    ),
  ];
  const match = (stencil: Stencil) =>
    chooseConfiguration(profileOf(entries), problemOf([32, 64, 64], { stencil, ...FEW }), deviceOf(H100))
      .match;
  assertEquals(match(life("5/2-7")), "same-device");
  assertEquals(match(life("4/2-7")), "same-device", "constants apart, the same kernels");
  assertEquals(match(heat(2)), "same-device");
  assertEquals(match(heat(1)), "same-device", "others teach by what they demand");
  assertEquals(match(heat(2, { fourier: 0.01 })), "same-device");
});

Deno.test("only what computes the same is measured for this problem, whatever it is called", () => {
  const grid = [64, 64, 64] as const;
  const match = (stencil: Stencil, stored: Stencil) => {
    const entry = entryOf(problemOf(grid, { stencil: stored, ...FEW }), gpuAlone(grid, "stepwise", STEPWISE));
    return chooseConfiguration(profileOf([entry]), problemOf(grid, { stencil, ...FEW }), deviceOf(H100))
      .match;
  };
  const slow = wave(2, { courant: 0.1 }), { update } = heat(1);
  assertEquals([match(wave(2), wave(2)), match(slow, slow)], ["exact", "exact"]);
  assertEquals([match(slow, wave(2)), match(wave(2), slow)], ["same-device", "same-device"]);
  assertEquals(match({ ...wave(2), update }, wave(2)), "same-device", "another equation of the same name");
  assertEquals(match({ ...wave(2), name: "mine", variant: { mine: 1 } }, wave(2)), "exact", "another name");
});

Deno.test("what depends on the grid is changed, and the choice says so", () => {
  const narrow = chooseConfiguration(WAVE, problemOf([100, 640, 70]), deviceOf(H100));
  assertEquals([narrow.match, narrow.configuration.parameters.threads], ["same-device", 70]);
  assertStringIncludes(narrow.message, "threads 128 → 70");
  const changes = describeChanges({ threads: 128, old: 1 }, { threads: 70, depth: 1 });
  assertEquals(changes, ["threads 128 → 70", "with depth 1", "without old"]);

  // a march of few workgroups is cut into more pieces
  const measured = entryOf(
    problemOf([256, 512, 512]),
    gpuAlone([256, 512, 512], "marching", MARCHING),
    200e9,
  );
  const march = profileOf([{ ...measured, result: { ...measured.result, speedupOverStepwise: 10 } }]);
  const { configuration: { traversal, parameters } } = chooseConfiguration(
    march,
    problemOf([256, 64, 64]),
    deviceOf(H100),
  );
  assert(traversal === "marching" && Number(parameters.pieces) > MARCHING.pieces, JSON.stringify(parameters));
});

/** Grids unlike those that were measured: cubes, odd ones, slabs, long rows, and small ones. */
const OTHER_GRIDS: readonly Grid[] = [
  [512, 512, 512],
  [256, 256, 256],
  [300, 400, 500],
  [128, 2000, 200],
  [900, 900, 100],
  [400, 3000, 128],
  [64, 64, 64],
  [37, 211, 61],
  [50, 50, 2000],
  [1000, 1000, 500],
];

for (
  const [stencil, profile] of [[wave(2), WAVE], [wave(4), WAVE], [wave(8), WAVE], [heat(1), HEAT]] as const
) {
  Deno.test(`another grid, ${stencil.title}: few registers spill, and the choice should be faster than stepwise`, () => {
    const device = { copyBytesPerSecond: profile.device.measured.copyBytesPerSecond! };
    for (const grid of OTHER_GRIDS) {
      const problem = problemOf(grid, { stencil });
      const { configuration: { traversal, parameters }, cellsPerSecond, interval95, message } =
        chooseConfiguration(
          profile,
          problem,
          deviceOf(H100),
        );
      const pressure = registerPressure(traversalNamed(traversal).demand(problem, parameters), device);
      assert(pressure <= 1.05, `${grid.join("x")}: ${message} needs ${pressure} of the registers`);
      const [low, high] = interval95!;
      assert(low < cellsPerSecond! && cellsPerSecond! < high, message);
      assertStringIncludes(message, "95% between");
      assertStringIncludes(message, ", stepwise ");
    }
  });
}

for (
  const [name, stencil, profile] of [["wave_order_2", wave(2), WAVE], ["wave_order_4", wave(4), WAVE], [
    "heat_delta_1",
    heat(1),
    HEAT,
  ]] as const
) {
  Deno.test(`on another grid whose space was recorded the choice is near the best: ${name}`, async () => {
    const { spaces: [space] } = await readReplaySpaces(`fixtures/h100/${name}.jsonl.gz`);
    const { configurations } = space!;
    const problem = problemOf([128, 5280, 128], { stencil });
    const { configuration, match } = chooseConfiguration(profile, problem, deviceOf(H100));
    // not every number of bands, steps and cells of an exchange was recorded, and no load a tier ahead
    const { bands: _, nt: __, loads: ___, rest: ____, chunk: _____, ...others } = configuration.parameters;
    const chosen = configurations.filter(({ traversal, parameters }) =>
      traversal === configuration.traversal &&
      Object.entries(others).every(([one, value]) => parameters[one] === value)
    );
    const best = bestRate(space!);
    assertEquals(match, "same-device");
    const rate = Math.max(...chosen.map(({ rate = 0 }) => rate));
    assert(rate > 0.85 * best, `${rate / 1e9} of ${best / 1e9}: ${JSON.stringify(configuration)}`);
  });
}

Deno.test("the CPU that won on a small grid does not compute a large one where the GPU should be faster", () => {
  const small: Grid = [16, 16, 64], large: Grid = [256, 256, 256];
  const share = { cpuSlices: 16, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 8 };
  const onCpu = { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 2, block: 2 }, share };
  const entry = entryOf(problemOf(small), onCpu, 1.2e9);
  const plain = gpuAlone(small, "stepwise", STEPWISE);
  const best = [...entry.tieSet, { configuration: plain, cellsPerSecond: 1e9, confidence95: null }];
  const choose = (grid: Grid, bestOfEach: ProfileEntry["bestOfEach"]): Choice =>
    chooseConfiguration(profileOf([{ ...entry, bestOfEach }]), problemOf(grid), deviceOf(H100), {
      cpuWorkers: 8,
    });
  assertEquals(choose(small, best).configuration, onCpu);
  const { configuration, match, cellsPerSecond } = choose(large, best);
  assertEquals([configuration.traversal, configuration.share.gpuSlices, match], [
    "stepwise",
    256,
    "same-device",
  ]);
  assert(cellsPerSecond! > 1.2e9 && cellsPerSecond! < 1e12);
  // where the GPU was far slower than that, the CPU goes on, with tiles that suit the grid
  const slow = [entry.tieSet[0]!, { ...best.at(-1)!, cellsPerSecond: 1e6 }];
  const { configuration: { traversal, parameters, share: { gpuSlices } } } = choose(large, slow);
  assertEquals([traversal, gpuSlices], ["diamond-wavefront", 0]);
  assertEquals(cpuTraversalNamed(traversal)!.infeasible(problemOf(large), parameters), undefined);
  assert(Number(parameters.tiles) >= 8);
});

Deno.test("without steps, and for longer runs, what tune measured in runs as long as it makes them is chosen", () => {
  const long = chooseConfiguration(
    WAVE,
    { stencil: wave(2), grid: [512, 512, 512], boundary: "zero" },
    deviceOf(H100),
  );
  const short = chooseConfiguration(WAVE, problemOf([512, 512, 512], { steps: 24 }), deviceOf(H100));
  const depthOf = ({ configuration: { parameters: { nt, bands } } }: Choice) => Number(nt) * Number(bands);
  assert(depthOf(long) >= 192 && depthOf(short) <= 32, `${depthOf(long)}, ${depthOf(short)}`);
  const [entry] = WAVE.entries, { grid, steps } = entry!.problem;
  const asked = { stencil: wave(2), grid, boundary: "zero" } as const;
  assertEquals(steps, 192); // as long as its grid and GPU want: a shorter one would start more bands
  const tuned = chooseConfiguration(WAVE, asked, deviceOf(H100));
  assertEquals([tuned.match, tuned.configuration], ["exact", entry!.configuration]);
  const hasty = profileOf([{ ...entry!, problem: { ...entry!.problem, steps: 16 } }]);
  assertEquals(chooseConfiguration(hasty, asked, deviceOf(H100)).match, "same-device");
  // the same answer is kept, also for longer runs, but not for a shorter one
  for (
    const [steps, match] of [[undefined, "exact"], [200, "exact"], [3072, "exact"], [191, "same-device"]]
  ) {
    const named = { ...asked, ...(steps !== undefined && { steps: Number(steps) }) };
    assertEquals([steps, chooseConfiguration(WAVE, named, deviceOf(H100)).match], [steps, match]);
  }
  // one that ended too early says nothing of longer ones
  assertEquals(chooseConfiguration(hasty, { ...asked, steps: 3072 }, deviceOf(H100)).match, "same-device");
});

Deno.test("smaller limits: other values, another entry, or the default, but nothing that cannot run", () => {
  const problem = problemOf([64, 64, 64]);
  const large = gpuAlone([64, 64, 64], "stepwise", { threadsZ: 64, threadsY: 16, threadsX: 1 });
  const changed = chooseConfiguration(
    profileOf([entryOf(problem, large)]),
    problem,
    deviceOf(H100, LEAST_LIMITS),
  );
  const { match, message, configuration, changes } = changed;
  assertEquals([match, whyNot(configuration, problem, LEAST_LIMITS)], ["same-device", undefined]);
  assert(changes.length > 0);
  assertStringIncludes(message, "predicted from 1 measurement on this device");

  // of a tie set, what runs as it is comes before what must be changed
  const small = gpuAlone([64, 64, 64], "stepwise", STEPWISE);
  const entry = entryOf(problem, large);
  const tie = entry.tieSet[0]!;
  const tied = { ...entry, tieSet: [tie, { ...tie, configuration: small, cellsPerSecond: 0.9e9 }] };
  const second = chooseConfiguration(profileOf([tied]), problem, deviceOf(H100, LEAST_LIMITS));
  assertEquals([second.configuration, second.changes], [small, []]);

  // torres refuse a periodic boundary: all entries are passed over
  const periodic = problemOf([64, 64, 64], { boundary: "periodic" });
  const choice = chooseConfiguration(WAVE, periodic, deviceOf(H100));
  assertEquals([choice.match, whyNot(choice.configuration, periodic, H100_LIMITS)], [
    "same-device",
    undefined,
  ]);
  assertStringIncludes(choice.passedOver[0]!.reason, "torres advance");
  assertStringIncludes(choice.message, "passed over: the boundary is periodic: torres advance");
});

Deno.test("what cannot run is passed over for the next nearest, as often as it takes", () => {
  const periodic = (grid: Grid): Problem => problemOf(grid, { boundary: "periodic" });
  const { parameters } = WAVE.entries[0]!.configuration;
  const torres = [64, 72, 80].map((nx): ProfileEntry => {
    const grid: Grid = [nx, 64, 64];
    return entryOf(periodic(grid), gpuAlone(grid, "diamond-torre", parameters));
  });
  const unknown = entryOf(periodic([88, 64, 64]), gpuAlone([88, 64, 64], "spiral", {}));
  const far = entryOf(periodic([128, 128, 128]), gpuAlone([128, 128, 128], "stepwise", STEPWISE));
  const alone = gpuAlone([96, 64, 64], "stepwise", STEPWISE);
  const window = entryOf(periodic([96, 64, 64]), { ...alone, share: { ...alone.share, deviceMemory: 4096 } });
  const choice = chooseConfiguration(
    profileOf([...torres, unknown, window, far]),
    periodic([64, 64, 64]),
    deviceOf(H100),
  );
  assertEquals([choice.match, choice.entry, choice.passedOver.length], ["same-device", far, 5]);
  assertStringIncludes(choice.passedOver[3]!.reason, "there is no traversal spiral");
  assertStringIncludes(choice.passedOver[4]!.reason, "passes through a window");
  // nor do rates that a window let through tell what the whole grid on the device reaches
  const calibration = [{ traversal: "stepwise", parameters: STEPWISE, cellsPerSecond: 1e6 }];
  const alike = chooseConfiguration(
    profileOf([{ ...window, calibration }]),
    periodic([96, 64, 64]),
    deviceOf(H100),
  );
  assertEquals([alike.match, alike.cellsPerSecond], ["default", undefined]);
});

Deno.test("a share follows the slices; ghost zones that no longer fit end it", () => {
  const { parameters } = WAVE.entries[0]!.configuration;
  const share = { cpuSlices: 20, gpuSlices: 180, exchangeEvery: 8, cpuWorkers: 4 };
  const shared = { traversal: "diamond-torre", parameters, share };
  const measured = problemOf([200, 5280, 128]);
  const profile = profileOf([entryOf(measured, shared)]);
  const choose = (problem: Problem, cpuWorkers: number): Choice =>
    chooseConfiguration(profile, problem, deviceOf(H100), { cpuWorkers });
  assertEquals(choose(measured, 8).configuration.share, share);
  const half = choose(problemOf([100, 5280, 128]), 4);
  assertEquals(half.configuration.share, { cpuSlices: 10, gpuSlices: 90, exchangeEvery: 8, cpuWorkers: 4 });
  const narrow = choose(problemOf([60, 5280, 128]), 4);
  assertEquals(narrow.configuration.share, { cpuSlices: 6, gpuSlices: 54, exchangeEvery: 6, cpuWorkers: 4 });
  assertStringIncludes(narrow.message, "exchange every 8 → 6 steps");
  const alone = { cpuSlices: 0, gpuSlices: 30, exchangeEvery: 96, cpuWorkers: 0 };
  assertEquals(choose(problemOf([30, 5280, 128]), 4).configuration.share, alone);
  const fewer = choose(measured, 2);
  assertEquals(fewer.configuration.share.cpuSlices, 0);
  assertStringIncludes(fewer.message, "4 CPU workers wanted, 2 had");
});

Deno.test("the CPU's slices keep their traversal where the grid allows it, else they are stepwise", () => {
  const { parameters } = WAVE.entries[0]!.configuration;
  const cpu = { traversal: "diamond-wavefront", parameters: { tiles: 4, levels: 16, block: 2 } };
  const share = { cpuSlices: 20, gpuSlices: 180, exchangeEvery: 8, cpuWorkers: 4, cpu };
  const profile = profileOf([
    entryOf(problemOf([200, 528, 128]), { traversal: "diamond-torre", parameters, share }),
  ]);
  const choose = (grid: Grid): Choice =>
    chooseConfiguration(profile, problemOf(grid), deviceOf(H100), { cpuWorkers: 4 });
  assertEquals(choose([200, 528, 128]).configuration.share, share);
  assertEquals(choose([100, 128, 128]).configuration.share.cpu, cpu);
  // half a tile of 127 rows loses 16
  const { configuration, changes } = choose([200, 127, 128]);
  const { cpu: _, ...stepwise } = share;
  assertEquals(configuration.share, stepwise);
  assertStringIncludes(changes.join(), "stepwise on the CPU: 16 levels narrow half a tile by 16 rows");
});

Deno.test("the CPU alone: where it was fastest and there are workers, or where there is no GPU", () => {
  const problem = problemOf([64, 64, 64], FEW);
  const share = { cpuSlices: 64, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 4 };
  const profile = profileOf([entryOf(problem, { traversal: "stepwise", parameters: {}, share })]);
  const choose = (cpuWorkers: number) =>
    chooseConfiguration(profile, problem, deviceOf(H100), { cpuWorkers });
  assertEquals([choose(4).match, choose(4).configuration.share], ["exact", share]);
  assertEquals([choose(2).match, choose(2).configuration.share], ["same-device", {
    ...share,
    cpuWorkers: 2,
  }]);
  assertEquals([choose(4).cellsPerSecond, choose(2).cellsPerSecond], [1e9, undefined]);
  assertEquals([choose(0).match, choose(0).configuration.share.cpuSlices], ["default", 0]);
  const none = chooseConfiguration([], problem, null, { cpuWorkers: 3 });
  assertEquals([none.match, none.configuration.share], ["default", { ...share, cpuWorkers: 3 }]);
  // a profile of a CPU alone, where there is no GPU: its own traversal, on its grid and on another
  const diamonds = { traversal: "diamond-wavefront", parameters: { tiles: 4, levels: 8, block: 4 }, share };
  const onCpu = profileOf([entryOf(problem, diamonds)], null);
  const same = chooseConfiguration(onCpu, problem, null, { cpuWorkers: 4 });
  assertEquals([same.match, same.configuration], ["same-architecture", diamonds]);
  const odd = profileOf([entryOf(problem, { traversal: "stepwise", parameters: { x: 1 }, share })], null);
  assertStringIncludes(
    chooseConfiguration(odd, problem, null, { cpuWorkers: 4 }).message,
    "on the CPU: wanted no parameters but strip, fused: found x",
  );
  const grown = chooseConfiguration(onCpu, problemOf([192, 192, 128], FEW), null, { cpuWorkers: 4 });
  assertEquals(grown.configuration.traversal, "diamond-wavefront");
  assertEquals(grown.configuration.share.cpuSlices, 192);
  // of what its caches hold plain steps should be the fastest
  const cached = chooseConfiguration(onCpu, problemOf([40, 64, 128], FEW), null, { cpuWorkers: 4 });
  assertEquals(cached.configuration.traversal, "stepwise");
  assert(cached.runnersUp.length > 0);
  // what a CPU reached beside a GPU counts, and the GPU's rates do not
  const large = problemOf([192, 192, 128], FEW);
  const torre = gpuAlone(large.grid, "stepwise", { threadsZ: 64, threadsY: 4, threadsX: 1 });
  const slices = { ...diamonds, share: { ...share, cpuSlices: 192 } };
  const beside = profileOf([{ ...entryOf(large, torre, 1e12), bestOfEach: entryOf(large, slices).tieSet }]);
  const alone = chooseConfiguration(beside, large, null, { cpuWorkers: 4 });
  assertEquals([alone.match, alone.passedOver], ["same-architecture", []]);
  assertStringIncludes(
    alone.message,
    `the CPU alone: predicted from 1 measurement on ${WAVE.device.cpu.model} (`,
  );
  assert(alone.cellsPerSecond! < 1e10);
  const unknown = chooseConfiguration(profileOf([entryOf(large, torre)]), large, null, { cpuWorkers: 4 });
  assertEquals([unknown.match, unknown.cellsPerSecond], ["default", undefined]);
});

Deno.test("where stepwise is chosen, other configurations that might be as fast are its runners-up", () => {
  const plain = gpuAlone([256, 256, 256], "stepwise", { threadsZ: 64, threadsY: 4, threadsX: 1 });
  const profile = profileOf([entryOf(problemOf([256, 256, 256], FEW), plain, 1e12)]);
  const problem = problemOf([300, 256, 256], FEW);
  const { configuration, runnersUp } = chooseConfiguration(profile, problem, deviceOf(H100), {
    cpuWorkers: 0,
  });
  assertEquals(configuration.traversal, "stepwise");
  assert(runnersUp.length > 3);
});

Deno.test("a GPU in software leaves what it was not measured for to the CPU, if that has workers and memory", () => {
  const software = deviceOf({ ...H100, vendor: "mesa", isFallbackAdapter: true });
  const slicesOnCpu = (grid: Grid, cpuWorkers: number): number =>
    chooseConfiguration(WAVE, problemOf(grid, FEW), software, { cpuWorkers }).configuration.share.cpuSlices;
  assertEquals([slicesOnCpu([64, 64, 64], 2), slicesOnCpu([64, 64, 64], 0)], [64, 0]);
  assertEquals(slicesOnCpu([900, 1000, 1000], 2), 0);
  // it computes what it was measured for; another equation is left to the CPU
  const grid = [64, 64, 64] as const,
    entry = entryOf(problemOf(grid, FEW), gpuAlone(grid, "stepwise", STEPWISE));
  const own = profileOf([entry], { vendor: "mesa", isFallback: true });
  const found = [wave(2), heat(1)].map((stencil) => {
    const problem = problemOf(grid, { ...FEW, stencil });
    return chooseConfiguration(own, problem, software, { cpuWorkers: 2 }).configuration.share.cpuSlices;
  });
  assertEquals(found, [0, 64]);
});

Deno.test("the CPU alone computes a line of any length", () => {
  for (const points of [30, 1000, 2 ** 20]) {
    const problem: Problem = { stencil: heat1d(), grid: [1, 1, points], boundary: "insulated", steps: 8 };
    const { configuration } = chooseConfiguration([], problem, null, { cpuWorkers: 2 });
    assertEquals([configuration.traversal, configuration.share.cpuWorkers], ["swept", 2]);
  }
});

Deno.test("where nothing can run, the error names both limits", () => {
  const problem = problemOf([3, 20_000, 20_000], FEW);
  assertThrows(
    () => chooseConfiguration(WAVE, problem, deviceOf(H100), { cpuWorkers: 2 }),
    RangeError,
    "3x20000x20000: GPU: 4",
  );
  assertThrows(
    () => chooseConfiguration(WAVE, problemOf([8, 8, 8]), null, { cpuWorkers: 0 }),
    RangeError,
    "GPU: there is no GPU; CPU: there are no workers",
  );
});

Deno.test("other versions' parameters: defaults where the traversal has them, else not runnable", () => {
  const grid: Grid = [64, 64, 64];
  const problem = problemOf(grid);
  const target = { problem, limits: H100_LIMITS, cpuWorkers: 0 };
  const adapt = (traversal: string, parameters: Parameters) =>
    adaptConfiguration(gpuAlone(grid, traversal, parameters), target);
  const reasonOf = (traversal: string, parameters: Parameters): string => {
    const adapted = adapt(traversal, parameters);
    return "reason" in adapted ? adapted.reason : `runs: ${JSON.stringify(adapted)}`;
  };
  const torre = { ...WAVE.entries[0]!.configuration.parameters, threads: 64 };
  for (const name of ["dts", "nt", "zPerThread", "threads", "chunk", "unroll", "loads"]) {
    const { [name]: _missing, ...others } = torre as Parameters;
    assert(!reasonOf("diamond-torre", others).startsWith("runs"), name);
  }
  for (const name of ["threadsZ", "threadsY", "threadsX"]) {
    const { [name]: _missing, ...others } = STEPWISE as Parameters;
    assertStringIncludes(reasonOf("stepwise", others), `no value of ${name}`);
  }
  for (const name of ["bands", "nt"]) {
    assertStringIncludes(
      reasonOf("diamond-torre", { ...torre, [name]: 0 }),
      `${name} must be a whole number from 1`,
    );
  }
  const { bands: _bands, ...without } = torre as Parameters;
  assert("configuration" in adapt("diamond-torre", without)); // 1 band
  const old = adapt("marching", { threadsZ: 32, threadsY: 4, pieces: 2 });
  assert("configuration" in old, JSON.stringify(old));
  const newer = adapt("stepwise", { ...STEPWISE, swizzle: 3 });
  assert("configuration" in newer);
  assertEquals(newer.configuration.parameters, STEPWISE);
  assertStringIncludes(newer.changes.join(), "swizzle");
  assertStringIncludes(reasonOf("spiral", {}), "there is no traversal spiral");
  for (const value of [-1, 0.5, 1e300, NaN]) {
    const adapted = adapt("stepwise", { ...STEPWISE, threadsX: value });
    assert("reason" in adapted || Number.isInteger(adapted.configuration.parameters.threadsX), `${value}`);
  }
});

Deno.test("whatever is chosen can run", () => {
  const shared: Configuration = {
    traversal: "marching",
    parameters: MARCHING,
    share: { cpuSlices: 40, gpuSlices: 160, exchangeEvery: 10, cpuWorkers: 2 },
  };
  const mixed = profileOf([
    ...WAVE.entries,
    ...HEAT.entries,
    entryOf(problemOf([200, 50, 60], { stencil: wave(4) }), shared),
    entryOf(problemOf([200, 50, 60], { stencil: elastic(), boundary: "periodic" }), shared),
    entryOf(problemOf([200, 50, 60], { stencil: life() }), shared),
  ]);
  const cells = fc.integer({ min: 1, max: THOROUGH ? 300 : 120 });
  const stencils = [wave(2), wave(4), wave(14), heat(1), heat(4), elastic()];
  // to count the registers of Life's torres takes seconds
  const stencil = fc.constantFrom(...stencils, ...(THOROUGH ? [life()] : []));
  const problem = fc.record({
    stencil,
    grid: fc.tuple(cells, cells, cells),
    boundary: fc.constantFrom("zero" as const, "periodic" as const),
    steps: fc.integer({ min: 1, max: THOROUGH ? 200 : 40 }),
  });
  const limits = fc.record({
    maxComputeWorkgroupStorageSize: fc.constantFrom(16384, 32768, 49152),
    maxComputeInvocationsPerWorkgroup: fc.constantFrom(256, 512, 1024),
    maxComputeWorkgroupSizeX: fc.constantFrom(128, 256, 1024),
    maxStorageBufferBindingSize: fc.constantFrom(2 ** 26, 2 ** 27, 2 ** 31 - 4),
  });
  const info = fc.constantFrom(H100, { ...H100, description: "other" }, undefined);
  fc.assert(
    fc.property(problem, limits, info, fc.nat(4), (problem, some, adapterInfo, cpuWorkers) => {
      const limits = { ...H100_LIMITS, ...some };
      let choice: Choice;
      try {
        choice = chooseConfiguration(mixed, problem, deviceOf(adapterInfo, limits), { cpuWorkers });
      } catch (error) {
        // only where stepwise with the smallest workgroup does not fit either
        const small = gpuAlone(problem.grid, "stepwise", { threadsZ: 4, threadsY: 1, threadsX: 1 });
        return error instanceof RangeError && whyNot(small, problem, limits) !== undefined;
      }
      assertEquals(whyNot(choice.configuration, problem, limits), undefined, choice.message);
      assert(choice.configuration.share.cpuWorkers <= cpuWorkers);
      assertEquals(choice.message.includes("\n"), false);
      return true;
    }),
    { seed: 20261121, numRuns: THOROUGH ? 40 : 6 },
  );
});

Deno.test("of 20,000 entries the nearest is found", () => {
  const problem = problemOf([1, 1, 1]);
  const entries = Array.from({ length: 20_000 }, (_, i) => {
    const grid: Grid = [
      16 + i % 100 * 8,
      16 + Math.floor(i / 100) % 100 * 8,
      16 + Math.floor(i / 10_000) * 160,
    ];
    return entryOf({ ...problem, grid }, gpuAlone(grid, "stepwise", STEPWISE));
  });
  const profile = profileOf(entries);
  const choose = (grid: Grid): Choice => chooseConfiguration(profile, problemOf(grid), deviceOf(H100));
  assertEquals(choose([416, 416, 176]).match, "exact");
  const near = choose([417, 415, 177]);
  assertEquals([near.match, near.entry!.problem.grid], ["same-device", [416, 416, 176]]);
  assertEquals(choose([12, 12, 12]).entry!.problem.grid, [16, 16, 16]);
});

Deno.test("runners-up are two other orders of the choice's kernel, then other kernels", () => {
  const found = chooseConfiguration(WAVE, problemOf([450, 2500, 112]), deviceOf(H100), { cpuWorkers: 0 });
  const all = [found.configuration, ...found.runnersUp];
  const kernels = all.map(({ traversal, parameters }) => {
    const { nt: _, bands: __, ...kernel } = parameters;
    return JSON.stringify([traversal, kernel]);
  });
  assertEquals([all.length, new Set(all.map((one) => JSON.stringify(one))).size], [24, 24]);
  assertEquals([new Set(kernels.slice(0, 3)).size, new Set(kernels).size], [1, 22]);
});
