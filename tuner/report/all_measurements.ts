import { formatCount, formatDuration, formatPercent, formatPlural } from "../format.ts";
import type { DatedFailure } from "../profile/entry_records.ts";
import { type EntryView, type Mark, roofFraction } from "./entry_view.ts";
import { type Hole, type Html, markup, numbers, table } from "./html.ts";
import { seriesOf } from "./series.ts";
import { failureWords, gcells, intervalWords, parameterList, parameterWords } from "./words.ts";

/** Rows of the page; the journal has all. */
const MAX_ROWS = 300;

export function allMeasurements({ points, records: { failed, repeated, outdated } }: EntryView): Html {
  const count = formatCount(points.length);
  const shown = points.length > MAX_ROWS ? `The fastest ${MAX_ROWS} of ${count}` : `All ${count}`;
  const left = ([
    [repeated, "repeated evaluations are included in these"],
    [outdated, "of kernels that have changed since are left out"],
  ] as const).filter(([count]) => count > 0).map(([count, words]) => `${formatCount(count)} ${words}. `);
  return markup`
    <details class="all"><summary>${shown} measurements</summary>
    <p>${left}</p>
    ${pointTable(`${shown} measured configurations, the fastest first`, points.slice(0, MAX_ROWS))}</details>
    ${failed.length > 0 ? failureTable(failed) : ""}`;
}

function pointTable(caption: string, points: readonly Mark[]): Html {
  const parametersOf = ({ parameters, series }: Mark): Map<string, string> =>
    new Map(
      Object.entries(parameters).map(([name, value]) => {
        const { title, valueOf } = parameterWords(name, series);
        return [title, valueOf(value, { hasUnit: false })];
      }),
    );
  const titles = [...new Set(points.flatMap((point) => [...parametersOf(point).keys()]))];
  const columns = numbers("Gcells/s", "95% interval", "samples", "of its roof", "compiling", ...titles);
  const rows = points.map((point, i): Hole[] => {
    const { series, cellsPerSecond, samples, compileNs } = point;
    const fraction = roofFraction(point), values = parametersOf(point);
    return [
      `${i + 1}. ${series}${point.isWinner ? ", chosen" : point.isTied ? ", tied" : ""}`,
      gcells(cellsPerSecond),
      intervalWords(point.confidence95),
      samples === 0 ? "" : samples,
      fraction && formatPercent(fraction),
      compileNs === 0 ? "" : formatDuration(compileNs),
      ...titles.map((title) => values.get(title)),
    ];
  });
  return table(caption, ["configuration", ...columns], rows);
}

/** Failures: how many of each kind, and the first few of each. */
function failureTable(failures: readonly DatedFailure[]): Html {
  const groups = Map.groupBy(failures, ({ failure }) => failure.reason);
  const rows = [...groups].flatMap(([reason, group]) =>
    group.slice(0, 20).map(({ configuration, failure }, i) => [
      failureWords(reason),
      i === 0 ? formatCount(group.length) : "",
      `${seriesOf(configuration)} with ${parameterList(configuration.parameters, seriesOf(configuration))}`,
      failure.message.slice(0, 300),
    ])
  );
  const columns = ["what", ...numbers("how many"), "configuration", "message"];
  const list = table("Configurations without a rate, the first 20 of each kind", columns, rows);
  const summary = formatPlural(failures.length, "failure");
  return markup`<details class="all"><summary>${summary}</summary>${list}</details>`;
}
