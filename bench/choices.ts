/**
 * What choices are worth on grids that no recording has seen: the rate of the choice from the recordings in
 * `fixtures/h100`, after a time of `refine`, and of the best of a few stepwise workgroups.
 *
 *     deno run -A bench/choices.ts [RECORDINGS] [REFINE_SECONDS] [GRID,GRID…]
 *     deno run -A bench/choices.ts tune BUDGET PART/PARTS [GRID,GRID…]
 *     deno run -A bench/choices.ts sizes BUDGET EACH [GRID,GRID…]
 *
 * The second tunes every equation on the grids, a part of them at a time; the third tunes wave, order 2, on all grids
 * within one budget, then on each of them with a budget of its own.
 *
 * @module
 */
import { heat } from "../kernels/stencils/heat.ts";
import { cellsOf, type Grid, type Problem, type Stencil } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import type { Configuration } from "../tuner/configuration.ts";
import { openDevice } from "../tuner/devices/open_device.ts";
import { formatPercent, formatRate, formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { pointsOf } from "../tuner/profile/calibration.ts";
import { chooseConfiguration } from "../tuner/profile/choose.ts";
import { describeConfiguration } from "../tuner/profile/describe.ts";
import type { Profile, ProfileEntry } from "../tuner/profile/profile_types.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import type { ReplaySpace } from "../tuner/replay/replay_space.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";

const STENCILS: readonly (readonly [options: readonly string[], stencil: Stencil])[] = [
  ...[2, 4, 8].map((order) => [["--order", `${order}`], wave(order)] as const),
  [["--stencil", "heat", "--delta", "1"], heat(1)],
];

/** Primes, thin slabs, long rows and cubes that were not recorded; those that `tune` runs on first. */
const GRIDS = [
  ...["317x331x337", "97x1009x769", "1200x1200x48", "600x200x701", "232x232x232", "450x2500x112"],
  ...["61x2003x311", "2500x700x72", "150x170x1100", "420x420x420", "3001x401x128", "360x640x480"],
];

const STEPWISE = [[64, 4, 1], [128, 2, 1], [128, 4, 1], [256, 1, 1], [256, 2, 1], [64, 8, 1]];

/** Steps of every problem. */
const STEPS = 96;

/** What a rate is measured in, after as much to warm up. */
const MEASURE_MS = 120;

function problemsOn(
  grids: readonly string[],
): { options: readonly string[]; name: string; problem: Problem }[] {
  return grids.flatMap((name) =>
    STENCILS.map(([options, stencil]) => {
      const grid = name.split("x").map(Number) as unknown as Grid;
      return { options, name, problem: { stencil, grid, boundary: "zero", steps: STEPS } };
    })
  );
}

/** A profile of what was recorded, as `tune` would have left it. */
function profileOf(spaces: readonly ReplaySpace[]): Profile {
  const entries = spaces.flatMap(({ configurations, facet }): ProfileEntry[] => {
    const measured = configurations.flatMap(({ traversal, parameters, rate }) =>
      rate === undefined ? [] : [{ traversal, parameters, cellsPerSecond: rate }]
    ).sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    const [best] = measured, { problem } = facet!;
    const share = { cpuSlices: 0, gpuSlices: problem.grid[0], exchangeEvery: problem.steps, cpuWorkers: 0 };
    const rated = {
      configuration: { traversal: best!.traversal, parameters: best!.parameters, share },
      cellsPerSecond: best!.cellsPerSecond,
      confidence95: null,
    };
    const { configuration, ...rate } = rated;
    return [{
      problem,
      configuration,
      result: { ...rate, samples: [rate.cellsPerSecond], roofFraction: null, speedupOverStepwise: null },
      tieSet: [rated],
      bestOfEach: [rated],
      calibration: pointsOf(measured),
      balance: [],
      verification: { maxError: 0, bound: 0, against: "the recording" },
      search: {
        strategy: "recorded",
        seed: 0,
        spaceSize: measured.length,
        evaluated: measured.length,
        failed: {},
        elapsedMs: 0,
      },
    }];
  });
  const { device } = spaces[0]!.facet!;
  const tool = { name: "facet", version: "0" };
  return { $schema: "", schemaVersion: 1, tool, createdAt: "2026-11-22T00:00:00Z", device, entries };
}

async function choices(recordings: string, seconds: number, grids: readonly string[]): Promise<void> {
  const { spaces } = await readReplaySpaces(recordings);
  const profile = profileOf(spaces);
  const device = (await openDevice())!;
  const rows = [[
    ...["equation", "grid", "choice", "expected", "stepwise", "refined", "refined after", "refining took"],
    ...["chosen", "refined to", "choosing"],
  ]];
  for (const { name, problem } of problemsOn(grids)) {
    const cells = cellsOf(problem.grid);
    const plain = STEPWISE.map(([threadsZ, threadsY, threadsX]): Configuration => ({
      traversal: "stepwise",
      parameters: { threadsZ: threadsZ!, threadsY: threadsY!, threadsX: threadsX! },
      share: { cpuSlices: 0, gpuSlices: problem.grid[0], exchangeEvery: STEPS, cpuWorkers: 0 },
    }));
    /** The rate of some hundred ms, when the clock is up. */
    const rateOf = async (configuration: Configuration, initial = MEASURE_MS): Promise<number> => {
      using solver = await createSolver(device, problem, configuration);
      await solver.initialise("noise");
      let { cellsPerSecond } = await solver.run(STEPS);
      for (const ms of [initial, MEASURE_MS]) {
        const runs = Math.max(1, Math.round(cellsPerSecond * ms / 1e3 / cells / STEPS));
        ({ cellsPerSecond } = await solver.run(runs * STEPS));
      }
      return cellsPerSecond;
    };
    try {
      const began = performance.now();
      const choice = chooseConfiguration(profile, problem, device, { cpuWorkers: 0 });
      const choosingMs = performance.now() - began;
      const stepwiseRates = [];
      for (const one of plain) stepwiseRates.push(await rateOf(one, 20));
      const chosen = await rateOf(choice.configuration);
      using solver = await createSolver(device, problem, choice.configuration, { refine: choice.runnersUp });
      await solver.initialise("noise");
      const start = performance.now();
      const runs = Math.max(1, Math.round(0.1 * chosen / cells / STEPS));
      let takenMs = 0;
      while (!solver.refined!.isDone && performance.now() - start < 1e3 * seconds) {
        await solver.run(runs * STEPS);
        takenMs = performance.now() - start;
      }
      const { isDone, tried } = solver.refined!;
      const decided = tried.filter(({ samples }) => samples.length > 0).length;
      const refined = await rateOf(solver.configuration);
      rows.push([
        ...[problem.stencil.title, name, formatRate(chosen), formatRate(choice.cellsPerSecond ?? 0)],
        ...[formatRate(Math.max(...stepwiseRates)), formatRate(refined)],
        `${decided} of ${choice.runnersUp.length + 1}${isDone ? "" : ", unfinished"}`,
        ...[`${(takenMs / 1e3).toFixed(2)} s`, describeConfiguration(choice.configuration)],
        ...[describeConfiguration(solver.configuration), `${choosingMs.toFixed(0)} ms`],
      ]);
    } catch (error) {
      rows.push([problem.stencil.title, name, error instanceof Error ? error.message : String(error)]);
    }
    console.log(rows.at(-1)!.join(" | "));
  }
  device.destroy();
  console.log(formatTable(rows.map((row) => [...row, ...Array(rows[0]!.length - row.length).fill("")])));
}

/** One run of `tune`: the rates of its entries, best first known, by grid. */
async function tune(args: readonly string[]): Promise<Map<string, ProfileEntry>> {
  const directory = await Deno.makeTempDir({ prefix: "facet-choices-" }), out = `${directory}/profile.json`;
  const main = new URL("../tuner/cli/main.ts", import.meta.url).pathname;
  await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--cached-only",
      main,
      "tune",
      ...args,
      "--cpu-workers",
      "0",
      "--quiet",
      "--out",
      out,
    ],
    stdout: "null",
    stderr: "inherit",
  }).output();
  const found = await Deno.readTextFile(out).catch(() => '{"entries":[]}');
  await Deno.remove(directory, { recursive: true });
  const { entries } = JSON.parse(found) as Profile;
  return new Map(entries.map((entry) => [entry.problem.grid.join("x"), entry]));
}

async function tuneAll(budget: string, part: string, grids: readonly string[]): Promise<void> {
  const [which, parts] = part.split("/").map(Number) as [number, number];
  const rows = [["equation", "grid", "tuned", "evaluated", "configuration"]];
  for (const [i, { options, name, problem }] of problemsOn(grids.slice(0, 6)).entries()) {
    if (i % parts !== which - 1) continue;
    const entry = (await tune([...options, "--grid", name, "--steps", `${STEPS}`, "--budget", budget])).get(
      name,
    );
    rows.push([
      ...[problem.stencil.title, name, formatRate(entry?.result.cellsPerSecond ?? 0)],
      ...[`${entry?.search.evaluated}`, entry ? describeConfiguration(entry.configuration) : "none"],
    ]);
    console.log(rows.at(-1)!.join(" | "));
  }
  console.log(formatTable(rows));
}

async function sizes(budget: string, each: string, grids: readonly string[]): Promise<void> {
  const six = grids.slice(0, 6), steps = ["--steps", `${STEPS}`];
  const together = await tune([...six.flatMap((grid) => ["--grid", grid]), ...steps, "--budget", budget]);
  const rows = [["grid", `in ${budget} for all`, `in ${each} alone`, "ratio", "together", "alone"]];
  const ratios: number[] = [];
  for (const grid of six) {
    const alone = (await tune(["--grid", grid, ...steps, "--budget", each])).get(grid);
    const [ours, best] = [together.get(grid), alone].map((one) => one?.result.cellsPerSecond ?? 0) as [
      number,
      number,
    ];
    ratios.push(ours / best);
    rows.push([
      ...[grid, formatRate(ours), formatRate(best), (ours / best).toFixed(3)],
      ...[together.get(grid), alone].map((one) => one ? describeConfiguration(one.configuration) : "none"),
    ]);
    console.log(rows.at(-1)!.join(" | "));
  }
  console.log(formatTable(rows));
  console.log(`median ratio ${formatPercent(median(ratios))}`);
}

const [mode = "fixtures/h100/grids.jsonl.gz", ...rest] = Deno.args;
const gridsFrom = (text?: string): readonly string[] => text?.split(",") ?? GRIDS;
if (mode === "tune") await tuneAll(rest[0]!, rest[1]!, gridsFrom(rest[2]));
else if (mode === "sizes") await sizes(rest[0]!, rest[1]!, gridsFrom(rest[2]));
else await choices(mode, Number(rest[0] ?? 2), gridsFrom(rest[1]));
