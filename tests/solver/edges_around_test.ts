/** Edges around a grid: what users name stays where it was, and the field is that of a grid enlarged by hand. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import {
  add,
  atLeast,
  choose,
  maximum,
  minimum,
  multiply,
  subtract,
  type Value,
} from "../../kernels/operations.ts";
import { laplacian } from "../../kernels/operators.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import type { Expression } from "../../kernels/expression.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import {
  type OpenProblem,
  type OwnGrid,
  ownOf,
  type Stencil,
  type Wall,
} from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { absorbing, flux, value } from "../../kernels/walls.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { createSolver, solverLayout } from "../../tuner/solver/create_solver.ts";
import type { Snapshot } from "../../tuner/solver/snapshots.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { localWorlds, openRank } from "../ranks/local_world.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { readLevel } from "./read_level.ts";
import "../own_thread.ts";

/** A grid with edges around it, the same by hand, and how many cells come before its first. */
interface Case {
  readonly named: OpenProblem;
  readonly byHand: OpenProblem;
  readonly low: readonly number[];
  readonly field: string;
  readonly material: string;
  /** Of the material, from the first cell on, and of what is written there. */
  readonly range: readonly [number, number];
  readonly profile?: string;
  readonly source?: string;
}

/** Waves in a medium, with a profile along x. Its formula takes these cells at the ends of x for edges. */
const medium = (dimensions: 1 | 2 | 3, low: number, high: number): Stencil =>
  equation({
    name: "medium",
    dimensions,
    fields: { u: [-1, 1] },
    materials: {
      c: [0.05, 0.2],
      slope: (x, _y, z) => multiply(0.1, dimensions === 1 ? z : x),
      push: along(
        dimensions === 1 ? "z" : "x",
        ofGrid(low, high, (i, n) => multiply(0.01, i, subtract(n, i))),
      ),
    },
    sources: { s: [-1, 1] },
    step({ u, c, slope, push, s }) {
      const moved = subtract(multiply(2, u), u.before());
      return { u: add(moved, multiply(c, laplacian(u, { order: 4 })), multiply(slope, push, u.at(1)), s) };
    },
  });

/** A formula by its cell, from the first to the last of a grid that has more around it. */
function ofGrid(low: number, high: number, of: (i: Value, n: Value) => Value) {
  return (i: Expression, n: Expression): Value => {
    const cells = subtract(n, low + high), beyond = subtract(i, subtract(n, high + 1));
    const inner = choose(atLeast(beyond, 0), subtract(cells, 1), subtract(i, low));
    return of(choose(atLeast(i, low), inner, 0), cells);
  };
}

const end = (cells: number) => absorbing({ cells, courant: 0.4 });
/** A bent g along y, of a grid of n cells with edges of `low` and `high` around it, or without. */
const bent = (n: number, low: number, high: number): Wall => {
  const along = (place: Expression): Value => {
    const all = low + n + high, cell = subtract(multiply(place, all), low);
    const own = low + high === 0 ? place : multiply(1 / n, minimum(maximum(cell, 0.5), n - 0.5));
    return multiply(own, own);
  };
  return flux(0.25, { shape: { y: along } });
};
const grown = (grid: OwnGrid, edges: readonly (readonly [number, number])[]): OwnGrid =>
  grid.map((n, axis) =>
    n + (edges[axis]?.[0] ?? 0) + (edges[axis]?.[1] ?? 0)
  ) as readonly number[] as OwnGrid;

const own = { field: "u", material: "c", range: [0.05, 0.2], profile: "push", source: "s" } as const;
const SPACE: OwnGrid = [8, 4, 7], PLANE: OwnGrid = [9, 8], LAYER: OwnGrid = [9, 8, 1];
const rock = { order: 4, density: [1000, 2000], dimensions: 2, edges: [4, 3], surface: "free" } as const;
const CASES: Readonly<Record<string, Case>> = {
  "walls in space": {
    ...own,
    named: {
      stencil: medium(3, 0, 0),
      grid: SPACE,
      boundary: { x: [end(4), "zero" as never], y: [end(2), end(3)], z: [bent(4, 0, 0), "zero" as never] },
    },
    byHand: {
      stencil: medium(3, 4, 0),
      grid: grown(SPACE, [[4, 0], [2, 3]]),
      boundary: { x: [end(4), "zero" as never], y: [end(2), end(3)], z: [bent(4, 2, 3), "zero" as never] },
    },
    low: [4, 2, 0],
  },
  "walls in a plane": {
    ...own,
    named: { stencil: medium(2, 0, 0), grid: PLANE, boundary: { x: end(5), y: [value(0.1), end(3)] } },
    byHand: {
      stencil: medium(2, 5, 5),
      grid: grown(PLANE, [[5, 5], [0, 3]]),
      boundary: { x: end(5), y: [value(0.1), end(3)] },
    },
    low: [5, 0],
  },
  "sound in a single layer": {
    named: { stencil: acoustic({ edges: [4, 2, 0] }), grid: LAYER, boundary: ["zero", "zero", "periodic"] },
    byHand: {
      stencil: acoustic({ edges: [4, 2, 0] }),
      grid: grown(LAYER, [[4, 4], [2, 2]]),
      boundary: ["zero", "zero", "periodic"],
    },
    low: [4, 2, 0],
    ...{ field: "p", material: "velocity", range: [1500, 4000], source: "s" },
  },
  "sound below a free surface": {
    named: { stencil: acoustic(rock), grid: PLANE, boundary: "zero" },
    byHand: { stencil: acoustic(rock), grid: grown(PLANE, [[4, 4], [0, 3]]), boundary: "zero" },
    low: [4, 0],
    ...{ field: "p", material: "density", range: [1000, 2000], source: "s" },
  },
  "elastic waves": {
    named: { stencil: elastic({ edges: [3, 2, 0] }), grid: SPACE, boundary: "zero" },
    byHand: {
      stencil: elastic({ edges: [3, 2, 0] }),
      grid: grown(SPACE, [[3, 3], [2, 2]]),
      boundary: "zero",
    },
    low: [3, 2, 0],
    ...{ field: "vz", material: "density", range: [2000, 2500], source: "fz" },
  },
};

function configurationOf(
  problem: OpenProblem,
  device: GPUDevice | null,
  how: "whole" | "window" | "shared",
): Configuration {
  const { grid: [nx] } = plannedProblem(problem), cpuSlices = device === null ? nx : how === "shared" ? 7 : 0;
  const gpu = { threadsZ: 8, threadsY: 1, threadsX: 1 };
  const share = {
    ...{ cpuSlices, gpuSlices: nx - cpuSlices, exchangeEvery: 2, cpuWorkers: Math.min(1, cpuSlices) },
    ...(how === "window" && { deviceMemory: 100_000 }),
  };
  return { traversal: "stepwise", parameters: device ? gpu : {}, share };
}

/** What rank 0 has read, on every rank. */
type Shared = (values: ArrayLike<number>) => ArrayLike<number> | Promise<ArrayLike<number>>;

/** Writes, sends, records and computes: all that names cells, which lie `low` further in a grid enlarged by hand. */
async function used(solver: Solver, one: Case, isNamed: boolean, shared: Shared = (values) => values) {
  const { field, material, profile, source, range: [least, most] } = one;
  const { grid: wanted, stencil } = one.named, grid = wanted as readonly number[];
  const low = isNamed ? grid.map(() => 0) : one.low, found: Record<string, unknown> = {};
  const place = (...at: number[]) => at.slice(0, grid.length).map((i, axis) => i + low[axis]!) as never;
  const shape = ownOf(stencil, solver.problem.grid), [first = 0] = low;
  const named = (cell: readonly number[]) =>
    cell.slice(0, grid.length).map((i, axis) => Math.min(Math.max(i - low[axis]!, 0), grid[axis]! - 1));
  const mediumAt = (...cell: number[]): number => {
    const [x = 0, y = 0, z = 0] = named(cell);
    return least + (most - least) * ((7 * x + 5 * y * y + 3 * z) % 13) / 16;
  };
  const isOwn = (cell: readonly number[]) =>
    cell.slice(0, grid.length).every((i, axis) => i >= low[axis]! && i < low[axis]! + grid[axis]!);
  const startAt = (shift: number) => (...cell: number[]): number =>
    isOwn(cell) ? 0.01 * ((named(cell).reduce((sum, i) => 3 * sum + i, shift)) % 11 - 5) : 0;
  const inside = (values: ArrayLike<number>, slices = shape[0]!, from = 0): number[] => {
    const [, ny = 1, nz = 1] = shape as readonly number[];
    return Array.from(values).filter((_, i) =>
      isOwn([from + Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz].slice(0, grid.length)) &&
      slices > 0
    );
  };
  await solver.write(material, mediumAt);
  await solver.write(field, startAt(1));
  if (profile && !isNamed) await solver.write("slope", (x) => 0.1 * (named([x])[0]! + 0.5) / grid[0]!);
  const { length: size } = await shared(await solver.read(field, { x: first + 2, slices: 1 }));
  const rest = shape.slice(1),
    cellOf = (i: number) => rest.length === 1 ? [i] : [Math.floor(i / rest[1]!), i % rest[1]!];
  const list = (x: number, at: (...cell: number[]) => number) =>
    Array.from({ length: size }, (_, i) => at(x, ...cellOf(i)));
  // a slice whose cells in edges stay as they are
  const put = async (x: number, at: (...cell: number[]) => number): Promise<void> => {
    const now = await shared(await solver.read(field, { x, slices: 1 }));
    const values = Array.from(now, (value, i) => isOwn([x, ...cellOf(i)]) ? at(x, ...cellOf(i)) : value);
    await solver.write(field, values, { x, slices: 1 });
  };
  await put(first + 2, startAt(4));
  const last = first + grid[0]! - 1, after = isNamed ? 1 : shape[0]! - last;
  const edited = (...[, ...cell]: number[]): number => mediumAt(last, ...cell) * 0.5 + least * 0.5;
  for (let x = last; x < last + after; x++) await solver.write(material, list(x, edited), { x, slices: 1 });
  if (profile) {
    const { length: n } = await solver.read(profile),
      pushed = (i: number) => 0.5 * ((named([i])[0]! * 5) % 7);
    await solver.write(profile, Array.from({ length: n }, (_, i) => pushed(i)));
    found.profile = Array.from(await solver.read(profile)).slice(first, first + grid[0]!);
  }
  const waves = [0.3, -0.2, 0.5, 0.1];
  if (source) await solver.addSources(source, [place(3.25, 1.5, 0)], waves, { weight: (x) => x - first });
  await solver.addReceivers(field, [
    place(0, 0, 0),
    place(5.5, 1.75, 0),
    place(grid[0]! - 1, grid[1]! - 1, 0),
  ]);
  const taken: Snapshot[] = [];
  const box = { low: place(1, 1, 0), size: grid.map((n, axis) => axis < 2 ? n - 1 : 1) as never };
  await solver.addSnapshots(field, { every: 3, box, stride: 2, onSnapshot: (one) => void taken.push(one) });
  await solver.run(4);
  await put(first + 4, startAt(7));
  await solver.run(4);
  for (const name of [field, material]) found[name] = inside(await solver.read(name));
  found.slice = inside(await solver.read(field, { x: first + 3, slices: 1 }), 1, first + 3);
  found.traces = (await solver.traces()).map((trace) => [...trace]);
  found.taken = taken.map(({ step, values }) => [step, ...values]);
  return found;
}

/** On the CPU, or on the GPU as a whole, through a window, or with the CPU. */
async function assertSame(
  one: Case,
  device: GPUDevice | null,
  how: "whole" | "window" | "shared" = "whole",
): Promise<void> {
  const on = (problem: OpenProblem) => createSolver(device, problem, configurationOf(problem, device, how));
  await using around = await on({ ...one.named, edges: "around" });
  await using byHand = await on(one.byHand);
  if (device) assertEquals(around.layout === undefined, how === "window");
  const found = await used(around, one, true), wanted = await used(byHand, one, false);
  assertEquals(found, wanted);
  assert((found.traces as number[][]).every((trace) => trace.some((value) => value !== 0)));
  // the solver's own problem makes the same again
  assertEquals(plannedProblem(around.problem as OpenProblem).grid, plannedProblem(one.byHand).grid);
  const { length } = await around.read(one.field);
  assertEquals(length, around.problem.grid.reduce((product, n) => product * n, 1));
  const from = await around.save(), { configuration, problem } = around;
  await using again = await createSolver(problem, { device, configuration, from });
  await around.run(3);
  await again.run(3);
  assertEquals(await again.traces(), await around.traces());
  assertEquals(await again.read(one.field), await around.read(one.field));
  if (one.profile) return; // a profile by hand is another equation
  const other = createSolver(one.byHand, { device, configuration, from });
  await assertRejects(() => other, RangeError, "edges within wanted: found around");
}

for (const [name, one] of Object.entries(CASES)) {
  Deno.test(`a grid with edges around it is one enlarged by hand, on the CPU: ${name}`, () =>
    assertSame(one, null));
}

testOnGpu("a grid with edges around it is one enlarged by hand, on the GPU", async ({ device }) => {
  for (const one of Object.values(CASES)) await assertSame(one, device);
});

testOnGpu(
  "a grid with edges around it is one enlarged by hand, in a window and in parts",
  async ({ device }) => {
    for (const how of ["window", "shared"] as const) await assertSame(CASES["walls in space"]!, device, how);
  },
);

Deno.test("a grid with edges around it is one enlarged by hand, on two ranks along x, y or z", async () => {
  const cpuPool = await CpuPool.create({ workers: 1 }), device = { gpu: undefined, cpuPool };
  const one = CASES["walls in space"]!;
  await using byHand = await createSolver(null, one.byHand, configurationOf(one.byHand, null, "whole"));
  const wanted = await used(byHand, one, false);
  for (const parts of [[2, 1, 1], [1, 2, 1], [1, 1, 2]] as const) {
    const choose = (problem: OpenProblem) => configurationOf(problem, null, "whole");
    const options = { parts, exchangeEvery: parts[2] > 1 ? 1 : 2, choose };
    const solvers = await Promise.all(
      localWorlds(2).map((world) => openRank(world, device, { ...one.named, edges: "around" }, [], options)),
    );
    const readings = Array.from({ length: 4 }, () => Promise.withResolvers<ArrayLike<number>>());
    const [found] = await Promise.all(solvers.map((solver, rank) => {
      let count = 0;
      return used(solver as Solver, one, true, (values) => {
        const reading = readings[count++]!;
        if (rank === 0) reading.resolve(values);
        return reading.promise;
      });
    }));
    assertEquals(found, wanted, `${parts}`);
    for (const solver of solvers) solver[Symbol.dispose]();
  }
  cpuPool.dispose();
});

testOnGpu("a layout says where cells of a grid with edges around it lie", async ({ device }) => {
  for (const { named, field } of [CASES["walls in a plane"]!, CASES["sound in a single layer"]!]) {
    const problem = { ...named, edges: "around" } as const,
      configuration = configurationOf(problem, device, "whole");
    await using solver = await createSolver(device, problem, configuration);
    await solver.write(field, (...cell) => cell.reduce((sum, i) => 10 * sum + i, 1));
    const layout = solverLayout(problem, configuration), { origin, slice, pitch } = layout;
    assertEquals([solver.layout, layout.grid], [layout, solver.problem.grid]);
    const level = await readLevel(device, solver),
      [nx, ny, nz] = layout.grid,
      found: number[] = [];
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) {
        for (let z = 0; z < nz; z++) found.push(level[origin + x * slice + y * pitch + z]!);
      }
    }
    assertEquals(found, [...await solver.read(field)]);
  }
});

Deno.test("a line with edges around it is one enlarged by hand", async () => {
  const n = 12, stencil = medium(1, 0, 0), boundary = { x: [end(4), value(0.5)] } as const;
  const found: unknown[] = [];
  for (const low of [0, 4]) {
    const problem: OpenProblem = low === 0
      ? { stencil, grid: [1, 1, n], boundary, edges: "around" }
      : { stencil: medium(1, 4, 0), grid: [1, 1, n + 4], boundary };
    await using solver = await createSolver(problem, { device: null });
    await solver.write("c", (_x, _y, z) => 0.05 + 0.01 * Math.max(z - low, 0));
    if (low > 0) await solver.write("slope", (_x, _y, z) => 0.1 * (Math.max(z - low, 0) + 0.5) / n);
    await solver.addSources("s", [[0, 0, 3.5 + low]], [1, -1]);
    await solver.addReceivers("u", [[0, 0, low], [0, 0, n - 1 + low]]);
    await solver.run(9);
    found.push([(await solver.read()).slice(low), await solver.traces()]);
  }
  assertEquals(found[0], found[1]);
});

Deno.test("what breaks in edges around a grid is said by cells that count from the grid's first", async () => {
  const stencil = acoustic({ edges: 3, dimensions: 2 }),
    configuration = { traversal: "stepwise", parameters: {} };
  const share = { cpuSlices: 16, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  await using solver = await createSolver({ stencil, grid: [10, 9], boundary: "zero", edges: "around" }, {
    device: null,
    configuration: { ...configuration, share },
  });
  await solver.write("velocity", 2000);
  await solver.write("p", (x, y) => x === 0 && y === 0 ? 3e38 : 0);
  await assertRejects(() => solver.run(40).then(() => solver.run(0)), Error, "in p at (-3, -3)");
});

Deno.test("edges that make no sense are refused, with what was wanted and found", async () => {
  const plane = { grid: [12, 30], boundary: "zero" } as const, sound = acoustic({ edges: 7, dimensions: 2 });
  const walls = (courant: number) => ({ x: absorbing({ cells: 4, courant }), y: "zero" } as const);
  const line = wave(2, { dimensions: 2 });
  for (
    const [problem, wanted] of [
      [
        { ...plane, stencil: sound },
        "at least 14 cells along x, those of edges, are wanted: found 12",
      ],
      [
        { ...plane, stencil: elastic({ edges: [2, 16], dimensions: 2 }) },
        "at least 32 cells along y, those of edges, are wanted: found 30",
      ],
      [
        { grid: [9, 9, 6], boundary: "zero", stencil: maxwell({ edges: 4 }) },
        "at least 8 cells along z, those of edges, are wanted: found 6",
      ],
      [{ ...plane, grid: [7, 30], stencil: line, boundary: walls(0.5) }, "at least 8 cells along x"],
      [
        { ...plane, stencil: line, edges: "around" },
        "or absorbing walls, are wanted around the grid: found none",
      ],
      [{ ...plane, stencil: sound, edges: "outside" }, 'edges within or around: found "outside"'],
      [{ ...plane, stencil: line, boundary: walls(2) }, "a courant up to 1, a step's reach"],
    ] as const
  ) {
    await assertRejects(() => createSolver(problem as OpenProblem, { device: null }), RangeError, wanted);
  }
  await using solver = await createSolver({ ...plane, stencil: sound, edges: "around" }, { device: null });
  await assertRejects(
    () => solver.addReceivers("p", [[12, 3]]),
    RangeError,
    "within 0 to 11, 29 cells: found 12, 3",
  );
  await assertRejects(() => solver.read("p", { x: 12 }), RangeError, "slices must lie within 0 to 11");
});
