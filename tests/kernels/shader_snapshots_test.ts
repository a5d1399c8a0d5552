/**
 * Whole shaders as they are generated, one a traversal plus one deviation each: a change of any writer shows here
 * line by line. After a change on purpose, renew the files and read their difference:
 *
 *     FACET_RENEW_SNAPSHOTS=1 npx -y deno task test tests/kernels/shader_snapshots_test.ts
 *     git diff tests/kernels/snapshots
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { compareShader, fillShader } from "../../kernels/wgsl/fields.ts";
import { checkSnapshots } from "./check_snapshots.ts";

const zero: Problem = { stencil: wave(2), grid: [24, 20, 50], boundary: "zero", steps: 8 };
const periodic: Problem = { ...zero, boundary: "periodic" };
const order4: Problem = { ...zero, stencil: wave(4) };
const torre = {
  dts: 1,
  nt: 8,
  bands: 1,
  zPerThread: 1,
  threads: 50,
  chunk: 2,
  unroll: 2,
  lookahead: 99,
};
const shape = { threadsZ: 32, threadsY: 4, threadsX: 1 };
const tile = { threadsZ: 32, threadsY: 4, pieces: 2 };

/** File name → its shader. */
const SHADERS: Readonly<Record<string, string>> = {
  stepwise: stepwise.plan(zero, shape).shaders[0].code,
  stepwise_order_4: stepwise.plan(order4, shape).shaders[0].code,
  wrap_pads: stepwise.plan(periodic, shape).shaders[1].code,
  marching: marching.plan(zero, tile).shaders[0].code,
  // four columns of halo for two rows of threads: two rounds of loads
  marching_order_4_narrow: marching.plan(order4, { ...tile, threadsY: 2 }).shaders[0].code,
  diamond_torre: diamondTorre.plan(zero, torre).shaders[0].code,
  diamond_torre_unroll_1: diamondTorre.plan(zero, { ...torre, unroll: 1 }).shaders[0].code,
  // vectors, and threads beyond the end of z
  diamond_torre_z_2: diamondTorre.plan(zero, { ...torre, zPerThread: 2, threads: 32 }).shaders[0].code,
  diamond_torre_lookahead_0: diamondTorre.plan(zero, { ...torre, chunk: 1, lookahead: 0 }).shaders[0].code,
  // sums of columns and of slices, found as soon as they are complete; of four cells a thread exchanges two
  diamond_torre_life: diamondTorre.plan(
    { ...zero, stencil: life() },
    { ...torre, zPerThread: 4, threads: 13, chunk: 8, unroll: 1, lookahead: 1 },
  ).shaders[0].code,
  fill_noise: fillShader(stepwise.plan(zero, shape).layout, zero.stencil.update, "noise"),
  compare: compareShader(diamondTorre.plan(zero, torre).layout, stepwise.plan(zero, shape).layout),
};

checkSnapshots("snapshots", SHADERS);
