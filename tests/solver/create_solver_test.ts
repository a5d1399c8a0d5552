/**
 * The solver against the oracle, with the caller's own values, materials, buffers and device. Whole numbers: every
 * result is bit for bit the oracle's.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import {
  assert,
  assertEquals,
  assertGreater,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import { along, equation } from "../../kernels/equation.ts";
import { indexOf } from "../../kernels/layout.ts";
import { add, atLeast, divide, exponential, multiply, subtract } from "../../kernels/operations.ts";
import { type FieldLevels, runReference } from "../../kernels/reference.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Boundary, Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Parameters as Values } from "../../kernels/traversals/traversal.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { createSolver, solverLayout } from "../../tuner/solver/create_solver.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { SolverError } from "../../tuner/solver/solver_error.ts";
import {
  packed,
  wholeNumberElastic,
  wholeNumberMedium,
  wholeNumberProfiles,
  wholeNumberWave,
} from "../kernels/whole_numbers.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

const STEPWISE = { threadsZ: 8, threadsY: 2, threadsX: 1 };

/** A configuration; the GPU alone unless the CPU gets slices. */
function configurationOf(
  [slices]: Grid,
  { traversal = "stepwise", cpuSlices = 0, exchangeEvery = 2, cpu, ...options }: {
    traversal?: string;
    parameters?: Values;
    cpuSlices?: number;
    exchangeEvery?: number;
    cpu?: Configuration["share"]["cpu"];
  } = {},
): Configuration {
  const cpuWorkers = cpuSlices > 0 ? 2 : 0;
  const share = { cpuSlices, gpuSlices: slices - cpuSlices, exchangeEvery, cpuWorkers, cpu };
  const { parameters = share.gpuSlices > 0 ? STEPWISE : {} } = options;
  return { traversal, parameters, share };
}

/** Small whole numbers that differ from plane to plane and level to level; those of materials are the equation's. */
function valueAt(plane: number, ago: number, of?: Stencil): (x: number, y: number, z: number) => number {
  const { fields, materials } = of?.update ?? { fields: [], materials: [] };
  const values = materials[plane - fields.length]?.values ?? [-2, -1, 0, 1, 2];
  return (x, y, z) => values[(x * 7 + y * 3 + z * 5 + plane * 11 + ago * 2) % values.length]!;
}

/** A dense level of all planes, as the oracle takes it. */
function denseLevel({ grid: [nx, ny, nz], stencil }: Problem, ago: number): FloatArray {
  const { update } = stencil, planes = planesOf(update);
  return Float32Array.from({ length: nx * planes * ny * nz }, (_, i) => {
    const z = i % nz, y = Math.floor(i / nz) % ny;
    const plane = Math.floor(i / nz / ny) % planes, x = Math.floor(i / nz / ny / planes);
    return valueAt(plane, plane < update.fields.length ? ago : 0, stencil)(x, y, z);
  });
}

/** One plane of a dense level. */
function planeOf({ grid: [nx, ny, nz], stencil: { update } }: Problem, level: FloatArray, plane: number) {
  const planes = planesOf(update), slice = ny * nz;
  const cells = new Float32Array(nx * slice);
  for (let x = 0; x < nx; x++) {
    const from = (x * planes + plane) * slice;
    cells.set(level.subarray(from, from + slice), x * slice);
  }
  return cells;
}

/** Writes every plane and level by function. */
async function writeAll(solver: Solver): Promise<void> {
  const { stencil, stencil: { update } } = solver.problem;
  const names = [...update.fields, ...update.materials.map(({ name }) => name)];
  for (const [plane, name] of names.entries()) {
    await solver.write(name, valueAt(plane, 0, stencil));
    if (readsPrevious(update) && plane < update.fields.length) {
      await solver.write(name, valueAt(plane, 1), { ago: 1 });
    }
  }
}

/** Every field and level is the oracle's. */
async function assertLevels(solver: Solver, expected: FieldLevels): Promise<void> {
  const { problem, problem: { stencil: { update } } } = solver;
  for (const [plane, name] of update.fields.entries()) {
    const current = planeOf(problem, expected.current as Float32Array, plane);
    assertEquals(await solver.read(name), current, `${name} at step ${solver.step}`);
    if (!readsPrevious(update)) continue;
    const previous = planeOf(problem, expected.previous as Float32Array, plane);
    assertEquals(await solver.read(name, { ago: 1 }), previous, `${name} before step ${solver.step}`);
  }
}

/** Runs the solver and the oracle, in two runs of an odd number of steps in all. */
async function assertSolves(gpu: GPUDevice, problem: Problem, configuration: Configuration): Promise<void> {
  await using solver = await createSolver(gpu, problem, configuration, { timeoutMs: 120_000 });
  await writeAll(solver);
  const { stencil: { update }, grid, boundary } = problem;
  let levels: FieldLevels = { current: denseLevel(problem, 0), previous: denseLevel(problem, 1) };
  await assertLevels(solver, levels);
  for (const [start, steps] of [[0, 3], [3, 2]] as const) {
    const { timeNs, cellsPerSecond } = await solver.run(steps);
    assert(timeNs > 0 && cellsPerSecond > 0);
    levels = runReference(levels, { update, grid, boundary, steps, start });
    await assertLevels(solver, levels);
  }
}

const GRID: Grid = [14, 9, 11];

const CASES: [name: string, stencil: Stencil, boundary: Boundary, options: Options][] = [
  ["stepwise", wholeNumberWave(4), "zero", {}],
  ["stepwise, periodic", wholeNumberWave(4), "periodic", {}],
  ["torres", wholeNumberWave(2), "zero", { traversal: "diamond-torre", parameters: SMALL_TORRE }],
  ["torres, own materials", wholeNumberMedium(1), "zero", {
    traversal: "diamond-torre",
    parameters: { ...SMALL_TORRE, packed: 0, held: 1 },
  }],
  ["several fields and own materials", wholeNumberElastic(), "periodic", {}],
  ["the CPU alone", wholeNumberWave(4), "periodic", { cpuSlices: 14 }],
  ["the CPU alone, own materials", wholeNumberElastic(), "zero", { cpuSlices: 14 }],
  ["shared", wholeNumberWave(4), "zero", { cpuSlices: 6 }],
  ["shared, diamonds on the CPU", wholeNumberWave(4), "periodic", {
    cpuSlices: 6,
    cpu: { traversal: "diamond-wavefront", parameters: { tiles: 1, levels: 2, block: 2 } },
  }],
  ["shared, periodic", wholeNumberWave(4), "periodic", { cpuSlices: 5 }],
  ["shared, torres", wholeNumberWave(2), "zero", {
    cpuSlices: 3,
    traversal: "diamond-torre",
    parameters: SMALL_TORRE,
  }],
  ["shared, own materials", wholeNumberElastic(), "periodic", { cpuSlices: 5, exchangeEvery: 1 }],
  ["shared, torres, own packed materials", packed(wholeNumberMedium(1), -2, 2), "zero", {
    cpuSlices: 3,
    traversal: "diamond-torre",
    parameters: { ...SMALL_TORRE, zPerThread: 2, threads: 6, packed: 1, held: 1 },
  }],
];

type Options = NonNullable<Parameters<typeof configurationOf>[1]>;

for (const [name, stencil, boundary, options] of CASES) {
  testOnGpu(`own values, ${name}: equals the oracle`, async ({ device }) => {
    const problem = { stencil, grid: GRID, boundary, steps: 8 };
    await assertSolves(device, problem, configurationOf(GRID, options));
  });
}

for (const cpuSlices of [0, 5]) {
  testOnGpu(`${cpuSlices} of 14 slices on the CPU: slices written between runs count`, async ({ device }) => {
    const problem: Problem = { stencil: wholeNumberWave(2), grid: GRID, boundary: "periodic", steps: 8 };
    const { stencil: { update }, boundary } = problem;
    await using solver = await createSolver(device, problem, configurationOf(GRID, { cpuSlices }));
    await writeAll(solver);
    await solver.run(3);
    let levels: FieldLevels = {
      current: denseLevel(problem, 0),
      previous: denseLevel(problem, 1),
    };
    levels = runReference(levels, { update, grid: GRID, boundary, steps: 3 });
    const perSlice = 9 * 11;
    // dense, one number, and across both shares and the ends of the grid
    const values = Float32Array.from({ length: 3 * perSlice }, (_, i) => i % 7);
    await solver.write("F", values, { x: 4, slices: 3 });
    await solver.write("F", 2, { x: 13 });
    await solver.write("F", Array.from(values), { ago: 1, x: 0, slices: 3 });
    levels.current.set(values, 4 * perSlice);
    levels.current.fill(2, 13 * perSlice);
    levels.previous.set(values, 0);
    await assertLevels(solver, levels);
    assertEquals(await solver.read("F", { x: 4, slices: 2 }), values.slice(0, 2 * perSlice));
    await solver.run(2);
    levels = runReference(levels, { update, grid: GRID, boundary, steps: 2, start: 3 });
    await assertLevels(solver, levels);
  });

  testOnGpu(`${cpuSlices} of 14 slices on the CPU: materials are the stencil's, fields zero`, async (gpu) => {
    const problem: Problem = { stencil: wholeNumberElastic(), grid: GRID, boundary: "zero", steps: 4 };
    const configuration = configurationOf(GRID, { cpuSlices, exchangeEvery: 1 });
    await using solver = await createSolver(gpu.device, problem, configuration);
    const initial = initialCells(problem, { kind: "noise", seed: 1 });
    for (const [i, { name }] of problem.stencil.update.materials.entries()) {
      assertEquals(await solver.read(name), planeOf(problem, initial, 9 + i), name);
    }
    for (const field of problem.stencil.update.fields) {
      assert((await solver.read(field)).every((value) => value === 0), field);
    }
    await solver.initialise("integers", 3);
    const other = initialCells(problem, { kind: "integers", seed: 3 });
    assertEquals(await solver.read("vy"), planeOf(problem, other, 1));
    await solver.run(1);
    assertEquals(solver.step, 1);
    await solver.initialise("zero");
    assertEquals([solver.step, (await solver.read("sxy")).some((value) => value !== 0)], [0, false]);
  });
}

for (const cpuSlices of [0, 5, 14]) {
  testOnGpu(
    `${cpuSlices} of 14 slices on the CPU: profiles are formulas' values, or what is written`,
    async (gpu) => {
      for (const boundary of ["periodic", "zero"] as const) {
        const problem: Problem = { stencil: wholeNumberProfiles(), grid: GRID, boundary, steps: 8 };
        const { stencil: { update } } = problem, own = { cpuSlices, exchangeEvery: 1 };
        await using solver = await createSolver(gpu.device, problem, configurationOf(GRID, own));
        const formula = Float32Array.from({ length: 14 }, (_, i) => Math.min(2, i - 3, 12 - i));
        assertEquals(await solver.read("dx"), formula);
        const [, dy, dz] = initialProfiles(update, GRID);
        assertEquals([await solver.read("dy"), await solver.read("dz")], [dy, dz]);
        await writeAll(solver);
        let levels: FieldLevels = { current: denseLevel(problem, 0), previous: denseLevel(problem, 1) };
        const run = async (start: number, ...profiles: FloatArray<ArrayBuffer>[]): Promise<void> => {
          await solver.run(3);
          levels = runReference(levels, { update, grid: GRID, boundary, steps: 3, start, profiles });
          await assertLevels(solver, levels);
        };
        await run(0, formula, dy!, dz!);
        const list = Array.from({ length: 9 }, (_, i) => i % 4 - 1), written = new Float32Array(14).fill(2);
        await solver.write("dy", list);
        await solver.write("dz", (i, y, z) => i === y && i === z ? i % 3 : NaN);
        await solver.write("dx", 2);
        await run(3, written, Float32Array.from(list), Float32Array.from({ length: 11 }, (_, i) => i % 3));
        await solver.initialise("integers", 3);
        assertEquals([await solver.read("dx"), await solver.read("dy")], [formula, dy]);
        const refused = (found: string, write: () => Promise<unknown>) =>
          assertRejects(write, RangeError, found);
        await refused("9 cells along y have 9 values: found 5", () => solver.write("dy", [1, 2, 3, 4, 5]));
        await refused("all values of dy at once are wanted: found x", () => solver.read("dy", { x: 1 }));
        await refused("must be one of u, dx, dy, dz", () => solver.read("d"));
      }
    },
  );
}

Deno.test("a source counts by the profiles at its cell, as they were written", async () => {
  const stencil = equation({
    name: "driven",
    fields: { u: [0, 1] },
    sources: { s: [-1, 1] },
    materials: { dx: along("x", (i) => add(i, 1)), dz: along("z", { values: [1] }) },
    step: ({ u, s, dx, dz }) => ({ u: divide(add(multiply(dx, u), multiply(dz, s)), dx) }),
  });
  const problem: Problem = { stencil, grid: [4, 1, 3], boundary: "zero", steps: 1 };
  await using solver = await createSolver(null, problem, configurationOf([4, 1, 3], { cpuSlices: 4 }));
  await solver.addSources("s", [[1, 0, 2], [3, 0, 0]], [12, 12]);
  await solver.run(1);
  assertEquals([...await solver.read("u")], [0, 0, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0]);
  await solver.write("dz", [3, 5, 2]);
  await solver.run(1);
  assertEquals([...await solver.read("u")], [0, 0, 0, 0, 0, 6 + 12, 0, 0, 0, 3 + 9, 0, 0]);
});

testOnGpu("the caller's buffers are used in place, and stay when the solver goes", async ({ device }) => {
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  for (const boundary of ["zero", "periodic"] as const) {
    const problem: Problem = { stencil: wholeNumberWave(2), grid: GRID, boundary, steps: 8 };
    const configuration = configurationOf(GRID);
    const layout = solverLayout(problem, configuration);
    const buffers = [0, 1].map((ago) => {
      const usage = STORAGE | COPY_SRC | COPY_DST;
      const buffer = device.createBuffer({ size: 4 * layout.length, usage });
      const cells = new Float32Array(layout.length);
      const value = valueAt(0, ago);
      forCells((x, y, z) => cells[indexOf(layout, [x, y, z])] = value(x, y, z));
      device.queue.writeBuffer(buffer, 0, cells);
      return buffer;
    }) as [GPUBuffer, GPUBuffer];
    const solver = await createSolver(device, problem, configuration, { buffers });
    assertEquals([solver.level(0), solver.level(1), solver.layout], [buffers[0], buffers[1], layout]);
    await solver.run(5);
    assertEquals(solver.level(0), buffers[1]);
    solver.dispose();

    const readable = device.createBuffer({ size: 4 * layout.length, usage: COPY_DST | MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffers[1], 0, readable, 0, 4 * layout.length);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(GPUMapMode.READ);
    const cells = new Float32Array(readable.getMappedRange());
    const { stencil: { update } } = problem;
    const levels = { current: denseLevel(problem, 0), previous: denseLevel(problem, 1) };
    const { current } = runReference(levels, { update, grid: GRID, boundary, steps: 5 });
    let place = 0;
    forCells((x, y, z) => assertEquals(cells[indexOf(layout, [x, y, z])], current[place++]));
    for (const buffer of [...buffers, readable]) buffer.destroy();
  }
});

function forCells(visit: (x: number, y: number, z: number) => void): void {
  for (let x = 0; x < GRID[0]; x++) {
    for (let y = 0; y < GRID[1]; y++) for (let z = 0; z < GRID[2]; z++) visit(x, y, z);
  }
}

testOnGpu("what the solver made is gone after it, and nothing else", async ({ device }) => {
  const problem: Problem = { stencil: heat(1), grid: GRID, boundary: "zero", steps: 8 };
  const solver = await createSolver(device, problem, configurationOf(GRID));
  const level = solver.level();
  const copy = async (): Promise<GPUError | null> => {
    const target = device.createBuffer({ size: 4, usage: GPUBufferUsage.COPY_DST });
    device.pushErrorScope("validation");
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(level, 0, target, 0, 4);
    device.queue.submit([encoder.finish()]);
    return await device.popErrorScope();
  };
  assertEquals(await copy(), null);
  // what is under way ends, what comes later is refused
  const running = solver.run(4);
  solver.dispose();
  assertEquals((await running).steps, 4);
  await assertRejects(() => solver.read(), RangeError, "Cannot read F: the solver is disposed");
  solver.dispose();
  assert(await copy() !== null, "the level was destroyed");
  using again = await createSolver(device, problem, configurationOf(GRID)); // the device is still there
  await again.run(1);
});

testOnGpu("calls need not wait for each other, and any number of steps runs", async ({ device }) => {
  const grid: Grid = [4, 4, 4];
  const problem: Problem = { stencil: life(), grid, boundary: "periodic", steps: 3 };
  await using solver = await createSolver(device, problem, configurationOf(grid));
  const start = Float32Array.from({ length: 64 }, (_, i) => i % 3 === 0 ? 1 : 0);
  const [, first, second, none, cells] = await Promise.all([
    solver.write("F", start),
    solver.run(1003),
    solver.run(4),
    solver.run(0),
    solver.read(),
  ]);
  assertEquals([first.steps, second.steps, solver.step], [1003, 4, 1007]);
  assertEquals([none.steps, none.timeNs, none.cellsPerSecond], [0, 0, 0]);
  assertGreater(first.timeNs, 0);
  const { update } = problem.stencil;
  const levels = { current: start, previous: start };
  assertEquals(cells, runReference(levels, { update, grid, boundary: "periodic", steps: 1007 }).current);
});

testOnGpu(
  "a problem needs no steps: runs of any length are right, with torres taller than they are long",
  async ({ device }) => {
    const grid: Grid = [60, 9, 11],
      problem = { stencil: wholeNumberWave(2), grid, boundary: "zero" } as const;
    const parameters = { ...SMALL_TORRE, nt: 16, bands: 2 };
    const configuration = configurationOf(grid, { traversal: "diamond-torre", parameters });
    assertEquals(solverLayout(problem, configuration).grid, problem.grid);
    await using solver = await createSolver(device, problem, configuration);
    await writeAll(solver);
    const { stencil: { update } } = problem;
    const start: FieldLevels = {
      current: denseLevel(solver.problem, 0),
      previous: denseLevel(solver.problem, 1),
    };
    for (const steps of [1, 3, 9]) await solver.run(steps);
    await assertLevels(solver, runReference(start, { update, grid, boundary: "zero", steps: 13 }));
  },
);

testOnGpu("the CPU alone needs no device", async () => {
  const problem: Problem = { stencil: life(), grid: GRID, boundary: "zero", steps: 3 };
  await using solver = await createSolver(null, problem, configurationOf(GRID, { cpuSlices: 14 }));
  await solver.initialise();
  await solver.run(3);
  const start = initialCells(problem, { kind: "binary", seed: 1 });
  const { update } = problem.stencil;
  const expected = runReference({ current: start, previous: start }, {
    update,
    grid: GRID,
    boundary: "zero",
    steps: 3,
  });
  assertEquals(await solver.read(), expected.current);
  assertEquals(solver.layout, undefined);
  assertThrows(() => solver.level(), RangeError, "the CPU computes alone");
});

testOnGpu("of f64 the CPU computes where the GPU does not grant it, and the choice says so", async () => {
  const { requestDevice } = GPUAdapter.prototype, asked: (readonly string[])[] = [];
  GPUAdapter.prototype.requestDevice = function (descriptor) {
    const features = [...descriptor?.requiredFeatures ?? []] as string[];
    asked.push(features);
    if (features.includes("wgpu-shader-f64")) return Promise.reject(new TypeError("unsupported"));
    return requestDevice.call(this, descriptor);
  };
  try {
    const problem = { stencil: heat(1), grid: GRID, boundary: "zero", precision: "f64" } as const;
    await using solver = await createSolver(problem);
    assertEquals(solver.configuration.share.gpuSlices, 0);
    assertStringIncludes(solver.choice!.message, "no GPU here grants wgpu-shader-f64");
    await using other = await createSolver({ ...problem, precision: "f32" });
    assertEquals(other.choice!.message.includes("f64"), false);
    assertEquals(asked.map((names) => names.some((name) => name.startsWith("wgpu-"))), [true, true, false]);
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
});

testOnGpu("a wrong request says in one line what was wanted and what was found", async ({ device }) => {
  const problem: Problem = { stencil: heat(1), grid: GRID, boundary: "zero", steps: 8 };
  const configuration = configurationOf(GRID);
  const refused = async (
    expected: string,
    changed: { problem?: Partial<Problem>; configuration?: Configuration; buffers?: GPUBuffer[] } = {},
    gpu: GPUDevice | null = device,
  ): Promise<void> => {
    const { buffers } = changed as { buffers?: [GPUBuffer, GPUBuffer] };
    const error = await assertRejects(
      () =>
        createSolver(
          gpu,
          { ...problem, ...changed.problem },
          changed.configuration ?? configuration,
          buffers && { buffers },
        ),
      Error,
      expected,
    );
    assertEquals(error.message.split("\n").length, 1);
  };
  await refused("the GPU's 14 slices need a GPUDevice: found null", {}, null);
  await refused("a grid of three whole numbers, at least 1, is wanted: found 14x9x0", {
    problem: { grid: [14, 9, 0] },
  });
  await refused("steps must be a whole number, at least 1: found 1.5", { problem: { steps: 1.5 } });
  await refused("Cannot create the solver: f64 needs wgpu-shader-f64 and wgpu-shader-int64: found neither", {
    problem: { precision: "f64" },
  });
  await refused("as zero,periodic,insulated, or walls: found open", {
    problem: { boundary: "open" as Boundary },
  });
  await refused("name must be one of stepwise", { configuration: { ...configuration, traversal: "zigzag" } });
  const share = { ...configuration.share, gpuSlices: 13 };
  await refused("shares of 0 and 13 slices do not make up 14", {
    configuration: { ...configuration, share },
  });
  await refused("a window of 4096 bytes holds", {
    configuration: { ...configuration, share: { ...configuration.share, deviceMemory: 4096 } },
  });
  const incomplete = { ...configuration, parameters: { threadsZ: 8, threadsY: 2 } };
  await refused("no value of threadsX, and stepwise has no default", { configuration: incomplete });
  const torres = configurationOf(GRID, { traversal: "diamond-torre", parameters: SMALL_TORRE });
  await refused("torres advance from one end of x", {
    problem: { boundary: "periodic" },
    configuration: torres,
  });
  const wide = configurationOf(GRID, { parameters: { ...STEPWISE, threadsZ: 4096 } });
  await refused("requestDevice's requiredLimits may have more", { configuration: wide });

  const make = (size: number, usage: number): GPUBuffer => device.createBuffer({ size, usage });
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const bytes = 4 * solverLayout(problem, configuration).length, usage = STORAGE | COPY_SRC | COPY_DST;
  const right = make(bytes, usage);
  await refused("the two buffers must be different: both are the same", { buffers: [right, right] });
  await refused(`each buffer must have at least ${bytes} bytes: one has ${bytes - 4}`, {
    buffers: [right, make(bytes - 4, usage)],
  });
  await refused("the buffers must have the usages STORAGE, COPY_SRC and COPY_DST", {
    buffers: [right, make(bytes, STORAGE)],
  });
  await refused("the GPU must compute all slices: 6 are the CPU's", {
    buffers: [right, make(bytes, usage)],
    configuration: configurationOf(GRID, { cpuSlices: 6 }),
  });

  using solver = await createSolver(device, problem, configuration);
  await assertRejects(() => solver.run(-1), RangeError, "whole number >= 0: current value is -1");
  await assertRejects(() => solver.run(0.5), RangeError, "current value is 0.5");
  await assertRejects(() => solver.read("G"), RangeError, 'the name must be one of F: found "G"');
  await assertRejects(() => solver.read("F", { ago: 1 }), RangeError, "ago must be 0 for F");
  await assertRejects(() => solver.read("F", { x: 14 }), RangeError, "slices must lie within 0 to 13");
  await assertRejects(() => solver.read("F", { x: 10, slices: 5 }), RangeError, "5 from 10 on");
  await assertRejects(
    () => solver.write("F", [1, 2]),
    RangeError,
    "14 slices have 1386 values: found 2",
  );
});

testOnGpu("a lost device is an error with its reason", async () => {
  const device = (await openDevice())!;
  const problem: Problem = { stencil: wave(2), grid: GRID, boundary: "zero", steps: 8 };
  using solver = await createSolver(device, problem, configurationOf(GRID));
  device.destroy();
  await device.lost;
  const error = await assertRejects(() => solver.run(1), SolverError, "Cannot run: ");
  assertEquals(error.reason, "device-lost");
  const late = await assertRejects(
    () => createSolver(device, problem, configurationOf(GRID)),
    SolverError,
    "Cannot create the solver: ",
  );
  assertEquals(late.reason, "device-lost");
});

Deno.test("a solver starts with the values of a material's function, and its samples are scattered where it is tuned", async () => {
  const stencil = equation({
    name: "pushed",
    fields: { u: [-1, 1] },
    materials: { force: (x) => atLeast(x, 0.8) },
    step: ({ u, force }) => ({ u: add(u, force) }),
  });
  const problem: Problem = { stencil, grid: [6, 6, 6], boundary: "zero", steps: 8 };
  const share = { cpuSlices: 6, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  await using solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.run(20);
  assertEquals([...new Set(await solver.read("u", { x: 0, slices: 5 }))], [0]);
  assertEquals([...new Set(await solver.read("u", { x: 5, slices: 1 }))], [20]);
  const tuned = initialCells(problem, { kind: "noise", seed: 1 });
  assertEquals([...new Set(planeOf(problem, tuned, 1).slice(0, 36))].sort(), [0, 1]);
});

Deno.test("a material that is not finite on the grid is refused, though its samples are", async () => {
  const stencil = equation({
    name: "pole",
    fields: { u: [0, 1] },
    materials: { m: (x) => divide(1, subtract(x, 0.5)) },
    step: ({ u, m }) => ({ u: multiply(u, m) }),
  });
  const make = (slices: number): Promise<Solver> => {
    const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
    const problem: Problem = { stencil, grid: [slices, 2, 2], boundary: "zero", steps: 1 };
    return createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  };
  await (await make(4))[Symbol.asyncDispose]();
  await assertRejects(
    () => make(5),
    RangeError,
    "Cannot fill the material m: a number that f32 can hold is wanted at (2, 0, 0): found Infinity",
  );
});

Deno.test("a signal that overflows is refused for the problem's steps, and for a longer run when it begins", async () => {
  const stencil = equation({
    name: "growth",
    fields: { u: [0, 1] },
    signal: (step) => exponential(step),
    step: ({ u }, signal) => ({ u: add(multiply(0, u), signal) }),
  });
  const share = { cpuSlices: 2, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const make = (steps: number): Promise<Solver> =>
    createSolver(null, { stencil, grid: [2, 2, 2], boundary: "zero", steps }, {
      traversal: "stepwise",
      parameters: {},
      share,
    });
  const wanted = "a signal that f32 can hold is wanted at step 89: found 4.4";
  await assertRejects(() => make(90), RangeError, `Cannot create the solver: ${wanted}`);
  await using solver = await make(89);
  await solver.run(80);
  await assertRejects(() => solver.run(10), RangeError, `Cannot run: ${wanted}`);
  assertEquals(solver.step, 80); // nothing was done
  await solver.run(9);
  assertEquals((await solver.read())[0], Math.fround(Math.exp(88)));
});

Deno.test("a function of the cell is asked once for both levels of a material", async () => {
  const stencil = equation({
    name: "drift",
    fields: { u: [0, 1] },
    materials: { v: { values: [3] } },
    step: ({ u, v }) => ({ u: add(u, v) }),
  });
  const problem: Problem = { stencil, grid: [3, 4, 5], boundary: "zero", steps: 2 };
  await using solver = await createSolver(problem, { device: null, profile: [] });
  let calls = 0;
  await solver.write("v", () => ++calls);
  assertEquals(calls, 60);
  await solver.run(2);
  assertEquals(await solver.read("u"), Float32Array.from({ length: 60 }, (_, i) => 2 * (i + 1)));
});

Deno.test("a material that is a function of the place has its values there when a solver begins", async () => {
  const stencil = equation({
    name: "drift",
    fields: { u: [0, 1] },
    materials: { v: (x, y, z) => add(multiply(100, x), multiply(10, y), z), w: { values: [3] } },
    step: ({ u, v, w }) => ({ u: add(u, multiply(v, w)) }),
  });
  const problem: Problem = { stencil, grid: [5, 4, 2], boundary: "zero", steps: 1 };
  const share = { cpuSlices: 5, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
  await using solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  const value = (i: number): number =>
    100 * (Math.floor(i / 8) + 0.5) / 5 + 10 * (Math.floor(i / 2) % 4 + 0.5) / 4 + (i % 2 + 0.5) / 2;
  const expected = Float32Array.from({ length: 40 }, (_, i) => value(i));
  assertEquals(await solver.read("v"), expected);
  await solver.run(1);
  assertEquals(await solver.read("u"), expected.map((value) => Math.fround(value * 3)));
});
