/**
 * A Yagi antenna as a picture, and how much more it sends forward than back:
 *
 *     deno run --allow-read --allow-write --allow-sys examples/antenna.ts antenna.png
 *
 * Rods of copper lie along y, one after another along z: a reflector, the driven one, and directors.
 *
 * @module
 */
import { encode } from "fast-png";
import { addFlux, createSolver, maxwell, type Problem, SPEED_OF_LIGHT } from "../mod.ts";

const [picturePath, cells = "24"] = Deno.args, wavelength = Number(cells);
if (picturePath === undefined || !(wavelength >= 16)) {
  console.error("usage: antenna.ts PICTURE [CELLS OF A WAVELENGTH, 16 or more]");
  Deno.exit(2);
}

/** Where each rod lies, and how long it is, in wavelengths: rods as thick as a cell resonate when they are short. */
const RODS = [
  { z: -0.25, length: 0.42 },
  { z: 0, length: 0.34 },
  { z: 0.25, length: 0.26 },
  { z: 0.5, length: 0.26 },
];

const frequency = 1e9, spacing = SPEED_OF_LIGHT / frequency / wavelength, courant = 0.5;
const timeStep = courant * spacing / SPEED_OF_LIGHT, steps = Math.round(10 * wavelength / courant);
const edges = Math.ceil(wavelength / 2), half = 2 * Math.round(wavelength / 2) + edges;
const stencil = maxwell({ spacing, courant, edges, permittivity: 1, conductivity: [0, 6e7] });
const problem: Problem = { stencil, grid: [2 * half, 2 * half, 3 * half], boundary: "zero", steps };

/** Whether a cell is copper: rods are one cell thick, and the driven one has a gap. */
const isCopper = (x: number, y: number, z: number): boolean =>
  x === half && RODS.some((rod) => {
    const isHere = z === half + Math.round(rod.z * wavelength) &&
      2 * Math.abs(y - half) < rod.length * wavelength;
    return isHere && !(rod.z === 0 && y === half);
  });

await using solver = await createSolver(problem);
console.log(solver.choice!.message);
await solver.write("conductivity", (x, y, z) => isCopper(x, y, z) ? 6e7 : 0);

// one ampere through the gap, rising over two periods
const wave = Array.from({ length: steps }, (_, n) => {
  const periods = n * courant / wavelength;
  return Math.sin(2 * Math.PI * periods) * Math.min(1, periods / 2) / spacing ** 2;
});
await solver.addSources("jy", [[half, half, half]], wave);

// the energy that passes planes across z, in front and behind
const [back, front] = [edges + 2, 3 * half - edges - 2].map((z) =>
  addFlux(solver, { low: [edges, edges, z], size: [2 * half - 2 * edges, 2 * half - 2 * edges, 0] }, {
    frequencies: [frequency],
    spacing,
    timeStep,
  })
);
const { cellsPerSecond } = await solver.run(steps);
console.log(`${steps} steps: ${(cellsPerSecond / 1e9).toFixed(3)} Gcells/s`);
const [[backward], [forward]] = [await (await back!)(), await (await front!)()] as unknown as [
  [number],
  [number],
];
console.log(`forward / backward: ${(10 * Math.log10(forward / -backward)).toFixed(1)} dB`);

// E along the rods in their plane, red above zero and blue below; copper is black
const slice = await solver.read("ey", { x: half, slices: 1 }), nz = problem.grid[2]!;
const strong = slice.map(Math.abs).sort()[Math.floor(0.99 * slice.length)]! || 1;
const data = new Uint8Array(3 * slice.length);
slice.forEach((value, i) => {
  const faded = 255 * (1 - Math.sqrt(Math.min(1, Math.abs(value) / strong)));
  const colour = value > 0 ? [255, faded, faded] : [faded, faded, 255];
  data.set(isCopper(half, Math.floor(i / nz), i % nz) ? [0, 0, 0] : colour, 3 * i);
});
await Deno.writeFile(picturePath, encode({ width: nz, height: slice.length / nz, channels: 3, data }));
