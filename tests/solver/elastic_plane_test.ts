import { assert, assertEquals } from "@std/assert";
import { elastic, type ElasticOptions, elasticTimeStep, lameOf } from "../../kernels/stencils/elastic.ts";
import type { OwnBoundaries, OwnGrid } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import "../own_thread.ts";

const FIELDS = ["vx", "vz", "sxx", "szz", "sxz"], NX = 19, NZ = 17, DEPTH = 3;

/** With a power of two a force for each metre is one of three dimensions times h, to the last bit. */
const SPACING = 8, ROCK = { velocity: [1500, 4000], spacing: SPACING } as const;

async function open(options: ElasticOptions, grid: OwnGrid, boundary: OwnBoundaries): Promise<Solver> {
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const problem = { stencil: elastic({ ...ROCK, ...options }), grid, boundary, steps: 100 };
  const solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.reset();
  return solver;
}

/** Rock that is another one in each cell of the plane, a quarter of it water. */
function randomRock() {
  let state = 5;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Array.from({ length: NX * NZ }, () => {
    const density = 1000 + 2000 * next(), p = 2000 * (1 + next());
    return { ...lameOf(p, next() < 0.25 ? 0 : p / (1.42 + 1.5 * next()), density), density };
  });
}

for (const surface of ["free", "absorbing"] as const) {
  for (const [edges, boundary] of [[[4, 3], ["zero", "zero"]], [[0, 3], ["periodic", "zero"]]] as const) {
    Deno.test(`a plane computes the very values of rock in which nothing changes along y: ${surface}, edges ${edges}`, async () => {
      const steps = 60, timeStep = 0.9 * elasticTimeStep(ROCK), rock = randomRock();
      const signature = Array.from({ length: 30 }, (_, n) => 1e6 * Math.sin(n / 4) ** 2);
      const run = async (
        solver: Solver,
        own: (x: number, z: number) => readonly OwnGrid[],
        factor: number,
      ) => {
        for (const name of ["lambda", "mu", "density"] as const) {
          await solver.write(name, (...cell: number[]) => rock[cell[0]! * NZ + cell.at(-1)!]![name]);
        }
        for (
          const [source, x, z] of [["fx", 6.5, 8], ["fz", 12, 5.25], ["mxx", 9, 9], ["mxz", 4, 11.5]] as const
        ) {
          await solver.addSources(source, own(x, z), signature.map((value) => factor * value));
        }
        for (const name of FIELDS) await solver.addReceivers(name, own(7.25, 6.5).slice(0, 1));
        await solver.run(steps);
        return {
          fields: await Promise.all(FIELDS.map((name) => solver.read(name))),
          traces: await solver.traces(),
        };
      };
      using plane = await open({ edges, surface, timeStep, dimensions: 2 }, [NX, NZ], boundary);
      using space = await open({ edges: [edges[0], 0, edges[1]], surface, timeStep }, [NX, DEPTH, NZ], [
        boundary[0],
        "periodic",
        boundary[1],
      ]);
      const found = await run(plane, (x, z) => [[x, z]], 1);
      const wanted = await run(
        space,
        (x, z) => Array.from({ length: DEPTH }, (_, y) => [x, y, z] as const),
        SPACING,
      );
      found.fields.forEach((field, i) => {
        const slice = wanted.fields[i]!.filter((_, cell) => Math.floor(cell / NZ) % DEPTH === 1);
        assert(field.some((value) => Math.abs(value) > 1e-9), FIELDS[i]);
        assertEquals(field, slice, FIELDS[i]);
      });
      assertEquals(found.traces, wanted.traces);
    });
  }
}

Deno.test("nothing grows in a closed rectangle of random rock and water under a free surface, at the largest stable step", async () => {
  const rock = randomRock(), timeStep = elasticTimeStep({ ...ROCK, dimensions: 2 });
  using solver = await open({ edges: 0, surface: "free", timeStep, dimensions: 2 }, [NX, NZ], "zero");
  for (const name of ["lambda", "mu", "density"] as const) {
    await solver.write(name, rock.map((one) => one[name]));
  }
  for (const name of ["vx", "vz"]) await solver.write(name, (x, z) => (7 * x + 5 * z) % 11 - 5);
  const sizes: number[] = [];
  for (const steps of [500, 2000, 10_000]) {
    await solver.run(steps);
    const fields = await Promise.all(FIELDS.map((name) => solver.read(name)));
    sizes.push(
      Math.max(...fields.map((field) => field.reduce((most, one) => Math.max(most, Math.abs(one)), 0))),
    );
  }
  assert(Math.max(...sizes) < 3 * sizes[0]! && sizes[2]! > 0.1 * sizes[0]!, `${sizes}`);
});
