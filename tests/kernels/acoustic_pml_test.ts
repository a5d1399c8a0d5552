import { assertAlmostEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { runReference } from "../../kernels/reference.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { planesOf } from "../../kernels/update.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { inMarches, inSteps, inTorres, testRows } from "./oracle_case.ts";

const PML = { absorber: "pml", velocity: [1500, 3000], density: [1000, 2500], order: 4 } as const;

Deno.test("a pml of sound computes what a program of its own does in f64", () => {
  const nx = 13, nz = 11, steps = 9, edges = [4, 3] as const, h = 10, dt = 1.5e-3;
  const { update } = acoustic({ ...PML, spacing: h, timeStep: dt, edges, dimensions: 2 });
  const grid: Grid = [nx, 1, nz], planes = planesOf(update);
  const cells = Array.from({ length: nx * nz }, (_, i) => [Math.floor(i / nz), i % nz] as const);
  const v = cells.map((_, i) => 2250 + 700 * Math.sin(i)),
    rho = cells.map((_, i) => 1700 + 600 * Math.cos(i));
  let p = cells.map((_, i) => Math.sin(7 * i * i)), before = p;
  const start = Float64Array.from({ length: nx * planes * nz }, (_, i) => {
    const cell = Math.floor(i / nz / planes) * nz + i % nz, plane = Math.floor(i / nz) % planes;
    const name = update.fields[plane] ?? update.materials[plane - update.fields.length]!.name;
    return { p, velocity: v, density: rho }[name]?.[cell] ?? 0;
  });
  const run = { update, grid, boundary: "periodic", steps } as const;
  const { current } = runReference({ current: start, previous: start }, run);
  const memory = Array.from({ length: 6 }, () => cells.map(() => 0));
  for (let step = 0; step < steps; step++) {
    const next = cells.map(([x, z], i) => {
      const sum = [0, 1].reduce((sum, axis) => {
        const n = [nx, nz][axis]!, width = edges[axis]!, at = [x, z][axis]!;
        const beside = (by: number) => axis === 0 ? (x + by + nx) % nx * nz + z : x * nz + (z + by + nz) % nz;
        const flow = (by: number) => 2 * (p[beside(by)]! - p[i]!) / (rho[i]! + rho[beside(by)]!);
        /** A memory's new value, at a place in cells from the low end. */
        const remember = (which: number, place: number, of: number): number => {
          const depth = Math.max(0, width - place, place - n + width) / width;
          const half = 0.4 * 3000 * dt / h * depth ** 2, own = memory[3 * axis + which]!;
          return own[i] = 0.995 * own[i]! - 2 * half / (1 + half) * (own[i]! + of);
        };
        const second = 4 / 3 * (flow(1) + flow(-1)) - (flow(2) + flow(-2)) / 12;
        const both = second + remember(0, at + 1, flow(1)) + remember(1, at, flow(-1));
        return sum + both + remember(2, at + 0.5, both);
      }, 0);
      return 2 * p[i]! - before[i]! + (v[i]! * dt / h) ** 2 * rho[i]! * sum;
    });
    [before, p] = [p, next];
  }
  cells.forEach(([x, z], i) => assertAlmostEquals(current[x * planes * nz + z]!, p[i]!, 1e-5, `${x} ${z}`));
});

const SOUND = acoustic({ ...PML, edges: [3, 2, 4], surface: "free" });
/** Less for a torre to compile: of the second order, without layers along y, which Maxwell's torres have. */
const LEAN = acoustic({ ...PML, order: 2, edges: [3, 0, 4], surface: "free" });
const PLANE = acoustic({ ...PML, order: 2, edges: [3, 2], dimensions: 2 });
testRows([
  [SOUND, [11, 9, 14], inSteps([4, 2, 2]), [4, 3], { isReal: true }],
  [SOUND, [13, 9, 12], inMarches([2, 8, 7, 2, 0, 1]), [4, 3], { isReal: true, sections: 2 }],
  [LEAN, [19, 13, 12], inTorres([2, 4, 1, 1, 12, 4, 1, 99, 0]), [7, 4], { isReal: true }],
  [SOUND, [19, 13, 12], inTorres([1, 4, 1, 1, 12, 4, 1, 99, 0]), [7, 4], { isReal: true, isSlow: true }],
  [SOUND, [19, 13, 12], inTorres([1.5, 4, 1, 2, 6, 4, 1, 99, 1]), [7, 4], { isReal: true, isSlow: true }],
  [PLANE, [19, 26], inMarches([2, 16, 1, 3, 0, 0]), [4, 3], { isReal: true, boundary: ["periodic", "zero"] }],
  [PLANE, [9, 12], inMarches([1, 8, 1, 2, 1, 0]), [4, 3], { isReal: true }],
]);

Deno.test("a pml of sound is refused what it has not", () => {
  assertThrows(
    () => acoustic({ absorber: "damping" as "pml" }),
    RangeError,
    "absorber must be matched or pml",
  );
  const problem = plannedProblem({ stencil: SOUND, grid: [40, 40, 40], boundary: "zero", steps: 10 });
  const why = (windowBytes?: number) =>
    stepwise.infeasible(problem, { threadsZ: 8, threadsY: 4, threadsX: 1 }, {
      ...H100_LIMITS,
      ...(windowBytes && { windowBytes }),
    });
  assertStringIncludes(why(1e6)!.message, "its sections hold no layers");
  assertThrows(() => assertStringIncludes(`${why()}`, "layers"));
  const { parameters } = inTorres([1, 4, 1, 1, 40, 4, 1, 99, 0]), part = { ...problem, isPart: true };
  assertStringIncludes(
    diamondTorre.infeasible(part, parameters, H100_LIMITS)!.message,
    "store no layers here",
  );
});
