/**
 * Every way in which the CPU's workers can traverse a grid gives the oracle's bits, whatever the equation, the boundary,
 * and the number of workers.
 *
 * @module
 */
import { type FloatArray, type Precise, PRECISIONS } from "../../../kernels/precision.ts";
import { assert, assertEquals } from "@std/assert";
import { CPU_TRAVERSALS, type CpuShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { equation } from "../../../kernels/equation.ts";
import { layOut } from "../../../kernels/layout.ts";
import { add, multiply, subtract } from "../../../kernels/operations.ts";
import { inPrecision } from "../../../kernels/planned_problem.ts";
import { type FieldLevels, runReference } from "../../../kernels/reference.ts";
import { remembered } from "../../../kernels/remembered.ts";
import { elastic } from "../../../kernels/stencils/elastic.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { life } from "../../../kernels/stencils/life.ts";
import { maxwell } from "../../../kernels/stencils/maxwell.ts";
import type { Boundaries, Grid, Stencil } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { isInPlace, planesOf, reachOf, readsPrevious } from "../../../kernels/update.ts";
import { errorBound } from "../../../models/error_bound.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import { initialCells } from "../../../tuner/devices/oracle.ts";
import { gatherCells } from "../cells.ts";
import { THOROUGH } from "../../thorough.ts";
import { reweighted } from "../../kernels/reweighted.ts";

const bits = (cells: FloatArray): Uint32Array => new Uint32Array(cells.slice().buffer);

/** The levels after the steps that the update reads, run in two parts, as the workers have them. */
async function run(
  pool: CpuPool,
  { stencil, grid, boundary, steps, shape, workers }: {
    workers: number;
    stencil: Stencil;
    grid: Grid;
    boundary: Boundaries;
    steps: number;
    shape: CpuShape;
  },
): Promise<Uint32Array[]> {
  const { update } = stencil, { x, y, z } = reachOf(update);
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update), precision: update.precision });
  const field = await pool.load({ update, layout, boundary, shape, workers });
  await field.initialise({ kind: stencil.initialField ?? "noise", seed: 1 });
  await field.run({ steps: Math.floor(steps / 3) });
  await field.run({ steps: steps - Math.floor(steps / 3) });
  const levels = readsPrevious(update) ? [field.current, field.previous] : [field.current];
  const found = levels.map((level) => bits(gatherCells(level, layout)));
  await field.dispose();
  return found;
}

/** Each field reads the other one step ago, and what a material is beyond the ends. */
const CROSSED = equation({
  name: "crossed",
  fields: { a: [-1, 1], b: [0, 1] },
  materials: { m: [0.25, 1] },
  step: ({ a, b, m }) => ({
    a: add(multiply(0.5, b.before()), multiply(0.25, m.at(0, -1, 1), a)),
    b: subtract(multiply(0.5, a.before()), multiply(0.25, m.at(1), b)),
  }),
});

const CHAINED = { a: [-1, 1], b: [0, 1] } as const;

/** In place: b is replaced by a level that reads it only there, after one that reads its neighbours at all sides. */
const CHAIN = equation({
  name: "chain",
  fields: CHAINED,
  step: ({ a, b }) => [
    { a: subtract(multiply(0.5, a), multiply(0.25, add(b.at(1, -1, 1), b.at(-1, 1, -1)))) },
    { b: add(multiply(0.5, b), multiply(0.125, subtract(a.next(-1, 1, 1), a.next(1, -1, -1)))) },
  ],
});

const CASES: readonly [stencil: Stencil, grid: Grid, shapes: readonly CpuShape[]][] = [
  [wave(2), [19, 23, 17], [{ strip: 5 }, { tiles: 3, band: 3, block: 2 }, { tiles: 1, band: 4, block: 1 }]],
  // slices so large that rows are made one after the other, of several slices at a time
  [wave(2), [13, 14, 1039], [{ strip: 5 }, { tiles: 2, band: 2, block: 4 }]],
  [wave(6), [9, 10, 1030], [{ strip: 4 }]],
  [life(), [6, 18, 901], [{ strip: 0 }]],
  // and those of two dimensions always
  [wave(4, { dimensions: 2 }), [22, 1, 37], [{ tiles: 2, band: 2, block: 1 }]],
  [heat(1, { dimensions: 2 }), [27, 1, 10], [{ tiles: 3, band: 3, block: 1 }]],
  [wave(6), [37, 31, 13], [{ strip: 4 }, { tiles: 2, band: 2, block: 3 }]],
  [wave(14), [29, 33, 11], [{ tiles: 2, band: 1, block: 1 }]],
  [heat(1), [9, 40, 21], [{ tiles: 5, band: 2, block: 4 }]],
  [heat(4), [34, 35, 9], [{ tiles: 2, band: 2, block: 2 }]],
  [life(), [21, 18, 19], [{ tiles: 2, band: 4, block: 2 }]],
  [CROSSED, [11, 9, 10], [{ strip: 2 }, { tiles: 1, band: 2, block: 1 }]],
  [maxwell({ permeability: [1, 2], conductivity: [0, 9] }), [13, 11, 9], [{ strip: 2 }, {
    tiles: 2,
    band: 2,
    block: 1,
  }]],
  [elastic(), [18, 20, 12], [{ strip: 3 }, { tiles: 2, band: 2, block: 1 }]],
  [CHAIN, [19, 23, 17], [{ tiles: 3, band: 3, block: 2 }, { tiles: 1, band: 4, block: 1 }]],
];

/** Every axis has every boundary, and most pairs of them meet. */
const MIXED: readonly Boundaries[] = [
  "insulated",
  ["insulated", "periodic", "zero"],
  ["periodic", "insulated", "periodic"],
  ["zero", "insulated", "insulated"],
];

const runsIn = remembered((precise: Precise) =>
  CASES.flatMap(([given, grid, shapes], i) =>
    (["zero", "periodic", MIXED[i % MIXED.length]!] as const).map((boundary) => {
      return { stencil: inPrecision(given, precise.precision), grid, boundary, steps: 8, shapes };
    })
  )
);

/** The oracle's field of a run, whatever the number of workers. */
const oracleOf = remembered(({ stencil, grid, boundary, steps }: ReturnType<typeof runsIn>[number]) => {
  const initial = initialCells({ grid, stencil }, { kind: stencil.initialField ?? "noise", seed: 1 });
  const { update } = stencil, levels = { current: initial, previous: initial };
  return bits(runReference(levels, { update, grid, boundary, steps }).current);
});

for (const workers of [1, 2, 3, 4, 5]) {
  // two workers compute in most other tests
  const ignore = !THOROUGH && workers % 2 === 0,
    precise = workers % 4 === 1 ? PRECISIONS.f32 : PRECISIONS.f64;
  Deno.test({
    ignore,
    name:
      `every order of ${workers} workers gives the oracle's bits in ${precise.name} for every equation and boundary`,
    async fn() {
      // one worker more, which has no part in the fields
      const pool = await CpuPool.create({ workers: workers + 1 });
      for (const [i, one] of runsIn({ precision: precise.name }).entries()) {
        // five meet every boundary, the others every third run, each time another boundary
        if (!THOROUGH && workers !== 5 && (i + Math.floor(i / 3) + workers) % 3 > 0) continue;
        const usual = await run(pool, { ...one, shape: { strip: 0 }, workers });
        assertEquals(usual[0], oracleOf(one), `${one.stencil.title}, ${one.boundary}`);
        for (const shape of one.shapes) {
          const what = `${one.stencil.title}, ${one.boundary}, ${JSON.stringify(shape)}`;
          assertEquals(await run(pool, { ...one, shape, workers }), usual, what);
        }
      }
      pool.dispose();
    },
  });
}

Deno.test("values are replaced in place where no level reads what another has replaced", () => {
  const places = (step: Parameters<typeof equation<"a" | "b">>[0]["step"]) =>
    isInPlace(equation({ name: "one", fields: CHAINED, step }).update);
  for (const { update } of [CHAIN, maxwell(), elastic()]) assert(isInPlace(update));
  for (const { update } of [CROSSED, wave(2), heat(1), life()]) assert(!isInPlace(update));
  // a neighbour, one step ago, and what an earlier sub-step has replaced
  assert(!places(({ a, b }) => [{ a: add(a.at(1), b) }, { b: a.next() }]));
  assert(!places(({ a, b }) => [{ a: add(a, b.before()) }, { b: a.next() }]));
  assert(!places(({ a, b }) => [{ a: add(a, b) }, { b: add(a, b) }]));
  assert(places(({ a, b }) => [{ a: add(a, b.at(1)) }, { b: add(a.next(-1), b) }]));
});

Deno.test("the candidates of every grid are feasible, and more workers than slices have some", () => {
  for (const [stencil] of CASES) {
    for (const grid of [[4, 5, 6], [64, 64, 64], [256, 256, 256], [3, 100, 30]] as const) {
      for (const boundary of ["zero", "periodic", "insulated"] as const) {
        for (const workers of [1, 2, 7, 16]) {
          const problem = { stencil, grid, boundary, steps: 32 };
          const counts = CPU_TRAVERSALS.map((traversal) => {
            const candidates = traversal.candidates(problem, workers, { fuses: true });
            for (const one of candidates) assertEquals(traversal.infeasible(problem, one), undefined);
            return candidates.length;
          });
          assert(counts[0]! >= 1, `${grid}`);
          if (grid[0] === 256 && workers <= 7) assert(counts[1]! >= 1, `${stencil.title} ${workers}`);
        }
      }
    }
  }
});

Deno.test("fused products are exact on whole numbers, and elsewhere differ from the oracle within the bound", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  const grid: Grid = [9, 14, 19], steps = 6, boundary = "zero";
  const whole = { ...wave(4), update: reweighted(wave(4).update, [-3, 2, -1]) };
  for (
    const [given, kind, precision] of [
      [whole, "integers", "f32"],
      [wave(4), "noise", "f32"],
      [whole, "integers", "f64"],
      [wave(4), "noise", "f64"],
    ] as const
  ) {
    const stencil = inPrecision(given, precision), { update } = stencil, { x, y, z } = reachOf(update);
    const layout = layOut(grid, { pad: [x, y, z], precision });
    const initial = initialCells({ grid, stencil }, { kind, seed: 1 });
    const oracle: FieldLevels = runReference({ current: initial, previous: initial }, {
      update,
      grid,
      boundary,
      steps,
    });
    for (const shape of [{ strip: 3 }, { tiles: 2, band: 1, block: 2 }]) {
      const field = await pool.load({ update, layout, boundary, shape, fused: true });
      await field.initialise({ kind, seed: 1 });
      await field.run({ steps });
      const current = gatherCells(field.current, layout);
      if (kind === "integers") assertEquals(bits(current), bits(oracle.current));
      else {
        const error = Math.max(...current.map((value, i) => Math.abs(value - oracle.current[i]!)));
        const bound = errorBound({ stencil, grid, boundary, steps }, 1);
        assert(error > 0 && error <= bound, `${error}, bound ${bound}`);
      }
      await field.dispose();
    }
  }
  pool.dispose();
});
