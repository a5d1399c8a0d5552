/**
 * What diamonds gain where others compute on the host as well:
 *
 *     deno run -A bench/cpu_diamonds.ts EQUATION GRID STEPS TURNS STRIP TILES,LEVELS,BLOCK…
 *
 * EQUATION is a name with a variant, `wave:4`, or without, `maxwell`; GRID is N for N³, or as in `8192x8192`. One worker runs
 * stepwise, in strips of STRIP rows (0: none), and each of the diamonds for STEPS steps, by turns. What counts is the time
 * that the process computes, by the system's account, not the time that passes. Prints for each its rate in the best turn,
 * and the median of stepwise's time over its own, turn by turn.
 *
 * @module
 */
import { cpuUsage } from "node:process";
import { CPU_TRAVERSALS } from "../kernels/cpu/cpu_traversals.ts";
import { plannedProblem } from "../kernels/planned_problem.ts";
import { EQUATIONS } from "../kernels/stencils/all.ts";
import { cellsOf, type OwnGrid } from "../kernels/stencils/stencil.ts";
import { cpuLayoutOf } from "../tuner/devices/cpu/cpu_field.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";

const [equation = "", gridText = "", steps, turns, strip, ...diamonds] = Deno.args;
const [name, variant] = equation.split(":"), sizes = gridText.split("x").map(Number), [n] = sizes;
const grid = (sizes.length === 1 ? [n, n, n] : sizes) as unknown as OwnGrid;
const { create } = EQUATIONS.find((one) => one.name === name)!;
const stencil = create(
  variant === undefined ? undefined : Number(variant),
  undefined,
  grid.length === 2 ? 2 : 3,
);
const problem = plannedProblem({ stencil, grid, boundary: "zero", steps: Number(steps) });
const layout = cpuLayoutOf(problem), pool = await CpuPool.create({ workers: 1 });
const ways = [
  { traversal: "stepwise", parameters: { strip: Number(strip) } },
  ...diamonds.map((text) => {
    const [tiles = 0, levels = 0, block = 0] = text.split(",").map(Number);
    return { traversal: "diamond-wavefront", parameters: { tiles, levels, block } };
  }),
];
const fields = [];
for (const { traversal, parameters } of ways) {
  const one = CPU_TRAVERSALS.find(({ name }) => name === traversal)!;
  const refusal = one.infeasible(problem, parameters);
  if (refusal !== undefined) throw new RangeError(refusal.message);
  const shape = one.shape(parameters);
  const field = await pool.load({ update: stencil.update, layout, boundary: "zero", shape, fused: true });
  await field.initialise({ kind: "noise", seed: 0 });
  await field.run({ steps: 2 });
  fields.push(field);
}
/** Microseconds of a run, by turn and field. */
const times: number[][] = [];
for (let turn = 0; turn < Number(turns); turn++) {
  const its: number[] = [];
  for (const field of fields) {
    const before = cpuUsage().user;
    await field.run({ steps: problem.steps });
    its.push(cpuUsage().user - before);
  }
  times.push(its);
}
const rows = ways.map(({ parameters }, i) => [
  JSON.stringify(parameters),
  (cellsOf(problem.grid) * problem.steps / Math.min(...times.map((its) => its[i]!)) / 1e3).toFixed(3),
  median(times.map((its) => its[0]! / its[i]!)).toFixed(2),
]);
console.log(formatTable([["configuration", "Gcells/s", "of stepwise"], ...rows]));
Deno.exit();
