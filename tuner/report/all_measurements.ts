import { formatCount, formatDuration, formatPercent } from "../format.ts";
import { type EntryView, type Point, roofFraction } from "./entry_view.ts";
import { type Column, type Html, jsonBlock, markup, numbers, table, titleOf } from "./html.ts";
import { failureWords, gcells, intervalWords, parameterTitle, parameterValue } from "./words.ts";

/**
 * Everything that was measured, and what failed. The measurements are data that the page's script turns into pages of
 * rows once somebody opens them.
 */
export function allMeasurements(view: EntryView): Html {
  const { points, failures, id, repeated, outdated } = view;
  const left = [
    ...(repeated > 0 ? [`${formatCount(repeated)} repeated evaluations are summed up in these`] : []),
    ...(outdated > 0 ? [`${formatCount(outdated)} of kernels that have changed since are left out`] : []),
  ];
  const { columns, rows } = rowsOf(points);
  const caption = `All ${formatCount(points.length)} measured configurations, the fastest first`;
  const isNumber = columns.map((column) => typeof column === "string" ? 0 : 1);
  return markup`
    <details class="all">
      <summary>All ${formatCount(points.length)} measurements</summary>
      ${left.length > 0 ? markup`<p>${left.join("; ")}.</p>` : ""}
      <div class="pages" data-rows="${id}-rows"></div>
      <noscript><p>This table needs the page's script; the journal has the same rows.</p></noscript>
      ${jsonBlock(`${id}-rows`, { caption, columns: columns.map(titleOf), numbers: isNumber, rows })}
    </details>
    ${failures.length > 0 ? failureTable(view) : ""}`;
}

function rowsOf(points: readonly Point[]): { columns: readonly Column[]; rows: (string | number)[][] } {
  const parametersOf = ({ parameters, series }: Point): Map<string, string> =>
    new Map(
      Object.entries(parameters).map(([name, value]) => [
        parameterTitle(name, series),
        parameterValue(name, value, series, { hasUnit: false }),
      ]),
    );
  const titles = [...new Set(points.flatMap((point) => [...parametersOf(point).keys()]))];
  const isShared = points.some(({ configuration: { share } }) => share.cpuSlices * share.gpuSlices > 0);
  const columns: Column[] = [
    "configuration",
    ...numbers("Gcells/s", "95% interval", "samples", "of its roof", "compiling"),
    ...numbers(...titles, ...(isShared ? ["CPU slices", "R"] : [])),
    "note",
  ];
  const rows = points.map((point, i) => {
    const { configuration: { share }, series, cellsPerSecond, samples, compileNs } = point;
    const fraction = roofFraction(point);
    const values = parametersOf(point);
    return [
      `${i + 1}. ${series}`,
      gcells(cellsPerSecond),
      intervalWords(point.confidence95),
      samples === 0 ? "" : samples,
      fraction === undefined ? "" : formatPercent(fraction),
      compileNs === 0 ? "" : formatDuration(compileNs),
      ...titles.map((title) => values.get(title) ?? ""),
      ...(isShared ? [share.cpuSlices, share.exchangeEvery] : []),
      point.isWinner ? "chosen" : point.isTied ? "tied" : "",
    ];
  });
  return { columns, rows };
}

/** Failures: how many of each kind, and the first few of each. */
function failureTable({ failures }: EntryView): Html {
  const groups = Map.groupBy(failures, ({ failure }) => failure.reason);
  const rows = [...groups].flatMap(([reason, group]) =>
    group.slice(0, 20).map(({ configuration: { traversal, parameters }, failure }, i) => [
      failureWords(reason),
      i === 0 ? formatCount(group.length) : "",
      `${traversal} ${Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ")}`,
      failure.message.slice(0, 300),
    ])
  );
  const columns = ["what", ...numbers("how many"), "configuration", "message"];
  return markup`<details class="all"><summary>${formatCount(failures.length)} failures</summary>${
    table("Configurations without a rate, the first 20 of each kind", columns, rows)
  }</details>`;
}
