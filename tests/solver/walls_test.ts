/**
 * Where walls lie, and how fixed values and fluxes are expressed, as docs/equations.md says.
 *
 * @module
 */
import { assertAlmostEquals, assertStringIncludes } from "@std/assert";
import { add, choose, createSolver, equation, multiply } from "../../mod.ts";
import type { AxisBoundaries } from "../../mod.ts";
import "../own_thread.ts";

const H = 0.1, FO = 0.15, N = 8;

const PLATE = equation({
  name: "plate",
  fields: { u: [0, 1] },
  materials: { held: [0, 1], slope: [0, 1] },
  step({ u, held, slope }) {
    const sides = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), u.at(0, 0, -1));
    const next = add(multiply(1 - 6 * FO, u), multiply(FO, sides), multiply(2 * FO * H, slope));
    return { u: choose(held, 0.5, next) };
  },
});

/** The steady values along x: 0.5 on the first cell, and a slope on the last one. */
async function steady(alongX: "zero" | "insulated", slope: number): Promise<number[]> {
  const boundary: AxisBoundaries = [alongX, "periodic", "periodic"];
  const problem = { stencil: PLATE, grid: [N, 2, 2] as const, boundary, steps: 8 };
  const share = { cpuSlices: N, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  await using solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
  await solver.write("u", 0);
  await solver.write("held", (x) => x === 0 ? 1 : 0);
  await solver.write("slope", (x) => x === N - 1 ? slope : 0);
  await solver.run(4000);
  const field = await solver.read("u");
  return Array.from({ length: N }, (_, x) => field[4 * x]!);
}

Deno.test("a zero wall lies at the centre of the first cell outside, one cell beyond the outermost", async () => {
  const found = await steady("zero", 0);
  found.forEach((value, x) => assertAlmostEquals(value, 0.5 * (1 - x / N), 1e-5));
});

Deno.test("an insulated wall lies at the centres of the outermost cells: the slope there is the one written", async () => {
  for (const slope of [0, 3]) {
    const found = await steady("insulated", slope);
    found.forEach((value, x) => assertAlmostEquals(value, 0.5 + slope * x * H, 1e-4));
  }
});

Deno.test("docs/equations.md has this equation", async () => {
  const text = await Deno.readTextFile("docs/equations.md");
  assertStringIncludes(text, "multiply(2 * fo * h, slope)");
  assertStringIncludes(text, "choose(held, 0.5, next)");
});
