/**
 * A wave from a point source, at the speed that a profile knows, as a picture:
 *
 *     deno run --allow-read --allow-write --allow-sys examples/wave_png.ts profiles/my-gpu.json wave.png
 *
 * @module
 */
import { encode } from "fast-png";
import { createSolver, type Problem, readProfile, wave } from "../mod.ts";

const [profilePath, picturePath, cells = "128", steps = "96"] = Deno.args;
if (profilePath === undefined || picturePath === undefined) {
  console.error("usage: wave_png.ts PROFILE PICTURE [CELLS] [STEPS]");
  Deno.exit(2);
}

const size = Number(cells);
const problem: Problem = {
  stencil: wave(4),
  grid: [size, size, size],
  boundary: "zero",
  steps: Number(steps),
};

// the profile may be of another device: what is chosen runs on this one
const profile = await readProfile(profilePath);
await using solver = await createSolver(problem, { profile });
console.log(solver.choice!.message);

// a drop at rest in the middle: F(0) and F(−1) are the same
const middle = Math.floor(size / 2);
const drop = (x: number, y: number, z: number): number =>
  Math.exp(-((x - middle) ** 2 + (y - middle) ** 2 + (z - middle) ** 2) / 6);
await solver.write("F", drop);
await solver.write("F", drop, { ago: 1 });

const { cellsPerSecond } = await solver.run(problem.steps);
console.log(`${problem.steps} steps of ${size}³ cells: ${(cellsPerSecond / 1e9).toFixed(3)} Gcells/s`);

// the slice through the middle, red above zero and blue below
const slice = await solver.read("F", { x: middle, slices: 1 });
const largest = slice.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
const data = new Uint8Array(3 * slice.length);
slice.forEach((value, i) => {
  const strength = Math.sqrt(Math.abs(value) / largest), faded = 255 * (1 - strength);
  data.set(value > 0 ? [255, faded, faded] : [faded, faded, 255], 3 * i);
});
await Deno.writeFile(picturePath, encode({ width: size, height: size, channels: 3, data }));
