import { assert, assertAlmostEquals, assertEquals, assertLess, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { along, equation, type FieldTap } from "../../kernels/equation.ts";
import { add, multiply, shifted, subtract } from "../../kernels/operations.ts";
import { runReference } from "../../kernels/reference.ts";
import { acoustic, acousticTimeStep } from "../../kernels/stencils/acoustic.ts";
import { secondDerivative, spreadOf, symbolAt } from "../../kernels/weights.ts";
import { heat, HEAT_DELTAS } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import {
  type Boundaries,
  imageOf,
  type OwnBoundaries,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { offsetOf, profileTapsOf, tapsOf } from "../../kernels/update.ts";
import type { Parameters as Values } from "../../kernels/traversals/traversal.ts";
import { referenceShape } from "../../tuner/devices/reference.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { THOROUGH } from "../thorough.ts";
import { SUBGROUP_SIZE } from "../test_on_gpu.ts";
import { inMarches, inSteps, type MarchValues, type Row, rowsIn, testRows } from "./oracle_case.ts";
import { ALONG, clamped, FEW, PLANE, wholeNumberHeat, wholeNumberWave } from "./whole_numbers.ts";
import "../own_thread.ts";

const WHOLE_HEAT = wholeNumberHeat(1, PLANE), CONWAY = life(undefined, PLANE);
const wholeWave = (order: number): Stencil => wholeNumberWave(order, PLANE);

/** Diagonal and axis taps, a shifted sum, a material and profiles along both axes. */
const SLANTED = equation({
  name: "slanted",
  dimensions: 2,
  fields: { u: [-4, 3], w: [-4, 3] },
  materials: { m: FEW, dx: ALONG.x, dy: ALONG.y },
  step({ u, w, m, dx, dy }) {
    const row = add(multiply(m, u), u.at(0, 2));
    return [
      { u: add(shifted(row, 1, 0), shifted(row, -1, -1), multiply(dx.at(-1), w.at(1, -1))) },
      { w: subtract(add(u.next(-2), multiply(dy.at(0, 1), u.next(0, -1))), w) },
    ];
  },
});

const problemOf = (stencil: Stencil, grid: readonly [number, number], boundary: Boundaries = "zero") =>
  plannedProblem({ stencil, grid, boundary, steps: 1 });

/** A box of distinct whole weights, tap by tap in the order of slices; `turned`: backwards, and with F(t − 1). */
function wholeBox(reach: number, like: "in order" | "in rows" | "turned" = "in order"): Stencil {
  const span = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
  const weightOf = (x: number, y: number) => ((7 * x + 3 * y + 40) % 5) - 2 || 3;
  return equation({
    name: `box-${reach}`,
    dimensions: 2,
    fields: { u: [-4, 3] },
    step({ u }) {
      const rows = span.map((x) =>
        span.map((y) => multiply(weightOf(x, y), u.at(like === "in rows" ? 0 : x, y)))
      );
      const sums = like === "in rows"
        ? rows.map(([first, ...rest], i) => shifted(add(first!, ...rest), span[i]!, 0))
        : like === "turned"
        ? [...rows.flat().reverse(), multiply(-1, u.before())]
        : rows.flat();
      return { u: clamped(99, sums[0]!, ...sums.slice(1)) };
    },
  });
}

/** Slanted taps of a field and a material in products and choices, with profiles along both axes. */
const MIXED = equation({
  name: "mixed",
  dimensions: 2,
  fields: { u: [-4, 3] },
  materials: { m: FEW, dx: ALONG.x, dy: ALONG.y },
  step({ u, m, dx, dy }) {
    const late = multiply(m.at(1, -1), subtract(u.at(1, 1), multiply(dx.at(1), u.at(-2))));
    const early = multiply(dy.at(0, 1), add(u.at(-1, 1), m.at(-1, 1)));
    return { u: clamped(99, late, early, multiply(u.at(0, -1), dx.at(-1))) };
  },
});

testRows([
  [wholeWave(2), [13, 17], inSteps([8, 1, 2]), [3, 2]],
  [wholeWave(6), [23, 7], inSteps([4, 2, 1]), [3, 2], { boundary: ["periodic", "zero", "insulated"] }],
  [wholeWave(4), [11, 29], inMarches([1, 8, 1, 2, 0, 1]), [3, 2], { boundary: "periodic" }],
  [wholeWave(2), [19, 13], inMarches([4, 4, 1, 4, 0, 0]), [3, 2], {
    boundary: ["insulated", "insulated", "zero"],
  }],
  [SLANTED, [7, 19], inSteps([32, 1, 1]), [3, 2], { boundary: ["periodic", "periodic", "insulated"] }],
  [CONWAY, [17, 23], inMarches([1, 16, 1, 1, 0, 1]), [3, 2], { boundary: "periodic" }],
  [wholeBox(2), [13, 23], inMarches([4, 8, 1, 2, 0, 1]), [3, 2], { boundary: "insulated" }],
  [MIXED, [17, 29], inMarches([1, 16, 1, 3, 1, 0]), [3, 2]],
  [wholeBox(1, "turned"), [19, 13], inMarches([2, 4, 1, 4, 0, 0]), [3, 2], {
    boundary: ["periodic", "periodic", "zero"],
  }],
  [SLANTED, [13, 21], inMarches([2, 8, 1, 2, 0, 1]), [3, 2]],
  [life("3-6/2", PLANE), [5, 11], inSteps([8, 1, 1]), [3, 2], { boundary: "insulated" }],
]);

/** A velocity model and damping along both axes, in whole numbers: of what deep marches can, all at once. */
const DAMPED = equation({
  name: "damped",
  dimensions: 2,
  fields: { u: [-4, 3] },
  materials: { m: FEW, dx: ALONG.x, dy: ALONG.y },
  step({ u, m, dx, dy }) {
    const sides = add(u.at(1), u.at(0, 1), multiply(dx.at(-1), u.at(-1)), multiply(m.at(0, -1), u.at(0, -1)));
    const sum = add(sides, multiply(add(m, dx, dy.at(0, 1)), u));
    return { u: clamped(99, subtract(sum, multiply(dy, u.before()))) };
  },
});

/** A material and its neighbours, in an equation that is its own mirror image. */
const VARIED = equation({
  name: "varied",
  dimensions: 2,
  fields: { u: [-4, 3] },
  materials: { m: FEW },
  step({ u, m }) {
    const sides = ([[1, 0], [-1, 0], [0, 1], [0, -1]] as const).map(([x, y]) =>
      multiply(m.at(x, y), u.at(x, y))
    );
    return { u: clamped(99, subtract(add(u, ...sides), u.before())) };
  },
});

/** Two fields in one sub-step, which read each other. */
const REACTING = equation({
  name: "reacting",
  dimensions: 2,
  fields: { u: [-4, 3], v: [-2, 5] },
  materials: { m: FEW },
  step({ u, v, m }) {
    const sides = (of: FieldTap) => add(of.at(1), of.at(-1), of.at(0, 1), of.at(0, -1));
    return {
      u: clamped(99, subtract(sides(u), multiply(3, u)), multiply(m.at(0, 1), v)),
      v: clamped(99, subtract(multiply(m, u), sides(v)), v.at(1, 2), u.at(-2)),
    };
  },
});

/** Three staggered fields in two sub-steps, as a transverse wave's. */
const STAGGERED = equation({
  name: "staggered",
  dimensions: 2,
  fields: { e: [-4, 3], hx: [-1, 2], hy: [-2, 1] },
  materials: { m: FEW, dx: ALONG.x },
  step: ({ e, hx, hy, m, dx }) => [
    {
      hx: clamped(99, hx, subtract(e, e.at(0, 1))),
      hy: clamped(99, multiply(dx, hy), subtract(e.at(1), e)),
    },
    {
      e: clamped(99, e, multiply(m, subtract(hy.next(), hy.next(-1))), subtract(hx.next(0, -1), hx.next())),
    },
  ],
});

/** The same of the second order in each sub-step, without materials, whose first fields reach two cells. */
const WIDE = equation({
  name: "wide",
  dimensions: 2,
  fields: { e: [-4, 3], hx: [-1, 2], hy: [-2, 1] },
  step: ({ e, hx, hy }) => [
    { e: clamped(99, e, subtract(hy, hy.at(-2)), subtract(hx.at(0, -2), hx.at(0, 1))) },
    {
      hx: clamped(99, hx, subtract(e.next(0, 2), e.next(0, -1))),
      hy: clamped(99, hy, subtract(e.next(2), e.next(-1))),
    },
  ],
});

// marches of many steps a pass
testRows(rowsIn(inMarches, [
  [CONWAY, [37, 53], [2, 16, 1, 2, 0, 1, 8], [17, 3, 18]],
  [WHOLE_HEAT, [29, 31], [4, 8, 1, 2, 0, 1, 3], [7, 2]],
  [wholeWave(2), [31, 43], [4, 8, 1, 2, 0, 1, 2], [5, 4]],
  [wholeWave(2), [29, 37], [1, 16, 1, 3, 0, 1, 3], [1, 7]],
  [wholeWave(4), [17, 47], [2, 16, 1, 1, 0, 1, 2], [5]],
  [CONWAY, [29, 37], [2, 16, 1, 2, 0, 1, 4], [9, 10], { boundary: "periodic" }],
  [life("3-6/2", PLANE), [11, 26], [4, 16, 1, 2, 0, 1, 6], [13], { boundary: ["zero", "periodic"] }],
  [WHOLE_HEAT, [13, 16], [1, 16, 1, 1, 0, 1, 3], [7], { boundary: ["periodic", "zero"] }],
  // sums that are carried from slice to slice
  [wholeBox(2), [23, 41], [4, 16, 1, 2, 0, 1, 3], [7, 4]],
  [wholeBox(2, "in rows"), [29, 37], [2, 16, 1, 3, 0, 1, 2], [5]],
  [wholeBox(1, "turned"), [17, 43], [2, 16, 1, 2, 0, 1, 2], [5, 4]],
  [wholeBox(2), [11, 67], [4, 16, 1, 1, 0, 1, 2], [4], { boundary: ["periodic", "zero"] }],
  [wholeBox(2), [71, 203], [4, 16, 1, 4, 0, 1, 2], [3]],
  [MIXED, [59, 83], [2, 16, 1, 4, 0, 1, 3], [7]],
  // with workgroups that lie wholly within the grid
  [WHOLE_HEAT, [61, 131], [2, 16, 1, 4, 0, 1, 3], [4, 2]],
  [CONWAY, [71, 103], [4, 8, 1, 5, 0, 1, 4], [13]],
  [DAMPED, [59, 83], [2, 16, 1, 4, 0, 1, 3], [13]],
  // beyond ends that are images
  [wholeWave(2), [31, 43], [2, 16, 1, 2, 0, 1, 3], [7], { boundary: "periodic" }],
  [wholeWave(4), [19, 47], [4, 16, 1, 2, 0, 1, 2], [6], { boundary: ["insulated", "periodic"] }],
  [WHOLE_HEAT, [17, 31], [2, 16, 1, 2, 0, 1, 3], [4, 3], { boundary: "insulated" }],
  [CONWAY, [5, 37], [2, 16, 1, 1, 0, 1, 6], [15], { boundary: "insulated" }],
  [VARIED, [29, 37], [2, 16, 1, 2, 0, 1, 3], [13], { boundary: "insulated" }],
]));
testRows(
  rowsIn(inMarches, [
    [CONWAY, [23, 41], [2, 32, 1, 3, 0, 1, 16], [50]],
    [wholeWave(4), [67, 101], [2, 16, 1, 4, 0, 1, 2], [6]],
    [VARIED, [13, 53], [4, 16, 1, 2, 0, 1, 4], [9], { boundary: ["periodic", "zero"] }],
    // several fields, in one sub-step and in several
    [REACTING, [31, 43], [2, 16, 1, 2, 0, 1, 2], [5, 4]],
    [REACTING, [61, 131], [2, 16, 1, 4, 0, 1, 3], [7], { boundary: "periodic" }],
    [STAGGERED, [31, 43], [2, 16, 1, 2, 0, 1, 3], [7, 2]],
    [STAGGERED, [13, 67], [1, 32, 1, 2, 0, 1, 2], [5, 4]],
    [WIDE, [37, 53], [4, 16, 1, 3, 0, 1, 2], [6]],
    [WIDE, [67, 101], [4, 16, 1, 4, 0, 1, 2], [5], { boundary: ["periodic", "zero"] }],
  ]),
  { isSlow: true },
);

/** An equation that reads only what lies further along x: an earlier step is never computed where it is not read. */
const AHEAD = equation({
  name: "ahead",
  dimensions: 2,
  fields: { u: [-4, 3] },
  step: ({ u }) => ({ u: clamped(99, subtract(u.at(2), u.at(1))) }),
});

/** Marches with points of every field. */
function everywhere(rows: Parameters<typeof rowsIn<MarchValues>>[1]): Row[] {
  return rowsIn(inMarches, rows).map(([stencil, grid, way, runs, { points, ...special } = {}]) => {
    const fields = stencil.update.fields.map((_, i) => i);
    return [stencil, grid, way, runs, { ...special, points: { ...points, fields } }];
  });
}

// with points of all fields, of which later sub-steps read some
testRows(everywhere([
  [DAMPED, [23, 41], [1, 16, 1, 2, 0, 1, 2], [4, 1], { points: { every: 2 } }],
  [WHOLE_HEAT, [37, 53], [1, 16, 1, 3, 0, 1, 2], [5], { boundary: "periodic", sections: 2 }],
  [AHEAD, [17, 67], [2, 16, 1, 2, 0, 1, 4], [9]],
  [STAGGERED, [17, 23], [1, 16, 1, 2, 0, 1, 2], [5, 2], { points: { every: 2 } }],
]));
testRows(
  everywhere([
    [REACTING, [23, 41], [2, 16, 1, 2, 0, 1, 2], [5], { boundary: "periodic" }],
    [STAGGERED, [31, 43], [2, 16, 1, 2, 0, 1, 3], [7, 2], { points: { every: 2 } }],
    [WIDE, [37, 53], [4, 16, 1, 3, 0, 1, 2], [5, 3], { sections: 2 }],
    [WHOLE_HEAT, [29, 31], [4, 8, 1, 2, 0, 1, 3], [4, 2]],
    [DAMPED, [59, 83], [2, 16, 1, 4, 0, 1, 3], [13, 7], { points: { every: 2 } }],
    [DAMPED, [71, 331], [4, 16, 1, 5, 0, 1, 2], [9], { points: { every: 3 } }],
    [VARIED, [29, 37], [2, 16, 1, 2, 0, 1, 3], [13], { boundary: "insulated" }],
    [VARIED, [31, 41], [4, 16, 1, 3, 0, 1, 2], [9], { boundary: "periodic", points: { every: 2 } }],
    [VARIED, [5, 37], [2, 16, 1, 1, 0, 1, 4], [17], { boundary: ["periodic", "insulated"] }],
    [WHOLE_HEAT, [67, 101], [2, 16, 1, 4, 0, 1, 2], [5], { sections: 3 }],
    [AHEAD, [41, 67], [2, 16, 1, 4, 0, 1, 3], [7, 4], { boundary: ["zero", "periodic"] }],
  ]),
  { isSlow: true },
);

// ends by shuffles, in rows of a SIMD group, which overlap
const ROW = SUBGROUP_SIZE ?? 8;
testRows(rowsIn(inMarches, [
  [WHOLE_HEAT, [29, 4 * ROW + 3], [4, ROW, 1, 2, 0, 1, 3, 1], [7, 2]],
  [CONWAY, [37, 4 * ROW + 21], [4, ROW, 1, 5, 0, 1, 4, 1], [13], { boundary: ["zero", "periodic"] }],
  [WHOLE_HEAT, [31, 9 * ROW], [4, ROW, 1, 2, 0, 1, 4, 1], [9], { precision: "f64" }],
  [wholeWave(2), [29, 4 * ROW + 5], [4, ROW, 1, 3, 0, 1, 3, 1], [7], {
    precision: "f64",
    boundary: "periodic",
  }],
]));
testRows(
  rowsIn(inMarches, [
    [wholeWave(4), [29, 4 * ROW + 5], [4, ROW, 1, 3, 0, 1, 2, 1], [5], { boundary: "insulated" }],
    [STAGGERED, [17, 2 * ROW + 7], [2, ROW, 1, 2, 0, 1, 2, 1], [5], { points: { fields: [0, 1, 2] } }],
    [wholeBox(2), [23, 5 * ROW], [4, ROW, 1, 2, 0, 1, 2, 1], [7, 4]],
    [REACTING, [31, 4 * ROW + 1], [2, ROW, 1, 2, 0, 1, 2, 1], [5, 4], { precision: "f64" }],
    [WIDE, [37, 6 * ROW], [4, ROW, 1, 3, 0, 1, 2, 1], [6]],
    [MIXED, [59, 9 * ROW], [2, ROW, 1, 4, 0, 1, 2, 1], [7]],
    [VARIED, [31, 4 * ROW + 3], [4, ROW, 1, 3, 0, 1, 2, 1], [9], { boundary: "periodic", points: {} }],
  ]),
  { isSlow: true },
);

const ENDS: readonly OwnBoundaries[] = [
  "zero",
  "periodic",
  "insulated",
  ["insulated", "zero"],
  ["periodic", "insulated"],
];
const DEPTHS: readonly Row[] = [CONWAY, VARIED].flatMap((stencil): Row[] => [
  [stencil, [31, 61], inMarches([2, 16, 1, 1, 0, 1, 2]), [5, 3, 4]],
  [stencil, [7, 29], inMarches([2, 16, 1, 2, 0, 1, 3]), [7, 3, 5]],
  [stencil, [67, 83], inMarches([4, 16, 1, 3, 0, 1, 8]), [17, 3, 10]],
]);
for (const boundary of ENDS) testRows(DEPTHS, { boundary, isSlow: true });

const SHARE = { cpuSlices: 0, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };

/** F(0) and F(−1) from functions of x and y, and the field after some steps on the CPU, by a solver. */
async function solved(
  { stencil, grid: [nx, ny], boundary }: {
    stencil: Stencil;
    grid: readonly [number, number];
    boundary: OwnBoundaries;
  },
  values: readonly ((x: number, y: number) => number)[],
  steps: number,
  traversal: { traversal: string; parameters: Values } = { traversal: "stepwise", parameters: {} },
): Promise<Float32Array> {
  const problem = { stencil, grid: [nx, ny], boundary, steps } as const;
  await using solver = await createSolver(null, problem, {
    ...traversal,
    share: { ...SHARE, cpuSlices: nx },
  });
  const [name] = stencil.update.fields;
  for (const [ago, value] of values.entries()) await solver.write(name!, value, { ago: ago as 0 | 1 });
  await solver.run(steps);
  return await solver.read(name!);
}

const ON_CPU: readonly { traversal: string; parameters: Values }[] = [
  { traversal: "stepwise", parameters: { strip: 0 } },
  { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 3, block: 1 } },
];
const EACH_BOUNDARY = ["zero", "periodic", "insulated", ["periodic", "zero"], ["zero", "insulated"]] as const;

Deno.test("on the CPU whole numbers in two dimensions equal the oracle, for every boundary", async () => {
  for (const boundary of EACH_BOUNDARY) {
    for (const way of ON_CPU) {
      const stencil = wholeWave(2), grid = [17, 13] as const, steps = 5, [nx, ny] = grid;
      const values = [
        (x: number, y: number) => (3 * x + 5 * y) % 7 - 3,
        (x: number, y: number) => (x * y) % 5,
      ];
      const found = await solved({ stencil, grid, boundary }, values, steps, way);
      const cells = (of: (x: number, y: number) => number) =>
        Float32Array.from({ length: nx * ny }, (_, i) => of(Math.floor(i / ny), i % ny));
      const [current, previous] = values.map(cells) as [Float32Array, Float32Array];
      const planned = plannedProblem({ stencil, grid, boundary, steps });
      const right = runReference({ current, previous }, { ...planned, update: stencil.update });
      assertEquals(found, right.current, `${boundary} ${way.traversal}`);
    }
  }
});

/** One step of a sum over the cells along x and y in f64, mirrored about nothing but zeros: by hand. */
function handStep(
  now: readonly number[][],
  centre: number,
  sides: readonly number[],
): number[][] {
  const at = (x: number, y: number): number => now[x]?.[y] ?? 0;
  return now.map((column, x) =>
    column.map((value, y) =>
      sides.reduce((sum, weight, i) => {
        const k = i + 1;
        return sum + weight * (at(x - k, y) + at(x + k, y) + at(x, y - k) + at(x, y + k));
      }, centre * value)
    )
  );
}

Deno.test("heat and waves in two dimensions are what loops of their own over x and y make in f64", async () => {
  const grid = [19, 14] as const, steps = 30;
  const start = (x: number, y: number): number => Math.sin(1.3 * x + 0.4 * y * y);
  const table = (of: (x: number, y: number) => number) =>
    Array.from({ length: grid[0] }, (_, x) => Array.from({ length: grid[1] }, (_, y) => of(x, y)));
  const assertClose = (found: Float32Array, right: number[][]) =>
    right.flat().forEach((value, i) => assertAlmostEquals(found[i]!, value, 2e-5));
  for (const delta of HEAT_DELTAS) {
    const fourier = 0.05, { centre, sides } = secondDerivative(2 * delta);
    let field = table(start);
    for (let t = 0; t < steps; t++) {
      field = handStep(field, 1 + 2 * fourier * centre, sides.map((c) => fourier * c));
    }
    const stencil = heat(delta, { ...PLANE, fourier });
    assertClose(await solved({ stencil, grid, boundary: "zero" }, [start], steps), field);
  }
  for (const order of [2, 8]) {
    const courant = 0.4, { centre, sides } = secondDerivative(order), square = courant ** 2;
    let [before, field] = [table(() => 0), table(start)];
    for (let t = 0; t < steps; t++) {
      const sum = handStep(field, 2 + 2 * square * centre, sides.map((c) => square * c));
      [before, field] = [field, sum.map((column, x) => column.map((value, y) => value - before[x]![y]!))];
    }
    const stencil = wave(order, { ...PLANE, courant });
    assertClose(await solved({ stencil, grid, boundary: "zero" }, [start, () => 0], steps), field);
  }
});

Deno.test("plane waves in two dimensions are carried exactly in f64, at the largest stable step too", () => {
  const grid = [12, 10] as const, steps = 40;
  const stencils = [
    ...WAVE_ORDERS.map((order) => wave(order, { ...PLANE, courant: stabilityLimit(order, 2) })),
    ...HEAT_DELTAS.map((delta) => heat(delta, PLANE)),
  ];
  for (const stencil of stencils) {
    for (const modes of [[1, 0], [-2, 3], [5, 4]]) {
      const exact = stencil.planeWave!(grid, modes);
      const at = (step: number) =>
        Float64Array.from({ length: 120 }, (_, i) => exact.at([Math.floor(i / 10), i % 10], step));
      const planned = plannedProblem({ stencil, grid, boundary: "periodic", steps });
      const levels = { current: at(0), previous: at(-1) };
      const { current } = runReference(levels, { ...planned, update: stencil.update });
      const right = at(steps);
      current.forEach((value, i) => assertAlmostEquals(value, right[i]!, 1e-11));
    }
  }
});

Deno.test("the largest stable steps of two dimensions are those of waves along both axes at once", () => {
  for (const order of WAVE_ORDERS) {
    const spread = spreadOf(secondDerivative(order));
    assertAlmostEquals(stabilityLimit(order, 2) ** 2 * 2 * spread, 4, 1e-12);
    const limit = acousticTimeStep({ ...PLANE, order, velocity: [1000, 3000], spacing: 12.5 });
    assertAlmostEquals((3000 * limit / 12.5) ** 2 * 2 * spread, 4, 1e-12);
    const build = (timeStep: number) =>
      acoustic({ ...PLANE, order, velocity: [1000, 3000], spacing: 12.5, timeStep });
    assertEquals(build(limit).dimensions, 2);
    assertThrows(() => build(1.001 * limit), RangeError, "stability limit");
  }
  assertThrows(() => heat(1, { ...PLANE, fourier: 0.26 }), RangeError, "at most 0.25");
});

Deno.test("sound in two dimensions: a mode between zeros turns as the scheme says", async () => {
  const velocity = [2000, 2000] as const, spacing = 5, timeStep = 1e-3, grid = [23, 17] as const, steps = 50;
  const stencil = acoustic({ ...PLANE, velocity, spacing, timeStep, edges: 0 });
  const [kx, ky] = [2 * Math.PI / 24, 3 * Math.PI / 18];
  // 2 cos ωΔt = 2 − (vΔt/h)² Σ (2 − 2 cos θ)
  const factor = (2000 * timeStep / spacing) ** 2;
  const omega = Math.acos(1 + factor / 2 * symbolAt({ centre: -4, sides: [1] }, kx, ky));
  const mode = (x: number, y: number, step: number): number =>
    Math.sin(kx * (x + 1)) * Math.sin(ky * (y + 1)) * Math.cos(omega * step);
  const found = await solved(
    { stencil, grid, boundary: "zero" },
    [(x, y) => mode(x, y, 0), (x, y) => mode(x, y, -1)],
    steps,
  );
  found.forEach((value, i) =>
    assertAlmostEquals(value, mode(Math.floor(i / grid[1]), i % grid[1], steps), 5e-5)
  );
});

Deno.test("a source in two dimensions sends h² along a line: the trace is that of the plane's Green's function", async () => {
  const velocity = [2000, 2000] as const, spacing = 4, timeStep = 5e-4, steps = 150, n = 121, away = 25;
  const stencil = acoustic({ ...PLANE, order: 8, velocity, spacing, timeStep, edges: 20 });
  const frequency = 30;
  const ricker = (t: number): number => {
    const a = (Math.PI * frequency * (t - 1.2 / frequency)) ** 2;
    return (1 - 2 * a) * Math.exp(-a);
  };
  const problem = { stencil, grid: [n, n], boundary: "zero", steps } as const;
  await using solver = await createSolver(null, { ...problem, survey: { sources: 1, receivers: 1 } }, {
    traversal: "stepwise",
    parameters: {},
    share: { ...SHARE, cpuSlices: n },
  });
  await solver.write("velocity", 2000);
  await solver.addSources("s", [[60, 60]], Array.from({ length: steps }, (_, j) => ricker(j * timeStep)));
  await solver.addReceivers("p", [[60 + away, 60]]);
  await solver.run(steps);
  const [trace] = await solver.traces(), arrival = away * spacing / 2000;
  // h²/2π ∫ s(t − τ)/√(τ² − r²/v²) dτ, τ = r/v · cosh u
  const right = (t: number): number => {
    if (t <= arrival) return 0;
    const end = Math.acosh(t / arrival), pieces = 2000;
    let sum = 0;
    for (let i = 0; i < pieces; i++) sum += ricker(t - arrival * Math.cosh((i + 0.5) * end / pieces));
    return spacing ** 2 / (2 * Math.PI) * sum * end / pieces;
  };
  const largest = Math.max(...Array.from({ length: steps }, (_, j) => Math.abs(right(j * timeStep))));
  trace!.forEach((value, j) => assertLess(Math.abs(value - right(j * timeStep)), 0.02 * largest, `${j}`));
});

/** Conway's rule on a plane, by hand. */
function conway(
  cells: Uint8Array,
  [nx, ny]: readonly [number, number],
  boundary: "zero" | "periodic" | "insulated",
) {
  const at = (x: number, y: number): number => {
    const [i, j] = [imageOf(x, nx, boundary), imageOf(y, ny, boundary)];
    return i === undefined || j === undefined ? 0 : cells[i * ny + j]!;
  };
  return cells.map((alive, i) => {
    const [x, y] = [Math.floor(i / ny), i % ny];
    let sum = -alive;
    for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) sum += at(x + dx, y + dy);
    return Number(sum === 3 || (alive === 1 && sum === 2));
  });
}

/** Rows of text as cells: x downwards, y to the right. */
const drawn = (
  rows: readonly string[],
  [nx, ny]: readonly [number, number],
  [x, y]: readonly [number, number],
) => {
  const cells = new Float32Array(nx * ny);
  rows.forEach((row, i) => [...row].forEach((one, j) => cells[(x + i) * ny + y + j] = Number(one === "#")));
  return cells;
};

const played = (cells: Float32Array, grid: readonly [number, number], steps: number) =>
  solved(
    { stencil: CONWAY, grid, boundary: "zero" },
    [(x, y) => cells[x * grid[1] + y]!],
    steps,
  );

Deno.test("a glider moves by one cell along both axes in four generations", async () => {
  const glider = [".#.", "..#", "###"], grid = [40, 37] as const;
  assertEquals(await played(drawn(glider, grid, [3, 5]), grid, 100), drawn(glider, grid, [28, 30]));
});

Deno.test("Gosper's gun is itself again after 30 generations, and has sent a glider", async () => {
  const gun = [
    "........................#...........",
    "......................#.#...........",
    "............##......##............##",
    "...........#...#....##............##",
    "##........#.....#...##..............",
    "##........#...#.##....#.#...........",
    "..........#.....#.......#...........",
    "...........#...#....................",
    "............##......................",
  ];
  const grid = [60, 80] as const, start = drawn(gun, grid, [3, 5]);
  const found = await played(start, grid, 30), later = await played(start, grid, 60);
  const rest = found.map((cell, i) => cell - start[i]!), more = later.map((cell, i) => cell - found[i]!);
  assertEquals([rest.reduce((a, b) => a + b), Math.min(...rest)], [5, 0]);
  // each thirty generations one more, which by then is seven or eight cells on
  assertEquals(more.reduce((a, b) => a + b), 5);
});

Deno.test("Conway's rule by kernels is that of a few lines, from random soups", async () => {
  const grid = [17, 13] as const, [nx, ny] = grid;
  let state = 12345;
  const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 2 ** 32;
  for (const boundary of ["zero", "periodic", "insulated"] as const) {
    const problem = { stencil: CONWAY, grid, boundary, steps: 12 };
    await using solver = await createSolver(null, problem, {
      traversal: "stepwise",
      parameters: {},
      share: { ...SHARE, cpuSlices: nx },
    });
    for (let soup = 0; soup < (THOROUGH ? 1000 : 100) / 3; soup++) {
      const density = 0.2 + 0.5 * random();
      let cells = Uint8Array.from({ length: nx * ny }, () => Number(random() < density));
      await solver.write("F", Float32Array.from(cells));
      await solver.run(12);
      for (let t = 0; t < 12; t++) cells = conway(cells, grid, boundary);
      assertEquals(Uint8Array.from(await solver.read("F")), cells, `${boundary} ${soup}`);
    }
  }
});

Deno.test("what stands along x and y lies along x and z of a plan, in expressions, shifts, profiles and formulas", () => {
  const stencil = equation({
    name: "placed",
    dimensions: 2,
    fields: { u: [0, 1] },
    materials: { m: (x, y) => add(multiply(2, x), y), d: along("y", (i) => i) },
    step: ({ u, m, d }) => ({ u: add(u.at(1, 2), shifted(u.at(3), -1, 4), m.at(0, 5), d.at(9, 6)) }),
  });
  assertEquals(tapsOf(stencil.update).map(({ offset }) => offset), [[1, 0, 2], [2, 0, 4], [0, 0, 5]]);
  assertEquals(profileTapsOf(stencil.update).map(offsetOf), [[0, 0, 6]]);
  assertEquals(definitionOf(stencil).materials[0]!.formula, ["add", ["multiply", 2, ["x"]], ["z"]]);
  const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
  assertEquals([again.dimensions, hashOf(again.update)], [2, hashOf(stencil.update)]);
});

Deno.test("a third number, a third axis and taps off the plane are refused", () => {
  type Step = Parameters<typeof equation<"u">>[0]["step"];
  const make = (step: Step, materials = {}) =>
    equation({ name: "plane", dimensions: 2, fields: { u: [0, 1] }, materials, step });
  const wanted = "cells along x and y are wanted, not a tap in three dimensions: found [1, 0, 0]";
  assertThrows(() => make(({ u }) => ({ u: u.at(1, 0, 0) })), RangeError, wanted);
  assertThrows(() => make(({ u }) => ({ u: shifted(u, 1, 0, 0) })), RangeError, wanted);
  const dx = { dx: along("x", [0, 1]) } as unknown as Record<string, never>;
  const far = (planes: Record<string, { at(...cells: number[]): unknown }>) => ({
    u: planes.dx!.at(1, 0, 0),
  });
  assertThrows(() => make(far as never, dx), RangeError, wanted);
  const dz = { dz: along("z", [0, 1]) };
  const found = "material dz: one of the axes x, y is wanted: found z";
  assertThrows(() => make(({ u }) => ({ u }), dz), RangeError, found);
  const zed = { m: (_x: unknown, _y: unknown, z: never) => z };
  assertThrows(() => make(({ u }) => ({ u }), zed), RangeError, "material m");
  const definition = { ...definitionOf(wave(2)), dimensions: 2 };
  assertThrows(() => stencilOf(definition), RangeError, "cells of the plane, a plan's x and z, are wanted");
  // in three dimensions shifts have three numbers
  const space = () =>
    equation({ name: "s", fields: { u: [0, 1] }, step: ({ u }) => ({ u: shifted(u, 1, 0) }) });
  assertThrows(space, RangeError, "a whole number of cells along each axis is wanted");
  assertThrows(() => life("9/2-3", PLANE), RangeError, "in two dimensions to 8");
  assert(life().variant.rule === "5/2-7" && CONWAY.variant.rule === "3/2-3");
});

Deno.test("workgroups of a plane lie along y alone: of steps, marches and the reference", () => {
  const limits = {
    maxStorageBufferBindingSize: 2 ** 31 - 4,
    maxBufferSize: 2 ** 40,
    maxComputeWorkgroupStorageSize: 49152,
    maxComputeInvocationsPerWorkgroup: 1024,
    maxComputeWorkgroupSizeX: 1024,
    maxComputeWorkgroupSizeY: 1024,
    maxComputeWorkgroupSizeZ: 64,
    maxComputeWorkgroupsPerDimension: 65535,
  };
  for (const stencil of [heat(1, PLANE), wave(4, PLANE)]) {
    for (const traversal of [stepwise, marching]) {
      const { threadsY } = traversal.parameterLists(problemOf(stencil, [4000, 1000]), limits);
      assertEquals(threadsY, [1], traversal.name);
    }
  }
  assertEquals(referenceShape(problemOf(wave(2, PLANE), [40, 40])).threadsY, 1);
  assertEquals(referenceShape({ grid: [40, 40, 40] }).threadsY, 4);
});
