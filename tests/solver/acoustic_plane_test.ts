import { assert, assertAlmostEquals } from "@std/assert";
import { acoustic, type AcousticOptions, acousticTimeStep } from "../../kernels/stencils/acoustic.ts";
import type { OwnBoundaries, OwnGrid } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { THOROUGH } from "../thorough.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import "../own_thread.ts";

const NX = 23, NZ = 19, DEPTH = 3;

async function open(options: AcousticOptions, grid: OwnGrid, boundary: OwnBoundaries): Promise<Solver> {
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const problem = { stencil: acoustic(options), grid, boundary, steps: 100 };
  const solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.reset();
  return solver;
}

const largest = (values: Float32Array): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

for (
  const [order, surface, density, edges, boundary] of [
    [2, "free", [1000, 2500], [4, 5], ["zero", "zero"]],
    [4, "free", undefined, [0, 4], ["periodic", "zero"]],
    [8, "free", [1000, 2500], [5, 3], ["insulated", "zero"]],
    [6, "absorbing", [1000, 2500], [0, 4], ["zero", "insulated"]],
  ] as const
) {
  const name = `order ${order}, ${surface}, ${density ? "density, " : ""}edges ${edges}, ${boundary}`;
  const ignore = !THOROUGH && density === undefined;
  Deno.test(
    `sound on a plane is that of a medium in which nothing changes along y: ${name}`,
    { ignore },
    async () => {
      const medium = { order, surface, density, velocity: [1500, 3000], spacing: 12.5 } as const;
      const timeStep = 0.9 * acousticTimeStep(medium), steps = 150;
      const wavelet = Array.from({ length: 40 }, (_, n) => Math.sin(n / 5) * Math.sin(n * Math.PI / 40) ** 2);
      const velocityIn = (x: number, z: number): number => 1500 + 1500 * ((7 * x + 5 * z * z) % 13) / 12;
      const densityIn = (x: number, z: number): number => 1000 + 1500 * ((5 * x * x + 3 * z) % 11) / 10;
      const run = async (solver: Solver, own: (x: number, z: number) => readonly OwnGrid[]) => {
        await solver.write("velocity", (...cell: number[]) => velocityIn(cell[0]!, cell.at(-1)!));
        if (density) await solver.write("density", (...cell: number[]) => densityIn(cell[0]!, cell.at(-1)!));
        await solver.addSources("s", own(9.5, 1.25), wavelet, { interpolation: "sinc" });
        const places = [[14, 0.5], [6.25, 11.5], [20, 9]] as const;
        await solver.addReceivers("p", places.flatMap(([x, z]) => own(x, z).slice(0, 1)), {
          interpolation: "sinc",
        });
        await solver.run(steps);
        return await solver.traces();
      };
      using plane = await open({ ...medium, timeStep, edges, dimensions: 2 }, [NX, NZ], boundary);
      const [along, down] = boundary;
      using space = await open({ ...medium, timeStep, edges: [edges[0], 0, edges[1]] }, [NX, DEPTH, NZ], [
        along,
        "periodic",
        down,
      ]);
      const found = await run(plane, (x, z) => [[x, z]]);
      const wanted = await run(space, (x, z) => Array.from({ length: DEPTH }, (_, y) => [x, y, z] as const));
      const most = Math.max(...wanted.map(largest));
      found.forEach((trace, i) => {
        const off = largest(trace.map((value, n) => value - wanted[i]![n]!)) / most;
        assert(largest(trace) > 0.01 * most && off < 1e-5, `receiver ${i}: ${off}`);
      });
    },
  );
}

Deno.test("modes under a free surface on the upper face of y = 0 turn as the scheme says", async () => {
  const velocity = [2000, 2000] as const, spacing = 5, timeStep = 1e-3, steps = 101;
  using solver = await open(
    { velocity, spacing, timeStep, edges: 0, surface: "free", dimensions: 2 },
    [NX, NZ],
    "zero",
  );
  await solver.write("velocity", 2000);
  for (const [m, n] of [[1, 1], [2, 3], [5, 4]] as const) {
    // 0 one cell beyond the ends, at the surface half a cell above the first
    const kx = m * Math.PI / (NX + 1), ky = n * Math.PI / (NZ + 0.5);
    const squares = Math.sin(kx / 2) ** 2 + Math.sin(ky / 2) ** 2;
    const omega = 2 * Math.asin(2000 * timeStep / spacing * Math.sqrt(squares));
    const mode = (x: number, y: number) => Math.sin(kx * (x + 1)) * Math.sin(ky * (y + 0.5));
    await solver.reset();
    await solver.write("p", mode);
    await solver.write("p", (x, y) => Math.cos(omega) * mode(x, y), { ago: 1 });
    await solver.run(steps);
    (await solver.read("p")).forEach((value, i) => {
      const expected = Math.cos(omega * steps) * mode(Math.floor(i / NZ), i % NZ);
      assertAlmostEquals(value, expected, 3e-5, `mode ${m}, ${n}`);
    });
  }
});

/** What comes back of a wavelet of 13 cells, in decibels. */
async function reflected(order: number, edges: number, absorber: "matched" | "pml"): Promise<number> {
  const velocity = [3000, 3000] as const, spacing = 10, timeStep = 1.6e-3, steps = 330, inner = 24;
  const signature = Array.from({ length: steps }, (_, n) => {
    const a = (Math.PI * (3000 / (13 * spacing) * n * timeStep - 1.2)) ** 2;
    return (1 - 2 * a) * Math.exp(-a);
  });
  const shoot = async (options: AcousticOptions, half: number) => {
    const made = { velocity, spacing, timeStep, order, dimensions: 2, ...options } as const;
    using solver = await open(made, [2 * half, 2 * half], "zero");
    await solver.write("velocity", 3000);
    await solver.addSources("s", [[half, half]], signature);
    const places = [[20, 0], [0, 20], [20, 20], [8, 18]] as const;
    await solver.addReceivers("p", places.map(([x, y]) => [half + x, half + y] as const));
    await solver.run(steps);
    return await solver.traces();
  };
  const expected = await shoot({ edges: 0 }, 120), found = await shoot({ edges, absorber }, inner + edges);
  return Math.max(...found.map((trace, i) => {
    const difference = largest(trace.map((value, j) => value - expected[i]![j]!));
    return 20 * Math.log10(difference / largest(expected[i]!));
  }));
}

Deno.test("12 cells reflect less than -35 dB of sound of 13 cells of any order, those of a pml -59, 22 cells -36", async () => {
  for (const order of THOROUGH ? [2, 4, 6, 8, 10, 12, 14] : [2, 4, 14]) {
    for (const [absorber, most] of [["matched", -35], ["pml", -59]] as const) {
      const found = await reflected(order, 12, absorber);
      assert(found < most, `order ${order}, ${absorber}: ${found} dB`);
    }
  }
  const wider = await reflected(4, 22, "matched");
  assert(wider < -36, `${wider} dB`);
});

for (const [absorber, apart] of [["pml", 3], ["matched", 4]] as const) {
  Deno.test(`nothing grows within ${absorber} edges of sound in random media in 20,000 steps close to the largest one`, async () => {
    for (const order of THOROUGH ? [2, 4, 8, 14] : [4]) {
      const medium = { order, velocity: [1000, 4500], density: [1000, 1000 * apart], dimensions: 2 } as const,
        size = 24;
      const timeStep = 0.995 * acousticTimeStep(medium), made = { ...medium, timeStep, edges: 8, absorber };
      using solver = await open(made, [size, size], "zero");
      let state = 7;
      const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
      const random = (least: number, most: number) =>
        Float32Array.from({ length: size ** 2 }, () => least + (most - least) * next());
      await solver.write("velocity", random(1000, 4500));
      await solver.write("density", random(1000, 1000 * apart));
      await solver.write("p", random(-1, 1));
      await solver.run(200);
      const early = largest(await solver.read("p") as Float32Array);
      await solver.run(20_000);
      const late = largest(await solver.read("p") as Float32Array);
      assert(late <= early, `order ${order}: ${late} after ${early}`);
    }
  });
}
