/**
 * Torres of tiles in three dimensions: every parameter against the oracle, on primes, thin grids and grids smaller than a tile.
 *
 * @module
 */
import { maximum, minimum } from "../../kernels/operations.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { volumeTorre } from "../../kernels/traversals/volume_torre/volume_torre.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { assertExact, describeCase } from "./oracle_case.ts";
import { reweighted } from "./reweighted.ts";

/** Weights that are whole numbers, another for every distance, of values that stay between −99 and 99. */
function whole(of: Stencil): Stencil {
  const update = reweighted(of.update, [-1, 1, -1]);
  const within = update.substeps.map((substep) =>
    substep.map((one) => ({ ...one, value: maximum(-99, minimum(99, one.value)) }))
  );
  return { ...of, update: { ...update, substeps: within } };
}

const WAVE = whole(wave(2)), FOURTH = whole(wave(4)), HEAT = whole(heat(1)), FAR = whole(heat(2));

/** M, patch, phases, tiers ahead, Nt, bands. */
type Values = readonly [tile: number, a: number, b: number, c: number, 1 | 2, ahead: number, nt: number, number];

const CASES: readonly (readonly [Stencil, Grid, Values, runs: readonly number[]])[] = [
  [WAVE, [23, 13, 17], [4, 2, 2, 2, 1, 1, 8, 3], [8, 24]],
  [WAVE, [23, 13, 17], [4, 2, 2, 2, 2, 2, 8, 2], [11, 7, 20]],
  [FOURTH, [50, 3, 19], [4, 2, 2, 4, 1, 4, 6, 2], [13, 5]],
  [FOURTH, [19, 7, 11], [4, 2, 2, 2, 2, 1, 4, 1], [9]],
  [HEAT, [11, 29, 5], [6, 2, 6, 2, 2, 2, 4, 2], [7, 9]],
  [FAR, [29, 11, 7], [6, 3, 2, 3, 1, 3, 6, 2], [15, 1]],
  [WAVE, [1, 1, 1], [4, 2, 2, 2, 2, 2, 8, 2], [9]],
  [WAVE, [3, 50, 2], [8, 2, 4, 4, 2, 4, 16, 1], [21]],
];

for (const [i, [stencil, grid, [tile, patchA, patchB, patchC, phases, ahead, nt, bands], runs]] of CASES.entries()) {
  const parameters = { tile, patchA, patchB, patchC, phases, ahead, nt, bands };
  const one = { traversal: volumeTorre, stencil, grid, parameters, runs };
  testOnGpu(`${describeCase(one)} equals the oracle`, (gpu) => assertExact(gpu, one), {
    ignore: i >= 8 && !THOROUGH,
  });
}
