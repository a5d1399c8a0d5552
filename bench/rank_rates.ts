/**
 * The time of a step on ranks, predicted and measured, over R and decompositions:
 *
 *     deno run -A bench/rank_rates.ts --every 1,2,4,8,16,32 --decompose 2x1x1,1x2x1 --runs 3 mpirun -n 2 -- \
 *       --stencil wave --grid 128x128x128 --steps 192
 *
 * runs `solve` for each of them `--runs` times, by turns, and at last with what the model chooses. A row has the medians.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { formatDuration, formatPercent, formatRate, formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";

const end = Deno.args.indexOf("--"), options = Deno.args.slice(end + 1);
const { every = "1,2,4,8,16,32", decompose = "", runs = "1", _: launcher } = parseArgs(
  Deno.args.slice(0, end),
  { string: ["every", "decompose", "runs", "_"], stopEarly: true },
);

/** What `solve --json` says. */
interface Solved {
  readonly decompose: readonly number[];
  readonly exchangeEvery: number;
  readonly cellsPerSecond: number;
  readonly stepNs: number;
  readonly predictedStepNs: number;
  readonly exchangeFraction: number;
}

async function solve(more: readonly string[]): Promise<Solved | undefined> {
  const [command = "deno", ...args] = launcher.map(String);
  const program = command === "deno" ? [] : ["deno"];
  const { stdout, stderr } = await new Deno.Command(command, {
    args: [...args, ...program, "run", "-A", "tuner/cli/main.ts", "solve", ...options, ...more, "--json"],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (text.trim() !== "") return JSON.parse(text);
  console.error(new TextDecoder().decode(stderr));
  return undefined;
}

const combinations = decompose.split(",").flatMap((parts) =>
  every.split(",").map((steps) => [...(parts ? ["--decompose", parts] : []), "--exchange-every", steps])
);
const found = new Map<string, Solved[]>();
for (let run = 0; run < Number(runs); run++) {
  for (const more of [...combinations, []]) {
    const solved = await solve(more);
    if (solved !== undefined) found.set(more.join(" "), [...found.get(more.join(" ")) ?? [], solved]);
  }
}
const middle = (solved: readonly Solved[], name: "stepNs" | "predictedStepNs" | "exchangeFraction"): number =>
  median(solved.map((one) => one[name]));
const rows = [...found].map(([key, solved]) => {
  const measured = middle(solved, "stepNs"), predicted = middle(solved, "predictedStepNs");
  const [{ decompose, exchangeEvery, cellsPerSecond, stepNs }] = solved as [Solved];
  return {
    isChosen: key === "",
    measured,
    error: Math.abs(predicted / measured - 1),
    cells: [
      `${decompose.join("x")}${key === "" ? " (chosen)" : ""}`,
      `${exchangeEvery}`,
      formatDuration(predicted),
      formatDuration(measured),
      `${predicted < measured ? "−" : "+"}${formatPercent(Math.abs(predicted / measured - 1))}`,
      formatRate(cellsPerSecond * stepNs / measured),
      formatPercent(middle(solved, "exchangeFraction")),
    ],
  };
});
const header = ["parts", "R", "predicted", "measured", "error", "rate", "exchange"];
console.log(formatTable([header, ...rows.map(({ cells }) => cells)]));
const fixed = rows.filter(({ isChosen }) => !isChosen), chosen = rows.find(({ isChosen }) => isChosen);
if (fixed.length > 0) console.log(`Median error ${formatPercent(median(fixed.map(({ error }) => error)))}`);
if (chosen !== undefined && fixed.length > 0) {
  const best = Math.min(...fixed.map(({ measured }) => measured));
  console.log(`What was chosen takes ${formatPercent(chosen.measured / best)} of the best's time`);
}
