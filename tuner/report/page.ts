import { formatCount, formatFactor, formatPercent, formatPlural, formatRate } from "../format.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { samplesOf } from "../profile/calibration.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import {
  describeLoss,
  leaveOneOut,
  type MeasuredProblem,
  type UnseenProblem,
} from "../profile/leave_one_out.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { devicesOf } from "../profile/merge.ts";
import type { Profile } from "../profile/schema.ts";
import { allMeasurements } from "./all_measurements.ts";
import { configurationCard } from "./configuration_card.ts";
import { deviceCard, deviceTitle } from "./device_card.ts";
import { type EntryView, roofFraction, viewEntry } from "./entry_view.ts";
import { explain, overviewSentence, stepwiseName, whySentence } from "./explain.ts";
import { heatMaps } from "./heat_maps.ts";
import { Html, markup, numbers, table } from "./html.ts";
import { ratesFigure } from "./rates_chart.ts";
import { rooflineFigure } from "./roofline_chart.ts";
import { SCRIPT } from "./script.ts";
import { lookOf, markKey, seriesOf } from "./series.ts";
import { sharing } from "./sharing_charts.ts";
import { STYLE } from "./style.ts";
import { ABOVE_ROOF, intervalWords } from "./words.ts";

/** Entries that are drawn; a profile of more is listed whole, and the others are drawn with `--entry`. */
export const MAX_ENTRIES = 16;

const NO_JOURNAL =
  markup`<p class="warning">There is no journal: the charts show what the profile keeps.</p>`;

/** What a page is made of. */
interface ReportOptions {
  /** The profile's evaluations; none where there is no journal. */
  readonly journal: readonly JournalRecord[];
  /** The only entry to draw, counted from 0 over all devices. @default {undefined} the first {@linkcode MAX_ENTRIES} */
  readonly only?: number | undefined;
  /** Warnings about the files, one line each. @default {[]} */
  readonly warnings?: readonly string[];
}

/** A device of the profile, and its entries that are drawn. */
interface DevicePart {
  readonly profile: Profile;
  readonly views: readonly EntryView[];
}

/**
 * Makes the report of a profile with at least one entry: the text of an HTML file that needs nothing else, and how many
 * measurements it shows. Each device of a merged profile has a section. Pure: the same profile and journal give the same
 * text.
 */
export function buildReport(profile: Profile, { journal, only, warnings = [] }: ReportOptions): {
  page: string;
  measurements: number;
} {
  const devices = devicesOf(profile);
  let count = 0;
  const parts = devices.map((profile): DevicePart => {
    const first = count;
    count += profile.entries.length;
    const isDrawn = (at: number): boolean => only === undefined ? at < MAX_ENTRIES : at === only;
    const views = profile.entries.flatMap((_, i) =>
      isDrawn(first + i) ? viewEntry(profile, i, journal, first + i + 1) : []
    );
    return { profile, views };
  }).filter(({ views }) => only === undefined || views.length > 0);
  const views = parts.flatMap(({ views }) => views);
  const measurements = views.reduce((sum, { points }) => sum + points.length, 0);
  const [one] = parts, isOne = parts.length === 1;
  const title = isOne ? deviceTitle(one!.profile.device) : formatPlural(parts.length, "device");
  const page = markup`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>Facet: ${title}</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
    <a class="skip" href="#${views[0]!.id}">Skip to the first problem</a>
    <header>
    <p class="kind">Facet · tuning report</p>
    <h1>${title}</h1>
    ${isOne ? lead(views) : ""}
    ${warnings.map((warning) => markup`<p class="warning">${warning}</p>`)}
    </header>
    <main>
    ${parts.map((part, i) => isOne ? deviceContent(part, i) : deviceSection(part, i))}
    </main>
    <footer><p>Made by <code>deno task report</code> from a profile and its journal. Rates count the grid's own cells per second. A <dfn>roof</dfn> is the highest rate that the measured copy bandwidth permits for a kernel's memory traffic. Every rate was measured; every prediction is called one.</p></footer>
    <script>${new Html(SCRIPT)}</script>
      </body>
    </html>
  `;
  return { page: page.text.trimStart(), measurements };
}

/** The sentence that opens a page or a device. */
function lead(views: readonly EntryView[]): Html | "" {
  const [first] = views;
  if (first === undefined) return "";
  return markup`<p class="lead">${views.length === 1 ? whySentence(first) : overviewSentence(views)}</p>`;
}

function deviceSection(part: DevicePart, at: number): Html {
  const id = `device-${at + 1}`, { profile: { device }, views } = part;
  return markup`<section aria-labelledby="${id}"><h2 id="${id}" class="device">${deviceTitle(device)}</h2>
    ${lead(views)}${deviceContent(part, at)}</section>`;
}

function deviceContent({ profile, views }: DevicePart, at: number): Html {
  const isAlone = views.length === 1, id = `hardware-${at + 1}`;
  return markup`
    ${profile.entries.length > 1 ? overview(profile, views, at) : ""}
    ${views.map((view, i) => problemSection(view, { isAlone, isOpen: at === 0 && i === 0 }))}
    <section aria-labelledby="${id}"><h2 id="${id}">The device</h2>${deviceCard(profile)}</section>
  `;
}

/** The table of contents: all problems of the profile, with links to those that are drawn. */
function overview(profile: Profile, views: readonly EntryView[], at: number): Html {
  const drawn = new Map(views.map((view) => [view.entry, view.id]));
  const rows = profile.entries.map((entry) => {
    const { problem, configuration, result: { cellsPerSecond, roofFraction, speedupOverStepwise } } = entry;
    const name = describeProfileProblem(problem);
    const id = drawn.get(entry), series = seriesOf(configuration);
    return [
      id === undefined ? name : markup`<a href="#${id}">${name}</a>`,
      markup`<span class="who">${markKey(lookOf(series))}${series}</span>`,
      formatRate(cellsPerSecond),
      speedupOverStepwise && formatFactor(speedupOverStepwise),
      roofFraction && formatPercent(roofFraction),
    ];
  });
  const columns = ["problem", "fastest", ...numbers("rate", "over stepwise", "of its roof")];
  const others = profile.entries.length - views.length;
  const isAbove = profile.entries.some(({ result: { roofFraction } }) => (roofFraction ?? 0) > 1);
  const unseen = lossOf(profile);
  const undrawn = `${
    formatPlural(others, "problem is", "problems are")
  } listed only: --entry N draws another.`;
  const label = `problems-${at + 1}`;
  return markup`<nav aria-labelledby="${label}"><h2 id="${label}">Problems</h2>
    ${table("The fastest of every problem", columns, rows)}
    ${isAbove ? markup`<p>Above 100%: ${ABOVE_ROOF}.</p>` : ""}
    ${others > 0 ? markup`<p>${undrawn}</p>` : ""}
    ${unseen.length > 0 ? markup`<p>${describeLoss(unseen)}.</p>` : ""}
  </nav>`;
}

/** What choices for other sizes lose: each size of an equation chosen from its others. */
function lossOf({ entries, device }: Profile): UnseenProblem[] {
  const model = deviceModelOf(device, device.measured.copyBytesPerSecond ?? 1);
  const measured = entries.flatMap((entry): MeasuredProblem[] => {
    const problem = entry.calibration && problemOf(entry.problem);
    return problem === undefined ? [] : [{ problem, samples: samplesOf(entry, problem, model) }];
  });
  return leaveOneOut(measured, model);
}

/** A problem; of several, one that can be closed, and that begins with its own sentence. */
function problemSection(view: EntryView, { isAlone, isOpen }: { isAlone: boolean; isOpen: boolean }): Html {
  const { id, entry } = view;
  const heading = markup`<h2 id="${id}">${describeProfileProblem(entry.problem)}</h2>`;
  return markup`<section aria-labelledby="${id}">${
    isAlone ? [heading, content(view)] : markup`<details class="problem"${new Html(isOpen ? " open" : "")}>
      <summary>${heading}</summary><p class="lead">${whySentence(view)}</p>${content(view)}</details>`
  }</section>`;
}

function content(view: EntryView): Html {
  return markup`
    ${headline(view)}
    ${view.records.kernelSource === null ? NO_JOURNAL : ""}
    ${ratesFigure(view)}
    ${rooflineFigure(view)}
    <h3>The chosen configuration</h3>
    ${configurationCard(view)}
    ${explain(view)}
    ${heatMaps(view)}
    ${sharing(view)}
    <h3>Every measurement</h3>
    ${allMeasurements(view)}
  `;
}

function headline({ entry: { result, tieSet }, winner, speedup, stepwise }: EntryView): Html {
  const [value = "", unit = ""] = formatRate(result.cellsPerSecond).split(" ");
  const interval = intervalWords(winner.confidence95, { to: " and ", like: result.cellsPerSecond });
  const samples = formatPlural(result.samples.length, "sample");
  const fraction = roofFraction(winner);
  const tile = (big: string, small: string, unit = ""): Html =>
    markup`<li><span class="big">${big}</span> <span class="unit">${unit}</span><span class="small">${small}</span></li>`;
  const tiles = [tile(value, interval === "" ? samples : `95% between ${interval}`, unit)];
  if (speedup !== undefined && winner !== stepwise) {
    tiles.push(tile(formatFactor(speedup), stepwiseName(stepwise, winner)));
  }
  if (fraction !== undefined) {
    const roof = `of its roof, ${formatRate(winner.roof!)}${fraction > 1 ? `: ${ABOVE_ROOF}` : ""}`;
    tiles.push(tile(formatPercent(fraction), roof));
  }
  if (result.byHost !== undefined) {
    const [rate = "", unit] = formatRate(result.byHost.cellsPerSecond).split(" ");
    tiles.push(
      tile(rate, `by the host's clock, in a run of ${formatPlural(result.byHost.steps, "step")}`, unit),
    );
  }
  const ties = formatCount(tieSet.length);
  if (tieSet.length > 1) tiles.push(tile(ties, "statistically indistinguishable configurations"));
  return markup`<ul class="tiles">${tiles}</ul>`;
}
