import * as Plot from "@observablehq/plot";
import { configurationKey } from "../configuration.ts";
import { formatCount, formatRate } from "../format.ts";
import { dotsOf, drawChart, GCELLS } from "./chart.ts";
import type { EntryView, Mark } from "./entry_view.ts";
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
  const last = best.at(-1);
  if (last === undefined) return "";
  const y = ({ cellsPerSecond }: Mark): number => cellsPerSecond * GCELLS;
  const over = (unit: string, x: (found: (typeof best)[number]) => number, whole: number): Html => {
    const rate = formatRate(last.cellsPerSecond), end = Math.max(whole, x(last));
    const when = `${x(last).toFixed()} of ${end.toFixed()} ${unit}`;
    return drawChart(`The best rate so far over ${unit}: ${rate} after ${when}.`, (format) => ({
      height: 200,
      marginLeft: 52,
      marginBottom: 38,
      x: { label: `${unit} →`, domain: [0, end], ticks: format === "wide" ? 9 : 5 },
      y: { label: "↑ Gcells/s", zero: true, grid: true, ticks: 4 },
      marks: [
        Plot.ruleY([y(winner)], { stroke: "var(--accent)", strokeDasharray: "4,3" }),
        Plot.line([...best.map((found) => [x(found), y(found)]), [end, y(last)]], {
          curve: "step-after",
          strokeWidth: 2,
        }),
        ...dotsOf(best, { x, y }, (found) => [x(found), y(found)]),
      ],
    }));
  };
  const rows = best.map((found) => [
    found.series,
    formatRate(found.cellsPerSecond),
    formatCount(found.evaluation),
    (found.elapsedMs / 1e3).toFixed(1),
  ]);
  const columns = ["traversal", ...numbers("rate", "evaluation", "seconds")];
  return figure(
    "How the search converged.",
    "The best rate so far in the journal's runs, each configuration counted once. Dashed: the chosen one, measured again in the final round.",
    over("evaluations", ({ evaluation }) => evaluation, search.evaluated),
    over("seconds", ({ elapsedMs }) => elapsedMs / 1e3, search.elapsedMs / 1e3),
    tableBehind("Convergence as a table", table("Each rate that was faster than all before", columns, rows)),
  );
}
