import * as Plot from "@observablehq/plot";
import { formatCount, formatDuration, formatPercent } from "../format.ts";
import { drawChart } from "./chart.ts";
import type { EntryView } from "./entry_view.ts";
import { figure, type Html, markup, numbers, table, tableBehind } from "./html.ts";

/** How the grid was shared, and what it cost; nothing if it was not. */
export function sharing(view: EntryView): Html | "" {
  const figures = [balanceFigure(view), costFigure(view)].filter((figure) => figure !== "");
  return figures.length === 0 ? "" : markup`<h3>Sharing with the CPU</h3>${figures}`;
}

/** The iterations of Eq. 8 of Liu and Perumalla (B2R). */
function balanceFigure({ entry: { balance, configuration: { share } } }: EntryView): Html | "" {
  if (balance.length === 0) return "";
  const total = share.cpuSlices + share.gpuSlices, part = formatPercent(share.cpuSlices / total);
  const verdict = share.cpuSlices === 0
    ? "No share was faster than the GPU alone"
    : share.gpuSlices === 0
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

/** The time of a step over R, the steps between two exchanges: the model's curve, and what was measured. */
function costFigure({ entry: { costModel } }: EntryView): Html | "" {
  const curve = costModel?.curve.toSorted((a, b) => a.exchangeEvery - b.exchangeEvery) ?? [];
  const [best] = curve.toSorted((a, b) => a.predictedNs - b.predictedNs);
  if (best === undefined || curve.length < 2) return "";
  const measured = curve.filter(({ measuredNs }) => measuredNs !== null);
  const minimum = `The model has its minimum of ${
    formatDuration(best.predictedNs)
  } at R = ${best.exchangeEvery}`;
  const label = `Time of one step over R. ${minimum}; ${measured.length} values of R were measured.`;
  const highest = Math.max(
    ...curve.map(({ predictedNs, measuredNs }) => Math.max(predictedNs, measuredNs ?? 0)),
  );
  const [unit, size] = highest >= 1e6 ? ["ms", 1e6] as const : ["µs", 1e3] as const;
  const look = { x: "exchangeEvery", fill: "var(--ink)", stroke: "var(--ink)" } as const;
  const chart = drawChart(label, (layout) => ({
    height: layout === "wide" ? 280 : 250,
    marginLeft: 60,
    marginBottom: 42,
    marginRight: 24,
    marginTop: 28,
    x: {
      label: "R, steps between two exchanges →",
      ticks: curve.length > (layout === "wide" ? 16 : 8)
        ? 6
        : curve.map(({ exchangeEvery }) => exchangeEvery),
      tickFormat: "~g",
      type: "log",
      base: 2,
    },
    y: { label: `↑ ${unit} a step`, zero: true, nice: true, grid: true, ticks: 5 },
    marks: [
      Plot.ruleY([0], { stroke: "var(--ink)" }),
      Plot.ruleX([best.exchangeEvery], { stroke: "var(--accent)", strokeDasharray: "3,3" }),
      Plot.line(curve, {
        ...look,
        y: ({ predictedNs }) => predictedNs / size,
        fill: "none",
        strokeWidth: 2.5,
      }),
      Plot.dot(measured, { ...look, y: ({ measuredNs }) => measuredNs! / size, r: 5 }),
    ],
  }));
  const rows = curve.map(({ exchangeEvery, predictedNs, measuredNs }) => [
    exchangeEvery,
    formatDuration(predictedNs),
    measuredNs && formatDuration(measuredNs),
  ]);
  const title = "Time per step over R";
  return figure(
    `${title}.`,
    `Few exchanges cost little, but ghost zones of R steps are computed twice. ${minimum}. Line: the model (B2R, Eq. 1 to 7); dots: measured.`,
    chart,
    tableBehind(`${title} as a table`, table(title, numbers("R", "model", "measured"), rows)),
  );
}
