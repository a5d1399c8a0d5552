/**
 * Whether a reported rate is what a long simulation sees: `deno run -A bench/true_rates.ts [--times 2] [--seconds 10]
 * [--out FILE] GRID… -- [OPTION…]` tunes each grid, with these options of `tune`, then runs a solver with the winner for
 * so long, and prints both rates beside each other; with nvidia-smi, the lowest clock of the final round, too. GRID is
 * as in `host_rates.ts`. Ends with code 1 where a rate is more than 3% off, or its interval wider than ±5%.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import { cellsOf } from "../kernels/stencils/stencil.ts";
import { openDevice } from "../tuner/devices/open_device.ts";
import { formatRate, formatTable } from "../tuner/format.ts";
import { describeConfiguration } from "../tuner/profile/describe.ts";
import type { ProfileEntry } from "../tuner/profile/schema.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";
import { taskCommand } from "../tests/cli/run_task.ts";

const { _: grids, times = "1", seconds = "10", "--": options } = parseArgs(Deno.args, {
  string: ["_", "times", "seconds"],
  "--": true,
});
const RATE_OFF = 0.03, INTERVAL = 0.05;

/** The device's clock, twice a second, with the time of each look; none without nvidia-smi. */
class ClockLog implements Disposable {
  readonly looks: { atMs: number; mhz: number }[] = [];
  readonly #child: Deno.ChildProcess | undefined;

  constructor() {
    const query = ["--query-gpu=clocks.sm", "--format=csv,noheader,nounits", "-lms", "500"];
    try {
      this.#child = new Deno.Command("nvidia-smi", { args: query, stdout: "piped", stderr: "null" }).spawn();
    } catch {
      return;
    }
    const { looks } = this;
    this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
      new WritableStream({
        write(text) {
          for (const line of text.trim().split("\n")) {
            looks.push({ atMs: performance.now(), mhz: Number(line) });
          }
        },
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#child?.kill();
  }
}

/** Tunes; when the final round began and ended. */
async function tuneOnce(grid: string, out: string) {
  const [, name = "wave", size = grid] = /^(.+):(.+)$/.exec(grid) ?? [];
  const args = ["--stencil", name, "--grid", size, "--out", out, "--json", ...options as string[]];
  const child = taskCommand("tune", args).spawn();
  let beganMs = Infinity, endedMs = Infinity;
  const watch = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write(text) {
        Deno.stderr.writeSync(new TextEncoder().encode(text));
        if (text.includes("final round")) beganMs = Math.min(beganMs, performance.now());
        else if (beganMs < Infinity) endedMs = Math.min(endedMs, performance.now());
      },
    }),
  );
  const [summary] = await Promise.all([new Response(child.stdout).json(), watch]);
  return {
    ...summary as { entry: ProfileEntry; evaluated: number; elapsedMs: number },
    beganMs,
    endedMs,
  };
}

const device = await openDevice();
let isRight = true;
const rows = [[
  ...["grid", "steps", "winner", "evaluated", "tune", "interval"],
  ...["solver, device", "tune / solver", "solver, host", "lowest MHz in the final round", "in all"],
]];
for (const grid of grids.map(String)) {
  for (let time = 0; time < Number(times); time++) {
    const directory = await Deno.makeTempDir({ prefix: "facet-rates-" });
    using clock = new ClockLog();
    const { entry, evaluated, beganMs, endedMs } = await tuneOnce(grid, `${directory}/profile.json`);
    const lowest = (looks: readonly { mhz: number }[]): string =>
      looks.length === 0 ? "–" : `${Math.min(...looks.map(({ mhz }) => mhz))}`;
    const clocks = [
      lowest(clock.looks.filter(({ atMs }) => atMs > beganMs + 500 && atMs < endedMs)),
      lowest(clock.looks),
    ];
    const { configuration, result: { cellsPerSecond: tuned, confidence95 } } = entry;
    const problem = problemOf(entry.problem)!, cells = cellsOf(problem.grid);
    using solver = await createSolver(device, problem, configuration);
    await solver.initialise();
    const stepsFor = (time: number): number =>
      Math.max(1, Math.round(tuned * time / cells / problem.steps)) * problem.steps;
    await solver.run(stepsFor(1)); // the clock comes up
    const steps = stepsFor(Number(seconds)), began = performance.now();
    const { cellsPerSecond: byDevice } = await solver.run(steps);
    const byHost = cells * steps / ((performance.now() - began) / 1e3);
    const ends = (confidence95 ?? [0, Infinity]).map((end) => end / tuned - 1);
    isRight &&= Math.abs(tuned / byDevice - 1) <= RATE_OFF && ends.every((end) => Math.abs(end) <= INTERVAL);
    rows.push([
      ...[grid, `${problem.steps}`, describeConfiguration(configuration), `${evaluated}`, formatRate(tuned)],
      ends.map((end) => `${(100 * end).toFixed(1)}%`).join(" to "),
      ...[formatRate(byDevice), (tuned / byDevice).toFixed(3), formatRate(byHost), ...clocks],
    ]);
    console.error(rows.at(-1)!.join(" | "));
    await Deno.remove(directory, { recursive: true });
  }
}
device?.destroy();
console.log(formatTable(rows));
Deno.exit(isRight ? 0 : 1);
