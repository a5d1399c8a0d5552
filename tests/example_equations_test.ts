/**
 * The equations of `examples/` on every device and in every traversal that accepts them, compared with plain loops in
 * f64 that are written here from the formulas alone.
 *
 * @module
 */
import { assert, assertLess } from "@std/assert";
import { refusalOf } from "../kernels/capability.ts";
import advectionDiffusion from "../examples/advection_diffusion.ts";
import arrhenius from "../examples/arrhenius.ts";
import anisotropicDiffusion from "../examples/anisotropic_diffusion.ts";
import grayScott from "../examples/gray_scott.ts";
import grayScottOnPlane from "../examples/gray_scott_2d.ts";
import shallowWater from "../examples/shallow_water.ts";
import sineGordonDefault, { sineGordon } from "../examples/sine_gordon.ts";
import { definitionOf, stencilOf } from "../kernels/definition.ts";
import type { Boundary, Grid, Problem, Stencil } from "../kernels/stencils/stencil.ts";
import { cellsOf, imageOf } from "../kernels/stencils/stencil.ts";
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { traversalNamed } from "../kernels/traversals/all.ts";
import { errorBound } from "../models/error_bound.ts";
import type { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";
import { testOnGpu } from "./test_on_gpu.ts";
import { THOROUGH } from "./thorough.ts";
import "./own_thread.ts";
import { SMALL_TORRE } from "./kernels/small_torre.ts";

/** A field in f64: a value for every cell of the grid, and beyond it what the boundary says. */
type At = (x: number, y: number, z: number) => number;
type Planes = Record<string, At>;

/** One step by hand: the new values of every field in a cell. */
type ByHand = (planes: Planes, x: number, y: number, z: number) => Record<string, number>;

function diffuse({ u }: Planes, x: number, y: number, z: number): Record<string, number> {
  const [xx, yy, zz, xy] = [0.15, 0.1, 0.05, 0.06], here = u!(x, y, z);
  return {
    u: here + xx * (u!(x + 1, y, z) - 2 * here + u!(x - 1, y, z)) +
      yy * (u!(x, y + 1, z) - 2 * here + u!(x, y - 1, z)) +
      zz * (u!(x, y, z + 1) - 2 * here + u!(x, y, z - 1)) +
      xy / 2 * (u!(x + 1, y + 1, z) + u!(x - 1, y - 1, z) - u!(x + 1, y - 1, z) - u!(x - 1, y + 1, z)),
  };
}

function react({ u, v }: Planes, x: number, y: number, z: number): Record<string, number> {
  const around = (f: At) =>
    f(x - 1, y, z) + f(x + 1, y, z) + f(x, y - 1, z) + f(x, y + 1, z) + f(x, y, z - 1) + f(x, y, z + 1);
  const [a, b] = [u!(x, y, z), v!(x, y, z)];
  return {
    u: a + 0.16 * (around(u!) - 6 * a) - a * b ** 2 + 0.035 * (1 - a),
    v: b + 0.08 * (around(v!) - 6 * b) + a * b ** 2 - 0.095 * b,
  };
}

/** On a plane: what lies along y is the cell itself. */
function reactOnPlane({ u, v }: Planes, x: number, y: number, z: number): Record<string, number> {
  const flat = (f: At): At => (i, _, k) => f(i, y, k);
  return react({ u: flat(u!), v: flat(v!) }, x, y, z);
}

function advect({ c, wx, wy, wz }: Planes, x: number, y: number, z: number): Record<string, number> {
  const flux = (w: number, from: number, to: number) => (w > 0 ? w * from : w * to) + 0.05 * (from - to);
  const here = c!(x, y, z);
  return {
    c: here + flux(wx!(x - 1, y, z), c!(x - 1, y, z), here) - flux(wx!(x, y, z), here, c!(x + 1, y, z)) +
      flux(wy!(x, y - 1, z), c!(x, y - 1, z), here) - flux(wy!(x, y, z), here, c!(x, y + 1, z)) +
      flux(wz!(x, y, z - 1), c!(x, y, z - 1), here) - flux(wz!(x, y, z), here, c!(x, y, z + 1)),
  };
}

function flow({ h, p, q }: Planes, x: number, y: number, z: number): Record<string, number> {
  type State = readonly [h: number, p: number, q: number];
  const at = (
    dx: number,
    dz: number,
  ): State => [h!(x + dx, y, z + dz), p!(x + dx, y, z + dz), q!(x + dx, y, z + dz)];
  const fluxX = ([h, p, q]: State) => [p, p * p / h + h * h / 2, p * q / h];
  const fluxZ = ([h, p, q]: State) => [q, p * q / h, q * q / h + h * h / 2];
  const rusanov = (a: State, b: State, flux: typeof fluxX, momentum: 1 | 2) => {
    const speed = Math.max(...[a, b].map((one) => Math.abs(one[momentum] / one[0]) + Math.sqrt(one[0])));
    return a.map((value, i) => (flux(a)[i]! + flux(b)[i]!) / 2 - speed / 2 * (b[i]! - value));
  };
  const here = at(0, 0);
  const west = rusanov(at(-1, 0), here, fluxX, 1), east = rusanov(here, at(1, 0), fluxX, 1);
  const south = rusanov(at(0, -1), here, fluxZ, 2), north = rusanov(here, at(0, 1), fluxZ, 2);
  const next = here.map((value, i) => value - 0.2 * (east[i]! - west[i]! + north[i]! - south[i]!));
  return { h: next[0]!, p: next[1]!, q: next[2]! };
}

function around(f: At, x: number, y: number, z: number): number {
  return f(x - 1, y, z) + f(x + 1, y, z) + f(x, y - 1, z) + f(x, y + 1, z) + f(x, y, z - 1) + f(x, y, z + 1);
}

function swing({ u, v }: Planes, x: number, y: number, z: number): Record<string, number> {
  const here = u!(x, y, z), force = (around(u!, x, y, z) - 6 * here) / 0.04 - Math.sin(here);
  const speed = v!(x, y, z) + 0.1 * force;
  return { u: here + 0.1 * speed, v: speed };
}

function burn({ T, Y }: Planes, x: number, y: number, z: number): Record<string, number> {
  const t = T!(x, y, z), fuel = Y!(x, y, z);
  const rate = 0.0015 * 32 * fuel * Math.exp(-8 * (1 - t) / (0.2 + 0.8 * t));
  return {
    T: t + 0.15 * (around(T!, x, y, z) - 6 * t) + rate,
    Y: fuel + 0.15 * (around(Y!, x, y, z) - 6 * fuel) - rate,
  };
}

/** The values of a plane, and what lies beyond the grid. */
function lookUp(cells: ArrayLike<number>, [nx, ny, nz]: Grid, boundary: Boundary): At {
  const place = (i: number, n: number) => boundary === "zero" ? i : imageOf(i, n, boundary)!;
  return (x, y, z) => {
    const [i, j, k] = [place(x, nx), place(y, ny), place(z, nz)];
    const isInside = i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
    return isInside ? cells[(i * ny + j) * nz + k]! : 0;
  };
}

interface Example {
  readonly stencil: Stencil;
  readonly byHand: ByHand;
  readonly boundaries: readonly Boundary[];
}

const EXAMPLES: readonly Example[] = [
  { stencil: anisotropicDiffusion, byHand: diffuse, boundaries: ["zero", "periodic", "insulated"] },
  { stencil: grayScott, byHand: react, boundaries: ["zero", "periodic", "insulated"] },
  { stencil: grayScottOnPlane, byHand: reactOnPlane, boundaries: ["zero", "periodic", "insulated"] },
  { stencil: advectionDiffusion, byHand: advect, boundaries: ["periodic", "zero"] },
  { stencil: shallowWater, byHand: flow, boundaries: ["periodic", "insulated"] },
  { stencil: sineGordonDefault, byHand: swing, boundaries: ["periodic", "zero", "insulated"] },
  { stencil: arrhenius, byHand: burn, boundaries: ["insulated", "zero"] },
];

const RUNS = [3, 4];

/** Runs the solver, and the loops from the same start; every field must be the same but for rounding. */
async function assertSolves(
  gpu: GpuDevice | null,
  { stencil, byHand }: Example,
  { grid, boundary, traversal, parameters }: {
    grid: Grid;
    boundary: Boundary;
    traversal: string;
    parameters: Parameters;
  },
): Promise<void> {
  // as another program finds it in a profile: data alone
  const problem: Problem = { stencil: stencilOf(definitionOf(stencil)), grid, boundary, steps: 7 };
  const share = gpu === null
    ? { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 }
    : { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: 1, cpuWorkers: 0 };
  const configuration = { traversal, parameters, share };
  await using solver = await createSolver(gpu?.device ?? null, problem, configuration, {
    timeoutMs: 120_000,
  });
  const { fields, materials, ranges } = stencil.update, [, ny, nz] = grid;
  const planes: Record<string, Float64Array> = {};
  for (const [i, name] of fields.entries()) {
    const [low, high] = ranges![i]!;
    const start = (x: number, y: number, z: number) =>
      low + (high - low) * ((x * 7 + y * 3 + z * 5 + i * 2) % 11) / 11;
    await solver.write(name, stencil.dimensions === 2 ? (x, y) => start(x, 0, y) : start);
    planes[name] = Float64Array.from(
      { length: cellsOf(grid) },
      (_, cell) => Math.fround(start(Math.floor(cell / ny / nz), Math.floor(cell / nz) % ny, cell % nz)),
    );
  }
  for (const { name } of materials) planes[name] = Float64Array.from(await solver.read(name));
  for (const steps of RUNS) {
    await solver.run(steps);
    for (let step = 0; step < steps; step++) {
      const at = Object.fromEntries(
        Object.entries(planes).map(([name, cells]) => [name, lookUp(cells, grid, boundary)]),
      );
      const made = Array.from(
        { length: cellsOf(grid) },
        (_, cell) => byHand(at, Math.floor(cell / ny / nz), Math.floor(cell / nz) % ny, cell % nz),
      );
      for (const name of fields) planes[name] = Float64Array.from(made, (values) => values[name]!);
    }
    for (const name of fields) {
      const found = await solver.read(name), wanted = planes[name]!;
      const error = wanted.reduce((most, value, i) => Math.max(most, Math.abs(value - found[i]!)), 0);
      assertLess(
        error,
        errorBound({ ...problem, steps: solver.step }, 1.2),
        `${name} after ${solver.step} steps`,
      );
      assert(wanted.some((value) => Math.abs(value - wanted[0]!) > 1e-3), `${name} is the same everywhere`);
    }
  }
}

const ON_GPU: readonly (readonly [string, Parameters])[] = [
  ["stepwise", { threadsZ: 4, threadsY: 2, threadsX: 1 }],
  ["marching", { zPerThread: 2, threadsZ: 4, threadsY: 2, pieces: 1, tile: 0, ahead: 0 }],
  ["diamond-torre", { ...SMALL_TORRE, nt: 2, threads: 9, unroll: 1 }],
];

const ON_CPU: readonly (readonly [string, Parameters])[] = [
  ["stepwise", { strip: 2 }],
  ["diamond-wavefront", { tiles: 1, levels: 1, block: 1 }],
];

for (const example of EXAMPLES) {
  const { stencil: { name, dimensions }, boundaries } = example, ny = dimensions === 2 ? 1 : 5;
  const grid: Grid = [7, ny, 9];

  Deno.test(`${name} is its formula, on the CPU`, async () => {
    for (const [traversal, parameters] of ON_CPU) {
      // other orders meet every boundary in cpu_traversals_test.ts
      for (const boundary of THOROUGH || traversal === "stepwise" ? boundaries : boundaries.slice(0, 1)) {
        await assertSolves(null, example, { grid, boundary, traversal, parameters });
      }
    }
    await assertSolves(null, example, {
      grid: [3, Math.min(ny, 4), 1],
      boundary: boundaries[0]!,
      traversal: "stepwise",
      parameters: {},
    });
  });

  for (const [traversal, parameters] of ON_GPU) {
    const accepted = boundaries.filter((boundary) =>
      refusalOf(traversalNamed(traversal), { stencil: example.stencil, grid, boundary }) === undefined
    );
    if (accepted.length === 0) continue;
    // torres of equations with materials say where they have these from
    const isHeld = traversal === "diamond-torre" && example.stencil.update.materials.length > 0;
    const all = { ...parameters, ...(isHeld && { packed: 0, held: 1 }) };
    testOnGpu(`${name} is its formula, on the GPU: ${traversal}`, async (gpu) => {
      // each boundary is another shader; traversals meet them all in periodic_test.ts
      for (const boundary of THOROUGH ? accepted : accepted.slice(0, 1)) {
        await assertSolves(gpu, example, { grid, boundary, traversal, parameters: all });
      }
    });
  }
}

/** Runs the CPU along z, from values by field and place. */
async function alongZ(
  stencil: Stencil,
  cells: number,
  steps: number,
  start: Record<string, (z: number) => number>,
): Promise<Record<string, Float32Array>> {
  const grid: Grid = [1, 1, cells], share = { cpuSlices: 1, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const configuration = { traversal: "stepwise", parameters: {}, share } as const;
  await using solver = await createSolver(
    null,
    { stencil, grid, boundary: "insulated", steps },
    configuration,
  );
  for (const [name, of] of Object.entries(start)) await solver.write(name, (_x, _y, z) => of(z));
  await solver.run(steps);
  const fields = stencil.update.fields.map(async (name) => [name, await solver.read(name)] as const);
  return Object.fromEntries(await Promise.all(fields));
}

Deno.test("a breather of the sine–Gordon equation stays the closed form, to second order", async () => {
  // u = 4 atan(√(1 − ω²)/ω · sin ωt / cosh(√(1 − ω²) z)), a period and a quarter
  const omega = 0.6, width = Math.sqrt(1 - omega ** 2), end = 2.5 * Math.PI / omega;
  const breather = (z: number, t: number) =>
    4 * Math.atan(width / omega * Math.sin(omega * t) / Math.cosh(width * z));
  const errors: number[] = [];
  for (const cells of [161, 321]) {
    const spacing = 40 / (cells - 1), steps = Math.ceil(end / (0.5 * spacing)), step = end / steps;
    const at = (z: number) => spacing * z - 20;
    const found = await alongZ(sineGordon(spacing, step), cells, steps, {
      u: (z) => breather(at(z), 0),
      v: (z) => (breather(at(z), 0) - breather(at(z), -step)) / step,
    });
    const wanted = Float64Array.from(found.u!, (_, z) => breather(at(z), end));
    assert(Math.max(...wanted) > 3.7);
    errors.push(wanted.reduce((most, value, z) => Math.max(most, Math.abs(value - found.u![z]!)), 0));
  }
  assertLess(errors[0]!, 0.03);
  assert(errors[0]! / errors[1]! > 3.5 && errors[0]! / errors[1]! < 4.5, `${errors}`);
});

Deno.test("a flame of Arrhenius' rate runs at nearly its speed, and heat is the fuel that burnt", async () => {
  const cells = 300, front = (from: number) => (z: number) => 1 / (1 + Math.exp((z - from) * 0.1));
  const start = { T: front(60), Y: (z: number) => 1 - front(60)(z) };
  const placeAfter = async (steps: number): Promise<number> => {
    const { T, Y } = await alongZ(arrhenius, cells, steps, start);
    // T + Y diffuses alone: 1 everywhere stays 1
    assertLess(T!.reduce((most, t, z) => Math.max(most, Math.abs(t + Y![z]! - 1)), 0), 1e-4);
    assert(T![0]! > 0.99 && T!.at(-1)! < 0.01);
    return T!.reduce((sum, t) => sum + t, 0) * 0.1;
  };
  const speed = (await placeAfter(8000) - await placeAfter(4000)) / (4000 * 0.0015);
  assert(speed > 0.8 && speed < 1.05, `${speed}`);
});
