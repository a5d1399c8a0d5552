import * as Plot from "@observablehq/plot";
import { formatBandwidth, formatCount, formatPercent, formatRate } from "../format.ts";
import { ACCENT_TEXT, drawChart, figure, type Layout, legend, RING, styleOf, WIDTHS } from "./chart.ts";
import { bytesOf, type EntryView, type Point } from "./entry_view.ts";
import { type Html, markup, numbers, table, tableBehind } from "./html.ts";
import { gcells as gcellsOf } from "./words.ts";

/** Above this many points, those that fall on one spot are drawn once, darker. */
const MAX_POINTS = 800;

/** Side of a spot, in CSS pixels. */
const SPOT = 3;

/** A point in the chart, or several on one spot. */
interface Spot {
  readonly updatesPerByte: number;
  readonly gcells: number;
  readonly series: string;
  readonly count: number;
}

/**
 * The roofline: rate over cell updates per byte, both logarithmic, with the line that the copy bandwidth allows
 * (Williams, Waterman, Patterson, CACM 2009, 52(4)). Where no roof is known it says why.
 */
export function rooflineFigure(view: EntryView): Html {
  const { points, copyBytesPerSecond, winner } = view;
  const placed = points.filter((point) => point.demand !== undefined);
  if (placed.length === 0 || copyBytesPerSecond === null) {
    const why = copyBytesPerSecond === null
      ? "the profile has no copy bandwidth"
      : "Facet does not know how many bytes these kernels move";
    return figure("Roofline", markup`cannot be drawn: ${why}.`);
  }
  const left = points.length - placed.length;
  const names = view.series.filter((name) => placed.some(({ series }) => series === name));
  const reached = winner.roof &&
    `The fastest reaches ${formatPercent(winner.cellsPerSecond / winner.roof)} of it.`;
  const label =
    `Roofline: ${formatCount(placed.length)} configurations, rate over cell updates per byte, below the ` +
    `line that ${formatBandwidth(copyBytesPerSecond)} of memory bandwidth allows. ${reached ?? ""}`;
  const hasWinner = placed.includes(winner);
  const marked = hasWinner ? ["the fastest"] : [];
  if (placed.some(({ isTied }) => isTied)) {
    marked.push(`those that tie with ${hasWinner ? "it" : "the fastest"}`);
  }
  const ring = marked.length === 0 ? "" : ` A ring marks ${marked.join(" and ")}.`;
  const others = left > 0 ? ` Not in it: ${formatCount(left)} with the CPU, or of unknown kernels.` : "";
  const chart = drawChart(label, (layout) => options(placed, { view, layout, names }));
  return figure(
    "Roofline.",
    markup`Each mark is a measured configuration; the line is what copying ${
      formatBandwidth(copyBytesPerSecond)
    } allows. Farther right: fewer bytes per cell update. Farther below the line: more of the time is lost to something else than memory.${ring}${others}`,
    legend(view.series, names),
    chart,
    tableBehind("Roofline as a table, by traversal", byTraversal(placed, names)),
  );
}

function options(
  placed: readonly Point[],
  { view, layout, names }: { view: EntryView; layout: Layout; names: readonly string[] },
): Plot.PlotOptions {
  const bandwidth = view.copyBytesPerSecond! / 1e9;
  const spotOf = ({ demand, cellsPerSecond, series }: Point): Spot => ({
    updatesPerByte: 1 / bytesOf(demand!),
    gcells: cellsPerSecond / 1e9,
    series,
    count: 1,
  });
  const all = placed.map(spotOf);
  const height = layout === "wide" ? 420 : 320;
  const [lowest, highest] = extentOf(all.map(({ updatesPerByte }) => updatesPerByte));
  const [slowest, fastest] = extentOf(all.map(({ gcells }) => gcells));
  const x: [number, number] = [lowest / 1.3, highest * 1.6];
  const y: [number, number] = [slowest / 1.3, Math.max(x[1] * bandwidth, fastest) * 1.1];
  const spots = all.length > MAX_POINTS ? merge(all, { x, y, width: WIDTHS[layout], height }) : all;
  const [, most] = extentOf(spots.map(({ count }) => count));
  const marked = placed.filter(({ isWinner, isTied }) => isWinner || isTied);
  const compact = layout === "narrow";
  const middle = Math.sqrt(x[0] * x[1]);
  const at = { x: "updatesPerByte", y: "gcells" } as const;
  const { winner } = view;
  const isNearLine = winner.roof !== undefined && winner.cellsPerSecond > 0.85 * winner.roof;
  return {
    height,
    marginLeft: 52,
    marginBottom: 42,
    marginRight: 16,
    x: {
      type: "log",
      domain: x,
      label: "cell updates per byte →",
      ticks: compact ? 3 : 6,
      tickFormat: ".3~g",
    },
    y: {
      type: "log",
      domain: y,
      label: "↑ Gcells/s",
      ticks: 5,
      tickFormat: (n: number) => n >= 1000 ? formatCount(n) : String(Number(n.toPrecision(3))),
      grid: true,
    },
    color: { type: "identity" },
    marks: [
      Plot.line(x.map((at) => [at, at * bandwidth]), { stroke: "var(--ink)", strokeWidth: 2 }),
      Plot.text([[middle, middle * bandwidth]], {
        text: () => formatBandwidth(bandwidth * 1e9),
        dy: -12,
        dx: -30,
        fill: "var(--ink)",
        fontWeight: 600,
      }),
      ...names.map((name) =>
        Plot.dot(spots.filter(({ series }) => series === name), {
          ...at,
          symbol: styleOf(view.series, name).symbol,
          fill: styleOf(view.series, name).color,
          r: all.length > MAX_POINTS ? SPOT : 4,
          fillOpacity: ({ count }: Spot) =>
            most === 1 ? 0.75 : Math.round(10 * (0.5 + 0.5 * Math.log1p(count) / Math.log1p(most))) / 10,
        })
      ),
      Plot.dot(marked.map(spotOf), { ...at, ...RING }),
      Plot.text(marked.filter(({ isWinner }) => isWinner).map(spotOf), {
        ...at,
        ...ACCENT_TEXT,
        text: ({ gcells }: Spot) => (compact ? gcellsOf : formatRate)(gcells * 1e9),
        // just below the line there is no room: the label goes above it, to the left, where the line is lower
        ...(isNearLine
          ? { dx: -6, dy: -18, textAnchor: "end" as const }
          : { dx: 12, dy: -12, textAnchor: "start" as const }),
        stroke: "var(--paper)",
        strokeWidth: 4,
      }),
    ],
  };
}

/** Points of one series that fall on the same spot become one. */
function merge(
  points: readonly Spot[],
  { x, y, width, height }: { x: [number, number]; y: [number, number]; width: number; height: number },
): Spot[] {
  const place = (value: number, [low, high]: [number, number], pixels: number): number =>
    Math.round(Math.log(value / low) / Math.log(high / low) * pixels / SPOT);
  const spots = new Map<string, Spot>();
  for (const point of points) {
    const key = `${place(point.updatesPerByte, x, width)},${place(point.gcells, y, height)},${point.series}`;
    const known = spots.get(key);
    spots.set(key, { ...(known ?? point), count: (known?.count ?? 0) + 1 });
  }
  return [...spots.values()];
}

/** The smallest and the largest of many numbers. */
function extentOf(values: readonly number[]): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function byTraversal(placed: readonly Point[], names: readonly string[]): Html {
  const rows = names.map((name) => {
    const own = placed.filter(({ series }) => series === name);
    const best = own[0]!;
    return [
      name,
      formatCount(own.length),
      formatRate(best.cellsPerSecond),
      `${bytesOf(best.demand!).toPrecision(3)} B`,
      best.roof === undefined ? "unknown" : formatRate(best.roof),
      best.roof === undefined ? "unknown" : formatPercent(best.cellsPerSecond / best.roof),
    ];
  });
  const titles = numbers("measured", "best rate", "moves per update", "its roof", "of its roof");
  return table(
    "The fastest configuration of each traversal against its roof",
    ["traversal", ...titles],
    rows,
  );
}
