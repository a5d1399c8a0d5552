/**
 * The table of docs/equations.md: each row's code is what its words say.
 *
 * @module
 */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as facet from "../../mod.ts";
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Wall } from "../../kernels/stencils/stencil.ts";
import { withWalls } from "../../kernels/walls.ts";

const text = await Deno.readTextFile(new URL("../../docs/equations.md", import.meta.url));
const rows = [...text.matchAll(/^\| (.*?) +\| `(.*)` +\|$/gm)]
  .map(([, words, code]) => [words!.replaceAll("\\|", "|"), code!] as const);
const table = rows.slice(rows.findIndex(([words]) => words === "Δu"));

/** What code of the table comes to. */
function evaluated(code: string, planes: Readonly<Record<string, unknown>> = {}): unknown {
  const names = { ...facet, ...planes };
  return new Function(...Object.keys(names), `return ${code};`)(...Object.values(names));
}

/** What each comes to; central differences of x³ give 3x² + h². u = x³y² + xy, v = x − 2y², c = 1 + x at (1, 2). */
const U = (x: number, y: number): number => x ** 3 * y ** 2 + x * y;
const V = (x: number, y: number): number => x - 2 * y ** 2, C = (x: number): number => 1 + x;
const FORMS: Readonly<Record<string, number>> = {
  "Δu": 6 * 4 + 2,
  "Δu of order 8": 6 * 4 + 2,
  "Δu, of cells 0.5 by 0.25": 6 * 4 + 2,
  "∇·(c∇u)": 2.5 * (U(2, 2) - U(1, 2)) - 1.5 * (U(1, 2) - U(0, 2)) + 2 * 2,
  "ΔΔu": 24,
  "∂u/∂x": 14 + 4,
  "∂³u/∂y³": 0,
  "∂²u/∂x∂y": 13 + 4,
  "∂u/∂x on the faces ahead": U(2, 2) - U(1, 2),
  "u on the faces ahead": (U(1, 2) + U(2, 2)) / 2,
  "∂u/∂x upwind, in a flow along x": U(1, 2) - U(0, 2),
  "c ∂u/∂x upwind, whichever way c points": 2 * (U(1, 2) - U(0, 2)),
  "|∇u|²": 18 ** 2 + 5 ** 2,
  "∇·(u, v)": 18 - 8,
  "the curl of (u, v)": 1 - 5,
  "a value that is kept where c is 1": 0.5,
  "Δ(u²)": [U(0, 2), U(2, 2), U(1, 1), U(1, 3)].reduce((sum, one) => sum + one ** 2, -4 * U(1, 2) ** 2),
};

/** The cell beyond the low end of cells 3, 5, 7, …, of which the first then holds 3 or what a wall keeps. */
const GHOSTS: Readonly<Record<string, readonly [ghost: number, own: number]>> = {
  "u = 1 on a face": [2 * 1 - 3, 3],
  "u = 1 in the outermost cells": [1, 1],
  "u = 1 in all cells beyond": [1, 3],
  "a wall that swings": [2 * Math.sin(0.2) - 3, 3],
  "∂u/∂n = 0.1": [3.1, 3],
  "nothing goes through; a free outflow": [3, 3],
  "a symmetry plane": [3, 3],
  "a solid wall, of the velocity across": [-3, 3],
  // (3 + g)/2 + 2.5 (g − 3) = 20
  "heat that goes over to air at 20": [(20 - 3 / 2 + 7.5) / 3, 3],
  "an end that waves leave": [0, 3],
};

Deno.test("docs/equations.md says what to write, and each row is what it says", () => {
  const said = table.map(([words]) => words);
  assertEquals(said.toSorted(), [...Object.keys(FORMS), ...Object.keys(GHOSTS)].toSorted());
  for (const [words, code] of table) {
    if (words in FORMS) {
      const [hx, hy] = words.includes("0.5 by 0.25") ? [0.5, 0.25] : [1, 1];
      const { update } = facet.equation({
        name: "row",
        dimensions: 2,
        fields: { u: [0, 1], v: [0, 1] },
        materials: { c: [0, 1] },
        step: ({ u, v, c }) => ({ u: evaluated(code, { u, v, c }) as facet.Value, v }),
      });
      const found = fold(update.substeps[0]![0]!.value, {
        ...NUMBERS,
        tap: ({ plane, offset: [x, , y] }) => [U, V, C][plane]!(1 + hx * x, 2 + hy * y),
      });
      assertAlmostEquals(found, FORMS[words]!, 1e-3, words);
      continue;
    }
    const wall = evaluated(code) as Wall, n = 60, grid = [1, 1, n] as const;
    const ghost = (tap: number): number => {
      const stencil = facet.equation({
        name: "row",
        dimensions: 1,
        fields: { u: [0, 1] },
        step: ({ u }) => ({ u: tap === 0 ? facet.add(u, facet.multiply(0, u.at(-1))) : u.at(tap) }),
      });
      const { update } = withWalls({ stencil, grid, boundary: { x: wall } }).stencil;
      const start = Float64Array.from({ length: n }, (_, i) => 3 + 2 * i);
      const run = { update, grid, boundary: "zero", steps: 1, start: 2 } as const;
      const { current } = runReference({ current: start, previous: start }, {
        ...run,
        profiles: initialProfiles(update, grid),
      });
      return current[0]!;
    };
    const [beyond, own] = GHOSTS[words]!,
      isDamped = wall.damping !== undefined,
      found = [ghost(0), ghost(-1)];
    // where waves leave, less is left of it
    if (isDamped) assertEquals([found[0]! > 0 && found[0]! < own, found[1]! < beyond], [true, true], words);
    else assertAlmostEquals(found[0]!, own, 1e-6, words);
    if (!isDamped) assertAlmostEquals(found[1]!, wall.at === "centre" ? own : beyond, 1e-6, words);
  }
});
