import { formatCount, formatDuration, formatPercent } from "../format.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Column, type Html, jsonBlock, markup, numbers, table, titleOf } from "./html.ts";
import { failureWords, gcells } from "./words.ts";

/** Rows that stand in the page itself. */
const MAX_ROWS = 100;

/**
 * Everything that was measured, and what failed. A long table is data that the page's script turns into pages of rows
 * once somebody opens it.
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
  const content = needsScript(view)
    ? markup`
      <div class="pages" data-rows="${id}-rows"></div>
      <noscript><p>This long table needs the page's script; the journal has the same rows.</p></noscript>
      ${jsonBlock(`${id}-rows`, { caption, columns: columns.map(titleOf), numbers: isNumber, rows })}`
    : table(caption, columns, rows);
  return markup`
    <details class="all">
      <summary>All ${formatCount(points.length)} measurements</summary>
      ${left.length > 0 ? markup`<p>${left.join("; ")}.</p>` : ""}
      ${content}
    </details>
    ${failures.length > 0 ? failureTable(view) : ""}`;
}

/** Whether the page needs its script. */
export function needsScript({ points }: EntryView): boolean {
  return points.length > MAX_ROWS;
}

function rowsOf(
  points: readonly Point[],
): { columns: readonly Column[]; rows: readonly (readonly (string | number)[])[] } {
  const names = [...new Set(points.flatMap(({ configuration }) => Object.keys(configuration.parameters)))];
  const isShared = points.some(({ configuration: { share } }) => share.cpuSlices > 0);
  const columns: Column[] = [
    ...numbers("rank"),
    "who",
    ...numbers(...names, ...(isShared ? ["CPU slices", "R"] : []), "Gcells/s"),
    "95% interval",
    ...numbers("samples", "of roof", "compiling"),
    "note",
  ];
  const rows = points.map((point, i) => {
    const { configuration: { parameters, share }, cellsPerSecond, confidence95, roof } = point;
    return [
      i + 1,
      point.series,
      ...names.map((name) => parameters[name] ?? ""),
      ...(isShared ? [share.cpuSlices, share.exchangeEvery] : []),
      gcells(cellsPerSecond),
      confidence95?.map(gcells).join("–") ?? "",
      point.samples,
      roof === undefined ? "" : formatPercent(cellsPerSecond / roof),
      point.compileNs === 0 ? "" : formatDuration(point.compileNs),
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
