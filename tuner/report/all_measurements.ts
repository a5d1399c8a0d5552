/**
 * The table of everything: in the page where it is short; where it is long, as data that a script of a few lines
 * turns into pages of rows once somebody opens it.
 *
 * @module
 */
import { formatCount, formatDuration, formatPercent, formatRate } from "../format.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Column, type Html, jsonBlock, markup, table, titleOf } from "./html.ts";
import { failureWords } from "./words.ts";

/** Rows that stand in the page itself. */
const MAX_ROWS = 100;

/** Everything that was measured, and what failed. */
export function allMeasurements(view: EntryView): Html {
  const { points, failures, id, repeated, outdated } = view;
  const left = [
    ...(repeated > 0 ? [`${formatCount(repeated)} repeated evaluations are summed up in these`] : []),
    ...(outdated > 0 ? [`${formatCount(outdated)} of kernels that have changed since are left out`] : []),
  ];
  const { columns, rows } = rowsOf(points);
  const caption = `All ${formatCount(points.length)} measured configurations, the fastest first`;
  const isLong = rows.length > MAX_ROWS;
  const content = isLong
    ? markup`
      <div class="pages" data-rows="${id}-rows"></div>
      <noscript><p>This long table needs the page's script; the journal has the same rows.</p></noscript>
      ${longTable(`${id}-rows`, caption, { columns, rows })}`
    : table(caption, columns, rows);
  return markup`
    <details class="all">
      <summary>All ${formatCount(points.length)} measurements</summary>
      ${left.length > 0 ? markup`<p>${left.join("; ")}.</p>` : ""}
      ${content}
    </details>
    ${failures.length > 0 ? failureTable(view) : ""}`;
}

/** A table's rows as data, for the page's script. */
function longTable(id: string, caption: string, { columns, rows }: ReturnType<typeof rowsOf>): Html {
  return jsonBlock(id, {
    caption,
    columns: columns.map(titleOf),
    numbers: columns.map((column) => typeof column === "string" ? 0 : 1),
    rows,
  });
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
    { number: "rank" },
    "who",
    ...names.map((name) => ({ number: name })),
    ...(isShared ? [{ number: "CPU slices" }, { number: "R" }] : []),
    { number: "Gcells/s" },
    "95% interval",
    { number: "samples" },
    { number: "of roof" },
    { number: "compiling" },
    "note",
  ];
  const rows = points.map((point, i) => {
    const { configuration: { parameters, share }, cellsPerSecond, confidence95: [low, high], roof } = point;
    return [
      i + 1,
      point.series,
      ...names.map((name) => parameters[name] ?? ""),
      ...(isShared ? [share.cpuSlices, share.exchangeEvery] : []),
      gcells(cellsPerSecond),
      `${gcells(low)}–${gcells(high)}`,
      point.samples,
      roof === undefined ? "" : formatPercent(cellsPerSecond / roof),
      point.compileNs === 0 ? "" : formatDuration(point.compileNs),
      point.isWinner ? "chosen" : point.isTied ? "tied" : "",
    ];
  });
  return { columns, rows };
}

function gcells(rate: number): string {
  return formatRate(rate).replace(" Gcells/s", "");
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
  return markup`<details class="all"><summary>${formatCount(failures.length)} failures</summary>${
    table("Configurations without a rate, the first 20 of each kind", [
      "what",
      { number: "how many" },
      "configuration",
      "message",
    ], rows)
  }</details>`;
}
