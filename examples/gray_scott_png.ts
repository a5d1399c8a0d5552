/**
 * The pattern that a drop of v grows into in the Gray–Scott model, as a picture:
 *
 *     deno run --allow-read --allow-write --allow-sys examples/gray_scott_png.ts pattern.png
 *
 * @module
 */
import { encode } from "fast-png";
import { createSolver } from "../mod.ts";
import stencil from "./gray_scott_2d.ts";

const [path, cells = "256", steps = "6000"] = Deno.args;
if (path === undefined) {
  console.error("usage: gray_scott_png.ts PICTURE [CELLS] [STEPS]");
  Deno.exit(2);
}

const size = Number(cells), middle = size / 2;
const problem = { stencil, grid: [size, size], boundary: "periodic", steps: 100 } as const;
await using solver = await createSolver(problem);
console.log(solver.choice!.message);
// two drops that are no mirror images, in a dish of u
const isDrop = (x: number, y: number): boolean =>
  Math.hypot(x - middle, y - middle) < 8 || Math.hypot(x - middle - 20, y - middle - 9) < 6;
await solver.write("u", (x, y) => isDrop(x, y) ? 0.5 : 1);
await solver.write("v", (x, y) => isDrop(x, y) ? 0.25 : 0);

const { cellsPerSecond } = await solver.run(Number(steps));
console.log(`${steps} steps of ${size}² cells: ${(cellsPerSecond / 1e9).toFixed(3)} Gcells/s`);

// v from blue to yellow; x runs downwards
const v = await solver.read("v"), data = new Uint8Array(3 * v.length);
v.forEach((value, i) => {
  const part = Math.min(1, value / 0.4);
  data.set([20 + 230 * part, 30 + 190 * part, 90 - 50 * part], 3 * i);
});
await Deno.writeFile(path, encode({ width: size, height: size, channels: 3, data }));
