import { assert, assertEquals } from "@std/assert";
import { elastic, type ElasticOptions, elasticTimeStep, lameOf } from "../../kernels/stencils/elastic.ts";
import type { OwnBoundaries, OwnGrid } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import "../own_thread.ts";

const FIELDS = ["vx", "vz", "sxx", "szz", "sxz"], NX = 19, NZ = 17, DEPTH = 3;

/** With a power of two a force for each metre is one of three dimensions times h, to the last bit. */
const SPACING = 8, ROCK = { velocity: [1500, 4000], spacing: SPACING } as const;

type Way = readonly [GPUDevice | null, traversal: string, parameters: Configuration["parameters"]];

async function open(
  options: ElasticOptions,
  grid: OwnGrid,
  boundary: OwnBoundaries,
  [device, traversal, parameters]: Way = [null, "stepwise", {}],
): Promise<Solver> {
  const [cpuSlices, gpuSlices] = device === null ? [grid[0], 0] : [0, grid[0]];
  const share = { cpuSlices, gpuSlices, exchangeEvery: 1, cpuWorkers: device === null ? 1 : 0 };
  const problem = { stencil: elastic({ ...ROCK, ...options }), grid, boundary, steps: 100 };
  const solver = await createSolver(device, problem, { traversal, parameters, share });
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

/** What comes back of a force's waves, in decibels of the strongest. */
async function reflected(edges: number, absorber: "matched" | "pml"): Promise<number> {
  const p = 3000, s = p / Math.sqrt(3), spacing = 10, timeStep = 1.6e-3, steps = 400, inner = 20;
  // 13 cells are an S wave's length
  const frequency = s / (13 * spacing);
  const signature = Array.from({ length: steps }, (_, n) => {
    const a = (Math.PI * (frequency * n * timeStep - 1.2)) ** 2;
    return 1e6 * (1 - 2 * a) * Math.exp(-a);
  });
  const shoot = async (options: ElasticOptions, half: number) => {
    const grid = [2 * half, 2 * half] as const, medium = { velocity: [p, p], density: [2000, 2000] } as const;
    using solver = await open({ ...medium, spacing, timeStep, dimensions: 2, ...options }, grid, "zero");
    const rock = { ...lameOf(p, s, 2000), density: 2000 };
    for (const [name, value] of Object.entries(rock)) await solver.write(name, value);
    await solver.addSources("fz", [[half, half]], signature);
    const places = [[18, 0], [0, 18], [18, 18], [7, 16]].map(([x, z]) => [half + x!, half + z!] as const);
    for (const name of ["vx", "vz"]) await solver.addReceivers(name, places);
    await solver.run(steps);
    return await solver.traces();
  };
  const expected = await shoot({ edges: 0 }, 110), found = await shoot({ edges, absorber }, inner + edges);
  const largest = (trace: ArrayLike<number>) => Math.max(...Array.from(trace, Math.abs));
  return Math.max(...found.map((trace, i) => {
    const strongest = Math.max(largest(expected[i]!), largest(expected[(i + 4) % 8]!));
    return 20 * Math.log10(largest(trace.map((value, j) => value - expected[i]![j]!)) / strongest);
  }));
}

Deno.test("a pml of 12 cells reflects less than -65 dB of S waves of 13 cells, where 30 damping cells reflect -40", async () => {
  const pml = await reflected(12, "pml");
  assert(pml < -65, `${pml} dB`);
  const damping = await reflected(30, "matched");
  assert(damping > -55 && damping < -35, `${damping} dB`);
});

Deno.test("nothing grows within a pml of rocks that go on in it, under the sea, in 20,000 steps", async () => {
  const edges = 6,
    size = 22,
    options = { velocity: [1500, 4500], density: [1000, 3000], spacing: 10 } as const;
  const timeStep = 0.995 * elasticTimeStep({ ...options, dimensions: 2 });
  const made = { ...options, timeStep, edges, absorber: "pml", dimensions: 2, surface: "free" } as const;
  using solver = await open(made, [size, size], "zero");
  let state = 5;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const rocks = Array.from({ length: 64 }, () => {
    const p = 1500 + 3000 * next(), density = 1000 + 2000 * next();
    return { ...lameOf(p, p / (1.42 + 1.5 * next()), density), density };
  });
  const sea = { ...lameOf(1500, 0, 1000), density: 1000 };
  const rockAt = (x: number, z: number) => {
    const [a, b] = [Math.max(edges, Math.min(x, size - edges - 1)), Math.min(z, size - edges - 1)];
    return b < 4 ? sea : rocks[8 * Math.floor(a / 4) + Math.floor(b / 4)]!;
  };
  for (const name of ["lambda", "mu", "density"] as const) {
    await solver.write(name, (x, z) => rockAt(x, z)[name]);
  }
  for (const name of ["vx", "vz"]) await solver.write(name, () => 2 * next() - 1);
  const most = async () => {
    const read = await Promise.all(["vx", "vz"].map((name) => solver.read(name)));
    return Math.max(...read.flatMap((values) => Array.from(values, Math.abs)));
  };
  await solver.run(100);
  const early = await most();
  await solver.run(20_000);
  assert(await most() <= 1.5 * early, `${await most()} after ${early}`);
});

testOnGpu(
  "a pml in layers on a GPU gives what it gives on the CPU, of forces and of moments",
  async ({ device }) => {
    const shoot = async (way?: Way) => {
      const options = { edges: [3, 2], absorber: "pml", dimensions: 2 } as const;
      using solver = await open(options, [21, 14], "zero", way);
      const rock = { ...lameOf(4000, 2000, 2000), density: 2000 };
      for (const [name, value] of Object.entries(rock)) await solver.write(name, value);
      await solver.addSources("fz", [[3, 4]], [1e6, 2e6, -1e6]);
      await solver.addSources("mxx", [[12, 2]], [1e7, 3e7, -2e7]);
      await solver.addReceivers("vz", [[1, 1], [4, 6], [20, 12]]);
      await solver.run(60);
      return await solver.traces();
    };
    const expected = await shoot(),
      most = Math.max(...expected.flatMap((trace) => Array.from(trace, Math.abs)));
    const march = { zPerThread: 2, threadsZ: 8, threadsY: 1, pieces: 2, tile: 0, ahead: 1 };
    for (
      const [name, parameters] of [["stepwise", { threadsZ: 8, threadsY: 1, threadsX: 2 }], [
        "marching",
        march,
      ]] as const
    ) {
      const found = await shoot([device, name, parameters]);
      found.forEach((trace, i) =>
        trace.forEach((value, j) =>
          assert(Math.abs(value - expected[i]![j]!) < 1e-5 * most, `${name}, ${i}, ${j}`)
        )
      );
    }
  },
);
