import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { along, equation } from "../../kernels/equation.ts";
import { add, multiply } from "../../kernels/operations.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic, lameOf } from "../../kernels/stencils/elastic.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { onRanks } from "../ranks/rank_case.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import "../own_thread.ts";

function open(stencil: Stencil): Promise<Solver> {
  const share = { cpuSlices: 4, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const problem = { stencil, grid: [4, 3], boundary: "zero", steps: 1 } as const;
  return createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
}

/** A field, a material with a range that is kept, and one with a range to tune in, in two dimensions. */
const bounded = (within?: readonly [number, number]) =>
  equation({
    name: "bounded",
    dimensions: 2,
    fields: { u: [-1, 1] },
    materials: {
      m: within ? { within, of: { values: [0.1, 0.2] } } : { values: [0.1, 0.2] },
      k: [0, 1],
      d: along("y", [0, 1]),
    },
    step: ({ u, m, k, d }) => ({ u: add(multiply(m, u), k, d) }),
  });

Deno.test("values that are not finite are refused in whatever form they are written, with their cell", async () => {
  await using solver = await open(bounded());
  for (const name of ["u", "k", "d"]) {
    const count = name === "d" ? 3 : 12, at = name === "d" ? "(2)" : "(2, 1)", [first] = at.split(",");
    const wrong = (value: number) =>
      Array.from({ length: count }, (_, i) => i === (count === 3 ? 2 : 7) ? value : 1);
    const reason = `Cannot write ${name}: numbers that f32 can hold are wanted: found `;
    for (const value of [NaN, Infinity, -Infinity, 1e39]) {
      const cases = [value, wrong(value), Float64Array.from(wrong(value)), (x: number, y: number) => {
        return x === 2 && (y === 1 || name === "d") ? value : 1;
      }];
      for (const values of cases) {
        const place = typeof values === "number" ? "" : at;
        await assertRejects(
          async () => await solver.write(name, values),
          RangeError,
          `${reason}${value} at ${place}`,
        );
      }
    }
    const found = `Infinity at ${first}`;
    await assertRejects(
      async () => await solver.write(name, Float32Array.from(wrong(1e39))),
      RangeError,
      found,
    );
    await solver.write(name, 3e38);
  }
});

Deno.test("a range that is kept is part of a definition, not of the hash, and must hold its values", () => {
  const stencil = bounded([0, 0.2]), data = definitionOf(stencil);
  assertEquals(definitionOf(stencilOf(JSON.parse(JSON.stringify(data)))), data);
  assertEquals(data.materials[0]!.within, [0, 0.2]);
  assertEquals(hashOf(stencil.update), hashOf(bounded().update));
  for (const within of [[0.15, 1], [1, 0], [0, NaN]] as const) {
    assertThrows(() => bounded(within), RangeError, "material m: ");
    const materials = [{ ...data.materials[0]!, within }, ...data.materials.slice(1)];
    assertThrows(() => stencilOf({ ...data, materials }), RangeError, "material m: ");
  }
});

Deno.test("built-in equations refuse materials beyond the range that their time step follows from", async () => {
  const rock = { velocity: [1500, 3000], density: [1000, 2600], edges: 0, dimensions: 2 } as const;
  const glass = { permittivity: [1, 11.7], permeability: [1, 2], conductivity: [0, 5], mode: "tm" } as const;
  for (
    const [stencil, right, wrong] of [
      [acoustic(rock), { velocity: [1500, 3000], density: [1000, 2600] }, {
        velocity: [4500, 3001, 1499, 0, -1000, NaN],
        density: [999, 2601, 0, -1],
      }],
      [acoustic({ ...rock, packed: true }), { velocity: [1500, 3000] }, { velocity: [4500, 0, -1000] }],
      [maxwell(glass), { permittivity: [1, 11.7], permeability: [1, 2], conductivity: [0, 5] }, {
        permittivity: [0.3, 0, -11.7, 12],
        permeability: [0.9, 3],
        conductivity: [-1e-9, 6],
      }],
    ] as [Stencil, Record<string, number[]>, Record<string, number[]>][]
  ) {
    await using solver = await open(stencil);
    for (const [name, values] of Object.entries(right)) {
      for (const value of values) await solver.write(name, value);
      await solver.write(name, (x) => values[x % 2]!);
    }
    for (const [name, values] of Object.entries(wrong)) {
      const before = await solver.read(name);
      for (const value of values) {
        const reason = `Cannot write ${name}: values must lie from `;
        const list = [...before.slice(1), value];
        await assertRejects(async () => await solver.write(name, value), RangeError, reason);
        await assertRejects(
          async () => await solver.write(name, list),
          RangeError,
          `found ${value} at (3, 2)`,
        );
      }
      assertEquals(await solver.read(name), before);
    }
  }
});

Deno.test("a solver does not run elastic waves in materials that are faster than the time step allows", async () => {
  const stencil = elastic({ velocity: [1500, 3000], edges: 0, dimensions: 2 });
  await using solver = await open(stencil);
  const write = async (p: number, s: number, rho: number, slices: { x?: number; slices?: number } = {}) => {
    for (const [name, value] of Object.entries({ ...lameOf(p, s, rho), density: rho })) {
      await solver.write(name, value, slices);
    }
  };
  const refused = (wanted: string) => assertRejects(async () => await solver.run(1), RangeError, wanted);
  await write(3000, 1700, 2600);
  await solver.run(2);
  await write(3100, 1700, 2600, { x: 2, slices: 1 });
  await refused("Cannot run: P waves of at most 3000 m/s are wanted: found 3100");
  await refused("at (2, 0)");
  await write(3000, 3100, 2600, { x: 2, slices: 1 });
  await refused("a resistance to pressure, 2λ + 2μ ≥ 0, is wanted");
  await write(1500, 0, 1000, { x: 2, slices: 1 });
  await solver.run(2);
  for (const density of [849, 7901, 1.2]) {
    await assertRejects(async () => await solver.write("density", density), RangeError, "from 850 to 7900");
  }
  // every combination that a run is tuned with
  await solver.initialise();
  await solver.run(1);
  const cpuPool = await CpuPool.create({ workers: 1 });
  const one = {
    stencil,
    grid: [12, 1, 9],
    boundary: "zero",
    parts: [2, 1, 1],
    exchangeEvery: 1,
    runs: [1],
  } as const;
  await onRanks(one, { gpu: undefined, cpuPool }, async (solvers) => {
    for (const [name, value] of Object.entries({ ...lameOf(3000, 0, 2600), density: 2600 })) {
      await Promise.all(solvers.map((solver) => {
        return solver.write(name, (x) => name === "lambda" && x === 8 ? 1.1 * value : value);
      }));
    }
    // every rank says what one found
    for (const run of solvers.map((solver) => solver.run(1))) {
      await assertRejects(() => run, RangeError, "at (8, 0)");
    }
  });
  cpuPool.dispose();
});
