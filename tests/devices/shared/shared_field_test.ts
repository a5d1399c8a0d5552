import { assert, assertEquals, assertLess, assertMatch, assertRejects } from "@std/assert";
import { equation } from "../../../kernels/equation.ts";
import { subtract } from "../../../kernels/operations.ts";
import { runReference } from "../../../kernels/reference.ts";
import type { Boundaries, Grid, Problem, Stencil } from "../../../kernels/stencils/stencil.ts";
import { life } from "../../../kernels/stencils/life.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import { combine, type Parameters } from "../../../kernels/traversals/traversal.ts";
import { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { stateLevels, verificationOf } from "../../../tuner/devices/reference.ts";
import { CpuField } from "../../../tuner/devices/cpu/cpu_field.ts";
import { HostPartField } from "../../../tuner/devices/shared/host_part_field.ts";
import { SharedField } from "../../../tuner/devices/shared/shared_field.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import type { Configuration, Share } from "../../../tuner/configuration.ts";
import { initialCells } from "../../kernels/oracle_case.ts";
import {
  ALONG_X,
  wholeNumberElastic,
  wholeNumberLeapfrog,
  wholeNumberMaxwell,
  wholeNumberMedium,
  wholeNumberProfiledPair,
  wholeNumberProfiles,
  wholeNumberStaggered,
  wholeNumberWave,
} from "../../kernels/whole_numbers.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { maxAbs, readable, readSharedCells } from "../cells.ts";

const SEED = 7;

interface SharedCase {
  readonly stencil: Stencil;
  readonly grid: Grid;
  readonly boundary: Boundaries;
  readonly traversal: string;
  readonly cpuSlices: number;
  readonly exchangeEvery: number;
  readonly workers: number;
  /** @default {plain stepwise} */
  readonly cpu?: Share["cpu"];
  /** Steps of runs one after another. */
  readonly runs: readonly number[];
}

/** Few threads and the smallest tile, so that small grids have several of each. */
const WANTED: Readonly<Record<string, Parameters>> = {
  stepwise: { threadsZ: 4, threadsY: 2, threadsX: 1 },
  marching: { zPerThread: 1, threadsZ: 8, threadsY: 8, pieces: 2, tile: 0, ahead: 1 },
  "diamond-torre": { dts: 1, zPerThread: 1, unroll: 2 },
};

function configurationOf(
  gpu: GpuDevice,
  { stencil, grid, boundary, traversal: name, cpuSlices, exchangeEvery, workers, cpu }: Omit<
    SharedCase,
    "runs"
  >,
): Configuration {
  const traversal = traversalNamed(name);
  const problem: Problem = { stencil, grid, boundary, steps: 8 };
  const matches = (parameters: Parameters): boolean =>
    Object.entries(WANTED[name]!).every(([key, value]) => parameters[key] === value) &&
    traversal.infeasible(problem, parameters, gpu.limits) === undefined;
  const parameters = combine(traversal.parameterLists(problem, gpu.limits)).find(matches);
  assert(parameters !== undefined, `${name} has no such parameters on ${grid.join("x")}`);
  const gpuSlices = grid[0] - cpuSlices;
  const cpuWorkers = cpuSlices > 0 ? workers : 0;
  const share = { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers, cpu };
  // the CPU alone has parameters of its own
  return { traversal: name, parameters: gpuSlices > 0 ? parameters : {}, share };
}

async function assertEqualsOracle(gpu: GpuDevice, pools: readonly CpuPool[], one: SharedCase): Promise<void> {
  const { stencil, grid, boundary, runs, workers } = one;
  const steps = runs.reduce((sum, n) => sum + n, 0);
  const configuration = configurationOf(gpu, one);
  const cpuPool = pools.find((pool) => pool.workers === workers);
  using field = await SharedField.create({ stencil, grid, boundary, steps }, { gpu, cpuPool, configuration });
  const kind = stencil.initialField ?? "integers";
  await field.initialise({ kind, seed: SEED });
  for (const count of runs) await field.run(count);
  assertEquals(field.step, steps);
  const initial = initialCells(grid, kind, SEED, stencil);
  const { update } = stencil;
  const expected = runReference({ current: initial, previous: initial }, { update, grid, boundary, steps });
  const { stencil: { title }, ...rest } = one;
  const what = `${title} ${JSON.stringify(rest)}`;
  assertEquals(await readSharedCells(field, 0), readable(expected.current, one), `F(t), ${what}`);
  // beyond this a sum of a few values may be rounded
  assertLess(maxAbs(expected.current), 2 ** 22, what);
  if (stateLevels({ stencil }).includes(1)) {
    assertEquals(await readSharedCells(field, 1), expected.previous, `F(t−1), ${what}`);
  }
}

/** All cases, with pools of 1, 2 and 3 workers. */
function testCases(name: string, cases: readonly SharedCase[]): void {
  testOnGpu(name, async (gpu) => {
    const pools = await Promise.all([1, 2, 3].map((workers) => CpuPool.create({ workers })));
    try {
      for (const one of cases) await assertEqualsOracle(gpu, pools, one);
    } finally {
      for (const pool of pools) pool.dispose();
    }
  });
}

/** Half a tile of 5 rows or more holds one level, of 8 or more two. */
const DIAMONDS = { traversal: "diamond-wavefront", parameters: { tiles: 1, levels: 2, block: 2 } };
const LOW_DIAMONDS = { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 1, block: 1 } };
const STRIPS = { traversal: "stepwise", parameters: { strip: 2 } };

/** Every R, every kind of share (thinnest, widest, half) and every number of workers, and most pairs of them. */
const COMBINATIONS = [
  { exchangeEvery: 1, cpuSlices: 1, workers: 2, cpu: LOW_DIAMONDS },
  { exchangeEvery: 2, cpuSlices: 6, workers: 1, cpu: DIAMONDS },
  { exchangeEvery: 3, cpuSlices: 10, workers: 3 },
  { exchangeEvery: 5, cpuSlices: 5, workers: 3, cpu: DIAMONDS },
  { exchangeEvery: 5, cpuSlices: 8, workers: 1, cpu: STRIPS },
];

const BOTH = ["zero", "periodic"] as const;

/** Once for each boundary. */
const onBoth = (one: Omit<SharedCase, "boundary">): SharedCase[] =>
  BOTH.map((boundary) => ({ ...one, boundary }));

// 7 + 1 steps: no multiple of R = 2, 3 or 5, and the second run begins with what the first one exchanged
const LINES = { stencil: ALONG_X, grid: [13, 5, 11] as Grid, runs: [7, 1] };
testCases(
  "any R, share, number of workers and order of the CPU equals the oracle",
  COMBINATIONS.flatMap((combination) => onBoth({ ...LINES, traversal: "stepwise", ...combination })),
);

// no tap reaches into the other share: the ghost zones have no slices
const RODS: Stencil = equation({
  name: "rods",
  fields: { u: [0, 1] },
  step: ({ u }) => ({ u: subtract(u.at(0, 0, 1), u.at(0, -1, 0)) }),
});
testCases(
  "an equation without taps along x is shared without exchanges",
  COMBINATIONS.slice(1, 2).flatMap((combination) =>
    onBoth({ ...LINES, stencil: RODS, traversal: "stepwise", ...combination })
  ),
);

// what the GPU's traversal does with ghost zones does not depend on what is exchanged
const [, HALF, WIDEST] = COMBINATIONS;
const WIDE = { grid: [14, 9, 10] as Grid, workers: 2 };
testCases("every traversal of the GPU equals the oracle with ghost zones", [
  ...onBoth({ ...LINES, traversal: "marching", ...HALF! }),
  ...onBoth({ ...LINES, traversal: "marching", ...WIDEST! }),
  // torres refuse a periodic boundary
  { ...LINES, traversal: "diamond-torre", boundary: "zero", ...HALF! },
  { ...LINES, traversal: "diamond-torre", boundary: "zero", ...WIDEST! },
  {
    ...WIDE,
    traversal: "diamond-torre",
    boundary: "zero",
    stencil: wholeNumberWave(4),
    exchangeEvery: 2,
    cpuSlices: 9,
    runs: [3, 2],
  },
  {
    ...WIDE,
    traversal: "diamond-torre",
    boundary: "zero",
    stencil: wholeNumberMedium(1),
    exchangeEvery: 3,
    cpuSlices: 6,
    runs: [7, 2],
  },
]);

testCases("taps along all axes, orders 2, 4, 6", [
  ...onBoth({
    ...WIDE,
    traversal: "stepwise",
    stencil: wholeNumberWave(2),
    exchangeEvery: 3,
    cpuSlices: 5,
    cpu: DIAMONDS,
    runs: [7],
  }),
  ...onBoth({
    ...WIDE,
    traversal: "marching",
    stencil: wholeNumberWave(4),
    exchangeEvery: 2,
    cpuSlices: 9,
    cpu: DIAMONDS,
    runs: [3, 2],
  }),
  ...onBoth({
    ...WIDE,
    traversal: "stepwise",
    stencil: wholeNumberWave(6),
    exchangeEvery: 2,
    cpuSlices: 7,
    cpu: { ...DIAMONDS, parameters: { ...DIAMONDS.parameters, levels: 1 } },
    runs: [3],
  }),
]);

// x decides where shares meet, y and z what their pads hold
testCases("a boundary of its own along each axis", [
  ...(["stepwise", "marching"] as const).flatMap((traversal) =>
    ([["insulated", "zero", "periodic"], ["periodic", "insulated", "zero"], "insulated"] as const)
      .map((boundary) => ({
        ...WIDE,
        ...{
          traversal,
          boundary,
          stencil: wholeNumberWave(4),
          exchangeEvery: 2,
          cpuSlices: 7,
          cpu: DIAMONDS,
        },
        runs: [3, 2],
      }))
  ),
]);

testCases("axis profiles, of which each share has its own cells'", [
  ...onBoth({
    ...WIDE,
    traversal: "stepwise",
    stencil: wholeNumberProfiles(),
    exchangeEvery: 3,
    cpuSlices: 5,
    runs: [4],
  }),
  ...onBoth({
    ...WIDE,
    traversal: "marching",
    stencil: wholeNumberProfiledPair(),
    exchangeEvery: 1,
    cpuSlices: 9,
    cpu: DIAMONDS,
    runs: [3, 2],
  }),
]);

testCases("life, which reads no level before, and elastic waves in two sub-steps with materials", [
  ...onBoth({
    stencil: life("4-6/3-9"),
    grid: [13, 6, 11],
    traversal: "stepwise",
    runs: [7, 4],
    ...HALF!,
  }),
  ...onBoth({
    stencil: life("4-6/3-9"),
    grid: [13, 6, 11],
    traversal: "marching",
    runs: [7, 4],
    ...WIDEST!,
  }),
  ...onBoth({
    stencil: wholeNumberElastic(),
    grid: [27, 9, 9],
    traversal: "stepwise",
    exchangeEvery: 3,
    cpuSlices: 12,
    workers: 2,
    cpu: DIAMONDS,
    runs: [3],
  }),
  ...onBoth({
    stencil: wholeNumberStaggered(),
    grid: [27, 9, 9],
    traversal: "marching",
    exchangeEvery: 1,
    cpuSlices: 19,
    workers: 1,
    cpu: DIAMONDS,
    runs: [1, 2],
  }),
  ...onBoth({
    stencil: wholeNumberLeapfrog(),
    grid: [17, 5, 9],
    traversal: "stepwise",
    exchangeEvery: 3,
    cpuSlices: 8,
    workers: 1,
    runs: [7],
  }),
]);

// a GPU alone stores layers, parts of a grid whole fields
const LAYERED = {
  stencil: wholeNumberMaxwell({ edges: [2, 1, 3], absorber: "pml" }),
  grid: [12, 5, 8] as Grid,
  boundary: "zero" as const,
  workers: 1,
};
testCases("a pml on a GPU alone, on the CPU alone, on both", [
  { ...LAYERED, traversal: "stepwise", cpuSlices: 0, exchangeEvery: 1, runs: [1, 1] },
  { ...LAYERED, traversal: "stepwise", cpuSlices: 12, exchangeEvery: 1, runs: [2] },
  { ...LAYERED, traversal: "marching", cpuSlices: 5, exchangeEvery: 1, runs: [2] },
]);

const ALONE = { stencil: wholeNumberWave(2), grid: [5, 4, 3] as Grid, traversal: "stepwise", runs: [4, 3] };
testCases("a share of 0 leaves its device out, whatever R", [
  ...onBoth({ ...ALONE, cpuSlices: 0, exchangeEvery: 4, workers: 1 }),
  ...onBoth({ ...ALONE, cpuSlices: 5, exchangeEvery: 4, workers: 2 }),
]);

/** The workers' part, which is the first. */
function cpuPartOf({ parts: [first] }: SharedField): HostPartField<CpuField> {
  assert(first instanceof HostPartField && first.field instanceof CpuField);
  return first;
}

/** A problem whose ghost zones see waves, its reference, and a pool. */
async function withReference(
  gpu: GpuDevice,
  boundary: Boundaries,
  test: (setup: {
    problem: Problem;
    pool: CpuPool;
    configuration: Configuration;
    judge: (field: SharedField) => Promise<{ maxError: number; bound: number }>;
  }) => Promise<void>,
): Promise<void> {
  const problem: Problem = { stencil: wave(4), grid: [24, 6, 9], boundary, steps: 7 };
  const reference = await makeReference({ gpu, problem });
  const pool = await CpuPool.create({ workers: 2 });
  try {
    const share = { cpuSlices: 11, exchangeEvery: 3, workers: 2 };
    const configuration = configurationOf(gpu, { ...problem, ...share, traversal: "stepwise" });
    const judge = async (field: SharedField) => verificationOf(await field.compare(reference), reference);
    await test({ problem, pool, configuration, judge });
  } finally {
    pool.dispose();
    reference.dispose();
  }
}

for (const boundary of ["zero", "periodic"] as const) {
  testOnGpu(`${boundary}: one wrong cell in any of the CPU's own slices is rejected`, async (gpu) => {
    await withReference(gpu, boundary, async ({ problem, pool, configuration, judge }) => {
      using field = await SharedField.create(problem, { gpu, cpuPool: pool, configuration });
      await field.initialise({ kind: "noise", seed: 1 });
      await field.run(problem.steps);
      const { field: cpu, place: { part: { own: { size: [slices] }, before: [first] } } } = cpuPartOf(field);
      const before = await judge(field);
      assert(before.maxError <= before.bound);
      for (const slice of [0, 5, slices - 1]) {
        for (const level of ["current", "previous"] as const) {
          const { origin, slice: perSlice, pitch } = cpu.layout;
          const at = origin + (first + slice) * perSlice + 5 * pitch + 8;
          const right = cpu[level][at]!;
          cpu[level][at] = right + 0.01;
          const { maxError, bound } = await judge(field);
          assert(maxError > bound, `slice ${slice}: error ${maxError}, bound ${bound}`);
          cpu[level][at] = NaN;
          assertEquals((await judge(field)).maxError, Infinity);
          cpu[level][at] = right;
        }
      }
    });
  });
}

testOnGpu("the times of all rounds are reported for both devices", async (gpu) => {
  await withReference(gpu, "zero", async ({ problem, pool, configuration }) => {
    using field = await SharedField.create(problem, { gpu, cpuPool: pool, configuration });
    await field.initialise({ kind: "noise", seed: 1 });
    const { wallNs, computeNs, gpuNs, unpackNs, packNs } = await field.run(7, 2); // 3 + 3 + 1, twice
    assertEquals(field.step, 14);
    assert([computeNs, gpuNs, unpackNs, packNs].every((timeNs) => timeNs > 0));
    assert(wallNs >= computeNs + unpackNs + packNs);
  });
});

testOnGpu("a device that fails while both compute ends the run with its own failure", async () => {
  const ends: [message: RegExp, end: (gpu: GpuDevice, pool: CpuPool) => void][] = [
    [/The CPU pool was disposed/, (_, pool) => pool.dispose()],
    [/the device was lost/, (gpu) => gpu.device.destroy()],
  ];
  for (const [message, end] of ends) {
    using gpu = (await GpuDevice.open())!;
    const pool = await CpuPool.create({ workers: 2 });
    const problem: Problem = { stencil: wave(2), grid: [32, 32, 32], boundary: "zero", steps: 1 };
    const share = { cpuSlices: 16, exchangeEvery: 2, workers: 2 };
    const configuration = configurationOf(gpu, { ...problem, ...share, traversal: "stepwise" });
    using field = await SharedField.create(problem, { gpu, cpuPool: pool, configuration });
    await field.initialise({ kind: "noise", seed: 1 });
    const endless = field.run(1_000_000);
    setTimeout(() => end(gpu, pool), 100);
    const failure = await assertRejects(() => endless, RunFailure);
    assertEquals(failure.reason, "device-lost");
    assertMatch(failure.message, message);
    pool.dispose();
  }
});

testOnGpu("a share that cannot be is refused, and leaves no memory taken", async (gpu) => {
  await withReference(gpu, "periodic", async ({ problem, pool, configuration }) => {
    const create = async (change: object, cpuPool: CpuPool | undefined = pool): Promise<void> => {
      const share = { ...configuration.share, ...change };
      (await SharedField.create(problem, { gpu, cpuPool, configuration: { ...configuration, share } }))
        [Symbol.dispose]();
    };
    const placeOf = async (): Promise<number> => {
      const { stencil: { update } } = problem;
      using field = await SharedField.create(problem, { gpu, cpuPool: pool, configuration });
      assert(update !== undefined);
      return cpuPartOf(field).field.current.byteOffset;
    };
    const before = await placeOf();
    await create({});
    const thin = "shares of 5 and 19 slices: one is thinner than the ghost zone of 6";
    await assertRejects(() => create({ cpuSlices: 5, gpuSlices: 19 }), RunFailure, thin);
    await assertRejects(() => create({ gpuSlices: 12 }), RunFailure, "do not make up 24");
    await assertRejects(() => create({ exchangeEvery: 0 }), RunFailure, "whole number from 1 up");
    await assertRejects(() => create({ cpuWorkers: 3 }), RunFailure, "3 CPU workers wanted, there are 2");
    const onCpu = (traversal: string, parameters: Parameters) => create({ cpu: { traversal, parameters } });
    await assertRejects(() => onCpu("swept", {}), RunFailure, "it sweeps one dimension");
    const diamonds = DIAMONDS.parameters;
    await onCpu("diamond-wavefront", { ...diamonds, levels: 1 });
    await assertRejects(
      () => onCpu("diamond-wavefront", diamonds),
      RunFailure,
      "2 levels narrow half a tile",
    );
    const beside = { ...configuration.share, cpuSlices: 0, gpuSlices: 24, cpu: DIAMONDS };
    await assertRejects(() => create(beside), RunFailure, "nothing is shared");
    const torre = { traversal: "diamond-torre", parameters: {}, share: configuration.share };
    await assertRejects(
      () => SharedField.create(problem, { gpu, cpuPool: pool, configuration: torre }),
      RunFailure,
      "periodic",
    );
    assertEquals(await placeOf(), before);
  });
});
