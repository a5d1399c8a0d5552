import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import { add, multiply } from "../../kernels/operations.ts";
import { life } from "../../kernels/stencils/life.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Snapshot } from "../../tuner/solver/snapshots.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { SolverError } from "../../tuner/solver/solver_error.ts";
import type { FieldSolver } from "../../tuner/solver/field_solver.ts";
import type { Solver, SolverOptions } from "../../tuner/solver/solver.ts";
import { localWorlds, openRank } from "./local_world.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { refute } from "../../tuner/devices/reference.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { OwnOrder } from "../../tuner/devices/gpu/own_order.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { verifyRanks } from "../../tuner/ranks/verify_ranks.ts";
import {
  packed,
  wholeNumberCross,
  wholeNumberElastic,
  wholeNumberLeapfrog,
  wholeNumberMedium,
  wholeNumberProfiledPair,
  wholeNumberWave,
} from "../kernels/whole_numbers.ts";
import { inPlaneTorres, inVolumeTorres, type Way } from "../kernels/oracle_case.ts";
import { assertRanksEqualOracle, gather, onRanks, planOfCase, type RankCase } from "./rank_case.ts";

const CASES: readonly RankCase[] = [
  // corners travel with the second and the third axis
  { stencil: life(), grid: [9, 11, 8], boundary: "zero", parts: [2, 2, 2], exchangeEvery: 2, runs: [7, 4] },
  // ring of three and of one; uneven
  {
    stencil: life(),
    grid: [10, 7, 9],
    boundary: "periodic",
    parts: [3, 1, 1],
    exchangeEvery: 1,
    runs: [5],
    rates: [1, 3, 2],
  },
  {
    stencil: wholeNumberWave(4),
    grid: [5, 13, 9],
    boundary: "periodic",
    parts: [1, 2, 1],
    exchangeEvery: 3,
    runs: [2, 3],
  },
  {
    stencil: wholeNumberElastic(),
    grid: [9, 5, 18],
    boundary: ["periodic", "zero", "insulated"],
    parts: [1, 1, 2],
    exchangeEvery: 2,
    runs: [3],
  },
  // F(t−1) is read by the first sub-step, further out than where the second's values become valid
  {
    stencil: wholeNumberLeapfrog(),
    grid: [17, 14, 13],
    boundary: "periodic",
    parts: [2, 2, 1],
    exchangeEvery: 3,
    runs: [7],
  },
];

const PROFILED: RankCase = {
  stencil: wholeNumberProfiledPair(),
  grid: [9, 10, 13],
  boundary: ["periodic", "zero", "insulated"],
  parts: [2, 1, 2],
  exchangeEvery: 2,
  runs: [3, 2],
};

Deno.test("ranks with CPU workers agree with the oracle bit for bit", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 });
  try {
    for (const one of [...CASES, PROFILED]) await assertRanksEqualOracle(one, { gpu: undefined, cpuPool });
  } finally {
    cpuPool.dispose();
  }
});

Deno.test("a rank's materials are there from the start, and wrong calls are refused", async () => {
  const stencil = equation({
    name: "filling",
    fields: { u: [0, 1] },
    materials: { inflow: (x, _y, z) => add(x, z) },
    step: ({ u, inflow }) => ({ u: add(u, inflow.at(1, 0, 0)) }),
  });
  const cpuPool = await CpuPool.create({ workers: 1 });
  const one: RankCase = {
    stencil,
    grid: [4, 2, 4],
    boundary: "periodic",
    parts: [2, 1, 1],
    exchangeEvery: 1,
    runs: [3],
  };
  try {
    await onRanks(one, { gpu: undefined, cpuPool }, async (solvers) => {
      await Promise.all(solvers.map((solver) => solver.run(3)));
      const inflow = (i: number): number => ((Math.floor(i / 8) + 1) % 4 + 0.5) / 4 + (i % 4 + 0.5) / 4;
      assertEquals(await gather(solvers, "u", 0), Float32Array.from({ length: 32 }, (_, i) => 3 * inflow(i)));
      const [solver] = solvers;
      for (const steps of [-1, 0.5, NaN]) {
        await assertRejects(() => solver!.run(steps), RangeError, "a whole number >= 0: current value is");
      }
      for (const seed of [NaN, 1.5, -1]) {
        await assertRejects(
          () => solver!.initialise("noise", seed),
          RangeError,
          "the seed must be",
        );
      }
      const endless = { ...solver!.field.plan, exchangeEvery: 0 }, device = { gpu: undefined, cpuPool };
      await assertRejects(
        () => openRank(solver!.field.world, device, solver!.problem, [], { plan: endless }),
        RangeError,
        "Cannot exchange: wanted a whole number of steps, at least 1: found 0",
      );
      await assertRejects(() => solver!.read("u", { ago: 1 }), RangeError, "ago must be 0 for u");
      await assertRejects(() => solver!.read("u", { x: 3, slices: 2 }), RangeError, "within 0 to 3");
      const odd = () =>
        Promise.all(solvers.map((one) => one.write("u", () => undefined as unknown as number)));
      await assertRejects(odd, RangeError, "the function must return a number, also at (3, 0, 0)");
    });
  } finally {
    cpuPool.dispose();
  }
});

Deno.test("a rank's axis profiles have the values of its own cells, from a function or written", async () => {
  const stencil = equation({
    name: "profiled",
    fields: { u: [0, 1] },
    materials: { dy: along("y", (i, n) => add(i, n)), dz: along("z", { values: [0] }) },
    step: ({ u, dy, dz }) => ({ u: add(u, dy.at(0, 1), dz) }),
  });
  const cpuPool = await CpuPool.create({ workers: 1 }), ny = 5, nz = 4;
  const one = {
    stencil,
    grid: [2, ny, nz],
    boundary: "periodic",
    parts: [1, 2, 2],
    exchangeEvery: 1,
  } as const;
  await onRanks({ ...one, runs: [2] }, { gpu: undefined, cpuPool }, async (solvers) => {
    await Promise.all(solvers.map((solver) => solver.write("dz", (i) => 100 * i)));
    await Promise.all(solvers.map((solver) => solver.run(2)));
    const value = (i: number): number => 2 * ((Math.floor(i / nz) + 1) % ny + ny + 100 * (i % nz));
    assertEquals(
      await gather(solvers, "u", 0),
      Float32Array.from({ length: 2 * ny * nz }, (_, i) => value(i)),
    );
    const whole = await Promise.all(solvers.map((solver) => solver.read("dy")));
    assertEquals(whole.map((values) => [...values]), new Array(4).fill([5, 6, 7, 8, 9]));
  });
  cpuPool.dispose();
});

Deno.test("a rank rounds what it writes into its cells of a packed material, and refuses what lies beyond", async () => {
  const stencil = equation({
    name: "still",
    fields: { u: [0, 1] },
    materials: { m: { packed: [0, 64] }, q: along("x", () => 1) },
    step: ({ u, m, q }) => ({ u: add(u, multiply(q!, m!.at(1))) }),
  });
  const one = { stencil, grid: [4, 2, 2], boundary: "zero", parts: [2, 1, 1], exchangeEvery: 1 } as const;
  const cpuPool = await CpuPool.create({ workers: 1 }), unit = 2 ** -9;
  await onRanks({ ...one, runs: [1] }, { gpu: undefined, cpuPool }, async (solvers) => {
    await Promise.all(solvers.map((solver) => solver.write("m", (x) => x + 0.3)));
    const own = await Promise.all(solvers.map(async ({ field, field: { own } }) => {
      const cells = new Float32Array(8);
      await field.readOwn({ ago: 0, plane: 1, planes: 1, ...own }, cells);
      return cells;
    }));
    const rounded = [0, 1, 2, 3].map((x) => Math.round((x + 0.3) / unit) * unit);
    assertEquals(own.map((values) => [values[0], values[4]]), [rounded.slice(0, 2), rounded.slice(2)]);
    const refusals = async (name: string, value: (x: number, y: number, z: number) => number) => {
      const all = await Promise.allSettled(solvers.map((solver) => solver.write(name, value)));
      return all.map((one) => one.status === "rejected" ? one.reason.message : "");
    };
    const [beyond] = await refusals("m", () => 65);
    assertStringIncludes(beyond!, "Cannot write m: values must lie from 0 to 64: found 65");
    // what one rank finds in its cells, all refuse
    const reason = "Cannot write u: numbers that f32 can hold are wanted: found NaN at (3, 1, 1)";
    assertEquals(await refusals("u", (x, y, z) => x * y * z === 3 ? NaN : 1), [reason, reason]);
    const ofProfile = await refusals("q", (i) => i === 3 ? NaN : 1);
    assertMatch(ofProfile[0]!, /^Cannot write q: .*NaN/);
    assertEquals(ofProfile[0], ofProfile[1]);
  });
  cpuPool.dispose();
});

Deno.test("ranks are verified where each cell has materials and F(t−1) is read", async () => {
  const one = { stencil: wholeNumberCross(), grid: [6, 5, 7], boundary: "zero", parts: [2, 1, 1] } as const;
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const start = { kind: "integers", seed: 4 } as const;
  await onRanks({ ...one, exchangeEvery: 1, runs: [3] }, device, async (solvers) => {
    await Promise.all(solvers.map((solver) => solver.initialise(start.kind, start.seed)));
    await Promise.all(solvers.map((solver) => solver.run(3)));
    const [verified] = await Promise.all(solvers.map((solver) => verifyRanks(solver, device, start)));
    assertEquals(verified?.maxError, 0);
  });
  cpuPool.dispose();
});

/** What a program sees that calls a solver, whatever world it is in: on rank 0 all of it. */
async function playOn(solver: Solver, from: (solver: Solver) => Promise<Solver>): Promise<unknown[]> {
  const seen: unknown[] = [], [name] = solver.problem.stencil.update.fields;
  const onSnapshot = ({ step, values }: Snapshot) => void seen.push(step, values.slice());
  await solver.initialise("integers", 2);
  await solver.write(name!, (x, y, z) => x + 2 * y - z, { x: 2, slices: 5 });
  await solver.addSnapshots(name!, {
    every: 2,
    box: { low: [1, 2, 3], size: [6, 3, 4] },
    stride: 2,
    onSnapshot,
  });
  await solver.run(3);
  // of a problem that announced none
  await solver.addReceivers(name!, [[3, 4, 5], [7, 1, 1]]);
  await solver.run(2);
  seen.push(await solver.read(), await solver.read(name, { ago: 1, x: 3, slices: 2 }), await solver.traces());
  const next = await from(solver);
  await next.run(3);
  seen.push(next.step, await next.read(), await next.traces());
  await next[Symbol.asyncDispose]();
  return seen;
}

Deno.test("createSolver takes a world: ranks give the bits that one gives, on rank 0", async () => {
  const problem = { stencil: wholeNumberWave(2), grid: [9, 8, 10], boundary: "periodic", steps: 4 } as const;
  const one = { device: null } as const;
  const expected = await playOn(await createSolver(problem, one), async (solver) => {
    const from = await solver.save();
    solver.dispose();
    return await createSolver(problem, { ...one, from });
  });
  const worlds = localWorlds(2), saved = Promise.withResolvers<Blob>();
  const found = await Promise.all(worlds.map(async (world) => {
    const options = { ...one, world, exchangeEvery: 2, decompose: [1, 2, 1] } as const;
    return await playOn(await createSolver(problem, options), async (solver) => {
      const from = await solver.save();
      if (world.rank === 0) saved.resolve(from);
      else assertEquals(from.size, 0);
      solver.dispose();
      return await createSolver(problem, { ...options, from: await saved.promise });
    });
  }));
  assertEquals(found[0], expected);
  assertEquals(found[1], [new Float32Array(), new Float32Array(), [], 8, new Float32Array(), []]);
  for (const options of [{ refine: true }, { buffers: [] }] as unknown as SolverOptions[]) {
    const [name] = Object.keys(options);
    await assertRejects(
      () => createSolver(problem, { world: worlds[0]!, ...options }),
      RangeError,
      `among ranks ${name} is not wanted`,
    );
  }
  await assertRejects(() => createSolver(problem, { exchangeEvery: 2 }), RangeError, "without a world");
});

Deno.test("createSolver says of ranks that lose how fast one is alone", async () => {
  const problem = { stencil: wholeNumberWave(2), grid: [4, 4, 4], boundary: "zero", steps: 8 } as const;
  const messages = await Promise.all(
    localWorlds(2).map(async (world) => {
      await using solver = await createSolver(problem, { device: null, world, profile: [] });
      return solver.choice!.message;
    }),
  );
  for (const message of messages) {
    assertMatch(
      message,
      /; 2 ranks take \S+ [nµm]s a step, rank 0 alone would take \S+ [nµ]s: world\.first\(1\) leaves/,
    );
  }
});

Deno.test("what a program's function throws on one rank fails on all, and they go on", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 });
  const one = {
    stencil: life(),
    grid: [8, 4, 4],
    boundary: "zero",
    parts: [2, 1, 1],
    exchangeEvery: 2,
  } as const;
  await onRanks({ ...one, runs: [4] }, { gpu: undefined, cpuPool }, async (solvers) => {
    const messages = async (call: (solver: FieldSolver) => Promise<unknown>) => {
      const all = await Promise.allSettled(solvers.map(call));
      return all.map((one) => one.status === "rejected" ? one.reason.message : "");
    };
    const fail = (x: number): number => {
      if (x === 7) throw new Error("no data");
      return 1;
    };
    assertEquals(await messages((solver) => solver.write("F", fail)), [
      "rank 1 has failed: no data",
      "no data",
    ]);
    const onSnapshot = ({ step }: Snapshot): void => {
      if (step === 2) throw new Error("no room");
    };
    await Promise.all(solvers.map((solver) => solver.addSnapshots("F", { every: 2, onSnapshot })));
    assertEquals(await messages((solver) => solver.run(4)), ["no room", "rank 0 has failed: no room"]);
    assertEquals(await messages((solver) => solver.run(2)), ["", ""]);
    assertEquals(solvers.map(({ step }) => step), [4, 4]);
  });
  cpuPool.dispose();
});

Deno.test("what one rank cannot compute, all refuse with its reason: a solver, and points that come later", async () => {
  const problem = { stencil: wholeNumberWave(2), grid: [8, 4, 4], boundary: "zero", steps: 2 } as const;
  const cpuPool = await CpuPool.create({ workers: 1 }), worlds = localWorlds(2, { seed: 5 });
  const open = (workersOf: (rank: number) => number) =>
    Promise.allSettled(worlds.map((world) =>
      openRank(world, { gpu: undefined, cpuPool }, problem, [], {
        plan: planOfCase({ ...problem, parts: [2, 1, 1], exchangeEvery: 1, runs: [2] })!,
        choose: ({ grid: [cpuSlices] }) => {
          const share = { cpuSlices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workersOf(world.rank) };
          return { traversal: "stepwise", parameters: {}, share };
        },
      })
    ));
  const messages = (all: readonly PromiseSettledResult<unknown>[]) =>
    all.map((one) => one.status === "rejected" ? one.reason.message : "");
  const reason = "2 CPU workers wanted, there are 1";
  assertEquals(messages(await open((rank) => rank + 1)), [
    `Cannot create the solver: rank 1: ${reason}`,
    `Cannot create the solver: ${reason}`,
  ]);
  const opened = (await open(() => 1)).flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  const { load } = cpuPool;
  let loads = 0;
  cpuPool.load = async (...all) => {
    if (++loads === 2) throw new RunFailure("limits", "no room");
    return await load.apply(cpuPool, all);
  };
  const added = messages(await Promise.allSettled(opened.map((one) => one.addReceivers("F", [[1, 1, 1]]))));
  // whichever came second
  assertMatch(
    added.toSorted().join(),
    /^Cannot add the receivers: no room,Cannot add the receivers: rank [01]: no room$/,
  );
  await Promise.all(opened.map((one) => one.run(2)));
  for (const one of opened) one.dispose();
  cpuPool.dispose();
});

Deno.test("ranks that are disposed of at different moments do what they were asked for before, and others follow", async () => {
  const problem = { stencil: wholeNumberWave(2), grid: [12, 6, 7], boundary: "zero", steps: 4 } as const;
  const worlds = localWorlds(2, { seed: 4 }), cpuPool = await CpuPool.create({ workers: 1 });
  const plan = planOfCase({ ...problem, parts: [2, 1, 1], exchangeEvery: 1, runs: [4] })!;
  const open = () =>
    Promise.all(worlds.map((world) => openRank(world, { gpu: undefined, cpuPool }, problem, [], { plan })));
  const ranks = await open(), asked = ranks.map((rank) => [rank.run(30), rank.run(1)]);
  ranks[0]!.dispose();
  await asked[0]![0];
  ranks[1]!.dispose();
  const ran = await Promise.all(asked.flat());
  assertEquals(ran.map(({ steps }) => steps), [30, 1, 30, 1]);
  await Promise.all(ranks.map((rank) => rank[Symbol.asyncDispose]()));
  assertEquals(worlds[0]!.left(), 0);
  const others = await open();
  await Promise.all(others.map((rank) => rank.run(1)));
  for (const rank of others) rank.dispose();
  cpuPool.dispose();
});

testOnGpu("ranks on a GPU agree with the oracle bit for bit, the torre too", async (gpu) => {
  const cases: readonly [RankCase, Configuration["parameters"]?][] = [
    [{ ...CASES[0]!, parts: [1, 2, 2], runs: [5] }],
    [
      {
        stencil: wholeNumberWave(2),
        grid: [9, 16, 8],
        boundary: ["zero", "periodic", "zero"],
        parts: [1, 2, 1],
        exchangeEvery: 4,
        runs: [3, 4],
      },
      { dts: 1, nt: 8, bands: 1, zPerThread: 1, chunk: 2, unroll: 2, loads: "tier start" },
    ],
    [PROFILED],
    // two parts in turns: rings of ranks and rows, an odd number of them
    [
      {
        stencil: wholeNumberWave(2),
        grid: [9, 32, 8],
        boundary: ["zero", "periodic", "zero"],
        parts: [1, 2, 1],
        exchangeEvery: 2,
        runs: [3, 4],
        inTurns: true,
      },
      { dts: 1, nt: 8, bands: 1, zPerThread: 1, chunk: 2, unroll: 2, loads: "tier start" },
    ],
    [{ ...PROFILED, grid: [30, 8, 9], parts: [3, 1, 1], exchangeEvery: 2, runs: [3, 4], inTurns: true }],
    [{
      stencil: wholeNumberMedium(1),
      grid: [5, 6, 41],
      boundary: "periodic",
      parts: [1, 1, 3],
      exchangeEvery: 3,
      runs: [4, 4],
      inTurns: true,
    }],
    [
      {
        stencil: wholeNumberMedium(1),
        grid: [9, 16, 8],
        boundary: "zero",
        parts: [1, 2, 1],
        exchangeEvery: 4,
        runs: [3, 4],
      },
      {
        dts: 1,
        nt: 8,
        bands: 1,
        zPerThread: 1,
        chunk: 2,
        unroll: 1,
        loads: "tier start",
        packed: 0,
        held: 1,
      },
    ],
    [
      {
        stencil: packed(wholeNumberMedium(1), 1, 2),
        grid: [9, 13, 11],
        boundary: "zero",
        parts: [1, 2, 2],
        exchangeEvery: 2,
        runs: [3],
      },
      {
        dts: 1,
        nt: 8,
        bands: 1,
        zPerThread: 2,
        chunk: 2,
        unroll: 1,
        loads: "tier start",
        packed: 1,
        held: 0,
      },
    ],
  ];
  for (const [one, parameters] of cases) {
    await assertRanksEqualOracle(one, { gpu, cpuPool: undefined }, ({ grid: [gpuSlices, , nz] }) => ({
      ...(parameters
        ? {
          traversal: "diamond-torre",
          parameters: { ...parameters, threads: Math.ceil(nz / Number(parameters.zPerThread)) },
        }
        : { traversal: "stepwise", parameters: { threadsZ: 8, threadsY: 2, threadsX: 1 } }),
      share: { cpuSlices: 0, gpuSlices, exchangeEvery: 1, cpuWorkers: 0 },
    }));
  }
});

const WAVES = { stencil: wholeNumberWave(2), boundary: "zero", exchangeEvery: 1, runs: [4, 2] } as const;

/** Tiles of 4 cells along each form, which move one a step. */
const VOLUME_TORRE = inVolumeTorres([2, 1, 1, 1, 2, 1, 2, 1]);

/** A GPU's part of a rank, computed like this. */
const ofGpu =
  ({ traversal: { name }, parameters }: Way) => ({ grid: [gpuSlices] }: Problem): Configuration => {
    return {
      traversal: name,
      parameters,
      share: { cpuSlices: 0, gpuSlices, exchangeEvery: 1, cpuWorkers: 0 },
    };
  };

/** With levels that lie in several bindings. */
async function inBindings(gpu: GpuDevice, maxStorageBufferBindingSize: number, test: () => Promise<void>) {
  const { limits } = gpu;
  try {
    Object.assign(gpu, { limits: { ...limits, maxStorageBufferBindingSize } });
    await test();
  } finally {
    Object.assign(gpu, { limits });
  }
}

testOnGpu(
  "boxes alone leave an order of torres' own and enter it, in all rounds and runs: the oracle's bits",
  async (gpu) => {
    const device = { gpu, cpuPool: undefined }, { enter, leave } = OwnOrder.prototype;
    let left = 0, entered = 0;
    OwnOrder.prototype.enter = function (...all) {
      entered++;
      enter.apply(this, all);
    };
    OwnOrder.prototype.leave = function (...all) {
      left++;
      leave.apply(this, all);
    };
    try {
      // corners
      const corners: RankCase = { ...WAVES, grid: [9, 7, 13], parts: [2, 1, 2] };
      await inBindings(gpu, 4096, async () => {
        await assertRanksEqualOracle(corners, device, (problem) => {
          const { storage } = VOLUME_TORRE.traversal.plan(problem, VOLUME_TORRE.parameters, gpu.limits);
          assertEquals(storage.order!.parts!.length, 2);
          return ofGpu(VOLUME_TORRE)(problem);
        });
      });
      // zeros and values of four parts
      assertEquals([entered, left], [8, 0]);
      await assertRanksEqualOracle(
        {
          ...WAVES,
          grid: [7, 23, 8],
          boundary: ["insulated", "periodic", "zero"],
          parts: [1, 3, 1],
          inTurns: true,
        },
        device,
        ofGpu(VOLUME_TORRE),
      );
      assertEquals([entered, left], [8 + 12, 0]);
      // materials, too
      const medium = { ...WAVES, stencil: wholeNumberMedium(1), exchangeEvery: 2 };
      await assertRanksEqualOracle(
        { ...medium, grid: [7, 8, 19], parts: [1, 1, 2] },
        device,
        ofGpu(VOLUME_TORRE),
      );
      assertEquals([entered, left], [20 + 4, 0]);
      await assertRanksEqualOracle(
        { ...WAVES, grid: [17, 1, 23], boundary: ["periodic", "zero", "insulated"], parts: [1, 1, 2] },
        device,
        ofGpu(inPlaneTorres([8, 4, 1, 2, 2, 1, 1])),
      );
      assertEquals([entered, left], [24 + 4, 0]);
    } finally {
      Object.assign(OwnOrder.prototype, { enter, leave });
    }
  },
);

testOnGpu("boxes that lie elsewhere in an order of torres' own are refuted", async (gpu) => {
  const device = { gpu, cpuPool: undefined }, { traversal } = VOLUME_TORRE, { plan } = traversal;
  const { parts } = OwnOrder.prototype;
  const one: RankCase = { ...WAVES, grid: [7, 13, 8], parts: [1, 2, 1], runs: [6] };
  const start = { kind: "integers", seed: 4 } as const;
  const refuted = async (mutation?: Mutation) => {
    traversal.plan = (...all) => {
      const { storage: { order, ...storage }, ...its } = plan(...all);
      const place = mutation === undefined
        ? order!.values.place
        : order!.values.place.replaceAll(...mutation);
      return { ...its, storage: { ...storage, order: { ...order!, values: { ...order!.values, place } } } };
    };
    await onRanks(one, device, async (solvers) => {
      await Promise.all(solvers.map((solver) => solver.initialise(start.kind, start.seed)));
      await Promise.all(solvers.map((solver) => solver.run(6)));
      const [verified] = await Promise.all(solvers.map((solver) => verifyRanks(solver, device, start)));
      assertEquals(refute(verified!) !== undefined, mutation !== undefined, mutation?.[0]);
    }, ofGpu(VOLUME_TORRE));
  };
  type Mutation = readonly [from: string, to: string];
  const mutations: Mutation[] = [
    [" + S * ago", ""],
    [" + S * ago", " + 2 * S * ago"],
    ["wordAt(0)", "0"],
    ["wordAt(0)", "(wordAt(0) + W - S)"],
    ["vec3i(x, y, z)", "vec3i(x, z, y)"],
  ];
  // each compiles all shaders of both ranks
  const soon = mutations.filter((_, i) => THOROUGH || i % 2 === 0);
  try {
    await inBindings(gpu, 4096, async () => {
      for (const mutation of [undefined, ...soon]) await refuted(mutation);
      OwnOrder.prototype.parts = function (level) {
        return parts.call(this, level).map((one) => ({ ...one, begin: one.begin + 1 }));
      };
      await refuted(["a value of", "the part one further on"]);
    });
  } finally {
    Object.assign(traversal, { plan });
    Object.assign(OwnOrder.prototype, { parts });
  }
});

testOnGpu("each rank has a GPU and CPU workers: the oracle's bits; and one has a window", async (gpu) => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu, cpuPool };
  const both = ({ grid: [nx] }: Pick<RankCase, "grid">): Configuration => ({
    traversal: "stepwise",
    parameters: { threadsZ: 8, threadsY: 2, threadsX: 1 },
    share: {
      cpuSlices: Math.floor(nx / 3),
      gpuSlices: nx - Math.floor(nx / 3),
      exchangeEvery: 1,
      cpuWorkers: 1,
    },
  });
  const mixed: readonly RankCase[] = [
    {
      stencil: life(),
      grid: [21, 11, 8],
      boundary: "zero",
      parts: [2, 2, 1],
      exchangeEvery: 2,
      runs: [7, 4],
    },
    {
      stencil: wholeNumberWave(4),
      grid: [19, 13, 9],
      boundary: "periodic",
      parts: [1, 2, 1],
      exchangeEvery: 2,
      runs: [2, 3],
    },
    { ...PROFILED, grid: [17, 10, 13] },
  ];
  for (const one of mixed) await assertRanksEqualOracle(one, device, both);
  const thin = { ...mixed[0]!, grid: [6, 11, 8] } as const;
  await assertRejects(
    () => onRanks(thin, device, () => Promise.resolve(), both),
    SolverError,
    "thinner than their",
  );
  let opened = 0;
  const some = (part: Pick<RankCase, "grid">): Configuration => {
    const { share, ...how } = both(part);
    return opened++ > 0
      ? { ...how, share }
      : { ...how, share: { ...share, cpuSlices: 0, gpuSlices: part.grid[0] } };
  };
  await assertRejects(
    () => onRanks(mixed[0]!, device, () => Promise.resolve(), some),
    SolverError,
    "all or none",
  );
  // a program asks for it
  const problem = { stencil: life(), grid: [12, 9, 8], boundary: "zero", steps: 6 } as const,
    fields: Float32Array[] = [];
  for (const worlds of [localWorlds(2), [undefined]]) {
    const options = { device: gpu.device, configuration: both({ grid: [12, 9, 8] }), exchangeEvery: 2 };
    const { exchangeEvery: _, ...alone } = options;
    const [field] = await Promise.all(worlds.map(async (world) => {
      await using solver = await createSolver(problem, world ? { ...options, world } : alone);
      await solver.initialise();
      await solver.run(7);
      return await solver.read();
    }));
    fields.push(field!);
  }
  assertEquals(fields[0], fields[1]);
  // a window in a rank, beside one that lies on the GPU as a whole
  opened = 0;
  const window = ({ grid: [gpuSlices] }: Pick<RankCase, "grid">): Configuration => {
    const { share: _, ...how } = both({ grid: [3, 1, 1] }),
      share = { cpuSlices: 0, gpuSlices, exchangeEvery: 1 };
    const memory = opened++ > 0 ? {} : { deviceMemory: 60_000 };
    return { ...how, share: { ...share, cpuWorkers: 0, ...memory } };
  };
  await assertRanksEqualOracle({ ...mixed[0]!, parts: [1, 2, 1] }, device, window);
  cpuPool.dispose();
});
