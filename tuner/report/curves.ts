import * as Plot from "@observablehq/plot";
import { ACCENT_TEXT, drawChart, figure, RING, ZERO_LINE } from "./chart.ts";
import { type Hole, Html, markup, numbers, table, tableBehind } from "./html.ts";

/** Dashes of a line, so that colour is not all that distinguishes curves; marks have no line. */
const DASHES = { line: "", dashed: "6,3", dotted: "2,3", marks: undefined } as const;

/** One curve. */
export interface Curve {
  readonly name: string;
  readonly kind: keyof typeof DASHES;
  /** Its colour: `--series-N` of the page's style. */
  readonly series: number;
  readonly points: readonly Place[];
}

/** A point of a curve. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** What a figure of curves says. */
interface CurvesOptions {
  readonly title: string;
  readonly caption: Html | string;
  /** What a screen reader says in the chart's place. */
  readonly label: string;
  readonly x: { readonly label: string; readonly isLogarithmic?: boolean };
  /** Axis of the values, in some unit, and a value with its unit in words. */
  readonly y: { readonly label: string; readonly unit: number; readonly format: (value: number) => string };
  /** A vertical line. @default {none} */
  readonly markedX?: number;
  /** A ring around a point, and its text. @default {none} */
  readonly ring?: Place & { readonly text: string };
  /** Further columns of the table, after x. @default {none} */
  readonly columns?: readonly (readonly [title: string, cell: (x: number) => Hole])[];
}

/** Draws curves over one variable, with their legend and the same numbers as a table. One x shows as marks. */
export function curvesFigure(curves: readonly Curve[], options: CurvesOptions): Html {
  const { title, caption, label, x, y, markedX, ring, columns = [] } = options;
  const places = curves.flatMap(({ points }) => points);
  const xs = [...new Set(places.map((place) => place.x))].sort((a, b) => a - b);
  const highest = Math.max(...places.map((place) => place.y)) / y.unit;
  const inUnit = (place: Place): Place => ({ x: place.x, y: place.y / y.unit });
  const chart = drawChart(label, (layout) => ({
    height: layout === "wide" ? 280 : 250,
    marginLeft: 60,
    marginBottom: 42,
    marginRight: 24,
    x: {
      label: `${x.label} →`,
      ticks: xs.length > (layout === "wide" ? 16 : 8) ? 6 : xs,
      tickFormat: "~g",
      ...(x.isLogarithmic ? { type: "log", base: 2 } : { type: "linear" }),
    },
    y: { label: `↑ ${y.label}`, domain: [0, 1.08 * highest], grid: true, ticks: 5 },
    color: { type: "identity" },
    marks: [
      ZERO_LINE,
      ...(markedX === undefined
        ? []
        : [Plot.ruleX([markedX], { stroke: "var(--accent)", strokeDasharray: "3,3" })]),
      ...curves.map((curve) => draw({ ...curve, points: curve.points.map(inUnit) })),
      ...(ring === undefined ? [] : ringMarks(inUnit(ring), ring.text)),
    ],
  }));
  const rows = xs.map((at) => [
    at,
    ...columns.map(([, cell]) => cell(at)),
    ...curves.map(({ points }) => {
      const place = points.find((place) => place.x === at);
      return place === undefined ? "–" : y.format(place.y);
    }),
  ]);
  const titles = [x.label, ...columns.map(([title]) => title), ...curves.map(({ name }) => name)];
  const behind = table(title, numbers(...titles), rows);
  return figure(`${title}.`, caption, legendOf(curves), chart, tableBehind(`${title} as a table`, behind));
}

function draw({ kind, series, points }: Curve): Plot.Markish {
  const color = `var(--series-${series})`;
  const dashes = DASHES[kind];
  return dashes === undefined || points.length === 1
    ? Plot.dot(points, { x: "x", y: "y", fill: color, r: 5, symbol: "square" })
    : Plot.line(points, { x: "x", y: "y", stroke: color, strokeWidth: 2.5, strokeDasharray: dashes });
}

function ringMarks(place: Place, text: string): Plot.Markish[] {
  const at = { x: "x", y: "y" } as const;
  return [
    Plot.dot([place], { ...at, ...RING }),
    Plot.text([place], {
      ...at,
      ...ACCENT_TEXT,
      text: () => text,
      dy: 22,
      stroke: "var(--panel)",
      strokeWidth: 4,
    }),
  ];
}

function legendOf(curves: readonly Curve[]): Html {
  return markup`<ul class="legend">${
    curves.map(({ name, kind, series }) => {
      const color = `var(--series-${series})`, dashes = DASHES[kind];
      const key = dashes === undefined
        ? `<path d="M2,2h8v8h-8z" fill="${color}"/>`
        : `<path d="M0,6h24" stroke="${color}" stroke-width="3" stroke-dasharray="${dashes}"/>`;
      const [width, shape] = dashes === undefined ? [12, "key"] : [24, "key line"];
      return markup`<li><svg class="${shape}" viewBox="0 0 ${width} 12" aria-hidden="true">${new Html(
        key,
      )}</svg>${name}</li>`;
    })
  }</ul>`;
}
