/**
 * Torres in two dimensions: every layout, piece and way from torre to torre against the oracle; cells in diamond tiles.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { equation } from "../../../../kernels/equation.ts";
import { add, multiply } from "../../../../kernels/operations.ts";
import { plannedProblem } from "../../../../kernels/planned_problem.ts";
import { heat } from "../../../../kernels/stencils/heat.ts";
import { life } from "../../../../kernels/stencils/life.ts";
import type { Boundaries, Stencil } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import type { DeviceLimits } from "../../../../kernels/traversals/traversal.ts";
import { planeTorre } from "../../../../kernels/traversals/plane_torre/plane_torre.ts";
import { stepwiseLayout } from "../../../../kernels/traversals/step_shader.ts";
import { inTiles } from "../../../../kernels/traversals/plane_torre/cell_places.ts";
import { GpuField } from "../../../../tuner/devices/gpu/gpu_field.ts";
import { readCells } from "../../../devices/cells.ts";
import { testOnGpu } from "../../../test_on_gpu.ts";
import { inPlaneTorres, type Row, rowsIn, testRows } from "../../oracle_case.ts";
import { bounded, clamped, PLANE } from "../../whole_numbers.ts";

const LIFE = life(undefined, PLANE);
const HEAT = bounded(heat(1, PLANE)), FAR = bounded(heat(2, PLANE));
const WAVE = bounded(wave(2, PLANE)), FOURTH = bounded(wave(4, PLANE));
/** Of three dimensions, whose taps reach beyond a grid of one layer. */
const LAYERED = [
  equation({
    name: "across",
    fields: { u: [-4, 3] },
    step({ u }) {
      const sides = add(u.at(1), multiply(-1, u.at(-1)), u.at(0, 0, 1), multiply(2, u.at(0, 1)), u.at(1, -2));
      return { u: clamped(8, sides, multiply(-1, u.before())) };
    },
  }),
  bounded(wave(4)),
  life(),
] as const;

testRows(rowsIn(inPlaneTorres, [
  // ends that hold images: further than the grid is long, more rounds than one, levels of both parities
  [WAVE, [37, 23], [4, 4, 2, 2, 2, 1, 1], [11, 9], { boundary: "periodic" }],
  [FAR, [19, 5], [2, 4, 1, 2, 0, 1, 1], [5, 6], { boundary: ["insulated", "zero", "periodic"] }],
  [WAVE, [1, 31], [4, 2, 2, 1, 0, 1, 0], [7], { boundary: ["periodic", "zero", "insulated"] }],
  [LAYERED[0], [37, 23], [4, 4, 2, 2, 2, 1, 1], [9, 2]],
  [LAYERED[1], [11, 14], [4, 4, 1, 2, 0, 1, 0], [7], { boundary: ["periodic", "zero", "insulated"] }],
  [LAYERED[2], [23, 13], [8, 6, 2, 4, 0, 0, 1], [7]],
  [LAYERED[2], [13, 23], [4, 4, 1, 1, 0, 1, 1], [5], { boundary: ["zero", "insulated", "periodic"] }],
  [HEAT, [37, 53], [4, 4, 2, 2, 2, 1, 1], [9, 2]],
  // whose last torre holds cells of F(t − 1) alone
  [WAVE, [32, 29], [6, 6, 1, 2, 1, 0, 1], [1, 6]],
  [FAR, [29, 19], [2, 4, 1, 2, 0, 1, 1], [5, 6]],
  [WAVE, [41, 17], [6, 4, 2, 1, 0, 0, 0], [8]],
  // tiles larger than the grid
  [HEAT, [5, 3], [12, 8, 1, 2, 1, 1, 0], [11]],
  [LIFE, [1, 61], [4, 6, 1, 2, 4, 1, 1], [7], { isSlow: true }],
  [FAR, [67, 1], [3, 4, 2, 2, 2, 0, 1], [9], { isSlow: true }],
]));

const EVERY_LINE = [[1, 0], [2, 0], [4, 0], [8, 0], [2, 2], [4, 8], [8, 2]] as const;
testRows(
  [0, 1].flatMap((tiles) =>
    [0, 1].flatMap((farsh) =>
      EVERY_LINE.map(([line, across]): Row => {
        const stencil = [HEAT, WAVE, FOURTH, FAR, LIFE][(line + across + tiles) % 5]!;
        return [stencil, [61, 43], inPlaneTorres([8, 6, 2, line, across, tiles, farsh]), [13, 2]];
      })
    )
  ),
  { isSlow: true },
);

/** `at` of a layout, as the shaders have it. */
function placeOf(code: string): (x: number, y: number) => number {
  const plain = code.replaceAll(/: i32| -> i32/g, "").replaceAll("fn ", "function ").replaceAll(
    "let ",
    "const ",
  )
    .replaceAll("var ", "let ");
  return new Function(`${plain}; return at;`)();
}

Deno.test("ends that hold images take tiles in memory, and insulated ones an equation that is its own mirror image", () => {
  const { parameters } = inPlaneTorres([4, 4, 1, 2, 2, 1, 1]), [limits, steps] = [{} as DeviceLimits, 8];
  const upwind = equation({
    name: "upwind",
    dimensions: 2,
    fields: { u: [-1, 1] },
    step: ({ u }) => ({ u: add(multiply(0.5, u), multiply(0.5, u.at(-1))) }),
  });
  const why = (stencil: Stencil, boundary: Boundaries, others = {}) =>
    planeTorre.infeasible(
      { stencil, grid: [40, 1, 40], boundary, steps },
      { ...parameters, ...others },
      limits,
    );
  assertEquals(why(HEAT, "insulated"), undefined);
  assertEquals(why(upwind, ["periodic", "zero", "insulated"]), undefined);
  assertEquals(why(upwind, ["insulated", "zero", "zero"])?.kind, "boundary");
  assertEquals(why(HEAT, ["zero", "zero", "periodic"], { tiles: 0 })?.kind, "parameters");
  const across = equation({ name: "across", fields: { u: [-1, 1] }, step: ({ u }) => ({ u: u.at(0, 1) }) });
  assertEquals([why(across, "zero")?.kind, why(across, "periodic")?.kind], ["reach", "reach"]);
});

Deno.test("in diamond tiles every cell has a place of its own, and squares of u and v lie in one piece", () => {
  for (
    const [nx, ny, width, first] of [[37, 53, 16, 35], [1, 40, 8, 0], [40, 1, 12, 39], [
      64,
      64,
      6,
      61,
    ]] as const
  ) {
    const layout = stepwiseLayout(plannedProblem({ stencil: HEAT, grid: [nx, ny], boundary: "zero" }));
    const { code, order } = inTiles(layout, width, first, [0, 0]),
      at = placeOf(code),
      side = width & -width;
    const found = new Map<number, readonly [number, number]>();
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) {
        const place = at(x, y);
        assert(place >= 0 && place < order!.length && !found.has(place), `${x}, ${y} at ${place}`);
        found.set(place, [x, y]);
      }
    }
    for (let piece = 2; piece <= side; piece *= 2) {
      const corners = new Map<number, string>();
      for (const [place, [x, y]] of found) {
        const square = Math.floor(place / (piece * piece / 2));
        const corner = [x + y - first, x - y - first].map((c) => Math.floor(c / piece)).join();
        assertEquals(corners.get(square) ?? corner, corner, `${nx}x${ny}, squares of ${piece}`);
        corners.set(square, corner);
      }
    }
  }
});

Deno.test("no value of a thread has the name of a type, however many it has", () => {
  const problem = plannedProblem({ stencil: HEAT, grid: [40, 40], boundary: "zero", steps: 16 });
  const { shaders: [shader] } = planeTorre.plan(problem, inPlaneTorres([16, 16, 1, 8, 8, 0, 0]).parameters);
  const names = Array.from(shader!.code.matchAll(/(?:let|var) (\w+) =/g), ([, name]) => name!);
  assert(names.includes("held63"));
  assertEquals(names.filter((name) => /^(?:[fiu](?:16|32)|bool)$/.test(name)), []);
});

testOnGpu("entering and leaving diamond tiles changes no bit", async (gpu) => {
  const problem = plannedProblem({ stencil: wave(2, PLANE), grid: [43, 29], boundary: "zero", steps: 8 });
  const read = [];
  for (const tiles of [0, 1] as const) {
    using field = await GpuField.create(
      gpu,
      problem,
      planeTorre.plan(problem, inPlaneTorres([6, 4, 1, 2, 2, tiles, 1]).parameters),
    );
    await field.initialise({ kind: "noise", seed: 3 });
    read.push([await readCells(field, 0), await readCells(field, 1)]);
    await field.run(0);
    read.push([await readCells(field, 0), await readCells(field, 1)]);
  }
  for (const levels of read) assertEquals(levels, read[0]);
});
