import type { FloatArray } from "../../kernels/precision.ts";
import { assert } from "@std/assert";
import { type Offset, tap } from "../../kernels/expression.ts";
import { add, choose, divide, greater, multiply, squareRoot, subtract } from "../../kernels/operations.ts";
import { initialValue } from "../kernels/initial_value.ts";
import { runReference } from "../../kernels/reference.ts";
import { type CrossWeights, secondDerivative, symbolAt } from "../../kernels/weights.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { fourierLimit, heat, HEAT_DELTAS } from "../../kernels/stencils/heat.ts";
import { FOURIER_LIMIT_1D, heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks, ksTimeStepLimit } from "../../kernels/stencils/ks.ts";
import { cellsOf, type Grid, type Stencil } from "../../kernels/stencils/stencil.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { planesOf, type Update, updateOf } from "../../kernels/update.ts";
import { varianceAfter } from "../../models/error_growth.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";

/** The standard deviation in the worst field after so many steps that make unit errors in every assignment. */
function growthOf(stencil: Stencil, steps: number, cells?: number): number {
  const made = stencil.update.substeps.flat().map(() => 1);
  return Math.sqrt(varianceAfter(stencil, { steps, made, cells }));
}

/** The mean over the waves of a long line, and of a large grid, on midpoints. */
function meanOverPhases(points: number, value: (theta: number) => number): number {
  return Array.from({ length: points }, (_, i) => value(Math.PI * (i + 0.5) / points)).reduce((a, b) =>
    a + b
  ) / points;
}

function meanOverWaves(value: (...phases: number[]) => number): number {
  const mean = (of: (theta: number) => number): number => meanOverPhases(16, of);
  return mean((x) => mean((y) => mean((z) => value(x, y, z))));
}

/** Σ_j λ^2j: a unit error in a wave that a step multiplies by λ is λ^j of it j steps later. */
function squaresOver(steps: number, lambda: number): number {
  const square = lambda * lambda;
  return Math.abs(square - 1) < 1e-12 ? steps : (square ** steps - 1) / (square - 1);
}

/** Σ_d of what the second derivative multiplies a wave by. */
function laplacian(weights: CrossWeights, phases: readonly number[]): number {
  return phases.reduce((sum, theta) => sum + symbolAt(weights, theta), 0);
}

/** What analysis by hand gives for the equations that have one field, with the default time step. */
const ANALYTIC: (readonly [Stencil, (steps: number) => number])[] = [
  ...WAVE_ORDERS.map((order) => {
    // a unit error becomes sin((j+1)ω)/sin ω, the mean of whose square is 1/(2 sin² ω)
    const weights = secondDerivative(order), square = (0.9 * stabilityLimit(order)) ** 2;
    const variance = meanOverWaves((...phases) =>
      0.5 / (1 - (1 + 0.5 * square * laplacian(weights, phases)) ** 2)
    );
    return [wave(order), (steps: number) => Math.max(1, variance * steps)] as const;
  }),
  ...HEAT_DELTAS.map((delta) => {
    const weights = secondDerivative(2 * delta), fourier = 0.9 * fourierLimit(delta);
    return [
      heat(delta),
      (steps: number) =>
        meanOverWaves((...phases) => squaresOver(steps, 1 + fourier * laplacian(weights, phases))),
    ] as const;
  }),
  [
    heat1d(),
    (steps) =>
      meanOverPhases(
        256,
        (theta) => squaresOver(steps, 1 - 3.6 * FOURIER_LIMIT_1D * Math.sin(theta / 2) ** 2),
      ),
  ],
  [ks(5), (steps) =>
    2 * meanOverPhases(512, (theta) => {
      const curvature = (2 - 2 * Math.cos(theta)) / 0.25;
      const z = 0.9 * ksTimeStepLimit() * (curvature - curvature * curvature);
      return squaresOver(steps, 1 + z + z * z / 2);
    })],
];

for (const [stencil, variance] of ANALYTIC) {
  Deno.test(`${stencil.title}: errors grow as analysis by hand says`, () => {
    for (const steps of [1, 10, 100, 10_000]) {
      const ratio = growthOf(stencil, steps) / Math.sqrt(variance(steps));
      assert(ratio > 1 / 1.5 && ratio < 1.5, `${steps} steps: ratio ${ratio}`);
    }
  });
}

/** Two fields with a quotient, a root and a choice: a flow that is slowed down where it is deep. */
const FLOW: Stencil = {
  ...wave(2),
  title: "a flow with a quotient, a root and a choice",
  update: {
    fields: ["h", "q"],
    materials: [],
    ranges: [[0.5, 1.5], [-0.5, 0.5]],
    substeps: [[
      {
        field: 0,
        value: subtract(tap(0, 0, 0), multiply(0.03, subtract(tap(1, 0, 0, 0, 1), tap(-1, 0, 0, 0, 1)))),
      },
      {
        field: 1,
        value: (() => {
          const h = tap(0, 0, 0),
            q = tap(0, 0, 0, 0, 1),
            ahead = tap(0, 1, 0, 0, 1),
            behind = tap(0, -1, 0, 0, 1);
          const slope = choose(greater(q, 0), subtract(q, behind), subtract(ahead, q));
          const push = multiply(0.03, subtract(tap(1, 0, 0), tap(-1, 0, 0)));
          return subtract(q, add(push, multiply(0.4, q, divide(slope, squareRoot(h)))));
        })(),
      },
    ]],
  },
};

/** A product of both, which a linear analysis takes at its mean. */
const PRODUCT: Stencil = {
  ...wave(2),
  title: "a product with the field's own mean",
  update: updateOf(multiply(0.4, add(tap(0, 0, 1), tap(0, 1, 0)), add(1, multiply(0.3, tap(0, 0, 0))))),
};

/** The stencil with `size` of noise of its own added to every assignment; it is read so many cells away. */
function disturbed({ update }: Stencil, size: number, cells: Offset): Update {
  const count = update.fields.length + update.materials.length;
  let noises = 0;
  const substeps = update.substeps.map((substep) =>
    substep.map(({ field, value }) => {
      const noise = tap(...cells, 0, count + noises++);
      return { field, value: add(value, multiply(size * Math.sqrt(3), noise)) };
    })
  );
  const materials = Array.from({ length: noises }, (_, i) => ({ name: `noise-${i}`, values: [0] }));
  return { ...update, materials: [...update.materials, ...materials], substeps };
}

/** The same cells with planes of noise between −1 and 1 after the others. */
function withNoise(cells: FloatArray, planes: number, [nx, ny, nz]: Grid, noises: number): Float64Array {
  const old = planes * ny * nz, added = noises * ny * nz;
  return Float64Array.from({ length: nx * (old + added) }, (_, i) => {
    const x = Math.floor(i / (old + added)), rest = i % (old + added);
    return rest < old ? cells[x * old + rest]! : initialValue("noise", [x, 0, rest], 3);
  });
}

// damping cells would cover the grid, and leave of errors less than the model says
for (const stencil of [elastic({ edges: 0 }), elastic({ surface: "free", edges: 0 }), ks(3), FLOW, PRODUCT]) {
  Deno.test(`${stencil.title}: errors grow as those that are made on purpose`, () => {
    const isLine = stencil.dimensions === 1, { update } = stencil;
    const grid: Grid = isLine ? [1, 1, 400] : [8, 7, 9], steps = 15, size = 1e-7;
    const planes = planesOf(update), noises = update.substeps.flat().length;
    const cells = initialCells({ grid, stencil }, { kind: "noise", seed: 1 });
    const start = withNoise(cells, planes, grid, noises);
    const [exact, wrong] = [0, size].map((size) => {
      let levels = { current: start, previous: start };
      for (let step = 0; step < steps; step++) {
        const from: Offset = isLine ? [0, 0, 11 * step] : [step, 3 * step, 5 * step];
        const run = {
          update: disturbed(stencil, size, from),
          grid,
          boundary: "periodic",
          steps: 1,
          start: step,
        } as const;
        levels = runReference(levels, run);
      }
      return levels.current;
    });
    const area = grid[1] * grid[2];
    const squares = new Float64Array(planes + noises);
    exact!.forEach((value, i) =>
      squares[Math.floor(i / area) % squares.length]! += (wrong![i]! - value) ** 2
    );
    const found = Math.sqrt(Math.max(...squares) / cellsOf(grid)) / size;
    const ratio = growthOf(stencil, steps, cellsOf(grid)) / found;
    assert(ratio > 0.7 && ratio < 1.5, `ratio ${ratio}: found ${found}`);
  });
}
