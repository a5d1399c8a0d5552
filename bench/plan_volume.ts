/**
 * Plans what `bench/record_grids.ts` records of `volume-torre` on a device, and prints it as JSON: of equations on cubes and
 * other grids a few configurations, the most telling problems first.
 *
 *     deno run -A bench/plan_volume.ts PROFILE.json > PLAN.json
 *
 * The profile names the device: its limits and its copy bandwidth.
 *
 * @module
 */
import { acoustic, type Grid, heat, type Stencil, wave } from "../mod.ts";
import { plannedProblem } from "../kernels/planned_problem.ts";
import { volumeTorre } from "../kernels/traversals/volume_torre/volume_torre.ts";
import { defaultSteps, withSuitedSteps } from "../tuner/problem/default_problem.ts";
import { describeProblem } from "../tuner/profile/profile_problem.ts";
import type { ProfileDevice } from "../tuner/profile/profile_types.ts";

const NAMES = ["side", "patchA", "patchB", "patchC", "phases", "ahead", "nt", "bands"];
/** By what a thread holds: F(t) and F(t − 1), or coefficients too; and how far taps reach. */
const NEAR = [
  [
    "20 2 4 4 2 4 80 12",
    "16 2 4 4 2 2 64 12",
    "20 4 2 4 2 2 80 12",
    "16 2 4 2 1 4 80 12",
    "16 2 2 4 1 4 64 8",
  ],
  [
    "16 2 4 4 2 4 64 8",
    "20 2 4 4 2 4 80 3",
    "12 2 2 4 1 4 80 12",
    "16 4 2 2 2 2 32 12",
    "16 2 4 4 2 2 32 12",
  ],
  ["12 2 4 4 2 2 64 12", "20 2 4 4 2 1 48 6", "8 2 2 2 1 4 64 12", "16 2 2 2 1 2 64 4", "20 2 2 4 2 2 80 8"],
].flat();
const FAR = [
  ["16 2 2 4 2 4 80 8", "16 2 4 2 1 2 64 6", "16 2 2 4 1 4 32 8", "16 2 4 4 2 2 48 8", "16 4 2 2 2 2 48 12"],
  ["12 2 2 4 1 4 48 8", "16 2 2 4 2 4 48 12", "16 2 2 4 1 2 48 3", "20 2 2 4 2 2 80 6", "16 2 2 2 1 2 32 12"],
].flat();
const HELD = [
  [
    "16 2 2 4 2 2 64 12",
    "16 2 2 4 2 4 48 12",
    "16 2 2 4 1 2 48 12",
    "16 2 2 2 2 2 64 12",
    "16 2 2 4 2 1 32 6",
  ],
  ["12 2 2 4 2 2 48 12", "12 2 2 2 1 4 64 12", "16 4 2 2 2 2 80 8", "16 2 2 4 2 2 48 3", "16 2 2 2 1 2 48 8"],
].flat();
const CUBES: readonly Grid[] = [[512, 512, 512], [384, 384, 384], [256, 256, 256]];
const OTHERS: readonly Grid[] = [[307, 411, 503], [1000, 1000, 500], [700, 90, 900], [150, 1700, 350], [
  400,
  3000,
  128,
]];

const PROBLEMS: readonly (readonly [Stencil, readonly string[], readonly Grid[]])[] = [
  [wave(2), NEAR, CUBES],
  [wave(4), FAR, CUBES],
  [acoustic({ order: 2 }), HELD, [[572, 572, 572], [384, 384, 384]]],
  [acoustic({ order: 4 }), HELD, [[572, 572, 572], [384, 384, 384]]],
  [heat(1), NEAR, CUBES],
  [heat(2), FAR, CUBES],
  [wave(2), NEAR, OTHERS],
  [wave(4), FAR, OTHERS],
  [heat(1), NEAR, OTHERS],
  [wave(2), NEAR, [[1024, 1024, 1024]]],
  [wave(4), FAR, [[1024, 1024, 1024]]],
];

const { device }: { readonly device: ProfileDevice } = JSON.parse(await Deno.readTextFile(Deno.args[0]!));
const copyBytesPerSecond = device.measured.copyBytesPerSecond!;
const tasks = PROBLEMS.flatMap(([stencil, values, grids]) =>
  grids.map((grid) => {
    const given = plannedProblem({ stencil, grid, boundary: "zero", steps: defaultSteps(stencil) });
    const problem = withSuitedSteps({ problem: given, isDefaultSteps: true, device }, copyBytesPerSecond);
    const configurations = values.flatMap((text) => {
      const wanted = Object.fromEntries(text.split(" ").map((value, i) => [NAMES[i]!, Number(value)]));
      // as many bands as can run
      const all = [12, 8, 6, 4, 3, 2, 1].filter((bands) => bands <= wanted.bands!)
        .map((bands) => ({ ...wanted, bands }));
      const parameters = all.find((one) => !volumeTorre.infeasible(problem, one, device.gpu!.limits));
      return parameters ? [{ traversal: volumeTorre.name, parameters }] : [];
    });
    return { problem: describeProblem(problem), configurations, search: 0, copyBytesPerSecond };
  })
);
console.log(JSON.stringify(tasks));
