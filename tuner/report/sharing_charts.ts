/**
 * How the grid is shared with the CPU: the iterations of the balance, and the time of a step over R.
 *
 * @module
 */
import * as Plot from "@observablehq/plot";
import { formatCount, formatDuration, formatPercent } from "../format.ts";
import { drawChart, figure } from "./chart.ts";
import type { EntryView } from "./entry_view.ts";
import { Html, markup, table, tableBehind } from "./html.ts";

const CPU = "var(--series-1)";
const GPU = "var(--series-0)";

/** Keys of a legend: SVG paths, 12 × 12. */
const KEYS = {
  line: `<path d="M0,6h12" stroke="${GPU}" stroke-width="3"/>`,
  dashed: `<path d="M0,6h12" stroke="${CPU}" stroke-width="3" stroke-dasharray="4,2"/>`,
  square: `<path d="M2,2h8v8h-8z" fill="${CPU}"/>`,
} as const;

/** The legend of a line and what stands beside it. */
function legendOf(items: readonly [key: keyof typeof KEYS, name: string][]): Html {
  const key = (name: keyof typeof KEYS): Html =>
    new Html(`<svg class="key" viewBox="0 0 12 12" aria-hidden="true">${KEYS[name]}</svg>`);
  return markup`<ul class="legend">${items.map(([name, text]) => markup`<li>${key(name)}${text}</li>`)}</ul>`;
}

/** The iterations of Eq. 8 of Liu and Perumalla's B2R. */
export function balanceFigure({ entry: { balance } }: EntryView): Html {
  const title = "Balance of CPU and GPU";
  if (balance.length === 0) return figure(title, "was not tried in this run: there are no iterations.");
  const rows = balance.map((step, i) => ({
    ...step,
    name: `${i + 1}`,
    gpuMs: step.gpuTimeNs / 1e6,
    cpuMs: step.cpuTimeNs / 1e6,
  }));
  const longest = Math.max(...rows.flatMap(({ gpuMs, cpuMs }) => [gpuMs, cpuMs]));
  const last = balance[balance.length - 1];
  const label =
    `Times of CPU and GPU in ${balance.length} iterations; at the end the CPU has ${last.cpuSlices} slices, ` +
    `the GPU ${last.gpuSlices}.`;
  const chart = drawChart(label, (layout) => ({
    height: layout === "wide" ? 260 : 240,
    marginLeft: 52,
    marginBottom: 42,
    x: { type: "point", domain: rows.map(({ name }) => name), label: "iteration →" },
    y: { label: "↑ ms for the same steps", domain: [0, 1.06 * longest], grid: true, ticks: 5 },
    color: { type: "identity" },
    marks: [
      Plot.ruleY([0], { stroke: "var(--ink)" }),
      Plot.line(rows, { x: "name", y: "gpuMs", stroke: GPU, strokeWidth: 2.5 }),
      Plot.line(rows, { x: "name", y: "cpuMs", stroke: CPU, strokeWidth: 2.5, strokeDasharray: "6,3" }),
      Plot.dot(rows, { x: "name", y: "gpuMs", fill: GPU, r: 5 }),
      Plot.dot(rows, { x: "name", y: "cpuMs", fill: CPU, r: 5, symbol: "square" }),
    ],
  }));
  const total = last.cpuSlices + last.gpuSlices;
  const verdict = last.cpuSlices === 0
    ? "It ended with all slices on the GPU: no share of the CPU would have paid."
    : last.gpuSlices === 0
    ? "It ended with all slices on the CPU: no share of the GPU would have paid."
    : `It ended with ${formatCount(last.cpuSlices)} of ${formatCount(total)} slices on the CPU (${
      formatPercent(last.cpuSlices / total)
    }).`;
  const behind = table(
    "Iterations of the balance",
    [
      { title: "iteration", isNumber: true },
      { title: "GPU slices", isNumber: true },
      { title: "CPU slices", isNumber: true },
      { title: "GPU time", isNumber: true },
      { title: "CPU time", isNumber: true },
    ],
    rows.map(({ name, gpuSlices, cpuSlices, gpuTimeNs, cpuTimeNs }) => [
      name,
      formatCount(gpuSlices),
      formatCount(cpuSlices),
      formatDuration(gpuTimeNs),
      formatDuration(cpuTimeNs),
    ]),
  );
  return figure(
    `${title}.`,
    markup`Slices move until both take equally long (B2R, Eq. 8). ${verdict}`,
    legendOf([["line", "GPU"], ["dashed", "CPU"]]),
    chart,
    tableBehind("Balance as a table", behind),
  );
}

/** The time of a step over R, the steps between two exchanges. */
export function costFigure({ costModel }: EntryView): Html {
  const title = "Time per step over R";
  if (costModel === undefined || costModel.curve.length === 0) {
    return figure(
      title,
      "is not known: this profile has no cost model of the exchange, because no run measured it.",
    );
  }
  const curve = costModel.curve.toSorted((a, b) => a.exchangeEvery - b.exchangeEvery)
    .map((point) => ({
      ...point,
      predictedUs: point.predictedNs / 1e3,
      measuredUs: point.measuredNs === null ? null : point.measuredNs / 1e3,
    }));
  const best = curve.reduce((one, other) => other.predictedNs < one.predictedNs ? other : one);
  const highest = Math.max(...curve.flatMap(({ predictedUs, measuredUs }) => [predictedUs, measuredUs ?? 0]));
  const measured = curve.filter(({ measuredNs }) => measuredNs !== null);
  const label =
    `Time of one step over R: the model has its minimum of ${formatDuration(best.predictedNs)} at R = ` +
    `${best.exchangeEvery}; ${measured.length} values of R were measured.`;
  const isWide = curve[curve.length - 1].exchangeEvery > 16 * curve[0].exchangeEvery;
  const chart = drawChart(label, (layout) => ({
    height: layout === "wide" ? 280 : 250,
    marginLeft: 60,
    marginBottom: 42,
    x: {
      type: isWide ? "log" : "linear",
      base: 2,
      label: "R, steps between two exchanges →",
      tickFormat: "~g",
      ticks: layout === "wide" ? 8 : 5,
    },
    y: { label: "↑ µs a step", domain: [0, 1.06 * highest], grid: true, ticks: 5 },
    color: { type: "identity" },
    marks: [
      Plot.line(curve, { x: "exchangeEvery", y: "predictedUs", stroke: GPU, strokeWidth: 2.5 }),
      Plot.dot(measured, { x: "exchangeEvery", y: "measuredUs", fill: CPU, r: 5, symbol: "square" }),
      Plot.ruleX([best.exchangeEvery], { stroke: "var(--accent)", strokeDasharray: "3,3" }),
    ],
  }));
  const behind = table(
    "Time of a step by R",
    [
      { title: "R", isNumber: true },
      { title: "model", isNumber: true },
      { title: "measured", isNumber: true },
    ],
    curve.map(({ exchangeEvery, predictedNs, measuredNs }) => [
      exchangeEvery,
      formatDuration(predictedNs),
      measuredNs === null ? "not measured" : formatDuration(measuredNs),
    ]),
  );
  return figure(
    `${title}.`,
    markup`Few exchanges cost little, but ghost zones of R steps are computed twice. The model has its minimum at R = ${best.exchangeEvery}.`,
    legendOf([["line", "model"], ["square", "measured"]]),
    chart,
    tableBehind("Time per step as a table", behind),
  );
}
