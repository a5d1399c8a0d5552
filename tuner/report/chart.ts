import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { formatRate } from "../format.ts";
import { describeConfiguration } from "../profile/describe.ts";
import type { Mark } from "./entry_view.ts";
import { escapeHtml, Html, markup } from "./html.ts";
import { lookOf } from "./series.ts";

/** Width of a drawing, in CSS pixels. */
export const WIDTHS = { wide: 860, narrow: 360 } as const;

export type PageFormat = keyof typeof WIDTHS;

const { document } = parseHTML("<html><body></body></html>") as unknown as Required<
  Pick<Plot.PlotOptions, "document">
>;

/** Gcells in a cell: charts show rates in Gcells/s. */
export const GCELLS = 1e-9;

/**
 * Draws a chart as static SVG: Observable Plot draws into a document without a browser. Every chart is drawn twice, for
 * wide pages and for phones; the page's style shows one. Colours are the page's variables, so that one drawing serves
 * both themes. A screen reader says `label` in its place.
 */
export function drawChart(label: string, draw: (format: PageFormat) => Plot.PlotOptions): Html {
  const svg = (format: PageFormat): Html => {
    const width = WIDTHS[format];
    const element = Plot.plot({ document, width, style: { fontSize: "13px" }, ...draw(format) });
    return new Html(finish(element.outerHTML, label));
  };
  const drawings = (["wide", "narrow"] as const).map((format) => {
    const drawing = svg(format), hasMarks = drawing.text.includes(" data-name=");
    return markup`<div class="${format}"${hasMarks ? STEPS : ""}>${drawing}</div>`;
  });
  return markup`<div class="drawings">${drawings}<p role="status" hidden>${KEYS}</p></div>`;
}

/** What is said of a chart's marks until one is pointed at. */
const KEYS = "Point at a mark, or step through them with the arrow keys, to see its configuration.";

const STEPS = markup` tabindex="0" role="group" aria-label="${KEYS}"`;

/** How the label of a mark begins that the page's script names. */
const MARK = "mark: ";

/** Draws a chart as an SVG file of its own. */
export function drawSvg(label: string, options: Plot.PlotOptions): string {
  const svg = finish(Plot.plot({ document, style: { fontSize: "12px" }, ...options }).outerHTML, label);
  return svg.includes("xmlns=") ? svg : svg.replace(/^<svg\b/, '<svg xmlns="http://www.w3.org/2000/svg"');
}

/** Names the drawing, drops the style that Plot repeats in each, and rounds coordinates to tenths of a pixel. */
function finish(svg: string, label: string): string {
  return svg
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replace(/^<svg\b/, `<svg role="img" aria-label="${escapeHtml(label)}"`)
    .replaceAll(` aria-label="${MARK}`, ` data-name="`)
    .replace(
      / aria-(?:label|hidden|description)="[^"]*"/g,
      (attribute, at: number) => at < 40 ? attribute : "",
    )
    .replace(
      / (?:d|transform|x|y|x1|x2|y1|y2|cx|cy|r|width|height)="[^"]*"/g,
      (attribute) =>
        attribute.replace(/-?\d+\.\d+(?:e-?\d+)?/g, (number) => String(Math.round(Number(number) * 10) / 10)),
    );
}

/** Above MAX_POINTS points, those within a spot of SPOT CSS pixels are drawn once, but darker. */
const MAX_POINTS = 800, SPOT = 3;

/** Where a chart draws a point, in units of its axes. */
type Places<P> = Readonly<Record<"x" | "y", (point: P) => number | string>>;

/** The marks of points; `pixels` says where they are drawn, in CSS pixels. */
export function dotsOf<P extends Mark>(
  points: readonly P[],
  at: Places<P>,
  pixels: (point: P) => readonly number[],
): Plot.Markish[] {
  return [...Map.groupBy(points, ({ series }) => series)].map(([series, group]) => {
    const { color, mark } = lookOf(series);
    const spots = Map.groupBy(
      group,
      (point, i) =>
        points.length > MAX_POINTS ? pixels(point).map((at) => Math.round(at / SPOT)).join() : `${i}`,
    );
    return Plot.dot([...spots.values()], {
      x: ([point]: P[]) => at.x(point!),
      y: ([point]: P[]) => at.y(point!),
      symbol: mark,
      fill: color,
      r: 4,
      ariaLabel: ([{ cellsPerSecond, configuration }, ...others]: [Mark]) =>
        `${MARK}${formatRate(cellsPerSecond)}: ${describeConfiguration(configuration)}` +
        (others.length > 0 ? `, and ${others.length} more here` : ""),
      // what the search alone saw is paler
      fillOpacity: ({ length, 0: point }: Mark[]) =>
        Math.min(0.95, Math.round((point!.isFinal ? 95 : 35) + 10 * Math.log2(length)) / 100),
    });
  });
}

/** Rings around the chosen point and those that tie with it. */
export function ringsOf(points: readonly Mark[], at: Places<Mark>): Plot.Markish {
  const ringed = points.filter(({ isWinner, isTied }) => isWinner || isTied);
  return Plot.dot(ringed, { ...at, r: 9, stroke: "var(--accent)", strokeWidth: 2.5 });
}

/** Ticks of a logarithmic axis that label all of its range: 1, 2 and 5 of each decade, or more where it is short. */
export function logTicks([low, high]: readonly [number, number], most: number): number[] {
  const grids = [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]];
  const lowest = Math.floor(Math.log10(low)), count = Math.ceil(Math.log10(high)) - lowest + 1;
  const powers = Array.from({ length: count }, (_, i) => lowest + i);
  const all = grids.map((grid) =>
    powers.flatMap((power) => grid.map((digit) => Number(`${digit}e${power}`)))
      .filter((tick) => tick >= low && tick <= high)
  );
  return all.find((ticks) => ticks.length <= most) ?? all.at(-1)!;
}
