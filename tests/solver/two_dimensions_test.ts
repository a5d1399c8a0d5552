import { assert, assertAlmostEquals, assertEquals, assertLess, assertRejects } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import { pointsOfBox } from "../../tuner/devices/survey.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { createSolver, solverLayout } from "../../tuner/solver/create_solver.ts";
import type { Snapshot } from "../../tuner/solver/snapshots.ts";
import { localWorlds, openRank } from "../ranks/local_world.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { readLevel } from "./read_level.ts";

const PLANE = { dimensions: 2 } as const, grid = [13, 17] as const, [nx, ny] = grid;

const onCpu: Configuration = {
  traversal: "stepwise",
  parameters: {},
  share: { cpuSlices: nx, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
};

const onGpu: Configuration = {
  traversal: "stepwise",
  parameters: { threadsZ: 8, threadsY: 1, threadsX: 1 },
  share: { cpuSlices: 0, gpuSlices: nx, exchangeEvery: 1, cpuWorkers: 0 },
};

const damped = equation({
  name: "damped",
  dimensions: 2,
  fields: { p: [-1, 1] },
  materials: { m: (x, y) => add(0.1, multiply(0.1, x), multiply(0.05, y)), d: along("y", [0, 0.1]) },
  sources: { s: [-1, 1] },
  step({ p, m, d, s }) {
    const around = subtract(add(p.at(1), p.at(-1), p.at(0, 1), p.at(0, -1)), multiply(4, p));
    return { p: add(p, multiply(m, add(around, s)), multiply(-1, d, p)) };
  },
});

Deno.test("values are written and read by x and y, materials and profiles too", async () => {
  const problem = { stencil: damped, grid, boundary: ["periodic", "insulated"], steps: 4 } as const;
  await using solver = await createSolver(null, problem, onCpu);
  const arguments_: number[] = [];
  await solver.write("p", (...cell) => {
    arguments_.push(cell.length);
    return 100 * cell[0] + cell[1];
  });
  assertEquals(new Set(arguments_), new Set([2]));
  assertEquals((await solver.read("p"))[3 * ny + 5], 305);
  assertEquals(
    await solver.read("p", { x: 12, slices: 1 }),
    Float32Array.from({ length: ny }, (_, y) => 1200 + y),
  );
  assertAlmostEquals((await solver.read("m"))[4 * ny + 16]!, 0.1 + 0.1 * 4.5 / 13 + 0.05 * 16.5 / 17, 1e-6);
  await solver.write("d", (i) => i / 100);
  assertEquals((await solver.read("d")).length, ny);
  await assertRejects(() => solver.write("d", [1, 2]), RangeError, "17 cells along y have 17 values");
  const none = solver.write("p", (x, y) => (x === 2 && y === 3 ? "a" : 0) as number);
  await assertRejects(() => none, RangeError, "also at (2, 3)");
});

Deno.test("a step is what x, y and the boundaries say, with images of each axis", async () => {
  const problem = { stencil: damped, grid, boundary: ["periodic", "insulated"], steps: 1 } as const;
  await using solver = await createSolver(null, problem, onCpu);
  const start = (x: number, y: number): number => Math.sin(x * x + 0.3 * y);
  await solver.write("p", start);
  await solver.write("m", 0.2);
  await solver.write("d", (y) => 0.01 * y);
  await solver.run(1);
  const at = (x: number, y: number): number =>
    start((x + nx) % nx, y < 0 ? -y : y >= ny ? 2 * (ny - 1) - y : y);
  (await solver.read("p")).forEach((value, i) => {
    const [x, y] = [Math.floor(i / ny), i % ny];
    const around = at(x + 1, y) + at(x - 1, y) + at(x, y + 1) + at(x, y - 1) - 4 * at(x, y);
    assertAlmostEquals(value, at(x, y) + 0.2 * around - 0.01 * y * at(x, y), 1e-6);
  });
});

Deno.test("sources and receivers have two coordinates, and lie between four cells", async () => {
  const survey = { sources: 1, receivers: 3 };
  const problem = { stencil: damped, grid, boundary: "zero", steps: 3, survey } as const;
  await using solver = await createSolver(null, problem, onCpu);
  await solver.write("m", 0.5);
  await solver.write("d", 0);
  await solver.addSources("s", [[4.25, 6]], [8]);
  await solver.addReceivers("p", [
    [4, 6],
    [5, 6],
    [4.5, 6.5],
    ...pointsOfBox({ low: [3, 2], size: [2, 3] }, 2),
  ]);
  await solver.run(1);
  const traces = await solver.traces();
  assertEquals(traces.map(([, after]) => after), [3, 1, 1, 0, 0]);
  for (const wrong of [[4, 6, 0], [4], [-0.5, 3], [3, 17]]) {
    const add = solver.addReceivers("p", [wrong as unknown as readonly [number, number]]);
    await assertRejects(() => add, RangeError, "positions must lie within 0 to 12, 16 cells");
  }
  await assertRejects(
    () => solver.addReceivers("p", []),
    RangeError,
    "a list of positions in cells along each axis",
  );
});

Deno.test("a free surface of two dimensions is the low end of y", async () => {
  const stencil = acoustic({ ...PLANE, velocity: [1500, 1500], edges: [3, 4], surface: "free" });
  const problem = { stencil, grid: [24, 20], boundary: "zero", steps: 8 } as const;
  const share = { ...onCpu.share, cpuSlices: 24 };
  await using solver = await createSolver(null, { ...problem, survey: { sources: 1, receivers: 2 } }, {
    ...onCpu,
    share,
  });
  assertEquals(stencil.update.profiles?.map(({ name, axis }) => [name, axis]), [
    ["ex", 0],
    ["mx", 0],
    ["ey", 2],
    ["my", 2],
    [
      "image1",
      2,
    ],
  ]);
  const ey = await solver.read("ey");
  assertEquals([ey[0], ey.at(-1)! > 0, (await solver.read("ex"))[0]! > 0], [0, true, true]);
  await solver.addSources("s", [[12, 2]], [1, 0, -1]);
  await solver.addReceivers("p", [[12, -0.5], [12, 0.5], [12, 0]]);
  await solver.run(8);
  const [surface, , below] = await solver.traces();
  assertEquals(surface!.every((value) => value === 0), true);
  assert(below!.some((value) => value !== 0));
});

Deno.test("snapshots have boxes and sizes of two numbers", async () => {
  const problem = { stencil: heat(1, PLANE), grid, boundary: "zero", steps: 2 } as const;
  await using solver = await createSolver(null, problem, onCpu);
  await solver.write("F", (x, y) => 100 * x + y);
  const taken: Snapshot[] = [];
  const onSnapshot = (one: Snapshot): void => void taken.push(one);
  await solver.addSnapshots("F", { every: 2, box: { low: [2, 3], size: [5, 6] }, stride: 2, onSnapshot });
  await solver.addSnapshots("F", { every: 4, onSnapshot });
  await solver.run(2);
  assertEquals(taken.map(({ step, size }) => [step, ...size]), [[0, 3, 3], [0, 13, 17], [2, 3, 3]]);
  assertEquals([...taken[0]!.values], [203, 205, 207, 403, 405, 407, 603, 605, 607]);
  assertEquals([...taken[1]!.values].slice(0, 19), [...Array(17).keys(), 100, 101]);
  for (const box of [{ low: [0, 0, 0], size: [2, 1, 2] }, { low: [0, 12], size: [1, 6] }] as const) {
    const add = solver.addSnapshots("F", { every: 2, box, onSnapshot });
    await assertRejects(() => add, RangeError, "the box must lie within the 13 × 17 cells");
  }
});

Deno.test("a grid of two dimensions is wanted of equations of two, and of no others", async () => {
  const refused = async (problem: object, message: string) => {
    const create = createSolver(null, { boundary: "zero", steps: 1, ...problem } as never, onCpu);
    await assertRejects(() => create, RangeError, message);
  };
  await refused(
    { stencil: wave(2), grid: [13, 17] },
    "a grid of three whole numbers, at least 1, is wanted: found 13x17",
  );
  for (const found of [[13, 17, 1], [13], [13, 0], [13, 17, 1, 1]]) {
    const message = `a grid of two whole numbers, at least 1, is wanted: found ${found.join("x")}`;
    await refused({ stencil: wave(2, PLANE), grid: found }, message);
  }
  const boundary = ["zero", "periodic"],
    such = "such as zero,periodic,insulated, or walls: found zero,periodic";
  await refused({ stencil: wave(2), grid: [9, 9, 9], boundary }, such);
  const wrong = { stencil: wave(2, PLANE), grid, boundary: ["zero", "open"] };
  await refused(wrong, "such as zero,insulated, or walls: found zero,open");
});

Deno.test("a choice for two dimensions runs, and names the grid as it was given", async () => {
  const device = await openDevice();
  const problem = { stencil: wave(4, PLANE), grid: [40, 33], boundary: "zero", steps: 8 } as const;
  const { configuration } = chooseConfiguration([], problem, device);
  {
    await using solver = await createSolver(device, problem, configuration);
    await solver.write("F", (x, y) => x === 20 && y === 16 ? 1 : 0);
    await solver.run(8);
    const field = await solver.read();
    // a drop in the middle stays its own mirror image along both axes, where nothing has come back
    for (const [dx, dy] of [[3, 5], [7, 1], [0, 6]] as const) {
      const at = (x: number, y: number): number => field[(20 + x) * 33 + 16 + y]!;
      assertAlmostEquals(at(dx, dy), at(-dx, -dy), 1e-6);
      assertAlmostEquals(at(dx, dy), at(dy, dx), 1e-6);
    }
  }
  device?.destroy();
});

testOnGpu(
  "with the caller's buffers profiles along both axes are those of a solver's own",
  async ({ device }) => {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const ramps = equation({
      name: "ramps",
      dimensions: 2,
      fields: { p: [-1, 1] },
      materials: { dx: along("x", (i) => multiply(2, i)), dy: along("y", (i, n) => subtract(n, i)) },
      step: ({ p, dx, dy }) => ({ p: add(p, dx, multiply(100, dy)) }),
    });
    for (const stencil of [ramps, acoustic({ ...PLANE, edges: 3 })]) {
      const problem = { stencil, grid, boundary: "zero", steps: 4 } as const;
      const { length } = solverLayout(problem, onGpu);
      const buffers = [0, 1].map(() => device.createBuffer({ size: 4 * length, usage })) as [
        GPUBuffer,
        GPUBuffer,
      ];
      await using own = await createSolver(device, problem, onGpu);
      await using borrowed = await createSolver(device, problem, onGpu, { buffers });
      for (const { name } of stencil.update.profiles!) {
        assertEquals(await borrowed.read(name), await own.read(name), name);
      }
      for (const buffer of buffers) buffer.destroy();
    }
  },
);

testOnGpu("the layout of a plane says where a cell lies in the GPU's array", async ({ device }) => {
  const problem = { stencil: heat(1, PLANE), grid, boundary: "zero", steps: 4 } as const;
  const { origin, slice } = solverLayout(problem, onGpu);
  await using solver = await createSolver(device, problem, onGpu);
  await solver.write("F", (x, y) => 100 * x + y);
  assertEquals((await readLevel(device, solver))[origin + 7 * slice + 11], 711);
});

Deno.test("two ranks share a plane along x or y, and compute what one does", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const choose = ({ grid: [cpuSlices] }: Problem) => ({ ...onCpu, share: { ...onCpu.share, cpuSlices } });
  for (
    const [stencil, boundary] of [[damped, ["periodic", "zero"]], [
      life(undefined, PLANE),
      "periodic",
    ]] as const
  ) {
    const problem = {
      stencil,
      grid: [14, 19],
      boundary,
      steps: 5,
      survey: { sources: 0, receivers: 1 },
    } as const;
    const [name] = stencil.update.fields,
      start = (x: number, y: number): number => Number((x * x + 3 * y) % 5 < 2);
    const share = { ...onCpu.share, cpuSlices: 14 };
    await using alone = await createSolver(null, problem, { ...onCpu, share });
    await alone.write(name!, start);
    await alone.addReceivers(name!, [[7, 9], [13, 0]]);
    await alone.run(5);
    for (const parts of [[2, 1], [1, 2]] as const) {
      const solvers = await Promise.all(
        localWorlds(2).map((world) =>
          openRank(world, device, problem, [], { parts, exchangeEvery: 2, choose })
        ),
      );
      await Promise.all(solvers.map((solver) => solver.initialise("zero")));
      await Promise.all(solvers.map((solver) => solver.write(name!, start)));
      await Promise.all(solvers.map((solver) => solver.addReceivers(name!, [[7, 9], [13, 0]])));
      await Promise.all(solvers.map((solver) => solver.run(5)));
      const [all] = await Promise.all(solvers.map((solver) => solver.read()));
      assertEquals(all, await alone.read(), `${parts}`);
      const [traces] = await Promise.all(solvers.map((solver) => solver.traces()));
      assertEquals(traces, await alone.traces());
      for (const solver of solvers) solver[Symbol.dispose]();
    }
    // a part's end is no image, while its grid's y is; what computes it is chosen
    const chosen = localWorlds(2).map((world) => openRank(world, device, problem, [], { parts: [2, 1] }));
    for (const solver of await Promise.all(chosen)) solver[Symbol.dispose]();
  }
  cpuPool.dispose();
});

Deno.test("a large plane of many rows is computed once by each of two workers", async () => {
  const problem = {
    stencil: life(undefined, PLANE),
    grid: [64, 64],
    boundary: "periodic",
    steps: 9,
  } as const;
  const played = async (cpuWorkers: number) => {
    const share = { ...onCpu.share, cpuSlices: 64, cpuWorkers };
    await using solver = await createSolver(null, problem, { ...onCpu, share });
    await solver.initialise("binary", 5);
    await solver.run(9);
    return await solver.read();
  };
  const one = await played(1);
  assertEquals(await played(2), one);
  assertLess(one.reduce((sum, cell) => sum + cell, 0), 64 * 64 / 2);
});
