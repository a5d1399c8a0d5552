import * as Plot from "@observablehq/plot";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { partOfRank } from "../../models/rank_part.ts";
import { type PartRound, predictRound } from "../../models/round.ts";
import { partCosts, planOfPair } from "../../models/shared_fit.ts";
import { formatCount, formatDuration, formatPercent } from "../format.ts";
import { costsOf } from "../profile/former_files.ts";
import type { ProfileCostModel } from "../profile/schema.ts";
import { drawChart } from "./chart.ts";
import type { EntryView } from "./entry_view.ts";
import { figure, Html, markup, numbers, table, tableBehind } from "./html.ts";
import { uses } from "../shares.ts";

/** How the grid was shared, and what it cost; nothing if it was not. */
export function sharing(view: EntryView): Html | "" {
  const figures = [balanceFigure(view), costFigure(view)].filter((figure) => figure !== "");
  return figures.length === 0 ? "" : markup`<h3>Sharing with the CPU</h3>${figures}`;
}

/** The iterations of Eq. 8 of Liu and Perumalla (B2R). */
function balanceFigure({ entry: { balance, configuration: { share } } }: EntryView): Html | "" {
  if (balance.length === 0) return "";
  const total = share.cpuSlices + share.gpuSlices, part = formatPercent(share.cpuSlices / total);
  const verdict = !uses(share, "cpu")
    ? "No share was faster than the GPU alone"
    : !uses(share, "gpu")
    ? "No share was faster than the CPU alone"
    : `The CPU got ${formatCount(share.cpuSlices)} of ${formatCount(total)} slices (${part})`;
  const rows = balance.map(({ cpuSlices, cpuTimeNs, gpuSlices, gpuTimeNs }, i) => [
    i + 1,
    formatCount(gpuSlices),
    formatDuration(gpuTimeNs),
    formatCount(cpuSlices),
    formatDuration(cpuTimeNs),
  ]);
  const columns = numbers("iteration", "GPU slices", "GPU, a step", "CPU slices", "CPU, a step");
  return figure(
    "Balance of CPU and GPU.",
    `Slices move until both devices take equally long (B2R, Eq. 8). ${verdict}.`,
    table("Balance of CPU and GPU", columns, rows),
  );
}

/** A time of a step over R, or a part of it. */
interface Curve {
  readonly name: string;
  readonly color: string;
  /** Of its line; undefined: marks. */
  readonly dashes: string | undefined;
  /** In nanoseconds, for each R; null where it is not known. */
  readonly times: readonly (number | null)[];
}

/** The time of a step over R, the steps between two exchanges, and the parts that the model adds up. */
function costFigure({ entry: { costModel }, problem }: EntryView): Html | "" {
  const curve = costModel?.curve.toSorted((a, b) => a.exchangeEvery - b.exchangeEvery) ?? [];
  const [best] = curve.toSorted((a, b) => a.predictedNs - b.predictedNs);
  if (costModel === undefined || best === undefined || curve.length < 2) return "";
  const steps = curve.map(({ exchangeEvery }) => exchangeEvery);
  const measured = curve.map(({ measuredNs }) => measuredNs);
  const curves: Curve[] = [
    { name: "model", color: "var(--ink)", dashes: "", times: curve.map(({ predictedNs }) => predictedNs) },
    { name: "measured", color: "var(--ink)", dashes: undefined, times: measured },
    ...(problem === undefined ? [] : timesSpent(costModel.coefficients, curve, problem)),
  ].filter(({ times }) => times.some((time) => time !== null));
  const count = measured.filter((time) => time !== null).length;
  const time = formatDuration(best.predictedNs);
  const minimum = `The model has its minimum of ${time} at R = ${best.exchangeEvery}`;
  const label = `Time of one step over R. ${minimum}; ${count} values of R were measured.`;
  const highest = Math.max(...curves.flatMap(({ times }) => times.map((time) => time ?? 0)));
  const [unit, size] = highest >= 1e6 ? ["ms", 1e6] as const : ["µs", 1e3] as const;
  const at = { x: ([step]: number[]) => step, y: ([, timeNs]: number[]) => timeNs! / size } as const;
  const chart = drawChart(label, (format) => ({
    height: format === "wide" ? 280 : 250,
    marginLeft: 60,
    marginBottom: 42,
    marginRight: 24,
    marginTop: 28,
    x: {
      label: "R, steps between two exchanges →",
      ticks: steps.length > (format === "wide" ? 16 : 8) ? 6 : steps,
      tickFormat: "~g",
      type: "log",
      base: 2,
    },
    y: { label: `↑ ${unit} a step`, zero: true, nice: true, grid: true, ticks: 5 },
    marks: [
      Plot.ruleY([0], { stroke: "var(--ink)" }),
      Plot.ruleX([best.exchangeEvery], { stroke: "var(--accent)", strokeDasharray: "3,3" }),
      ...curves.map(({ color, dashes, times }) => {
        const points = steps.flatMap((step, i) => times[i] == null ? [] : [[step, times[i]]]);
        return dashes === undefined || points.length === 1
          ? Plot.dot(points, { ...at, fill: color, r: 5 })
          : Plot.line(points, { ...at, stroke: color, strokeWidth: 2.5, strokeDasharray: dashes });
      }),
    ],
  }));
  const cellOf = (time: number | null | undefined) => time && formatDuration(time);
  const rows = steps.map((step, i) => [step, ...curves.map(({ times }) => cellOf(times[i]))]);
  const title = "Time per step over R";
  return figure(
    `${title}.`,
    markup`Few exchanges cost little, but ghost zones of R steps are computed twice. ${minimum}. Dashed: its parts (B2R, Eq. 2 to 4). Both devices compute at once, then they exchange copies; the rest is waiting.`,
    markup`<ul class="legend">${curves.map((curve) => markup`<li>${keyOf(curve)}${curve.name}</li>`)}</ul>`,
    chart,
    tableBehind(`${title} as a table`, table(title, numbers("R", ...curves.map(({ name }) => name)), rows)),
  );
}

/** What a step spends on computing (B2R, Eq. 2 and 3) and on copies (Eq. 4), at the best share of each R. */
function timesSpent(
  coefficients: ProfileCostModel["coefficients"],
  curve: ProfileCostModel["curve"],
  problem: Problem,
): Curve[] {
  const rounds = curve.map((point) => {
    const plan = planOfPair(problem, point), cpuCells = cellsOf(partOfRank(problem, plan, 0).grid);
    return predictRound(problem, plan, partCosts(costsOf(coefficients, cpuCells)));
  });
  const part = (name: string, dashes: string, timeNs: (cpu: PartRound, gpu: PartRound) => number): Curve => ({
    name,
    color: "var(--muted)",
    dashes,
    times: rounds.map(([cpu, gpu], i) => timeNs(cpu!, gpu!) / curve[i]!.exchangeEvery),
  });
  return [
    part("GPU computes", "6,3", (_, gpu) => gpu.roundNs),
    part("CPU computes", "8,3,2,3", (cpu) => cpu.computeNs),
    part("copies", "2,3", (cpu) => cpu.exchangeNs),
  ];
}

/** A curve's look in the legend. */
function keyOf({ color, dashes }: Curve): Html {
  const shape = dashes === undefined
    ? `<circle cx="12" cy="6" r="5" fill="${color}"/>`
    : `<path d="M0,6h24" stroke="${color}" stroke-width="3" stroke-dasharray="${dashes}"/>`;
  return new Html(`<svg class="key line" viewBox="0 0 24 12" aria-hidden="true">${shape}</svg>`);
}
