/**
 * What f32 keeps over many steps: `deno run -A bench/accuracy.ts [STEPS]` runs every built-in equation on the CPU's
 * kernels, and prints how far a constant, a long wave and the conserved sum are from what f64 arithmetic with unrounded
 * weights gives (docs/accuracy.md).
 *
 * @module
 */
import type { FloatArray } from "../kernels/precision.ts";
import { indexOf, layOut } from "../kernels/layout.ts";
import { secondDerivative, symbolAt } from "../kernels/weights.ts";
import { fourierLimit, heat, HEAT_DELTAS } from "../kernels/stencils/heat.ts";
import { FOURIER_LIMIT_1D, heat1d } from "../kernels/stencils/heat_1d.ts";
import { ks, KS_POINTS } from "../kernels/stencils/ks.ts";
import type { Grid, Stencil } from "../kernels/stencils/stencil.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "../kernels/stencils/wave.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import {
  ELASTIC_LIMIT,
  elasticPlaneWave,
  UNIFORM,
  uniformElastic,
} from "../tests/kernels/elastic_plane_wave.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { formatTable } from "../tuner/format.ts";

/** Cells along the wave: one period of it, or half a period between the ends of a rod. */
const CELLS = 512;

/** Value of a field's cell at place `i` along the wave. */
type Values = (i: number, step: number, field: number) => number;

const CONSTANTS = [1, 0.7, 0.1];

/** An equation, with its long wave where there is one. */
export interface AccuracyCase {
  readonly stencil: Stencil;
  readonly wave?: Values;
}

/** Differences from exact arithmetic, relative to the field's size. */
export interface Accuracy {
  /** Largest of any cell, of fields that began with the same value everywhere. */
  readonly constant: number;
  /** Root mean square over the cells. */
  readonly wave?: number | undefined;
  /** Of the mean of the first field, which began as noise between −½ and 1½. */
  readonly sum: number;
}

const THETA = 2 * Math.PI / CELLS;

const COURANT = 0.9 * ELASTIC_LIMIT;
const P_WAVE = elasticPlaneWave([CELLS, 1, 4], [1, 0, 0], { kind: "P", courant: COURANT });

/** Every equation that rounds. */
export const ACCURACY_CASES: readonly AccuracyCase[] = [
  ...WAVE_ORDERS.map((order) => {
    const square = (0.9 * stabilityLimit(order)) ** 2;
    const omega = Math.acos(1 + 0.5 * square * symbolAt(secondDerivative(order), THETA));
    return { stencil: wave(order), wave: (i: number, step: number) => Math.cos(THETA * i - omega * step) };
  }),
  ...HEAT_DELTAS.map((delta) => {
    const lambda = 1 + 0.9 * fourierLimit(delta) * symbolAt(secondDerivative(2 * delta), THETA);
    return { stencil: heat(delta), wave: (i: number, step: number) => lambda ** step * Math.cos(THETA * i) };
  }),
  { stencil: uniformElastic(COURANT), wave: (i, step, field) => P_WAVE.at([i, 0, 0], step, field) },
  {
    stencil: heat1d(),
    wave(i, step) {
      const theta = Math.PI / (CELLS - 1);
      return (1 - 3.6 * FOURIER_LIMIT_1D * Math.sin(theta / 2) ** 2) ** step * Math.cos(theta * i);
    },
  },
  ...KS_POINTS.map((points) => ({ stencil: ks(points) })),
];

/** Runs one equation. */
export async function measureAccuracy(
  pool: CpuPool,
  { stencil, wave: exact }: AccuracyCase,
  steps: number,
): Promise<Accuracy> {
  const { update, dimensions = 3 } = stencil, { fields } = update, { x, y, z } = reachOf(update);
  const isLine = dimensions === 1, boundary = stencil.name === "heat-1d" ? "insulated" : "periodic";
  const grid: Grid = isLine ? [1, 1, CELLS] : [CELLS, 1, 4];
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const field = await pool.load({ update, layout, boundary });
  const at = (i: number, k: number, plane: number): number =>
    indexOf(layout, isLine ? [0, 0, i] : [i, 0, k], plane);
  const depth = isLine ? 1 : grid[2];
  const forEachCell = (visit: (i: number, index: number, plane: number) => void, plane: number): void => {
    for (let i = 0; i < CELLS; i++) for (let k = 0; k < depth; k++) visit(i, at(i, k, plane), plane);
  };
  /** The newest level of a field after the steps, in the uniform medium if it has materials. */
  const run = async (start?: Values): Promise<FloatArray> => {
    // every run begins at time 0 again
    await field.initialise({ kind: "noise", seed: 1 });
    for (let plane = 0; plane < planesOf(update); plane++) {
      forEachCell((i, index) => {
        const material = update.materials[plane - fields.length]?.name;
        const [now, before] = material !== undefined
          ? [UNIFORM[material as keyof typeof UNIFORM], UNIFORM[material as keyof typeof UNIFORM]]
          : start === undefined
          ? [field.current[index]! + 0.5, field.current[index]! + 0.5]
          : [start(i, 0, plane), start(i, -1, plane)];
        field.current[index] = now;
        field.previous[index] = before;
      }, plane);
    }
    await field.run({ steps });
    return field.current;
  };
  const squares = (cells: FloatArray, of: (value: number, i: number) => number): number => {
    let sum = 0;
    forEachCell((i, index) => sum += of(cells[index]!, i), 0);
    return sum / (CELLS * depth);
  };
  let constant = 0;
  for (const value of CONSTANTS) {
    const cells = await run(() => value);
    for (const { field } of update.substeps.at(-1)!) {
      forEachCell((_, index) => {
        constant = Math.max(constant, Math.abs(cells[index]! / Math.fround(value) - 1));
      }, field);
    }
  }
  const waveCells = exact && await run(exact);
  const wave = exact && waveCells && Math.sqrt(
    squares(waveCells, (value, i) => (value - exact(i, steps, 0)) ** 2) /
      squares(waveCells, (_, i) => exact(i, steps, 0) ** 2),
  );
  // the sum between insulated ends counts these half
  const weightOf = (i: number): number => boundary === "insulated" && (i === 0 || i === CELLS - 1) ? 0.5 : 1;
  const total = (cells: FloatArray): number => squares(cells, (value, i) => weightOf(i) * value);
  await field.initialise({ kind: "noise", seed: 1 });
  const begin = total(field.current.map((value) => value + 0.5));
  const sum = Math.abs(total(await run()) - begin);
  await field.dispose();
  return { constant, wave, sum };
}

if (import.meta.main) {
  const steps = Number(Deno.args[0] ?? 10_000);
  const pool = await CpuPool.create({ workers: 1 });
  const rows = [["equation", "constant", "long wave", "sum"]];
  for (const one of ACCURACY_CASES) {
    const { constant, wave, sum } = await measureAccuracy(pool, one, steps);
    const numbers = [constant, wave, sum].map((value) => value === undefined ? "–" : value.toExponential(1));
    rows.push([one.stencil.title, ...numbers]);
  }
  pool.dispose();
  console.log(formatTable(rows));
}
