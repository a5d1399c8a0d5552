import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { Interpolation } from "../../kernels/interpolation.ts";
import {
  elastic,
  ELASTIC_FIELDS,
  type ElasticOptions,
  elasticTimeStep,
  lameOf,
} from "../../kernels/stencils/elastic.ts";
import type { Boundaries, Grid } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { THOROUGH } from "../thorough.ts";
import "../own_thread.ts";

type Position = readonly [x: number, y: number, z: number];

const h = 10, density = 2200, vs = 1155, vp = vs * Math.sqrt(3);

/** What a test computes on the CPU: a uniform medium unless it writes another one. */
interface Model extends ElasticOptions {
  readonly grid: Grid;
  readonly boundary?: Boundaries;
  readonly write?: (solver: Solver) => Promise<void>;
}

/** What is sent, from where, and what is recorded where: positions are in cells. */
interface Shot {
  readonly sources: readonly (readonly [name: string, at: Position])[];
  readonly signature: ArrayLike<number>;
  readonly receivers: readonly (readonly [name: string, at: Position])[];
  readonly steps: number;
  readonly interpolation?: Interpolation;
}

const uniform = { velocity: [vp, vp], spacing: h } as const, timeStep = 0.9 * elasticTimeStep(uniform);

async function writeUniform(solver: Solver): Promise<void> {
  for (const [name, value] of Object.entries({ ...lameOf(vp, vs, density), density })) {
    await solver.write(name, value);
  }
}

async function solverOf({ grid, boundary = "zero", write = writeUniform, ...options }: Model) {
  const stencil = elastic({ ...uniform, timeStep, ...options });
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const problem = { stencil, grid, boundary, steps: 100 };
  // diamonds along y: several steps a pass, which stay in a core's cache
  const isPlane = grid[1] === 1,
    tiles = 2 * Math.max(1, Math.round(grid[1] / 48)),
    levels = Math.floor(grid[1] / tiles / 4);
  const solver = await createSolver(
    null,
    problem,
    isPlane
      ? { traversal: "stepwise", parameters: {}, share }
      : { traversal: "diamond-wavefront", parameters: { tiles, levels, block: 8 }, share },
  );
  await write(solver);
  return solver;
}

async function shoot(model: Model, ...shots: readonly Shot[]): Promise<Float32Array[][]> {
  await using solver = await solverOf(model);
  const all: Float32Array[][] = [];
  for (const { sources, signature, receivers, steps, interpolation = "sinc" } of shots) {
    await solver.reset();
    for (const [name, at] of sources) await solver.addSources(name, [at], signature, { interpolation });
    for (const [name, at] of receivers) await solver.addReceivers(name, [at], { interpolation });
    await solver.run(steps);
    all.push(await solver.traces());
  }
  return all;
}

/** A pulse around t = 1.1/f, its first and its second derivative. */
function pulse(t: number, f: number, derivative: 0 | 1 | 2 = 0): number {
  const a = (Math.PI * f) ** 2, s = t - 1.1 / f, gauss = Math.exp(-a * s * s);
  const [value, first] = [s * gauss, (1 - 2 * a * s * s) * gauss];
  return f * (derivative === 0 ? value : derivative === 1 ? first : -2 * a * s * (gauss * 2 + first));
}

const NEWTON = 1e9;

const pulseOf = (f: number, steps: number): number[] =>
  Array.from({ length: steps }, (_, n) => NEWTON * pulse(n * timeStep, f));

/** √(Σ(a − b)² / Σb²) of a velocity's samples, which lie half a step before each step's end. */
function distance(trace: ArrayLike<number>, expected: (t: number) => number): number {
  let difference = 0, size = 0;
  for (let j = 1; j < trace.length; j++) {
    const value = expected((j - 0.5) * timeStep);
    difference += (trace[j]! - value) ** 2;
    size += value ** 2;
  }
  return Math.sqrt(difference / size);
}

/** Stokes' solution: the velocity along `axis`, x metres from a force along x, in a medium without bounds. */
function stokes(x: readonly number[], axis: number, f: number, t: number): number {
  const r = Math.hypot(...x), g = x[0]! * x[axis]! / r ** 2, delta = axis === 0 ? 1 : 0;
  const pieces = 200, [from, to] = [r / vp, r / vs];
  let near = 0;
  for (let i = 0; i < pieces; i++) {
    const tau = from + (to - from) * (i + 0.5) / pieces;
    near += tau * pulse(t - tau, f, 1) * (to - from) / pieces;
  }
  const far = g / vp ** 2 * pulse(t - from, f, 1) - (g - delta) / vs ** 2 * pulse(t - to, f, 1);
  return NEWTON / (4 * Math.PI * density) * ((3 * g - delta) * near / r ** 3 + far / r);
}

Deno.test("a point force in a full space gives Stokes' solution within 3%", async () => {
  // S waves have 15 points where the velocities' spectrum is largest
  const f = vs / (15 * h),
    r = 18,
    half = THOROUGH ? 60 : 45,
    steps = Math.ceil((r * h / vs + 2.1 / f) / timeStep);
  const places: Position[] = [[r, 0, 0], [0, r, 0], [10, 10, 10], [12.25, -3.5, 12.75]];
  const receivers = places.flatMap(([x, y, z]) =>
    ["vx", "vy", "vz"].map((name) => [name, [half + x, half + y, half + z] as Position] as const)
  );
  const shot = {
    sources: [["fx", [half, half, half]]],
    signature: pulseOf(f, steps),
    receivers,
    steps,
  } as const;
  const grid: Grid = [2 * half + 1, 2 * half + 1, 2 * half + 1];
  const [traces] = await shoot({ grid, edges: THOROUGH ? 30 : 20 }, shot);
  places.forEach((place, i) => {
    const x = place.map((cells) => cells * h);
    for (const axis of [0, 1, 2]) {
      const trace = traces![3 * i + axis]!;
      if (x[0] === 0 || x[axis] === 0) continue;
      const error = distance(trace, (t) => stokes(x, axis, f, t));
      assert(error < 0.03, `v${"xyz"[axis]} at ${place}: ${error}`);
    }
  });
});

/** Pekeris (1955): the vertical velocity on a half-space, r metres from a vertical force on it; V_p = √3 V_s. */
function pekeris(r: number, f: number, t: number): number {
  const root = Math.sqrt(3), rayleigh = Math.sqrt(3 + root) / 2, pieces = 800;
  const displacement = (tau: number): number => {
    const late = Math.sqrt(3 * root + 5) / Math.sqrt(0.75 + root / 4 - tau * tau);
    if (tau > 1) return 12 - 2 * late;
    const early = root / Math.sqrt(tau * tau - 0.25);
    return 6 - early - late + Math.sqrt(3 * root - 5) / Math.sqrt(tau * tau + root / 4 - 0.75);
  };
  // the response to a force that sets in at once, with the pulse's second derivative; it is infinite at the Rayleigh wave
  let sum = 12 * pulse(t - rayleigh * r / vs, f, 1);
  const most = Math.sqrt(rayleigh - 1 / root);
  for (let i = 0; i < pieces; i++) {
    const s = most * (i + 0.5) / pieces, tau = rayleigh - s * s;
    sum += pulse(t - tau * r / vs, f, 2) * displacement(tau) * 2 * s * most / pieces * r / vs;
  }
  return NEWTON / (32 * Math.PI * density * vs ** 2 * r) * sum;
}

Deno.test("a force on a free surface gives Pekeris' solution within 5%", async () => {
  // 15 points per Rayleigh wavelength where the velocities' spectrum, of f² √f exp(−f²), is largest
  const speed = 0.9194 * vs, f = speed / (15 * h) / Math.sqrt(1.25), margin = THOROUGH ? 40 : 24;
  const edges = 16, distances = [15, 22.5, 30], steps = Math.ceil((30 * h / speed + 2.2 / f) / timeStep);
  const x = edges + margin, y = edges + margin, grid: Grid = [x + 30 + margin + edges, 2 * y + 1, 60];
  const shot = {
    sources: [["fz", [x, y, -0.5]]],
    signature: pulseOf(f, steps),
    receivers: distances.map((r) => ["vz", [x + r, y, -0.5]] as const),
    steps,
  } as const;
  const [traces] = await shoot({ grid, edges, surface: "free" }, shot);
  distances.forEach((r, i) => {
    const error = distance(traces![i]!, (t) => pekeris(r * h, f, t));
    assert(error < 0.05, `${r} cells away: ${error}`);
  });
});

const largest = (trace: ArrayLike<number>): number =>
  Array.from(trace).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

Deno.test("edges of 30 cells at 13 points per P wavelength reflect less than -40 dB", async () => {
  const f = vp / (13 * h), inner = 20, width = 30, steps = THOROUGH ? 420 : 340;
  const far = Math.ceil(0.45 * steps / 2);
  const traces = async (half: number, edges: number) => {
    const places: Position[] = [[18, 0, 0], [18, 0, 18], [0, 0, 18], [18, 0, -18], [10, 0, 10]];
    const receivers = places.flatMap(([x, y, z]) =>
      ["vx", "vz"].map((name) => [name, [half + x, y, half + z] as Position] as const)
    );
    const centre: Position = [half, 0, half], shot = { receivers, signature: pulseOf(f, steps), steps };
    const grid: Grid = [2 * half + 1, 1, 2 * half + 1];
    return await shoot(
      { grid, boundary: ["zero", "periodic", "zero"], edges: [edges, 0, edges] },
      { ...shot, sources: [["fx", centre]] },
      { ...shot, sources: [["mxx", centre], ["myy", centre], ["mzz", centre]] },
    );
  };
  const [found, expected] = [await traces(inner + width, width), await traces(far + inner, 0)];
  found.forEach((shot, kind) => {
    for (let i = 0; i < shot.length; i += 2) {
      const both = [i, i + 1], size = Math.max(...both.map((k) => largest(expected[kind]![k]!)));
      const difference = both.map((k) =>
        largest(shot[k]!.map((value, j) => value - expected[kind]![k]![j]!))
      );
      const decibels = 20 * Math.log10(Math.max(...difference) / size);
      assert(decibels < -40, `${decibels} dB at receiver ${i / 2} of shot ${kind}`);
    }
  });
});

/** A medium in which every cell has values of its own, a quarter of them water. */
async function writeRandom(solver: Solver): Promise<void> {
  let state = 5;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const [nx, ny, nz] = solver.problem.grid as Grid;
  const cells = Array.from({ length: nx * ny * nz }, () => {
    const density = 1000 + 2000 * next(), p = 0.5 * vp * (1 + next());
    return { ...lameOf(p, next() < 0.25 ? 0 : p / (1.42 + 1.5 * next()), density), density };
  });
  for (const name of ["lambda", "mu", "density"] as const) {
    await solver.write(name, Float32Array.from(cells, (cell) => cell[name]));
  }
}

Deno.test("nothing grows in a closed box of random rock and water under a free surface, at the largest stable step", async () => {
  const grid: Grid = [10, 9, 11], timeStep = elasticTimeStep(uniform);
  await using solver = await solverOf({ grid, edges: 0, surface: "free", timeStep, write: writeRandom });
  for (const name of ["vx", "vy", "vz"]) {
    await solver.write(name, (x, y, z) => (7 * x + 3 * y + 5 * z) % 11 - 5);
  }
  const sizes: number[] = [];
  for (const steps of [500, 2000, THOROUGH ? 20_000 : 4000]) {
    await solver.run(steps);
    sizes.push(
      Math.max(...await Promise.all(ELASTIC_FIELDS.map(async (name) => largest(await solver.read(name))))),
    );
  }
  assert(Math.max(...sizes) < 3 * sizes[0]! && sizes[2]! > 0.1 * sizes[0]!, `${sizes}`);
});

Deno.test("source and receiver may change places", async () => {
  const grid: Grid = [21, 19, 22], edges = [5, 4, 6] as const, steps = 150;
  const [one, other] = [[9.3, 8.6, 10.2], [12.5, 10.25, 12.75]] as const;
  const shot = { signature: pulseOf(12, steps), steps };
  const [[there], [back]] = await shoot(
    { grid, edges, write: writeRandom },
    { ...shot, sources: [["fx", one]], receivers: [["vz", other]] },
    { ...shot, sources: [["fz", other]], receivers: [["vx", one]] },
  ) as [[Float32Array], [Float32Array]];
  const difference = largest(there.map((value, i) => value - back[i]!)) / largest(there);
  assert(largest(there) > 0 && difference < 1e-4, `${difference}`);
});

Deno.test("forces and moments act, and receivers hear, at each component's own place", async () => {
  const grid: Grid = [12, 12, 12], interpolation = "linear";
  const stagger = elastic().stagger!, at = [6, 5, 4] as const, force = 1e6, moment = 1e9;
  const sum = (cells: ArrayLike<number>): number => Array.from(cells).reduce((sum, value) => sum + value, 0);
  await using solver = await solverOf({ grid, edges: 0, surface: "free" });
  for (const field of ELASTIC_FIELDS) {
    const place = at.map((cell, axis) => cell + stagger[field]![axis]!) as unknown as [
      number,
      number,
      number,
    ];
    const source = field.replace("v", "f").replace("s", "m"), isForce = field[0] === "v";
    const once = isForce ? force * timeStep / (density * h ** 3) : -moment * timeStep / (1e6 * h ** 3);
    await solver.reset();
    await solver.addSources(source, [place], [isForce ? force : moment], { interpolation });
    await solver.addReceivers(field, [place, place.with(0, place[0] + 0.25) as unknown as Position]);
    await solver.run(1);
    const values = await solver.read(field), index = (at[0] * 12 + at[1]) * 12 + at[2];
    assertAlmostEquals(values[index]! / once, 1, 1e-5, field);
    assertEquals([...values].filter((value) => value !== 0).length, 1, field);
    const [own, beside] = await solver.traces();
    assertEquals([own![1], beside![1]], [values[index], Math.fround(0.75 * values[index]!)], field);
  }
  // a force between two cells is shared by their places; on the surface half a cell moves, and what is beyond is an image
  const parts = [3 / 8, 7 / 6, 23 / 24];
  for (const [z, share] of [[5, 1], [5.25, 1], [-0.5, 1], [-0.25, 1], [0.75, 1]] as const) {
    await solver.reset();
    await solver.addSources("fz", [[6, 5, z]], [force], { interpolation });
    await solver.run(1);
    const moved = (await solver.read("vz")).map((value, i) => value * (parts[i % 12] ?? 1));
    assertAlmostEquals(sum(moved) * density * h ** 3 / (force * timeStep), share, 1e-5, `${z}`);
  }
  // beyond the surface vertical stress is the image of opposite sign, velocities are the same
  await solver.reset();
  await solver.write("szz", 1);
  await solver.write("vx", 1);
  for (const name of ["szz", "vx"]) await solver.addReceivers(name, [[6, 5, -0.25], [6, 5, 1]]);
  assertEquals((await solver.traces()).map(([value]) => Math.round(100 * value!) / 100), [0.5, 1, 1, 1]);
});
