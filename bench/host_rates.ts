/**
 * What a user waits for: `deno run -A bench/host_rates.ts [GRID…]` runs solvers for about 0.1, 1 and 10 s at a time, and
 * prints the rates by the device's clock and by the host's. GRID is `256x256x256` of the wave equation, or
 * `heat-1d:2048`, an equation and its grid. For each it takes the plain traversal (stepwise, classic) and what
 * `chooseConfiguration` says, from the profile that `--profile FILE` names if there is one.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { EQUATIONS } from "../kernels/stencils/all.ts";
import { cellsOf, type Grid, type Problem } from "../kernels/stencils/stencil.ts";
import type { Configuration } from "../tuner/configuration.ts";
import { openDevice } from "../tuner/devices/open_device.ts";
import { formatDuration, formatRate, formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { resolveProblem } from "../tuner/problem/resolve_problem.ts";
import { detectDevice } from "../tuner/devices/device.ts";
import { chooseConfiguration } from "../tuner/profile/choose.ts";
import { readProfile } from "../tuner/profile/read_profile.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";
import { describeConfiguration } from "../tuner/profile/describe.ts";

const { _: grids, profile, seconds } = parseArgs(Deno.args, { string: ["_", "profile", "seconds"] });
const DEFAULT_GRIDS = ["128x128x128", "256x256x256", "512x512x512", "heat-1d:2048", "heat-1d:1048576"];
const lengths = (seconds ?? "0.1,1,10").split(",").map(Number);
/** Runs of each length: the median counts. The longest is run once. */
const RUNS = 5;

const device = await openDevice(), described = await detectDevice();
const known = profile === undefined ? [] : [await readProfile(profile)];
const rows = [["grid", "configuration", "run", "steps", "by the device", "by the host", "host / device"]];
for (const text of grids.length > 0 ? grids.map(String) : DEFAULT_GRIDS) {
  const [, name = "wave", size = text] = /^(.+):(.+)$/.exec(text) ?? [];
  const { variant, create } = EQUATIONS.find((equation) => equation.name === name)!;
  const stencil = create(variant?.default ?? 0);
  const sizes = size.split("x").map(Number);
  const grid = (sizes.length === 1 ? [1, 1, sizes[0]] : sizes) as unknown as Grid;
  const { problem } = resolveProblem("measure", { stencil, grid, cpuWorkers: 0 }, described);
  const chosen = chooseConfiguration(known, problem, device).configuration;
  const plain = {
    traversal: stencil.dimensions === 1 ? "classic" : "stepwise",
    parameters: stencil.dimensions === 1
      ? { threads: 64, points: 1 }
      : { threadsZ: 128, threadsY: 2, threadsX: 1 },
    share: { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: problem.steps, cpuWorkers: 0 },
  };
  const isSame = chosen.traversal === plain.traversal;
  for (const configuration of isSame ? [chosen] : [plain, chosen]) {
    await measure(problem, configuration, text);
  }
}
device?.destroy();
console.log(formatTable(rows));

async function measure(problem: Problem, configuration: Configuration, name: string): Promise<void> {
  using solver = await createSolver(device, problem, configuration);
  await solver.initialise("noise");
  const cells = cellsOf(problem.grid);
  const run = async (steps: number): Promise<{ deviceRate: number; hostRate: number }> => {
    const began = performance.now();
    const { cellsPerSecond: deviceRate } = await solver.run(steps);
    return { deviceRate, hostRate: cells * steps / ((performance.now() - began) / 1e3) };
  };
  let { deviceRate } = await run(problem.steps);
  // until the clock is up, but for what is as slow as software
  for (const began = performance.now(); performance.now() - began < 500;) {
    ({ deviceRate } = await run(stepsFor(deviceRate, 0.1)));
  }
  function stepsFor(rate: number, time: number): number {
    return Math.max(1, Math.round(rate * time / cells / problem.steps)) * problem.steps;
  }
  for (const length of lengths) {
    const steps = stepsFor(deviceRate, length);
    const found: Awaited<ReturnType<typeof run>>[] = [];
    for (let i = 0; i < (length < 5 ? RUNS : 1); i++) found.push(await run(steps));
    const byDevice = median(found.map((one) => one.deviceRate)),
      byHost = median(found.map((one) => one.hostRate));
    const shown = [
      formatDuration(cells * steps / byHost * 1e9),
      `${steps}`,
      formatRate(byDevice),
      formatRate(byHost),
    ];
    rows.push([name, describeConfiguration(configuration), ...shown, (byHost / byDevice).toFixed(3)]);
    console.error(rows.at(-1)!.join(" | "));
  }
}
