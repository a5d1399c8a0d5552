import { formatCount, formatFactor, formatPercent, formatPlural, formatRate } from "../format.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import type { Profile } from "../profile/schema.ts";
import { allMeasurements, needsScript } from "./all_measurements.ts";
import { deviceCard, deviceTitle } from "./device_card.ts";
import { distributionFigure } from "./distribution_chart.ts";
import { type EntryView, viewEntry } from "./entry_view.ts";
import { explain } from "./explain.ts";
import { heatMaps } from "./heat_maps.ts";
import { Html, markup, numbers, table } from "./html.ts";
import { localityFigure } from "./locality_chart.ts";
import { rooflineFigure } from "./roofline_chart.ts";
import { SCRIPT } from "./script.ts";
import { balanceFigure, costFigure } from "./sharing_charts.ts";
import { STYLE } from "./style.ts";
import { gcells } from "./words.ts";

/** Entries that are drawn; a profile of more is listed whole, and the others are drawn with `--entry`. */
export const MAX_ENTRIES = 16;

/** What is said where there is no journal. */
const NO_JOURNAL =
  "There is no journal for this problem: the charts show only what the profile keeps, the chosen " +
  "configuration and its ties.";

/** What a page is made of. */
interface ReportOptions {
  /** The profile's evaluations; none where there is no journal. */
  readonly journal: readonly JournalRecord[];
  /** Indices of the entries to draw. @default {undefined} the first {@linkcode MAX_ENTRIES} */
  readonly entries?: readonly number[];
  /** Warnings about the files, one line each. @default {[]} */
  readonly warnings?: readonly string[];
}

/**
 * Makes the report of a profile with at least one entry: the text of an HTML file that needs nothing else, and how many
 * measurements it shows. Pure: the same profile and journal give the same text.
 */
export function buildReport(profile: Profile, { journal, entries, warnings = [] }: ReportOptions): {
  page: string;
  measurements: number;
} {
  const chosen = entries ?? profile.entries.map((_, i) => i).slice(0, MAX_ENTRIES);
  const views = chosen.map((index) => viewEntry(profile, index, journal));
  const measurements = views.reduce((sum, { points }) => sum + points.length, 0);
  const title = `Facet: ${deviceTitle(profile.device)}`;
  const script = views.some(needsScript) ? markup`<script>${new Html(SCRIPT)}</script>` : "";
  const page = markup`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>${title}</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
    <a class="skip" href="#${views[0]!.id}">Skip to the first problem</a>
    <header>
    <p class="kind">Facet · tuning report</p>
    <h1>${deviceTitle(profile.device)}</h1>
    <p>${formatCount(measurements)} measured configurations of ${formatPlural(views.length, "problem")}.</p>
    ${warnings.map((warning) => markup`<p class="warning">${warning}</p>`)}
    </header>
    <main>
    ${views.length > 1 || profile.entries.length > 1 ? overview(profile, views) : ""}
    ${views.map(entrySection)}
    <section aria-labelledby="device"><h2 id="device">The device</h2>${deviceCard(profile)}</section>
    </main>
    <footer><p>Made by <code>deno task report</code> from a profile and its journal. Rates count the grid's own cells per second. Every rate was measured; every prediction is called one.</p></footer>
    ${script}
      </body>
    </html>
  `;
  return { page: page.text.trimStart(), measurements };
}

/** All problems of the profile, with links to those that are drawn. */
function overview(profile: Profile, views: readonly EntryView[]): Html {
  const drawn = new Map(views.map((view) => [view.entry, view.id]));
  const rows = profile.entries.map((entry) => {
    const { problem, configuration, result: { cellsPerSecond, roofFraction, speedupOverStepwise } } = entry;
    const name = describeProfileProblem(problem);
    const id = drawn.get(entry);
    return [
      id === undefined ? name : markup`<a href="#${id}">${name}</a>`,
      formatRate(cellsPerSecond),
      roofFraction === null ? "" : formatPercent(roofFraction),
      speedupOverStepwise === null ? "" : formatFactor(speedupOverStepwise),
      describeConfiguration(configuration),
    ];
  });
  const columns = ["problem", ...numbers("rate", "of its roof", "over stepwise"), "configuration"];
  const others = profile.entries.length - views.length;
  return markup`<nav aria-labelledby="problems"><h2 id="problems">Problems</h2>${
    table("The best configuration of every problem", columns, rows)
  }${
    others > 0 ? markup`<p>${formatCount(others)} problems are listed only: --entry N draws another.</p>` : ""
  }</nav>`;
}

function entrySection(view: EntryView): Html {
  const { entry, id, hasJournal } = view;
  return markup`
    <section aria-labelledby="${id}">
    <h2 id="${id}">${describeProfileProblem(entry.problem)}</h2>
    ${headline(view)}
    <h3>Why this configuration</h3>
    ${explain(view)}
    ${hasJournal ? "" : markup`<p class="warning">${NO_JOURNAL}</p>`}
    <h3>What was measured</h3>
    ${rooflineFigure(view)}
    ${localityFigure(view)}
    ${distributionFigure(view)}
    <h3>Parameters</h3>
    ${heatMaps(view)}
    <h3>Sharing with the CPU</h3>
    ${balanceFigure(view)}
    ${costFigure(view)}
    <h3>Every measurement</h3>
    ${allMeasurements(view)}
    </section>
  `;
}

/** The figures that matter most. */
function headline({ entry: { configuration, result, tieSet }, winner }: EntryView): Html {
  const { cellsPerSecond, confidence95, roofFraction, speedupOverStepwise } = result;
  const [value = "", unit] = formatRate(cellsPerSecond).split(" ");
  const roof = winner.roof === undefined ? "" : `, ${formatRate(winner.roof)}`;
  const tiles: (false | { big: string; unit?: string | undefined; small: string })[] = [
    {
      big: value,
      unit,
      small: confidence95 === null
        ? "from fewer than three samples"
        : `95% between ${gcells(confidence95[0])} and ${gcells(confidence95[1])}`,
    },
    speedupOverStepwise !== null &&
    { big: formatFactor(speedupOverStepwise), small: "the best stepwise kernel" },
    roofFraction !== null && { big: formatPercent(roofFraction), small: `of its roof${roof}` },
    tieSet.length > 1 &&
    { big: formatCount(tieSet.length), small: "statistically indistinguishable configurations" },
  ];
  return markup`<p class="configuration"><code>${describeConfiguration(configuration)}</code></p>
<ul class="tiles">${
    tiles.filter((tile) => tile !== false).map(({ big, unit, small }) =>
      markup`<li><span class="big">${big}</span>${
        unit === undefined ? "" : markup` <span class="unit">${unit}</span>`
      }<span class="small">${small}</span></li>`
    )
  }</ul>`;
}
