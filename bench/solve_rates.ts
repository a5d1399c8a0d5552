/**
 * Whether the command `solve` is as fast as the library's `run`: both compute the same steps by turns, each in a process of its
 * own, until time is over. The wave equation of order 2 from a seed's values; by the host's clock, without opening and reading.
 *
 *     deno run -A bench/solve_rates.ts [--grid 512x512] [--steps 10000] [--seconds 60] [--no-gpu]
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { createSolver, wave } from "../mod.ts";

const { grid, steps, seconds, child, "no-gpu": isOnCpu } = parseArgs(Deno.args, {
  boolean: ["child", "no-gpu"],
  string: ["grid", "steps", "seconds"],
  default: { grid: "512x512", steps: "10000", seconds: "60" },
});
const sizes = grid.split("x").map(Number),
  kind = ["--stencil", "wave", "--grid", grid, "--steps", steps, ...isOnCpu ? ["--no-gpu"] : []];

if (child) {
  const stencil = wave(2, { dimensions: sizes.length as 2 | 3 });
  const problem = {
    stencil,
    grid: sizes as unknown as readonly [number, number, number],
    steps: Number(steps),
  };
  const device = isOnCpu ? { device: null } : {};
  await using solver = await createSolver({ ...problem, boundary: "zero" }, device);
  await solver.initialise("noise", 1);
  const beganMs = performance.now();
  await solver.run(Number(steps));
  console.log(performance.now() - beganMs, JSON.stringify(solver.configuration));
} else {
  const solve = new URL("../tuner/cli/main.ts", import.meta.url).pathname;
  const output = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", ...args],
      stderr: "inherit",
    }).output();
    return new TextDecoder().decode(stdout);
  };
  const runs: { solve: number; library: number }[] = [], beganMs = performance.now();
  for (let lastMs = 0; performance.now() - beganMs + lastMs < 1000 * Number(seconds) || runs.length === 0;) {
    const roundMs = performance.now();
    const ofSolve = async () => {
      const { ranks: [{ wallNs, configuration }] } = JSON.parse(
        await output(solve, "solve", ...kind, "--json", "--quiet"),
      );
      return [wallNs * 1e-6, JSON.stringify(configuration)] as const;
    };
    const ofLibrary = async () => {
      const [ms, ...configuration] = (await output(import.meta.filename!, "--child", ...kind)).trim().split(
        " ",
      );
      return [Number(ms), configuration.join(" ")] as const;
    };
    // each is first in every second round
    const [first, second] = runs.length % 2 === 0 ? [ofSolve, ofLibrary] : [ofLibrary, ofSolve];
    const both = [await first(), await second()], [a, b] = runs.length % 2 === 0 ? both : both.toReversed();
    runs.push({ solve: a![0], library: b![0] });
    if (a![1] !== b![1]) console.log(`not alike: ${a![1]} and ${b![1]}`);
    console.log(
      `solve ${a![0].toFixed(0)} ms, library ${b![0].toFixed(0)} ms: ${(a![0] / b![0]).toFixed(3)}`,
    );
    lastMs = performance.now() - roundMs;
  }
  const least = (name: "solve" | "library"): number => Math.min(...runs.map((run) => run[name]));
  const ratios = runs.map(({ solve, library }) => solve / library).sort((a, b) => a - b);
  const middle = ratios[Math.floor(ratios.length / 2)]!.toFixed(3);
  console.log(
    `${grid}, ${steps} steps, ${runs.length} rounds: solve takes ${middle} of the library's time, the least ${
      (least("solve") / least("library")).toFixed(3)
    }`,
  );
}
