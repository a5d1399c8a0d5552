import { assert, assertAlmostEquals } from "@std/assert";
import { maxwell, MAXWELL_FIELDS, type MaxwellOptions } from "../../kernels/stencils/maxwell.ts";
import type { Boundaries, Grid } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Solver } from "../../tuner/solver/solver.ts";

type Vector = readonly [x: number, y: number, z: number];
type Axis = 0 | 1 | 2;

/** A solver on the CPU, whose fields are 0. */
async function open(options: MaxwellOptions, grid: Grid, boundary: Boundaries): Promise<Solver> {
  const problem = { stencil: maxwell(options), grid, boundary, steps: 100 };
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.reset();
  return solver;
}

/** A cavity's grid of (n − 1)³ whole cells, and by mode of it the half waves along each axis. */
const CAVITY: Grid = [10, 8, 12];
const MODES: readonly Vector[] = [[1, 1, 0], [1, 0, 1], [0, 1, 2], [1, 1, 1], [2, 1, 3], [3, 5, 4]];

Deno.test("six modes of a closed cavity follow E(n) = E(0) cos ωnΔt, sin²(ωΔt/2) = S² Σ sin²(k_i h/2)", async () => {
  const courant = 0.5, steps = 200;
  using solver = await open({ courant, permittivity: 1 }, CAVITY, "zero");
  for (const mode of MODES) {
    const k = mode.map((m, axis) => Math.PI * m / CAVITY[axis]!), along = k.map((one) => Math.sin(one / 2));
    const frequency = 2 * Math.asin(courant * Math.hypot(...along));
    // without divergence: at right angles to sin(k_i/2)
    const [a, b, c] = along as [number, number, number],
      other: Vector = mode[2] === 0 ? [0, 0, 1] : [0.3, 1, -0.7];
    const part = (other[0] * a + other[1] * b + other[2] * c) / (a * a + b * b + c * c);
    const strength = other.map((one, axis) => one - part * along[axis]!);
    const electric = (axis: Axis) => (...cell: number[]): number =>
      cell.reduce(
        (product, i, of) => product * (of === axis ? Math.cos(k[of]! * (i + 0.5)) : Math.sin(k[of]! * i)),
        strength[axis]!,
      );
    // from −H to H in the first step
    const magnetic = (axis: Axis) => (...cell: number[]): number => {
      const [next, last] = [(axis + 1) % 3, (axis + 2) % 3] as [Axis, Axis];
      const difference = (of: Axis, by: Axis) =>
        electric(of)(...cell.with(by, cell[by]! + 1)) - electric(of)(...cell);
      return courant / 2 * (difference(last, next) - difference(next, last));
    };
    await solver.reset();
    for (const axis of [0, 1, 2] as const) {
      await solver.write(MAXWELL_FIELDS[axis]!, electric(axis));
      await solver.write(MAXWELL_FIELDS[3 + axis]!, magnetic(axis));
    }
    const start = await Promise.all(["ex", "ey", "ez"].map((name) => solver.read(name)));
    await solver.run(steps);
    const scale = Math.max(...start.flatMap((field) => Array.from(field, Math.abs)));
    for (const axis of [0, 1, 2] as const) {
      const found = await solver.read(MAXWELL_FIELDS[axis]!);
      const off = found.map((value, i) => value - Math.cos(frequency * steps) * start[axis]![i]!);
      const error = Math.max(...off.map(Math.abs)) / scale;
      assert(error < 1e-5, `mode ${mode}, axis ${axis}: ${error}`);
    }
  }
});

/** Numbers from 0 to 1, always the same. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

Deno.test("the energy of a cavity with random ε and μ drifts by less than 1e-5 in 50,000 steps", async () => {
  const grid: Grid = [6, 7, 5], [nx, ny, nz] = grid, next = randomly(3);
  using solver = await open({ permittivity: [1, 9], permeability: [1, 3] }, grid, "zero");
  const random = (least: number, most: number) =>
    Float32Array.from({ length: nx * ny * nz }, () => least + (most - least) * next());
  const materials = { permittivity: random(1, 9), permeability: random(1, 3) };
  for (const [name, values] of Object.entries(materials)) await solver.write(name, values);
  for (const name of MAXWELL_FIELDS) await solver.write(name, random(-1, 1));
  await solver.run(1); // which holds what lies on the walls
  const read = () => Promise.all(MAXWELL_FIELDS.map((name) => solver.read(name)));
  const at = (cell: readonly number[]): number => (cell[0]! * ny + cell[1]!) * nz + cell[2]!;
  const cells = Array.from(
    { length: nx * ny * nz },
    (_, i) => [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz],
  );
  /** A material's mean over cells, those that there are. */
  const mean = (
    values: Float32Array,
    cell: readonly number[],
    axes: readonly number[],
    of = (one: number) => one,
  ) => {
    const around = axes.reduce(
      (all, axis) => [...all, ...all.map((one) => one.with(axis, one[axis]! - 1))],
      [[...cell]],
    );
    const inside = around.filter((one) => Math.min(...one) >= 0);
    return inside.reduce((sum, one) => sum + of(values[at(one)]!), 0) / inside.length;
  };
  const weights = [0, 1, 2].flatMap((
    axis,
  ) => [
    Float64Array.from(cells, (cell) =>
      mean(
        materials.permittivity,
        cell,
        [0, 1, 2].filter((one) => one !== axis),
      )),
  ]).concat(
    [0, 1, 2].map((axis) =>
      Float64Array.from(cells, (cell) => 1 / mean(materials.permeability, cell, [axis], (mu) => 1 / mu))
    ),
  );
  const energy = async (): Promise<number> => {
    const before = await read();
    await solver.run(1);
    const after = await read();
    return weights.reduce(
      (sum, weight, field) =>
        weight.reduce(
          (sum, one, i) => sum + one * before[field]![i]! * (field < 3 ? before : after)[field]![i]!,
          sum,
        ),
      0,
    );
  };
  const first = await energy();
  await solver.run(50_000);
  assertAlmostEquals(await energy() / first, 1, 1e-5);
});
