/**
 * What the search takes beyond compiling and running kernels. `deno run -A bench/overhead.ts [COUNT] [GRID] [TRAVERSAL…]`
 * tries COUNT configurations by the strategy `exhaustive`, as `tune` does, and prints where the time went:
 *
 * - kernels: time on the device of every run, by its clock;
 * - compiling: from text to pipelines; and what a software driver compiles at the first dispatch, which is what the
 *   host waits for a submission beyond the device's time and beyond the usual wait (the median over all).
 *
 * Everything else is overhead: starting the process, its reference, verifying, waiting for Deno's 10 ms poll, the
 * journal, the strategy.
 *
 * @module
 */
import { median } from "npm:simple-statistics@7.12.1";
import { wave } from "../kernels/stencils/wave.ts";
import { TRAVERSALS } from "../kernels/traversals/all.ts";
import { DeviceSession } from "../tuner/devices/session.ts";
import { ProcessEvaluator } from "../tuner/measuring/process/process_evaluator.ts";
import { detectDevice } from "../tuner/devices/device.ts";
import type { Evaluation } from "../tuner/measuring/evaluate.ts";
import { Journal } from "../tuner/profile/journal.ts";
import { JournalKeeper } from "../tuner/profile/journal_keeper.ts";
import { describeProblem } from "../tuner/profile/profile_problem.ts";
import { exhaustive } from "../tuner/search/baselines.ts";
import { DEFAULT_STEPS } from "../tuner/problem/default_problem.ts";
import { runTuning, type TuneProgress } from "../tuner/tune/tune.ts";

const [count = "200", grid = "64x64x64", ...names] = Deno.args;
const [nx = 64, ny = nx, nz = nx] = grid.split("x").map(Number);

const directory = await Deno.makeTempDir({ prefix: "facet-overhead-" });
const stopwatch = `${directory}/submissions.jsonl`;
const device = await detectDevice();
using session = new DeviceSession({ device });
const now = (): number => session.now();
let began = 0, ended = 0;
const evaluations: Evaluation[] = [];
let keeper: JournalKeeper | undefined;

await runTuning({
  stencil: wave(2),
  grid: [nx, ny, nz],
  boundary: "zero",
  steps: DEFAULT_STEPS,
  traversals: TRAVERSALS.filter(({ name }) => names.length === 0 || names.includes(name)),
  strategy: exhaustive,
  budget: { evaluations: Number(count) },
  cpuWorkers: 0,
  seed: 1,
  startShare: 0.1,
}, {
  session,
  signal: new AbortController().signal,
  onProgress({ stage, done, total }: TuneProgress) {
    if (stage === "GPU search" && began === 0) began = now();
    if (stage === "final round" && ended === 0) ended = now();
    if (stage === "GPU search" && done % 20 === 0) console.error(`${done}/${total}`);
  },
  async onStart(start) {
    keeper = new JournalKeeper(() =>
      Journal.open(`${directory}/journal.jsonl`, {
        tool: { name: "facet", version: "0" },
        device: { ...device, measured: { copyBytesPerSecond: start.copyBytesPerSecond } },
        problem: describeProblem(start.problem),
        kernelSource: "",
      }), console.error);
    await keeper.begin();
  },
  async onEvaluation(evaluation) {
    if (ended === 0) evaluations.push(evaluation);
    await keeper!.record(evaluation);
  },
  evaluators: {
    workersFor: () => 1,
    start: (problem, options) =>
      ProcessEvaluator.start({
        problem,
        ...options,
        command: [
          ...[Deno.execPath(), "run", "-A"] as const,
          new URL("./overhead_evaluator.ts", import.meta.url).href,
          stopwatch,
        ],
      }),
  },
});
keeper?.close();
const submissions: { deviceNs: number; hostNs: number }[] = (await Deno.readTextFile(stopwatch)).trim().split(
  "\n",
)
  .map((line) => JSON.parse(line));
await Deno.remove(directory, { recursive: true });

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const kernelNs = sum(submissions.map(({ deviceNs }) => deviceNs));
const waits = submissions.map(({ deviceNs, hostNs }) => hostNs - deviceNs);
const usual = median(waits);
const firstNs = sum(waits.map((wait) => Math.max(0, wait - usual)));
const pipelinesNs = sum(evaluations.map((one) => "measurement" in one ? one.measurement.compileNs : 0));
const totalNs = ended - began;
const seconds = (ns: number): string => `${(ns / 1e9).toFixed(2)} s`;
console.log(`${evaluations.length} evaluations, grid ${grid}: ${seconds(totalNs)}`);
console.log(
  `  kernels ${seconds(kernelNs)}, compiling ${seconds(pipelinesNs)} and at first dispatch ${
    seconds(firstNs)
  }`,
);
console.log(
  `  waiting for ${submissions.length} submissions, ${(usual / 1e6).toFixed(1)} ms each: included below`,
);
const overhead = totalNs - kernelNs - pipelinesNs - firstNs;
console.log(
  `  beyond kernels and compiling: ${seconds(overhead)}, ${(100 * overhead / totalNs).toFixed(1)}% of all`,
);
