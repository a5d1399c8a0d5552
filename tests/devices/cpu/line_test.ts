import type { FloatArray } from "../../../kernels/precision.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { indexOf, layOut } from "../../../kernels/layout.ts";
import { inPrecision } from "../../../kernels/planned_problem.ts";
import { runReference } from "../../../kernels/reference.ts";
import { heat1d } from "../../../kernels/stencils/heat_1d.ts";
import { ks } from "../../../kernels/stencils/ks.ts";
import type { Boundary, Grid, Stencil } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { planesOf, reachOf } from "../../../kernels/update.ts";
import { cutLine, partsOf } from "../../../kernels/cpu/line_order.ts";
import { initialCells } from "../../../tuner/devices/oracle.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import { bitFar, bitHeat, bitKs, bitKs3 } from "../../kernels/line_stencils.ts";

const SEED = 7;

/** Runs a line on workers and on the oracle, and compares every field bit for bit after each run. */
async function assertEqualsOracle(
  pool: CpuPool,
  { stencil, points, boundary, nodePoints, runs }: {
    stencil: Stencil;
    points: number;
    boundary: Boundary;
    nodePoints: number;
    runs: readonly number[];
  },
): Promise<void> {
  const { update } = stencil, grid = [1, 1, points] as const;
  const { precision } = update, pad: Grid = [0, 0, reachOf(update).z];
  const layout = layOut(grid, { pad, planes: planesOf(update), precision });
  const planeOf = (cells: FloatArray, plane: number): FloatArray => {
    const row = indexOf(layout, [0, 0, 0], plane);
    return cells.slice(row, row + points);
  };
  const kind = stencil.initialField ?? "noise";
  const field = await pool.load({ update, layout, boundary, shape: { points: nodePoints } });
  try {
    await field.initialise({ kind, seed: SEED });
    const last = update.substeps.at(-1)![0]!.field;
    let previous = initialCells({ grid, stencil }, { kind, seed: SEED });
    let current = initialCells({ grid, stencil }, { kind, seed: SEED });
    for (const steps of runs) {
      assert(await field.run({ steps }) > 0);
      const wantedNow = runReference({ current, previous: current }, { update, grid, boundary, steps });
      if (steps > 0) previous = wantedNow.previous as FloatArray<ArrayBuffer>;
      current = wantedNow.current as FloatArray<ArrayBuffer>;
      assertEquals(
        planeOf(field.previous, last),
        previous.slice(last * points, (last + 1) * points),
        `the level before, after ${steps} steps`,
      );
      for (let plane = 0; plane < planesOf(update); plane++) {
        const found = planeOf(field.current, plane);
        const wanted = current.subarray(plane * points, (plane + 1) * points);
        const wrong = found.findIndex((value, i) => !Object.is(value, wanted[i]));
        assertEquals(wrong, -1, `field ${update.fields[plane]} after ${steps} steps`);
      }
    }
  } finally {
    await field.dispose();
  }
}

const STENCILS: readonly [Stencil, Boundary][] = [
  [bitHeat, "insulated"],
  [bitKs, "insulated"],
  [bitKs, "periodic"],
  [bitKs3, "periodic"],
  [bitKs3, "insulated"],
  [bitFar, "periodic"],
  [bitFar, "insulated"],
  [heat1d(), "insulated"],
  [ks(5), "periodic"],
  [ks(3), "periodic"],
  [inPrecision(bitKs3, "f64"), "insulated"],
  [inPrecision(bitFar, "f64"), "periodic"],
  [inPrecision(heat1d(), "f64"), "insulated"],
  [inPrecision(ks(5), "f64"), "periodic"],
];

Deno.test("workers compute lines of any length, in any nodes, bit for bit like the oracle", async () => {
  for (const [workers, numRuns] of [[1, 15], [2, 15], [3, 40]] as const) {
    const pool = await CpuPool.create({ workers });
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: STENCILS.length - 1 }),
        fc.integer({ min: 6, max: 400 }),
        fc.constantFrom(0, 7, 40, 100, 200),
        fc.array(fc.integer({ min: 0, max: 45 }), { minLength: 1, maxLength: 2 }),
        (which, points, nodePoints, runs) => {
          const [stencil, boundary] = STENCILS[which]!;
          return assertEqualsOracle(pool, { stencil, points, boundary, nodePoints, runs });
        },
      ),
      { numRuns, seed: 20261121 },
    );
    pool.dispose();
  }
});

Deno.test("a long line in two nodes, steps that are no multiple of a cycle", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (const nodePoints of [0, 500]) {
    const shared = { points: 1030, nodePoints, runs: [1, 140] };
    await assertEqualsOracle(pool, { stencil: bitHeat, boundary: "insulated", ...shared });
  }
  pool.dispose();
});

Deno.test("every point of every row is made once, whatever the cut", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 200 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 50 }),
      (points, nodes, reach, lastRow) => {
        const { even, odd, rows } = cutLine(points, { nodes, reach });
        fc.pre(rows >= 1);
        const made = new Map<number, number[]>();
        for (let phase = 0; (phase - 1) * rows < lastRow; phase++) {
          for (const node of phase % 2 === 0 ? even : odd) {
            for (const part of partsOf(node, { rows, phase, lastRow, reach })) {
              for (let i = 0; i < part.count; i++) {
                const counts = made.get(part.row + i) ?? new Array<number>(points).fill(0);
                made.set(part.row + i, counts);
                for (let z = part.begin + i * part.move; z < part.end - i * part.move; z++) {
                  counts[(z + points) % points]!++;
                }
              }
            }
          }
        }
        assertEquals([...made.keys()].length, lastRow);
        for (const counts of made.values()) assert(counts.every((count) => count === 1));
      },
    ),
    { seed: 1 },
  );
});

Deno.test("what is no line is refused, not computed wrongly", async () => {
  const pool = await CpuPool.create({ workers: 1 });
  const cube = layOut([4, 4, 4], { pad: [1, 1, 1] });
  await assertRejects(
    () => pool.load({ update: wave(2).update, layout: cube, boundary: "insulated", shape: { points: 4 } }),
    RangeError,
    "Cannot compute the field as a line: the grid is 4x4x4: it sweeps one dimension, 1x1xN",
  );
  const field = await pool.load({ update: wave(2).update, layout: cube, boundary: "insulated" });
  assert(await field.run({ steps: 1 }) > 0);
  pool.dispose();
});
