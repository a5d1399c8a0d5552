/**
 * What the choice for the CPU is worth that no measurement precedes, and how well the model orders all configurations:
 *
 *     deno run -A bench/cpu_choices.ts SECONDS WORKERS EQUATION,EQUATION… GRID…
 *
 * Each problem takes about SECONDS seconds, in rounds: each loads stepwise in all strips and all diamonds, unfused, and
 * the choice, its twin that differs in `fused` alone, and the choice once more, in new workers, since where a field lies
 * in memory changes its rate by several percent; then all run in turns. Equations are `wave:ORDER` and `heat:DELTA`; a GRID of two
 * numbers is one of two dimensions.
 * Prints a table of medians, and of ratios round by round with their 95% intervals: to the same configuration loaded
 * twice, which says how far off a ratio is, and to what was best in the other rounds, since the best of many would
 * otherwise be the luckiest; and the part of the pairs that differ by more than 10% which the model orders wrongly.
 *
 * @module
 */
import { CPU_TRAVERSALS } from "../kernels/cpu/cpu_traversals.ts";
import { layOut } from "../kernels/layout.ts";
import { heat } from "../kernels/stencils/heat.ts";
import { plannedProblem } from "../kernels/planned_problem.ts";
import { fieldBytes, type OwnGrid, type Problem } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import { predictCpuRate, usualCpuBandwidth } from "../models/cpu_roofline.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { formatPercent } from "../tuner/format.ts";
import { median, medianInterval95 } from "../tuner/measuring/statistics.ts";
import { chooseConfiguration } from "../tuner/profile/choose.ts";
import { takeTurns } from "./take_turns.ts";

/** Time of a sample; turns of a round, and rounds at least. */
const SAMPLE_NS = 8e6, TURNS = 3, FEWEST_ROUNDS = 6;

/** Bytes of all fields at once: where they take more, each is loaded for its turn. */
const MOST_BYTES = 3.5e9;

/** A way to compute the grid. */
interface Way {
  readonly one: typeof CPU_TRAVERSALS[number];
  readonly parameters: Parameters;
}

/** Pairs count whose rates differ by more. */
const FAR = 1.1;

const [seconds, workerText, equations, ...grids] = Deno.args;
const workers = Number(workerText);
const pairs = { far: 0, wrong: 0, farMixed: 0, wrongMixed: 0 };

const HEADS = ["grid", "equation", "choice", "Gcells/s", "of itself", "of the best stepwise", "of the best"];
console.log(`| ${[...HEADS, "the best"].join(" | ")} |\n|${" --- |".repeat(HEADS.length + 1)}`);
for (const grid of grids) {
  for (const equation of equations!.split(",")) await compare(equation, grid);
}
console.log(
  `\n${formatPercent(pairs.wrong / pairs.far)} of ${pairs.far} far pairs are ordered wrongly, ` +
    `${formatPercent(pairs.wrongMixed / pairs.farMixed)} of ${pairs.farMixed} of stepwise and diamonds`,
);
Deno.exit();

async function compare(equation: string, gridText: string): Promise<void> {
  const [name, variant] = equation.split(":"), own = gridText.split("x").map(Number) as unknown as OwnGrid;
  const options = own.length === 2 ? { dimensions: 2 } as const : {};
  const stencil = (name === "wave" ? wave : heat)(Number(variant), options);
  const cells = own.reduce((product, n) => product * n, 1), steps = cells > 4e6 ? 32 : 64;
  const problem = plannedProblem({ stencil, grid: own, boundary: "zero", steps });
  const { traversal, parameters } =
    chooseConfiguration([], problem, null, { cpuWorkers: workers }).configuration;
  const ways: Way[] = CPU_TRAVERSALS.flatMap((one) =>
    one.candidates(problem, workers, { fuses: false }).map((parameters) => ({ one, parameters }))
  );
  const isWay = (wanted: Parameters) => (way: Way): boolean =>
    way.one.name === traversal && describe(way.parameters) === describe(wanted);
  const one = CPU_TRAVERSALS.find(({ name }) => name === traversal)!;
  for (const wanted of [parameters, { ...parameters, fused: 1 - Number(parameters.fused ?? 0) }]) {
    if (!ways.some(isWay(wanted))) ways.push({ one, parameters: wanted });
  }
  const rounds = await measure(problem, [...ways, { one, parameters }]);
  const rates = ways.map((_, i) => cells / median(rounds.map((times) => times[i]!)));
  const device = { copyBytesPerSecond: usualCpuBandwidth(fieldBytes(problem), workers), workers };
  const predicted = ways.map(({ one, parameters }) =>
    predictCpuRate(one.demand(problem, parameters, workers), device, { cells })
  );
  for (const [i, rate] of rates.entries()) {
    for (const [j, other] of rates.entries()) {
      if (rate < FAR * other) continue;
      const isWrong = predicted[i]! < predicted[j]!, isMixed = ways[i]!.one !== ways[j]!.one;
      pairs.far++, pairs.farMixed += Number(isMixed);
      pairs.wrong += Number(isWrong), pairs.wrongMixed += Number(isWrong && isMixed);
    }
  }
  const chosen = ways.findIndex(isWay(parameters)), all = ways.map((_, i) => i);
  const plain = all.filter((i) => ways[i]!.one.name === "stepwise");
  /** How the choice compares with the fastest of some in all other rounds. */
  const ratio = (some: readonly number[]): string => {
    const ratios = rounds.map((times) => {
      const others = rounds.filter((other) => other !== times);
      const timeOf = (i: number): number => median(others.map((other) => other[i]!));
      return times[some.reduce((best, i) => timeOf(i) < timeOf(best) ? i : best)]! / times[chosen]!;
    });
    const middle = median(ratios), interval95 = medianInterval95(ratios);
    return `${middle.toFixed(2)} (${interval95.map((end) => end.toFixed(2)).join(" to ")})`;
  };
  const nameOf = (at: number): string => `${ways[at]!.one.name} ${describe(ways[at]!.parameters)}`;
  const fastest = rates.indexOf(Math.max(...rates));
  const ratios = [[ways.length], plain, all].map(ratio);
  const row = [gridText, equation, nameOf(chosen), rates[chosen]!.toFixed(2), ...ratios, nameOf(fastest)];
  console.log(`| ${row.join(" | ")} |`);
}

/** Nanoseconds a step of every way, round by round. */
async function measure(problem: Problem, ways: readonly Way[]): Promise<number[][]> {
  const untilMs = performance.now() + Number(seconds) * 1e3, rounds: number[][] = [];
  while (rounds.length < FEWEST_ROUNDS || performance.now() < untilMs) {
    rounds.push(await measureRound(problem, ways));
  }
  return rounds;
}

async function measureRound(
  { stencil: { update }, grid, steps }: Problem,
  ways: readonly Way[],
): Promise<number[]> {
  const { x, y, z } = reachOf(update), layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const pool = await CpuPool.create({ workers });
  const load = async ({ one, parameters }: Way) => {
    const shape = one.shape(parameters), fused = parameters.fused === 1;
    const field = await pool.load({ update, layout, boundary: "zero", shape, fused });
    await field.initialise({ kind: "noise", seed: 0 });
    return field;
  };
  const isKept = 8 * layout.length * ways.length < MOST_BYTES;
  const fields = isKept ? await Promise.all(ways.map(load)) : [];
  let runs = 1;
  const runners = ways.map((way, i) => async (): Promise<number> => {
    const field = fields[i] ?? await load(way);
    // what was loaded just now has pages to be found first
    if (!isKept) await field.run({ steps: 2 });
    let timeNs = 0;
    for (let run = 0; run < runs; run++) timeNs += await field.run({ steps });
    if (!isKept) await field.dispose();
    return timeNs / runs / steps;
  });
  runs = Math.max(1, Math.ceil(SAMPLE_NS / (await runners[0]!() * steps)));
  const samples = await takeTurns(runners, { untilMs: 0, warmUp: 1, mostTurns: TURNS });
  pool.dispose();
  return samples.map(median);
}

function describe({ fused = 0, ...parameters }: Parameters): string {
  const named = Object.entries({ ...parameters, ...(fused === 1 && { fused }) });
  return named.map(([name, value]) => `${name}=${value}`).join(" ");
}
