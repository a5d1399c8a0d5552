import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { escapeHtml, Html, markup } from "./html.ts";

/** Width of a drawing, in CSS pixels. */
export const WIDTHS = { wide: 860, narrow: 360 } as const;

/** Which of the two drawings. */
export type Layout = keyof typeof WIDTHS;

const { document } = parseHTML("<html><body></body></html>") as unknown as Pick<Plot.PlotOptions, "document">;

/** Look of the circle around a point that a chart points out. */
export const RING = { r: 9, stroke: "var(--accent)", strokeWidth: 2.5 } as const;

/** Look of a text beside such a point. */
export const ACCENT_TEXT = { fill: "var(--accent)", fontWeight: 600 } as const;

/** Look of a chart's zero line. */
export const ZERO_LINE: Plot.Markish = Plot.ruleY([0], { stroke: "var(--ink)" });

/**
 * Draws a chart as static SVG: Observable Plot draws into a document without a browser. Every chart is drawn twice, for
 * wide pages and for phones; the page's style shows one. Colours are the page's variables, so that one drawing serves
 * both themes. A screen reader says `label` in its place.
 */
export function drawChart(
  label: string,
  draw: (layout: Layout) => Plot.PlotOptions,
  widths: Readonly<Record<Layout, number>> = WIDTHS,
): Html {
  const svg = (layout: Layout): Html => {
    const width = widths[layout];
    const element = Plot.plot({ document, width, style: { fontSize: "13px" }, ...draw(layout) });
    return new Html(finish(element.outerHTML, label));
  };
  return markup`
    <div class="wide">${svg("wide")}</div>
    <div class="narrow">${svg("narrow")}</div>
  `;
}

/** Names the drawing, drops the style that Plot repeats in each, and rounds coordinates to tenths of a pixel. */
function finish(svg: string, label: string): string {
  return svg
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replace(/^<svg\b/, `<svg role="img" aria-label="${escapeHtml(label)}"`)
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

/** Symbols of series, so that not only colour distinguishes them. */
const SYMBOLS = ["circle", "triangle", "square", "diamond", "star", "cross", "wye"] as const;

/** Colour and symbol of a series. */
export function styleOf(
  series: readonly string[],
  name: string,
): { color: string; symbol: typeof SYMBOLS[number] } {
  const index = Math.max(0, series.indexOf(name)) % SYMBOLS.length;
  return { color: `var(--series-${index})`, symbol: SYMBOLS[index]! };
}

/** SVG paths of the symbols, 12 × 12, for the legend. */
const SYMBOL_PATHS: Readonly<Record<typeof SYMBOLS[number], string>> = {
  circle: "M6,1.5a4.5,4.5 0 1,1 0,9a4.5,4.5 0 1,1 0,-9z",
  triangle: "M6,1L11,10.5L1,10.5z",
  square: "M2,2h8v8h-8z",
  diamond: "M6,0.5L10,6L6,11.5L2,6z",
  star: "M6,0.5L7.4,4.3L11.4,4.4L8.2,6.9L9.4,10.8L6,8.5L2.6,10.8L3.8,6.9L0.6,4.4L4.6,4.3z",
  cross: "M4.5,1h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
  wye: "M4.5,11v-4l-3.5,-2l1.5,-2.6l3.5,2l3.5,-2l1.5,2.6l-3.5,2v4z",
};

/** The legend of those series that a chart shows; the order of all gives colours and symbols. */
export function legend(series: readonly string[], shown: readonly string[] = series): Html {
  const items = shown.map((name) => {
    const { color, symbol } = styleOf(series, name);
    return markup`<li><svg class="key" viewBox="0 0 12 12" aria-hidden="true"><path d="${
      SYMBOL_PATHS[symbol]
    }" fill="${color}"/></svg>${name}</li>`;
  });
  return markup`<ul class="legend">${items}</ul>`;
}

/** A figure: a caption and what it describes. */
export function figure(title: string, caption: Html | string, ...content: readonly Html[]): Html {
  return markup`<figure><figcaption><strong>${title}</strong> ${caption}</figcaption>${content}</figure>`;
}
