/**
 * A program for Node.js: chooses from a profile on disk, runs a periodic wave on two CPU workers, and prints its largest
 * error against the closed form.
 */
import { chooseConfiguration, createSolver, readProfile, wave } from "@facet/facet";

const [nx, ny, nz] = [20, 24, 28];
const problem = { stencil: wave(4), grid: [nx, ny, nz], boundary: "periodic", steps: 10 };
const profile = await readProfile(process.argv[2]);
const { configuration } = chooseConfiguration(profile, problem, null, { cpuWorkers: 2 });
const exact = problem.stencil.planeWave(problem.grid, [1, 2, 1]);
const solver = await createSolver(null, problem, configuration);
await solver.write("F", (...cell) => exact.at(cell, 0));
await solver.write("F", (...cell) => exact.at(cell, -1), { ago: 1 });
await solver.run(40);
let largest = 0;
for (const [i, value] of (await solver.read()).entries()) {
  const cell = [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
  largest = Math.max(largest, Math.abs(value - exact.at(cell, 40)));
}
// nobody disposes of it: idle workers keep no process alive
const missing = await readProfile("none.json").catch(({ message }) => message);
console.log(JSON.stringify({ workers: configuration.share.cpuWorkers, largest, missing }));
