/** Grids of one layer, x × y × 1: a plan has them as x × 1 × y, and nobody sees it but by the time that it takes. */
import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import { add, maximum, minimum, multiply, shifted, subtract } from "../../kernels/operations.ts";
import { plannedProblem, usersProblem } from "../../kernels/planned_problem.ts";
import { runReference } from "../../kernels/reference.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import type { AxisBoundaries, Boundaries, Grid } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { describeProblem, problemOf } from "../../tuner/profile/profile_problem.ts";
import { createSolver, solverLayout } from "../../tuner/solver/create_solver.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { localWorlds, openRank } from "../ranks/local_world.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { readLevel } from "./read_level.ts";
import "../own_thread.ts";

const grid: Grid = [11, 7, 1], [nx, ny] = grid;

/** Taps, shifts, a place, and profiles along every axis, in whole numbers; what is read differs along each. */
const layered = equation({
  name: "layered",
  fields: { u: [-4, 3] },
  materials: {
    m: (x, y, z) => add(multiply(22, x), multiply(14, y), multiply(2, z), -20),
    dx: along("x", (i) => subtract(i, 5)),
    dy: along("y", (i, n) => subtract(n, i)),
    dz: along("z", { values: [3] }),
  },
  sources: { s: [-1, 1] },
  step({ u, m, dx, dy, dz, s }) {
    const row = add(u.at(0, 1), multiply(2, u.at(0, 0, 1)), multiply(dy.at(0, -1), u.at(1, 0)));
    const sum = add(
      shifted(row, -1, 2, 0),
      shifted(row, 0, -1, 0),
      multiply(dx, dz, u),
      multiply(-3, m.at(0, 2)),
    );
    return { u: add(maximum(-99, minimum(99, subtract(sum, u.before()))), s) };
  },
});

const start = (x: number, y: number, z: number): number => (3 * x + 5 * y + 7 * z) % 11 - 5;
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

/** What the oracle makes of the problem as its user wrote it. */
async function assertRight(solver: Solver, boundary: Boundaries): Promise<void> {
  const { update } = layered, steps = 4, seen: number[][] = [];
  await solver.write("u", (...cell) => {
    seen.push(cell);
    return start(...cell);
  });
  assertEquals([seen.length, Math.max(...seen.map(([, y]) => y!)), Math.max(...seen.map(([, , z]) => z!))], [
    nx * ny,
    ny - 1,
    0,
  ]);
  const read = async (name: string) => [...await solver.read(name)];
  // materials lie beside the field in a slice
  const [u, m] = [await read("u"), await read("m")];
  assertEquals(m[3 * ny + 5], Math.fround(22 * 3.5 / 11 + 14 * 5.5 / 7 + 1 - 20));
  const levels = Float32Array.from({ length: 2 * nx * ny }, (_, i) => {
    const [x, plane, y] = [Math.floor(i / (2 * ny)), Math.floor(i / ny) % 2, i % ny];
    return (plane === 0 ? u : m)[x * ny + y]!;
  });
  const profiles = {
    values: [[...await solver.read("dx")], [...await solver.read("dy")], [...await solver.read("dz")]],
  };
  assertEquals(profiles.values.map(({ length }) => length), [nx, ny, 1]);
  const before = levels.map((value, i) => Math.floor(i / ny) % 2 === 0 ? 0 : value);
  const run = {
    update,
    grid,
    boundary,
    steps,
    profiles: profiles.values.map((one) => Float32Array.from(one)),
  };
  const { current } = runReference({ current: levels, previous: before }, run);
  await solver.run(steps);
  const right = current.filter((_, i) => Math.floor(i / ny) % 2 === 0);
  assertEquals(Float32Array.from(await read("u")), right, `${boundary}`);
}

const BOUNDARIES: readonly Boundaries[] = ["zero", "periodic", ["insulated", "zero", "periodic"], [
  "periodic",
  "insulated",
  "zero",
]];

Deno.test("a single layer on the CPU is what the oracle makes of it as it was given, for every boundary", async () => {
  for (const boundary of BOUNDARIES) {
    const problem = { stencil: layered, grid, boundary, steps: 4 };
    assertEquals(plannedProblem(problem).grid, [nx, 1, ny]);
    await using solver = await createSolver(null, problem, onCpu);
    assertEquals([solver.problem.grid, solver.problem.boundary, solver.problem.stencil], [
      grid,
      boundary,
      layered,
    ]);
    await assertRight(solver, boundary);
  }
});

testOnGpu(
  "a single layer on the GPU is what the oracle makes of it, and the layout says where cells lie",
  async ({ device }) => {
    const problem = { stencil: layered, grid, boundary: BOUNDARIES[2]!, steps: 4 };
    await using solver = await createSolver(device, problem, onGpu);
    await assertRight(solver, BOUNDARIES[2]!);
    await solver.write("u", (x, y, z) => 100 * x + 10 * y + z);
    const layout = solverLayout(problem, onGpu), { origin, slice, pitch } = layout;
    assertEquals(solver.layout, layout);
    assertEquals(layout.grid, grid);
    assertEquals((await readLevel(device, solver))[origin + 8 * slice + 6 * pitch], 860);
  },
);

Deno.test("sources, receivers, boxes and profiles of a single layer are where its user says", async () => {
  const survey = { sources: 1, receivers: 2 };
  const problem = { stencil: layered, grid, boundary: "zero", steps: 2, survey } as const;
  await using solver = await createSolver(null, problem, onCpu);
  for (const name of ["m", "dx", "dz"]) await solver.write(name, 0);
  await solver.write("dy", (i) => 10 + i);
  assertEquals([...await solver.read("dy")], [10, 11, 12, 13, 14, 15, 16]);
  await solver.addSources("s", [[4, 5, 0]], [3]);
  await solver.addReceivers("u", [[4, 5, 0], [4, 4.5, 0], [5, 4, 0]]);
  const boxes: number[][] = [];
  const onSnapshot = ({ size, values }: { size: readonly number[]; values: FloatArray }) =>
    void boxes.push([...size, ...values]);
  await solver.addSnapshots("u", { every: 1, box: { low: [4, 4, 0], size: [1, 3, 1] }, onSnapshot });
  await solver.run(1);
  assertEquals((await solver.traces()).map(([, after]) => after), [3, 1.5, 0]);
  assertEquals(boxes, [[1, 3, 1, 0, 0, 0], [1, 3, 1, 0, 3, 0]]);
});

Deno.test("profiles hold a single layer as it was given, and serve it again", () => {
  const boundary: AxisBoundaries = ["zero", "periodic", "insulated"];
  for (const stencil of [wave(4), elastic(), layered]) {
    const given = { stencil, grid: [90, 80, 1], boundary, steps: 9 } as const,
      problem = plannedProblem(given);
    assertEquals([problem.grid, problem.boundary], [[90, 1, 80], ["zero", "insulated", "periodic"]]);
    const stored = describeProblem(problem);
    assertEquals([stored.grid, stored.boundary], [[90, 80, 1], boundary]);
    assertEquals(stored, describeProblem(given));
    const back = problemOf(JSON.parse(JSON.stringify(stored)))!;
    assertEquals(back.grid, problem.grid);
    assertEquals(describeProblem(back), stored);
    assertEquals(usersProblem(back).grid, [90, 80, 1]);
    assertEquals(plannedProblem(problem), problem);
  }
  const choice = chooseConfiguration([], { stencil: wave(2), grid: [64, 64, 1], boundary: "zero" }, null);
  assertEquals(choice.configuration.share.cpuSlices, 64);
});

Deno.test("what has more than a layer, a single row, or a free surface stays as it is", () => {
  for (const grid of [[9, 8, 2], [9, 1, 1], [1, 1, 1], [9, 1, 8]] as const) {
    assertEquals(plannedProblem({ stencil: wave(2), grid, boundary: "zero" }).grid, grid);
  }
  const stencil = acoustic({ surface: "free" });
  assertEquals(plannedProblem({ stencil, grid: [80, 80, 1], boundary: "zero" }).stencil, stencil);
  const { stencil: made } = plannedProblem({ stencil: wave(2), grid: [9, 8, 1], boundary: "zero" });
  assertNotEquals(made.update, wave(2).update);
});

Deno.test("two ranks share a single layer along x or y", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const problem = { stencil: wave(2), grid: [12, 14, 1], boundary: "periodic", steps: 4 } as const;
  const plain = ({ grid: [cpuSlices] }: { grid: Grid }) => ({
    ...onCpu,
    share: { ...onCpu.share, cpuSlices, cpuWorkers: 1 },
  });
  await using alone = await createSolver(null, problem, plain({ grid: problem.grid }));
  await alone.write("F", start);
  await alone.run(4);
  for (const parts of [[2, 1, 1], [1, 2, 1]] as const) {
    const options = { parts, exchangeEvery: 2, choose: plain };
    const solvers = await Promise.all(
      localWorlds(2).map((world) => openRank(world, device, problem, [], options)),
    );
    await Promise.all(solvers.map((solver) => solver.write("F", start)));
    await Promise.all(solvers.map((solver) => solver.run(4)));
    const [all] = await Promise.all(solvers.map((solver) => solver.read()));
    assert(all !== undefined);
    assertEquals(all, await alone.read());
    for (const solver of solvers) solver[Symbol.dispose]();
  }
  cpuPool.dispose();
});
