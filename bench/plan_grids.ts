/**
 * Plans what `bench/record_grids.ts` records on a device that no recording knows, from the recordings of another, and prints
 * it as JSON: of each problem what would be chosen for it, its runners-up, and what says most of what was fast elsewhere.
 *
 *     deno run -A bench/plan_grids.ts PROFILE.json [RECORDING…] > PLAN.json
 *
 * The profile names the device: its limits and its copy bandwidth.
 *
 * @module
 */
import { acoustic } from "../kernels/stencils/acoustic.ts";
import { elastic } from "../kernels/stencils/elastic.ts";
import { heat } from "../kernels/stencils/heat.ts";
import { life } from "../kernels/stencils/life.ts";
import { maxwell } from "../kernels/stencils/maxwell.ts";
import type { Grid, Stencil } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import { traversalKey } from "../tuner/configuration.ts";
import { pointsOf } from "../tuner/profile/samples.ts";
import { chooseConfiguration } from "../tuner/profile/choose.ts";
import { describeProblem } from "../tuner/profile/profile_problem.ts";
import type { ProfileDevice } from "../tuner/profile/profile_types.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import { isSameProblem } from "../tuner/profile/profile_problem.ts";

const EQUATIONS = [wave(2), wave(4), heat(1), wave(8)];

/** Grids that are searched, too; others; and those of further equations. */
const SEARCHED: readonly Grid[] = [
  [512, 512, 512],
  [96, 4001, 160],
  [2000, 2000, 32],
  [3000, 500, 120],
  [307, 411, 503],
  [128, 128, 128],
];
const OTHERS: readonly Grid[] = [
  [256, 256, 256],
  [384, 384, 384],
  [64, 300, 1500],
  [700, 90, 900],
  [1500, 1000, 40],
  [150, 1700, 350],
  [200, 180, 1024],
  [400, 3000, 128],
  [1024, 256, 64],
  [192, 192, 192],
];
const FURTHER = [acoustic({ order: 2 }), acoustic({ order: 4 }), life(), maxwell(), elastic()];
const FURTHER_GRIDS: readonly Grid[] = [[384, 384, 384], [256, 1500, 128]];

interface Amount {
  readonly runnersUp: number;
  readonly recorded: number;
  readonly search: number;
}

const { device }: { device: ProfileDevice } = JSON.parse(await Deno.readTextFile(Deno.args[0]!));
const recorded = (await Promise.all(Deno.args.slice(1).map((file) => readReplaySpaces(file))))
  .flatMap(({ spaces }) => spaces);
const { limits, isFallback: isFallbackAdapter, ...info } = device.gpu!;
const target = { limits, adapterInfo: { ...info, isFallbackAdapter } };
const copyBytesPerSecond = device.measured.copyBytesPerSecond!;

function taskOf(stencil: Stencil, grid: Grid, { runnersUp, recorded: most, search }: Amount) {
  const problem = { stencil, grid, boundary: "zero", steps: 96 } as const,
    described = describeProblem(problem);
  const chosen = chooseConfiguration([], problem, target, {
    cpuWorkers: 0,
    copyBytesPerSecond,
    // what is recorded of this grid must not be known, nor a device like this one
    shipped: (known) => `${known.grid}` !== `${grid}`,
  });
  const fastest = recorded.filter(({ facet }) => facet && isSameProblem(facet.problem, described))
    .flatMap(({ configurations }) => configurations).filter(({ rate }) => rate)
    .toSorted((a, b) => b.rate! - a.rate!);
  const all = [
    ...[chosen.configuration, ...chosen.runnersUp.slice(0, runnersUp)],
    ...pointsOf(fastest).slice(0, most),
  ];
  const each = new Map(all.map(({ traversal, parameters }) => {
    const one = { traversal, parameters };
    return [traversalKey(one), one];
  }));
  return { problem: described, configurations: [...each.values()], search, copyBytesPerSecond };
}

const plan = [
  ...SEARCHED.flatMap((grid) =>
    EQUATIONS.map((one) => taskOf(one, grid, { runnersUp: 5, recorded: 12, search: 10 }))
  ),
  ...FURTHER_GRIDS.flatMap((grid) =>
    FURTHER.map((one) => taskOf(one, grid, { runnersUp: 11, recorded: 0, search: 4 }))
  ),
  ...OTHERS.flatMap((grid) =>
    EQUATIONS.map((one) => taskOf(one, grid, { runnersUp: 1, recorded: 8, search: 0 }))
  ),
];
console.log(JSON.stringify(plan));
