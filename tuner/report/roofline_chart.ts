import * as Plot from "@observablehq/plot";
import { formatBandwidth, formatCount, formatPercent, formatRate } from "../format.ts";
import { ACCENT_TEXT, dotsOf, drawChart, GCELLS, type Layout, logTicks, ringsOf, WIDTHS } from "./chart.ts";
import { deviceOf, type EntryView, type Point, roofFraction } from "./entry_view.ts";
import { figure, type Html, markup, tableBehind } from "./html.ts";
import { localitiesOf, type Locality, localityTable } from "./localities.ts";
import { legend, lookOf } from "./series.ts";
import { ABOVE_ROOF } from "./words.ts";

/**
 * The roofline: rate over the bytes that a cell update moves, both logarithmic, with the line that the copy bandwidth
 * allows (Williams, Waterman, Patterson, CACM 2009, 52(4)). On the line lie the localities of DiamondTorre, as in Fig. 7
 * of Levchenko et al. (2016). Nothing where no roof is known.
 */
export function rooflineFigure(view: EntryView): Html | "" {
  const { points, best, bandwidths, winner } = view;
  const isPlaced = (point: Point): boolean =>
    point.bytes !== undefined && bandwidths[deviceOf(point)] !== null;
  const placed = points.filter(isPlaced);
  if (placed.length === 0) return "";
  const left = points.length - placed.length;
  const lines = linesOf(placed, bandwidths).map(([device, line]) =>
    `${formatBandwidth(line)} on the ${device}`
  )
    .join(" and ");
  const fraction = placed.includes(winner) ? roofFraction(winner) : undefined;
  const above = fraction !== undefined && fraction > 1 ? `: ${ABOVE_ROOF}` : "";
  const reached = fraction === undefined
    ? ""
    : ` The chosen one reaches ${formatPercent(fraction)} of its roof${above}.`;
  const label =
    `Roofline: ${formatCount(placed.length)} configurations, rate over bytes moved per cell update, ` +
    `below what copies of ${lines} allow.${reached}`;
  const localities = localitiesOf(view);
  const onLine = localities.length === 0
    ? ""
    : " The rings on the line are the localities of one step at a time " +
      "and of torres by tile size (DTS) on an endless grid: Eq. 4 and 6 and Fig. 7 of Levchenko et al., 2016.";
  const others = left > 0 ? ` Not in it: ${formatCount(left)} whose traffic or bandwidth is not known.` : "";
  return figure(
    "Roofline.",
    markup`A line is what copies allow: ${lines}. Farther right: fewer bytes per cell update. Farther below the line: more of the time is lost to something else than memory.${reached}${onLine}${others}`,
    legend(best.filter(isPlaced).map(({ series }) => series)),
    drawChart(label, (layout) => options(placed, { view, layout, localities })),
    localities.length === 0 ? "" : tableBehind("Localities as a table", localityTable(view)),
  );
}

function options(
  placed: readonly Point[],
  { view, layout, localities }: { view: EntryView; layout: Layout; localities: readonly Locality[] },
): Plot.PlotOptions {
  const lines = linesOf(placed, view.bandwidths).map(([, line]) => line * GCELLS),
    bandwidth = Math.max(...lines);
  const wide = layout === "wide";
  const width = WIDTHS[layout], height = wide ? 440 : 340;
  const at = { x: ({ bytes }: Point) => 1 / bytes!, y: (point: Point) => point.cellsPerSecond * GCELLS };
  const onLine = { x: ({ bytes }: Locality) => 1 / bytes, y: ({ bytes }: Locality) => bandwidth / bytes };
  const [least, most] = extentOf(placed.map(at.x)), [slowest, fastest] = extentOf(placed.map(at.y));
  // on the right there is room for what is said of the chosen one
  const x = [least / 1.4, most * (wide ? 1.7 : 2.5)] as const;
  const y = [slowest / 1.3, Math.max(x[1] * bandwidth, fastest) * 1.15] as const;
  const place = (value: number, [low, high]: readonly [number, number], size: number): number =>
    Math.log(value / low) / Math.log(high / low) * size;
  const pixels = (point: Point) => [place(at.x(point), x, width), place(at.y(point), y, height)] as const;
  const chosen = placed.filter(({ isWinner, roof }) => isWinner && roof !== undefined);
  // beside the chosen one if nothing else lies there
  const isFree = chosen.every((one) =>
    placed.every((other) => {
      const right = pixels(other)[0] - pixels(one)[0], up = pixels(other)[1] - pixels(one)[1];
      return other === one || right < 0 || right > 140 || Math.abs(up) > 24;
    })
  );
  const inside = localities.filter(({ bytes }) => 1 / bytes > x[0] && 1 / bytes < x[1]);
  const named = inside.filter(({ isKey }) => wide || isKey);
  const halo = { stroke: "var(--panel)", strokeWidth: 4 } as const;
  const names = { ...onLine, ...halo, text: "name", fill: "var(--ink)" } as const;
  return {
    height,
    marginLeft: 52,
    marginBottom: 42,
    marginRight: 16,
    marginTop: 26,
    x: {
      type: "log",
      domain: [...x],
      label: "bytes moved per cell update, fewer →",
      ticks: logTicks([1 / x[1], 1 / x[0]], wide ? 12 : 6).map((bytes) => 1 / bytes),
      tickFormat: (updates: number) => String(Number((1 / updates).toPrecision(2))),
    },
    y: {
      type: "log",
      domain: [...y],
      label: "↑ Gcells/s",
      ticks: logTicks(y, wide ? 10 : 8),
      tickFormat: (rate: number) => rate >= 1000 ? formatCount(rate) : String(rate),
      grid: true,
    },
    color: { type: "identity" },
    marks: [
      ...lines.map((line) =>
        Plot.line(x.map((updates) => [updates, updates * line]), { stroke: "var(--ink)", strokeWidth: 2 })
      ),
      Plot.dot(inside, {
        ...onLine,
        r: 4,
        fill: "var(--panel)",
        stroke: ({ series }: Locality) => lookOf(series).color,
        strokeWidth: 2,
      }),
      Plot.text(named.slice(0, 1), { ...names, textAnchor: "start", dx: 8, dy: 12 }),
      Plot.text(named.slice(1), { ...names, textAnchor: "end", dx: -8, dy: -8 }),
      ...dotsOf(placed, at, pixels),
      Plot.link(chosen, {
        x: at.x,
        y1: at.y,
        y2: ({ roof }: Point) => roof! * GCELLS,
        stroke: "var(--accent)",
        strokeWidth: 2,
        strokeDasharray: "4,3",
      }),
      ringsOf(placed, at),
      Plot.text(chosen, {
        ...(isFree ? { ...at, dx: 14, textAnchor: "start" } : { y: at.y, frameAnchor: "right" }),
        ...ACCENT_TEXT,
        ...halo,
        text: (point: Point) =>
          `${formatRate(point.cellsPerSecond)},\n${formatPercent(roofFraction(point)!)} of its roof`,
      }),
    ],
  };
}

/** The devices of these points, with the bandwidth of their copies. */
function linesOf(
  placed: readonly Point[],
  bandwidths: EntryView["bandwidths"],
): [device: string, line: number][] {
  return (["GPU", "CPU"] as const).flatMap((device): [string, number][] => {
    const line = bandwidths[device];
    return line !== null && placed.some((point) => deviceOf(point) === device) ? [[device, line]] : [];
  });
}

/** The smallest and the largest of many numbers. */
function extentOf(values: readonly number[]): [number, number] {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, 0]);
}
