/**
 * What choices are worth on grids that no recording has seen, one line of JSON for each problem:
 *
 *     deno run -A bench/choices.ts [RECORDINGS] [REFINE_SECONDS] [GRID,GRID…] [EQUATIONS] [KNOWN]
 *     deno run -A bench/choices.ts tune BUDGET [GRID,GRID…] [EQUATIONS]
 *     deno run -A bench/choices.ts sizes BUDGET EACH [GRID,GRID…]
 *     deno run -A bench/choices.ts table FILE…
 *
 * The first measures the choice from the recordings in `fixtures/h100` (from `none`: from what comes with Facet and
 * `measureDevice`), the same after a time of `refine`, and the best of a few stepwise workgroups, every equation on every
 * grid, or EACH of them; and, where KNOWN names files of recordings of these problems, the fastest of those that were fastest
 * there, which the machine at hand may compute faster or slower. The second tunes each grid for one of the equations, or
 * EACH, by turns: those that the first begins with. The third tunes wave, order 2, on all grids within one budget, then on
 * each of them with a budget of its own. The last makes a table of what the others printed.
 *
 * @module
 */
import { hashOf } from "../kernels/definition.ts";
import { heat } from "../kernels/stencils/heat.ts";
import { cellsOf, type Grid, type OpenProblem, type Stencil } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import { traversalNamed } from "../kernels/traversals/all.ts";
import type { Configuration } from "../tuner/configuration.ts";
import { measureDevice } from "../tuner/devices/gpu/device_constants.ts";
import { openDevice } from "../tuner/devices/open_device.ts";
import { formatPercent, formatRate } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { pointsOf } from "../tuner/profile/samples.ts";
import { chooseConfiguration } from "../tuner/profile/choose.ts";
import { describeConfiguration } from "../tuner/profile/describe.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import type { Profile, ProfileEntry } from "../tuner/profile/profile_types.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import type { ReplaySpace } from "../tuner/replay/replay_space.ts";
import { onGpuAlone } from "../tuner/search/enumeration.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";

const STENCILS: readonly (readonly [options: readonly string[], stencil: Stencil])[] = [
  ...[2, 4, 8].map((order) => [["--order", `${order}`], wave(order)] as const),
  [["--stencil", "heat", "--delta", "1"], heat(1)],
];

/** Primes, thin slabs, long rows and cubes that were not recorded. */
const GRIDS = [
  ...["317x331x337", "97x1009x769", "1200x1200x48", "600x200x701", "232x232x232", "450x2500x112"],
  ...["61x2003x311", "2500x700x72", "150x170x1100", "420x420x420", "3001x401x128", "360x640x480"],
];

const STEPWISE = [[64, 4, 1], [128, 2, 1], [128, 4, 1], [256, 1, 1], [256, 2, 1], [64, 8, 1]];

/** Runs are a multiple of these, and those whose rate is reported of what a problem means that names no steps. */
const STEPS = 96, LONG = 3072;

/** Seconds of a run while candidates are tried: a long run's. */
const REFINED_S = 0.25;

/** Configurations of each problem that are measured again, those that were fastest elsewhere. */
const MOST_KNOWN = 3;

/** What a rate is measured in, and the time after which the clock of a GPU that was idle is up. */
const MEASURE_MS = 120, WARM_UP_MS = 400;

/** Every equation on every grid: first each grid once, the equations by turns. */
function problemsOn(
  grids: readonly string[],
  equations: number = STENCILS.length,
): { options: readonly string[]; name: string; problem: OpenProblem }[] {
  return STENCILS.slice(0, equations).flatMap((_, round) =>
    grids.map((name, i) => {
      const [options, stencil] = STENCILS[(i + round) % STENCILS.length]!;
      const grid = name.split("x").map(Number) as unknown as Grid;
      return { options, name, problem: { stencil, grid, boundary: "zero" } };
    })
  );
}

/** What is known of a problem: rates in cells per second, and what was done for them. */
interface Row {
  readonly equation: string;
  readonly grid: string;
  readonly choice?: number;
  readonly expected?: number | undefined;
  readonly refined?: number;
  readonly stepwise?: number;
  readonly tuned?: number;
  /** What was fastest elsewhere. */
  readonly known?: number;
  /** All sizes in one budget. */
  readonly together?: number;
  readonly [more: string]: unknown;
}

function report(row: Row): void {
  console.log(JSON.stringify(row));
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

async function choices(
  recordings: string,
  seconds: number,
  grids: readonly string[],
  equations?: number,
  knownIn?: string,
): Promise<void> {
  const fastest = await fastestIn(knownIn);
  const profile = recordings === "none" ? [] : profileOf((await readReplaySpaces(recordings)).spaces);
  const device = (await openDevice())!;
  const started = performance.now(),
    measured = recordings === "none" ? await measureDevice(device) : undefined;
  if (measured) console.log(`# measured the device in ${(performance.now() - started).toFixed()} ms`);
  for (const { name, problem } of problemsOn(grids, equations)) {
    const cells = cellsOf(problem.grid);
    const plain = STEPWISE.map(([threadsZ, threadsY, threadsX]): Configuration => ({
      traversal: "stepwise",
      parameters: { threadsZ: threadsZ!, threadsY: threadsY!, threadsX: threadsX! },
      share: { cpuSlices: 0, gpuSlices: problem.grid[0], exchangeEvery: STEPS, cpuWorkers: 0 },
    }));
    /** The rate of some hundred ms, when the clock is up. */
    const rateOf = async (
      configuration: Configuration,
      initial = WARM_UP_MS,
      unit = LONG,
    ): Promise<number> => {
      using solver = await createSolver(device, problem, configuration);
      await solver.initialise("noise");
      let { cellsPerSecond } = await solver.run(STEPS);
      for (const [ms, steps] of [[initial, STEPS], [MEASURE_MS, unit]] as const) {
        const runs = Math.max(1, Math.round(cellsPerSecond * ms / 1e3 / cells / steps));
        ({ cellsPerSecond } = await solver.run(runs * steps));
      }
      return cellsPerSecond;
    };
    try {
      const began = performance.now();
      const choice = chooseConfiguration(profile, problem, device, { cpuWorkers: 0, ...measured });
      const choosingMs = performance.now() - began;
      const stepwiseRates = [];
      for (const one of plain) stepwiseRates.push(await rateOf(one, 20, STEPS));
      const chosen = await rateOf(choice.configuration);
      const known = [];
      for (const one of fastest.get(keyOf(problem)) ?? []) known.push(await rateOf(one));
      using solver = await createSolver(device, problem, choice.configuration, {
        refine: choice.runnersUp,
      });
      await solver.initialise("noise");
      const start = performance.now();
      const runs = Math.max(1, Math.round(REFINED_S * chosen / cells / STEPS));
      const tries: string[] = [];
      let takenMs = 0;
      while (!solver.refined!.isDone && performance.now() - start < 1e3 * seconds) {
        await solver.run(runs * STEPS);
        takenMs = performance.now() - start;
        tries.push(`${takenMs.toFixed()} ms: ${solver.refined!.tried.length}`);
      }
      const { isDone, tried } = solver.refined!;
      report({
        equation: problem.stencil.title,
        grid: name,
        choice: chosen,
        expected: choice.cellsPerSecond,
        stepwise: Math.max(...stepwiseRates),
        ...(known.length > 0 && { known: Math.max(...known) }),
        refined: await rateOf(solver.configuration),
        choosingMs,
        takenMs,
        isDone,
        tries,
        tried: tried.map(({ configuration, samples, failure }) =>
          `${describeConfiguration(configuration)}: ${
            failure?.message ?? samples.map((rate) => formatRate(rate)).join(", ")
          }`
        ),
        chosen: describeConfiguration(choice.configuration),
        refinedTo: describeConfiguration(solver.configuration),
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      report({ equation: problem.stencil.title, grid: name, error: why });
    }
  }
  device.destroy();
}

/** A text that problems share exactly if they are one but for their steps. */
function keyOf({ stencil, grid }: OpenProblem): string {
  return `${hashOf(stencil.update)} ${grid}`;
}

/** The fastest configurations of each problem in recordings, one after another. */
async function fastestIn(files?: string): Promise<Map<string, Configuration[]>> {
  const known = new Map<string, Configuration[]>();
  for (const file of files?.split(",") ?? []) {
    for (const { facet, configurations } of (await readReplaySpaces(file)).spaces) {
      const of = facet && problemOf(facet.problem);
      if (of === undefined) continue;
      const first = configurations.toSorted((a, b) => (b.rate ?? 0) - (a.rate ?? 0)).slice(0, MOST_KNOWN);
      const alone = first.map(({ traversal, parameters }) =>
        onGpuAlone({ traversal: traversalNamed(traversal), parameters }, of)
      );
      known.set(keyOf(of), [...known.get(keyOf(of)) ?? [], ...alone]);
    }
  }
  return known;
}

/** One run of `tune`: its entries by grid. */
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

/** What a run of `tune` has found for a problem. */
function described(entry: ProfileEntry | undefined): Record<string, unknown> {
  if (entry === undefined) return {};
  return { evaluated: entry.search.evaluated, configuration: describeConfiguration(entry.configuration) };
}

async function tuneAll(budget: string, grids: readonly string[], equations = 1): Promise<void> {
  for (const { options, name, problem } of problemsOn(grids, equations)) {
    const args = [...options, "--grid", name, "--budget", budget];
    const entry = (await tune(args)).get(name), tuned = entry?.result.cellsPerSecond ?? 0;
    report({ equation: problem.stencil.title, grid: name, tuned, ...described(entry) });
  }
}

async function sizes(budget: string, each: string, grids: readonly string[]): Promise<void> {
  const equation = wave(2).title;
  const found = await tune([...grids.flatMap((grid) => ["--grid", grid]), "--budget", budget]);
  for (const grid of grids) {
    const entry = found.get(grid);
    report({ equation, grid, together: entry?.result.cellsPerSecond ?? 0, ...described(entry) });
  }
  for (const grid of grids) {
    const entry = (await tune(["--grid", grid, "--budget", each])).get(grid);
    report({ equation, grid, tuned: entry?.result.cellsPerSecond ?? 0, ...described(entry) });
  }
}

/** A table of everything that is known of each problem, and how much slower each way is than the best of them. */
async function table(files: readonly string[]): Promise<void> {
  const ways = ["choice", "refined", "tuned", "known", "together", "stepwise"] as const;
  const rows = new Map<string, Row>();
  for (const file of files) {
    for (const line of (await Deno.readTextFile(file)).split("\n").filter((line) => line.startsWith("{"))) {
      const row = JSON.parse(line) as Row, key = `${row.equation} ${row.grid}`;
      rows.set(key, { ...rows.get(key), ...row });
    }
  }
  const all = [...rows.values()], used = ways.filter((way) => all.some((row) => row[way] !== undefined));
  const gcells = (rate?: number): string =>
    rate === undefined ? "" : (rate / 1e9).toFixed(rate < 1e10 ? 3 : 0);
  const lines = [
    ["grid", "equation", ...used, "expected"],
    ...all.map((row) => [
      ...[row.grid, row.equation],
      ...[...used, "expected" as const].map((way) => gcells(row[way])),
    ]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  console.log([lines[0], `|${" --- |".repeat(used.length + 3)}`, ...lines.slice(1)].join("\n"));
  for (const way of used) {
    for (
      const [which, some] of [
        ["all", all],
        ["those that were tuned", all.filter(({ tuned }) => tuned !== undefined)],
      ] as const
    ) {
      const losses = some.flatMap((row) => {
        const best = Math.max(...ways.map((one) => row[one] ?? 0)), rate = row[way];
        return rate === undefined ? [] : [1 - rate / best];
      });
      const slower = some.filter((row) => row[way]! < 0.99 * (row.stepwise ?? 0)).length;
      if (losses.length === 0) continue;
      console.log(
        `${way}, ${which} (${losses.length}): median loss ${formatPercent(median(losses))}, largest ` +
          `${formatPercent(Math.max(...losses))}, ${slower} slower than stepwise`,
      );
    }
  }
}

const [mode = "fixtures/h100/grids.jsonl.gz", ...rest] = Deno.args;
const gridsFrom = (text?: string): readonly string[] => text?.split(",") ?? GRIDS;
if (mode === "tune") await tuneAll(rest[0]!, gridsFrom(rest[1]), rest[2] ? Number(rest[2]) : undefined);
else if (mode === "sizes") await sizes(rest[0]!, rest[1]!, gridsFrom(rest[2]));
else if (mode === "table") await table(rest);
else {
  const [seconds = 2, grids, equations, known] = rest;
  await choices(mode, Number(seconds), gridsFrom(grids), equations ? Number(equations) : undefined, known);
}
