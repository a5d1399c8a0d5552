import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { rowsOfWaves, scheduleTorres } from "../../../kernels/traversals/waves.ts";
import { shapeOf } from "../../../kernels/traversals/torre/shape.ts";

const anySchedule = fc.record({
  order: fc.constantFrom(2, 4, 14),
  nx: fc.integer({ min: 1, max: 90 }),
  ny: fc.integer({ min: 1, max: 40 }),
  steps: fc.integer({ min: 1, max: 40 }),
  halves: fc.integer({ min: 2, max: 8 }),
  rounds: fc.integer({ min: 1, max: 4 }),
  unroll: fc.constantFrom(1, 2, 4),
  bands: fc.constantFrom(1, 2, 4, 8, 16),
}).map(({ order, nx, ny, steps, rounds, unroll, halves, bands }) => {
  const slope = order / 2, dts = slope % 2 === 0 ? halves / 2 : Math.ceil(halves / 2);
  return {
    problem: { stencil: wave(order), grid: [nx, ny, 3], boundary: "zero", steps } as Problem,
    parameters: { nt: rounds * unroll, unroll, dts, bands },
    slope,
    width: order * dts,
  };
});

type Schedule = typeof anySchedule extends fc.Arbitrary<infer T> ? T : never;

/** Runs the check on many schedules, the same ones every time. */
function forAnySchedule(check: (one: Schedule) => void): void {
  fc.assert(fc.property(anySchedule, check), { seed: 20_261_121, numRuns: 300 });
}

/** What a cell may tap along x and y; of large diamonds the axes and the rim, which hold all extremes. */
function diamondOf(slope: number): [dx: number, dy: number][] {
  const taps: [number, number][] = [];
  for (let dx = -slope; dx <= slope; dx++) {
    for (let dy = -slope; dy <= slope; dy++) {
      const distance = Math.abs(dx) + Math.abs(dy);
      if (distance === slope || (distance < slope && (dx === 0 || dy === 0))) taps.push([dx, dy]);
    }
  }
  return taps;
}

Deno.test("rows of one wave touch no cell in common", () => {
  forAnySchedule(({ problem, parameters, slope, width }) => {
    for (const rows of scheduleTorres(problem, parameters, problem.steps).waves) {
      // from what the first tier reads before its tile to what the last one leaves behind it
      const touched = rows
        .map(({ x, tiers }) => ({ from: x - slope, to: x + slope * tiers + width + slope }))
        .sort((a, b) => a.from - b.from);
      touched.reduce((before, next) => {
        assert(next.from >= before.to, `${JSON.stringify(rows)}`);
        return next;
      });
    }
  });
});

Deno.test("no torre touches a cell outside of the pads", () => {
  forAnySchedule(({ problem, parameters, slope, width }) => {
    const [nx, ny] = problem.grid;
    const values = { ...parameters, zPerThread: 1, threads: 3, chunk: 2, rest: 0, loads: "tier start" };
    const [padX, padY] = shapeOf(problem, values).layout.pad;
    for (const { x, y, tiers, torres } of scheduleTorres(problem, parameters, problem.steps).waves.flat()) {
      // a tier needs F on [−S, W + S)² of its local coordinates; materials as far are read a tier ahead
      const acrossY = Math.floor((width + 2 * slope - 1) / 2);
      assert(x - slope >= -padX && x + slope * (tiers + 1) + width - 1 < nx + padX, `x ${x}, ${tiers} tiers`);
      assert(
        y - acrossY >= -padY && y + (torres - 1) * width + acrossY < ny + padY,
        `y ${y}, ${torres} torres`,
      );
    }
  });
});

Deno.test("every cell is computed exactly once a step, after everything that it needs", () => {
  forAnySchedule(({ problem, parameters, slope, width }) => {
    const [nx, ny] = problem.grid;
    const { waves, steps } = scheduleTorres(problem, parameters, problem.steps);
    const tapped = diamondOf(slope);
    /** The newest step of each cell along x and y. */
    const newest = new Int32Array(nx * ny);
    for (const rows of waves) {
      for (const { x, y, tiers, torres, step } of rows) {
        for (let torre = 0; torre < torres; torre++) {
          for (let tier = 0; tier < tiers; tier++) {
            const advance = (a: number, b: number): void => {
              const i = x + slope * tier + (a + b) / 2, j = y + torre * width + (a - b) / 2;
              if (i < 0 || i >= nx || j < 0 || j >= ny) return;
              assertEquals(newest[i * ny + j], step + tier, `cell ${i}, ${j}`);
              for (const [dx, dy] of tapped) {
                // at this step or one further, so that this step's value is still in one of the two arrays
                const p = i + dx, q = j + dy;
                if (p < 0 || p >= nx || q < 0 || q >= ny) continue;
                const ahead = newest[p * ny + q]! - (step + tier);
                assert(ahead === 0 || ahead === 1, `cell ${p}, ${q} is ${ahead} steps ahead of ${i}, ${j}`);
              }
            };
            for (let a = 0; a < width; a++) {
              for (let b = a % 2; b < width; b += 2) advance(a, b);
            }
            for (let a = 0; a < width; a++) {
              for (let b = a % 2; b < width; b += 2) {
                const i = x + slope * tier + (a + b) / 2, j = y + torre * width + (a - b) / 2;
                if (i >= 0 && i < nx && j >= 0 && j < ny) newest[i * ny + j]!++;
              }
            }
          }
        }
      }
    }
    assert(newest.every((step) => step === steps));
    assert(problem.steps - steps < parameters.unroll);
  });
});

Deno.test("a run's waves are counted as they are scheduled, of runs so long that bands repeat, too", () => {
  forAnySchedule(({ problem: { grid: [nx], ...of }, parameters }) => {
    // so wide that every stage has torres
    const steps = 17 * of.steps, problem: Problem = { ...of, grid: [nx, 400, 3], steps };
    const one = { ...parameters, unroll: 1 };
    const { waves } = scheduleTorres(problem, one, steps);
    const counted = rowsOfWaves(problem, one).toSorted((a, b) => a.rows - b.rows);
    const scheduled = [...Map.groupBy(waves, ({ length }) => length)]
      .map(([rows, its]) => ({ rows, waves: its.length })).toSorted((a, b) => a.rows - b.rows);
    assertEquals(counted, scheduled);
  });
});
