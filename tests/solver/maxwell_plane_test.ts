import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import {
  maxwell,
  maxwellLimit,
  type MaxwellOptions,
  SPEED_OF_LIGHT,
  VACUUM_IMPEDANCE,
} from "../../kernels/stencils/maxwell.ts";
import type { Grid, OwnBoundaries, OwnGrid } from "../../kernels/stencils/stencil.ts";
import { pointsOfBox } from "../../tuner/devices/survey.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { addFlux } from "../../tuner/solver/flux.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import "../own_thread.ts";

const FIELDS = { tm: ["ez", "hx", "hy"], te: ["ex", "ey", "hz"] } as const;

/** A solver on a CPU worker whose fields are 0. */
async function open(options: MaxwellOptions, grid: OwnGrid, boundary: OwnBoundaries): Promise<Solver> {
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const problem = { stencil: maxwell(options), grid, boundary, steps: 100 };
  const solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.reset();
  return solver;
}

/** Numbers from 0 to 1, always the same. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

const MEDIUM = { permittivity: [1, 9], permeability: [1, 3], conductivity: [0, 2] } as const;
const NX = 13, NY = 11, DEPTH = 3;

for (const mode of ["tm", "te"] as const) {
  for (
    const { absorber, edges, boundary, ...given } of [
      { absorber: "matched", edges: [0, 0], boundary: ["zero", "periodic"], ...MEDIUM },
      { absorber: "matched", edges: [3, 2], boundary: ["zero", "zero"], ...MEDIUM, permeability: 2 },
      { absorber: "pml", edges: [2, 3], boundary: ["zero", "zero"], ...MEDIUM },
      { absorber: "pml", edges: [0, 3], boundary: ["periodic", "zero"], permittivity: 2, conductivity: 0 },
    ] as const
  ) {
    const name = `${mode}, ${absorber} edges ${edges}, ${boundary}, ${Object.values(given)}`;
    Deno.test(`a plane computes the very values of a grid in which nothing changes along z: ${name}`, async () => {
      const steps = 40, frequencies = [0.05, 0.11], options = { ...given, absorber, courant: 0.5 };
      const next = randomly(7), isTm = mode === "tm";
      const table = (least: number, most: number) =>
        Float32Array.from({ length: NX * NY }, () => least + (most - least) * next());
      const materials = Object.entries(given).filter(([, range]) => typeof range !== "number")
        .map(([name, range]) => [name, table(...range as readonly [number, number])] as const);
      const starts = FIELDS[mode].map((name) => [name, table(-1, 1)] as const);
      const signature = Array.from({ length: 20 }, () => next() - 0.5);
      const run = async (solver: Solver, own: (x: number, y: number) => readonly OwnGrid[]) => {
        for (const [name, values] of [...materials, ...starts]) {
          await solver.write(name, (x: number, y: number) => values[x * NY + y]!);
        }
        for (
          const [j, x, y] of isTm
            ? [["jz", 4, 5.25] as const]
            : [["jx", 6, 4] as const, ["jy", 3.5, 7] as const]
        ) {
          await solver.addSources(j, own(x, y), signature);
        }
        for (const name of FIELDS[mode]) {
          await solver.addReceivers(name, [own(7, 4)[0]!, own(5.5, 6.25)[0]!]);
          await solver.addReceivers(name, own(4, 4).slice(0, 1), { frequencies });
        }
        await solver.run(steps);
        const fields = await Promise.all(FIELDS[mode].map((name) => solver.read(name)));
        return { fields, traces: await solver.traces(), spectra: await solver.spectra() };
      };
      using plane = await open({ ...options, edges, mode }, [NX, NY], boundary);
      using space = await open(
        { ...options, edges: [...edges, 0] },
        [NX, NY, DEPTH],
        [...boundary, "periodic"],
      );
      const found = await run(plane, (x, y) => [[x, y]]);
      const wanted = await run(space, (x, y) => Array.from({ length: DEPTH }, (_, z) => [x, y, z] as const));
      found.fields.forEach((field, i) => {
        assert(field.some((value) => Math.abs(value) > 1e-3), FIELDS[mode][i]);
        assertEquals(field, wanted.fields[i]!.filter((_, cell) => cell % DEPTH === 1), FIELDS[mode][i]);
      });
      assertEquals(found.traces, wanted.traces);
      assertEquals(found.spectra, wanted.spectra);
    });
  }
}

/** Half waves along x and y. */
const MODES = { tm: [[1, 1], [2, 1], [3, 5]], te: [[1, 0], [0, 2], [2, 3]] } as const;

for (const kind of ["tm", "te"] as const) {
  Deno.test(`modes of a closed ${kind} cavity follow E(n) = E(0) cos ωnΔt, sin²(ωΔt/2) = S² Σ sin²(k_i h/2)`, async () => {
    const courant = 0.6, steps = 200, grid = [10, 12] as const;
    assert(courant > maxwellLimit({ permittivity: 1 }));
    using solver = await open({ courant, permittivity: 1, mode: kind }, grid, "zero");
    for (const mode of MODES[kind]) {
      const [kx, ky] = mode.map((m, axis) => Math.PI * m / grid[axis]!) as [number, number];
      const [a, b] = [Math.sin(kx / 2), Math.sin(ky / 2)], omega = 2 * Math.asin(courant * Math.hypot(a, b));
      const electric: Record<string, (x: number, y: number) => number> = kind === "tm"
        ? { ez: (x, y) => Math.sin(kx * x) * Math.sin(ky * y) }
        // without divergence
        : {
          ex: (x, y) => -b * Math.cos(kx * (x + 0.5)) * Math.sin(ky * y),
          ey: (x, y) => a * Math.sin(kx * x) * Math.cos(ky * (y + 0.5)),
        };
      const { ex, ey, ez } = electric;
      // from −H to H in the first step
      const magnetic: typeof electric = kind === "tm"
        ? {
          hx: (x, y) => courant / 2 * (ez!(x, y + 1) - ez!(x, y)),
          hy: (x, y) => -courant / 2 * (ez!(x + 1, y) - ez!(x, y)),
        }
        : { hz: (x, y) => courant / 2 * (ey!(x + 1, y) - ey!(x, y) - ex!(x, y + 1) + ex!(x, y)) };
      await solver.reset();
      for (const [name, at] of Object.entries({ ...electric, ...magnetic })) await solver.write(name, at);
      await solver.run(steps);
      for (const [name, at] of Object.entries(electric)) {
        const found = await solver.read(name);
        found.forEach((value, i) => {
          const start = at(Math.floor(i / grid[1]), i % grid[1]);
          assertAlmostEquals(value, Math.cos(omega * steps) * start, 1e-5, `${mode}, ${name}`);
        });
      }
    }
  });

  Deno.test(`the energy that leaves a rectangle, ${kind}, is that of a line of currents, and of a box per metre`, async () => {
    const spacing = 1e-3,
      courant = 0.5,
      timeStep = courant * spacing / SPEED_OF_LIGHT,
      steps = 300,
      cells = 20;
    const frequencies = [0.8, 1, 1.4].map((part) => part * SPEED_OF_LIGHT / (cells * spacing));
    const options = { frequencies, spacing, timeStep },
      medium = { permittivity: 1, spacing, courant } as const;
    const signature = Array.from({ length: steps }, (_, n) => {
      const a = (Math.PI * (n * courant / cells - 1)) ** 2;
      return (1 - 2 * a) * Math.exp(-a);
    });
    const source = kind === "tm" ? "jz" : "jx", middle = 30, half = 8, side = 2 * half;
    const run = async (
      solver: Solver,
      along: (x: number, y: number) => readonly OwnGrid[],
      more: number[],
    ) => {
      await solver.addSources(source, along(middle, middle), signature);
      const box = (low: number[], size: number[]) =>
        addFlux(solver, { low: [...low, ...more], size: [...size, ...more] } as never, options);
      const all = await Promise.all([
        box([middle - half, middle - half], [side, side]),
        box([middle - 5, middle - 6], [10, 13]),
        box([14, 13], [6, 8]),
        box([middle + half, middle - half], [0, side]),
      ]);
      await solver.run(steps);
      return await Promise.all(all.map((energy) => energy()));
    };
    using plane = await open({ ...medium, mode: kind, edges: 12, absorber: "pml" }, [60, 60], "zero");
    const [outer, inner, empty, right] = await run(plane, (x, y) => [[x, y]], []);
    using space = await open({ ...medium, edges: [12, 12, 0], absorber: "pml" }, [60, 60, 3] as Grid, [
      "zero",
      "zero",
      "periodic",
    ]);
    const boxes = await run(space, (x, y) => pointsOfBox({ low: [x, y, 0], size: [1, 1, 3] }), [1]);
    [outer, inner, empty, right].forEach((energy, i) =>
      energy!.forEach((joules, k) =>
        assertAlmostEquals(joules * spacing, boxes[i]![k]!, 2e-6 * boxes[0]![k]!)
      )
    );
    frequencies.forEach((f, k) => {
      const part = (of: (angle: number) => number) =>
        timeStep * signature.reduce((sum, one, n) => sum + one * of(2 * Math.PI * f * n * timeStep), 0);
      // of a line of current I along z: ωμ₀|I|²/8 on average; of a current across, as of a line of dipoles, half
      const current = Math.hypot(part(Math.cos), part(Math.sin)) * spacing ** 2;
      const wave = 2 * Math.PI * f / SPEED_OF_LIGHT;
      const expected = 4 * VACUUM_IMPEDANCE * wave * current ** 2 / 8 * (kind === "tm" ? 1 : 0.5);
      assertAlmostEquals(outer![k]! / expected, 1, 0.03);
      assertAlmostEquals(inner![k]! / outer![k]!, 1, 1e-3);
      assertAlmostEquals(empty![k]! / outer![k]!, 0, 1e-4);
      if (kind === "tm") assertAlmostEquals(right![k]! / outer![k]!, 0.25, 1e-3);
    });
  });
}
