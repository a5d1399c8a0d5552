/**
 * What one of four ranks does in `mpi_solver_test.ts`: solvers with a material, sources, receivers and what another one
 * saved, on the CPU or in torres of a GPU, for each decomposition; rank 0 compares with a solver alone.
 *
 *     mpirun -n 4 deno run -A tests/ranks/mpi_solver.ts FILE 2x2x1,1x2x2 [gpu]
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import { openWorld } from "../../tuner/ranks/mpi_world.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { SolverOptions } from "../../tuner/solver/solver.ts";
import { clamped } from "../kernels/whole_numbers.ts";

const [path = "", cuts = "", kind] = Deno.args;
const world = await openWorld();

/** Exact on whole numbers, and alike along no two axes. */
const stencil = equation({
  name: "whole",
  fields: { u: [-1, 1] },
  materials: { m: [-1, 1] },
  sources: { s: [-1, 1] },
  initialField: "integers",
  step({ u, m, s }) {
    const around = add(u.at(1), multiply(2, u.at(0, -1)), multiply(3, u.at(0, 0, 1)));
    return { u: add(clamped(999, subtract(multiply(m, around), u.before())), multiply(2, s)) };
  },
});
const grid = [9, 12, 14] as const;
const problem = { stencil, grid, boundary: "zero", steps: 5, survey: { sources: 2, receivers: 3 } } as const;

/** What rank 0 sees of a run that is saved and gone on from. */
async function play(options: SolverOptions, meet: () => Promise<void>): Promise<unknown[]> {
  const seen: unknown[] = [];
  const see = async (solver: Awaited<ReturnType<typeof createSolver>>): Promise<void> => {
    seen.push(solver.step, await solver.read(), await solver.read("u", { ago: 1 }), await solver.traces());
  };
  {
    await using solver = await createSolver(problem, options);
    await solver.initialise("integers", 2);
    await solver.write("m", (x, y, z) => (x + 2 * y + 3 * z) % 7 % 3 - 1);
    // where parts meet, in ghost zones, and at an end
    await solver.addSources("s", [[4, 6, 7], [4, 5, 6]], [1, 2, 3, 4, 5, 6, 7]);
    await solver.addReceivers("u", [[4, 6, 7], [0, 11, 6], [5, 5, 7]]);
    await solver.run(4);
    await see(solver);
    await solver.run(1);
    const saved = await solver.save();
    if (world.rank === 0) await Deno.writeFile(path, saved.stream());
    await meet();
  }
  const from = new Blob([await Deno.readFile(path)]);
  await using solver = await createSolver(problem, { ...options, from });
  await solver.run(5);
  await see(solver);
  await meet();
  return seen;
}

const share = { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: 1, cpuWorkers: 0 };
const parameters = { side: 2, patchA: 2, patchB: 2, patchC: 2, phases: 1, ahead: 1, nt: 4, bands: 1 };
const onGpu: Configuration = { traversal: "volume-torre", parameters, share };
const device = kind === "gpu" ? await openDevice() : null;
const on: SolverOptions = { device, timeoutMs: 600_000, ...(device && { configuration: onGpu }) };
const expected = world.rank === 0 ? await play(on, () => Promise.resolve()) : [];
await world.meet();
for (const cut of cuts.split(",")) {
  const decompose = cut.split("x").map(Number) as [number, number, number];
  const seen = await play({ ...on, world, decompose, exchangeEvery: 2 }, () => world.meet());
  if (world.rank !== 0) continue;
  assertEquals(seen, expected, cut);
  const [, field, , traces] = seen as [number, Float32Array, Float32Array, Float32Array[]];
  assert(new Set(field).size > 100, "the field is all alike");
  assert(traces.every((trace) => trace.some((value) => value !== 0)), "a receiver heard nothing");
  console.log(`${cut}: ${new Set(field).size} different values`);
}
await world.close();
Deno.exit(0);
