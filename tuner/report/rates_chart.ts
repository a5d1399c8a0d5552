import * as Plot from "@observablehq/plot";
import { formatCount, formatFactor, formatPercent, formatPlural, formatRate } from "../format.ts";
import { dotsOf, drawChart, GCELLS, logTicks, ringsOf, WIDTHS } from "./chart.ts";
import { type EntryView, type Mark, roofFraction } from "./entry_view.ts";
import { figure, type Html, numbers, table, tableBehind } from "./html.ts";
import { lookOf } from "./series.ts";
import { intervalWords } from "./words.ts";

/** Height of a row, in CSS pixels: a name, and the marks below it. */
const ROW = 54;

/** Roofs further to the right than this, in rates of the fastest, are left to the table. */
const FARTHEST = 1.6;

/** An axis is logarithmic where the fastest is more than this many times the slowest. */
export const FAR_APART = 30;

/** The rates of all that was measured, a row for each traversal, the fastest first. */
export function ratesFigure({ points, best, winner, stepwise }: EntryView): Html {
  const top = points[0]!.cellsPerSecond;
  const near = points.filter(({ cellsPerSecond }) => cellsPerSecond >= 0.95 * winner.cellsPerSecond).length;
  const roofs = best.filter(({ roof = Infinity }) => roof <= FARTHEST * top);
  const end = GCELLS * 1.02 * Math.max(top, ...roofs.map(({ roof }) => roof!));
  const slowest = GCELLS * best.at(-1)!.cellsPerSecond, isLog = end > FAR_APART * slowest;
  const start = isLog ? slowest / 3 : 0, scale = { label: "Gcells/s →", domain: [start, end], grid: true };
  const shown = points.filter(({ cellsPerSecond }) => cellsPerSecond * GCELLS >= start);
  const isTied = points.some(({ isTied }) => isTied);
  const factorOf = ({ cellsPerSecond, isFinal, isWinner }: Mark): string | undefined =>
    stepwise === undefined || !isFinal
      ? undefined
      : isWinner && stepwise.isTied
      ? "ties"
      : formatFactor(cellsPerSecond / stepwise.cellsPerSecond);
  const besideStepwise = (point: Mark): string => {
    const factor = factorOf(point);
    return factor === undefined
      ? "once, in the search"
      : factor === "ties"
      ? "ties with stepwise"
      : `${factor} stepwise`;
  };
  const most = best.map(({ series, cellsPerSecond }) => `${series} up to ${formatRate(cellsPerSecond)}`);
  const label = `Rates of ${formatPlural(points.length, "configuration")}: ${most.join(", ")}.`;
  const at = { x: (mark: Mark) => mark.cellsPerSecond * GCELLS, y: ({ series }: Mark) => series };
  const text = { y: "series", dy: -16, fontSize: 14 } as const;
  const chart = drawChart(label, (format) => ({
    height: 44 + ROW * best.length,
    marginLeft: 14,
    marginRight: 14,
    marginTop: 6,
    marginBottom: 38,
    x: isLog
      ? {
        ...scale,
        type: "log",
        ticks: logTicks([start, end], format === "wide" ? 9 : 5),
        tickFormat: String,
      }
      : { ...scale, ticks: format === "wide" ? 9 : 5 },
    y: { type: "band", domain: best.map(({ series }) => series), axis: null, padding: 0 },
    marks: [
      Plot.ruleX([start], { stroke: "var(--ink)" }),
      Plot.text(best, { ...text, text: "series", frameAnchor: "left", dx: 4, fill: "var(--ink)" }),
      Plot.text(best, {
        ...text,
        frameAnchor: "right",
        // a narrow chart has no room for both
        text: (point: Mark) =>
          stepwise === undefined || point === stepwise || format === "narrow"
            ? formatRate(point.cellsPerSecond)
            : `${formatRate(point.cellsPerSecond)}, ${besideStepwise(point)}`,
        fill: ({ isWinner }: Mark) => isWinner ? "var(--accent)" : "var(--ink)",
        fontWeight: 600,
      }),
      Plot.tickX(roofs, {
        x: ({ roof }: Mark) => roof! * GCELLS,
        y: "series",
        stroke: "var(--ink)",
        strokeWidth: 2,
        insetTop: 24,
        insetBottom: 8,
      }),
      Plot.ruleY(best.filter(({ confidence95 }) => confidence95 !== null), {
        x1: ({ confidence95 }: Mark) => Math.max(start, confidence95![0] * GCELLS),
        x2: ({ confidence95 }: Mark) => Math.min(end, confidence95![1] * GCELLS),
        y: "series",
        stroke: ({ series }: Mark) => lookOf(series).color,
        strokeWidth: 3,
      }),
      ...dotsOf(shown, at, (point) => [at.x(point) / end * WIDTHS[format]]),
      ringsOf(shown, at),
    ],
  }));
  const rows = best.map((point) => {
    const fraction = roofFraction(point);
    return [
      point.series,
      formatCount(points.filter(({ series }) => series === point.series).length),
      formatRate(point.cellsPerSecond),
      intervalWords(point.confidence95),
      factorOf(point),
      point.roof && formatRate(point.roof),
      fraction && formatPercent(fraction),
    ];
  });
  const columns = numbers(
    "measured",
    "best rate",
    "95% interval",
    "over stepwise",
    "its roof",
    "of its roof",
  );
  return figure(
    "The fastest of each traversal.",
    `Every mark is a measured configuration${
      roofs.length > 0 ? ", the upright line the roof of the fastest" : ""
    }${points.every(({ isFinal }) => isFinal) ? "" : "; what is pale was measured once, in the search"}. ` +
      `A ring marks the chosen one${isTied ? " and those that are equally fast" : ""}. ` +
      `Within 5% of it: ${formatCount(near)} of ${formatCount(points.length)}.`,
    chart,
    tableBehind("Rates as a table", table("The fastest of each traversal", ["traversal", ...columns], rows)),
  );
}
