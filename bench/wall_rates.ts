/**
 * What walls and operators cost on a GPU: the best rate of each traversal for heat between zeros, between four different
 * walls and between insulated ends, as a word and as walls; and of an equation written with `laplacian` beside the same
 * built-in one, whose shaders are the same.
 *
 *     deno run -A bench/wall_rates.ts --grid 512x512x512 --seconds 60
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { add, equation, flux, heat, insulated, laplacian, mirror, multiply, subtract } from "../mod.ts";
import { type OpenProblem, type Stencil, tune, value, wave } from "../mod.ts";
import { formatTable } from "../tuner/format.ts";

const { grid = "512x512x512", seconds = "60" } = parseArgs(Deno.args, { string: ["grid", "seconds"] });
const cells = grid.split("x").map(Number) as unknown as OpenProblem["grid"], courant = 0.4;
const own = equation({
  name: "own-wave",
  fields: { u: [-1, 1] },
  step({ u }) {
    const pull = multiply(courant ** 2, laplacian(u, { order: 8 }));
    return { u: add(subtract(multiply(2, u), u.before()), pull) };
  },
});
const centre = insulated({ at: "centre" });
const walls = {
  x: [value(1), flux(0.1)],
  y: [insulated(), mirror("odd")],
  z: [value(0), insulated()],
} as const;
const CASES: readonly (readonly [string, Stencil, OpenProblem["boundary"]])[] = [
  ["heat, zero", heat(1), "zero"],
  ["heat, four walls", heat(1), walls],
  ["heat, insulated", heat(1), "insulated"],
  ["heat, insulated as walls", heat(1), { x: centre, y: centre, z: centre }],
  ["wave 8", wave(8, { courant }), "zero"],
  ["own wave 8", own, "zero"],
];
const rows: string[][] = [];
for (const [name, stencil, boundary] of CASES) {
  const { bestOfEach } = await tune({
    stencil,
    grid: cells,
    boundary,
    budgetMs: 1000 * Number(seconds),
    cpuWorkers: 0,
  });
  for (const [traversal, { cellsPerSecond }] of bestOfEach) {
    rows.push([name, traversal, `${(cellsPerSecond / 1e9).toFixed(3)}`]);
  }
}
console.log(formatTable([["problem", "traversal", "Gcells/s"], ...rows], { right: [2] }));
