/**
 * Whole shaders as they are generated, one a traversal plus one deviation each: a change of any writer shows here
 * line by line. `check_snapshots.ts` says how to renew the files.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { compareShader, fillShader } from "../../kernels/wgsl/fields.ts";
import { wholeNumberMedium } from "./whole_numbers.ts";
import { checkSnapshots, checkTidy } from "./check_snapshots.ts";
import { SMALL_TORRE } from "./small_torre.ts";

const zero: Problem = { stencil: wave(2), grid: [24, 20, 50], boundary: "zero", steps: 8 };
const order4: Problem = { ...zero, stencil: wave(4) };
const lives: Problem = { ...zero, stencil: life() };
const diffuses: Problem = { ...zero, stencil: heat(2) };
const shakes: Problem = { ...zero, stencil: elastic() };
const medium: Problem = { ...zero, stencil: wholeNumberMedium(1) };
const shape = { threadsZ: 32, threadsY: 4, threadsX: 1 };
const march = { zPerThread: 1, threadsZ: 32, threadsY: 4, pieces: 2, tile: 0, ahead: 0, depth: 1 };
const torre = { ...SMALL_TORRE, threads: 50 };

/** The shaders of a plan: of each sub-step, then the one that renews the pads. */
const shadersOf = (traversal: Traversal, problem: Problem, parameters: Parameters): string[] =>
  traversal.plan(problem, parameters).shaders.map(({ code }) => code);
const [stepShader = ""] = shadersOf(stepwise, zero, shape);
const [velocities = "", stresses = ""] = shadersOf(stepwise, shakes, shape);
const marchShader = (problem: Problem, changes: Partial<typeof march>): string =>
  shadersOf(marching, problem, { ...march, ...changes }).findLast((code) =>
    code.includes("marches along x")
  )!;
const torreShader = (
  problem: Problem,
  changes: Partial<typeof torre> & { rest?: number; packed?: number; held?: number },
): string => shadersOf(diamondTorre, problem, { ...torre, ...changes })[0]!;
const wrapShader = (problem: Problem): string => shadersOf(stepwise, problem, shape).at(-1)!;
const layout = stepwise.plan(zero, shape).storage.layout;

/** File name → its shader. */
const SHADERS: Readonly<Record<string, string>> = {
  stepwise: stepShader,
  stepwise_order_4: shadersOf(stepwise, order4, shape)[0]!,
  // one level, no G
  stepwise_heat: shadersOf(stepwise, diffuses, shape)[0]!,
  // 27 taps and two comparisons
  stepwise_life: shadersOf(stepwise, lives, shape)[0]!,
  // two sub-steps: stresses read the velocities that the first has stored
  stepwise_elastic_velocities: velocities,
  stepwise_elastic_stresses: stresses,
  wrap_pads: wrapShader({ ...zero, boundary: "periodic" }),
  // several planes
  wrap_pads_elastic: wrapShader({ ...shakes, boundary: "periodic" }),
  // each axis as its own boundary says
  wrap_pads_mixed: wrapShader({ ...zero, boundary: ["zero", "periodic", "insulated"] }),
  // a line, mirrored at its ends
  wrap_pads_insulated: wrapShader({ ...zero, stencil: heat1d(), grid: [1, 1, 50], boundary: "insulated" }),
  marching: marchShader(zero, {}),
  // longer queues; two rows of threads
  marching_order_4_narrow: marchShader(order4, { threadsY: 2 }),
  // four cells a thread, the last of them beyond the end of z; neighbours through the caches, loads a slice ahead
  marching_z_4_ahead: marchShader(order4, { zPerThread: 4, threadsZ: 16, ahead: 1 }),
  // neighbours from a tile, whose rim only helps
  marching_tile_z_2: marchShader(order4, { zPerThread: 2, threadsZ: 16, threadsY: 8, tile: 1 }),
  // sums of nine cells of a slice in a queue
  marching_life: marchShader(lives, { zPerThread: 2, threadsZ: 16, tile: 1 }),
  // two steps in one pass: sums of what the first computes, too
  marching_life_deep: marchShader(lives, { zPerThread: 4, threadsZ: 10, threadsY: 8, ahead: 1, depth: 2 }),
  // two steps in one pass in two dimensions: one barrier a slice, five slices in the loop's body, inner workgroups apart
  marching_plane_deep: shadersOf(marching, {
    ...zero,
    stencil: wave(4, { dimensions: 2 }),
    grid: [40, 1, 250],
  }, {
    ...march,
    ...{ zPerThread: 4, threadsZ: 16, threadsY: 1, pieces: 4, ahead: 1, depth: 2 },
  })[1]!,
  // both sub-steps in one pass: velocities two slices ahead, exchanged in tiles
  marching_elastic: marchShader(shakes, { threadsZ: 16, threadsY: 8 }),
  diamond_torre: torreShader(zero, {}),
  // a single tier in the loop's body, which asks for each array whether its number is odd
  diamond_torre_unroll_1: torreShader(zero, { unroll: 1 }),
  // loads a tier ahead
  diamond_torre_ahead: torreShader(zero, { unroll: 1, loads: "tier ahead" }),
  // values that the next tier needs late rest in workgroup memory
  diamond_torre_resting: torreShader(zero, { dts: 2, rest: 1, loads: "tier start" }),
  // vectors, and threads beyond the end of z
  diamond_torre_z_2: torreShader(zero, { zPerThread: 2, threads: 32 }),
  // one level, slope 2
  diamond_torre_heat: torreShader(diffuses, { chunk: 4, unroll: 1 }),
  // sums of columns and of slices, found as soon as they are complete; of four cells a thread exchanges two
  diamond_torre_life: torreShader(lives, {
    zPerThread: 4,
    threads: 13,
    chunk: 8,
    unroll: 1,
    loads: "1 chunk ahead",
  }),
  // a material that every tier reads again, some cells ahead
  diamond_torre_again: torreShader(medium, { dts: 2, unroll: 1, packed: 0, held: 0 }),
  // a material that comes with the tile's leading edge, as vectors
  diamond_torre_held: torreShader(medium, {
    dts: 2,
    zPerThread: 2,
    threads: 25,
    unroll: 1,
    packed: 0,
    held: 1,
  }),
  fill_noise: fillShader(layout, zero.stencil.update, "noise"),
  // the values of materials
  fill_elastic: fillShader(stepwise.plan(shakes, shape).storage.layout, shakes.stencil.update, "noise"),
  compare: compareShader(diamondTorre.plan(zero, torre).storage.layout, layout),
};

checkSnapshots("snapshots", SHADERS);
checkTidy(SHADERS);
