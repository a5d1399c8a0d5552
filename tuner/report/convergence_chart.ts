import * as Plot from "@observablehq/plot";
import { configurationKey } from "../configuration.ts";
import { formatCount, formatRate } from "../format.ts";
import { dotsOf, drawChart, GCELLS } from "./chart.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { figure, type Html, numbers, table, tableBehind } from "./html.ts";

/** How the search converged: the best rate so far, over evaluations and over seconds. Nothing without a journal. */
export function convergenceFigure({ entry: { search }, records, points, winner }: EntryView): Html | "" {
  const byKey = new Map(points.map((point) => [configurationKey(point.configuration), point]));
  // with the rates of the search: the final round's may be others
  const best = records.improvements.map(({ measurement: { configuration, cellsPerSecond }, ...when }) => ({
    ...byKey.get(configurationKey(configuration))!,
    ...when,
    cellsPerSecond,
  }));
  if (best.length === 0) return "";
  const last = best.at(-1)!;
  const y = ({ cellsPerSecond }: Point): number => cellsPerSecond * GCELLS;
  const charts = ([
    ["evaluations", ({ evaluation }) => evaluation, search.evaluated],
    ["seconds", ({ elapsedMs }) => elapsedMs / 1e3, search.elapsedMs / 1e3],
  ] as [string, (one: typeof last) => number, number][]).map(([unit, of, whole]) => {
    const x = (point: Point): number => of(point as typeof last), end = Math.max(whole, of(last));
    const rate = formatRate(last.cellsPerSecond), when = `${of(last).toFixed()} of ${end.toFixed()} ${unit}`;
    return drawChart(`The best rate so far over ${unit}: ${rate} after ${when}.`, (format) => ({
      height: 200,
      marginLeft: 52,
      marginBottom: 38,
      x: { label: `${unit} →`, domain: [0, end], ticks: format === "wide" ? 9 : 5 },
      y: { label: "↑ Gcells/s", zero: true, grid: true, ticks: 4 },
      marks: [
        Plot.ruleY([y(winner)], { stroke: "var(--accent)", strokeDasharray: "4,3" }),
        Plot.line([...best.map((one) => [x(one), y(one)]), [end, y(last)]], {
          curve: "step-after",
          strokeWidth: 2,
        }),
        ...dotsOf(best, { x, y }, (point) => [x(point), y(point)]),
      ],
    }));
  });
  const rows = best.map((one) => [
    one.series,
    formatRate(one.cellsPerSecond),
    formatCount(one.evaluation),
    (one.elapsedMs / 1e3).toFixed(1),
  ]);
  const columns = ["traversal", ...numbers("rate", "evaluation", "seconds")];
  return figure(
    "How the search converged.",
    "The best rate so far in the journal's runs, each configuration counted once. Dashed: the chosen one, measured again in the final round.",
    charts,
    tableBehind("Convergence as a table", table("What was faster than all before", columns, rows)),
  );
}
