import { absorbing, acoustic, createSolver } from "../../../mod.ts";

const stencil = acoustic({
  dimensions: 2,
  order: 4,
  velocity: [1500, 4500], // m/s, by cell
  spacing: 10, // m
  timeStep: 1e-3, // s
  edges: 0, // the picture's sides absorb
});

await using solver = await createSolver({
  stencil,
  grid: [200, 320],
  boundary: { x: absorbing({ cells: 36, courant: 0.3 }), y: absorbing({ cells: 36, courant: 0.3 }) },
  edges: "around",
});
const wave = Array.from({ length: 1000 }, (_, n) => Math.sin(2 * Math.PI * 0.02 * n));
await solver.write("velocity", 1500);
await solver.addSources("s", [[100, 160]], wave);
const { cellsPerSecond } = await solver.run(1000);
console.log(await solver.read("p"), cellsPerSecond);
