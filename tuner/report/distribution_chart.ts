import * as Plot from "@observablehq/plot";
import { formatCount, formatPercent, formatRate } from "../format.ts";
import { ACCENT_TEXT, drawChart, figure, legend, styleOf, ZERO_LINE } from "./chart.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Html, markup, numbers, table, tableBehind } from "./html.ts";

/** Bars of the histogram. */
const BINS = 40;

interface Bin {
  readonly low: number;
  readonly high: number;
  readonly series: string;
  readonly count: number;
}

/** How the rates of all measured configurations are distributed, with the winner and its tie set marked. */
export function distributionFigure(view: EntryView): Html {
  const { points, series, winner } = view;
  const top = points[0]!.cellsPerSecond / 1e9;
  const bins = binsOf(view, top);
  const best = [winner.cellsPerSecond / 1e9];
  const tied = points.filter(({ isTied }) => isTied);
  const near = points.filter(({ cellsPerSecond }) => cellsPerSecond >= 0.95 * winner.cellsPerSecond).length;
  const label = `Histogram of ${formatCount(points.length)} rates up to ${formatRate(top * 1e9)}; ` +
    `${formatCount(near)} within 5% of the fastest; ${formatCount(tied.length + 1)} in the tie set.`;
  const chart = drawChart(label, (layout) => ({
    height: layout === "wide" ? 300 : 260,
    marginLeft: 48,
    marginBottom: 42,
    marginTop: 34,
    x: { label: "Gcells/s →", domain: [0, top * 1.02], ticks: layout === "wide" ? 9 : 5 },
    y: {
      label: "↑ configurations",
      grid: true,
      ticks: 5,
      tickFormat: (n: number) => Number.isInteger(n) ? formatCount(n) : "",
    },
    color: { type: "identity" },
    marks: [
      Plot.rectY(bins, {
        x1: "low",
        x2: "high",
        y: "count",
        fill: ({ series: name }: Bin) => styleOf(series, name).color,
        insetLeft: 0.5,
        insetRight: 0.5,
      }),
      ZERO_LINE,
      Plot.ruleX(tied, {
        x: ({ cellsPerSecond }: Point) => cellsPerSecond / 1e9,
        stroke: "var(--accent)",
        strokeWidth: 1,
        strokeDasharray: "3,3",
      }),
      Plot.ruleX(best, { stroke: "var(--accent)", strokeWidth: 2 }),
      Plot.text(best, {
        x: (gcells: number) => gcells,
        frameAnchor: "top",
        dy: -20,
        dx: 2,
        textAnchor: "end",
        text: () => tied.length === 0 ? "fastest" : `fastest, ${tied.length} tied (dashed)`,
        ...ACCENT_TEXT,
      }),
    ],
  }));
  const rows = [...Map.groupBy(bins, ({ low, high }) => `${low.toPrecision(3)} to ${high.toPrecision(3)}`)]
    .map(([rates, group]) => [
      rates,
      formatCount(group.reduce((sum, { count }) => sum + count, 0)),
      group.map(({ series: name, count }) => `${formatCount(count)} ${name}`).join(", "),
    ]);
  const columns = ["Gcells/s", ...numbers("configurations"), "of which"];
  return figure(
    "The whole space.",
    markup`How many configurations ran at which rate. ${formatCount(near)} of ${
      formatCount(points.length)
    } (${formatPercent(near / points.length)}) are within 5% of the fastest.`,
    legend(series),
    chart,
    tableBehind("Distribution as a table", table("Configurations by rate", columns, rows)),
  );
}

/** Counts by rate and series; empty ones left out. */
function binsOf({ points }: EntryView, top: number): Bin[] {
  const width = top / BINS;
  const bins = new Map<string, Bin>();
  for (const { cellsPerSecond, series } of points) {
    const index = Math.min(BINS - 1, Math.floor(cellsPerSecond / 1e9 / width));
    const key = `${index} ${series}`;
    bins.set(key, {
      low: index * width,
      high: (index + 1) * width,
      series,
      count: (bins.get(key)?.count ?? 0) + 1,
    });
  }
  return [...bins.values()].sort((a, b) => a.low - b.low);
}
